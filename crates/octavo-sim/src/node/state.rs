//! Everything that changes while a node runs.

use std::num::NonZeroU32;
use std::ops::Range;

use octavo_manager::{Allocation, Event as ManagerEvent, Manager, Needs, PageId, PageRun, Plan, ProcessorId};
use octavo_workload::{LINE_BYTES, Launch, Workload, pages_of};

use super::broadcast::Broadcast;
use super::carry_out::Plans;
use super::counters::Counters;
use super::defer::Deferred;
use super::event::{Event, Kind};
use super::fault::Faults;
use super::fetch::Fetch;
use super::gpu::Gpu;
use super::history::History;
use super::occupancy::Occupancy;
use super::reports::Reports;
use super::service::Service;
use super::trans_fw::TransFw;
use super::wave::Waves;
use crate::clock::Calendar;
use crate::config::{DrainScope, NodeConfig, WalkerScope};
use crate::costs::Costs;
use crate::links::Links;
use crate::record::Recorder;
use crate::result::{Accesses, Breakdown};
use crate::slab::Slab;
use crate::spans::Spans;
use crate::translate::{TableShape, Walker};

/// A node that runs one workload under one memory manager.
pub(crate) struct Node<'a> {
    pub workload: &'a dyn Workload,
    pub config: &'a NodeConfig,
    pub costs: Costs,
    pub needs: Needs,
    /// log2 of the lines of a page.
    pub page_line_shift: u32,
    pub drain: DrainScope,
    pub units: usize,
    pub slots_per_unit: usize,

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

    /// Work-groups of the current launch that have not started, one queue a GPU or one for all.
    pub queues: Vec<Range<u32>>,
    pub launch: u32,
    pub launch_shape: Launch,
    pub occupancy: Occupancy,
    pub fetch: Fetch,
    /// Walkers that all GPUs share, if they do.
    pub shared_walker: Option<Walker>,
    pub groups_per_cycle: u32,
    pub launch_began: u64,
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
        let costs = Costs::new(config, shape.levels);
        let pages = workload.address_end().div_ceil(page_bytes) as usize;
        let gpus = config.gpus as usize;
        let units = config.compute.units as usize;
        let slots_per_unit = (config.compute.simds_per_unit * config.compute.wavefronts_per_simd) as usize;
        let needs = manager.needs();
        let mut node = Self {
            workload,
            config,
            costs,
            needs,
            page_line_shift: (page_bytes / LINE_BYTES).trailing_zeros(),
            drain: config.driver.drain,
            units,
            slots_per_unit,
            now: 0,
            calendar: Calendar::new(),
            gpus: (0..gpus).map(|_| Gpu::new(config, &costs, shape, pages)).collect(),
            waves: Waves::new(gpus * units * slots_per_unit),
            history: History::new(gpus * units * slots_per_unit, workload.waits_for_some()),
            links: Links::new(config),
            faults: Faults::default(),
            deferred: Slab::default(),
            service: Service::new(&config.driver.service, config.host.walkers),
            plans: Plans::default(),
            counters: Counters::new(needs.counters, gpus, pages),
            reports: Reports::new(needs.reports, gpus, pages),
            broadcast: Broadcast::new(gpus, config.remote.write_queue),
            trans_fw: config.driver.trans_fw.as_ref().map(TransFw::new),
            queues: Vec::new(),
            launch: 0,
            launch_shape: Launch { kernel: "".into(), work_groups: 0, wavefronts_per_group: 0 },
            occupancy: Occupancy::new(&config.compute, octavo_workload::Resources::default()),
            fetch: Fetch::new(config, shape, (page_bytes / LINE_BYTES) as usize, gpus * units * slots_per_unit),
            shared_walker: (config.walker.scope == WalkerScope::Node)
                .then(|| Walker::new(&config.walker, &config.l2_tlb, shape, costs.cycle)),
            groups_per_cycle: NonZeroU32::new(config.compute.groups_per_cycle).map_or(u32::MAX, NonZeroU32::get),
            launch_began: 0,
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
        node.allocate(page_bytes);
        node
    }

    /// Tells the manager about the workload's buffers and schedules the first events.
    fn allocate(&mut self, page_bytes: u64) {
        if self.recorder.keeps_events() {
            self.manager.keep_scheme_changes();
        }
        let buffers = self.workload.buffers();
        for (buffer, pages) in buffers.iter().zip(pages_of(buffers, page_bytes)).filter(|(_, pages)| !pages.is_empty())
        {
            let run = PageRun { first: PageId(pages.start as u32), count: (pages.end - pages.start) as u32 };
            // A program recorded on more GPUs than the node has may have asked for one that is not there.
            let gpu = usize::from(buffer.gpu).checked_sub(1).filter(|gpu| *gpu < self.gpus.len());
            let allocation = Allocation { gpu: gpu.map(ProcessorId::gpu), ..run.into() };
            self.manager.handle(ManagerEvent::Allocate(allocation), &mut self.made);
        }
        self.start_made_plans();
        self.schedule(0, Kind::Launch, 0);
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
        let Some(next) = self.calendar.pop() else { return false };
        self.now = next.time;
        let event = Event::unpack(next.what);
        match event.kind {
            Kind::Wave => self.run_wave(event.index as usize),
            Kind::FaultArrives => self.fault_arrives(event.index),
            Kind::FaultServed => self.fault_served(event.index),
            Kind::CounterArrives => self.counter_arrives(event.index),
            Kind::CounterServed => self.counter_served(event.index),
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
            Kind::Launch => self.begin_launch(),
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
