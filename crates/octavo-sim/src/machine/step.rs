//! From one event to the next: who handles it.

use octavo_driver::Alarm;

use crate::engine::event::{Event, Kind};
use crate::machine::node::Node;

impl Node<'_> {
    /// Handles the next event; `false` when the last kernel has ended, or nothing is left that could happen.
    #[inline]
    pub fn step(&mut self) -> bool {
        if self.finished {
            return false;
        }
        let ahead = self.hardware.events_ahead();
        let Some(next) = self.hardware.calendar.pop(ahead) else { return false };
        self.hardware.now = next.time;
        self.hardware.hint_upcoming();
        let event = Event::unpack(next.what);
        match event.kind {
            Kind::Wave => self.run_wave(event.index as usize, event.op),
            Kind::FaultArrives => self.fault_arrives(event.index),
            Kind::FaultServed => self.alarm(Alarm::FaultServed(event.index)),
            Kind::CounterArrives => self.counter_arrives(event.index),
            Kind::CounterServed => self.alarm(Alarm::CounterServed(event.index)),
            Kind::BatchTaken => self.alarm(Alarm::BatchTaken),
            Kind::BatchServed => self.alarm(Alarm::BatchServed),
            Kind::PlanStep => self.alarm(Alarm::Plan(event.index)),
            Kind::FaultLeaves => self.fault_leaves(event.index),
            Kind::FaultAtHost => self.hardware.fault_at_host(event.index),
            Kind::Access => self.resume_access(event.index),
            Kind::RemoteQueue => self.remote_queue(event.index as usize),
            Kind::FaultWakes => self.fault_wakes(event.index),
            Kind::ReportDue => {
                self.hardware.periodic -= 1;
                self.hardware.report_due();
            }
            Kind::ReportArrives => self.report_arrives(event.index),
            Kind::Sample => {
                self.hardware.periodic -= 1;
                self.sample();
            }
            Kind::Launch => self.begin_launch(event.index as usize),
        }
        true
    }

    /// Something that the driver asked to be reminded of is due.
    fn alarm(&mut self, alarm: Alarm) {
        self.drive(|driver, now, hardware| driver.alarm(now, alarm, hardware));
    }

    fn counter_arrives(&mut self, number: u32) {
        let notification = self.hardware.counter_arrives(number);
        self.drive(|driver, now, hardware| driver.counter(now, notification, hardware));
    }

    fn report_arrives(&mut self, number: u32) {
        let counts = self.hardware.reports.arrived(number);
        self.drive(|driver, now, hardware| driver.report(now, &counts, hardware));
    }

    /// Writes a row of the interval tables and asks for the next.
    fn sample(&mut self) {
        self.hardware.sample(&self.driver);
        if let Some(interval) = self.hardware.recorder.interval() {
            self.hardware.schedule_periodic(self.hardware.now + interval, Kind::Sample);
        }
    }
}
