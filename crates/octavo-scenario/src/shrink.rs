//! Memories of a node as a program below scale 1 has them: smaller, so that it is as cramped as the whole program.

use octavo_manager::MemoryConfig;
use octavo_node::NodeConfig;
use octavo_program::{Size, Workload, footprint_pages};
use octavo_registry::Choice;
use octavo_units::Bytes;
use serde_json::Value;

use crate::program::ProgramChoice;
use crate::scenario::Scenario;
use crate::schema::options;
use crate::workloads::{WORKLOADS, WorkloadChoice};

/// A program that holds data and looks this many times smaller than a GPU's memory is not built a second time for its
/// exact size: its memory can be a little wrong, and it still fits with room to spare. Chosen.
const FAR: u128 = 8;
/// Bytes that a program may hold at scale 1 to be built a second time: about two seconds. Chosen.
const QUICK: f64 = (1u64 << 30) as f64;

/// Pages of all programs, at their scale and at scale 1.
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
        let alone = || self.workload.iter().map(|workload| (workload, &self.program));
        let chosen = || alone().chain(self.job.iter().map(|job| (&job.workload, &job.program)));
        let scale = chosen().next().map(|(first, _)| first.scale);
        let (shrinks, host_shrinks) = (node.capacity.shrinks, node.host.memory.shrinks);
        if !(shrinks || host_shrinks) || chosen().any(|(one, _)| Some(one.scale) != scale) {
            return (node, memory); // What jobs of different scales have is not one part of it.
        }
        let page_bytes = self.memory.decision_size().map_or(u64::MAX, |size| size.0);
        let footprints = chosen().zip(built).map(|(choice, workload)| self.footprint(choice, workload, page_bytes));
        let all = footprints.fold(Footprint::default(), Footprint::plus);
        if shrinks {
            let capacity = &mut node.capacity;
            let changes = capacity.change.iter_mut().filter_map(|change| change.bytes.as_mut());
            let memories = std::iter::once(&mut capacity.bytes).chain(changes);
            memories.for_each(|memory| *memory = all.part_of(*memory, page_bytes));
            shrink_reserve(&mut memory.demotion, |bytes| all.part_of(bytes, page_bytes));
        }
        if host_shrinks {
            let host = &mut node.host;
            let others = host.memories.iter_mut().map(|memory| &mut memory.capacity);
            let memories = std::iter::once(&mut host.memory.capacity).chain(others);
            memories.for_each(|memory| *memory = all.part_of(*memory, page_bytes));
        }
        (node, memory)
    }

    /// Pages of one workload, built at scale 1 where that is quick and its exact size counts.
    fn footprint(
        &self,
        (choice, program): (&WorkloadChoice, &ProgramChoice),
        built: &dyn Workload,
        page_bytes: u64,
    ) -> Footprint {
        let run = footprint_pages(page_bytes, [built]);
        if choice.scale >= 1.0 || choice.name == octavo_trace::ENTRY.name {
            return Footprint { run, whole: run };
        }
        let proportional = Footprint { run, whole: (run as f64 / choice.scale).ceil() as u64 };
        let pages_at = |scale: f64| {
            let size = Size { scale, ..choice.size(self.seed) };
            let whole = WORKLOADS.build(&choice.choice(), &size);
            whole.map(|whole| footprint_pages(page_bytes, [program.laid_out(whole).as_ref()]))
        };
        let held = built.held_bytes() as f64 / choice.scale;
        let whole = if held > 0.0 && self.is_far_below(proportional.whole, page_bytes) && !may_have_a_size(choice) {
            Ok(proportional.whole)
        } else if held <= QUICK {
            pages_at(1.0)
        } else {
            // Whether it follows the scale, half of it tells as well.
            pages_at(choice.scale / 2.0).map(|half| if half < run { proportional.whole } else { run })
        };
        whole.map_or(proportional, |whole| Footprint { run, whole })
    }

    /// Whether this many pages are few compared with a GPU's memory, or that has no limit.
    fn is_far_below(&self, pages: u64, page_bytes: u64) -> bool {
        let room = self.node.capacity.bytes.0 / page_bytes;
        room == 0 || u128::from(pages) * FAR <= u128::from(room)
    }
}

/// Whether an option may say the size of a workload: one of those without a default, which follow from the scale.
fn may_have_a_size(choice: &WorkloadChoice) -> bool {
    let Ok(entry) = WORKLOADS.find(&choice.name) else { return false };
    let follows =
        |name: &str, schema: &Value| schema.get("default").is_none_or(Value::is_null) && is_given(choice, name);
    options(entry.schema).iter().any(|(name, schema)| follows(name, schema))
}

fn is_given(choice: &WorkloadChoice, option: &str) -> bool {
    choice.options.get(option).is_some_and(|value| !value.is_null())
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
    use crate::{Source, resolve};

    fn scenario(workload: &str, node: &str, more: &[&str]) -> Scenario {
        let set = [format!("workload={workload}"), format!("node.preset={node}"), "workload.scale=0.0625".to_owned()];
        let set: Vec<String> = set.into_iter().chain(more.iter().map(|&each| each.to_owned())).collect();
        resolve(Source { name: "s.toml", text: "" }, &set).unwrap().scenario
    }

    fn shrunk(scenario: &Scenario) -> NodeConfig {
        let choice = scenario.workload.as_ref().unwrap();
        let built = WORKLOADS.build(&choice.choice(), &choice.size(scenario.seed)).unwrap();
        scenario.shrunk([built.as_ref()]).0
    }

    #[test]
    fn the_memory_of_the_host_shrinks_as_that_of_gpus_unless_the_scenario_gives_it() {
        let whole = scenario("vectoradd", "gh200", &[]);
        let small = shrunk(&whole);
        let [gpu, host] = [(&whole.node, &small)].map(|(whole, small)| {
            [
                small.capacity.bytes.0 as f64 / whole.capacity.bytes.0 as f64,
                small.host.memory.capacity.0 as f64 / whole.host.memory.capacity.0 as f64,
            ]
        })[0];
        assert!((gpu - host).abs() < 1e-3 && host < 0.07, "{gpu} {host}");
        let given = scenario("vectoradd", "gh200", &["node.host.memory.capacity=1GB"]);
        let small = shrunk(&given);
        assert_eq!(small.host.memory.capacity, Bytes(1_000_000_000));
        assert!(small.capacity.bytes < given.node.capacity.bytes);
        let given = scenario("vectoradd", "gh200", &["node.capacity.bytes=1GB"]);
        assert!(shrunk(&given).host.memory.capacity < given.node.host.memory.capacity);
    }

    #[test]
    fn a_program_of_a_given_size_is_whole_at_any_scale() {
        for (workload, size) in [("streamcluster", "points"), ("kmeans", "points"), ("vectoradd", "elements")] {
            let sized = scenario(workload, "cuda-sm90", &[&format!("workload.{size}=4096")]);
            assert_eq!(shrunk(&sized).capacity.bytes, sized.node.capacity.bytes, "{workload}");
            let follows = scenario(workload, "cuda-sm90", &[]);
            assert!(shrunk(&follows).capacity.bytes < sized.node.capacity.bytes, "{workload}");
        }
    }

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
