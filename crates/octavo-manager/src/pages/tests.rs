//! States, blocks and allocations of neighbouring pages.

use octavo_units::Bytes;

use super::*;

fn pages(page_size: u64) -> Pages {
    Pages::new(Geometry { gpus: 16, page_size: Bytes(page_size) }, 24)
}

fn allocate_on_host(pages: &mut Pages, run: PageRun) {
    pages.allocate(&run.into());
    pages.put(run, HOST_MEMORY);
}

#[test]
fn a_record_is_eight_bytes() {
    assert_eq!(size_of::<Record>(), 8);
}

#[test]
fn states_of_neighbours_do_not_mix() {
    let mut pages = pages(4096);
    allocate_on_host(&mut pages, PageRun { first: PageId(60), count: 10 });
    let all = ProcessorMask((1 << 17) - 1);
    let state = PageState {
        owner: MemoryId(16),
        mode: Mode::Broadcast,
        resident: MemoryMask(all.0 | 1 << 23),
        mapped: ProcessorMask(0b1_0100_0000_0000_1010),
        writable: ProcessorMask(0b1_0100_0000_0000_1000),
    };
    pages.change_state(PageId(64), &pages.state(PageId(64)), &state);
    assert_eq!(pages.state(PageId(64)), state);
    for page in [63, 65].map(PageId) {
        assert_eq!(pages.state(page).resident, MemoryMask::only(HOST_MEMORY));
        assert!(pages.state(page).mapped.is_empty());
    }
}

#[test]
fn a_block_of_sixty_four_kilobyte_pages_is_half_a_word() {
    let mut pages = pages(64 << 10);
    allocate_on_host(&mut pages, PageRun { first: PageId(0), count: 96 });
    let map = pages.resident_in_block(HOST_MEMORY, PageId(40));
    assert_eq!(map.iter().collect::<Vec<_>>(), (0..32).collect::<Vec<_>>());
    assert_eq!(pages.block(PageId(40)), PageRun { first: PageId(32), count: 32 });
}

#[test]
fn extents_end_with_the_allocation_or_the_block() {
    let mut pages = pages(4096);
    pages.allocate(&PageRun { first: PageId(100), count: 500 }.into());
    pages.allocate(&PageRun { first: PageId(10), count: 5 }.into());
    assert_eq!(pages.extent(PageId(12)), PageRun { first: PageId(10), count: 5 });
    assert_eq!(pages.extent(PageId(100)), PageRun { first: PageId(100), count: 412 });
    assert_eq!(pages.extent(PageId(512)), PageRun { first: PageId(512), count: 88 });
    pages.deallocate(PageRun { first: PageId(200), count: 10 });
    assert_eq!(pages.extent(PageId(150)), PageRun { first: PageId(100), count: 100 });
}

#[test]
fn pages_stay_in_their_space_when_a_part_of_their_allocation_goes() {
    let mut pages = pages(4096);
    let allocation = |first, space| {
        let run = PageRun { first: PageId(first), count: 100 };
        Allocation { space: SpaceId(space), ..run.into() }
    };
    pages.allocate(&allocation(100, 2));
    pages.allocate(&allocation(0, 1));
    pages.deallocate(PageRun { first: PageId(120), count: 10 });
    assert_eq!([0, 99, 100, 119, 130].map(|page| pages.space(PageId(page)).0), [1, 1, 2, 2, 2]);
}
