//! Faults that cost nothing (`ideal`): steps make their changes, and take no time.

use octavo_driver::{Begun, Executor, FaultId, Outstanding, Ticket, Wake};
use octavo_manager::{Manager, PageRun, Step};
use octavo_units::Time;

use crate::engine::event::Kind;
use crate::machine::executor::moving_steps;
use crate::machine::hardware::Hardware;
use crate::machine::occurrence::{Happening, Listen};

/// Hardware for which steps take no time.
pub(crate) struct Free<'h, 'a, L>(pub &'h mut Hardware<'a, L>);

impl<L: Listen> Executor for Free<'_, '_, L> {
    fn begin(&mut self, _now: Time, _ticket: Ticket, left: &[Step]) -> Begun {
        let mut steps = 1;
        match left[0] {
            Step::Invalidate { processors, pages } => self.0.withdraw(processors, pages, false),
            Step::Protect { processors, pages } => self.0.withdraw(processors, pages, true),
            Step::Map { processors, pages, target, permission, mode } => {
                _ = self.0.map(processors, pages, target, permission, mode);
            }
            Step::Populate { memory, pages, .. } => {
                self.0.say(Happening::Placed { pages, from: memory, to: memory });
            }
            Step::Copy { pages, from, to, cause } => {
                self.0.say(match cause.keeps_source() {
                    true => Happening::Copied { pages, from, to, cause },
                    false => Happening::Placed { pages, from, to },
                });
                self.0.drop_lines(from, pages);
                steps = moving_steps(left);
            }
            Step::Release { memory, pages } => self.0.release(memory, pages),
            Step::Coalesce { processor, block } => self.0.set_large(processor, block),
            Step::Splinter { processor, block } => self.0.clear_large(processor, block),
            Step::Consult { .. }
            | Step::Drain { .. }
            | Step::ClearCounters { .. }
            | Step::Compact { .. }
            | Step::Wake { .. } => {}
        }
        Begun::Done(steps)
    }

    fn wake(&mut self, now: Time, id: FaultId, _fault: &Outstanding) -> Wake {
        self.0.clock.schedule(now.0, Kind::FaultWakes, id.0);
        Wake::UnderWay
    }

    /// The run is over.
    fn kill(&mut self, _now: Time, _id: FaultId, _fault: &Outstanding) {}

    fn free(&mut self, now: Time, run: PageRun, token: u64, manager: &Manager) {
        self.0.free(now, run, token, manager);
    }
}
