//! Plans that can go on at once, first come first served: a plan's end makes others, and those are not begun inside it.

use std::collections::VecDeque;

/// Slots of plans that can go on at once.
#[derive(Default)]
pub(crate) struct Ready(VecDeque<u32>);

impl Ready {
    pub fn push(&mut self, slot: u32) {
        self.0.push_back(slot);
    }

    #[inline]
    pub fn pop(&mut self) -> Option<u32> {
        self.0.pop_front()
    }
}
