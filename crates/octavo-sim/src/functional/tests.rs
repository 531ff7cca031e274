//! A serial program, of which one access at a time is made: with and without time, the driver carries out the same
//! plans, step by step.

use octavo_driver::Happening as DriverHappening;
use octavo_manager::{Manager, MemoryConfig, PLACEMENTS, PREFETCHERS, Plan};
use octavo_node::NodeConfig;
use octavo_program::{AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Workload};
use octavo_registry::Choice;
use octavo_scenario::{Source, resolve};
use proptest::prelude::*;

use crate::functional::options::InstantOptions;
use crate::functional::run::Begun;
use crate::gpu::touches::Touched;
use crate::job::{Job, divide_node};
use crate::machine::jobs::Jobs;
use crate::machine::node::Node;
use crate::machine::occurrence::{Happening, Listen};
use crate::machine::starts::Starts;

/// Every plan that was begun.
#[derive(Default)]
struct Plans(Vec<Plan>);

impl Listen for Plans {
    fn hear(&mut self, _now: u64, what: Happening<'_>) {
        if let Happening::Driver(DriverHappening::PlanBegins { plan, .. }) = what {
            self.0.push(plan.clone());
        }
    }
}

/// Launches of one wavefront on each GPU, all but one of which do nothing.
struct Serial {
    gpus: u32,
    buffers: Vec<Buffer>,
    launches: Vec<(u32, Vec<Op>)>,
}

impl Workload for Serial {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }
    fn launches(&self) -> u32 {
        self.launches.len() as u32
    }
    fn launch(&self, _index: u32) -> Launch {
        Launch { kernel: "serial".into(), work_groups: self.gpus, wavefronts_per_group: 1 }
    }
    fn host_side(&self) -> HostSide {
        HostSide::of_launches(self)
    }
    fn fill(&self, launch: u32, group: u32, _wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let (gpu, ops) = &self.launches[launch as usize];
        let ops = if *gpu == group { ops.as_slice() } else { &[] };
        while out.remaining() > 0 {
            let next = ops.get(cursor.0[0] as usize).copied().unwrap_or(Op::END);
            cursor.0[0] += 1;
            out.push(next);
            if next == Op::END {
                return;
            }
        }
    }
}

const PAGES: u64 = 600;

/// A GPU, a page and whether it is stored to: an access in a launch of its own, then a pause of half a millisecond.
fn serial(gpus: u32, accesses: &[(u32, u64, bool)]) -> Serial {
    let mut space = AddressSpace::default();
    space.allocate("data", PAGES * 4096);
    let launch = |(gpu, page, write): &(u32, u64, bool)| {
        let access = if *write { Op::store(page * 64, 3) } else { Op::load(page * 64, 3) };
        (*gpu, vec![access, Op::WAIT, Op::compute(60_000), Op::compute(60_000)])
    };
    Serial { gpus, buffers: space.buffers().to_vec(), launches: accesses.iter().map(launch).collect() }
}

fn node(preset: &str, capacity_percent: u32) -> NodeConfig {
    let base = ["workload=fir", "memory.placement=on-touch"].map(str::to_owned);
    let own = [
        format!("node.preset={preset}"),
        format!("node.capacity={{footprint_percent={capacity_percent}, scope=\"total\", bytes=\"0B\"}}"),
    ];
    let scenario = resolve(Source { name: "test", text: "" }, &[base.as_slice(), own.as_slice()].concat());
    NodeConfig { gpus: 3, ..scenario.unwrap().scenario.node }
}

fn touched(node: &NodeConfig, workload: &Serial) -> Touched {
    Touched::new(node.gpus as usize, workload.address_end().div_ceil(4096) as usize)
}

fn in_time(node: &NodeConfig, memory: &MemoryConfig, workload: &Serial, capacity: Option<u32>) -> Vec<Plan> {
    let manager = Manager::new(memory, &node.topology(capacity, 4096).unwrap()).unwrap();
    let jobs = [Job::alone(workload, None)];
    let running = Jobs::new(&jobs, divide_node(node, &jobs).unwrap(), workload, node, Starts::default());
    let listeners = (Plans::default(), touched(node, workload));
    let mut running = Node::new(node, manager, 4096, (workload, running, &[None]), Vec::new(), listeners);
    while running.step() {}
    running.end().1.0.0
}

fn at_once(node: &NodeConfig, memory: &MemoryConfig, workload: &Serial, capacity: Option<u32>) -> Vec<Plan> {
    let options = InstantOptions { turn: 1, report_lines: None, record_events: false, memory: None, progress: None };
    let (jobs, programs) = ([Job::alone(workload, None)], [None]);
    let begun = Begun::new(node, memory, (&jobs, workload, &programs), capacity).unwrap();
    let running = begun.run(options, (Plans::default(), touched(node, workload)));
    running.unwrap_or_else(|error| panic!("{error}")).machine.tables.listeners.0.0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn serial_programs_have_the_same_plans(
        accesses in prop::collection::vec((0u32..3, 0..PAGES, any::<bool>()), 1..50),
        placement in prop::sample::select(PLACEMENTS.names().filter(|name| *name != "griffin-dpc").collect::<Vec<_>>()),
        prefetch in prop::sample::select(PREFETCHERS.names().collect::<Vec<_>>()),
        (eviction, recency) in (
            prop::sample::select(vec!["lru-page", "lru-block", "sequential-local", "tree-neighborhood"]),
            prop::sample::select(vec!["service", "access"]),
        ),
        preset in prop::sample::select(vec!["grit-4gpu", "cuda-sm90"]),
        capacity in prop::sample::select(vec![0, 30]),
    ) {
        // Half of them on a few pages, so that GPUs meet.
        let accesses: Vec<_> = accesses.iter().map(|&(gpu, page, write)| {
            (gpu, if page % 2 == 0 { page % 24 } else { page }, write)
        }).collect();
        let (node, workload) = (node(preset, capacity), serial(3, &accesses));
        let mut memory = MemoryConfig {
            placement: Choice::named(placement), prefetch: Choice::named(prefetch),
            eviction: Choice::named(eviction), ..MemoryConfig::default()
        };
        memory.eviction.options.insert("recency".to_owned(), recency.into());
        let capacity = node.capacity_pages(4096, PAGES).unwrap();
        prop_assert_eq!(in_time(&node, &memory, &workload, capacity), at_once(&node, &memory, &workload, capacity));
    }
}
