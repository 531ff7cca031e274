//! The bits that GRIT keeps in a page's entry.

use serde::Serialize;

use crate::contract::ids::PageId;
use crate::contract::page::PageView;
use crate::pages::attributes::Attribute;
use crate::strategies::context::Context;

/// PTE\[10:9\]: the scheme of a page, 0 for none. Placements that keep no scheme leave it.
pub static SCHEME: Attribute = Attribute {
    name: "scheme",
    shift: 0,
    width: 2,
    values: &["none", "on_touch", "access_counter", "duplication"],
    events: &["scheme_on_touch", "scheme_access_counter", "scheme_duplication"],
};

/// PTE\[53:52\]: the size of the group that a page is the base of.
static GROUP: Attribute = Attribute { name: "group", shift: 2, width: 2, values: &[], events: &[] };

/// All of GRIT's.
pub(super) static CLAIMED: [&Attribute; 2] = [&SCHEME, &GROUP];

/// A uniform placement scheme, as GRIT keeps it in PTE\[10:9\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[repr(u8)]
pub enum Scheme {
    /// Migrate at every far fault.
    OnTouch = 0b01,
    /// Map remotely, migrate when the access counter says so.
    AccessCounter = 0b10,
    /// Replicate for readers, collapse for a writer.
    Duplication = 0b11,
}

impl Scheme {
    /// For a page, under a placement that keeps one for each.
    #[must_use]
    pub const fn of(page: &PageView) -> Option<Self> {
        Self::from_bits(SCHEME.read(page.attributes))
    }

    /// The bits of an allocated page, in the midst of a decision.
    #[must_use]
    pub fn read(page: PageId, context: &Context<'_>) -> Option<Self> {
        Self::from_bits(context.attribute(page, &SCHEME))
    }

    /// Writes it into the entry of an allocated page. No copy and no mapping changes.
    ///
    /// # Panics
    /// If the placement did not claim [`SCHEME`].
    pub fn write(self, page: PageId, context: &mut Context<'_>) {
        context.set_attribute(page, &SCHEME, self as u8);
    }

    const fn from_bits(bits: u8) -> Option<Self> {
        match bits {
            0b01 => Some(Self::OnTouch),
            0b10 => Some(Self::AccessCounter),
            0b11 => Some(Self::Duplication),
            _ => None,
        }
    }
}

/// Pages of a GRIT group, as kept in PTE\[53:52\] of the group's base page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum GroupSize {
    /// The page is on its own, or is not the base of a group.
    #[default]
    One = 0b00,
    /// Eight pages.
    Eight = 0b01,
    /// Sixty-four pages.
    SixtyFour = 0b10,
    /// A whole page-table page.
    FiveHundredTwelve = 0b11,
}

impl GroupSize {
    /// The number of those pages.
    #[must_use]
    pub const fn pages(self) -> u32 {
        1 << (3 * self as u32)
    }

    /// The bits of the group that a page is the base of.
    #[must_use]
    pub const fn of(page: &PageView) -> Self {
        Self::from_bits(GROUP.read(page.attributes))
    }

    /// The same, in the midst of a decision.
    pub(super) fn read(base: PageId, context: &Context<'_>) -> Self {
        Self::from_bits(context.attribute(base, &GROUP))
    }

    /// Writes it into the entry of a group's base page, which need not be allocated.
    pub(super) fn write(self, base: PageId, context: &mut Context<'_>) {
        context.set_attribute(base, &GROUP, self as u8);
    }

    const fn from_bits(bits: u8) -> Self {
        match bits {
            0b01 => Self::Eight,
            0b10 => Self::SixtyFour,
            0b11 => Self::FiveHundredTwelve,
            _ => Self::One,
        }
    }
}
