"""UVMSmart's rules about pages (ISCA 2019, DATE 2021), replayed without time, beside what Octavo decides."""

from octavo_studies.validate.uvmsmart.differences import AsOctavo
from octavo_studies.validate.uvmsmart.folder import study_in
from octavo_studies.validate.uvmsmart.programs import OVERSUBSCRIPTIONS, POLICIES, PROGRAMS
from octavo_studies.validate.uvmsmart.replay import Counts, Replay, StuckError
from octavo_studies.validate.uvmsmart.study import Row, UvmsmartValidation, compare

__all__ = [
    "OVERSUBSCRIPTIONS",
    "POLICIES",
    "PROGRAMS",
    "AsOctavo",
    "Counts",
    "Replay",
    "Row",
    "StuckError",
    "UvmsmartValidation",
    "compare",
    "study_in",
]
