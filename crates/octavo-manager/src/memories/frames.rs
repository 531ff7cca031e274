//! How full each memory is.

use crate::contract::by_memory::ByMemory;
use crate::contract::ids::{MAX_MEMORIES, MemoryId};
use crate::contract::topology::Topology;

/// Frames that the plan under construction, or an unfinished one, gains and gives up: of few memories, mostly one or two.
#[derive(Clone, Default)]
pub(crate) struct Change(Vec<Used>);

/// The same of one memory.
#[derive(Clone, Copy)]
struct Used {
    memory: MemoryId,
    /// The increase or decrease of used frames after the steps so far.
    net: i32,
    /// The highest that this was after any step, or how many free frames were taken where frames have numbers.
    peak: i32,
}

impl Used {
    /// Frames that are free once the plan is done, of those that it uses at its peak.
    fn released(&self) -> u32 {
        (self.peak - self.net) as u32
    }
}

impl Change {
    pub fn gain(&mut self, memory: MemoryId, frames: u32) {
        let used = self.used(memory);
        used.net += frames as i32;
        used.peak = used.peak.max(used.net);
    }

    /// The frames that were gained last come before the steps that release this many frames.
    pub fn precede(&mut self, memory: MemoryId, later: u32) {
        let used = self.used(memory);
        used.peak = used.peak.max(used.net + later as i32);
    }

    /// Frames that are free, even if the plan gave up others before.
    pub fn take(&mut self, memory: MemoryId, frames: u32) {
        let used = self.used(memory);
        used.net += frames as i32;
        used.peak += frames as i32;
    }

    /// A frame that the plan gave up before.
    pub fn reuse(&mut self, memory: MemoryId) {
        self.used(memory).net += 1;
    }

    pub fn lose(&mut self, memory: MemoryId, frames: u32) {
        self.used(memory).net -= frames as i32;
    }

    /// Nothing is gained or given up.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn used(&mut self, memory: MemoryId) -> &mut Used {
        let known = self.0.iter().position(|used| used.memory == memory);
        let index = known.unwrap_or_else(|| {
            self.0.push(Used { memory, net: 0, peak: 0 });
            self.0.len() - 1
        });
        &mut self.0[index]
    }

    fn of(&self, memory: MemoryId) -> Used {
        let known = self.0.iter().find(|used| used.memory == memory);
        known.copied().unwrap_or(Used { memory, net: 0, peak: 0 })
    }
}

/// Frames in use, counting those that unfinished plans will bring and those they have yet to give up.
///
/// A frame that an unfinished plan gives up can be reused later by the same plan, but by no other plan before the
/// acknowledgement. So a plan that fails can always return its pages.
pub(crate) struct Frames {
    /// All memories of the node.
    memories: Vec<MemoryId>,
    capacity: [u32; MAX_MEMORIES],
    held: [u32; MAX_MEMORIES],
    /// Held frames that become free when unfinished plans are acknowledged.
    releasing: [u32; MAX_MEMORIES],
    /// The limit for held frames: the capacity, or, after it was lowered, the frames held then that have not left yet.
    limit: [u32; MAX_MEMORIES],
    /// Held frames whose pages stay until they are freed.
    staying: [u32; MAX_MEMORIES],
    /// The host's memories, the nearest to its cores first.
    hosts: Vec<MemoryId>,
    /// Whether one of them has a limit; if not, their frames are not counted.
    host_ends: bool,
    /// The most frames that were held at once.
    most: [u32; MAX_MEMORIES],
}

impl Frames {
    pub fn new(topology: &Topology) -> Self {
        let mut capacity = [u32::MAX; MAX_MEMORIES];
        for memory in &topology.memories {
            capacity[memory.id.index()] = memory.capacity_pages;
        }
        let hosts = topology.memories.iter().filter(|memory| memory.id.on_host());
        Self {
            memories: topology.memories.iter().map(|memory| memory.id).collect(),
            capacity,
            held: [0; MAX_MEMORIES],
            releasing: [0; MAX_MEMORIES],
            limit: capacity,
            staying: [0; MAX_MEMORIES],
            hosts: hosts.clone().map(|memory| memory.id).collect(),
            most: [0; MAX_MEMORIES],
            host_ends: hosts.clone().any(|memory| memory.capacity_pages < u32::MAX),
        }
    }

    pub fn capacity(&self, memory: MemoryId) -> u32 {
        self.capacity[memory.index()]
    }

    pub fn set_capacity(&mut self, memory: MemoryId, pages: u32) {
        self.capacity[memory.index()] = pages;
        self.limit[memory.index()] = pages.max(self.held(memory));
    }

    /// The host's memories, the nearest to its cores first.
    pub fn hosts(&self) -> &[MemoryId] {
        &self.hosts
    }

    /// The most frames that were held at once.
    pub fn most(&self, memory: MemoryId) -> u32 {
        self.most[memory.index()]
    }

    /// Whether its frames are counted.
    pub fn counts(&self, memory: MemoryId) -> bool {
        self.host_ends || !memory.on_host()
    }

    /// The destination of this many pages that belong in a host memory: the first memory with a free frame, `wanted`
    /// before all others, and how many of the pages fit there. `None` if all are full.
    pub fn room_on_host(&self, wanted: MemoryId, count: u32, change: &Change) -> Option<(MemoryId, u32)> {
        if !self.host_ends {
            return Some((wanted, count));
        }
        let memories = std::iter::once(wanted).chain(self.hosts.iter().copied());
        let spare = memories.map(|memory| (memory, self.spare(memory, change)));
        let (memory, room) = spare.into_iter().find(|(_, spare)| *spare > 0)?;
        Some((memory, count.min(room)))
    }

    /// Whether this many pages fit into the host's memories together.
    pub fn host_holds(&self, count: u32, change: &Change) -> bool {
        !self.host_ends || self.hold_together(&self.hosts, count, change)
    }

    /// Whether this many pages fit into these memories together.
    pub fn hold_together<'a>(
        &self,
        memories: impl IntoIterator<Item = &'a MemoryId>,
        count: u32,
        change: &Change,
    ) -> bool {
        let spare = memories.into_iter().map(|&memory| u64::from(self.spare(memory, change)));
        spare.sum::<u64>() >= u64::from(count)
    }

    /// Frames are held at once, for pages that exist from their allocation on.
    pub fn hold(&mut self, memory: MemoryId, frames: u32) {
        if self.counts(memory) {
            let held = &mut self.held[memory.index()];
            *held += frames;
            self.most[memory.index()] = (*held).max(self.most[memory.index()]);
        }
    }

    pub fn held(&self, memory: MemoryId) -> u32 {
        self.held[memory.index()]
    }

    /// Frames that may be held: the capacity, unless it was lowered and not everything beyond it has left yet.
    pub fn limit(&self, memory: MemoryId) -> u32 {
        self.limit[memory.index()]
    }

    /// Frames that have to be released before `count` more fit, without the changes of the plan under construction.
    /// `None` if they never fit, or if the memory has to shrink first.
    pub fn missing(&self, memory: MemoryId, count: u32, change: &Change) -> Option<u32> {
        let capacity = i64::from(self.capacity(memory));
        let held = i64::from(self.held(memory));
        if held > capacity || i64::from(count) > capacity {
            return None;
        }
        let used = held + i64::from(change.of(memory).net);
        Some((used + i64::from(count) - capacity).max(0) as u32)
    }

    /// Free frames, without those that the plan under construction released.
    pub fn spare(&self, memory: MemoryId, change: &Change) -> u32 {
        let used = self.held(memory) + change.of(memory).peak as u32;
        self.capacity(memory).saturating_sub(used)
    }

    /// Frames whose pages stay until they are freed.
    pub fn staying(&self, memory: MemoryId) -> u32 {
        self.staying[memory.index()]
    }

    /// This many more pages can never be evicted.
    pub fn stay(&mut self, memory: MemoryId, pages: u32) {
        self.staying[memory.index()] += pages;
    }

    /// A page that stayed is freed.
    pub fn stays_no_more(&mut self, memory: MemoryId) {
        self.staying[memory.index()] -= 1;
    }

    /// Whether frames become free when unfinished plans are acknowledged.
    pub fn any_released(&self, memory: MemoryId) -> bool {
        self.releasing[memory.index()] > 0
    }

    /// Frames beyond the capacity minus those that should be free, and that no unfinished plan releases.
    ///
    /// The frames to be kept free and the `staying` frames, which nothing evicts, are at most half of the capacity
    /// together, unless more stay. Pages that come for a fault have the other half, and do not leave before they are
    /// touched.
    pub fn excess(&self, memory: MemoryId, free: u32, staying: u32) -> u32 {
        let (capacity, index) = (self.capacity(memory), memory.index());
        let held = self.held[index] - self.releasing[index];
        let most = (capacity / 2).saturating_sub(staying);
        if capacity == u32::MAX { 0 } else { held.saturating_sub(capacity - free.min(most)) }
    }

    /// A plan with this change starts: the frames at its peak are held from now on.
    pub fn begin(&mut self, change: &Change) {
        for used in &change.0 {
            let index = used.memory.index();
            self.held[index] += used.peak as u32;
            self.releasing[index] += used.released();
            self.most[index] = self.most[index].max(self.held[index]);
        }
    }

    /// The plan is done: the frames that it gave up are free.
    pub fn complete(&mut self, change: &Change) {
        for used in &change.0 {
            self.releasing[used.memory.index()] -= used.released();
            self.release(used.memory, used.released());
        }
    }

    /// The plan was refused: its frames are free again, except that each memory keeps this many more, or fewer, than
    /// before.
    pub fn refuse(&mut self, change: &Change, kept: &ByMemory<i32>) {
        for place in 0..self.memories.len() {
            let memory = self.memories[place];
            let used = change.of(memory);
            self.releasing[memory.index()] -= used.released();
            self.release(memory, (used.peak - kept[memory]) as u32);
        }
    }

    /// A frame is free at once, because its page was freed.
    pub fn free(&mut self, memory: MemoryId) {
        self.release(memory, 1);
    }

    fn release(&mut self, memory: MemoryId, frames: u32) {
        let index = memory.index();
        self.held[index] -= frames;
        self.limit[index] = self.limit[index].min(self.held[index]).max(self.capacity[index]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_leaves_the_reserve_less_until_it_is_freed() {
        let mut frames = Frames::new(&Topology::of(vec![100]));
        let gpu = MemoryId::gpu(0);
        frames.hold(gpu, 100);
        frames.stay(gpu, 45);
        (0..20).for_each(|_| frames.stays_no_more(gpu));
        assert_eq!(frames.staying(gpu), 25);
        assert_eq!(frames.excess(gpu, 10, 25), 10);
        assert_eq!(frames.excess(gpu, 30, 25), 25, "half of the memory, less what stays");
        assert_eq!(frames.excess(gpu, 30, 60), 0, "more than half stays");
    }

    #[test]
    fn more_than_a_memory_has_never_fits_and_nothing_does_while_it_shrinks() {
        let mut frames = Frames::new(&Topology::of(vec![4]));
        let (gpu, none) = (MemoryId::gpu(0), Change::default());
        assert_eq!([4, 5].map(|count| frames.missing(gpu, count, &none)), [Some(0), None]);
        frames.hold(gpu, 4);
        assert_eq!([1, 4].map(|count| frames.missing(gpu, count, &none)), [Some(1), Some(4)]);
        frames.set_capacity(gpu, 3);
        assert_eq!(frames.missing(gpu, 1, &none), None);
    }
}
