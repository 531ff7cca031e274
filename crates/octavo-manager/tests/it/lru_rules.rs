//! Which pages leave a full memory after victims were requested in vain or came back, and what takes up no room.

use crate::harness::Harness;
use crate::harness::script::{Script, gpus};
use crate::reference::rules::{Eviction, Placement, Prefetch, Remote, Rules};
use octavo_manager::{Access, Fault, HOST_MEMORY, MemoryId, PageId, ProcessorId};

/// Two GPUs; the first holds three pages. Counters move whole groups of 64 KiB, of which only the named pages exist:
/// 0 to 2, 16 to 18, and 32.
fn node() -> Harness {
    let remote = Remote { map_host: true, moves_group: true };
    let capacity = vec![3, 100];
    let rules = Rules { capacity, ..Rules::unlimited(2, Placement::AccessCounter(remote)) };
    let mut harness = Harness::new(&rules);
    [(0, 3), (16, 3), (32, 1)].into_iter().for_each(|(first, count)| harness.allocate(first, count));
    harness.counter(ProcessorId::gpu(0), PageId(16));
    harness.settle();
    harness
}

/// The second GPU maps a page of the first, which is a use of it there.
fn use_page(harness: &mut Harness, page: u32) {
    harness.touch(&[Fault { processor: ProcessorId::gpu(1), page: PageId(page), access: Access::Read }]);
}

/// The only page that leaves the first GPU when it needs one frame.
fn next_victim(harness: &mut Harness) -> u32 {
    harness.counter(ProcessorId::gpu(0), PageId(32));
    harness.settle();
    let left: Vec<u32> = (16..19).filter(|&page| harness.manager.page(PageId(page)).owner == HOST_MEMORY).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    left[0]
}

#[test]
fn a_use_saves_a_page() {
    let mut harness = node();
    use_page(&mut harness, 16);
    harness.settle();
    assert_eq!(next_victim(&mut harness), 17);
}

#[test]
fn a_request_in_vain_changes_no_order() {
    let mut harness = node();
    [17, 18, 16].into_iter().for_each(|page| use_page(&mut harness, page));
    // Now 17 is the oldest. Its plan is not finished, so only two pages could leave where three are wanted.
    harness.finish(1);
    harness.finish(1);
    harness.counter(ProcessorId::gpu(0), PageId(0));
    assert_eq!(harness.manager.page(PageId(0)).owner, HOST_MEMORY, "no room");
    harness.settle();
    assert_eq!(next_victim(&mut harness), 17);
}

#[test]
fn victims_of_a_failed_plan_come_back_in_their_order() {
    let mut harness = node();
    [18, 16, 17].into_iter().for_each(|page| use_page(&mut harness, page));
    harness.settle();
    harness.counter(ProcessorId::gpu(0), PageId(0));
    assert_eq!(harness.manager.page(PageId(16)).owner, HOST_MEMORY, "all three leave");
    harness.fail(0, 0, 0);
    harness.settle();
    assert_eq!(next_victim(&mut harness), 18);
}

#[test]
fn a_page_that_was_leaving_keeps_its_age_if_it_stays_after_all() {
    let mut harness = node();
    [17, 18, 16].into_iter().for_each(|page| use_page(&mut harness, page));
    harness.settle();
    // The second GPU takes 16 to 18, the youngest included, and fails; meanwhile the first looks for room in vain.
    harness.counter(ProcessorId::gpu(1), PageId(16));
    harness.counter(ProcessorId::gpu(0), PageId(32));
    harness.fail(0, 0, 0);
    harness.settle();
    assert_eq!(next_victim(&mut harness), 17);
}

#[test]
fn pages_and_blocks_of_several_failed_plans_keep_their_age() {
    for (page_size, eviction) in [(4 << 10, Eviction::LruPage), (2 << 20, Eviction::LruBlock)] {
        let remote = Remote { map_host: true, moves_group: false };
        let rules = Rules::unlimited(2, Placement::AccessCounter(remote));
        let mut harness = Harness::new(&Rules { page_size, eviction, capacity: vec![2, 9], ..rules });
        harness.allocate(0, 40);
        [0, 16].into_iter().for_each(|page| harness.counter(ProcessorId::gpu(0), PageId(page)));
        harness.settle();
        // Both are about to leave, 0 being the older, when room is asked for in vain.
        [0, 16].into_iter().for_each(|page| harness.counter(ProcessorId::gpu(1), PageId(page)));
        harness.counter(ProcessorId::gpu(0), PageId(32));
        harness.fail(0, 0, 0);
        harness.fail(0, 0, 0);
        harness.settle();
        harness.counter(ProcessorId::gpu(0), PageId(32));
        assert_eq!([0, 16].map(|page| harness.manager.page(PageId(page)).owner), [HOST_MEMORY, MemoryId::gpu(0)]);
        harness.settle();
    }
}

#[test]
fn an_ideal_page_is_local_to_everyone_even_if_it_was_prefetched() {
    let rules = Rules { prefetch: Prefetch::Tree(51), ..Rules::unlimited(3, Placement::Ideal) };
    let mut script = Script::new(&rules, 64);
    script.read(0, 0);
    assert_eq!(script.resident(5), gpus(&[0]), "prefetched");
    script.read(1, 5);
    assert_eq!((script.mapped(5), script.writable(5)), (gpus(&[0, 1, 2]), gpus(&[0, 1, 2])));
    assert_eq!(script.harness.manager.page(PageId(5)).mode, octavo_manager::Mode::Everywhere);
    assert_eq!(script.harness.manager.frames_held(MemoryId::gpu(0)), 14, "two of sixteen are everyone's");
}
