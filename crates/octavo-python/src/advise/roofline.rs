//! The roofline with the interconnect, point by point.

use octavo_advise::{Crossing, Intensity, Machine, QuantityError, Rate, Remigration, Roofline, Sparsity};
use octavo_units::{Bandwidth, Bytes};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::refused;

/// Ceilings of one list of points: canonical, host, device (operations a second) and γ.
type Ceilings = (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>);
/// Bytes that γ is calculated for, which does not depend on them.
const ANY_SIZE: Bytes = Bytes(1 << 30);

/// Ceilings of a machine for each of the points (`alpha`, `sigma`, `rho`), lists of the same length. Returns four
/// lists: the canonical roofline, host placement, device placement (operations a second), and γ, copy time over kernel
/// time. `machine` is peak (operations a second) and the bandwidths of device memory, on demand and of the bulk copy
/// (bytes a second).
#[pyfunction]
pub fn roofline_ceilings(
    machine: (f64, u64, u64, u64),
    alpha: Vec<f64>,
    sigma: Vec<f64>,
    rho: Vec<f64>,
) -> PyResult<Ceilings> {
    if alpha.len() != sigma.len() || alpha.len() != rho.len() {
        let found = format!("{}, {} and {}", alpha.len(), sigma.len(), rho.len());
        return Err(PyValueError::new_err(format!("expected lists of the same length, found {found} values")));
    }
    let roofline = roofline(machine)?;
    let mut ceilings = Ceilings::default();
    for ((alpha, sigma), rho) in alpha.into_iter().zip(sigma).zip(rho) {
        let (alpha, sigma, rho) = point(alpha, sigma, rho).map_err(refused)?;
        ceilings.0.push(roofline.canonical(alpha).get());
        ceilings.1.push(roofline.host(alpha, rho).get());
        ceilings.2.push(roofline.device(alpha, sigma).get());
        ceilings.3.push(roofline.gamma(ANY_SIZE, alpha, sigma));
    }
    Ok(ceilings)
}

/// The operational intensity above which host placement has the higher ceiling; None where it has everywhere.
#[pyfunction]
pub fn roofline_crossing(machine: (f64, u64, u64, u64), sigma: f64, rho: f64) -> PyResult<Option<f64>> {
    let (sigma, rho) = (Sparsity::new(sigma).map_err(refused)?, Remigration::new(rho).map_err(refused)?);
    Ok(match roofline(machine)?.crossing(sigma, rho) {
        Crossing::HostEverywhere => None,
        Crossing::HostAbove(alpha) => Some(alpha.get()),
    })
}

/// The operational intensity at which the zone of interest ends; None where there is no such zone.
#[pyfunction]
pub fn roofline_zone_end(machine: (f64, u64, u64, u64), rho: f64) -> PyResult<Option<f64>> {
    let rho = Remigration::new(rho).map_err(refused)?;
    Ok(roofline(machine)?.zone_end(rho).map(Intensity::get))
}

fn roofline((peak, device, on_demand, copy): (f64, u64, u64, u64)) -> PyResult<Roofline> {
    let [device, on_demand, copy] = [device, on_demand, copy].map(Bandwidth);
    let machine = Rate::new(peak).map(|peak| Machine { peak, device, on_demand, copy });
    machine.and_then(|machine| Roofline::of(&machine)).map_err(refused)
}

fn point(alpha: f64, sigma: f64, rho: f64) -> Result<(Intensity, Sparsity, Remigration), QuantityError> {
    Ok((Intensity::new(alpha)?, Sparsity::new(sigma)?, Remigration::new(rho)?))
}
