//! Lines that wait to be sent to those that subscribe to their pages.

use std::collections::{BTreeSet, VecDeque};

/// The write queue of one GPU.
#[derive(Default)]
struct Queue {
    /// Lines in the order of their first store.
    order: VecDeque<u64>,
    present: BTreeSet<u64>,
}

/// The write queues of all GPUs.
pub(crate) struct Broadcast {
    queues: Vec<Queue>,
    capacity: usize,
}

impl Broadcast {
    pub fn new(gpus: usize, capacity: u32) -> Self {
        Self { queues: (0..gpus).map(|_| Queue::default()).collect(), capacity: capacity as usize }
    }

    /// Queues a line; returns the line that has to leave for it, if the queue was full.
    pub fn queue(&mut self, gpu: usize, line: u64) -> Option<u64> {
        let queue = &mut self.queues[gpu];
        if !queue.present.insert(line) {
            return None;
        }
        queue.order.push_back(line);
        if queue.order.len() <= self.capacity {
            return None;
        }
        self.take_oldest(gpu)
    }

    /// The line that was stored to first, which leaves.
    pub fn take_oldest(&mut self, gpu: usize) -> Option<u64> {
        let line = self.queues[gpu].order.pop_front()?;
        self.queues[gpu].present.remove(&line);
        Some(line)
    }
}
