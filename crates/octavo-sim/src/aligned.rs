//! Arrays that begin on a cache line of the simulating machine, so that a set or a record that fits a line is one.

use std::ops::{Deref, DerefMut};

const CACHE_LINE: usize = 64;

/// A fixed number of equal items, the first at the start of a cache line.
pub(crate) struct Aligned<T> {
    /// Never grows, so that its address stays.
    items: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy> Aligned<T> {
    /// `len` times `value`. The size of `T` divides a cache line.
    pub fn new(value: T, len: usize) -> Self {
        let size = size_of::<T>();
        debug_assert!(CACHE_LINE.is_multiple_of(size));
        let items = vec![value; len + CACHE_LINE / size];
        let start = (items.as_ptr().addr().next_multiple_of(CACHE_LINE) - items.as_ptr().addr()) / size;
        Self { items, start, len }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        &self.items[self.start..self.start + self.len]
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::Aligned;

    #[test]
    fn begins_on_a_cache_line_and_has_the_asked_length() {
        for len in [1, 7, 1000, 100_000] {
            let array = Aligned::new(3u32, len);
            assert_eq!((array.as_ptr().addr() % 64, array.len(), array[len - 1]), (0, len, 3));
        }
    }
}
