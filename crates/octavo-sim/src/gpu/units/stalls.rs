//! Where the time of wavefronts goes: what each does or waits for, from its beginning to its end.

use octavo_program::Op;

/// What a wavefront does, or waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stall {
    /// It executes instructions and issues lines, as fast as a wavefront alone can.
    #[default]
    Compute,
    /// The same, for instructions of shared memory.
    Shared,
    /// A pipeline serves others.
    Pipeline,
    /// Lines of one instruction that lie apart follow one another, its own or those of the one in front.
    Gather,
    /// Its code.
    Code,
    /// Other wavefronts of its group.
    Barrier,
    /// Data from the own GPU's caches and memory.
    Load,
    /// Its stores to them.
    Store,
    /// Lines of another processor's memory.
    Remote,
    /// The turn of these lines: banks, miss registers, links, room for lines in flight.
    Queue,
    /// A translation that the first-level TLB does not have.
    Walk,
    /// A fault, or its unit, which stands still while pages leave.
    Fault,
}

impl Stall {
    /// All of them, by code.
    pub const ALL: [Self; 12] = [
        Self::Compute,
        Self::Shared,
        Self::Pipeline,
        Self::Gather,
        Self::Code,
        Self::Barrier,
        Self::Load,
        Self::Store,
        Self::Remote,
        Self::Queue,
        Self::Walk,
        Self::Fault,
    ];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Shared => "shared",
            Self::Pipeline => "pipeline",
            Self::Gather => "gather",
            Self::Code => "code",
            Self::Barrier => "barrier",
            Self::Load => "load",
            Self::Store => "store",
            Self::Remote => "remote",
            Self::Queue => "queue",
            Self::Walk => "walk",
            Self::Fault => "fault",
        }
    }

    /// What an access to the own memory or another's is waited for as.
    pub const fn of_access(write: bool, own: bool) -> Self {
        match (own, write) {
            (false, _) => Self::Remote,
            (true, false) => Self::Load,
            (true, true) => Self::Store,
        }
    }
}

/// An access that is being served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub what: Stall,
    pub write: bool,
    pub page: u32,
    /// When its translation was known.
    pub from: u64,
    /// How long it waits for its turn.
    pub queued: u64,
}

impl Request {
    /// It is answered then.
    #[inline]
    pub fn answered(self, at: u64) -> Answer {
        let fits = |time: u64| u32::try_from(time).unwrap_or(u32::MAX);
        let Self { what, page, from, queued, .. } = self;
        Answer { page, served: fits(at.saturating_sub(from)), queued: fits(queued), what }
    }
}

/// Why data arrives when it does, counted back from its arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub page: u32,
    /// Since its translation was known.
    pub served: u32,
    /// Of that, waiting for its turn.
    pub queued: u32,
    pub what: Stall,
}

impl Answer {
    /// The parts of a wait for it: translation first, then its turn, then the rest.
    #[inline]
    pub fn parts(self, wait: u64) -> [(Stall, u64); 3] {
        let served = wait.min(self.served.into());
        let queued = served.min(self.queued.into());
        [(Stall::Walk, wait - served), (Stall::Queue, queued), (self.what, served - queued)]
    }
}

/// The time that passes while a wavefront issues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// All of it.
    elapsed: u64,
    compute: u64,
    shared: u64,
    gather: u64,
    code: u64,
    /// The next lines belong to the instruction of those before.
    gathers: bool,
}

impl Tally {
    /// `gathers`: it begins within an instruction.
    pub const fn begin(gathers: bool) -> Self {
        Self { elapsed: 0, compute: 0, shared: 0, gather: 0, code: 0, gathers }
    }

    /// Instructions ended `after` some time that would have taken `alone`, and shared-memory ones that much of it.
    #[inline(always)]
    pub fn computed(&mut self, after: u64, (compute, shared): (u64, u64)) {
        let shared = shared.min(after);
        self.elapsed += after;
        self.shared += shared;
        self.compute += compute.min(after - shared);
    }

    /// It waited for its code.
    #[inline(always)]
    pub fn fetched(&mut self, after: u64) {
        self.elapsed += after;
        self.code += after;
    }

    /// Whether an instruction is not over.
    #[inline(always)]
    pub const fn is_within(&self) -> bool {
        self.gathers
    }

    /// Whether these lines are part of a gather.
    #[inline(always)]
    pub const fn gathers(&self, op: Op) -> bool {
        self.gathers || op.continues()
    }

    /// The lines of an operation waited for the pipeline, behind a gather or not, and took it for a time.
    #[inline(always)]
    pub fn issued(&mut self, op: Op, (waited, behind_gather): (u64, bool), took: u64) {
        self.elapsed += waited + took;
        *if self.gathers { &mut self.gather } else { &mut self.compute } += took;
        self.gather += if behind_gather { waited } else { 0 };
        self.gathers = op.continues();
    }

    /// The parts of it, which sum up to all.
    #[inline(always)]
    pub const fn parts(&self) -> [(Stall, u64); 5] {
        let Self { elapsed, compute, shared, gather, code, .. } = *self;
        let pipeline = elapsed - compute - shared - gather - code;
        [
            (Stall::Compute, compute),
            (Stall::Shared, shared),
            (Stall::Pipeline, pipeline),
            (Stall::Gather, gather),
            (Stall::Code, code),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_places() {
        assert!(Stall::ALL.iter().enumerate().all(|(code, stall)| *stall as usize == code));
    }

    #[test]
    fn a_wait_is_for_the_translation_first_and_then_for_the_turn() {
        let request = Request { what: Stall::Load, write: false, page: 7, from: 100, queued: 30 };
        let answer = request.answered(180);
        assert_eq!(answer.parts(200), [(Stall::Walk, 120), (Stall::Queue, 30), (Stall::Load, 50)]);
        assert_eq!(answer.parts(60), [(Stall::Walk, 0), (Stall::Queue, 30), (Stall::Load, 30)]);
        assert_eq!(answer.parts(10), [(Stall::Walk, 0), (Stall::Queue, 10), (Stall::Load, 0)]);
        assert_eq!(request.answered(50).parts(10), [(Stall::Walk, 10), (Stall::Queue, 0), (Stall::Load, 0)]);
    }

    #[test]
    fn parts_of_a_tally_sum_up() {
        let mut tally = Tally::default();
        tally.computed(10, (6, 2));
        tally.computed(3, (5, 0));
        tally.fetched(4);
        tally.issued(Op::load(1, 1).continued(), (5, false), 1);
        tally.issued(Op::load(2, 1), (7, true), 2);
        let parts = tally.parts().map(|(_, time)| time);
        assert_eq!(parts, [6 + 3 + 1, 2, 2 + 5, 7 + 2, 4]);
        assert_eq!(parts.iter().sum::<u64>(), 10 + 3 + 4 + 6 + 9);
    }
}
