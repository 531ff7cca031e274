//! The parts of staged buffers that work-groups access.

use crate::op::{LINE_BYTES, Op};

/// Bytes of the unit of staging. Chosen: the larger of the system's pages. Copying less takes as long, as the call
/// takes longer than its bytes.
pub(super) const GRANULE: u64 = 64 << 10;

const GRANULE_LINES: u64 = GRANULE / LINE_BYTES;
const WORDS: usize = (GRANULE_LINES / 64) as usize;

/// The kinds of access of work-groups to a granule.
#[derive(Clone, Debug, Default)]
pub(super) struct Touch {
    /// Whether they need its previous content: they load lines, or fill them in part.
    pub needs: bool,
    /// Lines that they store to, a bit each.
    stored: [u64; WORDS],
}

impl Touch {
    pub fn stores(&self) -> bool {
        self.stored.iter().any(|word| *word != 0)
    }

    /// Whether they store to its first `lines` lines, each of them.
    pub fn fills(&self, lines: u64) -> bool {
        (0..lines).all(|line| self.stored[(line / 64) as usize] >> (line % 64) & 1 != 0)
    }
}

/// The memory that work-groups reach, by granule of the address space.
pub(super) struct Reach<'a> {
    /// By granule of the address space: whether it is staged.
    staged: &'a [bool],
    /// By granule: where its touch is, from 1; 0 if there is none.
    place: Vec<u32>,
    granules: Vec<u64>,
    touches: Vec<Touch>,
}

impl<'a> Reach<'a> {
    pub fn new(staged: &'a [bool]) -> Self {
        Self { staged, place: vec![0; staged.len()], granules: Vec::new(), touches: Vec::new() }
    }

    /// How many granules are reached.
    pub fn len(&self) -> usize {
        self.granules.len()
    }

    pub fn add(&mut self, op: Op) {
        for part in op.uniform() {
            let store = part.is_store();
            for line in part.line()..part.line() + u64::from(part.count()) {
                let granule = line / GRANULE_LINES;
                if !self.staged.get(granule as usize).is_some_and(|staged| *staged) {
                    continue;
                }
                let touch = self.touch(granule);
                let bit = line % GRANULE_LINES;
                if store {
                    touch.stored[(bit / 64) as usize] |= 1 << (bit % 64);
                }
                touch.needs |= !store || part.is_partial();
            }
        }
    }

    fn touch(&mut self, granule: u64) -> &mut Touch {
        let place = &mut self.place[granule as usize];
        if *place == 0 {
            self.granules.push(granule);
            self.touches.push(Touch::default());
            *place = self.granules.len() as u32;
        }
        &mut self.touches[*place as usize - 1]
    }

    /// How many granules more than those so far are reached with `ops`.
    pub fn more(&self, ops: &[Op], seen: &mut Vec<u64>) -> usize {
        seen.clear();
        for op in ops {
            let last = op.line() + u64::from(op.count()).max(1) - 1;
            for granule in op.line() / GRANULE_LINES..=last / GRANULE_LINES {
                let staged = self.staged.get(granule as usize).is_some_and(|staged| *staged);
                if staged && self.place[granule as usize] == 0 && seen.last() != Some(&granule) {
                    seen.push(granule);
                }
            }
        }
        seen.sort_unstable();
        seen.dedup();
        seen.len()
    }

    /// Returns the reached ranges, in the order of addresses, and starts again.
    pub fn take(&mut self) -> Vec<(u64, Touch)> {
        self.granules.iter().for_each(|granule| self.place[*granule as usize] = 0);
        let mut taken: Vec<_> = self.granules.drain(..).zip(self.touches.drain(..)).collect();
        taken.sort_unstable_by_key(|(granule, _)| *granule);
        taken
    }
}
