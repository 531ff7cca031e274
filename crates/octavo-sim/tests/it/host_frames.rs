//! What frames of the host cost that hold what leaves a GPU: one a page, or one a block.

use octavo_manager::{HostFrames, MemoryConfig};
use octavo_node::CopyEngineConfig;
use octavo_program::Op;
use octavo_registry::Choice;
use octavo_sim::{RunOptions, simulate};
use octavo_units::{Bytes, Time};

use crate::support::{Script, column, memory, node};

const CHUNK: u64 = 2 << 20;
const PIN: u64 = 800_000;
const PIECE: u64 = 70_000;
/// A block leaves in 512 pieces, with a gap between any two.
const OUT: u64 = 511 * PIECE;
/// It comes as the page of the fault, and then the others.
const IN: u64 = 510 * PIECE;

/// Picoseconds until a GPU with room for one block has touched these, each in a launch of its own. The host wrote them.
fn time(host_frames: HostFrames, blocks: &[u64]) -> u64 {
    let mut node = node(1);
    node.capacity.bytes = Bytes(CHUNK);
    node.host.costs.pin = Time(PIN);
    node.copy_engines = Some(CopyEngineConfig { setup: Time::ZERO, piece: Time(PIECE) });
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
        (&[0, 1], 2 * IN + OUT, 2 * IN + PIN),
        (&[0, 1, 0], 3 * IN + 2 * OUT, 2 * IN + 2 * PIN),
        (&[0, 1, 0, 1], 4 * IN + 3 * OUT, 2 * IN + 2 * PIN),
    ] {
        let ready = time(HostFrames::Ready, blocks);
        assert_near(time(HostFrames::Base, blocks) - ready, base);
        assert_near(time(HostFrames::Large, blocks) - ready, large);
    }
}

/// Within what a memory's banks make of copies that come a little later.
fn assert_near(found: u64, expected: u64) {
    assert!(found.abs_diff(expected) < 100_000, "found {found}, expected {expected}");
}
