//! Values of address ranges.

use std::collections::BTreeMap;

/// Ranges that do not overlap, each with a value.
#[derive(Debug)]
pub struct Ranges<T> {
    /// By begin: the end, and the value.
    all: BTreeMap<u64, (u64, T)>,
}

impl<T> Default for Ranges<T> {
    fn default() -> Self {
        Self { all: BTreeMap::new() }
    }
}

impl<T> Ranges<T> {
    /// Something lies there now, and nothing else.
    pub fn add(&mut self, begin: u64, bytes: u64, what: T) {
        self.forget(begin, bytes);
        self.all.insert(begin, (end(begin, bytes), what));
    }

    /// The range no longer exists.
    pub fn forget(&mut self, begin: u64, bytes: u64) {
        let until = end(begin, bytes);
        while let Some(old) = self.all.range(..until).next_back().filter(|(_, (end, _))| *end > begin) {
            let old = *old.0;
            self.all.remove(&old);
        }
    }

    /// Removes the range that begins there: its bytes, and its value.
    pub fn take(&mut self, begin: u64) -> Option<(u64, T)> {
        self.all.remove(&begin).map(|(end, what)| (end - begin, what))
    }

    /// The range that contains an address: its begin and bytes.
    pub fn at(&mut self, address: u64) -> Option<(u64, u64, &mut T)> {
        let (begin, (end, what)) = self.all.range_mut(..=address).next_back()?;
        (address < *end).then_some((*begin, *end - *begin, what))
    }

    /// All of it, in the order of addresses.
    pub fn each(&mut self) -> impl Iterator<Item = (u64, u64, &mut T)> {
        self.all.iter_mut().map(|(begin, (end, what))| (*begin, *end - *begin, what))
    }

    /// Forgets ranges that the function does not keep.
    pub fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.all.retain(|_, (_, what)| keep(what));
    }
}

fn end(begin: u64, bytes: u64) -> u64 {
    begin.saturating_add(bytes.max(1))
}
