//! Properties of the penalty on every machine and for every structure.

use octavo_advise::penalty::{
    Ahead, AllocationCosts, Back, CallCosts, FaultCosts, FaultGroups, Hiding, HostPlacement, Returns, Toucher,
};
use octavo_advise::{Intensity, Machine, Occupancy, Penalty, Rate, Readings, Remigration, Sparsity, Structure, System};
use octavo_units::{Bandwidth, Bytes, Time};
use proptest::prelude::*;

fn bandwidths() -> impl Strategy<Value = Bandwidth> {
    (1_000_000u64..10_000_000_000_000).prop_map(Bandwidth)
}

fn times() -> impl Strategy<Value = Time> {
    (0u64..100_000_000).prop_map(Time)
}

fn systems() -> impl Strategy<Value = System> {
    let roofline = (1e9..1e15, bandwidths(), bandwidths(), bandwidths());
    let roofline = roofline.prop_map(|(peak, device, on_demand, copy)| Machine {
        peak: Rate::new(peak).unwrap(),
        device,
        on_demand,
        copy,
    });
    let faults = (times(), times(), times(), times(), times(), times(), 1u64..1024, times());
    let faults = faults.prop_map(|(group, block, fault, made, stale, prefetch, most, host)| FaultCosts {
        group,
        block,
        fault,
        made,
        stale: stale.min(fault).min(made),
        prefetch,
        unmap: Time::ZERO,
        most,
        host,
    });
    let allocation = (times(), times(), times());
    let allocations = allocation.prop_map(|(call, each, below_chunk)| AllocationCosts { call, each, below_chunk });
    let memories = proptest::array::uniform3(allocations);
    let calls = (times(), times(), times(), memories, times(), bandwidths(), times()).prop_map(
        |(launch, copy, prefetch, [device, pinned, managed], first_touch, zeroing, unmap)| CallCosts {
            launch,
            copy,
            prefetch,
            device,
            pinned,
            managed,
            first_touch,
            zeroing,
            unmap,
        },
    );
    let sizes = (1u32..200, 1u32..=64, 1u32..=64, times(), 12u32..21, 1u64..1 << 40);
    (roofline, bandwidths(), faults, calls, sizes).prop_map(|(roofline, by_lines, faults, calls, sizes)| System {
        roofline,
        by_lines,
        back: Back { copy: roofline.copy, on_demand: roofline.on_demand },
        multiprocessors: sizes.0,
        warp: sizes.1,
        warps: sizes.2,
        line: Bytes(64),
        latency: Time(sizes.3.0 + 1),
        page: Bytes(1 << sizes.4),
        // A fault takes its page from the host's page table, too.
        faults: FaultCosts { fault: Time(faults.fault.0 + calls.unmap.0), unmap: calls.unmap, ..faults },
        calls,
        capacity: Bytes(sizes.5),
    })
}

fn structures() -> impl Strategy<Value = Structure> {
    let shares = (0.001..=1.0, 1.0..16.0, 0.01..1e4, 0.01..=1.0);
    let counts = (1u64..1 << 40, 0u64..1 << 40, 1u64..10_000, 0u64..1_000_000);
    (shares, counts, any::<bool>(), any::<bool>()).prop_map(|(shares, counts, by_device, output)| Structure {
        size: Bytes(counts.0),
        sigma: Sparsity::new(shares.0).unwrap(),
        rho: Remigration::new(shares.1).unwrap(),
        lines: Bytes(counts.1),
        alpha: Intensity::new(shares.2).unwrap(),
        occupancy: Occupancy::new(shares.3).unwrap(),
        required: None,
        fault_concurrency: counts.2,
        fault_groups: None,
        prefetched_pages: counts.3,
        prefetches: counts.3 / 16,
        stale_faults: counts.2,
        fault_runs: u64::MAX,
        first: if by_device { Toucher::Device } else { Toucher::Host },
        host_faults: counts.0 / 4096 + 1,
        returns: Returns { bytes: Bytes(if output { counts.0 } else { 0 }), faults: counts.2, prefetches: counts.2 },
        ahead: Ahead { calls: counts.2, copies: counts.2, bytes: Bytes(if by_device { 0 } else { counts.0 }) },
        write_shared: false,
        thrashing: Time(0),
        copied_in: Bytes(if by_device { 0 } else { counts.0 }),
        copied_out: Bytes(if output { counts.0 } else { 0 }),
        copies: u64::from(!by_device) + u64::from(output),
        seen_by_host: !by_device || output,
    })
}

fn phi(system: &System, structure: &Structure, host: HostPlacement) -> f64 {
    Penalty::of(system, structure, host, &Readings::SOUND).unwrap().phi().0
}

fn at_most(left: f64, right: f64) -> bool {
    left <= right + 1e-9 * (left.abs() + right.abs()) + 1e-15
}

proptest! {
    #[test]
    fn more_of_it_touched_costs_more_on_demand(
        system in systems(), structure in structures(), share in 0.001..=1.0,
    ) {
        let sigma = Sparsity::new(structure.sigma.get() * share).unwrap();
        let sparser = Structure { sigma, ..structure };
        let [less, more] = [sparser, structure].map(|each| phi(&system, &each, HostPlacement::OnDemand));
        prop_assert!(at_most(less, more), "{less} {more}");
    }

    #[test]
    fn coming_again_costs_more_on_demand(system in systems(), structure in structures(), times in 1.0..8.0) {
        let again = Structure { rho: Remigration::new(structure.rho.get() * times).unwrap(), ..structure };
        let [once, more] = [structure, again].map(|each| phi(&system, &each, HostPlacement::OnDemand));
        prop_assert!(at_most(once, more), "{once} {more}");
    }

    #[test]
    fn more_lines_cost_more_pinned(system in systems(), structure in structures(), more in 0u64..1 << 40) {
        let busier = Structure { lines: Bytes(structure.lines.0 + more), ..structure };
        let [few, many] = [structure, busier].map(|each| phi(&system, &each, HostPlacement::Pinned));
        prop_assert!(at_most(few, many), "{few} {many}");
    }

    #[test]
    fn prefetched_pages_cost_no_more_than_faults(system in systems(), structure in structures(), pages in 0u64..1 << 20) {
        // A fault that moves nothing may cost less than a page that is brought.
        let structure = Structure { stale_faults: 0, ..structure };
        let fetched = Structure { prefetched_pages: structure.prefetched_pages + pages, ..structure };
        let [without, with] = [structure, fetched].map(|each| phi(&system, &each, HostPlacement::OnDemand));
        prop_assert!(at_most(with, without), "{with} {without}");
    }

    #[test]
    fn pages_in_fewer_copies_cost_no_more(
        system in systems(), structure in structures(), runs in 0u64..1 << 24, fewer in 0.0..1.0,
    ) {
        let by = |fault_runs| phi(&system, &Structure { fault_runs, ..structure }, HostPlacement::OnDemand);
        let [least, less, most] = [(runs as f64 * fewer) as u64, runs, u64::MAX].map(by);
        prop_assert!(at_most(least, less) && at_most(less, most), "{least} {less} {most}");
    }

    #[test]
    fn faults_served_together_cost_no_more(system in systems(), structure in structures(), more in 0u64..1000) {
        let together = Structure { fault_concurrency: structure.fault_concurrency + more, ..structure };
        let [alone, with] = [structure, together].map(|each| phi(&system, &each, HostPlacement::OnDemand));
        prop_assert!(at_most(with, alone), "{with} {alone}");
    }

    #[test]
    fn more_groups_and_more_blocks_cost_more(
        system in systems(), structure in structures(), groups in 0.0..1e4, blocks in 0u64..10_000, more in 0u64..100,
    ) {
        let by = |groups, blocks| {
            let counted = Structure { fault_groups: Some(FaultGroups { groups, blocks }), ..structure };
            phi(&system, &counted, HostPlacement::OnDemand)
        };
        prop_assert!(at_most(by(groups, blocks), by(groups + more as f64, blocks)));
        prop_assert!(at_most(by(groups, blocks), by(groups, blocks + more)));
    }

    #[test]
    fn a_faster_interconnect_costs_no_more_on_demand(system in systems(), structure in structures(), times in 1u64..8) {
        let mut faster = system;
        faster.roofline.on_demand = Bandwidth(system.roofline.on_demand.0 * times);
        let [slow, fast] = [system, faster].map(|each| phi(&each, &structure, HostPlacement::OnDemand));
        prop_assert!(at_most(fast, slow), "{fast} {slow}");
    }

    #[test]
    fn each_cost_grows_with_the_size(system in systems(), structure in structures(), times in 1u64..8) {
        let larger = Structure {
            size: Bytes(structure.size.0 * times),
            copied_in: Bytes(structure.copied_in.0 * times),
            copied_out: Bytes(structure.copied_out.0 * times),
            returns: Returns { bytes: Bytes(structure.returns.bytes.0 * times), ..structure.returns },
            ..structure
        };
        let [one, other] = [structure, larger]
            .map(|each| Penalty::of(&system, &each, HostPlacement::OnDemand, &Readings::SOUND).unwrap());
        prop_assert!(one.volume <= other.volume);
        for (less, more) in [
            (one.exposed, other.exposed), (one.faults, other.faults), (one.first_touch, other.first_touch),
            (one.returned, other.returned), (one.launches, other.launches), (one.copy, other.copy),
        ] {
            prop_assert!(at_most(less.0, more.0), "{less:?} {more:?}");
        }
    }

    #[test]
    fn nothing_hides_more_than_there_is(system in systems(), structure in structures()) {
        let printed = Readings { hiding: Hiding::Concurrency, ..Readings::SOUND };
        let hosts = [HostPlacement::OnDemand, HostPlacement::Prefetched, HostPlacement::Pinned];
        for (host, readings) in hosts.into_iter().flat_map(|host| [(host, Readings::SOUND), (host, printed)]) {
            let penalty = Penalty::of(&system, &structure, host, &readings).unwrap();
            prop_assert!(penalty.hidden.0 <= penalty.latency.0 && penalty.exposed.0 >= 0.0);
            prop_assert!(penalty.phi().0.is_finite());
        }
    }
}
