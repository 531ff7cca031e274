//! A running node: the driver, the hardware that it drives, and the programs that run there.

use octavo_driver::{Driver, Service};
use octavo_manager::Manager;
use octavo_program::{Program, Workload};
use octavo_units::Time;

use crate::engine::event::Kind;
use crate::gpu::caches::memory_traffic::{MemoryTraffic, PassedLine};
use crate::machine::dispatcher::Dispatcher;
use crate::machine::hardware::Hardware;
use crate::machine::jobs::Jobs;
use crate::machine::occurrence::{Happening, Listen};
use crate::machine::program::Programs;
use crate::machine::waiters::Waiters;
use octavo_node::{CapacityAt, NodeConfig};

/// A node that runs jobs under one memory manager.
pub(crate) struct Node<'a, L> {
    /// The combined workload of all jobs.
    pub(super) workload: &'a dyn Workload,
    pub(super) driver: Driver,
    pub(super) hardware: Hardware<'a, L>,
    /// The wavefronts that wait for the driver's outstanding faults.
    pub(super) waiters: Waiters,

    pub(super) jobs: Jobs,
    pub(super) programs: Programs<'a>,
    /// How the GPUs' memory changes.
    pub(super) capacity: Vec<CapacityAt>,
    /// Of each GPU.
    pub(super) dispatchers: Vec<Dispatcher>,
    pub(super) finished: bool,
    /// The run is stuck: a job waits for memory that it never gets.
    pub(super) in_vain: bool,
}

impl<'a, L: Listen> Node<'a, L> {
    pub fn new(
        config: &'a NodeConfig,
        manager: Manager,
        page_bytes: u64,
        (workload, jobs, programs): (&'a dyn Workload, Jobs, &'a [Option<Program>]),
        capacity: Vec<CapacityAt>,
        listeners: L,
    ) -> Self {
        let host_computes = programs.iter().any(Option::is_some);
        let mut hardware = Hardware::new(config, &manager, page_bytes, (workload, host_computes), listeners);
        hardware.lay_out(&manager, workload.address_end().div_ceil(page_bytes) as usize, programs);
        let dispatcher = Dispatcher::new(&config.compute, hardware.costs.cycle);
        let mut node = Self {
            workload,
            dispatchers: vec![dispatcher; hardware.gpus.len()],
            hardware,
            waiters: Waiters::default(),
            driver: Driver::new(manager, Service::new(&config.driver.service)),
            jobs,
            programs: Programs::new(programs),
            capacity,
            finished: false,
            in_vain: false,
        };
        node.begin();
        node
    }

    /// Schedules the first events.
    fn begin(&mut self) {
        if self.hardware.listeners.wants_attributes() {
            self.driver.manager_mut().keep_attribute_changes();
        }
        self.schedule_capacity();
        self.begin_jobs();
        if let Some(period) = self.hardware.reports.period(self.hardware.costs.cycle) {
            self.hardware.clock.schedule_periodic(period, Kind::ReportDue);
        }
        if let Some(interval) = self.hardware.listeners.interval() {
            self.hardware.clock.schedule_periodic(interval, Kind::Sample);
        }
    }

    /// From here on, lines that pass between caches and memories of GPUs are kept; whether single ones are simulated.
    pub fn keep_lines(&mut self) -> bool {
        let behind = self.workload.address_end().div_ceil(octavo_program::LINE_BYTES);
        self.hardware.fetch.keep_lines(behind);
        self.hardware.gpus.iter_mut().all(|gpu| gpu.memory_traffic().map(MemoryTraffic::keep).is_some())
    }

    /// Those that were kept since they were last taken.
    pub fn take_lines(&mut self, mut take: impl FnMut(PassedLine)) {
        for (gpu, state) in self.hardware.gpus.iter_mut().enumerate() {
            let passed = state.memory_traffic().into_iter().flat_map(MemoryTraffic::take);
            passed.for_each(|passed| take(PassedLine { gpu, ..passed }));
        }
        self.hardware.fetch.memory_traffic().take().for_each(take);
    }

    /// Calls the driver, and checks the result: if a strategy failed, the run ends.
    pub(super) fn drive<T>(&mut self, tell: impl FnOnce(&mut Driver, Time, &mut Hardware<'a, L>) -> T) -> T {
        self.tell_accesses();
        let now = self.hardware.clock.now();
        let answer = tell(&mut self.driver, Time(now), &mut self.hardware);
        self.finished |= self.driver.halted();
        for change in self.driver.manager_mut().drain_attribute_changes() {
            self.hardware.say(Happening::Attribute(&change));
        }
        answer
    }

    /// Evictors that want to know accesses learn them before any call that can make room.
    #[inline(always)]
    pub(super) fn tell_accesses(&mut self) {
        if let Some(touched) = self.hardware.listeners.touched() {
            touched.tell(self.driver.manager_mut());
        }
    }
}
