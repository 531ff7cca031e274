//! Which frame a page gets, in memories with large frames of four base frames.

use octavo_registry::Choice;
use octavo_units::Bytes;

use super::*;
use crate::contract::ids::{PageId, ProcessorId, SpaceId};
use crate::memories::content::Content;
use crate::memories::store::FrameStore;

const OWN: SpaceId = SpaceId(0);
const OTHER: SpaceId = SpaceId(1);
const GPU: ProcessorId = ProcessorId::gpu(0);
/// The plan that asks.
const SLOT: u32 = 7;

/// A memory of this many base frames, and which page of which space is in which of them.
fn memory(frames: u32, pages: &[(u32, SpaceId, u32)]) -> FrameStore {
    let mut memory = FrameStore::new(4, frames);
    memory.grow(64);
    while memory.add_large_frame() {}
    pages.iter().for_each(|&(page, space, frame)| _ = memory.put(PageId(page), space, frame, true));
    memory
}

/// Another page, of an incomplete block.
fn request() -> FrameRequest<'static> {
    let (page, space, processor) = (PageId(41), OWN, GPU);
    FrameRequest { page, space, whole: false, may_take: true, processor, slot: SLOT, spare: &[] }
}

fn chosen(allocator: &str, memory: &FrameStore, request: &FrameRequest<'_>) -> Option<u32> {
    let geometry = Geometry { gpus: 1, page_size: Bytes(4 << 10) };
    ALLOCATORS.build(&Choice::named(allocator), &geometry).unwrap().choose(memory, request)
}

#[test]
fn what_the_last_frame_has_is_used_before_a_large_frame_that_is_whole() {
    assert_eq!(chosen("cocoa", &memory(10, &[]), &request()), Some(8));
    assert_eq!(chosen("cocoa", &memory(8, &[]), &request()), Some(0), "both are whole");
}

#[test]
fn a_block_that_has_begun_elsewhere_gets_no_large_frame_to_itself() {
    let memory = memory(12, &[(8, OWN, 1)]);
    let whole = |page| FrameRequest { page: PageId(page), whole: true, ..request() };
    assert_eq!(chosen("cocoa", &memory, &whole(9)), Some(0), "beside the other page of its block");
    assert_eq!(chosen("cocoa", &memory, &whole(14)), Some(4 + 2), "the first page of its block");
}

#[test]
fn a_hole_of_an_own_large_page_is_filled_before_places_of_blocks() {
    let pages = [(0, OWN, 0), (1, OWN, 1), (2, OWN, 2), (3, OWN, 3), (4, OWN, 4)];
    let mut memory = memory(8, &pages);
    memory.set_coalesced(0, true);
    memory.replace(2, Content::Free);
    assert_eq!(chosen("cocoa", &memory, &request()), Some(2));
}

#[test]
fn the_block_with_the_fewest_pages_gives_up_a_place() {
    let pages = [(0, OWN, 0), (1, OWN, 1), (2, OWN, 2), (4, OWN, 4), (8, OWN, 8), (9, OWN, 9), (12, OTHER, 12)];
    let memory = memory(16, &pages);
    assert_eq!(chosen("cocoa", &memory, &request()), Some(5));
    let none_free = FrameRequest { may_take: false, ..request() };
    assert_eq!(chosen("cocoa", &memory, &none_free), None);
}

#[test]
fn a_page_replaces_one_of_its_own_space_if_it_can() {
    let mut memory = memory(8, &[(0, OWN, 0), (1, OWN, 1), (4, OTHER, 4)]);
    [1, 4].into_iter().for_each(|frame| memory.replace(frame, Content::Leaving(SLOT)));
    let taken = [(GPU, 1), (GPU, 4)];
    let of = |space| FrameRequest { space, may_take: false, spare: &taken, ..request() };
    let found = [OWN, OTHER, SpaceId(2)].map(|space| chosen("cocoa", &memory, &of(space)));
    assert_eq!(found, [Some(1), Some(4), Some(4)], "the latest, if none was its own");
}

#[test]
fn large_pages_are_spared_as_long_as_possible() {
    let pages = [(0, OTHER, 0), (1, OTHER, 1), (2, OTHER, 2), (3, OTHER, 3), (4, OTHER, 4)];
    let mut memory = memory(8, &pages);
    memory.set_coalesced(0, true);
    memory.replace(2, Content::Free);
    for allocator in ["cocoa", "free-list"] {
        assert_eq!(chosen(allocator, &memory, &request()), Some(5), "{allocator}");
    }
    memory.set_coalesced(1, true);
    assert_eq!(chosen("free-list", &memory, &request()), Some(2), "both are large pages");
}
