//! Which of several strategies of one sort decides about which pages.

use crate::contract::ids::SpaceId;
use crate::contract::kind::Kind;

/// The number of a strategy among strategies of its sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decider(u16);

impl Decider {
    /// Decides about managed memory, unless the address space has a strategy of its own.
    pub const MANAGED: Self = Self(0);
    /// Decides about the operating system's memory.
    pub const SYSTEM: Self = Self(1);

    /// The strategy at a place in the list of its sort.
    pub const fn at(index: usize) -> Self {
        Self(index as u16)
    }

    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The strategy for pages, by their kind of memory and their address space.
#[derive(Clone, Default)]
pub(crate) struct Deciders {
    /// Deciders of single address spaces for managed memory, by number; none beyond the last.
    own: Vec<Option<Decider>>,
}

impl Deciders {
    /// The decider about pages of this kind; `None` if they [stay](Kind::stays). `space` is called only if it matters.
    #[inline]
    pub fn of(&self, kind: Kind, space: impl FnOnce() -> SpaceId) -> Option<Decider> {
        match kind {
            Kind::Managed if self.own.is_empty() => Some(Decider::MANAGED),
            Kind::Managed => Some(self.of_space(space())),
            Kind::System => Some(Decider::SYSTEM),
            Kind::Device | Kind::Pinned => None,
        }
    }

    /// The strategy for managed pages of an address space.
    pub fn of_space(&self, space: SpaceId) -> Decider {
        self.own.get(usize::from(space.0)).copied().flatten().unwrap_or(Decider::MANAGED)
    }

    /// An address space has its own from before its first page on.
    pub fn set(&mut self, space: SpaceId, decider: Decider) {
        let index = usize::from(space.0);
        if index >= self.own.len() {
            self.own.resize(index + 1, None);
        }
        self.own[index] = Some(decider);
    }
}
