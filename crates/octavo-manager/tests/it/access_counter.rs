//! Access counters: remote until it pays to move.

use crate::common::{Node, placement};
use octavo_manager::{
    Access, CounterNotification, CounterSpec, Event, HOST_MEMORY, MemoryConfig, MemoryId, PageId, Prefix, ProcessorId,
    Refusal, Topology, Why,
};
use octavo_units::{Bytes, Time};

fn notify(node: &mut Node, gpu: usize, page: u32) -> Vec<String> {
    let notification = CounterNotification { processor: ProcessorId::gpu(gpu), page: PageId(page) };
    node.event(Event::Counter(notification))
}

#[test]
fn counters_are_asked_for_by_sixty_four_kilobyte_groups() {
    for (page_size, group_pages) in [(4 << 10, 16), (64 << 10, 1), (2 << 20, 1)] {
        let config = MemoryConfig { page_size: Bytes(page_size), ..placement("access-counter", "{}") };
        let needs = Node::new(&config).manager.needs();
        assert_eq!(needs.counters, Some(CounterSpec { threshold: 256, group_pages }));
    }
}

#[test]
fn a_page_is_mapped_on_the_host_until_its_counter_fires() {
    let mut node = Node::new(&placement("access-counter", "{}"));
    assert_eq!(node.read(0, 20), ["map gpu0 20 -> host rw", "wake gpu0 20"]);
    assert_eq!(node.write(1, 20), ["map gpu1 20 -> host rw", "wake gpu1 20"]);
    let moves = [
        "drain gpu0+gpu1 20",
        "invalidate gpu0+gpu1 20",
        "copy 20 host gpu1 migration",
        "release host 20",
        "map gpu1 20 -> gpu1 rw",
        "clear 16x16",
    ];
    assert_eq!(notify(&mut node, 1, 20), moves);
    assert_eq!(node.read(0, 20), ["map gpu0 20 -> gpu1 rw", "wake gpu0 20"]);
    assert_eq!(node.manager.statistics().counter_migrations, 1);
}

#[test]
fn a_stale_notification_only_clears() {
    let mut node = Node::new(&placement("access-counter", r#"{"host_pages": "migrate"}"#));
    assert_eq!(node.read(0, 3)[0], "copy 3 host gpu0 migration");
    assert_eq!(notify(&mut node, 0, 3), ["clear 0x16"]);
    assert_eq!(node.manager.statistics().counters_ignored, 1);
}

#[test]
fn a_whole_group_can_move_in_runs_of_pages_that_are_alike() {
    let mut node = Node::new(&placement("access-counter", r#"{"moves": "group"}"#));
    node.read(0, 20);
    let steps = notify(&mut node, 0, 20);
    let copies: Vec<&str> = steps.iter().map(String::as_str).filter(|step| step.starts_with("copy")).collect();
    assert_eq!(
        copies,
        ["copy 16x4 host gpu0 migration", "copy 20 host gpu0 migration", "copy 21x11 host gpu0 migration"]
    );
    assert_eq!(node.manager.page(PageId(31)).owner, MemoryId::gpu(0));
}

#[test]
fn a_busy_page_stays_and_its_counter_can_fire_again() {
    let topology = Topology::unlimited(2);
    let mut node = Node::with(&placement("access-counter", "{}"), &topology);
    let mut plans = Vec::new();
    node.manager.handle(Time::ZERO, Event::Faults(&[crate::common::fault(0, 5, Access::Read)]), &mut plans);
    let notification = CounterNotification { processor: ProcessorId::gpu(1), page: PageId(5) };
    node.manager.handle(Time::ZERO, Event::Counter(notification), &mut plans);
    assert_eq!(plans[1].steps.iter().map(crate::common::show).collect::<Vec<_>>(), ["clear 0x16"]);
    node.manager.complete(Time::ZERO, plans[1].id, &mut Vec::new());
    node.manager.complete(Time::ZERO, plans[0].id, &mut Vec::new());
    assert_eq!(node.manager.page(PageId(5)).owner, HOST_MEMORY);
}

#[test]
fn a_failed_migration_lets_the_counter_fire_again() {
    let mut node = Node::new(&placement("access-counter", "{}"));
    node.read(0, 5);
    let mut plans = Vec::new();
    let notification = CounterNotification { processor: ProcessorId::gpu(0), page: PageId(5) };
    node.manager.handle(Time::ZERO, Event::Counter(notification), &mut plans);
    let mut after = Vec::new();
    node.manager.fail(Time::ZERO, &plans[0], Refusal { done: Prefix::NONE, why: Why::Again }, &mut after);
    assert_eq!(after[0].steps.iter().map(crate::common::show).collect::<Vec<_>>(), ["clear 0x16"]);
    assert!(node.manager.page(PageId(5)).mapped.contains(ProcessorId::gpu(0)), "still mapped to the host");
}
