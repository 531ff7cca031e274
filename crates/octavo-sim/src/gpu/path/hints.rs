//! Hints to the simulating machine: what of its memory is needed soon.
//!
//! Thousands of wavefronts take turns, and what is kept of them, of their compute units and of the lines they want does
//! not fit a cache near the core. A hint lets that memory be read while something else is simulated; it changes no
//! result. Each stands where it was found to gain more than its instructions cost (`docs/speed.md`).

use octavo_program::{Op, OpKind};

use crate::engine::event::{Event, Kind};
use crate::machine::hardware::Hardware;

/// As long as no more wavefronts than this were in flight at once, what is kept of them is near the core anyway, and no
/// event is taken out of the calendar ahead.
const MANY: usize = 1024;

impl Hardware<'_> {
    /// How many events beyond the next have to be known.
    #[inline(always)]
    pub fn events_ahead(&self) -> usize {
        if self.waves.waves.len() > MANY { 2 } else { 0 }
    }

    /// For the two events after the one that happens now, if they are known. In two steps, since a deferred access says
    /// which wavefront's it is.
    #[inline(always)]
    pub fn hint_upcoming(&self) {
        let [soon, later, ..] = self.calendar.upcoming() else { return };
        let (soon, later) = (Event::unpack(soon.what), Event::unpack(later.what));
        match later.kind {
            Kind::Wave => self.hint_wave(later.index as usize, later.op),
            Kind::Access => self.deferred.hint(later.index),
            _ => {}
        }
        if soon.kind == Kind::Access {
            self.waves.hint_record(self.deferred[soon.index].slot as usize);
        }
    }

    /// The wavefront in `slot` goes on with operation `op`.
    #[inline(always)]
    pub fn hint_wave(&self, slot: usize, op: u16) {
        self.waves.hint(slot, op);
        self.history.hint(slot);
    }

    /// A wavefront of `unit` goes on with `op`, after the one it is at.
    #[inline(always)]
    pub fn hint_operation(&self, (gpu, unit): (usize, usize), op: Op) {
        if matches!(op.kind(), OpKind::Load | OpKind::Store) {
            let gpu = &self.gpus[gpu];
            gpu.l1.hint(unit, op.line());
            gpu.l2.hint(op.line());
            gpu.units[unit].misses.hint();
        }
    }
}
