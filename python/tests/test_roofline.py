"""The roofline with the interconnect, as Python sees it; its numbers are tested in Rust."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import refused

import octavo
from octavo.roofline import Roofline

P100 = Roofline(peak=1256e9, device=362e9, on_demand=7.33e9, copy=11.69e9)


def test_ceilings_have_the_shape_of_the_points_and_are_the_equations():
    alpha, sigma, rho = np.array([0.25, 4.0, 256.0]), np.array([[1.0], [0.25]]), 2.0
    found = P100.ceilings(alpha, sigma, rho)
    canonical = np.minimum(1256e9, alpha * 362e9) * np.ones((2, 1))
    np.testing.assert_allclose(found.canonical, canonical)
    np.testing.assert_allclose(found.host, np.minimum(alpha / 2 * 7.33e9, canonical) * np.ones((2, 1)))
    np.testing.assert_allclose(found.device, 1 / (1 / canonical + 1 / (sigma * alpha * 11.69e9)))
    np.testing.assert_allclose(found.gamma, canonical / (sigma * alpha * 11.69e9))


def test_single_numbers_give_arrays_without_axes():
    assert P100.ceilings(4.0).host.shape == ()


def test_where_host_placement_passes_device_placement():
    crossing = P100.crossing()
    assert crossing is not None
    below, above = P100.ceilings(crossing * 0.99), P100.ceilings(crossing * 1.01)
    assert below.host < below.device
    assert above.host > above.device
    assert P100.crossing(sigma=0.25) is None
    assert P100.zone_end() == pytest.approx(1256 / 7.33)
    assert Roofline(peak=1e12, device=1e9, on_demand=1e9, copy=1e9).zone_end() is None


@pytest.mark.parametrize(
    ("ask", "names"),
    [
        (lambda: P100.ceilings([1.0, 0.0]), ["0"]),
        (lambda: P100.ceilings(1.0, sigma=1.5), ["1.5"]),
        (lambda: P100.crossing(rho=0.5), ["0.5"]),
        (lambda: P100.ceilings([1.0, 2.0], [1.0, 0.5, 0.25]), ["alpha", "sigma", "rho"]),
        (lambda: Roofline(1e12, 1e9, 0.0, 1e9).zone_end(), ["on_demand", "0.0"]),
        (lambda: Roofline(float("nan"), 1e9, 1e9, 1e9).zone_end(), ["NaN"]),
    ],
)
def test_what_means_nothing_is_refused(ask, names):
    with refused("unexpected-value", octavo.AdviceError, names=names):
        ask()
