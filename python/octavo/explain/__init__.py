"""Why a run took as long as it did: what bound it, which buffers cause it, and what would help, tried by simulation."""

from octavo.explain.compare import Difference, difference
from octavo.explain.explanation import Explanation, explain

__all__ = ["Difference", "Explanation", "difference", "explain"]
