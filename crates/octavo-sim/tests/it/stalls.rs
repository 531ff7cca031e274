//! What wavefronts do and wait for, in kernels whose stalls can be added up by hand.

use std::collections::BTreeMap;

use octavo_node::{Fidelity, NodeConfig};
use octavo_program::Op;
use octavo_sim::{RunResult, Values};
use octavo_units::Cycles;

use crate::support::{Script, column, line, load, node, run, store};

/// Picoseconds and waits of a result by (stall, allocation).
type Stalls = BTreeMap<(String, String), (u64, u64)>;

fn stalls(result: &RunResult) -> Stalls {
    let table = result.tables.iter().find(|table| table.name == "stalls").expect("wavefronts are followed");
    let values = |name| &table.columns.iter().find(|column| column.name == name).expect("a column").values;
    let Values::Category { codes, names } = values("stall") else { panic!("stalls have names") };
    let Values::Text(allocations) = values("allocation") else { panic!("allocations have names") };
    let keys = codes.iter().map(|code| names[usize::from(*code)].to_owned()).zip(allocations.iter().cloned());
    let numbers = column(result, "stalls", "wavefront_ps").into_iter().zip(column(result, "stalls", "waits"));
    keys.zip(numbers).collect()
}

/// Nanoseconds of one stall, of all allocations.
fn sum(stalls: &Stalls, stall: &str) -> u64 {
    stalls.iter().filter(|((name, _), _)| name == stall).map(|(_, (time, _))| time).sum::<u64>() / 1000
}

/// Nanoseconds of each stall that one launch of work-groups of one wavefront has, after page 0 came to GPU 0 in another
/// launch. Both have the same kernel, so what the first spends is taken off.
fn added(node: &NodeConfig, pages: u64, groups: Vec<Vec<Op>>) -> BTreeMap<String, u64> {
    let warm: Vec<Op> = (0..pages).flat_map(|page| load(page, 0)).collect();
    let before = stalls(&run(node, "on-touch", &Script::sequence(pages, vec![warm.clone()])));
    let groups = groups.into_iter().map(|ops| vec![ops]).collect();
    let both = stalls(&run(node, "on-touch", &Script::new(pages, vec![vec![vec![warm]], groups])));
    let names: Vec<String> = both.keys().map(|(name, _)| name.clone()).collect();
    let more = names.into_iter().map(|name| (name.clone(), sum(&both, &name) - sum(&before, &name)));
    more.filter(|(_, time)| *time > 0).collect()
}

fn told<const N: usize>(expected: [(&str, u64); N]) -> BTreeMap<String, u64> {
    expected.into_iter().map(|(name, time)| (name.to_owned(), time)).collect()
}

#[test]
fn a_chase_waits_for_loads() {
    let chase = (1..33).flat_map(|index| load(0, index)).collect();
    // Each line takes a cycle to issue, and 143 from there on as a miss of an idle node: see `latency`.
    assert_eq!(added(&node(1), 1, vec![chase]), told([("compute", 32), ("load", 32 * (143 - 1))]));
}

#[test]
fn a_chase_counts_its_loads() {
    let chase = (0..33).flat_map(|index| load(0, index)).collect();
    let found = stalls(&run(&node(1), "on-touch", &Script::sequence(1, vec![chase])));
    assert_eq!(found[&("load".to_owned(), "data".to_owned())].1, 33, "the first, too, once its fault was served");
}

#[test]
fn stores_alone_wait_for_stores() {
    let stores = (1..9).flat_map(|index| store(0, index)).collect();
    // A store needs no memory: TLB 1, L1 20, crossbar 5, bank 1 + 10, crossbar 5.
    assert_eq!(added(&node(1), 1, vec![stores]), told([("compute", 8), ("store", 8 * (42 - 1))]));
}

#[test]
fn stores_that_are_posted_are_not_waited_for() {
    let mut node = node(1);
    node.compute.posted_stores = true;
    let stores = (1..9).flat_map(|index| store(0, index)).collect();
    assert_eq!(added(&node, 1, vec![stores]), told([("compute", 8)]));
}

#[test]
fn who_comes_first_to_a_barrier_waits_there() {
    let arrives = |before| vec![Op::compute(before), Op::BARRIER, Op::compute(1)];
    let script = Script::new(1, vec![vec![vec![arrives(2), arrives(10), arrives(7)]]]);
    let found = stalls(&run(&node(1), "on-touch", &script));
    assert_eq!((sum(&found, "barrier"), sum(&found, "compute")), ((8 + 3) * 4, (2 + 10 + 7 + 3) * 4));
    assert_eq!(found[&("barrier".to_owned(), String::new())].1, 2, "the last does not wait");

    let mut costs = node(1);
    costs.compute.barrier = Cycles(30);
    assert_eq!(sum(&stalls(&run(&costs, "on-touch", &script)), "barrier"), (8 + 3) * 4 + 3 * 30);
}

#[test]
fn wavefronts_of_one_simd_wait_for_the_pipeline() {
    // Two for each SIMD of the one unit.
    let group = vec![vec![Op::compute(100)]; 8];
    let found = stalls(&run(&node(1), "on-touch", &Script::new(1, vec![vec![group]])));
    assert_eq!((sum(&found, "compute"), sum(&found, "pipeline")), (8 * 400, 4 * 400));
}

#[test]
fn lines_that_lie_apart_follow_one_another() {
    let gather = |first: u64| {
        let lines = (0..8).map(|index| Op::load(line(0, first + 2 * index), 1));
        let mut ops: Vec<Op> = lines.map(Op::continued).collect();
        ops[7] = Op::load(line(0, first + 14), 1);
        [ops, vec![Op::WAIT]].concat()
    };
    let found = added(&node(1), 1, vec![gather(1)]);
    assert_eq!((found["compute"], found["gather"]), (1, 7));
    assert!(!found.contains_key("pipeline"));

    // Eight lines side by side are none.
    let found = added(&node(1), 1, vec![vec![Op::load(line(0, 1), 8), Op::WAIT]]);
    assert_eq!((found["compute"], found.get("gather")), (8, None));
}

#[test]
fn who_issues_behind_a_gather_waits_for_it() {
    let gather =
        vec![Op::load(line(0, 1), 1).continued(), Op::load(line(0, 3), 1).continued(), Op::load(line(0, 5), 1)];
    let script = |behind: Vec<Op>| Script::new(1, vec![vec![vec![load(0, 0)]], vec![vec![gather.clone(), behind]]]);
    let behind = vec![Op::load(line(0, 7), 1)];
    let (alone, both) =
        (stalls(&run(&node(1), "on-touch", &script(vec![]))), stalls(&run(&node(1), "on-touch", &script(behind))));
    assert_eq!((sum(&both, "gather") - sum(&alone, "gather"), sum(&both, "pipeline")), (3, 0));
}

#[test]
fn many_lines_of_one_bank_wait_for_their_turn() {
    // Every 16th pair of lines lies on the same bank of memory.
    let wavefronts: Vec<Vec<Op>> = (0..40).map(|step| load(step / 2, step % 2 * 32)).collect();
    let found = added(&node(1), 20, wavefronts);
    assert!(found["queue"] > 0, "{found:?}");
    assert!(found["load"] <= 40 * 142, "{found:?}");
}

#[test]
fn a_cold_page_waits_for_its_fault() {
    let found = stalls(&run(&node(1), "on-touch", &Script::sequence(1, vec![load(0, 0)])));
    // See `latency`: the replay walks with a warm cache, then the line comes from memory. No instruction is issued again.
    assert_eq!(sum(&found, "load"), 143);
    assert_eq!(sum(&found, "walk"), 10 + 100);
    let all: u64 = found.values().map(|(time, _)| time / 1000).sum();
    assert_eq!(sum(&found, "fault"), all - 143 - 110 - 1, "all but the replay");
}

#[test]
fn launches_have_gaps_that_are_not_their_wavefronts() {
    let mut node = node(1);
    node.compute.kernel_overhead = Cycles(3000);
    let result = run(&node, "on-touch", &Script::sequence(1, vec![vec![Op::compute(5)]; 20]));
    let kernels = |name| column(&result, "kernels", name);
    let spans = kernels("ended_ps").into_iter().zip(kernels("began_ps")).map(|(ended, began)| ended - began);
    for (span, ran) in spans.zip(kernels("run_ps")) {
        assert_eq!((span, ran), (3_020_000, 20_000));
    }
    assert_eq!((kernels("wavefronts"), kernels("wavefront_ps")), (vec![1; 20], vec![20_000; 20]));
    assert_eq!(sum(&stalls(&result), "compute"), 20 * 20);
}

#[test]
fn stalls_are_of_the_buffer_that_is_waited_for() {
    let ops: Vec<Op> = [load(0, 0), load(0, 1), load(512, 0)].concat();
    let script = Script::sequence(1, vec![ops]).with_buffers(&[(4, 0), (4, 0)]);
    let found = stalls(&run(&node(1), "on-touch", &script));
    let waits = |name: &str| found[&("load".to_owned(), name.to_owned())];
    assert_eq!((waits("data 0"), waits("data 1")), ((143_000 + 142_000, 2), (143_000, 1)));
}

#[test]
fn fidelity_page_follows_no_wavefront() {
    let node = NodeConfig { fidelity: Fidelity::Page, ..node(1) };
    let result = run(&node, "on-touch", &Script::sequence(1, vec![load(0, 0)]));
    assert!(result.tables.iter().all(|table| table.name != "stalls"));
}
