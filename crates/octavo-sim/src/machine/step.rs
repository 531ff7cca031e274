//! From one event to the next, and its handler.

use octavo_driver::Alarm;

use crate::engine::event::{Event, Kind};
use crate::machine::hardware::Hardware;
use crate::machine::node::Node;
use crate::machine::occurrence::Listen;

impl<L: Listen> Node<'_, L> {
    /// Handles the next event; `false` when the last kernel has ended, or nothing more can happen.
    #[inline]
    pub fn step(&mut self) -> bool {
        if self.finished {
            return false;
        }
        let Some(event) = self.hardware.next_event() else { return false };
        match event.kind {
            Kind::Wave if self.hardware.issues_specially => self.run_wave_specially(event.index as usize, event.op),
            Kind::Wave => self.run_wave(event.index as usize, event.op),
            Kind::FaultArrives => self.fault_arrives(event.index),
            Kind::FaultServed => self.alarm(Alarm::FaultServed(event.index)),
            Kind::CounterArrives => self.counter_arrives(event.index),
            Kind::CounterServed => self.alarm(Alarm::CounterServed(event.index)),
            Kind::BatchTaken => self.alarm(Alarm::BatchTaken(event.index)),
            Kind::BatchServed => self.alarm(Alarm::BatchServed(event.index)),
            Kind::PlanStep => self.alarm(Alarm::Plan(event.index)),
            Kind::FaultLeaves => self.fault_leaves(event.index),
            Kind::FaultWritten => self.fault_written(event.index as usize),
            Kind::FurtherArrives => self.further_arrives(event.index as usize),
            Kind::FaultAtHost => self.hardware.fault_at_host(event.index),
            Kind::Access => self.resume_access(event.index),
            Kind::RemoteQueue => self.remote_queue(event.index as usize),
            Kind::FaultWakes => self.fault_wakes(event.index),
            Kind::ReportDue => {
                self.hardware.clock.end_periodic();
                self.hardware.report_due();
            }
            Kind::ReportArrives => self.report_arrives(event.index),
            Kind::Sample => {
                self.hardware.clock.end_periodic();
                self.sample();
            }
            Kind::Launch => self.begin_launch(event.index as usize),
            Kind::JobBegins => self.begin_job(event.index as usize),
            Kind::CapacityChanges => self.capacity_changes(event.index as usize),
            Kind::Action => self.begin_action(event.index),
            Kind::ActionEnds => self.end_action(event.index),
            Kind::FramesAwaited => {
                self.hardware.clock.end_periodic();
                self.end_action(event.index);
            }
            Kind::VectorsDue => self.hardware.vectors_due(event.index as usize),
            Kind::HostThread => self.run_host_thread(event.index),
            Kind::HostFault => self.host_faults(event.index),
            Kind::HostWakes => self.host_wakes(event.index),
            Kind::CopyPiece => self.copy_piece(event.index),
            Kind::Freed => self.freed(event.index),
            Kind::StrategiesDue => self.alarm(Alarm::Strategies),
        }
        true
    }

    /// A wavefront continues at fidelity `page`, or if accesses are issued in order of time.
    #[inline(never)]
    fn run_wave_specially(&mut self, slot: usize, op: u16) {
        if self.hardware.settling.is_some() {
            self.settle_wave(slot, op);
        } else {
            self.run_wave_timed(slot, op);
        }
    }

    /// Something is due of which the driver wanted to be reminded.
    fn alarm(&mut self, alarm: Alarm) {
        self.drive(|driver, now, hardware| driver.alarm(now, alarm, hardware));
    }

    /// Writes a row of the interval tables and schedules the next.
    fn sample(&mut self) {
        self.hardware.sample(&self.driver);
        if let Some(interval) = self.hardware.listeners.interval() {
            self.hardware.clock.schedule_periodic(self.hardware.clock.now() + interval, Kind::Sample);
        }
    }
}

/// While no more wavefronts than this were in flight at once, their data is near the core anyway, and no event is taken
/// out of the calendar in advance.
const MANY: usize = 1024;

impl<L: Listen> Hardware<'_, L> {
    /// The next event. The simulating machine is asked early for the data of the two events after it.
    #[inline(always)]
    fn next_event(&mut self) -> Option<Event> {
        let ahead = if self.waves.most() > MANY { 2 } else { 0 };
        let event = self.clock.advance(ahead)?;
        self.hint_upcoming();
        Some(event)
    }

    /// For the two events after the current one, if they are known. In two steps, since a deferred access names its
    /// wavefront.
    #[inline(always)]
    fn hint_upcoming(&self) {
        let Some([soon, later]) = self.clock.upcoming() else { return };
        match later.kind {
            Kind::Wave => self.waves.hint(later.index as usize, later.op),
            Kind::Access => self.deferred.hint(later.index),
            _ => {}
        }
        if soon.kind == Kind::Access {
            self.waves.hint_record(self.deferred[soon.index].slot as usize);
        }
    }
}
