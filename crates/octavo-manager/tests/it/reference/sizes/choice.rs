//! The frame that an allocator gives a page.

use super::rules::Allocator;
use super::store::{Content, Holder, Store};

/// A page that comes to a memory.
pub struct Request<'a> {
    pub page: u32,
    pub space: u16,
    /// Whether its whole block is allocated, all of it to its application.
    pub whole: bool,
    /// Whether it may get a free frame besides those that the same plan took from other pages.
    pub may_take: bool,
    /// The plan, and frames that it took from other pages, the latest last.
    pub flight: u64,
    pub taken: &'a [u32],
}

impl Request<'_> {
    fn block(&self, store: &Store) -> u32 {
        self.page / store.span
    }

    /// Large frames with holes that may be filled.
    fn with_holes<'b>(&self, store: &'b Store) -> impl Iterator<Item = u32> + 'b {
        let may_take = self.may_take;
        store.numbers().filter(move |&number| may_take && store.holes(number) > 0)
    }

    fn taken_away<'b>(&'b self, store: &'b Store) -> impl Iterator<Item = u32> + 'b {
        self.taken.iter().rev().copied().filter(|&frame| store.content(frame) == Content::Leaving(self.flight))
    }

    /// The lowest free frame, of a large page only if there is no other.
    fn lowest(&self, store: &Store) -> Option<u32> {
        let spared = self.with_holes(store).find(|&number| !store.large(number).coalesced);
        store.hole(spared.or_else(|| self.with_holes(store).next())?)
    }
}

pub fn choose(allocator: Allocator, store: &Store, request: &Request<'_>) -> u32 {
    let frame = match allocator {
        Allocator::FreeList => request.lowest(store).or_else(|| request.taken_away(store).next()),
        Allocator::Chunks => {
            let number = store.home(request.block(store)).or_else(|| store.empty());
            number.map(|number| number * store.span + request.page % store.span)
        }
        Allocator::Cocoa(_) => cocoa(store, request),
    };
    frame.expect("room was made")
}

/// Whether a page wants a large frame for its block or its application, and there is none.
pub fn wants_large(allocator: Allocator, store: &Store, request: &Request<'_>) -> bool {
    let wants = if request.whole { homeless(store, request) } else { of_own(store, request).is_none() };
    matches!(allocator, Allocator::Cocoa(_)) && wants && store.empty().is_none()
}

fn cocoa(store: &Store, request: &Request<'_>) -> Option<u32> {
    let own = |number: u32| store.large(number).holder == Holder::Space(request.space);
    let hole_of = |number: Option<u32>| number.and_then(|number| store.hole(number));
    own_place(store, request)
        .or_else(|| of_own(store, request))
        .or_else(|| hole_of(store.empty().filter(|_| request.may_take)))
        // A hole in a large page of the application, then a place that one of its blocks does not use yet.
        .or_else(|| hole_of(request.with_holes(store).find(|&number| own(number) && store.large(number).coalesced)))
        .or_else(|| {
            hole_of(request.with_holes(store).filter(|&number| own(number)).min_by_key(|&number| store.used(number)))
        })
        .or_else(|| request.taken_away(store).find(|frame| own(frame / store.span)))
        .or_else(|| request.lowest(store))
        .or_else(|| request.taken_away(store).next())
}

/// Whether no page of the block is resident, so that an empty large frame can become its home.
fn homeless(store: &Store, request: &Request<'_>) -> bool {
    let block = request.block(store);
    store.home(block).is_none() && store.held(block) == 0
}

fn own_place(store: &Store, request: &Request<'_>) -> Option<u32> {
    let new = || store.empty().filter(|_| homeless(store, request));
    let number = store.home(request.block(store)).or_else(new)?;
    let frame = number * store.span + request.page % store.span;
    let free = match store.content(frame) {
        Content::Free => request.may_take,
        Content::Leaving(flight) => flight == request.flight,
        Content::Foreign | Content::Page(_) => false,
    };
    Some(frame).filter(|&frame| frame < store.total && request.whole && free)
}

/// A hole in a large frame that the application uses for pages of any block, or in the memory's last large frame if
/// that is incomplete and nobody's.
fn of_own(store: &Store, request: &Request<'_>) -> Option<u32> {
    let own = |&number: &u32| {
        let large = store.large(number);
        large.holder == Holder::Space(request.space) && !large.coalesced && !store.pure(number)
    };
    let incomplete = || {
        let last = store.numbers().last()?;
        let cut = (last + 1) * store.span > store.total;
        Some(last).filter(|_| request.may_take && cut && store.large(last).holder == Holder::Nobody)
    };
    store.hole(request.with_holes(store).find(own).or_else(incomplete)?)
}
