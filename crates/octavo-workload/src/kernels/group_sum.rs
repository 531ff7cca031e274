//! The sum of 256 partial sums, one for each thread, in local memory: how SHOC's reductions end.
//!
//! Half of the threads add what the other half has, then half of those, with a barrier before each step; the last six
//! steps run in one CUDA warp, without barriers. The first thread stores the sum. Instructions and waits come from the
//! compiled GCN3 code (see `tools/gcn-costs`), from the first barrier on.

use octavo_program::{Op, OpSink};

use crate::emit::{push_all, store_span};

/// Threads of a work-group.
pub const THREADS: u64 = 256;
/// Wavefronts of a work-group.
pub const WAVEFRONTS: u32 = 4;

const MEET: [Op; 3] = [Op::WAIT, Op::BARRIER, Op::WAIT];
const BRANCH: Op = Op::mix(0, 1, 0, 1);
const HALVE: [Op; 3] = [Op::mix(0, 0, 2, 0), Op::WAIT, Op::mix(1, 0, 1, 0)];
const BETWEEN: Op = Op::mix(1, 1, 0, 0);
/// One of the steps between the first and the last of a warp.
const WARP_STEP: [Op; 2] = [Op::mix(1, 0, 3, 0), Op::WAIT];
const BEFORE_BRANCH: Op = Op::mix(1, 3, 0, 1);
const BEFORE_STORE: Op = Op::mix(3, 3, 1, 0);

/// Adds up and stores the 4-byte sum at `address`; ends the wavefront.
pub fn finish(out: &mut OpSink<'_>, wavefront: u32, address: u64) {
    for adding in [2, 1] {
        push_all(out, &MEET);
        out.push(BRANCH);
        if wavefront < adding {
            push_all(out, &HALVE);
        }
        out.push(BETWEEN);
    }
    push_all(out, &MEET);
    out.push(BRANCH);
    if wavefront == 0 {
        push_all(out, &HALVE[..2]);
        (0..5).for_each(|_| push_all(out, &WARP_STEP));
        out.push(HALVE[2]);
    }
    out.push(BEFORE_BRANCH);
    if wavefront == 0 {
        push_all(out, &[BEFORE_STORE, Op::WAIT]);
        store_span(out, address, 4);
    }
    out.push(Op::END);
}
