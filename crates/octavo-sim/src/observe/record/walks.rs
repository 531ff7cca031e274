//! Page-table walks of GPUs by the placement's attributes of their pages at that time: why accesses miss TLBs.

use octavo_manager::{ATTRIBUTES, AttributeChange};

use crate::observe::table::{Column, Table};

/// Counts of the attributes whose values have names.
pub(super) struct Walks(Vec<ByValue>);

/// Walks by the value of one attribute.
struct ByValue {
    /// The present attributes of each page.
    values: Vec<u8>,
    /// Walks by value.
    counts: Vec<u64>,
}

impl Walks {
    /// Counts for this many pages, all 0.
    pub fn new(pages: usize) -> Self {
        let zeros = |values: usize| ByValue { values: vec![0; pages], counts: vec![0; values] };
        Self(ATTRIBUTES.iter().map(|attribute| zeros(attribute.values.len())).collect())
    }

    pub fn attribute(&mut self, change: &AttributeChange) {
        if let Some(index) = ATTRIBUTES.iter().position(|known| std::ptr::eq(*known, change.attribute)) {
            self.0[index].values[change.page.index()] = change.value;
        }
    }

    /// A GPU walks its page table for a page, or asks the host to.
    #[inline]
    pub fn walk(&mut self, page: u32) {
        for ByValue { values, counts } in &mut self.0 {
            counts[usize::from(values[page as usize])] += 1;
        }
    }

    pub fn table(&self) -> Table {
        let rows = || {
            ATTRIBUTES.iter().zip(&self.0).flat_map(|(attribute, by)| {
                attribute.values.iter().zip(&by.counts).map(move |(value, count)| (attribute.name, *value, *count))
            })
        };
        Table::new(
            "walks",
            vec![
                Column::text("attribute", rows().map(|row| row.0.to_owned()).collect()),
                Column::text("value", rows().map(|row| row.1.to_owned()).collect()),
                Column::u64("walks", rows().map(|row| row.2).collect()),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use octavo_manager::{PageId, SCHEME, Scheme};

    use super::*;

    #[test]
    fn a_walk_counts_for_what_its_page_has_then() {
        let mut walks = Walks::new(4);
        walks.walk(3);
        walks.attribute(&AttributeChange { page: PageId(3), attribute: &SCHEME, value: Scheme::Duplication as u8 });
        [3, 2, 3].into_iter().for_each(|page| walks.walk(page));
        assert_eq!(walks.0[0].counts, [2, 0, 0, 2]);
    }
}
