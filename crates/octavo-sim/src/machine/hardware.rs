//! The hardware that runs wavefronts and carries out plans: GPUs, links, the host's part of a fault, and their counts.

use octavo_driver::Driver;
use octavo_driver::slab::Slab;
use octavo_manager::Manager;
use octavo_program::{BUFFER_ALIGNMENT, LINE_BYTES, Program, Workload};

use crate::cpu::cores::Cpu;
use crate::cpu::first_memory::FirstMemory;
use crate::cpu::frames::HostFrames;
use crate::cpu::system_table::SystemTable;
use crate::cpu::walkers::HostWalkers;
use crate::engine::clock::Clock;
use crate::engine::costs::Costs;
use crate::engine::slots::Order;
use crate::fabric::links::Links;
use crate::gpu::counters::Counters;
use crate::gpu::counts::Accesses;
use crate::gpu::fault_buffer::FaultBuffer;
use crate::gpu::path::lookup::Walks;
use crate::gpu::reports::Reports;
use crate::gpu::stand_ins::Settling;
use crate::gpu::state::Gpu;
use crate::gpu::translate::large::Blocks;
use crate::gpu::translate::table_lines::TableLines;
use crate::gpu::translate::walker::{TableShape, Walker};
use crate::gpu::units::decoder::Decoded;
use crate::gpu::units::fetch::Fetch;
use crate::gpu::units::history::History;
use crate::gpu::units::wave::Waves;
use crate::machine::deferral::Deferred;
use crate::machine::executor::engines::CopyEngines;
use crate::machine::executor::messages::Told;
use crate::machine::filter::TransFw;
use crate::machine::occurrence::{Happening, Listen};
use crate::machine::replays::Replays;
use crate::machine::write_queue::Broadcast;
use octavo_node::{NodeConfig, WalkerScope};

/// All processors, their connections, and the clock.
pub(crate) struct Hardware<'a, L> {
    pub(super) config: &'a NodeConfig,
    pub(super) costs: Costs,
    /// log2 of the lines of a page.
    pub(super) page_line_shift: u32,
    /// One page size, no limit of ports, no bound on translation: the case for the fast path of translation.
    pub(super) plain_translation: bool,

    pub(super) clock: Clock,
    pub(super) gpus: Vec<Gpu>,
    pub(super) waves: Waves,
    pub(super) fetch: Fetch,
    pub(super) links: Links,
    /// Engines that are busy beyond the bytes that they copy, if this node has any.
    pub(super) copy_engines: Option<CopyEngines>,
    pub(super) deferred: Slab<Deferred>,
    pub(super) replays: Replays,
    /// Vector instructions that have ended, kept for its capacity.
    pub(super) decoded: Vec<Decoded>,
    pub(super) counters: Counters,
    pub(super) reports: Reports,
    pub(super) broadcast: Broadcast,
    pub(super) trans_fw: Option<TransFw>,
    /// Of each GPU, if its faults take time to reach the driver.
    pub(super) fault_buffers: Vec<FaultBuffer>,
    pub(super) host_walkers: HostWalkers,
    /// The host's cores, if the host computes.
    pub(super) cpu: Option<Cpu>,
    pub(super) first_memory: FirstMemory,
    /// The page table that coherent GPUs share with the host.
    pub(super) system: Option<SystemTable>,
    /// Which frames of the host hold pages from GPUs, if that makes a difference.
    pub(super) host_frames: Option<HostFrames>,
    pub(super) walks: Walks,
    /// The replacements at fidelity `page` for first-level caches and pipelines.
    pub(super) settling: Option<Settling>,
    /// Wavefronts issue at fidelity `page`, or in order of time.
    pub(super) issues_specially: bool,
    /// Lines are served in order, or without tags.
    pub(super) serves_specially: bool,
    /// Which processors have got messages about which plans in progress.
    pub(super) told: Told,

    pub(super) accesses: Accesses,
    /// Who keeps a record.
    pub(super) listeners: L,
}

impl<'a, L: Listen> Hardware<'a, L> {
    pub fn new(
        config: &'a NodeConfig,
        manager: &Manager,
        page_bytes: u64,
        (workload, host_computes): (&dyn Workload, bool),
        listeners: L,
    ) -> Self {
        let shape = TableShape::for_page(page_bytes);
        let blocks = Blocks::of(manager, config.coherence.is_some());
        let costs = Costs::new(config, page_bytes, shape.levels);
        let pages = workload.address_end().div_ceil(page_bytes) as usize;
        let gpus = config.gpus as usize;
        let needs = manager.needs();
        let moves = workload.tells_dependences() && config.settles().is_none();
        let loads_ahead = if moves { config.compute.loads_ahead } else { 0 };
        Self {
            config,
            costs,
            page_line_shift: (page_bytes / LINE_BYTES).trailing_zeros(),
            plain_translation: blocks.is_none() && !config.ideal_tlb && config.l1_tlb.ports + config.l2_tlb.ports == 0,
            clock: Clock::new(),
            gpus: (0..gpus).map(|_| Gpu::new(config, &costs, page_bytes, pages, blocks)).collect(),
            waves: Waves::new(History::new(workload.waits_for_some() || loads_ahead > 0), loads_ahead),
            fetch: Fetch::new(config, shape, (page_bytes / LINE_BYTES) as usize, workload.applications().len()),
            links: Links::new(config),
            copy_engines: CopyEngines::of(config),
            deferred: Slab::default(),
            replays: Replays::default(),
            decoded: Vec::new(),
            counters: Counters::new(needs.counters, gpus, pages),
            reports: Reports::new(needs.reports, gpus, pages),
            broadcast: Broadcast::new(gpus, config.remote.write_queue),
            trans_fw: config.driver.trans_fw.as_ref().map(TransFw::new),
            fault_buffers: config
                .fault_buffer
                .iter()
                .flat_map(|buffer| (0..gpus).map(|gpu| FaultBuffer::of(buffer, gpu)))
                .collect(),
            host_walkers: HostWalkers::new(config.host.walkers, costs.host_walk),
            system: config.coherence.as_ref().map(|coherence| SystemTable::new(coherence, pages)),
            cpu: host_computes.then(|| Cpu::new(&config.host.cpu, pages)),
            first_memory: FirstMemory::new(&config.host.cpu),
            host_frames: HostFrames::of(manager, pages),
            walks: Walks {
                in_memory: config.walker.in_memory,
                tables: table_lines(workload, page_bytes),
                shared: (config.walker.scope == WalkerScope::Node)
                    .then(|| Walker::new(&config.walker, Order::of(config), shape, costs.cycle)),
            },
            settling: config.settles().map(|settled| Settling::new(config, settled)),
            issues_specially: config.settles().is_some() || config.compute.issues_in_time_order,
            serves_specially: config.l1.in_order || config.settles().is_some(),
            told: Told::default(),
            accesses: Accesses::default(),
            listeners,
        }
    }

    /// Device memory of the programs is mapped by large pages on every GPU, where the memory system has them.
    pub(super) fn lay_out(&mut self, manager: &Manager, pages: usize, programs: &[Option<Program>]) {
        let Some(blocks) = Blocks::of(manager, self.config.coherence.is_some()) else { return };
        let device = blocks.of_device(pages, self.page_bytes(), programs);
        self.gpus.iter_mut().for_each(|gpu| gpu.lay_out(&device));
    }

    /// Tells the listeners.
    #[inline(always)]
    pub(super) fn say(&mut self, what: Happening<'_>) {
        self.listeners.hear(self.clock.now(), what);
    }

    /// Listeners take a sample.
    pub(super) fn sample(&mut self, driver: &Driver) {
        let Self { clock, accesses, links, listeners, first_memory, system, .. } = self;
        let host = system.as_ref().map(|_| first_memory.passed());
        listeners.hear(clock.now(), Happening::Sample { accesses, manager: driver.manager(), links, host });
    }

    #[inline(always)]
    pub(super) const fn page_of(&self, line: u64) -> u32 {
        (line >> self.page_line_shift) as u32
    }

    pub(super) const fn page_bytes(&self) -> u64 {
        LINE_BYTES << self.page_line_shift
    }
}

/// Page tables of all programs of a workload, beyond their last page: its lines come and go with it.
fn table_lines(workload: &dyn Workload, page_bytes: u64) -> TableLines {
    let shape = TableShape::for_page(page_bytes);
    let pages = workload.address_end().div_ceil(page_bytes);
    let stretch_bits = (BUFFER_ALIGNMENT / page_bytes.min(BUFFER_ALIGNMENT)).ilog2();
    let mut spaces = vec![0; (pages as usize >> stretch_bits) + 1];
    for (space, program) in workload.applications().into_iter().enumerate() {
        let buffers = &workload.buffers()[program.buffers];
        let (Some(first), Some(last)) = (buffers.first(), buffers.last()) else { continue };
        let stretch = |address: u64| (address / page_bytes) as usize >> stretch_bits;
        spaces[stretch(first.base)..=stretch(last.base + last.bytes - 1)].fill(space as u16);
    }
    TableLines::new(shape, pages, (spaces, stretch_bits), pages * (page_bytes / LINE_BYTES))
}
