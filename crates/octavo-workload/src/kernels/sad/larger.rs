//! The second and the third kernel: sums for blocks of twice the side, from the sums of four blocks.

use octavo_program::{Buffer, Cursor, Op, OpSink};

use crate::emit::{load_ascending, push_all, steps, store_lanes};

/// Bytes of a pixel and of a sum.
pub(super) const PIXEL: u64 = 2;
/// Places along a side of the search range, and in all; elements of an array of sums for one block.
pub(super) const RANGE: u64 = 33;
pub(super) const PLACES: u64 = RANGE * RANGE;
pub(super) const PADDED: u64 = 1096;
/// Bytes of two sums, which a thread adds at once; threads that share the places of a block.
const PAIR: u64 = 2 * PIXEL;
const SHARERS: u64 = 32;
/// Pairs of places.
const PAIRS: u64 = PLACES.div_ceil(2);

/// Instructions of the kernels, compiled for GCN3: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    /// Around the wait for kernel arguments.
    pub const LOCATE: [[Op; 2]; 2] =
        [[Op::mix(3, 0, 0, 0), Op::mix(37, 23, 0, 0)], [Op::mix(1, 1, 0, 0), Op::mix(4, 28, 0, 0)]];
    /// Before each of four loads, added up, and before each of five stores, the wait in the first.
    pub const BEFORE_LOADS: [Op; 2] = [Op::mix(8, 0, 0, 0), Op::mix(9, 0, 0, 0)];
    pub const DURING_LOADS: [Op; 2] = [Op::mix(2, 0, 0, 0), Op::mix(17, 1, 0, 0)];
    pub const ADD: [Op; 2] = [Op::mix(17, 1, 0, 0), Op::mix(5, 0, 0, 0)];
    pub const NEXT: Op = Op::mix(0, 1, 0, 1);
}

/// Which sums are made.
#[derive(Clone, Copy)]
pub(super) enum Merge {
    /// Sums of 8 x 8 blocks of the upper or the lower half of a macroblock, and of 8 x 4 and 4 x 8 on the way. A half
    /// is two blocks side by side, 32 lanes each.
    To8 { half: u64 },
    /// Sums of the macroblock, 32 lanes, and of its halves on the way.
    To16,
}

/// A wavefront of either kernel.
pub(super) struct Larger<'a> {
    /// All sums, of this many macroblocks.
    pub sums: &'a Buffer,
    pub macroblocks: u64,
    pub macroblock: u64,
    pub merge: Merge,
}

/// Arrays of sums, by number, of what one set of 32 lanes reads and writes.
struct Arrays {
    from: [u64; 4],
    to: [u64; 5],
}

impl Larger<'_> {
    /// Steps: the arguments; then, for each turn over the places, the loads and first stores, and the other stores.
    pub fn fill(&self, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let kernel = usize::from(matches!(self.merge, Merge::To16));
        let sets = self.arrays();
        steps(cursor, out, 1 + PAIRS.div_ceil(SHARERS) as u32, |step, out| {
            if step == 0 {
                let [before, after] = cost::LOCATE[kernel];
                return push_all(out, &[before, Op::WAIT, after]);
            }
            let first = u64::from(step - 1) * SHARERS;
            let lanes = SHARERS.min(PAIRS - first);
            out.push(cost::BEFORE_LOADS[kernel]);
            (0..4).for_each(|place| {
                load_ascending(out, sets.iter().map(|set| (self.at(set.from[place], first), lanes * PAIR)));
            });
            push_all(out, &[cost::DURING_LOADS[kernel], Op::WAIT, cost::ADD[kernel]]);
            (0..5).for_each(|place| {
                let pairs = sets.iter().flat_map(|set| (first..first + lanes).map(|pair| self.at(set.to[place], pair)));
                store_lanes(out, pairs, PAIR);
            });
            out.push(cost::NEXT);
        });
    }

    /// Address of a pair of sums in an array.
    fn at(&self, array: u64, pair: u64) -> u64 {
        self.sums.at(array * PADDED + 2 * pair, PIXEL)
    }

    /// Sizes lie one after another. A macroblock has one array for 16 x 16, two each for 16 x 8 and 8 x 16, and four
    /// for 8 x 8. It has eight each for 8 x 4 and 4 x 8, and 16 for 4 x 4.
    fn arrays(&self) -> Vec<Arrays> {
        let (count, own) = (self.macroblocks, self.macroblock);
        match self.merge {
            Merge::To8 { half } => (0..2)
                .map(|side| {
                    let small = 25 * count + 16 * own + 8 * half + 2 * side;
                    let tall = 17 * count + 8 * own + 4 * half + 2 * side;
                    let wide = 9 * count + 8 * own + 4 * half + side;
                    let from = [small, small + 1, small + 4, small + 5];
                    Arrays { from, to: [tall, tall + 1, wide, wide + 2, 5 * count + 4 * own + 2 * half + side] }
                })
                .collect(),
            Merge::To16 => {
                let (small, tall, wide) = (5 * count + 4 * own, 3 * count + 2 * own, count + 2 * own);
                vec![Arrays { from: [0, 1, 2, 3].map(|next| small + next), to: [tall, tall + 1, wide, wide + 1, own] }]
            }
        }
    }
}
