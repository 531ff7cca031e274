//! Properties on every machine and for every kernel.

use octavo_advise::{Crossing, Intensity, Machine, Rate, Remigration, Roofline, Sparsity};
use octavo_units::{Bandwidth, Bytes};
use proptest::prelude::*;

/// Relative rounding allowed where two ways of calculating meet.
const ROUNDING: f64 = 1e-12;

fn machines() -> impl Strategy<Value = Machine> {
    let bandwidth = || (1_000_000u64..10_000_000_000_000).prop_map(Bandwidth);
    (1e9..1e15, bandwidth(), bandwidth(), bandwidth()).prop_map(|(peak, device, on_demand, copy)| Machine {
        peak: Rate::new(peak).unwrap(),
        device,
        on_demand,
        copy,
    })
}

fn alphas() -> impl Strategy<Value = Intensity> {
    (-10.0..20.0).prop_map(|exponent: f64| Intensity::new(exponent.exp2()).unwrap())
}

fn sigmas() -> impl Strategy<Value = Sparsity> {
    (1e-4..=1.0).prop_map(|share| Sparsity::new(share).unwrap())
}

fn rhos() -> impl Strategy<Value = Remigration> {
    (1.0..64.0).prop_map(|times| Remigration::new(times).unwrap())
}

fn at_most(left: f64, right: f64) -> bool {
    left <= right * (1.0 + ROUNDING)
}

fn ordered<T: PartialOrd>(left: T, right: T) -> (T, T) {
    if left <= right { (left, right) } else { (right, left) }
}

proptest! {
    #[test]
    fn no_ceiling_is_above_the_canonical_roofline(
        machine in machines(), alpha in alphas(), sigma in sigmas(), rho in rhos()
    ) {
        let roofline = Roofline::of(&machine).unwrap();
        let canonical = roofline.canonical(alpha).get();
        prop_assert!(at_most(canonical, machine.peak.get()));
        prop_assert!(at_most(roofline.host(alpha, rho).get(), canonical));
        prop_assert!(at_most(roofline.device(alpha, sigma).get(), canonical));
    }

    #[test]
    fn ceilings_rise_with_intensity(
        machine in machines(), one in alphas(), other in alphas(), sigma in sigmas(), rho in rhos()
    ) {
        let roofline = Roofline::of(&machine).unwrap();
        let (low, high) = ordered(one, other);
        prop_assert!(at_most(roofline.host(low, rho).get(), roofline.host(high, rho).get()));
        prop_assert!(at_most(roofline.device(low, sigma).get(), roofline.device(high, sigma).get()));
    }

    #[test]
    fn device_placement_gains_from_density_and_host_placement_from_pages_that_stay(
        machine in machines(), alpha in alphas(), shares in (sigmas(), sigmas()), times in (rhos(), rhos())
    ) {
        let roofline = Roofline::of(&machine).unwrap();
        let (sparse, dense) = ordered(shares.0, shares.1);
        let (few, many) = ordered(times.0, times.1);
        prop_assert!(at_most(roofline.device(alpha, sparse).get(), roofline.device(alpha, dense).get()));
        prop_assert!(at_most(roofline.host(alpha, many).get(), roofline.host(alpha, few).get()));
    }

    #[test]
    fn a_faster_interconnect_or_memory_never_lowers_a_ceiling(
        machine in machines(), alpha in alphas(), sigma in sigmas(), rho in rhos(), factor in 1u64..8
    ) {
        let times = |bandwidth: Bandwidth| Bandwidth(bandwidth.0 * factor);
        let roofline = Roofline::of(&machine).unwrap();
        let faster = [
            Machine { device: times(machine.device), ..machine },
            Machine { on_demand: times(machine.on_demand), ..machine },
            Machine { copy: times(machine.copy), ..machine },
        ];
        for machine in faster {
            let better = Roofline::of(&machine).unwrap();
            prop_assert!(at_most(roofline.host(alpha, rho).get(), better.host(alpha, rho).get()));
            prop_assert!(at_most(roofline.device(alpha, sigma).get(), better.device(alpha, sigma).get()));
        }
    }

    #[test]
    fn the_crossing_is_where_the_ceilings_change_places(
        machine in machines(), alpha in alphas(), sigma in sigmas(), rho in rhos()
    ) {
        let roofline = Roofline::of(&machine).unwrap();
        let (host, device) = (roofline.host(alpha, rho).get(), roofline.device(alpha, sigma).get());
        let host_wins = match roofline.crossing(sigma, rho) {
            Crossing::HostEverywhere => true,
            Crossing::HostAbove(at) => alpha > at,
        };
        if host_wins {
            prop_assert!(at_most(device, host));
        } else {
            prop_assert!(at_most(host, device));
        }
    }

    #[test]
    fn device_placement_is_the_kernel_slowed_by_gamma(
        machine in machines(), alpha in alphas(), sigma in sigmas(), size in 1u64..1 << 40
    ) {
        let roofline = Roofline::of(&machine).unwrap();
        let slowed = roofline.canonical(alpha).get() / (1.0 + roofline.gamma(Bytes(size), alpha, sigma));
        let device = roofline.device(alpha, sigma).get();
        prop_assert!((slowed - device).abs() <= 1e-9 * device);
    }
}

#[test]
fn a_machine_without_bandwidth_is_refused() {
    let machine =
        Machine { peak: Rate::new(1e12).unwrap(), device: Bandwidth(0), on_demand: Bandwidth(1), copy: Bandwidth(1) };
    let error = Roofline::of(&machine).unwrap_err().to_string();
    assert_eq!(error, "expected a bandwidth above 0B/s, found 0");
}
