//! Griffin: delayed first touch, and migration by reported counts.

use crate::common::{Node, placement};
use octavo_manager::{AccessCount, Advice, Event, HOST_MEMORY, MemoryId, PageId, PageRun, ProcessorId, ReportSpec};

fn griffin() -> Node {
    Node::new(&placement("griffin-dpc", "{}"))
}

fn report(node: &mut Node, counts: &[(u32, usize, u32)]) -> Vec<String> {
    let count = |&(page, gpu, lines)| AccessCount { processor: ProcessorId::gpu(gpu), page: PageId(page), lines };
    let counts: Vec<AccessCount> = counts.iter().map(count).collect();
    node.event(Event::Report(&counts))
}

#[test]
fn reports_are_asked_for() {
    let spec = ReportSpec { period_cycles: 1000, entry_bytes: 8 };
    assert_eq!(griffin().manager.needs().reports, Some(spec));
}

#[test]
fn the_gpu_that_holds_the_most_waits() {
    let mut node = griffin();
    assert_eq!(node.read(0, 0)[0], "copy 0 host gpu0 migration");
    assert_eq!(node.read(0, 1), ["map gpu0 1 -> host rw", "wake gpu0 1"], "delayed");
    assert_eq!(node.read(1, 1)[0], "drain gpu0 1", "touched by another, which gets it");
    assert_eq!(node.manager.page(PageId(1)).owner, MemoryId::gpu(1));
    assert_eq!(node.read(0, 2)[0], "copy 2 host gpu0 migration", "level again");
    assert_eq!(node.read(1, 2), ["map gpu1 2 -> gpu0 rw", "wake gpu1 2"]);
}

#[test]
fn a_page_moves_to_the_gpu_that_it_is_dedicated_to() {
    let mut node = griffin();
    node.read(0, 0);
    node.read(1, 0);
    assert!(report(&mut node, &[(0, 0, 10), (0, 1, 11)]).is_empty(), "shared");
    let steps = [
        "drain gpu0+gpu1 0",
        "invalidate gpu0+gpu1 0",
        "copy 0 gpu0 gpu1 migration",
        "release gpu0 0",
        "map gpu1 0 -> gpu1 rw",
    ];
    assert_eq!(report(&mut node, &[(0, 0, 1), (0, 1, 20)]), steps);
    assert_eq!(node.manager.statistics().report_migrations, 1);
}

#[test]
fn a_delayed_page_leaves_the_host_at_a_report() {
    let mut node = griffin();
    node.read(0, 0);
    node.read(0, 1);
    assert_eq!(node.manager.page(PageId(1)).owner, HOST_MEMORY);
    assert_eq!(report(&mut node, &[(1, 0, 3)])[2], "copy 1 host gpu0 migration");
}

#[test]
fn at_most_eight_pages_move_and_those_that_gain_most_first() {
    let mut node = griffin();
    for page in 0..20 {
        node.read(0, page);
        node.read(1, page);
    }
    let counts: Vec<_> = (0..20).flat_map(|page| [(page, 0, 100 + page), (page, 1, 0)]).collect();
    let steps = report(&mut node, &counts);
    let moved = node.manager.statistics().report_migrations;
    assert!(moved <= 8 && moved > 0, "{steps:?}");
    assert_eq!(node.manager.page(PageId(19)).owner, MemoryId::gpu(0));
}

#[test]
fn a_page_that_should_be_elsewhere_does_not_move_at_a_report() {
    for (preferred, owner) in [(0, 0), (1, 1)] {
        let mut node = griffin();
        node.read(0, 0);
        node.read(1, 0);
        let advice = Advice { preferred: Some(MemoryId::gpu(preferred)), ..Advice::default() };
        node.event(Event::Advise { pages: PageRun::one(PageId(0)), advice });
        // It is dedicated to GPU 1 from the second report on.
        report(&mut node, &[(0, 0, 10), (0, 1, 11)]);
        report(&mut node, &[(0, 0, 1), (0, 1, 20)]);
        assert_eq!(node.manager.page(PageId(0)).owner, MemoryId::gpu(owner), "preferred on GPU {preferred}");
    }
}

#[test]
fn counts_end_with_their_allocation() {
    let mut node = griffin();
    node.read(1, 0);
    assert!(report(&mut node, &[(0, 1, 1000)]).is_empty(), "its owner's");
    let pages = PageRun { first: PageId(0), count: 2048 };
    node.event(Event::Free(pages));
    node.event(Event::Allocate(pages.into()));
    node.read(0, 0);
    assert!(report(&mut node, &[(0, 0, 10)]).is_empty(), "only the new owner accessed the new page");
}
