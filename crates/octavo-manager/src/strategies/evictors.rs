//! The evictors of a node: one for all pages, or one for each address space.

use std::collections::BTreeMap;

use octavo_registry::Choice;

use crate::contract::error::ConfigError;
use crate::contract::failure::Failure;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{MemoryId, PageId, SpaceId};
use crate::pages::Pages;
use crate::pages::residency::Residency;
use crate::strategies::choice::built;
use crate::strategies::eviction::{EVICTIONS, Eviction};

/// The evictors of a node.
pub(crate) struct Evictors {
    /// One, or one for each address space in order of their numbers.
    all: Vec<Box<dyn Eviction>>,
    apart: bool,
    /// How evictors are made; `None` if the only one was made elsewhere.
    choice: Option<(Choice, Geometry)>,
    /// The choice of evictor for address spaces that have their own.
    own: BTreeMap<SpaceId, Choice>,
    /// Whether one of these requests reports of accesses, although it may not have been made yet.
    own_want_accesses: bool,
}

impl Evictors {
    /// The only one.
    pub fn one(evictor: Box<dyn Eviction>) -> Self {
        Self { all: vec![evictor], apart: false, choice: None, own: BTreeMap::new(), own_want_accesses: false }
    }

    /// One for all pages, until spaces are [told apart](Evictors::tell_apart).
    pub fn new(choice: &Choice, geometry: &Geometry) -> Result<Self, ConfigError> {
        let all = vec![built(&EVICTIONS, choice, geometry)?];
        let choice = Some((choice.clone(), *geometry));
        Ok(Self { all, apart: false, choice, own: BTreeMap::new(), own_want_accesses: false })
    }

    /// From now on each address space has its own; there is no page yet.
    pub fn tell_apart(&mut self) {
        self.apart = true;
    }

    /// An address space has its own sort of evictor; there is no page yet.
    pub fn set(&mut self, space: SpaceId, choice: &Choice, geometry: &Geometry) -> Result<(), ConfigError> {
        let evictor = built(&EVICTIONS, choice, geometry)?;
        self.own_want_accesses |= evictor.wants_accesses();
        if space == SpaceId::default() {
            self.all[0] = evictor;
        }
        self.own.insert(space, choice.clone());
        Ok(())
    }

    /// Address spaces up to `space` have evictors, which know that pages below `pages` can exist.
    pub fn grow(&mut self, space: SpaceId, pages: usize) -> Result<(), ConfigError> {
        while self.apart && self.all.len() <= usize::from(space.0) {
            let (common, geometry) = self.choice.as_ref().expect("evictors are told apart where they can be made");
            let choice = self.own.get(&SpaceId(self.all.len() as u16)).unwrap_or(common);
            self.all.push(built(&EVICTIONS, choice, geometry)?);
        }
        self.all.iter_mut().for_each(|evictor| evictor.grow(pages));
        Ok(())
    }

    /// The evictor of all pages, or of an address space that has memory.
    pub fn of(&mut self, space: SpaceId) -> &mut dyn Eviction {
        let index = if self.apart { usize::from(space.0) } else { 0 };
        self.all[index].as_mut()
    }

    /// `pages`, all of one address space, were brought into `holder`, or faults on them were served from there.
    pub fn used(&mut self, holder: MemoryId, run: impl Iterator<Item = PageId>, pages: &Pages) {
        let mut run = run.peekable();
        let Some(&first) = run.peek() else { return };
        let space = self.told(first, pages);
        let evictor = self.of(space.unwrap_or_default());
        let residency = Residency { pages, space };
        run.for_each(|page| evictor.used(holder, page, &residency));
    }

    /// Whether any evictor wants to know accesses.
    pub fn want_accesses(&self) -> bool {
        self.own_want_accesses || self.all.iter().any(|evictor| evictor.wants_accesses())
    }

    /// `page` of `holder` was accessed.
    pub fn accessed(&mut self, holder: MemoryId, page: PageId, times: u32, pages: &Pages) {
        let space = self.told(page, pages);
        let evictor = self.of(space.unwrap_or_default());
        if evictor.wants_accesses() {
            evictor.accessed(holder, page, times, &Residency { pages, space });
        }
    }

    /// `page` is back in `holder`.
    pub fn restored(&mut self, holder: MemoryId, page: PageId, pages: &Pages) {
        let space = self.told(page, pages);
        self.of(space.unwrap_or_default()).restored(holder, page);
    }

    /// Whether the page would ever be found.
    pub fn knows(&self, holder: MemoryId, page: PageId, pages: &Pages) -> bool {
        let index = self.told(page, pages).map_or(0, |space| usize::from(space.0));
        self.all[index].knows(holder, page)
    }

    /// Whether anything ever leaves.
    pub fn evicts(&self) -> bool {
        self.all.iter().any(|evictor| evictor.evicts())
    }

    pub fn failure(&self) -> Option<Box<Failure>> {
        self.all.iter().find_map(|evictor| evictor.failure())
    }

    pub fn bytes(&self) -> usize {
        self.all.iter().map(|evictor| evictor.bytes()).sum()
    }

    /// The address space of a page, if that matters.
    fn told(&self, page: PageId, pages: &Pages) -> Option<SpaceId> {
        self.apart.then(|| pages.space(page))
    }
}
