"""A real GPU beside its simulated node: the patterns of the probes' samples, measured and simulated.

`points` says which pattern stands for which samples, `study` runs them and puts both side by side, `words` and
`picture` show them.
"""

from octavo_studies.validate.machines.study import MachineValidation, machine

__all__ = ["MachineValidation", "machine"]
