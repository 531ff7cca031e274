"""Whole programs on a real GPU beside the same programs on its simulated node.

`times` reads what was measured, `scenarios` says which run stands for it, `phases` and `records` what is compared,
`order` whether the kinds of memory come in the same order; `study` does it all, `words` and `picture` show it.
"""

from octavo_studies.validate.programs.study import ProgramsValidation, programs

__all__ = ["ProgramsValidation", "programs"]
