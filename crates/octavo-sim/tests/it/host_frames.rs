//! The cost of frames of the host for pages that leave a GPU: one for each page, or one for each block.

use octavo_manager::{HostFrames, MemoryConfig};
use octavo_node::{CopyEngineConfig, OccupiedConfig};
use octavo_program::Op;
use octavo_registry::Choice;
use octavo_sim::{RunOptions, simulate};
use octavo_units::{Bytes, Time};

use crate::support::{Script, column, memory, node};

const CHUNK: u64 = 2 << 20;
const FRAME: u64 = 800_000;
const PIECE: u64 = 70_000;
/// A block leaves in 512 pieces, with a gap between any two.
const OUT: u64 = 511 * PIECE;
/// It comes as the page of the fault, and then the others.
const IN: u64 = 510 * PIECE;

/// Picoseconds until a GPU with room for one block has touched these, each in a separate launch. The host wrote them.
fn time(host_frames: HostFrames, blocks: &[u64]) -> u64 {
    let mut node = node(1);
    node.capacity.bytes = Bytes(CHUNK);
    node.host.costs.frame = Time(FRAME);
    node.copy_engines =
        Some(CopyEngineConfig { setup: Time::ZERO, piece: Time(PIECE), batched: false, occupied: None });
    let tree = Choice { options: [("threshold".to_owned(), 1.into())].into_iter().collect(), ..Choice::named("tree") };
    let memory =
        MemoryConfig { host_frames, prefetch: tree, eviction: Choice::named("lru-block"), ..memory("on-touch") };
    let touch = |&block: &u64| vec![vec![Op::load(block * CHUNK / 64, 1), Op::WAIT]];
    let script = Script::on_gpus(2 * CHUNK / 4096, blocks.iter().map(touch).collect());
    let result = simulate(&node, &memory, &script, RunOptions::default()).expect("it runs");
    column(&result, "kernels", "ended_ps").into_iter().max().expect("a launch")
}

#[test]
fn pages_are_copied_one_by_one_and_blocks_with_a_large_frame_at_once() {
    for (blocks, base, large) in [
        // Both come in pages of the host's; what leaves needs a frame of its own only if that is large.
        (&[0][..], IN, IN),
        (&[0, 1], 2 * IN + OUT, 2 * IN + FRAME),
        (&[0, 1, 0], 3 * IN + 2 * OUT, 2 * IN + 2 * FRAME),
        (&[0, 1, 0, 1], 4 * IN + 3 * OUT, 2 * IN + 2 * FRAME),
    ] {
        let ready = time(HostFrames::Ready, blocks);
        assert_near(time(HostFrames::Base, blocks) - ready, base);
        assert_near(time(HostFrames::Large, blocks) - ready, large);
    }
}

/// Copies of pages in one block, each of 4 KiB, come one after another: the engine is busy for a while in addition to
/// their bytes.
#[test]
fn each_copy_occupies_its_engine() {
    let time = |occupied: Option<OccupiedConfig>| {
        let mut node = node(1);
        node.copy_engines = Some(CopyEngineConfig { setup: Time::ZERO, piece: Time::ZERO, batched: false, occupied });
        let touch = (0..8).flat_map(|page| [Op::load(page * 2 * 64, 1)]).chain([Op::WAIT]).collect();
        let script = Script::on_gpus(512, vec![vec![touch]]);
        let result = simulate(&node, &memory("on-touch"), &script, RunOptions::default()).expect("it runs");
        column(&result, "kernels", "ended_ps").into_iter().max().expect("a launch")
    };
    let busy = |to_gpu| Some(OccupiedConfig { to_gpu: Time(to_gpu), to_host: Time(1) });
    let step = time(busy(40_000_000)) - time(busy(30_000_000));
    assert_near(step, 8 * 10_000_000);
    let towards_host = Some(OccupiedConfig { to_gpu: Time::ZERO, to_host: Time(40_000_000) });
    assert_eq!(time(towards_host), time(busy(0)), "nothing leaves");
}

/// One command has an engine make the copies of a plan back to back: seven of eight wait neither for a command nor for
/// the link, and one entry is paid for all. So do copies between two GPUs, whose pages the second takes from the first.
#[test]
fn batched_copies_of_a_plan_follow_one_another() {
    let time = |gpus: u32, batched| {
        let mut node = node(gpus);
        node.copy_engines =
            Some(CopyEngineConfig { setup: Time(3_000_000), piece: Time::ZERO, batched, occupied: None });
        let touch = || vec![Op::load(0, 1), Op::WAIT];
        let mut launches = vec![vec![touch()], vec![vec![], touch()]];
        launches.truncate(gpus as usize);
        let script = Script::on_gpus(512, launches);
        let tree =
            Choice { options: [("threshold".to_owned(), 1.into())].into_iter().collect(), ..Choice::named("tree") };
        let memory = MemoryConfig { prefetch: tree, ..memory("on-touch") };
        let result = simulate(&node, &memory, &script, RunOptions::default()).expect("it runs");
        column(&result, "kernels", "ended_ps").into_iter().max().expect("a launch")
    };
    let gains = |gpus| time(gpus, false) - time(gpus, true);
    // The faulted page and the rest of its block: setup, command and link 0.5 us each, and an entry of 0.1 us.
    let one = 3_000_000 + 2 * 500_000 + 100_000;
    assert_near(gains(1), one);
    let between = gains(2) - gains(1);
    assert!(between > 3_000_000 + 500_000, "the second GPU's command is one, too: found {between}");
}

/// Within what a memory's banks make of copies that come a little later.
fn assert_near(found: u64, expected: u64) {
    assert!(found.abs_diff(expected) < 100_000, "found {found}, expected {expected}");
}
