//! The memory of a GPU becomes less or more while jobs run.

use octavo_manager::MemoryId;
use octavo_node::CapacityAt;

use crate::engine::event::Kind;
use crate::machine::node::Node;
use crate::machine::occurrence::{Happening, Listen};

impl<L: Listen> Node<'_, L> {
    /// All changes that are to come.
    pub(super) fn schedule_capacity(&mut self) {
        for (number, change) in self.capacity.iter().enumerate() {
            self.hardware.clock.schedule(change.time, Kind::CapacityChanges, number as u32);
        }
    }

    /// Pages that no longer fit leave by ordinary plans; pages that a plan holds leave when it ends.
    pub(super) fn capacity_changes(&mut self, number: usize) {
        let CapacityAt { gpu, pages, .. } = self.capacity[number];
        self.hardware.say(Happening::Capacity { gpu, pages });
        self.drive(|driver, now, hardware| driver.capacity(now, MemoryId::gpu(gpu), pages, hardware));
    }
}
