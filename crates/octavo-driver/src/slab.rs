//! Numbered objects with reuse of numbers.

use prefetch_index::prefetch_index;

/// Objects by number; numbers of removed objects are used again.
pub struct Slab<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Adds an object; returns its number.
    pub fn insert(&mut self, item: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.items[number as usize] = Some(item);
            return number;
        }
        self.items.push(Some(item));
        self.items.len() as u32 - 1
    }

    /// Whether there is no object.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.items.len()
    }

    /// The number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }

    /// A hint to the machine that an object is needed soon. Any number is allowed; unknown ones have no effect.
    #[inline]
    pub fn hint(&self, number: u32) {
        prefetch_index(&self.items, number as usize);
    }

    /// The object of that number, if there is one.
    #[must_use]
    pub fn get(&self, number: u32) -> Option<&T> {
        self.items.get(number as usize)?.as_ref()
    }

    /// The object of that number, if there is one.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.items.get_mut(number as usize)?.as_mut()
    }

    /// Takes an object out; its number is used again.
    ///
    /// # Panics
    /// If nothing has that number.
    pub fn remove(&mut self, number: u32) -> T {
        self.free.push(number);
        self.items[number as usize].take().expect("removed once")
    }

    /// The objects, in the order of their numbers.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut().flatten()
    }

    /// The objects with their numbers, in the order of the numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.items.iter().enumerate().filter_map(|(number, item)| Some((number as u32, item.as_ref()?)))
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, number: u32) -> &T {
        self.items[number as usize].as_ref().expect("not removed")
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
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
        assert_eq!((slab.get(a), slab.len()), (None, 1));
        assert_eq!(slab.insert('c'), a);
        assert_eq!(slab.iter().collect::<Vec<_>>(), [(a, &'c'), (b, &'b')]);
    }
}
