"""The effective bandwidths and peak that the roofline's ceilings are made of."""

from __future__ import annotations

from functools import partial

from octavo.measured.calibrate.fits import saturation
from octavo.measured.calibrate.values.value import Value

_HIGHEST = "{} / seconds of the dense kernel without re-migration, highest median over intensities"


def _bandwidth(placement: str) -> Value:
    about = f"effective bandwidth of a structure placed on the {placement}: β of the roofline's ceilings"
    fit = partial(saturation.plateau, key="alpha", amount="bytes")
    name = f"roofline_bandwidth_{placement}"
    return Value(name, "B/s", "roofline", "roofline", about, _HIGHEST.format("bytes"), fit, _dense(placement))


def _peak() -> Value:
    about = "highest rate of operations of the roofline's kernel"
    fit = partial(saturation.plateau, key="alpha", amount="count")
    how = _HIGHEST.format("operations")
    return Value("roofline_peak", "op/s", "roofline", "roofline", about, how, fit, _dense("device"))


def _dense(placement: str) -> dict[str, str | float]:
    return {"placement": placement, "sigma": 1.0, "rho": 1}


VALUES = [*map(_bandwidth, ("device", "host")), _peak()]
