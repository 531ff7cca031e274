//! GRIT's neighbour-aware prediction: scheme bits of every page and group bits of every group's base page.

use std::collections::BTreeMap;

use octavo_manager::Scheme;

/// Scheme and group bits. A base page without an entry in `sizes` is a group of one.
#[derive(Debug, Default)]
pub struct Groups {
    pub schemes: BTreeMap<u32, Scheme>,
    pub sizes: BTreeMap<u32, u32>,
    pub predictions: u64,
    pub formed: u64,
    pub split: u64,
}

impl Groups {
    pub fn size(&self, base: u32) -> u32 {
        self.sizes.get(&base).copied().unwrap_or(1)
    }

    /// Size and base of the group that `page` is part of.
    fn group_of(&self, page: u32) -> (u32, u32) {
        let sizes = [512, 64, 8];
        let found = sizes.into_iter().find(|size| self.size(page - page % size) == *size);
        found.map_or((1, page), |size| (size, page - page % size))
    }

    /// Splits the group of `page` until `page` is on its own: each time the sub-group with the page is split on, and
    /// its seven siblings become groups of the next lower size.
    pub fn isolate(&mut self, page: u32) {
        let (mut size, mut base) = self.group_of(page);
        while size > 1 {
            self.sizes.remove(&base);
            self.split += 1;
            size /= 8;
            for sibling in (0..8).map(|index| base + index * size).filter(|_| size > 1) {
                self.sizes.insert(sibling, size);
            }
            base = page - page % size;
        }
    }

    /// Spreads the scheme that `page` was just given to its neighbours, as far as majorities go and never beyond
    /// `limit` pages.
    pub fn promote(&mut self, page: u32, limit: u32) {
        let scheme = self.schemes[&page];
        let mut size = 8;
        while size <= limit && self.majority(page, size, scheme) {
            self.unite(page - page % size, size, scheme);
            size *= 8;
        }
    }

    /// Whether more than half of the eight parts of the span around `page` are whole and have `scheme`.
    fn majority(&self, page: u32, size: u32, scheme: Scheme) -> bool {
        let (base, part) = (page - page % size, size / 8);
        let agrees = |start: &u32| {
            let whole = part == 1 || self.size(*start) == part;
            whole && self.schemes.get(start) == Some(&scheme)
        };
        (0..8).map(|index| base + index * part).filter(agrees).count() > 4
    }

    fn unite(&mut self, base: u32, size: u32, scheme: Scheme) {
        for page in base..base + size {
            self.sizes.remove(&page);
            if let Some(old) = self.schemes.get_mut(&page) {
                self.predictions += u64::from(*old != scheme);
                *old = scheme;
            }
        }
        self.sizes.insert(base, size);
        self.formed += 1;
    }
}
