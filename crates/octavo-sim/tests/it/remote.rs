//! Remote lines under a limit of how many may be in flight.

use crate::support::{Script, line, link_bytes, load, node, run};
use octavo_node::NodeConfig;
use octavo_program::Op;
use octavo_sim::Summary;
use octavo_units::Bytes;

fn limited(gpus: u32, lines_in_flight: u32) -> NodeConfig {
    let mut node = node(gpus);
    node.remote.lines_in_flight = lines_in_flight;
    node
}

/// Loads of three GPUs over each other's pages: overlapping runs of many lengths, some across pages, some again.
fn loads() -> Script {
    let wavefront = |gpu: u64| {
        let mut ops = Vec::new();
        for step in 0..120u64 {
            let first = (step * 37 + gpu * 211) % (12 * 64 - 40);
            ops.push(Op::load(first, 1 + (step * 13 % 40) as u32));
            if step % 5 == 4 {
                ops.extend([Op::load(first + 3, 9), Op::WAIT]);
            }
        }
        ops
    };
    let own = (0..3).map(|gpu| (gpu * 4..gpu * 4 + 4).flat_map(|page| load(page, 0)).collect()).collect();
    Script::on_gpus(12, vec![own, (0..3).map(wavefront).collect()])
}

fn check_served_once(summary: &Summary, script: &Script, what: &str) {
    let accesses = &summary.accesses;
    assert_eq!((accesses.load_lines, accesses.store_lines), script.lines(), "{what}");
    let served = accesses.l1_hits + accesses.l2_hits + accesses.dram_reads + accesses.remote_host_lines;
    assert_eq!(served, accesses.load_lines, "{what}: every line is served exactly once");
}

#[test]
fn every_line_is_served_exactly_once() {
    let script = loads();
    for placement in ["first-touch", "access-counter", "on-touch", "duplication"] {
        for lines_in_flight in [0, 64, 16, 7, 2, 1] {
            let summary = run(&limited(3, lines_in_flight), placement, &script).summary;
            check_served_once(&summary, &script, &format!("{placement}, {lines_in_flight} in flight"));
            let remote = summary.accesses.remote_gpu_lines + summary.accesses.remote_host_lines;
            assert!(remote > 0 || ["on-touch", "duplication"].contains(&placement), "{placement}");
        }
    }
}

#[test]
fn lines_that_hit_while_others_wait_are_counted_once() {
    // The first 16 lines fill what may be in flight; of the next 16, eight are cached and eight have to wait.
    let read = vec![Op::load(line(0, 8), 8), Op::WAIT, Op::load(line(0, 32), 16), Op::load(line(0, 8), 16), Op::WAIT];
    let script = Script::on_gpus(8, vec![vec![load(0, 0), vec![]], vec![vec![], read]]);
    let summary = run(&limited(2, 16), "first-touch", &script).summary;
    check_served_once(&summary, &script, "16 in flight");
    assert_eq!((summary.accesses.l1_hits, summary.accesses.remote_gpu_lines), (8, 8 + 16 + 8));
}

/// How long GPU 1 takes to read 16 pages of GPU 0 that it has mapped, `run` lines an instruction, in picoseconds.
fn reading_time(lines_in_flight: u32, run_length: u32) -> u64 {
    let touch: Vec<Op> = (0..16).flat_map(|page| load(page, 0)).collect();
    let time = |last: Vec<Op>| {
        let launches = vec![vec![touch.clone(), vec![]], vec![vec![], touch.clone()], vec![vec![], last]];
        run(&limited(2, lines_in_flight), "first-touch", &Script::on_gpus(16, launches)).summary.time_ps
    };
    let reads = (0..16 * 64).step_by(run_length as usize).map(|line| Op::load(line, run_length));
    time(reads.chain([Op::WAIT]).collect()) - time(vec![])
}

/// 1024 lines, at most `limit` at a time, each for 200.25 + 201.25 ns on the links and 21 in the owner's cache.
fn check_limits(run_length: u32) {
    let times = [32, 16, 8, 4, 2, 1].map(|limit| (limit, reading_time(limit, run_length)));
    for (limit, time) in times {
        let least = 1024 / u64::from(limit) * 422_500;
        assert!(time >= least, "{limit} in flight: {time} ps, expected at least {least} ps");
    }
    for pair in times.windows(2) {
        assert!(pair[0].1 < pair[1].1, "fewer in flight must not be faster: {times:?}");
    }
}

#[test]
fn time_grows_as_fewer_lines_may_be_in_flight() {
    check_limits(1);
}

#[test]
fn lines_of_one_instruction_are_limited_too() {
    check_limits(64);
}

#[test]
fn posted_stores_take_no_place_of_lines_in_flight() {
    let touch: Vec<Op> = load(0, 0);
    let launches = vec![vec![touch.clone(), vec![]], vec![vec![], touch], vec![vec![], vec![Op::store(0, 64)]]];
    let script = Script::on_gpus(1, launches);
    let time = |posted, lines_in_flight| {
        let mut node = limited(2, lines_in_flight);
        node.compute.posted_stores = posted;
        run(&node, "first-touch", &script).summary.time_ps
    };
    assert_eq!(time(true, 1), time(true, 0));
    assert!(time(false, 1) > time(false, 0) + 60 * 422_500);
}

#[test]
fn lines_of_the_host_that_come_without_their_other_half_pay_a_header_of_their_own() {
    // Line 1 alone; lines 2 and 3; lines 5 to 8, of which two have no other half.
    let read = [(1, 1, 1), (2, 2, 0), (5, 4, 2)];
    let bytes = |first, count, lone_header| {
        let mut node = node(1);
        node.remote.lone_header = lone_header;
        let script = Script::sequence(1, vec![vec![Op::load(first, count), Op::WAIT]]);
        link_bytes(&run(&node, "access-counter", &script), "host->gpu0", "lines")
    };
    for (first, count, lone) in read {
        assert_eq!(bytes(first, count, None), u64::from(count) * (64 + 16));
        assert_eq!(
            bytes(first, count, Some(Bytes(28))),
            u64::from(count) * (64 + 16) + lone * 12,
            "{count} from {first}"
        );
    }
}
