//! GRIT: when a page's scheme is decided, the effect on its mappings, and what its neighbours learn from it.

use crate::common::{Node, choice, placement};
use octavo_manager::{
    CounterNotification, Event, GroupSize, Manager, PageId, PageRun, ProcessorId, Scheme, Step, Topology,
};
use octavo_units::Time;

fn grit(options: &str) -> Node {
    Node::with(&placement("grit", options), &Topology::unlimited(4))
}

fn scheme(node: &Node, page: u32) -> Scheme {
    Scheme::of(&node.manager.page(PageId(page))).unwrap()
}

/// Four faults, the last of which decides.
fn decide(node: &mut Node, page: u32, new: Scheme) -> Vec<String> {
    node.read(0, page);
    node.read(1, page);
    node.read(0, page);
    if new == Scheme::Duplication { node.read(1, page) } else { node.write(1, page) }
}

#[test]
fn four_reads_make_a_page_duplicated_and_the_fourth_is_served_so() {
    let mut node = grit("{}");
    assert_eq!(scheme(&node, 100), Scheme::OnTouch);
    let steps = decide(&mut node, 100, Scheme::Duplication);
    assert_eq!(
        steps,
        ["protect gpu0 100", "copy 100 gpu0 gpu1 duplication", "map gpu1 100 -> gpu1 ro", "wake gpu1 100"]
    );
    assert_eq!(scheme(&node, 100), Scheme::Duplication);
    assert_eq!(node.manager.statistics().named("scheme_changes.on_touch_to_duplication").unwrap(), 1);
}

#[test]
fn one_write_among_four_faults_means_access_counter() {
    let mut node = grit("{}");
    let steps = decide(&mut node, 100, Scheme::AccessCounter);
    assert_eq!(steps, ["map gpu1 100 -> gpu0 rw", "wake gpu1 100"]);
    let notification = CounterNotification { processor: ProcessorId::gpu(1), page: PageId(100) };
    assert_eq!(node.event(Event::Counter(notification))[2], "copy 100 gpu0 gpu1 migration");
}

#[test]
fn the_write_bit_lasts_until_the_decision_and_no_longer() {
    let mut node = grit("{}");
    node.write(0, 100);
    [1, 0, 1].iter().for_each(|&gpu| drop(node.read(gpu, 100)));
    assert_eq!(scheme(&node, 100), Scheme::AccessCounter, "the first fault was a write");
    // Mapping faults under the access-counter scheme count too. Three of four GPUs have to map it again.
    node.read(2, 100);
    node.read(3, 100);
    let notification = |gpu| CounterNotification { processor: ProcessorId::gpu(gpu), page: PageId(100) };
    node.event(Event::Counter(notification(2)));
    node.read(0, 100);
    node.read(1, 100);
    assert_eq!(scheme(&node, 100), Scheme::Duplication, "four reads since");
}

#[test]
fn leaving_duplication_removes_every_replica() {
    let mut node = grit("{}");
    decide(&mut node, 100, Scheme::Duplication);
    node.read(2, 100);
    node.read(3, 100);
    // Third and fourth fault of the new entry: the write decides for the access counter.
    node.write(2, 100);
    assert_eq!(node.manager.page(PageId(100)).resident.len(), 1, "a write collapses");
    let steps = node.read(3, 100);
    assert_eq!(steps, ["map gpu3 100 -> gpu2 rw", "wake gpu3 100"]);
    assert_eq!(scheme(&node, 100), Scheme::AccessCounter);
}

#[test]
fn the_same_scheme_again_changes_nothing() {
    let mut node = grit("{}");
    decide(&mut node, 100, Scheme::AccessCounter);
    node.write(2, 100);
    node.read(3, 100);
    let notification = CounterNotification { processor: ProcessorId::gpu(2), page: PageId(100) };
    node.event(Event::Counter(notification));
    node.read(0, 100);
    node.read(1, 100);
    assert_eq!(node.manager.statistics().named("scheme_changes.unchanged").unwrap(), 1);
}

#[test]
fn five_of_eight_make_a_group_and_its_other_pages_need_no_threshold() {
    let mut node = grit("{}");
    for page in [8, 9, 10, 11] {
        decide(&mut node, page, Scheme::Duplication);
    }
    assert_eq!(scheme(&node, 15), Scheme::OnTouch);
    decide(&mut node, 13, Scheme::Duplication);
    assert_eq!(GroupSize::of(&node.manager.page(PageId(8))), GroupSize::Eight);
    assert_eq!((8..16).filter(|&page| scheme(&node, page) == Scheme::Duplication).count(), 8);
    assert_eq!(node.manager.statistics().named("predictions").unwrap(), 3);
    node.read(0, 15);
    assert_eq!(node.read(1, 15)[1], "copy 15 gpu0 gpu1 duplication", "its second fault");
}

fn group_of_eight(node: &mut Node, base: u32, new: Scheme) {
    (base..base + 5).for_each(|page| drop(decide(node, page, new)));
}

#[test]
fn groups_grow_to_sixty_four_and_split_down_to_the_page_that_differs() {
    let mut node = grit("{}");
    (0..4).for_each(|group| group_of_eight(&mut node, 64 + 8 * group, Scheme::Duplication));
    assert_eq!(GroupSize::of(&node.manager.page(PageId(64))), GroupSize::Eight);
    group_of_eight(&mut node, 120, Scheme::Duplication);
    assert_eq!(GroupSize::of(&node.manager.page(PageId(64))), GroupSize::SixtyFour);
    assert_eq!(GroupSize::of(&node.manager.page(PageId(72))), GroupSize::One, "no longer a base");
    assert_eq!(scheme(&node, 100), Scheme::Duplication);
    assert_eq!(scheme(&node, 63), Scheme::OnTouch);

    node.read(0, 100);
    [1, 2].iter().for_each(|&gpu| drop(node.read(gpu, 100)));
    node.write(3, 100);
    assert_eq!(scheme(&node, 100), Scheme::AccessCounter);
    let group = |page| GroupSize::of(&node.manager.page(PageId(page)));
    assert_eq!([64, 72, 80, 88, 104, 112, 120].map(group), [GroupSize::Eight; 7]);
    assert_eq!((96..104).map(group).collect::<Vec<_>>(), [GroupSize::One; 8]);
    assert_eq!(scheme(&node, 101), Scheme::Duplication);
}

#[test]
fn a_whole_page_table_page_is_the_largest_group() {
    let mut node = grit("{}");
    for sixty_four in 0..5 {
        (0..5).for_each(|group| group_of_eight(&mut node, 512 + 64 * sixty_four + 8 * group, Scheme::AccessCounter));
    }
    assert_eq!(GroupSize::of(&node.manager.page(PageId(512))), GroupSize::FiveHundredTwelve);
    assert_eq!(node.manager.statistics().named("pages_by_scheme.access_counter").unwrap(), 512);
    assert_eq!(scheme(&node, 511), Scheme::OnTouch);
    assert_eq!(scheme(&node, 1024), Scheme::OnTouch);
}

#[test]
fn without_prediction_pages_learn_for_themselves() {
    let mut node = grit(r#"{"prediction": false}"#);
    (0..8).for_each(|page| drop(decide(&mut node, page, Scheme::Duplication)));
    assert_eq!(node.manager.statistics().named("predictions").unwrap(), 0);
    assert_eq!(GroupSize::of(&node.manager.page(PageId(0))), GroupSize::One);
}

#[test]
fn memory_allocated_into_a_group_is_not_part_of_it() {
    let config = placement("grit", "{}");
    let mut node = Node::with(&config, &Topology::unlimited(4));
    node.event(Event::Free(PageRun { first: PageId(6), count: 1 }));
    group_of_eight(&mut node, 0, Scheme::Duplication);
    assert_eq!(GroupSize::of(&node.manager.page(PageId(0))), GroupSize::Eight);
    node.event(Event::Allocate(PageRun { first: PageId(6), count: 1 }.into()));
    node.manager.check().unwrap();
    assert_eq!(GroupSize::of(&node.manager.page(PageId(0))), GroupSize::One);
    assert_eq!(scheme(&node, 6), Scheme::OnTouch);
}

#[test]
fn pages_stay_in_the_pa_cache_until_their_set_is_full() {
    let mut node = grit(r#"{"prediction": false}"#);
    // Five pages of one set of sixteen: the fifth writes the first back.
    (0..5).for_each(|index| drop(node.read(0, index * 16)));
    let counts = |node: &Node| {
        let statistics = node.manager.statistics();
        let table = (statistics.named("pa_table_reads").unwrap(), statistics.named("pa_table_writes").unwrap());
        (statistics.named("pa_cache_hits").unwrap(), statistics.named("pa_cache_misses").unwrap(), table)
    };
    assert_eq!(counts(&node), (0, 5, (5, 1)));
    node.read(1, 0);
    assert_eq!(counts(&node), (0, 6, (6, 2)), "found in the table, in place of another");
    node.read(0, 0);
    assert_eq!(counts(&node), (1, 6, (6, 2)));
    node.read(1, 0);
    assert_eq!(counts(&node), (2, 6, (6, 3)), "decided: the table's copy is deleted");
    assert_eq!(scheme(&node, 0), Scheme::Duplication);
}

/// Metadata accesses of the plan for one fault: (visible, overlapped).
fn charges(options: &str) -> (u32, u32) {
    let mut manager = Manager::new(&placement("grit", options), &Topology::unlimited(1)).unwrap();
    let mut plans = Vec::new();
    manager.handle(Time::ZERO, Event::Allocate(PageRun::one(PageId(0)).into()), &mut plans);
    manager.handle(Time::ZERO, Event::Faults(&[crate::common::fault(0, 0, octavo_manager::Access::Read)]), &mut plans);
    let Step::Consult { accesses, beside_walk } = plans[0].steps[0] else { panic!("nothing is consulted first") };
    (accesses, beside_walk)
}

#[test]
fn table_accesses_overlap_the_walk_unless_told_otherwise() {
    assert_eq!(charges("{}"), (0, 1));
    assert_eq!(charges(r#"{"pa_visible": true}"#), (1, 0));
    assert_eq!(charges(r#"{"pa_cache": false}"#), (0, 2), "read and written back");
}

#[test]
fn the_threshold_can_be_swept() {
    for threshold in 1..=16 {
        let mut node = grit(&format!(r#"{{"fault_threshold": {threshold}}}"#));
        (1..threshold).for_each(|fault| drop(node.read(fault % 2, 5)));
        assert_eq!(scheme(&node, 5), Scheme::OnTouch);
        node.read(threshold % 2, 5);
        assert_eq!(scheme(&node, 5), Scheme::Duplication);
    }
    let config =
        octavo_manager::MemoryConfig { placement: choice("grit", r#"{"fault_threshold": 17}"#), ..Default::default() };
    assert_eq!(config.resolve().unwrap_err().key, "placement.fault_threshold");
}

#[test]
fn a_predicted_page_on_the_host_still_migrates_at_its_first_touch() {
    let mut node = grit("{}");
    group_of_eight(&mut node, 0, Scheme::AccessCounter);
    assert_eq!(scheme(&node, 7), Scheme::AccessCounter);
    assert_eq!(node.read(0, 7)[0], "copy 7 host gpu0 migration");
    assert_eq!(node.read(1, 7), ["map gpu1 7 -> gpu0 rw", "wake gpu1 7"]);
    let mut node = grit(r#"{"host_pages": "map"}"#);
    group_of_eight(&mut node, 0, Scheme::AccessCounter);
    assert_eq!(node.read(0, 7)[0], "map gpu0 7 -> host rw");
}
