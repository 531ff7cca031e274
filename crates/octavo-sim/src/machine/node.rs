//! Everything that changes while a node runs.

use std::num::NonZeroU32;

use octavo_manager::{Manager, MemoryUse, Needs, Plan};
use octavo_node::{DrainScope, NodeConfig, WalkerScope};
use octavo_program::{LINE_BYTES, Workload};

use crate::engine::calendar::Calendar;
use crate::engine::costs::Costs;
use crate::engine::event::{Event, Kind};
use crate::engine::slab::Slab;
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
use crate::machine::carry_out::Plans;
use crate::machine::faults::Faults;
use crate::machine::forward::TransFw;
use crate::machine::jobs::Running;
use crate::machine::service::Service;
use crate::observe::record::Recorder;
use crate::observe::spans::Spans;

/// A node that runs one workload under one memory manager.
pub(crate) struct Node<'a> {
    pub workload: &'a dyn Workload,
    pub config: &'a NodeConfig,
    pub costs: Costs,
    pub needs: Needs,
    /// log2 of the lines of a page.
    pub page_line_shift: u32,
    pub drain: DrainScope,
    /// One page size, no limit of ports, no bound on translation: what the fast path of translation serves.
    pub plain_translation: bool,

    pub now: u64,
    pub calendar: Calendar,
    pub gpus: Vec<Gpu>,
    pub waves: Waves,
    pub history: History,
    pub links: Links,
    pub manager: Manager,
    pub faults: Faults,
    pub deferred: Slab<Deferred>,
    pub service: Service,
    pub plans: Plans,
    pub counters: Counters,
    pub reports: Reports,
    pub broadcast: Broadcast,
    pub trans_fw: Option<TransFw>,

    /// The programs that run, mostly one.
    pub applications: Vec<Running>,
    /// By GPU: how its memory was used when it held most at the end of a program.
    pub most_used: Vec<Option<MemoryUse>>,
    /// Launches that have ended, of all programs.
    pub launches_done: u32,
    pub fetch: Fetch,
    /// Where page tables lie, for walks through memory.
    pub table_lines: TableLines,
    /// Walkers that all GPUs share, if they do.
    pub shared_walker: Option<Walker>,
    pub groups_per_cycle: u32,
    pub finished: bool,
    /// Samples and reports in the calendar, which keep themselves going.
    pub periodic: usize,
    /// When the last kernel ended.
    pub ended: u64,
    pub groups_done: u64,

    pub accesses: Accesses,
    pub breakdown: Breakdown,
    pub recorder: Recorder,
    /// The timeline, if one is wanted.
    pub spans: Option<Box<Spans<'a>>>,
    /// Plans the manager has just made, a buffer that keeps its capacity.
    pub made: Vec<Plan>,
}

impl<'a> Node<'a> {
    pub fn new(
        config: &'a NodeConfig,
        manager: Manager,
        page_bytes: u64,
        workload: &'a dyn Workload,
        recorder: Recorder,
        spans: Option<Box<Spans<'a>>>,
    ) -> Self {
        let shape = TableShape::for_page(page_bytes);
        let block_shift = manager.coalescing().map(|coalescing| coalescing.pages.ilog2());
        let costs = Costs::new(config, page_bytes, shape.levels);
        let pages = workload.address_end().div_ceil(page_bytes) as usize;
        let gpus = config.gpus as usize;
        let needs = manager.needs();
        let mut node = Self {
            workload,
            config,
            costs,
            needs,
            page_line_shift: (page_bytes / LINE_BYTES).trailing_zeros(),
            drain: config.driver.drain,
            plain_translation: block_shift.is_none()
                && !config.ideal_tlb
                && config.l1_tlb.ports + config.l2_tlb.ports == 0,
            now: 0,
            calendar: Calendar::new(),
            gpus: (0..gpus).map(|_| Gpu::new(config, &costs, page_bytes, pages, block_shift)).collect(),
            waves: Waves::default(),
            history: History::new(workload.waits_for_some()),
            links: Links::new(config),
            faults: Faults::default(),
            deferred: Slab::default(),
            service: Service::new(&config.driver.service, config.host.walkers),
            plans: Plans::default(),
            counters: Counters::new(needs.counters, gpus, pages),
            reports: Reports::new(needs.reports, gpus, pages),
            broadcast: Broadcast::new(gpus, config.remote.write_queue),
            trans_fw: config.driver.trans_fw.as_ref().map(TransFw::new),
            applications: Running::all(workload, config),
            most_used: vec![None; gpus],
            launches_done: 0,
            fetch: Fetch::new(config, shape, (page_bytes / LINE_BYTES) as usize, workload.applications().len()),
            table_lines: table_lines(workload, page_bytes),
            shared_walker: (config.walker.scope == WalkerScope::Node)
                .then(|| Walker::new(&config.walker, &config.l2_tlb, shape, costs.cycle)),
            groups_per_cycle: NonZeroU32::new(config.compute.groups_per_cycle).map_or(u32::MAX, NonZeroU32::get),
            finished: false,
            periodic: 0,
            ended: 0,
            groups_done: 0,
            accesses: Accesses::default(),
            breakdown: Breakdown::default(),
            recorder,
            spans,
            manager,
            made: Vec::new(),
        };
        node.begin();
        node
    }

    /// Tells the manager about the workload's buffers and schedules the first events.
    fn begin(&mut self) {
        if self.recorder.keeps_events() {
            self.manager.keep_scheme_changes();
        }
        for application in 0..self.applications.len() {
            self.allocate(application);
            self.schedule(0, Kind::Launch, application as u32);
        }
        if let Some(period) = self.reports.period(self.costs.cycle) {
            self.schedule_periodic(period, Kind::ReportDue);
        }
        if let Some(interval) = self.recorder.interval() {
            self.schedule_periodic(interval, Kind::Sample);
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

    /// Handles the next event; `false` when the last kernel has ended, or nothing is left that could happen.
    #[inline]
    pub fn step(&mut self) -> bool {
        if self.finished {
            return false;
        }
        let Some(next) = self.calendar.pop(self.events_ahead()) else { return false };
        self.now = next.time;
        self.hint_upcoming();
        let event = Event::unpack(next.what);
        match event.kind {
            Kind::Wave => self.run_wave(event.index as usize, event.op),
            Kind::FaultArrives => self.fault_arrives(event.index),
            Kind::FaultServed => self.fault_served(event.index),
            Kind::CounterArrives => self.counter_arrives(event.index),
            Kind::CounterServed => self.counter_served(event.index),
            Kind::BatchTaken => self.batch_taken(),
            Kind::BatchServed => self.batch_served(),
            Kind::PlanStep => self.plan_step(event.index),
            Kind::FaultLeaves => self.fault_leaves(event.index),
            Kind::FaultAtHost => self.fault_at_host(event.index),
            Kind::Access => self.resume_access(event.index),
            Kind::RemoteQueue => self.remote_queue(event.index as usize),
            Kind::FaultWakes => self.fault_wakes(event.index),
            Kind::ReportDue => {
                self.periodic -= 1;
                self.report_due();
            }
            Kind::ReportArrives => self.report_arrives(event.index),
            Kind::Sample => {
                self.periodic -= 1;
                self.sample();
            }
            Kind::Launch => self.begin_launch(event.index as usize),
        }
        true
    }

    /// Writes values of the timeline's counters, if it is time for them.
    pub fn sample_spans(&mut self) {
        if let Some(spans) = &mut self.spans
            && spans.due(self.now)
        {
            spans.links(self.now, &self.links.usage());
            spans.memory(self.now, &self.manager);
        }
    }

    /// Writes a row of the interval tables and asks for the next.
    fn sample(&mut self) {
        self.sample_last();
        if let Some(interval) = self.recorder.interval() {
            self.schedule_periodic(self.now + interval, Kind::Sample);
        }
    }

    /// Writes a row of the interval tables.
    pub fn sample_last(&mut self) {
        let links = self.links.usage();
        self.recorder.sample(self.now, &self.accesses, &self.manager, &links);
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
