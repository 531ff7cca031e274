//! A running node: the driver, the hardware that it drives, and the programs that run there.

use std::num::NonZeroU32;

use octavo_driver::{Driver, Service};
use octavo_manager::{Manager, Needs};
use octavo_program::{Program, Workload};
use octavo_units::Time;

use crate::engine::event::Kind;
use crate::machine::faults::Waiters;
use crate::machine::happening::{Happening, Listen};
use crate::machine::hardware::Hardware;
use crate::machine::jobs::Jobs;
use crate::machine::program::Whole;
use octavo_node::NodeConfig;

/// A node that runs one workload under one memory manager.
pub(crate) struct Node<'a, L> {
    pub(super) workload: &'a dyn Workload,
    pub(super) driver: Driver,
    pub(super) hardware: Hardware<'a, L>,
    /// Who waits for the driver's outstanding faults.
    pub(super) waiters: Waiters,
    pub(super) needs: Needs,

    pub(super) jobs: Jobs,
    /// The whole program, if more than its launches runs.
    pub(super) whole: Option<Whole<'a>>,
    pub(super) groups_per_cycle: u32,
    pub(super) finished: bool,
}

impl<'a, L: Listen> Node<'a, L> {
    pub fn new(
        config: &'a NodeConfig,
        manager: Manager,
        page_bytes: u64,
        (workload, program): (&'a dyn Workload, Option<&'a Program>),
        listeners: L,
    ) -> Self {
        let mut node = Self {
            workload,
            hardware: Hardware::new(config, &manager, page_bytes, (workload, program.is_some()), listeners),
            waiters: Waiters::default(),
            needs: manager.needs(),
            driver: Driver::new(manager, Service::new(&config.driver.service)),
            jobs: Jobs::new(workload, config),
            whole: program.map(Whole::new),
            groups_per_cycle: NonZeroU32::new(config.compute.groups_per_cycle).map_or(u32::MAX, NonZeroU32::get),
            finished: false,
        };
        node.begin();
        node
    }

    /// Schedules the first events.
    fn begin(&mut self) {
        if self.hardware.listeners.wants_attributes() {
            self.driver.manager_mut().keep_attribute_changes();
        }
        if self.whole.is_some() {
            self.begin_program();
        } else {
            self.begin_launches();
        }
        if let Some(period) = self.hardware.reports.period(self.hardware.costs.cycle) {
            self.hardware.clock.schedule_periodic(period, Kind::ReportDue);
        }
        if let Some(interval) = self.hardware.listeners.interval() {
            self.hardware.clock.schedule_periodic(interval, Kind::Sample);
        }
    }

    /// Only the launches run: all memory is there, and the first launch of each program begins.
    fn begin_launches(&mut self) {
        for application in 0..self.jobs.running.len() {
            self.allocate(application);
            self.hardware.clock.schedule(0, Kind::Launch, application as u32);
        }
    }

    /// Tells the driver something, and looks at what came of it: if a strategy failed, the run is over.
    pub(super) fn drive<T>(&mut self, tell: impl FnOnce(&mut Driver, Time, &mut Hardware<'a, L>) -> T) -> T {
        let now = self.hardware.clock.now();
        let answer = tell(&mut self.driver, Time(now), &mut self.hardware);
        self.finished |= self.driver.halted();
        for change in self.driver.manager_mut().drain_attribute_changes() {
            self.hardware.say(Happening::Attribute(&change));
        }
        answer
    }
}
