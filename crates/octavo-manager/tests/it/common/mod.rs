//! A node small enough to talk to: faults by short names, plans as lines of text.

use octavo_manager::{
    Access, Cause, Event, Fault, KernelEnd, Manager, MappingMode, MemoryConfig, PageId, PageRun, Permission, Plan,
    ProcessorId, ProcessorMask, SpaceId, Step, Topology,
};
use octavo_registry::Choice;
use octavo_units::Time;

/// A manager whose plans are done as soon as they are made.
pub struct Node {
    pub manager: Manager,
    plans: Vec<Plan>,
}

/// `name` with `options` as JSON.
pub fn choice(name: &str, options: &str) -> Choice {
    Choice { name: name.to_owned(), options: serde_json::from_str(options).unwrap() }
}

/// A configuration with this placement and otherwise defaults.
pub fn placement(name: &str, options: &str) -> MemoryConfig {
    MemoryConfig { placement: choice(name, options), ..MemoryConfig::default() }
}

impl Node {
    /// Two GPUs with unlimited memory and 2048 pages on the host.
    pub fn new(config: &MemoryConfig) -> Self {
        Self::with(config, &Topology::unlimited(2))
    }

    pub fn with(config: &MemoryConfig, topology: &Topology) -> Self {
        Self::of(Manager::new(config, topology).unwrap())
    }

    /// A manager without pages gets these.
    pub fn of(mut manager: Manager) -> Self {
        manager.handle(Time::ZERO, Event::Allocate(PageRun { first: PageId(0), count: 2048 }.into()), &mut Vec::new());
        Self { manager, plans: Vec::new() }
    }

    /// The plans of `event`, completed at once, as lines; without reads and writes of metadata.
    pub fn event(&mut self, event: Event<'_>) -> Vec<String> {
        self.manager.handle(Time::ZERO, event, &mut self.plans);
        self.manager.work_ahead(Time::ZERO, &mut self.plans);
        let mut lines = Vec::new();
        while !self.plans.is_empty() {
            let plan = self.plans.remove(0);
            let acts = |step: &&Step| !matches!(step, Step::Consult { .. });
            lines.extend(plan.steps.iter().filter(acts).map(show));
            self.manager.complete(Time::ZERO, plan.id, &mut self.plans);
            self.manager.work_ahead(Time::ZERO, &mut self.plans);
            self.manager.check().unwrap();
        }
        lines
    }

    pub fn read(&mut self, gpu: usize, page: u32) -> Vec<String> {
        self.event(Event::Faults(&[fault(gpu, page, Access::Read)]))
    }

    pub fn write(&mut self, gpu: usize, page: u32) -> Vec<String> {
        self.event(Event::Faults(&[fault(gpu, page, Access::Write)]))
    }
}

/// A kernel of the only application ends on all of this many GPUs.
pub fn kernel_end(gpus: usize) -> Event<'static> {
    Event::KernelEnd(KernelEnd { space: SpaceId::default(), gpus: ProcessorMask::all_gpus(gpus) })
}

pub fn fault(gpu: usize, page: u32, access: Access) -> Fault {
    Fault { processor: ProcessorId::gpu(gpu), page: PageId(page), access }
}

fn who(processors: ProcessorMask) -> String {
    processors.iter().map(|processor| processor.to_string()).collect::<Vec<_>>().join("+")
}

fn run(pages: PageRun) -> String {
    if pages.count == 1 { pages.first.0.to_string() } else { format!("{}x{}", pages.first.0, pages.count) }
}

/// A step as one line, for comparison and for reading.
pub fn show(step: &Step) -> String {
    match *step {
        Step::Consult { accesses, beside_walk } => format!("consult {accesses} {beside_walk}"),
        Step::Drain { processors, pages } => format!("drain {} {}", who(processors), run(pages)),
        Step::Invalidate { processors, pages } => format!("invalidate {} {}", who(processors), run(pages)),
        Step::Protect { processors, pages } => format!("protect {} {}", who(processors), run(pages)),
        Step::Populate { memory, pages, zeroed } => {
            format!("populate {} {memory}{}", run(pages), if zeroed { "" } else { " as it is" })
        }
        Step::Copy { pages, from, to, cause } => format!("copy {} {from} {to} {}", run(pages), why(cause)),
        Step::Release { memory, pages } => format!("release {memory} {}", run(pages)),
        Step::Map { processors, pages, target, permission, mode } => {
            let target = target.map_or("own".to_owned(), |target| target.to_string());
            let rights = if permission == Permission::ReadOnly { "ro" } else { "rw" };
            let mode = if mode == MappingMode::Broadcast { " broadcast" } else { "" };
            format!("map {} {} -> {target} {rights}{mode}", who(processors), run(pages))
        }
        Step::Coalesce { processor, block } => format!("coalesce {processor} {}", run(block)),
        Step::Splinter { processor, block } => format!("splinter {processor} {}", run(block)),
        Step::Compact { processor, pages, model } => format!("compact {processor} {pages} {model:?}"),
        Step::ClearCounters { pages } => format!("clear {}", run(pages)),
        Step::Wake { processor, pages } => format!("wake {processor} {}", run(pages)),
    }
}

fn why(cause: Cause) -> &'static str {
    match cause {
        Cause::Migration => "migration",
        Cause::RemoteMap => "remote-map",
        Cause::Duplication => "duplication",
        Cause::WriteCollapse => "collapse",
        Cause::Eviction => "eviction",
        Cause::Prefetch => "prefetch",
        Cause::WriteBack => "write-back",
        Cause::Staging => "staging",
    }
}
