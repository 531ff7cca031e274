//! The driver that serves faults in batches.

use crate::support::{Script, compute, events, load, memory_with, node, run, run_with, store};
use octavo_driver::config::{BatchConfig, BatchScope, Replay, ServiceModel};
use octavo_node::NodeConfig;
use octavo_program::Op;
use octavo_units::Time;

/// A batch costs 20 µs and 1 µs for each request.
pub fn batched(gpus: u32, size: u32) -> NodeConfig {
    let mut node = node(gpus);
    let (batch, request) = (Time(20_000_000), Time(1_000_000));
    node.driver.service = ServiceModel::Batch(BatchConfig {
        size,
        batch,
        request,
        block: Time::ZERO,
        interrupt: Time::ZERO,
        look: Time::ZERO,
        scope: BatchScope::Node,
        replay: Replay::Batch,
    });
    node
}

/// Nanoseconds until each of `gpus` GPUs has loaded a page of its own. All faults arrive at once.
fn cold(node: &NodeConfig) -> u64 {
    let loads = (0..u64::from(node.gpus)).map(|gpu| load(gpu, 0)).collect();
    run(node, "on-touch", &Script::on_gpus(16, vec![loads])).summary.time_ps / 1000
}

/// Nanoseconds of a cold fault's plan: command, host memory, 4096 bytes, link, memory, entry.
const PLAN: u64 = 500 + 100 + 128 + 500 + 104 + 100;

#[test]
fn a_batch_of_one_costs_the_batch_and_the_request() {
    assert_eq!(cold(&batched(1, 256)) - cold(&node(1)), 20_000, "the pool takes 1 µs for a request too");
}

#[test]
fn the_next_batch_begins_when_the_plans_of_the_last_are_done() {
    // The first fault is a batch of its own; the three that arrived meanwhile are the next.
    assert_eq!(cold(&batched(4, 256)) - cold(&batched(1, 256)), PLAN + 20_000 + 3 * 1000);
}

/// The driver takes all requests that have arrived by the time of its interrupt, however many there are; it needs none
/// to continue.
#[test]
fn an_idle_driver_takes_what_has_come_until_its_interrupt() {
    let called = |gpus, size| {
        let mut node = batched(gpus, size);
        let ServiceModel::Batch(config) = &mut node.driver.service else { unreachable!() };
        config.interrupt = Time(2_000_000);
        node
    };
    let alone = cold(&batched(1, 256));
    assert_eq!(cold(&called(1, 256)) - alone, 2000);
    assert_eq!(cold(&called(4, 256)) - alone, 2000 + 3 * 1000, "all four in one batch");
    assert_eq!(cold(&called(4, 3)) - alone, 2000 + 2 * 1000 + PLAN + 20_000 + 1000, "three, then at once the fourth");
}

/// Two GPUs' faults in one block are each served for their GPU; of one GPU's, blocks count and not faults.
#[test]
fn faults_of_a_batch_that_are_in_one_block_share_the_time_of_it() {
    let with_blocks = |gpus| {
        let mut node = batched(gpus, 256);
        let ServiceModel::Batch(config) = &mut node.driver.service else { unreachable!() };
        (config.request, config.block, config.interrupt) = (Time(0), Time(5_000_000), Time(2_000_000));
        node
    };
    let touching = |pages: &[u64]| {
        let touches: Vec<Op> = pages.iter().map(|page| Op::load(page * 64, 1)).chain([Op::WAIT]).collect();
        let script = Script::on_gpus(2048, vec![vec![touches]]);
        run(&with_blocks(1), "on-touch", &script).summary.time_ps / 1_000_000
    };
    let (one, same, other) = (touching(&[0]), touching(&[0, 1, 2, 511]), touching(&[0, 512, 1024]));
    assert!(same - one < 4, "four faults of one block: {one} and {same} us");
    assert!((9..12).contains(&(other - one)), "three blocks: {one} and {other} us");
    assert_eq!((cold(&with_blocks(4)) - cold(&with_blocks(1))) / 1000, 3 * 5);
}

/// The first fault is a batch of its own; the three that arrived meanwhile are discarded, and come again.
#[test]
fn flushed_faults_happen_again_and_all_pages_come() {
    let flushing = |gpus| {
        let mut node = batched(gpus, 256);
        let ServiceModel::Batch(config) = &mut node.driver.service else { unreachable!() };
        config.replay = Replay::BatchFlush;
        node
    };
    assert_eq!(cold(&flushing(1)), cold(&batched(1, 256)), "nobody else faulted");
    let later = cold(&flushing(4)) - cold(&batched(4, 256));
    // An idle driver takes the first to come again by itself, and discards the others once more: four batches of one
    // instead of one and three. Before each of the three, a wake, a walk and a fault are under way, 0.5 us each and a bit.
    let under_way = later - 2 * 20_000 - 2 * PLAN;
    assert!((3 * 1500..3 * 1600).contains(&under_way), "{later} ns");
}

#[test]
fn a_batch_is_no_larger_than_its_size() {
    // One and five, or one, two, two and one.
    let (two, all) = (2 * (20_000 + 2000) + 20_000 + 1000 + 3 * PLAN, 20_000 + 5 * 1000 + PLAN);
    let alone = cold(&batched(1, 256));
    assert_eq!((cold(&batched(6, 2)) - alone, cold(&batched(6, 256)) - alone), (two, all));
}

#[test]
fn requests_of_one_batch_are_replayed_together() {
    // GPU 0 keeps the driver busy. GPU 1's page comes from the host, GPU 2's is drained away from GPU 0, which takes
    // longer; then both fault again.
    let busy = |node: &NodeConfig| {
        let first = vec![store(0, 0), vec![], vec![]];
        let second = vec![load(9, 0), [load(1, 0), load(2, 0)].concat(), [load(0, 0), load(3, 0)].concat()];
        let result = run(node, "on-touch", &Script::on_gpus(16, vec![first, second]));
        let faults = events(&result, "read_fault");
        let of = |page| faults.iter().find(|fault| fault.1 == page).expect("a fault on every page").0;
        (of(2), of(3))
    };
    let (one, other) = busy(&batched(3, 256));
    assert_eq!(one, other);
    let (one, other) = busy(&node(3));
    assert!(one < other, "a pool replays each fault when its plan is done");
}

#[test]
fn plans_of_reports_do_not_hold_a_batch() {
    // GPU 1 has mapped 256 pages of GPU 0 and stores to eight of them every 10 µs; Griffin moves those eight with the
    // next report, which takes it 20 µs, so that such a plan is always under way. Meanwhile another wavefront of GPU
    // 1 faults on one cold page after the other.
    let pages = 256;
    let touch: Vec<Op> = (0..pages).map(|page| Op::store(page * 64, 1)).chain([Op::WAIT]).collect();
    let eight = |part: u64| (part * 8..part * 8 + 8).map(|page| Op::store(page * 64 + 1, 4)).chain([Op::WAIT]);
    let stream: Vec<Op> = (0..pages / 8).flat_map(|part| [compute(10), eight(part).collect()].concat()).collect();
    let cold: Vec<Op> = (0..8).flat_map(|page| load(pages + page, 0)).collect();
    let idle = || vec![vec![], vec![]];
    let launches = vec![
        vec![vec![touch.clone(), vec![]], idle()],
        vec![idle(), vec![touch, vec![]]],
        vec![idle(), vec![stream, [compute(40), cold].concat()]],
    ];
    // First touches are never delayed, so that every cold fault is alike.
    let options = [("period_cycles", 10_000.into()), ("lead_pages", 100_000.into())];
    let memory = memory_with("griffin-dpc", &options);
    let result = run_with(&batched(2, 256), &memory, &Script::new(pages + 16, launches));
    assert!(result.summary.manager.report_migrations > 200, "{}", result.summary.manager.report_migrations);
    let mut faults = events(&result, "read_fault");
    faults.retain(|fault| fault.1 >= pages);
    assert_eq!(faults.len(), 8);
    // Batch and request, plan, wake, replay (TLBs, walk, miss); then TLBs and walk again, message, host walk. The
    // reports' plans drain GPU 1 too, which can hold a replay for less than 1 µs.
    let idle = 21_000 + PLAN + 501 + (111 + 142) + 111 + 501 + 400;
    for pair in faults.windows(2) {
        let gap = (pair[1].0 - pair[0].0) / 1000;
        assert!((idle..idle + 1000).contains(&gap), "{gap} ns from fault to fault, {idle} on an idle node: {faults:?}");
    }
}

#[test]
fn gpus_with_batches_of_their_own_do_not_wait_for_each_other() {
    let mut own = batched(4, 256);
    let ServiceModel::Batch(config) = &mut own.driver.service else { unreachable!() };
    config.scope = BatchScope::PerGpu;
    assert_eq!(cold(&own), cold(&batched(1, 256)), "all four at once");
}
