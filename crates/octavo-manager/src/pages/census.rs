//! How many pages have which attributes, for summaries.

use crate::pages::Pages;
use crate::pages::attributes::Attribute;
use crate::pages::deciders::Decider;

/// The pages that a placement decides about, by the values of their attributes. For the placement of managed memory,
/// all memory that is not managed counts as pages without attributes.
pub struct Census<'a> {
    pub(crate) pages: &'a Pages,
    pub(crate) decider: Decider,
}

impl Census<'_> {
    /// The number of pages with each value, by its name. All have 0 if the placement did not claim the attribute.
    pub fn by(&self, attribute: &'static Attribute) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.pages.by_value(self.decider, attribute);
        attribute.values.iter().copied().zip(counts)
    }
}
