//! How many pages have which attributes, for summaries.

use crate::pages::Pages;
use crate::pages::attributes::Attribute;

/// Allocated pages by the values of their attributes.
pub struct Census<'a> {
    pub(crate) pages: &'a Pages,
}

impl Census<'_> {
    /// How many pages have each value, by its name. All have 0 if the placement did not claim the attribute.
    pub fn by(&self, attribute: &'static Attribute) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.pages.by_value(attribute);
        attribute.values.iter().copied().zip(counts)
    }
}
