//! Memories of a node as a program below scale 1 has them: smaller, so that it is as cramped as the whole program.

use octavo_manager::MemoryConfig;
use octavo_node::NodeConfig;
use octavo_program::{Size, Workload, footprint_pages};
use octavo_registry::Choice;
use octavo_units::Bytes;

use crate::scenario::Scenario;
use crate::workloads::{WORKLOADS, WorkloadChoice};

/// A graph that looks this many times smaller than a GPU's memory is not built a second time for its exact size: its
/// memory can be a little wrong, and it still fits with room to spare. Chosen.
const FAR: u128 = 8;

/// Pages of all programs, as they run and as they are at scale 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Footprint {
    run: u64,
    whole: u64,
}

impl Footprint {
    fn plus(self, other: Self) -> Self {
        Self { run: self.run.saturating_add(other.run), whole: self.whole.saturating_add(other.whole) }
    }

    /// The part of a memory in which the programs as they run are as cramped as the whole ones are in all of it.
    fn part_of(self, memory: Bytes, page_bytes: u64) -> Bytes {
        if self.run >= self.whole {
            return memory;
        }
        let pages = (u128::from(memory.0 / page_bytes) * u128::from(self.run)).div_ceil(u128::from(self.whole));
        // Less than a page stays too little: 0 would be no limit.
        Bytes(u64::try_from(pages).unwrap_or(u64::MAX).saturating_mul(page_bytes).clamp(memory.0.min(1), memory.0))
    }
}

impl Scenario {
    /// The node and the memory system with the memories that its workloads, built, have at their scale.
    pub(crate) fn shrunk<'a>(&self, built: impl IntoIterator<Item = &'a dyn Workload>) -> (NodeConfig, MemoryConfig) {
        let (mut node, mut memory) = (self.node.clone(), self.memory.clone());
        let chosen = || self.workload.iter().chain(self.job.iter().map(|job| &job.workload));
        let scale = chosen().next().map(|first| first.scale);
        if !node.capacity.shrinks || chosen().any(|one| Some(one.scale) != scale) {
            return (node, memory); // What jobs of different scales have is not one part of it.
        }
        let page_bytes = self.memory.decision_size().map_or(u64::MAX, |size| size.0);
        let footprints = chosen().zip(built).map(|(choice, workload)| self.footprint(choice, workload, page_bytes));
        let all = footprints.fold(Footprint::default(), Footprint::plus);
        let capacity = &mut node.capacity;
        let changes = capacity.change.iter_mut().filter_map(|change| change.bytes.as_mut());
        let memories = std::iter::once(&mut capacity.bytes).chain(changes);
        memories.for_each(|memory| *memory = all.part_of(*memory, page_bytes));
        shrink_reserve(&mut memory.demotion, |bytes| all.part_of(bytes, page_bytes));
        (node, memory)
    }

    /// Pages of one workload, built at scale 1 where that is quick.
    fn footprint(&self, choice: &WorkloadChoice, built: &dyn Workload, page_bytes: u64) -> Footprint {
        let run = footprint_pages(page_bytes, [built]);
        if choice.scale >= 1.0 || choice.name == octavo_trace::ENTRY.name {
            return Footprint { run, whole: run };
        }
        let proportional = Footprint { run, whole: (run as f64 / choice.scale).ceil() as u64 };
        let pages_at = |scale: f64| {
            let size = Size { scale, ..choice.size(self.seed) };
            let whole = WORKLOADS.build(&choice.choice(), &size);
            whole.map(|whole| footprint_pages(page_bytes, [whole.as_ref()]))
        };
        let room = u128::from(self.node.capacity.bytes.0 / page_bytes);
        let whole = if built.held_bytes() == 0 {
            pages_at(1.0)
        } else if u128::from(proportional.whole) * FAR <= room {
            Ok(proportional.whole)
        } else {
            // A graph takes memory and time to build: whether it follows the scale, half of it tells as well.
            pages_at(choice.scale / 2.0).map(|half| if half < run { proportional.whole } else { run })
        };
        whole.map_or(proportional, |whole| Footprint { run, whole })
    }
}

/// Options that are a part of a GPU's memory, by demotion.
const RESERVES: [(&str, &str); 2] = [("reserve", "free"), ("spare-memory", "reserve")];

fn shrink_reserve(demotion: &mut Choice, part: impl Fn(Bytes) -> Bytes) {
    let Some((_, key)) = RESERVES.iter().find(|(name, _)| demotion.name == *name) else { return };
    let Some(reserve) = demotion.options.get_mut(*key) else { return };
    if let Some(bytes) = reserve.as_str().and_then(|text| text.parse().ok()) {
        *reserve = part(bytes).to_string().into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_whole_fits_as_it_runs_and_what_does_not_does_not() {
        let page = 4096;
        for (run, whole) in [(1, 64), (7, 100), (100, 101), (3, 1_000_000)] {
            let footprint = Footprint { run, whole };
            assert_eq!(footprint.part_of(Bytes(whole * page), page), Bytes(run * page));
            let less = footprint.part_of(Bytes((whole / 2) * page), page).0 / page;
            assert!(less <= run.div_ceil(2), "{less} of {run}");
        }
        assert_eq!(Footprint { run: 5, whole: 5 }.part_of(Bytes(7), page), Bytes(7), "a whole program has all of it");
        assert_eq!(Footprint { run: 9, whole: 5 }.part_of(Bytes(7), page), Bytes(7), "memory never grows");
        assert_eq!(Footprint { run: 1, whole: 9 }.part_of(Bytes(0), page), Bytes(0), "no limit stays none");
        assert_eq!(Footprint { run: 1, whole: 9 }.part_of(Bytes(9), page), Bytes(1), "too little stays too little");
    }
}
