//! Plans that can continue at once, in order of arrival: the end of a plan frees others, which must not start inside
//! it.

use std::collections::VecDeque;

/// Slots of plans that can continue at once.
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
