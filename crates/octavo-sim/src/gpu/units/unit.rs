//! A compute unit: its pipelines, its seats, and its accesses in flight.

use octavo_node::NodeConfig;

use crate::engine::slots::{Order, Slots};
use crate::gpu::units::line_queue::LineQueue;
use crate::gpu::units::occupancy::Occupancy;

/// A compute unit.
#[repr(align(64))]
pub(crate) struct Unit {
    /// The time when its memory pipeline takes the next line.
    pub(in crate::gpu) port: u64,
    /// The times when its scalar pipeline, local data share and branch pipeline take the next instruction.
    pub(in crate::gpu) scalar: u64,
    pub(in crate::gpu) local_data: u64,
    pub(in crate::gpu) branch: u64,
    /// The end of a pause in which the first-level cache serves nothing, because a request at its head waits.
    pub(in crate::gpu) blocked: u64,
    /// The end of a pause in which the first-level TLB looks nothing up, because a miss holds up the memory pipeline.
    pub(in crate::gpu) held: u64,
    /// The lines that its memory pipeline took last are part of a gather.
    gathers: bool,
    /// Work-groups in flight.
    pub(in crate::gpu) groups: u32,
    /// The end of a pause in which it issues nothing, because pages are being drained.
    pub(in crate::gpu) paused: u64,
    /// The arrival of all lines of vector memory in flight.
    in_flight: u64,
    /// The arrival of all lines of scalar loads.
    scalar_in_flight: u64,
    /// Lines of vector memory in flight, where there is a limit.
    line_queue: LineQueue,
    /// Seats without a wavefront, one bit each.
    pub(in crate::gpu) seats: u64,
    /// Miss registers of the first-level cache.
    pub(in crate::gpu) misses: Slots,
    /// Miss registers of the first-level TLB.
    pub(in crate::gpu) translations: Slots,
    /// The place through which answers of the scalar cache come.
    pub(in crate::gpu) scalar_answers: Slots,
}

impl Unit {
    /// An idle unit with this many seats.
    pub fn new(node: &NodeConfig, seats: u32) -> Self {
        Self {
            port: 0,
            scalar: 0,
            local_data: 0,
            branch: 0,
            blocked: 0,
            held: 0,
            gathers: false,
            groups: 0,
            paused: 0,
            in_flight: 0,
            scalar_in_flight: 0,
            line_queue: LineQueue::new(node.compute.lines_in_flight),
            seats: u64::MAX >> (64 - seats),
            misses: Slots::new(node.l1.miss_registers, Order::of(node)),
            translations: Slots::new(node.l1_tlb.miss_registers, Order::of(node)),
            scalar_answers: Slots::new(1, Order::of(node)),
        }
    }

    /// Whether a work-group of this many wavefronts fits.
    pub fn fits(&self, limit: &Occupancy, wavefronts: u32) -> bool {
        (self.seats & limit.seats).count_ones() >= wavefronts
            && self.groups < limit.groups
            && (self.groups + 1).saturating_mul(wavefronts) <= limit.wavefronts
    }

    /// A work-group begins, which then takes its seats.
    pub fn begin_group(&mut self) {
        self.groups += 1;
    }

    /// Takes the first free seat, of which there is one.
    pub const fn take_seat(&mut self) -> u8 {
        let seat = self.seats.trailing_zeros() as u8;
        self.seats &= self.seats - 1;
        seat
    }

    /// A work-group ends, and gives its seats back.
    pub fn end_group(&mut self) {
        self.groups -= 1;
    }

    pub const fn give_back(&mut self, seat: u8) {
        self.seats |= 1 << seat;
    }

    /// The memory pipeline takes lines that are requested at `time` for `duration`; returns from when on.
    #[inline]
    pub fn issue_lines(&mut self, time: u64, duration: u64) -> u64 {
        let issued = self.port.max(time);
        self.port = issued + duration;
        issued
    }

    /// Whether the lines in front are part of a gather; the ones that follow are if `gathers`.
    #[inline]
    pub const fn behind_gather(&mut self, gathers: bool) -> bool {
        std::mem::replace(&mut self.gathers, gathers)
    }

    /// The time when the queue of lines has room for those of an instruction that is issued at `time`.
    pub fn room_for_lines(&mut self, time: u64, lines: u32) -> u64 {
        self.line_queue.room(time, lines)
    }

    /// The lines of an instruction were issued, and are answered with everything before them.
    pub fn take_up_lines(&mut self, lines: u32) {
        self.line_queue.take_up(lines, self.in_flight);
    }

    /// An access ends at `done`, and its wavefront has the answer then.
    #[inline]
    pub fn note_done(&mut self, done: u64) {
        self.in_flight = self.in_flight.max(done);
    }

    /// A line of a scalar load arrives at `done`.
    pub fn note_scalar_done(&mut self, done: u64) {
        self.scalar_in_flight = self.scalar_in_flight.max(done);
    }

    /// The arrival of everything in flight.
    pub fn quiet(&self) -> u64 {
        self.in_flight.max(self.scalar_in_flight)
    }

    /// Like `note_done`, if answers come in order and take this long: returns when the wavefront has this one, after
    /// earlier ones.
    #[inline]
    pub fn note_done_in_order(&mut self, done: u64, takes: u64) -> u64 {
        self.in_flight = done.max(self.in_flight + takes);
        self.in_flight
    }

    /// The time when a miss of the first-level TLB that arrives at `time` gets a register.
    pub fn begin_translation(&mut self, now: u64, time: u64) -> u64 {
        self.translations.available(now, time.max(self.held))
    }

    /// The memory pipeline, which is as long as `pipeline`, stands still until a translation can begin at `until`.
    pub fn hold(&mut self, until: u64, pipeline: u64) {
        self.held = self.held.max(until);
        self.port = self.port.max(until.saturating_sub(pipeline));
    }

    /// A translation miss, which got its register at `start`, ends at `done`.
    pub fn end_translation(&mut self, now: u64, start: u64, done: u64) {
        self.translations.take(now, start, done);
    }
}
