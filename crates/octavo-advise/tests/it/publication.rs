//! Statements of MemMap (PACT 2020) with its constants, compared with the results of its equations.

use octavo_advise::{Crossing, Intensity, Machine, Rate, Remigration, Roofline, Sparsity};
use octavo_units::{Bandwidth, Bytes};

/// P100: effective peak and effective bandwidth of its memory [MemMap].
const PEAK: f64 = 1256e9;
const DEVICE: Bandwidth = Bandwidth(362_000_000_000);
/// Pinned copy to a P100 over PCIe 3 [Microway, `bandwidthTest`].
const COPY: Bandwidth = Bandwidth(11_688_200_000);

fn alpha(value: f64) -> Intensity {
    Intensity::new(value).unwrap()
}

fn sigma(value: f64) -> Sparsity {
    Sparsity::new(value).unwrap()
}

fn rho(value: f64) -> Remigration {
    Remigration::new(value).unwrap()
}

fn peak() -> Rate {
    Rate::new(PEAK).unwrap()
}

/// Bandwidth on demand as the published crossing implies it.
fn derived() -> Bandwidth {
    Bandwidth(Machine::on_demand_for_crossing(peak(), COPY, alpha(64.0)).unwrap().round() as u64)
}

fn p100(on_demand: Bandwidth) -> Roofline {
    Roofline::of(&Machine { peak: peak(), device: DEVICE, on_demand, copy: COPY }).unwrap()
}

/// The grid of the empirical roofline: 1/4 to 256 operations a byte.
fn grid() -> impl Iterator<Item = Intensity> {
    (-2..=8).map(|exponent| alpha(2f64.powi(exponent)))
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
}

#[test]
fn gamma_is_constant_in_the_data_size() {
    let roofline = p100(derived());
    for (alpha, sigma) in [(alpha(0.5), sigma(1.0)), (alpha(40.0), sigma(0.25))] {
        let small = roofline.gamma(Bytes(4096), alpha, sigma);
        for size in [1 << 20, 1 << 30, 1 << 40] {
            close(roofline.gamma(Bytes(size), alpha, sigma), small);
        }
    }
}

/// Stated: constant in α while bandwidth-bound, then growing proportionally. The equations make it fall with 1/α;
/// what grows proportionally is its inverse.
#[test]
fn gamma_is_constant_up_to_the_ridge_and_falls_with_alpha_beyond() {
    let roofline = p100(derived());
    let gamma = |value: f64| roofline.gamma(Bytes(1 << 30), alpha(value), Sparsity::DENSE);
    close(roofline.ridge().get(), 1256.0 / 362.0);
    close(gamma(0.25), 362.0 / 11.6882);
    close(gamma(3.0), gamma(0.25));
    close(gamma(128.0), gamma(64.0) / 2.0);
    close(gamma(64.0), 1256.0 / (64.0 * 11.6882));
}

#[test]
fn dense_ceilings_never_cross_with_one_bandwidth_for_both() {
    let roofline = p100(COPY);
    assert_eq!(roofline.crossing(Sparsity::DENSE, Remigration::ONCE), Crossing::HostEverywhere);
    for alpha in grid() {
        assert!(roofline.device(alpha, Sparsity::DENSE) < roofline.host(alpha, Remigration::ONCE));
    }
}

#[test]
fn dense_ceilings_cross_at_64_if_data_come_on_demand_at_7_33_gb_a_second() {
    let roofline = p100(derived());
    assert!((derived().0 as f64 * 1e-9 - 7.3254).abs() < 1e-4); // 1 / (64/1256 + 1/11.6882), by hand.
    let Crossing::HostAbove(at) = roofline.crossing(Sparsity::DENSE, Remigration::ONCE) else { panic!("no crossing") };
    assert!((at.get() - 64.0).abs() < 1e-6, "{at:?}");
    let (host, device) = (roofline.host(at, Remigration::ONCE).get(), roofline.device(at, Sparsity::DENSE).get());
    close(host, device);
    let better =
        |value: f64| roofline.host(alpha(value), Remigration::ONCE) > roofline.device(alpha(value), Sparsity::DENSE);
    assert!(!better(63.0) && better(65.0));
}

#[test]
fn the_host_wins_at_every_intensity_when_a_quarter_or_less_is_touched() {
    let roofline = p100(derived());
    for share in [0.25, 0.125, 1.0 / 64.0] {
        assert_eq!(roofline.crossing(sigma(share), Remigration::ONCE), Crossing::HostEverywhere);
        for alpha in grid() {
            assert!(
                roofline.host(alpha, Remigration::ONCE) > roofline.device(alpha, sigma(share)),
                "{share} {alpha:?}"
            );
        }
    }
    // The bound of the equations: 1/σ = copy·(1/on demand − 1/device).
    assert_eq!(roofline.crossing(sigma(0.639), Remigration::ONCE), Crossing::HostEverywhere);
    assert!(matches!(roofline.crossing(sigma(0.641), Remigration::ONCE), Crossing::HostAbove(_)));
}

/// Stated: dense device placement wins everywhere for ρ > 4. It does so on the grid, and up to an intensity of 578;
/// beyond, host placement reaches the peak.
#[test]
fn dense_device_placement_wins_on_the_grid_when_pages_come_more_than_four_times() {
    let roofline = p100(derived());
    for times in [4.001, 8.0] {
        for alpha in grid() {
            assert!(roofline.host(alpha, rho(times)) < roofline.device(alpha, Sparsity::DENSE), "{times} {alpha:?}");
        }
    }
    let Crossing::HostAbove(at) = roofline.crossing(Sparsity::DENSE, rho(4.0)) else { panic!("no crossing") };
    assert!((at.get() - 578.38).abs() < 0.01, "{at:?}");
    let ratio =
        |value: f64| roofline.host(alpha(value), rho(4.0)).get() / roofline.device(alpha(value), Sparsity::DENSE).get();
    let highest = ratio(roofline.zone_end(rho(4.0)).unwrap().get());
    assert!(highest > 1.0 && highest < 7.0 / 6.0 && ratio(1e4) < highest, "{highest}");
}

#[test]
fn the_zone_of_interest_ends_where_the_interconnect_keeps_up_with_arithmetic() {
    let roofline = p100(derived());
    let end = roofline.zone_end(Remigration::ONCE).unwrap().get();
    close(end, PEAK / derived().0 as f64);
    assert!(roofline.in_zone_of_interest(alpha(end * 0.999), Remigration::ONCE));
    assert!(!roofline.in_zone_of_interest(alpha(end * 1.001), Remigration::ONCE));
    close(roofline.host(alpha(end * 2.0), Remigration::ONCE).get(), PEAK);
    let fast = p100(DEVICE);
    assert_eq!(fast.zone_end(Remigration::ONCE), None);
    assert!(!fast.in_zone_of_interest(alpha(1.0), Remigration::ONCE));
}
