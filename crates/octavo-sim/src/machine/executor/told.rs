//! Which processors have the host's message that pages are about to move: a drain's message serves the shootdown, too.

use octavo_manager::ProcessorMask;

/// For each slot of a plan, the processors that have the message.
#[derive(Default)]
pub(crate) struct Told(Vec<ProcessorMask>);

impl Told {
    /// A plan begins in `slot`: no listener has its message yet.
    pub fn begin(&mut self, slot: u32) {
        let index = slot as usize;
        if index >= self.0.len() {
            self.0.resize(index + 1, ProcessorMask::EMPTY);
        }
        self.0[index] = ProcessorMask::EMPTY;
    }

    /// Whether exactly these processors have the message; from now on they do.
    pub fn tell(&mut self, slot: u32, processors: ProcessorMask) -> bool {
        std::mem::replace(&mut self.0[slot as usize], processors) == processors
    }

    /// Whether all of these have the message, which is then dropped.
    pub fn forget(&mut self, slot: u32, processors: ProcessorMask) -> bool {
        let told = std::mem::take(&mut self.0[slot as usize]);
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
