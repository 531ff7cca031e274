//! Which launches there are, and their sizes: from the tool, or from the accesses.

use std::collections::{BTreeMap, HashMap};

use super::line::{Access, Launch};
use crate::LaunchRow;
use crate::convert::assemble::shape;

/// Launches, at most.
const MAX_LAUNCHES: usize = 1 << 20;
/// Bytes of their kernels' names, at most.
const MAX_NAMES: usize = 64 << 20;
/// Thread blocks of launches that the tool does not describe, at most.
const MAX_BLOCKS: usize = 1 << 20;
/// Warps that a multiprocessor holds, at most.
const SLOTS: u32 = 64;
/// Threads of a warp.
const LANES: u32 = 32;
/// Bits of a launch's key for its CUDA context: launches are in the order of their numbers, and those of several contexts
/// with the same number in the order in which contexts appear.
const CONTEXT_BITS: u32 = 16;

/// From a launch's key to that of the next launch of its context.
const NEXT: u64 = 1 << CONTEXT_BITS;

/// The number that the tool gave a launch, by its key.
pub(super) fn number(key: u64) -> u64 {
    key >> CONTEXT_BITS
}

/// The state of launches while lines are read.
#[derive(Default)]
pub(super) struct Launches {
    /// CUDA contexts, in the order in which they appear.
    contexts: Vec<u64>,
    /// By key, see [`number`].
    declared: BTreeMap<u64, Launch>,
    names: usize,
    /// Launches without their own number so far.
    unnumbered: u64,
    /// For each launch with accesses, the largest thread block in each dimension.
    seen: BTreeMap<u64, [u32; 3]>,
    /// Warp slots of the thread blocks of launches that are not declared.
    slots: HashMap<(u64, [u32; 3]), u64>,
}

impl Launches {
    /// The tool announces a launch.
    pub fn declare(&mut self, launch: Launch) -> Result<(), String> {
        shape(String::new(), launch.grid, launch.block)?;
        self.names += launch.kernel.len();
        if self.declared.len() == MAX_LAUNCHES || self.names > MAX_NAMES {
            return Err(format!("more than {MAX_LAUNCHES} launches, or longer names than anyone reads"));
        }
        let id = launch.id.unwrap_or(self.unnumbered);
        self.unnumbered += u64::from(launch.id.is_none());
        let key = self.key(launch.context, id)?;
        match self.declared.insert(key, launch) {
            Some(_) => Err(format!("launch {id} stands twice")),
            None => Ok(()),
        }
    }

    /// CUDA contexts beyond the first.
    pub fn further_contexts(&self) -> u64 {
        self.contexts.len().saturating_sub(1) as u64
    }

    fn key(&mut self, context: u64, number: u64) -> Result<u64, String> {
        let known = self.contexts.iter().position(|known| *known == context);
        let index = known.unwrap_or_else(|| {
            self.contexts.push(context);
            self.contexts.len() - 1
        });
        if index >> CONTEXT_BITS > 0 || number.leading_zeros() <= CONTEXT_BITS {
            return Err(format!("launch {number} of CUDA context number {index} cannot be numbered"));
        }
        Ok(number << CONTEXT_BITS | index as u64)
    }

    /// A warp accesses memory; the key of its launch.
    pub fn see(&mut self, access: &Access<'_>) -> Result<u64, String> {
        let id = self.key(access.context, access.id.unwrap_or(self.unnumbered.saturating_sub(1)))?;
        if self.seen.len() == MAX_LAUNCHES && !self.seen.contains_key(&id) {
            return Err(format!("more than {MAX_LAUNCHES} launches"));
        }
        let largest = self.seen.entry(id).or_default();
        for (largest, place) in largest.iter_mut().zip(access.block) {
            *largest = (*largest).max(place);
        }
        // Some versions announce a launch by the number after its own.
        let declared = |id| self.declared.contains_key(&id);
        if declared(id) || id.checked_add(NEXT).is_some_and(declared) {
            return Ok(id);
        }
        if access.warp >= SLOTS {
            return Err(format!("warp {}, but a multiprocessor holds {SLOTS}", access.warp));
        }
        if self.slots.len() == MAX_BLOCKS {
            return Err(format!("more than {MAX_BLOCKS} thread blocks of launches without a LAUNCH line"));
        }
        *self.slots.entry((id, access.block)).or_default() |= 1 << access.warp;
        Ok(id)
    }

    /// Every launch in order, by the key that accesses give it, and how many the tool did not describe.
    pub fn finish(mut self) -> Result<(BTreeMap<u64, LaunchRow>, u64), String> {
        let offset = self.offset();
        let mut rows = BTreeMap::new();
        for (id, launch) in std::mem::take(&mut self.declared) {
            let Launch { kernel, grid, block, registers, shared_bytes, .. } = launch;
            let row = shape(kernel, grid, block)?;
            let row = LaunchRow { vector_registers: registers, local_data_bytes: shared_bytes, ..row };
            rows.insert(id.saturating_sub(offset), row);
        }
        let mut guessed = 0;
        let warps = self.warps();
        for (id, largest) in &self.seen {
            if !rows.contains_key(id) {
                let threads = warps.get(id).copied().unwrap_or(1) * LANES;
                let grid = largest.map(|place| place.saturating_add(1));
                rows.insert(*id, shape(format!("launch {}", number(*id)), grid, [threads, 1, 1])?);
                guessed += 1;
            }
        }
        Ok((rows, guessed))
    }

    /// By how much the keys of LAUNCH lines are ahead of the keys of accesses: versions up to 1.7.1 print a number
    /// after adding one to it, and count from 0.
    fn offset(&self) -> u64 {
        let fits = |offset: u64| {
            self.seen.keys().all(|id| id.checked_add(offset).is_some_and(|id| self.declared.contains_key(&id)))
        };
        match self.declared.first_key_value() {
            Some((&first, _)) if number(first) > 0 && fits(NEXT) && (number(first) == 1 || !fits(0)) => NEXT,
            _ => 0,
        }
    }

    /// The most warps of a thread block, of each launch that is not declared.
    fn warps(&self) -> HashMap<u64, u32> {
        let mut most = HashMap::new();
        for ((id, _), slots) in &self.slots {
            let warps: &mut u32 = most.entry(*id).or_default();
            *warps = (*warps).max(slots.count_ones());
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::{Launches, number};
    use crate::convert::mem_trace::line::{Access, Launch};

    fn launch(id: Option<u64>, kernel: &str) -> Launch {
        let kernel = kernel.to_owned();
        Launch { context: 7, id, kernel, grid: [2, 1, 1], block: [64, 1, 1], registers: 8, shared_bytes: 0 }
    }

    fn access(id: Option<u64>, warp: u32) -> Access<'static> {
        Access { context: 7, id, block: [1, 0, 0], warp, opcode: b"LDG" }
    }

    fn names(launches: Launches) -> Vec<(u64, String, u16)> {
        let (rows, _) = launches.finish().unwrap();
        rows.into_iter().map(|(key, row)| (number(key), row.kernel, row.wavefronts_per_group)).collect()
    }

    #[test]
    fn numbers_from_one_belong_to_accesses_from_zero() {
        for first in [0, 1] {
            let mut launches = Launches::default();
            for (id, kernel) in [(0, "a"), (1, "b")] {
                launches.declare(launch(Some(id + first), kernel)).unwrap();
                launches.see(&access(Some(id), 9)).unwrap();
            }
            assert_eq!(names(launches), [(0, "a".to_owned(), 2), (1, "b".to_owned(), 2)], "from {first}");
        }
    }

    #[test]
    fn launches_of_two_contexts_with_one_number_are_two() {
        let mut launches = Launches::default();
        let of = |context, id| Access { context, ..access(Some(id), 0) };
        let keys: Vec<u64> =
            [(5, 0), (9, 0), (5, 1)].map(|(context, id)| launches.see(&of(context, id)).unwrap()).into();
        launches.declare(Launch { context: 9, ..launch(Some(0), "b") }).unwrap();
        launches.declare(launch(Some(u64::MAX), "c")).unwrap_err();
        assert!(keys[0] < keys[1] && keys[1] < keys[2] && launches.further_contexts() == 2);
        let found = names(launches).into_iter().map(|(number, name, _)| (number, name)).collect::<Vec<_>>();
        assert_eq!(found, [(0, "launch 0".to_owned()), (0, "b".to_owned()), (1, "launch 1".to_owned())]);
    }

    #[test]
    fn undeclared_and_unnumbered_launches() {
        let mut launches = Launches::default();
        for warp in [3, 60, 7, 3] {
            launches.see(&access(Some(5), warp)).unwrap();
        }
        assert!(launches.see(&access(Some(5), 64)).unwrap_err().contains("holds 64"));
        assert_eq!(names(launches), [(5, "launch 5".to_owned(), 3)]);

        let mut launches = Launches::default();
        launches.declare(launch(None, "a")).unwrap();
        assert_eq!(launches.see(&access(None, 0)), Ok(0));
        launches.declare(launch(None, "b")).unwrap();
        assert_eq!(launches.see(&access(None, 0)).map(number), Ok(1));
        assert!(launches.declare(launch(Some(1), "c")).unwrap_err().contains("stands twice"));
        assert_eq!(names(launches).len(), 2);
    }
}
