"""CUDA programs under the interposer: recorded as they are, or run with their buffers allocated as advised."""

from octavo.measurements.interposer.programs import Applied, Recorded, apply, record
from octavo.measurements.interposer.samples import profile_with_buffers

__all__ = ["Applied", "Recorded", "apply", "profile_with_buffers", "record"]
