//! Where the stores of broadcast pages go.

use crate::support::{Script, compute, line, link_bytes, load, node, run, store};
use octavo_program::Op;
use octavo_sim::RunResult;

/// GPUs 0, 1 and 2 subscribe to page 0 by loading it one after the other; then GPU 0 stores lines of it.
fn broadcast(stores: &[u64]) -> RunResult {
    let subscribe = |gpu: u32| [compute(gpu * 16), load(0, 0)].concat();
    let stores = stores.iter().flat_map(|&index| store(0, index)).collect();
    let launches = vec![(0..3).map(subscribe).collect(), vec![stores, vec![], vec![]]];
    let result = run(&node(3), "gps", &Script::on_gpus(8, launches));
    assert_eq!((result.summary.manager.duplications, result.summary.manager.unsubscribed), (2, 0));
    result
}

#[test]
fn a_store_reaches_every_other_holder() {
    let result = broadcast(&[1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!((result.summary.accesses.broadcast_lines, result.summary.accesses.remote_gpu_lines), (8 * 2, 0));
    // GPU 0 sent its page twice, and each line with a header to both.
    // Pages that are copied and lines that are sent on are two things.
    assert_eq!(link_bytes(&result, "gpu0->peers", "duplication"), 2 * 4096);
    assert_eq!(link_bytes(&result, "gpu0->peers", "lines"), 8 * 2 * (64 + 16));
    for gpu in ["peers->gpu1", "peers->gpu2"] {
        assert_eq!([link_bytes(&result, gpu, "duplication"), link_bytes(&result, gpu, "lines")], [4096, 8 * (64 + 16)]);
    }
}

#[test]
fn the_write_queue_merges_stores_to_its_lines() {
    assert_eq!(broadcast(&[1, 1, 1, 1, 1, 1]).summary.accesses.broadcast_lines, 2);
    assert_eq!(broadcast(&[1, 2, 3, 4, 1, 2, 3, 4]).summary.accesses.broadcast_lines, 4 * 2, "four entries");
}

#[test]
fn a_line_that_left_the_queue_is_sent_again() {
    // Line 5 pushes line 1 out of the queue of four; line 1 comes back and pushes line 2 out.
    assert_eq!(broadcast(&[1, 2, 3, 4, 5, 1]).summary.accesses.broadcast_lines, 6 * 2);
}

#[test]
fn a_store_waits_for_the_line_that_leaves_the_queue_for_it() {
    let waited = |stores: &[u64]| broadcast(stores).summary.breakdown.duplication_ps;
    let alone = waited(&[1, 2, 3, 4]);
    assert_eq!(waited(&[1, 2, 3, 4, 1, 2]), alone, "nothing leaves");
    // Line 1 with its header at 64 GB/s, the link, and there the crossbar both ways, a bank and its latency.
    let sent = (64 + 16) * 1000 / 64 + 200_000 + (5 + 1 + 10 + 5) * 1000;
    assert_eq!(waited(&[1, 2, 3, 4, 5]) - alone, sent);
}

#[test]
fn stores_without_a_replica_cross_a_link_after_broadcasting_ended() {
    // GPU 0 owns page 0, GPU 2 reads it, GPU 1 only stores to it and gives its replica up after the first kernel. In
    // the second kernel it maps the page again, and GPU 2 drops its replica for 20 other pages: one copy is left.
    // GPU 1's stores from then on go to GPU 0 as remote lines.
    let mut node = node(3);
    node.capacity.footprint_percent = 13;
    let first = vec![load(0, 0), [compute(16), store(0, 1)].concat(), [compute(32), load(0, 2)].concat()];
    let fill: Vec<Op> = (20..40).flat_map(|page| load(page, 0)).collect();
    let run = |last: Vec<Op>| {
        let second = vec![vec![], [store(0, 3), compute(480), last].concat(), [compute(16), fill.clone()].concat()];
        run(&node, "gps", &Script::on_gpus(128, vec![first.clone(), second])).summary
    };
    let more = (4..60).flat_map(|index| [Op::store(line(0, index), 1), Op::WAIT]).collect();
    let (before, after) = (run(vec![]), run(more));
    assert_eq!((after.manager.unsubscribed, after.manager.remote_maps), (1, 1));
    assert!(after.manager.evictions_dropped > 0, "GPU 2 dropped its replica");
    assert_eq!(after.accesses.remote_gpu_lines - before.accesses.remote_gpu_lines, 56);
    assert_eq!(after.accesses.broadcast_lines, before.accesses.broadcast_lines);
    // Each store waits for its round trip.
    assert!(after.time_ps - before.time_ps > 56 * 400_000, "{} and {} ps", before.time_ps, after.time_ps);
}

#[test]
fn stores_without_a_replica_reach_every_holder_while_broadcasting() {
    // As above, but GPU 2 keeps its replica: each of GPU 1's stores goes to GPU 0 and to GPU 2.
    let first = vec![load(0, 0), [compute(16), store(0, 1)].concat(), [compute(32), load(0, 2)].concat()];
    let run = |indices: std::ops::Range<u64>| {
        let second = vec![vec![], indices.flat_map(|index| store(0, index)).collect(), vec![]];
        run(&node(3), "gps", &Script::on_gpus(8, vec![first.clone(), second])).summary
    };
    let (one, nine) = (run(3..4), run(3..12));
    assert_eq!((nine.manager.unsubscribed, nine.manager.remote_maps), (1, 1));
    let crossed = |summary: &octavo_sim::Summary| summary.accesses.broadcast_lines + summary.accesses.remote_gpu_lines;
    assert_eq!(crossed(&nine) - crossed(&one), 8 * 2);
}
