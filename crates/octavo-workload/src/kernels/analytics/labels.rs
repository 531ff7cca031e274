//! How wavefronts bring labels to the roots of their trees: used by `wcc` with afforest and by `mst` after each round.

use std::ops::Range;

use octavo_program::{Buffer, Cursor, Op, OpSink};

use super::cost;
use super::sweep::WORD;
use crate::emit::{load_lanes, parts, push_all, store_lanes};

/// Each lane follows its labels in `buffer`; lanes that have ended wait for the others. A lane that followed more than
/// one label stores its root. `then` makes the parts behind that, from 0 on, until it pushes [`Op::END`].
pub fn follow(
    labels: &[u32],
    buffer: &Buffer,
    lanes: &Range<u32>,
    cursor: &mut Cursor,
    out: &mut OpSink<'_>,
    then: impl Fn(u32, &mut OpSink<'_>),
) {
    let of = |vertex: u32| labels[vertex as usize];
    let label = |vertex: u32| buffer.at(vertex.into(), WORD);
    let after = |steps: u32| lanes.clone().map(move |vertex| (0..steps).fold(vertex, |at, _| of(at)));
    let longest = (0..).find(|&steps| after(steps).all(|at| of(at) == at)).expect("trees end");
    parts(cursor, out, |part, out| match part {
        _ if lanes.is_empty() => out.push(Op::END),
        part if part <= longest => {
            load_lanes(out, after(part).filter(|&at| part == 0 || of(at) != at).map(label));
            push_all(out, &[Op::WAIT, cost::ADDRESS]);
        }
        part if part == longest + 1 => {
            let deep = lanes.clone().filter(|&vertex| of(of(vertex)) != of(vertex));
            store_lanes(out, deep.map(label), WORD);
        }
        part => then(part - longest - 2, out),
    });
}
