//! Fidelity `page`: what is exact, what is processed together, and what holds for every combination of strategies.

use std::ops::ControlFlow;

use octavo_manager::{MemoryConfig, PLACEMENTS};
use octavo_node::{Fidelity, NodeConfig};
use octavo_program::{Op, Workload};
use octavo_sim::{RunOptions, RunResult, Values, simulate};
use octavo_units::Time;

use crate::support::{Script, combinations, compute, line, memory, node};

fn run(node: &NodeConfig, memory: &MemoryConfig, workload: &dyn Workload) -> RunResult {
    let options = RunOptions { record_events: true, interval: Time(10_000_000), ..RunOptions::default() };
    simulate(node, memory, workload, options).unwrap_or_else(|error| panic!("{memory:?}: {error}"))
}

fn by_page(node: NodeConfig) -> NodeConfig {
    NodeConfig { fidelity: Fidelity::Page, ..node }
}

/// A wavefront that loads and stores page after page; the last load of each continues into the next one.
fn alone() -> Script {
    let steps = (0..16).flat_map(|page| {
        let (first, last) = (line(page, 3), line(page, 60));
        [Op::load(first, 4), Op::compute(3), Op::WAIT, Op::store(first, 4), Op::load(last, 8)]
    });
    Script::one_group_per_gpu(17, vec![steps.chain([Op::WAIT]).collect()])
}

/// GPUs that load and store the same pages in turns.
fn together(gpus: u64) -> Script {
    let wavefront = |gpu: u64| {
        let steps = (0..200).flat_map(|step: u64| {
            let page = (step * 7 + gpu * 3) % 24;
            let op = if (step + gpu).is_multiple_of(3) {
                Op::store(line(page, step % 60), 2)
            } else {
                Op::load(line(page, step % 60), 4)
            };
            [op, Op::WAIT]
        });
        steps.collect()
    };
    Script::one_group_per_gpu(24, (0..gpus).map(wavefront).collect())
}

#[test]
fn where_nobody_contends_faults_pages_and_sums_are_those_of_lines() {
    let script = alone();
    for placement in PLACEMENTS.names() {
        let (line, page) =
            (run(&node(1), &memory(placement), &script), run(&by_page(node(1)), &memory(placement), &script));
        let (lines, pages) = (&line.summary.accesses, &page.summary.accesses);
        assert_eq!((lines.load_lines, lines.store_lines), (pages.load_lines, pages.store_lines), "{placement}");
        assert_eq!((lines.load_lines, lines.store_lines), script.lines());
        assert_eq!(lines.faults, pages.faults, "{placement}");
        assert_eq!(line.summary.manager, page.summary.manager, "{placement}: what was decided");
    }
}

#[test]
fn every_combination_runs_at_page_fidelity_and_the_same_twice() {
    for (number, memory) in combinations().enumerate() {
        let node = by_page(node([1, 2, 4][number % 3]));
        let script = together(node.gpus.into());
        let result = run(&node, &memory, &script);
        let accesses = &result.summary.accesses;
        assert_eq!((accesses.load_lines, accesses.store_lines), script.lines(), "{memory:?}");
        if number.is_multiple_of(7) {
            assert!(result == run(&node, &memory, &script), "{memory:?}");
        }
    }
}

/// A page that was loaded before, and then this many loads of one line of it, each waited for.
fn loads(count: usize) -> Script {
    let first = [Op::load(line(0, 0), 1), Op::WAIT];
    let ops = first.into_iter().chain((0..count).flat_map(|_| [Op::load(line(0, 0), 1), Op::WAIT])).collect();
    Script::one_group_per_gpu(1, vec![ops])
}

#[test]
fn a_constant_share_hits_each_level() {
    let mut node = by_page(node(1));
    (node.settled.l1_hits_percent, node.settled.l2_hits_percent) = (75, 40);
    let accesses = run(&node, &memory("on-touch"), &loads(999)).summary.accesses;
    // The first line is replayed after its fault, and is one of the thousand, too.
    assert_eq!((accesses.load_lines, accesses.l1_hits), (1000, 750));
    assert_eq!((accesses.l2_hits, accesses.dram_reads), (100, 150));
    // The fault's own look-up is one more; all but it and the replay find their translation.
    assert_eq!((accesses.translations, accesses.l1_tlb_hits), (1001, 999));
}

#[test]
fn latencies_are_those_of_the_level_that_hits() {
    let time = |l1, l2, count| {
        let mut node = by_page(node(1));
        (node.settled.l1_hits_percent, node.settled.l2_hits_percent) = (l1, l2);
        run(&node, &memory("on-touch"), &loads(count)).summary.time_ps
    };
    let each = |l1, l2| (time(l1, l2, 40) - time(l1, l2, 20)) / 20;
    // A line passes the pipeline (1 ns), its TLB (1) and: L1 (20); or that, the crossbar both ways (5 + 5) and L2 (10),
    // whose eight banks take a line in 1/8 ns together; or memory (100), with 1/16 ns, too.
    let cases = [each(100, 0), each(0, 100), each(0, 0)];
    assert_eq!(cases, [22_000, 42_125, 142_187]);
}

#[test]
fn lines_that_waited_for_a_fault_come_one_after_another() {
    let time = |lines| {
        let mut node = by_page(node(1));
        (node.settled.l1_hits_percent, node.settled.l2_hits_percent) = (0, 0);
        let script = Script::one_group_per_gpu(1, vec![vec![Op::load(line(0, 0), lines), Op::WAIT]]);
        run(&node, &memory("on-touch"), &script).summary.time_ps
    };
    // For each: a cycle after the fault, one of eight banks of L2, one of sixteen of memory, in whole picoseconds.
    assert_eq!(time(41) - time(1), 40 * (1000 + 1000 / 8 + 1000 / 16));
}

#[test]
fn wavefronts_of_one_simd_share_it() {
    let time = |wavefronts| {
        let script = Script::new(1, vec![vec![vec![compute(20); wavefronts]]]);
        run(&by_page(node(1)), &memory("on-touch"), &script).summary.time_ps
    };
    // A unit has four SIMDs.
    assert_eq!([1, 4, 8, 16].map(time), [1, 1, 2, 4].map(|rounds| rounds * 20_000_000));
}

#[test]
fn code_is_fetched_as_at_fidelity_line() {
    let ops = vec![Op::fetch(0, 1), Op::compute(100), Op::fetch(1, 3), Op::compute(1)];
    let script = Script::sequence(1, vec![ops]);
    let found = |node: NodeConfig| {
        // A run that goes nowhere is asked how far it is, and ends.
        let mut stop = |_| ControlFlow::Break(());
        let options = RunOptions { progress: Some(&mut stop), ..RunOptions::default() };
        let summary = simulate(&node, &memory("on-touch"), &script, options).expect("it ends").summary;
        (summary.time_ps, summary.accesses.code_lines, summary.accesses.dram_reads)
    };
    let by_line = found(node(1));
    assert_eq!((by_line, by_line.1), (found(by_page(node(1))), 4));
}

/// GPU 1 takes a page twelve times while GPU 0 loads it again and again. A wavefront that went a microsecond ahead each
/// time would load data that it does not have for that long.
#[test]
fn nobody_goes_ahead_on_pages_that_have_left() {
    const TIMES: u64 = 12;
    let take = |turn| [compute(10), vec![Op::store(line(0, turn), 1), Op::WAIT]].concat();
    let again = (0..8000).flat_map(|_| [Op::load(line(0, 0), 1), Op::WAIT]).collect();
    let script = Script::one_group_per_gpu(1, vec![again, (0..TIMES).flat_map(take).collect()]);
    let run = |ahead| {
        let mut node = by_page(node(2));
        node.settled.ahead = ahead;
        run(&node, &memory("on-touch"), &script)
    };
    let (clock, ahead) = (run(Time(0)), run(Time(1_000_000)));
    let faults = |result: &RunResult| result.summary.accesses.faults;
    assert_eq!((faults(&clock), faults(&ahead)), (2 * TIMES + 1, 2 * TIMES + 1));
    // From the fault of GPU 1 to that of GPU 0: only the first time is there a difference.
    let lost = |result| -> Vec<u64> { fault_times(result).chunks(2).skip(1).map(|pair| pair[0]).collect() };
    let taken = |result| -> Vec<u64> { fault_times(result).chunks_exact(2).map(|pair| pair[1]).collect() };
    let gaps =
        |result| lost(result).into_iter().zip(taken(result)).map(|(lost, taken)| lost - taken).collect::<Vec<_>>();
    let differences: Vec<u64> =
        gaps(&clock).into_iter().zip(gaps(&ahead)).map(|(one, two)| one.abs_diff(two)).collect();
    assert!(differences[1..].iter().all(|&difference| difference <= 200_000), "{differences:?}");
}

/// The arrival times of faults, in picoseconds.
fn fault_times(result: &RunResult) -> Vec<u64> {
    let events = result.tables.iter().find(|table| table.name == "events").expect("recorded");
    let values = |name: &str| &events.columns.iter().find(|column| column.name == name).expect("a column").values;
    let Values::Category { codes, names } = values("kind") else { panic!("kinds are names") };
    let Values::U64(times) = values("time_ps") else { panic!("times are numbers") };
    let rows = codes.iter().zip(times);
    rows.filter(|(code, _)| names[usize::from(**code)].ends_with("_fault")).map(|(_, &time)| time).collect()
}

#[test]
fn dirty_lines_are_written_back_when_their_page_leaves() {
    let store = |gpu: u64| vec![Op::store(line(0, gpu), 1), Op::WAIT];
    let script = Script::on_gpus(1, vec![vec![store(0), vec![]], vec![vec![], store(1)]]);
    let mut node = by_page(node(2));
    node.settled.l2_hits_percent = 100;
    let accesses = run(&node, &memory("on-touch"), &script).summary.accesses;
    assert_eq!((accesses.faults, accesses.dram_writes), (2, 1));
}

#[test]
fn shares_of_hits_are_refused_where_lines_have_tags() {
    type Change = (fn(&mut NodeConfig), &'static str);
    let changes: [Change; 3] = [
        (
            |node| node.settled.l1_hits_percent = 36,
            "`settled.l1_hits_percent`: expected 35 where `fidelity` is line, found 36",
        ),
        (
            |node| node.settled.l2_hits_percent = 0,
            "`settled.l2_hits_percent`: expected 84 where `fidelity` is line, found 0",
        ),
        (|node| node.settled.ahead = Time(0), "`settled.ahead`: expected 1us where `fidelity` is line, found 0"),
    ];
    for (change, expected) in changes {
        let mut node = node(1);
        change(&mut node);
        let error = simulate(&node, &memory("on-touch"), &loads(1), RunOptions::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn caches_that_need_tags_are_refused() {
    for change in
        [|node: &mut NodeConfig| node.l1.in_order = true, |node: &mut NodeConfig| node.walker.in_memory = true]
    {
        let mut node = by_page(node(1));
        change(&mut node);
        let error = simulate(&node, &memory("on-touch"), &loads(1), RunOptions::default()).unwrap_err().to_string();
        assert!(error.contains("`fidelity`: expected line where"), "{error}");
    }
}
