//! Events, packed into 53 bits for the calendar.

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A wavefront continues; index: wavefront slot.
    Wave = 0,
    /// A fault reaches the driver; index: fault.
    FaultArrives,
    /// The driver has served a fault; index: fault.
    FaultServed,
    /// A counter notification reaches the driver; index: (GPU, page) by [`crate::gpu::counters`].
    CounterArrives,
    /// The driver has served a counter notification.
    CounterServed,
    /// An interrupt has reached the idle driver, which takes a batch.
    BatchTaken,
    /// The driver has served a batch.
    BatchServed,
    /// The next step of a plan; index: plan slot.
    PlanStep,
    /// A fault's walk ends and its message leaves for the host; index: fault.
    FaultLeaves,
    /// An entry of a fault is written to the buffer that the driver reads; index: GPU.
    FaultWritten,
    /// A further entry of a fault has arrived at the host; index: GPU.
    FurtherArrives,
    /// A fault's message has arrived at the host, which walks its page table; index: fault.
    FaultAtHost,
    /// A deferred access continues; index: deferred access.
    Access,
    /// Remote lines that waited for others to arrive continue; index: GPU.
    RemoteQueue,
    /// The wake of a fault reaches its GPU; index: fault.
    FaultWakes,
    /// Access reports are due.
    ReportDue,
    /// Reports reach the driver; index: report.
    ReportArrives,
    /// A sample of links and rates is due.
    Sample,
    /// The next kernel launch of a job begins, or the job has ended; index: job.
    Launch,
    /// An action of a whole program begins; index: action, numbered through all programs.
    Action,
    /// An action of a program ends.
    ActionEnds,
    /// A thread of the host continues; index: thread.
    HostThread,
    /// The kernel handles a request of a thread of the host; index: thread.
    HostFault,
    /// A fault of the host is served; index: fault.
    HostWakes,
    /// A copy continues with its next piece; index: stream.
    CopyPiece,
    /// The pages that an action frees are free; index: action.
    Freed,
    /// A strategy of the memory manager requested a call.
    StrategiesDue,
    /// A job begins for the first time; index: job.
    JobBegins,
    /// The memory of a GPU changes; index: change.
    CapacityChanges,
    /// An allocation that waits for frames looks whether it has them; index: action.
    FramesAwaited,
    /// Vector instructions of a unit whose SIMDs share a decoder may end; index: unit, counted over all GPUs.
    VectorsDue,
}

const KINDS: [Kind; 31] = [
    Kind::Wave,
    Kind::FaultArrives,
    Kind::FaultServed,
    Kind::CounterArrives,
    Kind::CounterServed,
    Kind::BatchTaken,
    Kind::BatchServed,
    Kind::PlanStep,
    Kind::FaultLeaves,
    Kind::FaultWritten,
    Kind::FurtherArrives,
    Kind::FaultAtHost,
    Kind::Access,
    Kind::RemoteQueue,
    Kind::FaultWakes,
    Kind::ReportDue,
    Kind::ReportArrives,
    Kind::Sample,
    Kind::Launch,
    Kind::Action,
    Kind::ActionEnds,
    Kind::HostThread,
    Kind::HostFault,
    Kind::HostWakes,
    Kind::CopyPiece,
    Kind::Freed,
    Kind::StrategiesDue,
    Kind::JobBegins,
    Kind::CapacityChanges,
    Kind::FramesAwaited,
    Kind::VectorsDue,
];

/// An event: what happens to which object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub kind: Kind,
    pub index: u32,
    /// The next operation of a wavefront, kept here so that the processor prefetches it together with the wavefront's
    /// record.
    pub op: u16,
}

const KIND_SHIFT: u32 = u32::BITS;
const KIND_BITS: u32 = 5;
const OP_SHIFT: u32 = KIND_SHIFT + KIND_BITS;
const _: () = assert!(KINDS.len() <= 1 << KIND_BITS);

impl Event {
    pub const fn new(kind: Kind, index: u32) -> Self {
        Self { kind, index, op: 0 }
    }

    /// The wavefront in `slot` continues with operation `op` of its buffer.
    #[inline]
    pub const fn wave(slot: u32, op: u16) -> Self {
        Self { kind: Kind::Wave, index: slot, op }
    }

    #[inline]
    pub const fn pack(self) -> u64 {
        (self.op as u64) << OP_SHIFT | (self.kind as u64) << KIND_SHIFT | self.index as u64
    }

    #[inline]
    pub const fn unpack(packed: u64) -> Self {
        let kind = KINDS[(packed >> KIND_SHIFT) as usize & ((1 << KIND_BITS) - 1)];
        Self { kind, index: packed as u32, op: (packed >> OP_SHIFT) as u16 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_survives_packing() {
        for (number, kind) in KINDS.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            let event = Event { op: u16::MAX - number as u16, ..Event::new(kind, u32::MAX - number as u32) };
            assert_eq!(Event::unpack(event.pack()), event);
        }
    }
}
