"""CUDA programs run under the interposer: recorded as they are, or with their buffers allocated as advised."""

from octavo.measured.interposed.programs import Applied, Recorded, apply, record

__all__ = ["Applied", "Recorded", "apply", "record"]
