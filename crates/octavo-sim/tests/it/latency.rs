//! Latencies that can be added up by hand: the cost of one access on an idle node.

use crate::support::{Script, node, run};
use octavo_node::{DrainScope, LinkSharing};
use octavo_program::Op;

/// Line `index` of page `page`.
fn line(page: u64, index: u64) -> u64 {
    page * 64 + index
}

fn time(placement: &str, launches: Vec<Vec<Op>>) -> u64 {
    run(&node(1), placement, &Script::sequence(8, launches)).summary.time_ps
}

/// The time that `last` adds after `before`, all on one wavefront of GPU 0.
fn added(placement: &str, before: &[Op], last: &[Op]) -> u64 {
    let both = [before, last].concat();
    time(placement, vec![both]) - time(placement, vec![before.to_vec()])
}

#[test]
fn a_hit_in_the_first_level_pays_the_tlb_and_the_cache() {
    let warm = [Op::load(line(0, 0), 1), Op::WAIT];
    assert_eq!(added("on-touch", &warm, &warm), (1 + 20) * 1000);
}

#[test]
fn a_miss_to_memory_pays_crossbar_bank_and_dram() {
    let warm = [Op::load(line(0, 0), 1), Op::WAIT];
    let other_line = [Op::load(line(0, 1), 1), Op::WAIT];
    // TLB 1, L1 20, crossbar 5, bank input 1 + lookup 10, DRAM 1 + 100, crossbar 5.
    assert_eq!(added("on-touch", &warm, &other_line), (1 + 20 + 5 + 1 + 10 + 1 + 100 + 5) * 1000);
}

#[test]
fn loads_without_a_wait_between_them_overlap() {
    let warm = [Op::load(line(0, 0), 1), Op::WAIT];
    let one = added("on-touch", &warm, &[Op::load(line(0, 1), 1), Op::WAIT]);
    let eight = added("on-touch", &warm, &[Op::load(line(0, 1), 8), Op::WAIT]);
    assert!(eight < one + 16_000, "eight lines take {eight} ps, one takes {one} ps");
}

#[test]
fn compute_occupies_the_simd_four_cycles_an_instruction() {
    let warm = [Op::load(line(0, 0), 1), Op::WAIT];
    assert_eq!(added("on-touch", &warm, &[Op::compute(100)]), 400_000);
}

#[test]
fn a_cold_fault_pays_walks_messages_driver_and_copy() {
    // TLBs 1 + 10, GPU walk 4 × 100; 32 bytes at 32 GB/s and 500 cycles to the host; host walk 4 × 100; driver
    // 1000; command 500, the host's memory 100, 4096 bytes and 500 cycles over the link; memory 4 + 100;
    // entry 100; wake 1 and 500 back; then the replay: TLBs 11, walk with a warm walk cache 100, and a miss.
    let to_host = 1_000 + 500_000;
    let copy = 500_000 + 100_000 + 128_000 + 500_000 + 104_000;
    let replay = 11_000 + 100_000 + 142_000;
    let expected = 411_000 + to_host + 400_000 + 1_000_000 + copy + 100_000 + to_host + replay;
    assert_eq!(time("on-touch", vec![vec![Op::load(line(0, 0), 1), Op::WAIT]]), expected);
}

#[test]
fn faults_of_one_gpu_on_one_page_merge() {
    let both = vec![Op::load(line(0, 0), 1), Op::store(line(0, 9), 1), Op::WAIT];
    let result = run(&node(1), "on-touch", &Script::sequence(8, vec![both]));
    assert_eq!((result.summary.accesses.faults, result.summary.accesses.faulting_accesses), (1, 2));
}

#[test]
fn a_remote_line_pays_both_links_and_the_owners_caches() {
    // GPU 0 owns page 0 after the first launch; then GPU 1 reads a line of it: mapped by a first fault, then two
    // more lines one after the other.
    let first = vec![vec![vec![Op::load(line(0, 0), 1), Op::WAIT]], vec![vec![]]];
    let remote = |ops: Vec<Op>| {
        let second = vec![vec![vec![]], vec![ops]];
        run(&node(2), "first-touch", &Script::new(8, vec![first.clone(), second])).summary
    };
    let warm = vec![Op::load(line(0, 8), 1), Op::WAIT];
    let more = [warm.clone(), vec![Op::load(line(0, 12), 1), Op::WAIT]].concat();
    let (warm, more) = (remote(warm), remote(more));
    assert_eq!(more.accesses.remote_gpu_lines, 2);
    // TLB 1, L1 20; request of 16 bytes at 64 GB/s; 200 cycles; owner: crossbar 5, bank 1 + 10, DRAM 101, crossbar
    // 5; answer of 80 bytes and 200 cycles.
    let expected = 21_000 + 250 + 200_000 + 122_000 + 1_250 + 200_000;
    assert_eq!(more.time_ps - warm.time_ps, expected);
}

#[test]
fn links_of_pairs_do_not_share_bandwidth() {
    // GPUs 1 and 2 read 16 pages of GPU 0 twice at once. Its outgoing link is the bottleneck only when shared: the
    // second time, 1024 answers of 80 bytes at 4 GB/s for the other reader are 20 µs.
    let pages = |from: u64| (from..from + 16).map(|page| Op::load(page * 64, 64)).collect::<Vec<_>>();
    let own = vec![vec![pages(0).into_iter().chain(pages(16)).collect::<Vec<_>>()], vec![vec![]], vec![vec![]]];
    let read = |from: u64| [pages(from), vec![Op::WAIT], pages(from), vec![Op::WAIT]].concat();
    let readers = vec![vec![vec![]], vec![read(0)], vec![read(16)]];
    let time = |sharing| {
        let mut node = node(3);
        node.gpu_link.sharing = sharing;
        node.remote.lines_in_flight = 0;
        node.gpu_link.bandwidth = octavo_units::Bandwidth(4_000_000_000);
        run(&node, "first-touch", &Script::new(32, vec![own.clone(), readers.clone()])).summary.time_ps
    };
    let (shared, alone) = (time(LinkSharing::PerGpu), time(LinkSharing::PerPair));
    assert!(shared > alone + 18_000_000, "shared {shared} ps, pairs {alone} ps");
}

#[test]
fn a_migration_between_gpus_drains_the_owner_and_acud_spares_other_units() {
    // GPU 0 has two units: unit 0 owns page 0 and idles, unit 1 computes; then GPU 1 takes page 0.
    let owner = vec![vec![Op::store(line(0, 0), 1), Op::WAIT]];
    let busy: Vec<Op> = (0..4000).flat_map(|_| [Op::load(line(1, 0), 1), Op::WAIT]).collect();
    let thief = [vec![Op::compute(5_000)], vec![Op::load(line(0, 0), 1), Op::WAIT]].concat();
    let idle = vec![vec![]];
    let launch = vec![owner, vec![busy], vec![thief], idle];
    let time = |drain| {
        let mut node = node(2);
        node.driver.drain = drain;
        let result = run(&node, "on-touch", &Script::new(8, vec![launch.clone()]));
        assert_eq!(result.summary.manager.migrations, 3, "pages 0 and 1 from the host, page 0 to GPU 1");
        result.summary.time_ps
    };
    let (whole, touched) = (time(DrainScope::WholeGpu), time(DrainScope::TouchedUnits));
    assert!(whole > touched + 200_000, "whole GPU {whole} ps, touched units {touched} ps");
}
