//! States, blocks and allocations of neighbouring pages.

use octavo_units::Bytes;

use crate::contract::ids::{MAX_GPUS, MAX_PROCESSORS};
use crate::pages::residency::Residency;

use super::*;

fn pages(page_size: u64) -> Pages {
    pages_of(page_size, 16)
}

/// For a node with this many GPUs and all memories that a host can have.
fn pages_of(page_size: u64, gpus: usize) -> Pages {
    Pages::new(Geometry { gpus, page_size: Bytes(page_size) }, MAX_MEMORIES - MAX_PROCESSORS + 1 + gpus)
}

/// GPUs of nodes where all bits of a page fit a word, just do not, and are the most.
const NODES: [usize; 4] = [16, 20, 21, MAX_GPUS];

/// An odd factor with bits all over.
const MIXED: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

fn allocate_on_host(pages: &mut Pages, run: PageRun) {
    pages.allocate(&run.into());
    pages.put(run, HOST_MEMORY);
}

/// A page is in another state from now on.
fn set(pages: &mut Pages, page: PageId, state: &PageState) {
    let before = pages.state(page);
    pages.change_state(page, &before, state);
}

/// A page that these memories hold, the last of them as its owner, and no processor maps.
fn held_by(memories: &[MemoryId], mode: Mode) -> PageState {
    let resident = memories.iter().fold(MemoryMask::EMPTY, |mask, &memory| mask.with(memory));
    let (owner, none) = (*memories.last().unwrap(), ProcessorMask::EMPTY);
    PageState { owner, mode, resident, mapped: none, writable: none }
}

#[test]
fn a_record_is_eight_bytes() {
    assert_eq!(size_of::<Record>(), 8);
}

#[test]
fn states_of_neighbours_do_not_mix() {
    for gpus in NODES {
        let mut pages = pages_of(4096, gpus);
        allocate_on_host(&mut pages, PageRun { first: PageId(60), count: 10 });
        let last = ProcessorId::gpu(gpus - 1);
        let state = PageState {
            owner: last.memory(),
            mode: Mode::Broadcast,
            resident: MemoryMask::all_gpus(gpus).with(HOST_MEMORY).with(MemoryId::host(7)),
            mapped: ProcessorMask(0b1010).with(last),
            writable: ProcessorMask(0b1000).with(last),
        };
        pages.change_state(PageId(64), &pages.state(PageId(64)), &state);
        assert_eq!(pages.state(PageId(64)), state);
        for page in [63, 65].map(PageId) {
            assert_eq!(pages.state(page).resident, MemoryMask::only(HOST_MEMORY));
            assert!(pages.state(page).mapped.is_empty());
        }
    }
}

#[test]
fn a_run_that_is_read_at_once_is_what_its_pages_are_one_by_one() {
    for gpus in NODES {
        let mut pages = pages_of(4096, gpus);
        allocate_on_host(&mut pages, PageRun { first: PageId(60), count: 140 });
        let all = ProcessorMask::all_gpus(gpus).with(HOST);
        for page in (61..200_u32).step_by(3) {
            let further = MemoryId::host(1 + page as usize % 2);
            let mut state = held_by(&[MemoryId((page as usize % all.len()) as u8), further], Mode::Broadcast);
            state.mapped = ProcessorMask(u128::from(page).wrapping_mul(MIXED) >> 8).intersection(all);
            state.writable = ProcessorMask(state.mapped.0 & (u128::MAX / 3));
            set(&mut pages, PageId(page), &state);
            assert_eq!(pages.state(PageId(page)), state);
        }
        // From within one group of 64, over another, and beyond what was ever allocated.
        let run = PageRun { first: PageId(50), count: 1000 };
        let one_by_one: Vec<PageView> = run.iter().map(|page| pages.view(page)).collect();
        assert_eq!(pages.views(run).collect::<Vec<_>>(), one_by_one);
        let states = (0..pages.len() as u32).map(|page| (PageId(page), pages.state(PageId(page))));
        assert!(pages.states().eq(states));
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
fn what_left_is_counted_by_runs_of_neighbours_in_each_block() {
    let mut pages = pages(4096);
    allocate_on_host(&mut pages, PageRun { first: PageId(0), count: 2048 });
    let counts = |pages: &Pages| [0, 600, 1100, 1600].map(|page| pages.departures(PageId(page)));
    pages.note_left(&[509, 510, 511, 512].map(PageId));
    assert_eq!(counts(&pages), [1, 1, 0, 0]);
    pages.note_left(&[1030, 1031, 1033].map(PageId));
    assert_eq!(counts(&pages), [1, 1, 2, 0]);
}

#[test]
fn a_page_has_a_bit_for_each_memory_and_two_for_each_processor() {
    let mut planes = Planes::new(3, 5);
    planes.grow(512);
    let bits = planes.bytes() * 8 / 512;
    assert!((5 + 2 * 3..2 * (5 + 2 * 3)).contains(&bits), "{bits} bits a page");
}

#[test]
fn copies_in_a_memory_are_counted_until_they_leave() {
    let mut pages = pages(4096);
    let (run, gpu) = (PageRun { first: PageId(8), count: 4 }, MemoryId::gpu(1));
    allocate_on_host(&mut pages, run);
    set(&mut pages, PageId(8), &held_by(&[HOST_MEMORY, gpu], Mode::Plain));
    assert_eq!([HOST_MEMORY, gpu].map(|memory| pages.residents(memory)), [4, 1]);
    set(&mut pages, PageId(9), &held_by(&[gpu], Mode::Plain));
    assert_eq!([HOST_MEMORY, gpu].map(|memory| pages.residents(memory)), [3, 2]);
    run.iter().for_each(|page| pages.forget(page));
    assert_eq!([HOST_MEMORY, gpu].map(|memory| pages.residents(memory)), [0, 0]);
}

#[test]
fn all_memories_of_the_host_are_near_it() {
    let mut pages = pages(4096);
    let run = PageRun { first: PageId(8), count: 8 };
    pages.allocate(&run.into());
    (0..8).for_each(|index| pages.put(PageRun::one(PageId(8 + index)), MemoryId::host(index as usize)));
    let near = pages.resident_near(HOST, PageId(8));
    assert_eq!(near.iter().collect::<Vec<_>>(), (8..16).collect::<Vec<_>>());
}

#[test]
fn a_page_is_backed_by_a_copy_on_the_host_beside_a_gpus() {
    let [one, other, host] = [MemoryId::gpu(0), MemoryId::gpu(1), MemoryId::host(1)];
    let holders: [&[MemoryId]; 4] = [&[one], &[host], &[one, other], &[host, other]];
    let backed = holders.map(|memories| held_by(memories, Mode::Plain).backed());
    assert_eq!(backed, [false, false, false, true]);
}

#[test]
fn what_a_gpu_keeps_of_a_block_is_told_apart_by_whether_the_host_has_it() {
    let mut pages = pages(64 << 10);
    let gpu = MemoryId::gpu(1);
    allocate_on_host(&mut pages, PageRun { first: PageId(0), count: 64 });
    set(&mut pages, PageId(2), &held_by(&[gpu], Mode::Spare));
    set(&mut pages, PageId(33), &held_by(&[gpu], Mode::Spare));
    set(&mut pages, PageId(34), &held_by(&[HOST_MEMORY, gpu], Mode::Spare));
    set(&mut pages, PageId(35), &held_by(&[gpu], Mode::Plain));
    assert_eq!(pages.kept_in_block(gpu, 1, false), [PageId(33)]);
    assert_eq!(pages.kept_in_block(gpu, 1, true), [PageId(34)]);
    assert_eq!(pages.kept_in_block(gpu, 0, false), [PageId(2)]);
    assert!(pages.kept_in_block(MemoryId::gpu(0), 1, false).is_empty());
}

static SEEN: Attribute = Attribute { name: "seen", shift: 0, width: 1, values: &["no", "yes"], events: &["yes"] };
static NOTE: Attribute = Attribute { name: "note", shift: 1, width: 2, values: &[], events: &[] };
static CLAIMS: [&Attribute; 2] = [&SEEN, &NOTE];

#[test]
fn what_the_only_placement_notes_of_a_page_to_come_is_lost_once_there_are_two() {
    let mut pages = pages(4096);
    let (only, there, to_come) = (Decider::MANAGED, PageId(3), PageId(9));
    pages.claim(only, &CLAIMS).unwrap();
    pages.allocate(&PageRun { first: PageId(0), count: 4 }.into());
    [there, to_come].into_iter().for_each(|page| pages.set_attribute(only, page, &NOTE, 2));
    assert_eq!([there, to_come].map(|page| pages.attribute(only, page, &NOTE)), [2, 2]);
    pages.claim(Decider::SYSTEM, &CLAIMS).unwrap();
    [there, to_come].into_iter().for_each(|page| pages.set_attribute(only, page, &NOTE, 3));
    assert_eq!([there, to_come].map(|page| pages.attribute(only, page, &NOTE)), [3, 0]);
    assert_eq!(pages.attribute(Decider::SYSTEM, there, &NOTE), 0, "it does not decide about that");
}

#[test]
fn the_placement_of_managed_memory_counts_all_pages_but_those_of_spaces_with_their_own() {
    let mut pages = pages(4096);
    let own = Decider::at(2);
    [Decider::MANAGED, own].into_iter().for_each(|decider| pages.claim(decider, &CLAIMS).unwrap());
    pages.set_decider(SpaceId(1), own);
    for (first, count, space, kind) in [(0, 10, 0, Kind::Managed), (16, 6, 1, Kind::Managed), (32, 4, 0, Kind::System)]
    {
        let run = PageRun { first: PageId(first), count };
        pages.allocate(&Allocation { space: SpaceId(space), kind, ..run.into() });
    }
    pages.set_attribute(Decider::MANAGED, PageId(5), &SEEN, 1);
    pages.set_attribute(own, PageId(17), &SEEN, 1);
    assert_eq!(pages.by_value(Decider::MANAGED, &SEEN), [10 + 4 - 1, 1]);
    assert_eq!(pages.by_value(own, &SEEN), [6 - 1, 1]);
}

#[test]
fn managed_memory_is_told_from_all_other() {
    let mut pages = pages(4096);
    let (managed, system) = (PageRun { first: PageId(4), count: 2 }, PageRun { first: PageId(8), count: 2 });
    pages.allocate(&managed.into());
    assert!(pages.is_managed(PageId(4)) && pages.all_managed());
    assert!(!pages.is_managed(PageId(6)), "nobody's");
    pages.allocate(&Allocation { kind: Kind::System, ..system.into() });
    assert!(!pages.is_managed(PageId(8)) && !pages.all_managed());
}

#[test]
fn pages_of_the_operating_system_on_gpus_are_counted() {
    let mut pages = pages(4096);
    let (run, gpu) = (PageRun { first: PageId(8), count: 2 }, MemoryId::gpu(1));
    pages.allocate(&Allocation { kind: Kind::System, ..run.into() });
    pages.put(run, HOST_MEMORY);
    for page in run.iter() {
        let before = pages.state(page);
        pages.change_state(page, &before, &PageState { owner: gpu, resident: MemoryMask::only(gpu), ..before });
    }
    assert_eq!(pages.system_held(gpu), 2);
    let before = pages.state(run.first);
    let home = PageState { owner: HOST_MEMORY, resident: MemoryMask::only(HOST_MEMORY), ..before };
    pages.change_state(run.first, &before, &home);
    assert_eq!(pages.system_held(gpu), 1);
}

#[test]
fn large_pages_are_mapped_alike_in_all_their_words() {
    let mut pages = pages(4096);
    let run = PageRun { first: PageId(512), count: 512 };
    allocate_on_host(&mut pages, run);
    let (gpu, own) = (ProcessorId::gpu(1), ProcessorMask::only(ProcessorId::gpu(1)));
    let memory = gpu.memory();
    let at = |writable| PageState {
        owner: memory,
        mode: Mode::Plain,
        resident: MemoryMask::only(memory),
        mapped: own,
        writable,
    };
    run.iter().for_each(|page| set(&mut pages, page, &at(ProcessorMask::EMPTY)));
    assert!(pages.mapped_alike(gpu, run) && !pages.mapped_alike(ProcessorId::gpu(0), run));
    set(&mut pages, PageId(800), &at(own));
    assert!(!pages.mapped_alike(gpu, run), "one page can be written");
    assert!(pages.mapped_alike(gpu, PageRun { first: PageId(832), count: 64 }));
    assert!(!pages.mapped_alike(gpu, PageRun { first: PageId(768), count: 64 }));
    set(&mut pages, PageId(800), &PageState { mapped: ProcessorMask::EMPTY, ..at(ProcessorMask::EMPTY) });
    assert!(!pages.mapped_alike(gpu, run), "one page is not mapped");
    set(&mut pages, PageId(800), &PageState { owner: HOST_MEMORY, resident: MemoryMask::only(HOST_MEMORY), ..at(own) });
    assert!(!pages.mapped_alike(gpu, PageRun::one(PageId(800))), "it is mapped on the host");
    run.iter().for_each(|page| set(&mut pages, page, &at(own)));
    assert!(pages.mapped_alike(gpu, run));
    set(&mut pages, PageId(1023), &PageState { mapped: ProcessorMask::EMPTY, ..at(ProcessorMask::EMPTY) });
    assert!(!pages.mapped_alike(gpu, run), "the last page is not mapped");
    assert!(pages.mapped_alike(gpu, PageRun { first: PageId(960), count: 16 }));
}

#[test]
fn evictors_see_neither_what_is_kept_for_others_nor_what_is_the_operating_systems() {
    let mut pages = pages(4096);
    let gpu = MemoryId::gpu(1);
    let (managed, device) = (PageRun { first: PageId(512), count: 8 }, PageRun { first: PageId(520), count: 4 });
    allocate_on_host(&mut pages, managed);
    let there = PageState {
        owner: gpu,
        mode: Mode::Plain,
        resident: MemoryMask::only(gpu),
        mapped: ProcessorMask::EMPTY,
        writable: ProcessorMask::EMPTY,
    };
    for page in managed.iter() {
        let before = pages.state(page);
        let mode = if page.0 < 514 { Mode::Spare } else { Mode::Plain };
        pages.change_state(page, &before, &PageState { mode, ..there });
    }
    let seen = |pages: &Pages| -> Vec<u32> {
        Residency { pages, space: None }.resident_in_block(gpu, PageId(600)).iter().collect()
    };
    assert_eq!(seen(&pages), [2, 3, 4, 5, 6, 7]);
    pages.allocate(&Allocation { kind: Kind::Device, ..device.into() });
    pages.put(device, gpu);
    assert_eq!(seen(&pages), [2, 3, 4, 5, 6, 7], "device memory stays");
    let other = Residency { pages: &pages, space: Some(SpaceId(1)) };
    assert!(other.resident_in_block(gpu, PageId(600)).is_empty());
}

#[test]
fn allocations_are_in_order_whatever_the_order_they_came_in() {
    let mut pages = pages(4096);
    for first in [300, 100, 500, 200] {
        pages.allocate(&PageRun { first: PageId(first), count: 50 }.into());
    }
    let firsts: Vec<u32> = pages.managed().iter().map(|run| run.first.0).collect();
    assert_eq!(firsts, [100, 200, 300, 500]);
    assert_eq!(pages.extent(PageId(510)), PageRun { first: PageId(500), count: 12 });
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
