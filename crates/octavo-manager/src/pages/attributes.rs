//! Bits of pages that strategies own. The core keeps them, counts pages by them and tells when they change; what they
//! mean, it does not know.

use crate::contract::error::ConfigError;
use crate::contract::ids::PageId;

/// Bits that every page has for them.
const BITS: u32 = u8::BITS;

/// A small number that a placement keeps for each page, in bits of the page's record that it claims.
#[derive(Debug)]
pub struct Attribute {
    /// What errors call it.
    pub name: &'static str,
    /// The first of its bits, from 0.
    pub shift: u32,
    /// How many bits it has. All attributes of a placement fit into 8 bits.
    pub width: u32,
    /// Names of its values from 0, by which summaries count pages. Empty if they do not; then its changes are not told
    /// either, and it can be written for pages that do not exist yet.
    pub values: &'static [&'static str],
    /// Names of the events that tell that a page's value became 1, 2, …; as many as it has values beyond 0.
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

/// The attributes that the placement claimed, and what is known about all pages' values.
#[derive(Clone, Default)]
pub(super) struct Attributes {
    claimed: Vec<Claimed>,
    /// Changes since they were last taken, if anyone wants them.
    journal: Option<Vec<AttributeChange>>,
}

#[derive(Clone)]
struct Claimed {
    attribute: &'static Attribute,
    /// Allocated pages by value; empty if nobody counts them.
    pages: Vec<u64>,
}

impl Attributes {
    /// Claims bits of every page.
    ///
    /// # Errors
    /// If bits are claimed twice, or more than there are.
    pub fn new(claims: &'static [&'static Attribute]) -> Result<Self, ConfigError> {
        let mut taken = 0u64;
        for attribute in claims {
            let own = ((1u64 << attribute.width) - 1) << attribute.shift;
            if taken & own != 0 || own >> BITS != 0 {
                let message = format!("expected free bits below {BITS} for its attribute `{}`", attribute.name);
                return Err(ConfigError { key: "placement".to_owned(), message });
            }
            taken |= own;
        }
        let claimed = claims.iter().map(|attribute| Claimed { attribute, pages: vec![0; attribute.values.len()] });
        Ok(Self { claimed: claimed.collect(), journal: None })
    }

    pub fn keep_journal(&mut self) {
        self.journal = Some(Vec::new());
    }

    /// Changes since the last call, in order; none unless a journal is kept.
    pub fn drain_journal(&mut self) -> impl Iterator<Item = AttributeChange> + '_ {
        self.journal.iter_mut().flat_map(|journal| journal.drain(..))
    }

    /// So many pages come into being, with no bit set.
    pub fn created(&mut self, pages: u32) {
        for known in &mut self.claimed {
            known.pages.iter_mut().take(1).for_each(|count| *count += u64::from(pages));
        }
    }

    /// A page that has these bits is no more.
    pub fn forgotten(&mut self, bits: u8) {
        for known in self.claimed.iter_mut().filter(|known| !known.pages.is_empty()) {
            known.pages[usize::from(known.attribute.read(bits))] -= 1;
        }
    }

    /// Writes a value into the bits of a page.
    pub fn write(&mut self, page: PageId, bits: &mut u8, attribute: &'static Attribute, value: u8) {
        let known = self.claimed.iter_mut().find(|known| std::ptr::eq(known.attribute, attribute));
        let known = known.expect("a placement writes the attributes that it claims");
        let before = attribute.read(*bits);
        *bits = attribute.written(*bits, value);
        if known.pages.is_empty() || before == value {
            return;
        }
        known.pages[usize::from(before)] -= 1;
        known.pages[usize::from(value)] += 1;
        if let Some(journal) = &mut self.journal {
            journal.push(AttributeChange { page, attribute, value });
        }
    }

    /// Allocated pages by the value of an attribute; `None` if it was not claimed, so that all are 0.
    pub fn pages(&self, attribute: &'static Attribute) -> Option<&[u64]> {
        let known = self.claimed.iter().find(|known| std::ptr::eq(known.attribute, attribute));
        known.map(|known| known.pages.as_slice())
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
        let mut attributes = Attributes::new(&CLAIMS).unwrap();
        attributes.keep_journal();
        attributes.created(3);
        let mut bits = 0;
        for (attribute, value) in [(&ONE, 3), (&OTHER, 63), (&ONE, 3), (&ONE, 1)] {
            attributes.write(PageId(7), &mut bits, attribute, value);
        }
        assert_eq!((ONE.read(bits), OTHER.read(bits)), (1, 63));
        assert_eq!(attributes.pages(&ONE), Some([2, 1, 0, 0].as_slice()));
        let told: Vec<_> = attributes.drain_journal().map(|change| (change.attribute.name, change.value)).collect();
        assert_eq!(told, [("one", 3), ("one", 1)]);
        attributes.forgotten(bits);
        assert_eq!(attributes.pages(&ONE), Some([2, 0, 0, 0].as_slice()));
    }

    #[test]
    fn bits_are_claimed_once_and_there_are_eight() {
        static TWICE: [&Attribute; 2] = [&ONE, &SAME];
        static TOO_MANY: [&Attribute; 1] = [&BEYOND];
        for (claims, name) in [(TWICE.as_slice(), "same"), (TOO_MANY.as_slice(), "beyond")] {
            let Err(error) = Attributes::new(claims) else { panic!("{name} was granted") };
            assert!(error.message.contains(name), "{error}");
        }
    }
}
