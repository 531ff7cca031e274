//! What the host has told others about each plan: that pages are about to move (a drain's message serves the shootdown,
//! too), and which copies and entries to make.

use octavo_manager::{MemoryId, ProcessorMask};

/// By slot of a plan.
#[derive(Default)]
pub(crate) struct Told(Vec<Plan>);

/// What others know of a plan.
#[derive(Clone, Copy, Default)]
struct Plan {
    /// The processors that have the message that pages are about to move.
    processors: ProcessorMask,
    /// The ends of the copies that an engine has been told to make, one after another.
    copies: Option<(MemoryId, MemoryId)>,
    /// Entries are being written.
    maps: bool,
}

impl Told {
    /// A plan begins in `slot`: no listener has its message yet.
    pub fn begin(&mut self, slot: u32) {
        let index = slot as usize;
        if index >= self.0.len() {
            self.0.resize(index + 1, Plan::default());
        }
        self.0[index] = Plan::default();
    }

    /// Whether the engine between these ends has the plan's copies already; from now on it has.
    pub fn copy(&mut self, slot: u32, ends: (MemoryId, MemoryId)) -> bool {
        self.0[slot as usize].copies.replace(ends) == Some(ends)
    }

    /// Whether the plan's entries are being written already; from now on they are.
    pub fn map(&mut self, slot: u32) -> bool {
        std::mem::replace(&mut self.0[slot as usize].maps, true)
    }

    /// Whether exactly these processors have the message; from now on they do.
    pub fn tell(&mut self, slot: u32, processors: ProcessorMask) -> bool {
        std::mem::replace(&mut self.0[slot as usize].processors, processors) == processors
    }

    /// Whether all of these have the message, which is then dropped.
    pub fn forget(&mut self, slot: u32, processors: ProcessorMask) -> bool {
        let told = std::mem::take(&mut self.0[slot as usize].processors);
        processors.0 & !told.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use octavo_manager::ProcessorId;

    use super::*;

    #[test]
    fn a_message_serves_one_shootdown_of_those_who_have_it() {
        let (one, both) = (ProcessorMask::only(ProcessorId::gpu(0)), ProcessorMask(0b110));
        let mut told = Told::default();
        told.begin(3);
        assert!(!told.tell(3, one), "the message has to travel");
        assert!(told.tell(3, one), "it is there");
        assert!(!told.forget(3, both), "the other one has no message");
        assert!(!told.forget(3, one), "it has served its purpose");
        told.tell(3, both);
        assert!(told.forget(3, one));
        told.tell(3, both);
        told.begin(3);
        assert!(!told.forget(3, one), "another plan in the same slot");
    }
}
