//! Pages whose content is not needed any more.

use octavo_manager::{Event, MemoryConfig, PageId, PageRun, Topology};
use octavo_units::Time;

use crate::common::{Node, choice, fault, placement};
use octavo_manager::Access;

fn run(first: u32, count: u32) -> PageRun {
    PageRun { first: PageId(first), count }
}

#[test]
fn discarded_pages_leave_without_a_copy_and_come_without_one() {
    let mut node = Node::with(&placement("on-touch", "{}"), &Topology::of(vec![2]));
    node.write(0, 5);
    let steps = node.event(Event::Discard(run(4, 3)));
    assert_eq!(steps[..2], ["release host 4", "drain gpu0 5"], "on the host, then on the GPU");
    assert_eq!(steps[2..], ["invalidate gpu0 5", "release gpu0 5", "release host 6"]);
    assert!((4..7).all(|page| !node.manager.page(PageId(page)).populated()));
    assert_eq!(node.manager.statistics().discarded, 3);
    assert!(node.event(Event::Discard(run(4, 3))).is_empty(), "there is nothing left to discard");
    let again = node.write(0, 5);
    assert!(again.iter().any(|step| step.starts_with("populate")), "{again:?}");
    assert!(!again.iter().any(|step| step.starts_with("copy")), "{again:?}");
    [6, 7].into_iter().for_each(|page| drop(node.write(0, page)));
    assert_eq!(node.manager.statistics().evictions_written, 1, "of three pages, one has to go");
    node.event(Event::Discard(run(6, 2)));
    [8, 9].into_iter().for_each(|page| drop(node.write(0, page)));
    assert_eq!(node.manager.statistics().evictions_written, 1, "discarded pages have made room");
    node.manager.check().unwrap();
}

#[test]
fn every_copy_of_a_page_is_discarded() {
    let mut node = Node::new(&placement("duplication", "{}"));
    [0, 1].into_iter().for_each(|gpu| drop(node.read(gpu, 5)));
    assert!(node.manager.page(PageId(5)).replicated());
    let steps = node.event(Event::Discard(run(5, 1)));
    assert_eq!(steps.iter().filter(|step| step.starts_with("release")).count(), 2, "{steps:?}");
    assert!(!node.manager.page(PageId(5)).populated());
}

#[test]
fn busy_pages_are_passed_over_and_blocks_are_plans_of_their_own() {
    let config = MemoryConfig { prefetch: choice("none", "{}"), ..placement("on-touch", "{}") };
    let mut node = Node::new(&config);
    let mut plans = Vec::new();
    node.manager.handle(Time::ZERO, Event::Faults(&[fault(0, 510, Access::Read)]), &mut plans);
    node.manager.handle(Time::ZERO, Event::Discard(run(508, 8)), &mut plans);
    assert_eq!(plans.len(), 3, "the fault, and two blocks");
    assert_eq!(node.manager.statistics().discarded, 7);
    assert!(node.manager.page(PageId(510)).populated());
    node.manager.check().unwrap();
}
