//! A value for each memory.

use std::ops::{Index, IndexMut};

use crate::contract::ids::{MAX_MEMORIES, MemoryId};

/// One of each memory that a node can have.
#[derive(Clone, Copy)]
pub(crate) struct ByMemory<T>([T; MAX_MEMORIES]);

impl<T: Default> Default for ByMemory<T> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| T::default()))
    }
}

impl<T> ByMemory<T> {
    /// All of them, in the order of memories.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

impl<T> Index<MemoryId> for ByMemory<T> {
    type Output = T;

    #[inline]
    fn index(&self, memory: MemoryId) -> &T {
        &self.0[memory.index()]
    }
}

impl<T> IndexMut<MemoryId> for ByMemory<T> {
    #[inline]
    fn index_mut(&mut self, memory: MemoryId) -> &mut T {
        &mut self.0[memory.index()]
    }
}
