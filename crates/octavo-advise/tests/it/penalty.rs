//! The penalty term by term, against values calculated by hand.

use octavo_advise::penalty::{
    Ahead, AllocationCosts, Back, CallCosts, Copying, Extent, FaultCosts, FaultGroups, Faults, FirstTouch, Hiding,
    HostPlacement, Latency, Operations, Prefetching, Returns, Toucher,
};
use octavo_advise::{Intensity, Machine, Occupancy, Penalty, Rate, Readings, Remigration, Sparsity, Structure, System};
use octavo_units::{Bandwidth, Bytes, Time};

const PAGE: u64 = 4096;
const PAGES: u64 = 1000;
const NOTHING: f64 = 1e-12;

/// 10 multiprocessors; 10 GB/s on demand, 5 GB/s by lines, 20 GB/s copied; 100 GB/s of memory, 1 TOP/s.
fn system() -> System {
    System {
        roofline: Machine {
            peak: Rate::new(1e12).unwrap(),
            device: Bandwidth(100_000_000_000),
            on_demand: Bandwidth(10_000_000_000),
            copy: Bandwidth(20_000_000_000),
        },
        by_lines: Bandwidth(5_000_000_000),
        back: Back { copy: Bandwidth(20_000_000_000), on_demand: Bandwidth(10_000_000_000) },
        multiprocessors: 10,
        warp: 32,
        warps: 64,
        line: Bytes(100),
        latency: Time(1_000_000),
        page: Bytes(PAGE),
        faults: FaultCosts {
            group: Time(12_000_000),
            block: Time(8_000_000),
            fault: Time(1_000_000),
            made: Time(700_000),
            stale: Time(400_000),
            prefetch: Time(2_000_000),
            unmap: Time(250_000),
            most: 256,
            host: Time(500_000),
        },
        calls: CallCosts {
            launch: Time(3_000_000),
            copy: Time(6_000_000),
            prefetch: Time(1_000_000),
            device: AllocationCosts { each: Time(144_000_000), ..AllocationCosts::default() },
            pinned: AllocationCosts { each: Time(1_600_000), ..AllocationCosts::default() },
            managed: AllocationCosts::default(),
            first_touch: Time(750_000),
            zeroing: Bandwidth(4_096_000_000),
            unmap: Time(250_000),
        },
        capacity: Bytes(PAGE * 400),
    }
}

/// A thousand pages of which a quarter comes twice.
fn structure() -> Structure {
    Structure {
        size: Bytes(PAGE * PAGES),
        sigma: Sparsity::new(0.25).unwrap(),
        rho: Remigration::new(2.0).unwrap(),
        lines: Bytes(1_000_000),
        alpha: Intensity::new(2.0).unwrap(),
        occupancy: Occupancy::new(0.5).unwrap(),
        required: None,
        fault_concurrency: 50,
        prefetched_pages: 300,
        fault_groups: None,
        ahead: Ahead::default(),
        prefetches: 10,
        stale_faults: 0,
        fault_runs: u64::MAX,
        first: Toucher::Host,
        host_faults: 100,
        returns: Returns::default(),
        write_shared: false,
        thrashing: Time(0),
        copied_in: Bytes(PAGE * PAGES),
        copied_out: Bytes(0),
        copies: 1,
        seen_by_host: true,
    }
}

fn on_demand(structure: &Structure, readings: &Readings) -> Penalty {
    Penalty::of(&system(), structure, HostPlacement::OnDemand, readings).unwrap()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs() + NOTHING, "{found} is not {expected}");
}

#[test]
fn the_volume_is_what_comes_each_time() {
    let penalty = on_demand(&structure(), &Readings::SOUND);
    assert_eq!(penalty.volume, Bytes(PAGE * 500));
    let pinned = Penalty::of(&system(), &structure(), HostPlacement::Pinned, &Readings::SOUND).unwrap();
    assert_eq!(pinned.volume, Bytes(1_000_000));
}

#[test]
fn latency_in_each_reading() {
    let volume = (PAGE * 500) as f64;
    let with = |latency| on_demand(&structure(), &Readings { latency, ..Readings::SOUND }).latency.0;
    // A multiprocessor asks for a tenth of 100 GB/s, all of what the interconnect gives.
    close(with(Latency::Shared), volume / 10e9);
    close(with(Latency::Interconnect), volume / 10e9);
    close(with(Latency::Alone), volume / 10.0 / 10e9);
    close(with(Latency::Product), volume * 10e9);
    let slow = Structure { required: Some(Bandwidth(500_000_000)), ..structure() };
    let shared = Readings { latency: Latency::Shared, ..Readings::SOUND };
    close(on_demand(&slow, &shared).latency.0, volume / 10.0 / 0.5e9);
    close(on_demand(&slow, &Readings::SOUND).latency.0, volume / 10e9);
}

#[test]
fn concurrency_in_each_reading() {
    let with = |operations| on_demand(&structure(), &Readings { operations, ..Readings::SOUND }).concurrency;
    close(with(Operations::Lanes), (2.0 * 32.0 - 1.0) + 32.0);
    close(with(Operations::Words), 8.0 + 32.0);
}

#[test]
fn as_printed_concurrency_hides_its_share_of_the_lines_in_flight() {
    // 10 GB/s of lines of 100 B that take 1 us: 100 lines in flight, for which there are 40 warps and operations.
    let printed = Readings { hiding: Hiding::Concurrency, ..Readings::SOUND };
    let penalty = on_demand(&structure(), &printed);
    close(penalty.hidden.0, 0.4 * penalty.latency.0);
    close(penalty.exposed.0, 0.6 * penalty.latency.0);
    let slow = Structure { required: Some(Bandwidth(1_000_000_000)), ..structure() };
    let penalty = on_demand(&slow, &printed);
    close(penalty.hidden.0, penalty.latency.0);
    close(penalty.exposed.0, 0.0);
}

#[test]
fn nothing_hides_the_bytes_on_the_interconnect() {
    let penalty = on_demand(&structure(), &Readings::SOUND);
    close(penalty.hidden.0, 0.0);
    close(penalty.exposed.0, (PAGE * 500) as f64 / 10e9);
}

#[test]
fn prefetching_hides_faults_and_as_printed_latency_too() {
    let printed = Readings { prefetch: Prefetching::Latency, ..Readings::SOUND };
    let penalty = on_demand(&structure(), &printed);
    close(penalty.hidden_by_prefetch.0, 0.6 * penalty.latency.0);
    close(penalty.exposed.0, 0.4 * penalty.latency.0);
    close(on_demand(&structure(), &Readings::SOUND).hidden_by_prefetch.0, 0.0);
}

#[test]
fn faults_in_each_reading() {
    let with = |faults| on_demand(&structure(), &Readings { faults, ..Readings::SOUND }).faults.0;
    // 300 pages come beside them, by 10 copies.
    let beside = 10.0 * 2e-6 + 300.0 * 0.25e-6;
    close(with(Faults::Divided), 200.0 / 50.0 * 20e-6 + 200.0 * 1e-6 + beside);
    close(with(Faults::Subtracted), (200.0 - 50.0) * 21e-6);
    let many = Structure { fault_concurrency: 1000, ..structure() };
    close(on_demand(&many, &Readings::SOUND).faults.0, 200.0 / 256.0 * 20e-6 + 200.0 * 1e-6 + beside);
}

#[test]
fn stale_faults_are_served_with_the_others_and_move_nothing() {
    let stale = Structure { stale_faults: 50, prefetched_pages: 300, prefetches: 0, ..structure() };
    let penalty = on_demand(&stale, &Readings::SOUND);
    close(penalty.faults.0, 200.0 / 50.0 * 20e-6 + 150.0 * 1e-6 + 50.0 * 0.4e-6 + 300.0 * 0.25e-6);
    let made = Structure { first: Toucher::Device, ..stale };
    // A quarter of the faults that make pages, too.
    close(on_demand(&made, &Readings::SOUND).first_touch.0, 2.0 * 20e-6 + 75.0 * 0.7e-6 + 25.0 * 0.4e-6);
    let more_than_all = Structure { stale_faults: 1000, prefetched_pages: 500, ..structure() };
    assert!(on_demand(&more_than_all, &Readings::SOUND).phi().0.is_finite());
}

#[test]
fn neighbours_come_in_one_copy() {
    let few = Structure { fault_runs: 40, ..structure() };
    let beside = 10.0 * 2e-6 + 300.0 * 0.25e-6;
    // The host gives up each page by itself.
    let expected = 200.0 / 50.0 * 20e-6 + 40.0 * 1e-6 + 160.0 * (0.4e-6 + 0.25e-6) + beside;
    close(on_demand(&few, &Readings::SOUND).faults.0, expected);
    let made = Structure { first: Toucher::Device, ..few };
    // A fifth of the faults that make pages, too.
    close(on_demand(&made, &Readings::SOUND).first_touch.0, 2.0 * 20e-6 + 20.0 * 0.7e-6 + 80.0 * 0.4e-6);
    let stale = Structure { stale_faults: 180, ..few };
    let expected = 200.0 / 50.0 * 20e-6 + 20.0 * 1e-6 + 180.0 * 0.4e-6 + beside;
    close(on_demand(&stale, &Readings::SOUND).faults.0, expected);
}

#[test]
fn what_the_device_touches_first() {
    let made = Structure { first: Toucher::Device, ..structure() };
    let penalty = on_demand(&made, &Readings::SOUND);
    // Of 200 faults every other is a page's first.
    close(penalty.first_touch.0, 100.0 / 50.0 * 20e-6 + 100.0 * 0.7e-6);
    // Of 300 prefetched pages every other comes from the host.
    close(penalty.faults.0, 100.0 / 50.0 * 20e-6 + 100.0 * 1e-6 + 10.0 * 2e-6 + 150.0 * 0.25e-6);
    close(penalty.latency.0, (PAGE * 250) as f64 / 10e9);
    let printed = on_demand(&made, &Readings { first_touch: FirstTouch::Fetched, ..Readings::SOUND });
    // A group of 128 at half the occupancy.
    close(printed.first_touch.0, 500.0 * (20e-6 / 128.0 + 0.7e-6));
    close(printed.latency.0, (PAGE * 500) as f64 / 10e9);
    close(on_demand(&structure(), &Readings::SOUND).first_touch.0, 0.0);
}

#[test]
fn copies_and_launches_in_each_reading() {
    let both = Structure { copied_out: Bytes(PAGE * PAGES), copies: 2, ..structure() };
    let with = |copy| on_demand(&both, &Readings { copy, ..Readings::SOUND }).copy.0;
    close(with(Copying::Quotient), 2.0 * (PAGE * PAGES) as f64 / 20e9 + 12e-6);
    close(with(Copying::Product), (PAGE * PAGES) as f64 * 20e9 + 12e-6);
    close(on_demand(&both, &Readings::SOUND).launches.0, 2.0 * 3e-6);
}

#[test]
fn counted_groups_and_blocks_take_the_place_of_faults_in_flight() {
    let faults = |fault_groups| on_demand(&Structure { fault_groups, ..structure() }, &Readings::SOUND).faults.0;
    // 200 faults, 50 at a time: four groups, each in a block of its own.
    close(faults(None), faults(Some(FaultGroups { groups: 4.0, blocks: 4 })));
    close(faults(Some(FaultGroups { groups: 4.5, blocks: 6 })) - faults(None), 0.5 * 12e-6 + 2.0 * 8e-6);
}

#[test]
fn lines_of_pinned_memory_take_what_the_link_or_the_resident_warps_allow() {
    let exposed = |occupancy| {
        let some = Structure { occupancy: Occupancy::new(occupancy).unwrap(), ..structure() };
        Penalty::of(&system(), &some, HostPlacement::Pinned, &Readings::SOUND).unwrap().exposed.0
    };
    // 320 warps that wait for 128 B each microsecond ask for 41 GB/s, of which the link gives 5; 6.4 warps for 0.8 GB/s.
    close(exposed(0.5), 1e6 / 5e9);
    close(exposed(0.01), 1e6 / (6.4 * 128.0 / 1e-6));
}

#[test]
fn prefetches_of_the_program_take_the_place_of_faults() {
    let ahead = Ahead { calls: 7, copies: 3, bytes: Bytes(PAGE * 1100) };
    let penalty = |first| {
        Penalty::of(&system(), &Structure { ahead, first, ..structure() }, HostPlacement::Prefetched, &Readings::SOUND)
    };
    let (host, device) = (penalty(Toucher::Host).unwrap(), penalty(Toucher::Device).unwrap());
    close(host.exposed.0, 1100.0 * PAGE as f64 / 10e9);
    close(host.prefetches.0, 7.0 * 1e-6 + 3.0 * 1e-6 + 1100.0 * 0.25e-6);
    close(device.prefetches.0, 7.0 * 1e-6 + 3.0 * 0.7e-6 + 1100.0 * 0.25e-6);
    assert_eq!((host.faults.0, host.first_touch.0, host.thrashing.0), (0.0, 0.0, 0.0));
    close(host.having.0, on_demand(&structure(), &Readings::SOUND).having.0);
    close(host.phi().0, host.exposed.0 + host.prefetches.0 + host.having.0 - host.launches.0 - host.copy.0);
}

#[test]
fn a_whole_program_pays_for_its_memory() {
    let penalty = on_demand(&structure(), &Readings::SOUND);
    // Two chunks of device memory, allocated and freed; 900 first touches more of ordinary pages beside it.
    close(penalty.having.0, -900.0 * 0.75e-6 - 4.0 * 72e-6);
    let scratch = Structure { first: Toucher::Device, seen_by_host: false, ..structure() };
    close(on_demand(&scratch, &Readings::SOUND).having.0, 1000.0 * 0.25e-6 - 4.0 * 72e-6);
    let pinned = Penalty::of(&system(), &structure(), HostPlacement::Pinned, &Readings::SOUND).unwrap();
    close(pinned.having.0, 1000.0 * (1.6e-6 + 1e-6) - 4.0 * 72e-6 - 1000.0 * (0.75e-6 + 1e-6 + 0.25e-6));
    let kernel = Readings { extent: Extent::Kernel, ..Readings::SOUND };
    close(on_demand(&structure(), &kernel).having.0, 0.0);
}

#[test]
fn what_the_host_touches_again_comes_back_by_faults() {
    let returns = Returns { bytes: Bytes(PAGE * 250), faults: 25, prefetches: 5 };
    let output = Structure { returns, ..structure() };
    let penalty = on_demand(&output, &Readings::SOUND);
    close(penalty.returned.0, 25.0 * 0.5e-6 + 5.0 * 2e-6 + 250.0 * PAGE as f64 / 10e9);
    close(on_demand(&structure(), &Readings::SOUND).returned.0, 0.0);
    close(on_demand(&output, &Readings { extent: Extent::Kernel, ..Readings::SOUND }).returned.0, 0.0);
}

#[test]
fn the_penalty_is_the_sum_of_its_terms() {
    let penalty = on_demand(&structure(), &Readings::SOUND);
    let kernel = penalty.exposed.0 + penalty.faults.0 + penalty.first_touch.0 - penalty.launches.0 - penalty.copy.0;
    close(penalty.phi().0, kernel + penalty.returned.0 + penalty.having.0);
    assert_eq!(penalty.advises_host(), penalty.phi().0 < 0.0);
}

#[test]
fn thrashing_rules_pages_on_demand_out_and_pinned_memory_not() {
    let shared = Structure { write_shared: true, copied_in: Bytes(1 << 40), ..structure() };
    let penalty = on_demand(&shared, &Readings::SOUND);
    let held = on_demand(&Structure { thrashing: Time(5_000_000), ..shared }, &Readings::SOUND);
    close(held.phi().0 - penalty.phi().0, 5e-6);
    assert!(penalty.phi().0 < 0.0 && !penalty.advises_host());
    let pinned = Penalty::of(&system(), &shared, HostPlacement::Pinned, &Readings::SOUND).unwrap();
    assert!(pinned.advises_host());
}

#[test]
fn as_printed_everything_has_the_size_of_its_products() {
    let penalty = on_demand(&structure(), &Readings::PUBLISHED);
    close(penalty.copy.0, (PAGE * PAGES) as f64 * 20e9 + 6e-6);
    assert!(penalty.advises_host(), "a product of bytes and bandwidth says nothing about seconds");
}

#[test]
fn constants_that_cannot_be_are_refused() {
    let refused = |system: System, structure: Structure| {
        Penalty::of(&system, &structure, HostPlacement::OnDemand, &Readings::SOUND).unwrap_err().to_string()
    };
    assert_eq!(
        refused(system(), Structure { size: Bytes(0), ..structure() }),
        "expected a structure above 0B, found 0"
    );
    assert_eq!(
        refused(System { multiprocessors: 0, ..system() }, structure()),
        "expected at least 1 multiprocessor, found 0"
    );
    let concurrency = Structure { fault_concurrency: 0, ..structure() };
    assert_eq!(refused(system(), concurrency), "expected a fault concurrency of at least 1 page, found 0");
    let slow = System { by_lines: Bandwidth(0), ..system() };
    assert_eq!(refused(slow, structure()), "expected a bandwidth above 0B/s, found 0");
}

#[test]
fn readings_are_named_in_text() {
    let text = serde_json::to_string(&Readings::PUBLISHED).unwrap();
    assert!(text.contains(r#""latency":"product""#), "{text}");
    let some: Readings = serde_json::from_str(r#"{"copy": "product"}"#).unwrap();
    assert_eq!(some, Readings { copy: Copying::Product, ..Readings::SOUND });
    assert!(serde_json::from_str::<Readings>(r#"{"copie": "product"}"#).is_err());
}

#[test]
fn what_goes_to_the_host_has_the_bandwidth_of_that_way() {
    let back = Back { copy: Bandwidth(10_000_000_000), on_demand: Bandwidth(5_000_000_000) };
    let slow = System { back, ..system() };
    let returns = Returns { bytes: Bytes(PAGE * 50), faults: 5, prefetches: 0 };
    let copied = (Bytes(PAGE * 100), Bytes(PAGE * 200));
    let output = Structure { copied_in: copied.0, copied_out: copied.1, copies: 2, returns, ..structure() };
    let penalty = Penalty::of(&slow, &output, HostPlacement::OnDemand, &Readings::SOUND).unwrap();
    close(penalty.copy.0, 2.0 * 6e-6 + 100.0 * PAGE as f64 / 20e9 + 200.0 * PAGE as f64 / 10e9);
    close(penalty.returned.0, 5.0 * 0.5e-6 + 50.0 * PAGE as f64 / 5e9);
}
