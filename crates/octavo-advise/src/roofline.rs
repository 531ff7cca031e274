//! Ceilings of host and device placement, and where one passes the other.

use octavo_units::{Bandwidth, Bytes};
use serde::{Deserialize, Serialize};

use crate::{Intensity, QuantityError, Rate, Remigration, Sparsity};

/// A machine as the roofline sees it: all values are effective, that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Arithmetic peak, operations a second.
    pub peak: Rate,
    /// Bandwidth of device memory, βᵉ.
    pub device: Bandwidth,
    /// Bandwidth at which host-placed data comes over the interconnect on demand: βᵉ_C of equations 1 and 4.
    pub on_demand: Bandwidth,
    /// Bandwidth of the bulk copy before the kernel: 1/t_u of equations 2 and 3.
    pub copy: Bandwidth,
}

impl Machine {
    /// The on-demand bandwidth, bytes a second, with which the dense ceilings of a machine with this `peak` and bulk
    /// `copy` cross at `alpha`. It is equation 1 set equal to equation 2 where arithmetic is the limit, `1/βᵉ_C =
    /// α/peak + 1/copy`.
    ///
    /// # Errors
    /// The copy has no bandwidth.
    pub fn on_demand_for_crossing(peak: Rate, copy: Bandwidth, alpha: Intensity) -> Result<f64, QuantityError> {
        Ok(1.0 / (alpha.get() / peak.get() + 1.0 / positive(copy)?))
    }
}

/// Which placement has the higher ceiling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Crossing {
    /// Host placement, at every intensity.
    HostEverywhere,
    /// Device placement below this intensity, host placement above it: there host-placed data come to be hidden behind
    /// arithmetic, while a copy before the kernel never is.
    HostAbove(Intensity),
}

/// The roofline with the interconnect (MemMap, PACT 2020, equations 1 to 4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roofline {
    peak: f64,
    device: f64,
    on_demand: f64,
    copy: f64,
}

impl Roofline {
    /// The roofline of a machine.
    ///
    /// # Errors
    /// A bandwidth is 0.
    pub fn of(machine: &Machine) -> Result<Self, QuantityError> {
        Ok(Self {
            peak: machine.peak.get(),
            device: positive(machine.device)?,
            on_demand: positive(machine.on_demand)?,
            copy: positive(machine.copy)?,
        })
    }

    /// P: `min(peak, α·βᵉ)`, operations a second.
    #[must_use]
    pub fn canonical(&self, alpha: Intensity) -> Rate {
        rate(self.peak.min(alpha.get() * self.device))
    }

    /// Ceiling of host placement, operations a second: `(α/ρ)·βᵉ_C`, never above P. Equation 4; equation 1 where every
    /// page comes once ([`Remigration::ONCE`]).
    #[must_use]
    pub fn host(&self, alpha: Intensity, rho: Remigration) -> Rate {
        rate(self.canonical(alpha).get().min(self.interconnect_bound(alpha, rho)))
    }

    /// Ceiling of device placement with its copy, operations a second: `Q / (t + t_cp/σ)`. Equation 3; equation 2
    /// where everything copied is touched ([`Sparsity::DENSE`]).
    ///
    /// For Q = α·B operations on B bytes touched; B cancels out, which is why there is no argument for it.
    #[must_use]
    pub fn device(&self, alpha: Intensity, sigma: Sparsity) -> Rate {
        let kernel = alpha.get() / self.canonical(alpha).get();
        rate(alpha.get() / (kernel + self.copy_time_a_byte(sigma)))
    }

    /// Whether the interconnect bounds host placement: `(α/ρ)·βᵉ_C < P`, the zone of interest.
    #[must_use]
    pub fn in_zone_of_interest(&self, alpha: Intensity, rho: Remigration) -> bool {
        self.interconnect_bound(alpha, rho) < self.canonical(alpha).get()
    }

    /// The intensity from which arithmetic bounds a device-resident kernel, operations a byte: `peak/βᵉ`.
    #[must_use]
    pub fn ridge(&self) -> Intensity {
        intensity(self.peak / self.device)
    }

    /// Where the zone of interest ends, operations a byte: `ρ·peak/βᵉ_C`. `None` if the interconnect is faster than
    /// device memory: then there is no such zone.
    #[must_use]
    pub fn zone_end(&self, rho: Remigration) -> Option<Intensity> {
        (self.on_demand < rho.get() * self.device).then(|| intensity(rho.get() * self.peak / self.on_demand))
    }

    /// γ: seconds to copy a structure of which `touched` bytes are used, over seconds of the kernel on it; without
    /// unit. 0 for nothing touched.
    ///
    /// Both times are proportional to the bytes, so γ does not depend on them beyond rounding.
    #[must_use]
    pub fn gamma(&self, touched: Bytes, alpha: Intensity, sigma: Sparsity) -> f64 {
        let copy = self.copy_seconds(touched, sigma);
        let kernel = self.kernel_seconds(touched, alpha);
        if kernel > 0.0 { copy / kernel } else { 0.0 }
    }

    /// `t_cp/σ`: seconds of the bulk copy of a structure of which `touched` bytes are used.
    #[must_use]
    pub fn copy_seconds(&self, touched: Bytes, sigma: Sparsity) -> f64 {
        touched.0 as f64 * self.copy_time_a_byte(sigma)
    }

    /// `t = Q/P`: seconds of the kernel when all it touches lies in device memory.
    #[must_use]
    pub fn kernel_seconds(&self, touched: Bytes, alpha: Intensity) -> f64 {
        alpha.get() * touched.0 as f64 / self.canonical(alpha).get()
    }

    /// Where host placement with `rho` passes device placement with `sigma`.
    ///
    /// Host placement has the higher ceiling where `ρ/βᵉ_C < 1/(σ·copy) + max(1/βᵉ, α/peak)`: everywhere, or from some
    /// intensity beyond the ridge on. Device placement is never above at every α.
    #[must_use]
    pub fn crossing(&self, sigma: Sparsity, rho: Remigration) -> Crossing {
        let saved = rho.get() / self.on_demand - self.copy_time_a_byte(sigma);
        if saved <= 1.0 / self.device {
            Crossing::HostEverywhere
        } else {
            Crossing::HostAbove(intensity(self.peak * saved))
        }
    }

    fn interconnect_bound(&self, alpha: Intensity, rho: Remigration) -> f64 {
        alpha.get() / rho.get() * self.on_demand
    }

    /// Seconds of copy for each byte touched: untouched bytes are copied, too.
    fn copy_time_a_byte(&self, sigma: Sparsity) -> f64 {
        1.0 / (self.copy * sigma.get())
    }
}

/// Bytes a second of a bandwidth that is not 0.
pub(crate) fn positive(bandwidth: Bandwidth) -> Result<f64, QuantityError> {
    let bytes = bandwidth.0 as f64;
    if bytes > 0.0 { Ok(bytes) } else { Err(QuantityError { expected: "a bandwidth above 0B/s", found: bytes }) }
}

/// A ceiling: positive, since everything that it is made of is. The nearest value that `f64` can hold.
fn rate(operations: f64) -> Rate {
    Rate::new(operations.clamp(f64::MIN_POSITIVE, f64::MAX)).expect("clamped to what a rate can be")
}

fn intensity(operations: f64) -> Intensity {
    Intensity::new(operations.clamp(f64::MIN_POSITIVE, f64::MAX)).expect("clamped to what an intensity can be")
}
