//! A workload written as a script, and a node on which every latency is easy to add up.

mod outside;

pub use outside::outside;

use octavo_driver::config::{PoolConfig, ServiceModel};
use octavo_manager::{EVICTIONS, GUARDS, MemoryConfig, OutstandingAccesses, PLACEMENTS, PREFETCHERS, PrefetchPlan};
use octavo_node::*;
use octavo_program::{
    AddressSpace, Buffer, Cursor, Dispatch, HostSide, Launch, Op, OpKind, OpSink, Resources, Workload,
};
use octavo_registry::{Choice, Options};
use octavo_sim::{RunOptions, RunResult, Table, Values, simulate};
use octavo_units::{Bandwidth, Bytes, Cycles, Frequency, Time};

/// Launches of work-groups of wavefronts of operations: `script[launch][group][wavefront]`.
pub struct Script {
    /// The resources of its unit that every work-group uses.
    pub resources: Resources,
    /// Launches before which the host has caches emptied.
    pub flushed: Vec<u32>,
    /// Size of the code of every launch.
    pub code_bytes: u64,
    buffers: Vec<Buffer>,
    launches: Vec<Vec<Vec<Vec<Op>>>>,
}

impl Script {
    /// A script over one buffer of `pages` 4 KiB pages. `Op::END` is added to every wavefront.
    pub fn new(pages: u64, mut launches: Vec<Vec<Vec<Vec<Op>>>>) -> Self {
        for wavefront in launches.iter_mut().flatten().flatten() {
            wavefront.push(Op::END);
        }
        let mut space = AddressSpace::default();
        space.allocate("data", pages * 4096);
        let buffers = space.buffers().to_vec();
        Self { resources: Resources::default(), flushed: Vec::new(), code_bytes: 0, buffers, launches }
    }

    /// The same over several buffers: this many pages each, and the requested GPU (from 1), or 0. Each begins 512 pages
    /// after the one before.
    pub fn with_buffers(mut self, buffers: &[(u64, u8)]) -> Self {
        let mut space = AddressSpace::default();
        let buffer = |(number, (pages, gpu)): (usize, &(u64, u8))| Buffer {
            gpu: *gpu,
            ..space.allocate(&format!("data {number}"), pages * 4096)
        };
        self.buffers = buffers.iter().enumerate().map(buffer).collect();
        self
    }

    /// One launch in which work-group `i` (one wavefront) runs on GPU `i`.
    pub fn one_group_per_gpu(pages: u64, wavefronts: Vec<Vec<Op>>) -> Self {
        Self::new(pages, vec![wavefronts.into_iter().map(|ops| vec![ops]).collect()])
    }

    /// One launch for each list, run by a single wavefront on GPU 0.
    pub fn sequence(pages: u64, launches: Vec<Vec<Op>>) -> Self {
        Self::new(pages, launches.into_iter().map(|ops| vec![vec![ops]]).collect())
    }

    /// Launches in which work-group `i` (one wavefront) runs on GPU `i`: `launches[launch][gpu]`.
    pub fn on_gpus(pages: u64, launches: Vec<Vec<Vec<Op>>>) -> Self {
        let groups = |gpus: Vec<Vec<Op>>| gpus.into_iter().map(|ops| vec![ops]).collect();
        Self::new(pages, launches.into_iter().map(groups).collect())
    }

    /// Lines that all of its operations load and store.
    pub fn lines(&self) -> (u64, u64) {
        let ops = self.launches.iter().flatten().flatten().flatten();
        let of = |kind: OpKind| ops.clone().filter(|op| op.kind() == kind).map(|op| u64::from(op.count())).sum();
        (of(OpKind::Load), of(OpKind::Store))
    }
}

/// Line `index` of 4 KiB page `page`.
pub fn line(page: u64, index: u64) -> u64 {
    page * 64 + index
}

/// Loads one line of a page and waits for it.
pub fn load(page: u64, index: u64) -> Vec<Op> {
    vec![Op::load(line(page, index), 1), Op::WAIT]
}

/// Stores one line of a page and waits for it.
pub fn store(page: u64, index: u64) -> Vec<Op> {
    vec![Op::store(line(page, index), 1), Op::WAIT]
}

/// Computes for this many microseconds on [`node`].
pub fn compute(microseconds: u32) -> Vec<Op> {
    (0..microseconds).map(|_| Op::compute(250)).collect()
}

impl Workload for Script {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }
    fn launches(&self) -> u32 {
        self.launches.len() as u32
    }
    fn launch(&self, index: u32) -> Launch {
        let groups = &self.launches[index as usize];
        let wavefronts = groups.first().map_or(1, Vec::len);
        Launch { kernel: "script".into(), work_groups: groups.len() as u32, wavefronts_per_group: wavefronts as u32 }
    }
    fn resources(&self, _index: u32) -> Resources {
        self.resources
    }
    fn flushed_before(&self, index: u32) -> bool {
        self.flushed.contains(&index)
    }
    fn code_bytes(&self, _index: u32) -> u64 {
        self.code_bytes
    }
    fn waits_for_some(&self) -> bool {
        true
    }
    fn host_side(&self) -> HostSide {
        HostSide::of_launches(self)
    }
    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let ops = &self.launches[launch as usize][group as usize][wavefront as usize];
        while out.remaining() > 0 && (cursor.0[0] as usize) < ops.len() {
            out.push(ops[cursor.0[0] as usize]);
            cursor.0[0] += 1;
        }
    }
}

/// Two compute units as AMD has them.
fn compute_units() -> ComputeConfig {
    let class = |occupancy, latency| InstructionConfig {
        occupancy: Cycles(occupancy),
        latency: Cycles(latency),
        pipelined: false,
    };
    ComputeConfig {
        units: 2,
        simds_per_unit: 4,
        wavefronts_per_simd: 10,
        vector_registers: 0,
        scalar_registers: 0,
        local_data: Bytes(0),
        vector_alu: class(4, 4),
        scalar_alu: class(1, 4),
        local_data_access: class(15, 18),
        branch: class(1, 3),
        simd_issues_all: false,
        memory_issue: Cycles(0),
        line_cycles: Cycles(1),
        tags_at_once: 1,
        memory_pipeline: Cycles(0),
        group_launch: Cycles(0),
        groups_per_cycle: 0,
        group_interval: Time(0),
        barrier: Cycles(0),
        loads_ahead: 0,
        posted_stores: false,
        dispatch_goes_on: false,
        kernel_overhead: Cycles(0),
        answers_in_order: false,
        answers_per_cycle: 0,
        issues_in_time_order: false,
        books_in_buckets: false,
        vector_decoder: 0,
        lines_in_flight: 0,
        wait: Cycles(0),
    }
}

/// `gpus` small GPUs with round latencies: 1 GHz, L1 20, L2 10 + 2 × 5, DRAM 100, walk 4 × 100, links 200 and 500
/// cycles, driver 1 µs, no kernel overhead, no memory limit.
pub fn node(gpus: u32) -> NodeConfig {
    let tlb = |entries, ways, latency, invalidation| TlbConfig {
        entries,
        ways,
        latency: Cycles(latency),
        miss_registers: 64,
        invalidation: Cycles(invalidation),
        ports: 0,
        large: None,
        on_miss: MissPolicy::NonBlocking,
    };
    let l1 = CacheConfig {
        size: Bytes(16 << 10),
        line: LineSize::Bytes64,
        ways: 4,
        index: SetIndex::LowBits,
        latency: Cycles(20),
        lookup: Cycles(20),
        fill: Cycles(0),
        fill_write: Cycles(0),
        in_order: false,
        miss_registers: 128,
    };
    let link = |gigabytes: u64, latency| LinkConfig {
        bandwidth: Bandwidth(gigabytes * 1_000_000_000),
        to_host: None,
        latency: Cycles(latency),
        sharing: LinkSharing::PerGpu,
    };
    NodeConfig {
        about: None,
        gpus,
        clock: Frequency(1_000_000_000),
        fidelity: Fidelity::Line,
        settled: SettledConfig::default(),
        dispatch: Dispatch::EvenSplit,
        compute: compute_units(),
        fetch: FetchConfig { units: 2, latency: Cycles(30), buffer_lines: 1, cold: false },
        scalar: scalar(),
        launch_discards: LaunchDiscards::FirstLevel,
        l1,
        l2: L2Config {
            size: Bytes(256 << 10),
            line: LineSize::Bytes64,
            ways: 16,
            index: SetIndex::LowBits,
            banks: 8,
            latency: Cycles(10),
            lock: Cycles(0),
            crossbar: Cycles(5),
            lines_per_cycle: 1,
            miss_registers: 64,
            byte_masks: false,
        },
        dram: dram(),
        l1_tlb: tlb(32, 32, 1, 15),
        l2_tlb: tlb(512, 16, 10, 200),
        walker: walker(),
        ideal_tlb: false,
        fault_buffer: None,
        registers_in_time_order: false,
        gpu_link: link(64, 200),
        links: None,
        switches: None,
        host_link: link(32, 500),
        host_switches: None,
        copy_engines: None,
        coherence: None,
        system_memory: SystemMemory::Offered,
        remote: RemoteConfig { lines_in_flight: 64, header: Bytes(16), lone_header: None, write_queue: 4 },
        host: host(),
        driver: driver(),
        capacity: unlimited(),
    }
}

fn dram() -> DramConfig {
    DramConfig {
        banks: 16,
        latency: Cycles(100),
        line_cycles: Cycles(1),
        lone_line_percent: 100,
        lone_write_percent: 100,
        interleave: Bytes(128),
        channel_banks: 1,
    }
}

fn walker() -> WalkerConfig {
    WalkerConfig {
        walkers: 8,
        level: Cycles(100),
        in_memory: false,
        cache_entries: 128,
        queue: 64,
        scope: WalkerScope::PerGpu,
        distance: Cycles(0),
    }
}

fn scalar() -> ScalarConfig {
    ScalarConfig {
        units: 2,
        cache: ScalarCacheConfig {
            size: Bytes(16 << 10),
            ways: 4,
            latency: Cycles(20),
            lookup: Cycles(20),
            fill: Cycles(0),
        },
        tlb: ScalarTlbConfig { entries: 64, ways: 64, latency: Cycles(1), large: None },
        issue: Cycles(3),
        pipeline: Cycles(3),
        in_flight: 0,
        way_back: Cycles(0),
        answer: Cycles(0),
    }
}

fn unlimited() -> CapacityConfig {
    let scope = CapacityScope::PerGpu;
    CapacityConfig { footprint_percent: 0, scope, bytes: Bytes(0), shrinks: false, change: Vec::new() }
}

/// The memory system of one placement with all its defaults.
pub fn memory(placement: &str) -> MemoryConfig {
    MemoryConfig { placement: Choice::named(placement), ..MemoryConfig::default() }
}

/// Every combination of placement, prefetcher and evictor, with default options, except for eviction `none`, under
/// which full memories end a run. Every third also under each guard, with prefetched pages in plans of their own and
/// pages that stay while accesses to them are in progress.
pub fn combinations() -> impl Iterator<Item = MemoryConfig> {
    let guards = GUARDS.names().filter(|name| *name != "none");
    let guarded = guards.flat_map(|guard| {
        let third = unguarded().step_by(3);
        let prefetch_plan = PrefetchPlan::Own;
        let outstanding = OutstandingAccesses::Stay;
        third.map(move |memory| MemoryConfig { guard: Choice::named(guard), prefetch_plan, outstanding, ..memory })
    });
    unguarded().chain(guarded)
}

fn unguarded() -> impl Iterator<Item = MemoryConfig> {
    PLACEMENTS.names().flat_map(|placement| {
        PREFETCHERS.names().flat_map(move |prefetch| {
            EVICTIONS.names().filter(|name| *name != "none").map(move |eviction| MemoryConfig {
                placement: Choice::named(placement),
                prefetch: Choice::named(prefetch),
                eviction: Choice::named(eviction),
                ..MemoryConfig::default()
            })
        })
    })
}

/// Runs a script and expects a result.
pub fn run(node: &NodeConfig, placement: &str, script: &Script) -> RunResult {
    run_with(node, &memory(placement), script)
}

/// The value of an option.
pub type Value = <Options as std::ops::Index<&'static str>>::Output;

/// The memory system of one placement with some of its options.
pub fn memory_with(placement: &str, options: &[(&str, Value)]) -> MemoryConfig {
    let mut config = memory(placement);
    config.placement.options.extend(options.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    config
}

/// Runs a script under any memory system and expects a result.
pub fn run_with(node: &NodeConfig, memory: &MemoryConfig, script: &Script) -> RunResult {
    simulate(node, memory, script, RunOptions { record_events: true, ..RunOptions::default() })
        .expect("the node and the memory system are valid")
}

/// Times and pages of the recorded events of one kind, in the order they happened.
pub fn events(result: &RunResult, kind: &str) -> Vec<(u64, u64)> {
    let table = result.tables.iter().find(|table| table.name == "events").expect("recorded");
    let Values::Category { codes, names } = values(table, "kind") else { panic!("kinds are names") };
    let rows = codes.iter().zip(numbers(table, "time_ps").iter().zip(numbers(table, "address")));
    let rows = rows.filter(|&(&code, _)| names[code as usize] == kind);
    rows.map(|(_, (&time, &address))| (time, address / 4096)).collect()
}

/// A column of numbers of a table.
pub fn column(result: &RunResult, table: &str, name: &str) -> Vec<u64> {
    let table = result.tables.iter().find(|other| other.name == table).expect("a table of the result");
    numbers(table, name).to_vec()
}

/// Bytes that one direction of a link carried for one purpose.
pub fn link_bytes(result: &RunResult, link: &str, purpose: &'static str) -> u64 {
    let table = result.tables.iter().find(|table| table.name == "links").expect("always there");
    let Values::Text(names) = values(table, "link") else { panic!("links have names") };
    let row = names.iter().position(|name| name == link).expect("a link of the node");
    numbers(table, purpose)[row]
}

fn values<'a>(table: &'a Table, column: &str) -> &'a Values {
    &table.columns.iter().find(|other| other.name == column).expect("a column of the table").values
}

fn numbers<'a>(table: &'a Table, column: &str) -> &'a [u64] {
    let Values::U64(numbers) = values(table, column) else { panic!("{column} holds numbers") };
    numbers
}

/// The costs of memory with pieces that take this long.
fn allocation(each: u64) -> AllocationCosts {
    let call = CallCost { call: Time(1_000_000), each: Time(each), below_chunk: Time(0) };
    AllocationCosts { allocate: call, free: call }
}

fn driver() -> DriverConfig {
    DriverConfig {
        discard: Some(true),
        release: None,
        service: ServiceModel::Pool(PoolConfig { service: Time(1_000_000), servers: 1 }),
        entry_write: Cycles(100),
        drain: DrainScope::WholeGpu,
        unmap_page: None,
        trans_fw: None,
    }
}

/// A host whose numbers are easy to add up.
fn host() -> HostConfig {
    HostConfig {
        walkers: 16,
        level: Cycles(100),
        memory_latency: Cycles(100),
        fault_message: Bytes(32),
        page_sizes: Vec::new(),
        memory: FirstMemoryConfig::default(),
        memories: Vec::new(),
        page_cache: None,
        cpu: CpuConfig {
            cores: 4,
            lines_in_flight: 8,
            line_issue: Time(1_000),
            memory_latency: Time(100_000),
            memory_bandwidth: Bandwidth(64_000_000_000),
            tlb: CpuTlbConfig { entries: 64, ways: 4, walk: Time(50_000) },
        },
        costs: HostCosts {
            device: allocation(10_000_000),
            pinned: allocation(1_000_000),
            managed: allocation(0),
            system: allocation(0),
            frame: Time(1_000_000),
            minor_fault: Time(1_000_000),
            driver_fault: Time(0),
            zeroing: Bandwidth(8_000_000_000),
            unmap_page: Time(200_000),
            copy_call: Time(5_000_000),
            staging: StagingConfig::default(),
            advice_call: Time(1_000_000),
            context: Time(0),
        },
    }
}
