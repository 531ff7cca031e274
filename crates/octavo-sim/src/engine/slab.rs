//! Numbered objects with reuse of numbers.

use prefetch_index::prefetch_index;

/// Objects by number; numbers of removed objects are used again.
pub(crate) struct Slab<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub fn insert(&mut self, item: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.items[number as usize] = Some(item);
            return number;
        }
        self.items.push(Some(item));
        self.items.len() as u32 - 1
    }

    pub fn is_empty(&self) -> bool {
        self.free.len() == self.items.len()
    }

    /// A hint to the simulating machine that an object is needed soon; nothing else happens, whatever the number.
    pub fn hint(&self, number: u32) {
        prefetch_index(&self.items, number as usize);
    }

    /// # Panics
    /// If nothing has that number.
    pub fn remove(&mut self, number: u32) -> T {
        self.free.push(number);
        self.items[number as usize].take().expect("removed once")
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    fn index(&self, number: u32) -> &T {
        self.items[number as usize].as_ref().expect("not removed")
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, number: u32) -> &mut T {
        self.items[number as usize].as_mut().expect("not removed")
    }
}

#[cfg(test)]
mod tests {
    use super::Slab;

    #[test]
    fn numbers_are_reused_after_removal() {
        let mut slab = Slab::default();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_eq!((slab.remove(a), slab[b]), ('a', 'b'));
        assert_eq!(slab.insert('c'), a);
    }
}
