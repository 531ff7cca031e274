//! What runs wavefronts and carries out plans: GPUs, links, the host's part of a fault, and what is counted of them.

use octavo_driver::Driver;
use octavo_driver::slab::Slab;
use octavo_manager::Manager;
use octavo_program::{LINE_BYTES, Workload};

use crate::cpu::walkers::HostWalkers;
use crate::engine::calendar::Calendar;
use crate::engine::costs::Costs;
use crate::engine::event::{Event, Kind};
use crate::fabric::links::Links;
use crate::gpu::counters::Counters;
use crate::gpu::counts::Accesses;
use crate::gpu::path::defer::Deferred;
use crate::gpu::reports::Reports;
use crate::gpu::state::Gpu;
use crate::gpu::translate::table_lines::TableLines;
use crate::gpu::translate::walker::{TableShape, Walker};
use crate::gpu::units::fetch::Fetch;
use crate::gpu::units::history::History;
use crate::gpu::units::wave::Waves;
use crate::machine::breakdown::Breakdown;
use crate::machine::broadcast::Broadcast;
use crate::machine::executor::told::Told;
use crate::machine::forward::TransFw;
use crate::observe::record::Recorder;
use crate::observe::spans::Spans;
use octavo_node::{NodeConfig, WalkerScope};

/// All processors, what connects them, and the clock.
pub(crate) struct Hardware<'a> {
    pub config: &'a NodeConfig,
    pub costs: Costs,
    /// log2 of the lines of a page.
    pub page_line_shift: u32,
    /// One page size, no limit of ports, no bound on translation: what the fast path of translation serves.
    pub plain_translation: bool,

    pub now: u64,
    pub calendar: Calendar,
    /// Samples and reports in the calendar, which keep themselves going.
    pub periodic: usize,
    pub gpus: Vec<Gpu>,
    pub waves: Waves,
    pub history: History,
    pub fetch: Fetch,
    pub links: Links,
    pub deferred: Slab<Deferred>,
    pub counters: Counters,
    pub reports: Reports,
    pub broadcast: Broadcast,
    pub trans_fw: Option<TransFw>,
    pub host_walkers: HostWalkers,
    /// Where page tables lie, for walks through memory.
    pub table_lines: TableLines,
    /// Walkers that all GPUs share, if they do.
    pub shared_walker: Option<Walker>,
    /// Who has heard what of the plans under way.
    pub told: Told,

    pub accesses: Accesses,
    pub breakdown: Breakdown,
    pub recorder: Recorder,
    /// The timeline, if one is wanted.
    pub spans: Option<Box<Spans<'a>>>,
}

impl<'a> Hardware<'a> {
    pub fn new(
        config: &'a NodeConfig,
        manager: &Manager,
        page_bytes: u64,
        workload: &dyn Workload,
        recorder: Recorder,
        spans: Option<Box<Spans<'a>>>,
    ) -> Self {
        let shape = TableShape::for_page(page_bytes);
        let block_shift = manager.coalescing().map(|coalescing| coalescing.pages.ilog2());
        let costs = Costs::new(config, page_bytes, shape.levels);
        let pages = workload.address_end().div_ceil(page_bytes) as usize;
        let gpus = config.gpus as usize;
        let needs = manager.needs();
        Self {
            config,
            costs,
            page_line_shift: (page_bytes / LINE_BYTES).trailing_zeros(),
            plain_translation: block_shift.is_none()
                && !config.ideal_tlb
                && config.l1_tlb.ports + config.l2_tlb.ports == 0,
            now: 0,
            calendar: Calendar::new(),
            periodic: 0,
            gpus: (0..gpus).map(|_| Gpu::new(config, &costs, page_bytes, pages, block_shift)).collect(),
            waves: Waves::default(),
            history: History::new(workload.waits_for_some()),
            fetch: Fetch::new(config, shape, (page_bytes / LINE_BYTES) as usize, workload.applications().len()),
            links: Links::new(config),
            deferred: Slab::default(),
            counters: Counters::new(needs.counters, gpus, pages),
            reports: Reports::new(needs.reports, gpus, pages),
            broadcast: Broadcast::new(gpus, config.remote.write_queue),
            trans_fw: config.driver.trans_fw.as_ref().map(TransFw::new),
            host_walkers: HostWalkers::new(config.host.walkers, costs.host_walk),
            table_lines: table_lines(workload, page_bytes),
            shared_walker: (config.walker.scope == WalkerScope::Node)
                .then(|| Walker::new(&config.walker, &config.l2_tlb, shape, costs.cycle)),
            told: Told::default(),
            accesses: Accesses::default(),
            breakdown: Breakdown::default(),
            recorder,
            spans,
        }
    }

    #[inline]
    pub fn schedule(&mut self, time: u64, kind: Kind, index: u32) {
        self.calendar.push(time, Event::new(kind, index).pack());
    }

    /// The wavefront in `slot` goes on at `time`.
    #[inline]
    pub fn schedule_wave(&mut self, time: u64, slot: usize) {
        self.calendar.push(time, Event::wave(slot as u32, self.waves.waves[slot].next_op).pack());
    }

    /// Schedules a sample or report, unless nothing else is left that could happen.
    pub fn schedule_periodic(&mut self, time: u64, kind: Kind) {
        if self.calendar.len() > self.periodic || self.now == 0 {
            self.periodic += 1;
            self.schedule(time, kind, 0);
        }
    }

    /// Writes a row of the interval tables.
    pub fn sample(&mut self, driver: &Driver) {
        let links = self.links.usage();
        self.recorder.sample(self.now, &self.accesses, driver.manager(), &links);
    }

    /// Writes values of the timeline's counters, if it is time for them.
    pub fn sample_spans(&mut self, driver: &Driver) {
        if let Some(spans) = &mut self.spans
            && spans.due(self.now)
        {
            spans.links(self.now, &self.links.usage());
            spans.memory(self.now, driver.manager());
        }
    }

    pub const fn page_bytes(&self) -> u64 {
        LINE_BYTES << self.page_line_shift
    }
}

/// Page tables of all programs of a workload, beyond their lines.
fn table_lines(workload: &dyn Workload, page_bytes: u64) -> TableLines {
    let shape = TableShape::for_page(page_bytes);
    let pages = workload.address_end().div_ceil(page_bytes);
    let mut spaces = vec![0; (pages as usize >> shape.leaf_bits) + 1];
    for (space, program) in workload.applications().into_iter().enumerate() {
        let buffers = &workload.buffers()[program.buffers];
        let (Some(first), Some(last)) = (buffers.first(), buffers.last()) else { continue };
        let stretch = |address: u64| (address / page_bytes) as usize >> shape.leaf_bits;
        spaces[stretch(first.base)..=stretch(last.base + last.bytes - 1)].fill(space as u16);
    }
    TableLines::new(shape, pages, spaces, workload.address_end().div_ceil(LINE_BYTES))
}
