//! Bits of pages that strategies own. The core keeps them, counts pages by them and reports their changes; it does not
//! know their meaning.

use crate::contract::error::ConfigError;
use crate::contract::ids::PageId;
use crate::pages::deciders::Decider;

/// Bits that every page has for them.
const BITS: u32 = u8::BITS;

/// A small number that a placement keeps for each page, in bits of the page's record that it claims.
#[derive(Debug)]
pub struct Attribute {
    /// What errors call it.
    pub name: &'static str,
    /// The first of its bits, from 0.
    pub shift: u32,
    /// The number of its bits. All attributes of a placement fit into 8 bits. Several placements can use the same bits:
    /// a page has only attributes of the placement that decides about it.
    pub width: u32,
    /// Names of its values from 0, by which summaries count pages. Empty if they do not; then its changes are not
    /// reported, and it can be written for pages that do not exist yet.
    pub values: &'static [&'static str],
    /// Names of the events that report that a page's value became 1, 2, …; one for each value above 0.
    pub events: &'static [&'static str],
}

impl Attribute {
    /// Its value among the attribute bits of a page.
    #[must_use]
    pub const fn read(&self, bits: u8) -> u8 {
        (bits & self.mask()) >> self.shift
    }

    const fn written(&self, bits: u8, value: u8) -> u8 {
        bits & !self.mask() | value << self.shift & self.mask()
    }

    const fn mask(&self) -> u8 {
        (((1u32 << self.width) - 1) << self.shift) as u8
    }
}

/// A page's attribute has another value.
#[derive(Clone, Copy, Debug)]
pub struct AttributeChange {
    /// Which page.
    pub page: PageId,
    /// Which attribute.
    pub attribute: &'static Attribute,
    /// What it is now.
    pub value: u8,
}

/// The attributes that placements claimed, and the values of all pages.
#[derive(Clone, Default)]
pub(super) struct Attributes {
    claimed: Vec<Claimed>,
    /// Changes since they were last taken, if anyone wants them.
    journal: Option<Vec<AttributeChange>>,
}

#[derive(Clone)]
struct Claimed {
    by: Decider,
    attribute: &'static Attribute,
    /// Allocated pages by value, except for 0; empty if they are not counted.
    pages: Vec<u64>,
}

impl Attributes {
    /// A placement claims bits of every page that it decides about.
    ///
    /// # Errors
    /// If it claims bits twice, or more than there are.
    pub fn claim(&mut self, by: Decider, claims: &'static [&'static Attribute]) -> Result<(), ConfigError> {
        let mut taken = 0u64;
        for attribute in claims {
            let own = ((1u64 << attribute.width) - 1) << attribute.shift;
            if taken & own != 0 || own >> BITS != 0 {
                let message = format!("expected free bits below {BITS} for its attribute `{}`", attribute.name);
                return Err(ConfigError::new("placement", message));
            }
            taken |= own;
        }
        let claimed = claims.iter().map(|attribute| Claimed { by, attribute, pages: vec![0; attribute.values.len()] });
        self.claimed.extend(claimed);
        Ok(())
    }

    /// Whether several placements claimed bits, so that it matters which one decides about a page.
    pub fn contested(&self) -> bool {
        self.claimed.iter().any(|known| known.by != self.claimed[0].by)
    }

    pub fn keep_journal(&mut self) {
        self.journal = Some(Vec::new());
    }

    /// Changes since the last call, in order; none unless a journal is kept.
    pub fn drain_journal(&mut self) -> impl Iterator<Item = AttributeChange> + '_ {
        self.journal.iter_mut().flat_map(|journal| journal.drain(..))
    }

    /// A page that `by` decided about and that has these bits no longer exists.
    pub fn forgotten(&mut self, by: Decider, bits: u8) {
        for known in self.claimed.iter_mut().filter(|known| known.by == by && !known.pages.is_empty()) {
            known.count(known.attribute.read(bits), |count| count - 1);
        }
    }

    /// `by`, which decides about the page, writes a value into its bits.
    pub fn write(&mut self, by: Decider, page: PageId, bits: &mut u8, attribute: &'static Attribute, value: u8) {
        let own = |known: &&mut Claimed| known.by == by && std::ptr::eq(known.attribute, attribute);
        let known = self.claimed.iter_mut().find(own).expect("a placement writes the attributes that it claims");
        let before = attribute.read(*bits);
        *bits = attribute.written(*bits, value);
        if known.pages.is_empty() || before == value {
            return;
        }
        known.count(before, |count| count - 1);
        known.count(value, |count| count + 1);
        if let Some(journal) = &mut self.journal {
            journal.push(AttributeChange { page, attribute, value });
        }
    }

    /// Of this many pages, those with each value of an attribute that `by` may have claimed.
    pub fn pages(&self, by: Decider, attribute: &'static Attribute, of: u64) -> Vec<u64> {
        let known = self.claimed.iter().find(|known| known.by == by && std::ptr::eq(known.attribute, attribute));
        let mut counts = known.map_or_else(|| vec![0; attribute.values.len()], |known| known.pages.clone());
        counts[0] = of - counts[1..].iter().sum::<u64>();
        counts
    }
}

impl Claimed {
    fn count(&mut self, value: u8, change: impl FnOnce(u64) -> u64) {
        if value != 0 {
            let count = &mut self.pages[usize::from(value)];
            *count = change(*count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static ONE: Attribute =
        Attribute { name: "one", shift: 0, width: 2, values: &["a", "b", "c", "d"], events: &["b", "c", "d"] };
    static OTHER: Attribute = Attribute { name: "other", shift: 2, width: 6, values: &[], events: &[] };
    static SAME: Attribute = Attribute { name: "same", shift: 1, width: 1, values: &[], events: &[] };
    static BEYOND: Attribute = Attribute { name: "beyond", shift: 7, width: 2, values: &[], events: &[] };

    #[test]
    fn neighbours_do_not_mix_and_named_values_are_counted_and_told() {
        static CLAIMS: [&Attribute; 2] = [&ONE, &OTHER];
        let mut attributes = Attributes::default();
        attributes.claim(Decider::MANAGED, &CLAIMS).unwrap();
        attributes.keep_journal();
        let mut bits = 0;
        for (attribute, value) in [(&ONE, 3), (&OTHER, 63), (&ONE, 3), (&ONE, 1)] {
            attributes.write(Decider::MANAGED, PageId(7), &mut bits, attribute, value);
        }
        assert_eq!((ONE.read(bits), OTHER.read(bits)), (1, 63));
        assert_eq!(attributes.pages(Decider::MANAGED, &ONE, 3), [2, 1, 0, 0]);
        let told: Vec<_> = attributes.drain_journal().map(|change| (change.attribute.name, change.value)).collect();
        assert_eq!(told, [("one", 3), ("one", 1)]);
        attributes.forgotten(Decider::MANAGED, bits);
        assert_eq!(attributes.pages(Decider::MANAGED, &ONE, 2), [2, 0, 0, 0]);
    }

    #[test]
    fn placements_share_bits_and_count_apart() {
        static FIRST: [&Attribute; 1] = [&ONE];
        static SECOND: [&Attribute; 2] = [&ONE, &OTHER];
        let mut attributes = Attributes::default();
        attributes.claim(Decider::MANAGED, &FIRST).unwrap();
        assert!(!attributes.contested());
        attributes.claim(Decider::SYSTEM, &SECOND).unwrap();
        assert!(attributes.contested());
        let (mut bits, mut others) = (0, 0);
        attributes.write(Decider::MANAGED, PageId(1), &mut bits, &ONE, 2);
        attributes.write(Decider::SYSTEM, PageId(2), &mut others, &ONE, 3);
        assert_eq!(attributes.pages(Decider::MANAGED, &ONE, 5), [4, 0, 1, 0]);
        assert_eq!(attributes.pages(Decider::SYSTEM, &ONE, 1), [0, 0, 0, 1]);
    }

    #[test]
    fn bits_are_claimed_once_and_there_are_eight() {
        static TWICE: [&Attribute; 2] = [&ONE, &SAME];
        static TOO_MANY: [&Attribute; 1] = [&BEYOND];
        for (claims, name) in [(TWICE.as_slice(), "same"), (TOO_MANY.as_slice(), "beyond")] {
            let granted = Attributes::default().claim(Decider::MANAGED, claims);
            let Err(error) = granted else { panic!("{name} was granted") };
            assert!(error.message.contains(name), "{error}");
        }
    }
}
