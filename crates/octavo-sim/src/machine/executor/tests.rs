//! The hardware runs the suite of all executors, with time standing still: what its steps change is what the machine of
//! the suite does. It keeps no copies of data, and no table of a host that does not compute.

use octavo_driver::conformance::machine::Entry as Mapped;
use octavo_driver::conformance::{
    Prompt, Subject, composition, compositions, conforms, decides_alike, refused_everywhere,
};
use octavo_driver::{Begun, Executor, FaultId, Outstanding, Ticket, Wake};
use octavo_manager::{
    Allocation, Cause, Event, Fault, HOST, HOST_MEMORY, Manager, MappingMode, MemoryConfig, MemoryId, PLACEMENTS,
    PageId, PageRun, Permission, Plan, ProcessorId, ProcessorMask, Step, Topology,
};
use octavo_node::{CoherenceConfig, GpuMemory, NodeConfig};
use octavo_program::{AddressSpace, Buffer, Cursor, HostSide, Launch, OpSink, Workload};
use octavo_scenario::{Source, resolve};
use octavo_units::Time;

use crate::cpu::first_memory::Passed;
use crate::gpu::caches::line_access::LineAccess;
use crate::machine::hardware::Hardware;
use crate::machine::occurrence::{Happening, Listen};

/// More pages than the suite has.
const PAGES: u64 = 100;

struct Nobody;

impl Listen for Nobody {
    fn hear(&mut self, _now: u64, _what: Happening<'_>) {}
}

/// Memory that nothing runs on.
struct Idle(Vec<Buffer>);

impl Workload for Idle {
    fn buffers(&self) -> &[Buffer] {
        &self.0
    }
    fn launches(&self) -> u32 {
        0
    }
    fn launch(&self, _index: u32) -> Launch {
        unreachable!("there are none")
    }
    fn host_side(&self) -> HostSide {
        HostSide::of_launches(self)
    }
    fn fill(&self, _launch: u32, _group: u32, _wavefront: u32, _cursor: &mut Cursor, _out: &mut OpSink<'_>) {}
}

/// The hardware, as the suite looks into it.
struct Simulated(Prompt<Hardware<'static, Nobody>>);

impl Simulated {
    fn hardware(&mut self) -> &mut Hardware<'static, Nobody> {
        &mut self.0.inner
    }
}

fn simulated(topology: &Topology) -> Simulated {
    Simulated(Prompt::new(hardware(topology, None)))
}

fn hardware(topology: &Topology, coherence: Option<CoherenceConfig>) -> Hardware<'static, Nobody> {
    let settings = ["workload=fir", "memory.placement=on-touch", "node.preset=grit-4gpu"].map(str::to_owned);
    let scenario = resolve(Source { name: "test", text: "" }, &settings).expect("the scenario is valid").scenario;
    let node = NodeConfig { gpus: topology.gpus() as u32, coherence, ..scenario.node };
    // For as long as the tests run.
    let node: &'static NodeConfig = Box::leak(Box::new(node));
    let mut space = AddressSpace::default();
    space.allocate("data", PAGES * 4096);
    let workload = Idle(space.buffers().to_vec());
    let manager = Manager::new(&MemoryConfig::default(), topology).expect("the defaults are valid");
    Hardware::new(node, &manager, 4096, (&workload, false), Nobody)
}

impl Executor for Simulated {
    fn admit(&mut self, now: Time, ticket: Ticket, plan: &Plan) -> Begun {
        self.0.admit(now, ticket, plan)
    }

    fn begin(&mut self, now: Time, ticket: Ticket, left: &[Step]) -> Begun {
        self.0.begin(now, ticket, left)
    }

    fn wake(&mut self, now: Time, id: FaultId, fault: &Outstanding) -> Wake {
        self.0.wake(now, id, fault)
    }

    fn kill(&mut self, now: Time, id: FaultId, fault: &Outstanding) {
        self.0.kill(now, id, fault);
    }

    /// No action waits for the end of a free.
    fn free(&mut self, now: Time, run: PageRun, _token: u64, manager: &Manager) {
        self.0.free(now, run, 0, manager);
    }
}

impl Subject for Simulated {
    fn allocate(&mut self, _allocation: &Allocation) {}

    fn has_table(&self, processor: ProcessorId) -> bool {
        processor != HOST
    }

    fn entry(&self, processor: ProcessorId, page: PageId) -> Option<Mapped> {
        let entry = self.0.inner.gpus[processor.gpu_index()?].entry(page.0);
        entry.is_valid().then(|| Mapped {
            target: entry.target(),
            permission: if entry.is_writable() { Permission::ReadWrite } else { Permission::ReadOnly },
            mode: if entry.is_broadcast() { MappingMode::Broadcast } else { MappingMode::Direct },
        })
    }

    fn holds(&self, _memory: MemoryId, _page: PageId) -> Option<bool> {
        None
    }

    fn take_entry_away(&mut self, processor: ProcessorId, page: PageId) {
        self.hardware().withdraw(ProcessorMask::only(processor), PageRun::one(page), false);
    }

    fn take_woken(&mut self) -> Option<Fault> {
        self.0.take_woken()
    }
}

/// Every fifth meets every strategy with every other of another kind, or nearly so.
#[test]
fn the_simulated_node_conforms() {
    for (seed, config) in (0..).zip(compositions().into_iter().step_by(5)) {
        conforms(simulated, &config, seed..seed + 1, 60);
    }
}

#[test]
fn the_simulated_node_conforms_wherever_it_is_refused() {
    for placement in ["duplication", "gps", "grit"] {
        refused_everywhere(simulated, &composition(placement, "tree", "lru-page"), 0, 12);
    }
}

#[test]
fn the_simulated_node_decides_like_an_instant_one() {
    for placement in PLACEMENTS.names() {
        decides_alike(simulated, &composition(placement, "tree", "lru-block"), 1, 100);
    }
}

#[test]
fn a_gpu_that_was_told_to_drain_is_not_told_again_by_the_kernel() {
    let coherence = CoherenceConfig {
        gpu_memory: GpuMemory::Numa,
        walk: Time(200_000),
        walkers: 1,
        first_touch: Time(0),
        // As many as the kernel takes entries back here: none waits for another.
        first_touch_cores: 3,
        cpu_latency: Time(0),
    };
    let mut hardware = hardware(&Topology::unlimited(1), Some(coherence));
    let (pages, gpu) = (PageRun::one(PageId(3)), ProcessorMask::only(ProcessorId::gpu(0)));
    hardware.system.as_mut().expect("the node is coherent").allocate(pages);
    hardware.told.begin(0);
    let unmap = Step::Invalidate { processors: gpu.with(HOST), pages };
    let untold = hardware.carry_out(0, &unmap);
    assert!(!hardware.told.tell(0, gpu), "the message travels");
    let told = hardware.carry_out(0, &unmap);
    assert_eq!(untold - told, hardware.costs.host_link);
    assert_eq!(hardware.carry_out(0, &unmap), untold, "it has served its purpose");
}

#[test]
fn clearing_a_host_page_waits_for_what_the_hosts_memory_has_booked() {
    let coherence = CoherenceConfig {
        gpu_memory: GpuMemory::Numa,
        walk: Time(0),
        walkers: 1,
        first_touch: Time(0),
        first_touch_cores: 1,
        cpu_latency: Time(0),
    };
    let mut hardware = hardware(&Topology::unlimited(1), Some(coherence));
    let clear = Step::Populate { memory: HOST_MEMORY, pages: PageRun::one(PageId(3)), zeroed: true };
    let alone = hardware.carry_out(0, &clear);
    let bytes = 1 << 30;
    hardware.first_memory.begin(0, 0, Passed::read(bytes));
    let booked = u128::from(bytes) * 1_000_000_000_000 / u128::from(hardware.config.host.cpu.memory_bandwidth.0);
    let waited = u128::from(hardware.carry_out(0, &clear) - alone);
    // Booked by buckets, whose edges are a bucket off at most.
    assert!((booked - (1 << 17)..=booked + (1 << 17)).contains(&waited), "{waited} of {booked}");
}

/// Lines that stayed would be hits when the page comes back, of data that others may have changed since.
#[test]
fn lines_of_a_page_leave_the_cache_with_it() {
    let pages = PageRun::one(PageId(3));
    let leaving = |leave: &dyn Fn(&mut Hardware<'static, Nobody>)| {
        let mut hardware = hardware(&Topology::unlimited(1), None);
        let (first, count) = hardware.lines(pages);
        for line in [first, first + count - 1] {
            hardware.gpus[0].l2_line(0, line, LineAccess::Store, 0, &mut hardware.accesses);
        }
        assert!(hardware.gpus[0].holds_any(first, 1) && hardware.gpus[0].holds_any(first + count - 1, 1));
        leave(&mut hardware);
        (hardware.gpus[0].holds_any(first, count), hardware.accesses.dram_writes)
    };
    let (gpu, host) = (MemoryId::gpu(0), HOST_MEMORY);
    let copy = |cause| {
        move |hardware: &mut Hardware<'static, Nobody>| {
            hardware.carry_out(0, &Step::Copy { pages, from: gpu, to: host, cause });
        }
    };
    assert_eq!(leaving(&copy(Cause::Migration)), (false, 2));
    assert_eq!(leaving(&copy(Cause::Eviction)), (false, 2));
    assert_eq!(leaving(&copy(Cause::Duplication)), (true, 2), "the source is kept");
    let release = |hardware: &mut Hardware<'static, Nobody>| {
        hardware.carry_out(0, &Step::Release { memory: gpu, pages });
    };
    assert_eq!(leaving(&release), (false, 0), "what is given up is not written back");
    let mut manager = Manager::new(&MemoryConfig::default(), &Topology::unlimited(1)).expect("the defaults are valid");
    let all = PageRun { first: PageId(0), count: PAGES as u32 };
    manager.handle(Time::ZERO, Event::Allocate(all.into()), &mut Vec::new());
    assert_eq!(leaving(&|hardware| hardware.forget(pages, &manager)), (false, 0));
}
