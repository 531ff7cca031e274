//! Where a compiler that keeps several loads in flight would put them, in streams that wait as GCN3's compiled code
//! does.
//!
//! Loads come in batches. A load that needs no loaded data moves up behind the first loads of its batch. A load that
//! does need the data ([`Op::after_data`]) moves up behind others of its depth: loads through a pointer that the batch
//! has loaded. No load moves past a store that may change what it reads, a barrier, a scalar load, a fetch of code, or
//! a wait on which the path of the kernel depends ([`Op::decides`]). Waits keep waiting for the same accesses.

use octavo_program::{Op, OpKind};

/// Loads through pointers to pointers: deeper ones begin a batch.
const DEPTHS: usize = 4;

/// The loads of a batch that are equally deep.
#[derive(Clone, Copy, Debug, Default)]
struct Depth {
    /// The place of the next one.
    end: usize,
    loads: u32,
    /// The wait for the data that they need.
    gate: Option<usize>,
}

/// Moves loads. Its state concerns one stretch of a wavefront's stream.
#[derive(Debug)]
pub(crate) struct Scheduler {
    /// Loads of each depth that are in flight.
    ahead: u32,
    /// By place in the stretch: the number of an access, and for a wait the number of first accesses that it is for. In
    /// the order before any moved; negative beyond what the stretch has.
    numbers: Vec<i32>,
    /// By number of an access, its position among all.
    places: Vec<i32>,
    batch: [Depth; DEPTHS],
    /// The latest wait, and the depth of a load that needs its accesses.
    wait: Option<usize>,
    beyond_wait: usize,
    /// The depth of the latest load.
    depth: usize,
    moved: bool,
}

impl Scheduler {
    /// Keeps this many loads of a wavefront in flight; `None` if loads stay where they are.
    pub fn new(ahead: u32) -> Option<Self> {
        (ahead > 0).then(|| Self {
            ahead,
            numbers: Vec::new(),
            places: Vec::new(),
            batch: [Depth::default(); DEPTHS],
            wait: None,
            beyond_wait: 0,
            depth: 0,
            moved: false,
        })
    }

    /// Moves the loads of a stretch.
    pub fn move_loads(&mut self, ops: &mut [Op]) {
        self.close();
        self.moved = false;
        self.number(ops);
        let mut at = 0;
        while at < ops.len() {
            at = self.place(ops, at);
        }
        if self.moved {
            self.count_anew(ops);
        }
    }

    /// Numbers the accesses, and notes which of them each wait is for.
    fn number(&mut self, ops: &[Op]) {
        self.numbers.clear();
        let mut accesses = 0;
        for op in ops {
            self.numbers.push(if op.kind() == OpKind::Wait { accesses - op.count() as i32 } else { accesses });
            accesses += i32::from(is_access(*op) && !op.continues());
        }
    }

    /// Decides about the instruction at `at`; returns where the next one is.
    fn place(&mut self, ops: &mut [Op], at: usize) -> usize {
        let op = ops[at];
        let end = at + ops[at..].iter().take_while(|op| op.continues()).count() + 1;
        match op.kind() {
            OpKind::Load => self.place_load(ops, at, end),
            OpKind::Wait if op.decides() => self.close(),
            OpKind::Wait => (self.wait, self.beyond_wait) = (Some(at), self.depth + 1),
            OpKind::Compute => {}
            OpKind::Store | OpKind::Barrier | OpKind::ScalarLoad | OpKind::Fetch | OpKind::End => self.close(),
        }
        end
    }

    /// Later operations stay behind all earlier ones.
    fn close(&mut self) {
        (self.batch, self.wait, self.beyond_wait, self.depth) = Default::default();
    }

    fn place_load(&mut self, ops: &mut [Op], at: usize, end: usize) {
        let depth = if ops[at].needs_data() { self.beyond_wait } else { 0 };
        let Some(Depth { loads, .. }) = self.batch.get(depth).copied() else { return self.begin(end) };
        if (1..self.ahead).contains(&loads) {
            self.move_up(ops, depth, at, end);
        } else if loads == 0 && depth > 0 && self.batch[0].loads > 0 {
            self.batch[depth] = Depth { end, loads: 1, gate: self.wait };
        } else {
            return self.begin(end);
        }
        self.depth = depth;
    }

    /// A batch begins with the load that ends at `end`.
    fn begin(&mut self, end: usize) {
        self.close();
        self.batch[0] = Depth { end, loads: 1, gate: None };
    }

    /// The load at `at..end` goes behind the others of its depth.
    fn move_up(&mut self, ops: &mut [Op], depth: usize, at: usize, end: usize) {
        let (to, length) = (self.batch[depth].end, end - at);
        if let (Some(gate), Some(own)) = (self.batch[depth].gate, self.wait) {
            self.numbers[gate] = self.numbers[gate].max(self.numbers[own]);
        }
        self.moved |= to < at;
        ops[to..end].rotate_right(length);
        self.numbers[to..end].rotate_right(length);
        let behind = |place: usize| if place >= to { place + length } else { place };
        for known in &mut self.batch {
            (known.end, known.gate) = (behind(known.end), known.gate.map(behind));
        }
        self.wait = self.wait.map(behind);
        self.batch[depth].loads += 1;
    }

    /// Waits leave as many accesses outstanding as the new order allows.
    fn count_anew(&mut self, ops: &mut [Op]) {
        self.places.clear();
        self.places.resize(ops.len(), 0);
        let mut accesses = 0;
        for (op, number) in ops.iter_mut().zip(&self.numbers) {
            if is_access(*op) && !op.continues() {
                self.places[*number as usize] = accesses;
                accesses += 1;
            } else if op.kind() == OpKind::Wait {
                let first = &self.places[..usize::try_from(*number).unwrap_or(0)];
                let last = first.iter().max().map_or(*number, |place| place + 1);
                *op = op.leaving((accesses - last) as u32);
            }
        }
    }
}

const fn is_access(op: Op) -> bool {
    matches!(op.kind(), OpKind::Load | OpKind::Store)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USE: Op = Op::compute(1);

    fn moved<const N: usize>(mut ops: [Op; N], ahead: u32) -> [Op; N] {
        move_loads(&mut ops, ahead);
        ops
    }

    fn move_loads(ops: &mut [Op], ahead: u32) {
        Scheduler::new(ahead).expect("loads move").move_loads(ops);
    }

    fn load(line: u64) -> Op {
        Op::load(line, 1)
    }

    fn through(line: u64) -> Op {
        load(line).after_data()
    }

    const fn left(outstanding: u32) -> Op {
        Op::wait_until(outstanding)
    }

    #[test]
    fn a_loop_over_loads_and_their_uses_has_several_in_flight() {
        let ops = [load(1), Op::WAIT, USE, load(2), Op::WAIT, USE, load(3), Op::WAIT, USE];
        assert_eq!(moved(ops, 1), ops);
        assert_eq!(moved(ops, 2), [load(1), load(2), left(1), USE, Op::WAIT, USE, load(3), Op::WAIT, USE]);
        assert_eq!(moved(ops, 6), [load(1), load(2), load(3), left(2), USE, left(1), USE, Op::WAIT, USE]);
    }

    #[test]
    fn a_gather_moves_whole() {
        let gather = [load(8).continued(), load(9)];
        let ops = [load(1), Op::WAIT, gather[0], gather[1], Op::WAIT];
        assert_eq!(moved(ops, 6), [load(1), gather[0], gather[1], left(1), Op::WAIT]);
    }

    #[test]
    fn nothing_passes_a_store_a_barrier_or_a_wait_that_decides() {
        for edge in [Op::store(9, 1), Op::BARRIER, Op::scalar_load(9, 1), Op::fetch(9, 1), Op::WAIT.deciding()] {
            let ops = [load(1), Op::WAIT, edge, load(2), Op::WAIT, USE];
            assert_eq!(moved(ops, 6), ops, "{edge:?}");
        }
    }

    #[test]
    fn a_load_through_a_pointer_waits_for_the_pointer_and_not_for_later_ones() {
        let turn = |index: u64| [load(index), Op::WAIT, through(100 + index), Op::WAIT, USE];
        let ops: Vec<Op> = (1..4).flat_map(turn).collect();
        let mut found = ops.clone();
        move_loads(&mut found, 6);
        let pointers = [load(1), load(2), load(3), Op::WAIT];
        let data = [through(101), through(102), through(103), left(2), USE];
        // Waits for pointers that have come already are left over.
        let second = [left(2), left(1), USE];
        let third = [left(1), Op::WAIT, USE];
        assert_eq!(found, [&pointers[..], &data, &second, &third].concat());
    }

    /// A slow reference: the accesses that each use has waited for, as sets of loads.
    fn waited_for(ops: &[Op]) -> Vec<Vec<u64>> {
        let (mut issued, mut over, mut uses) = (Vec::new(), 0, Vec::new());
        for op in ops {
            match op.kind() {
                OpKind::Load | OpKind::Store => issued.push(op.line()),
                OpKind::Wait => over = over.max(issued.len().saturating_sub(op.count() as usize)),
                OpKind::Compute => uses.push(issued[..over].to_vec()),
                _ => {}
            }
        }
        uses
    }

    #[test]
    fn every_use_still_waits_for_what_it_waited_for() {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for round in 0..2000 {
            let mut ops = Vec::new();
            for line in 0..30 {
                match draw(8) {
                    0..3 => ops.push(load(line)),
                    3 => ops.extend([left(draw(3) as u32), through(line)]),
                    4 => ops.push(left(draw(4) as u32)),
                    5 if draw(3) == 0 => ops.push(Op::store(900, 1)),
                    _ => ops.push(USE),
                }
            }
            let mut found = ops.clone();
            move_loads(&mut found, 1 + draw(8) as u32);
            let (before, after) = (waited_for(&ops), waited_for(&found));
            for (place, (before, after)) in before.iter().zip(&after).enumerate() {
                let holds = before.iter().all(|line| after.contains(line));
                assert!(holds, "round {round}, use {place}: {before:?} became {after:?}");
            }
        }
    }
}
