//! Promises that every evictor keeps, and decisions of some of them, without a manager.

use octavo_registry::Choice;
use octavo_units::Bytes;

use super::{EVICTIONS, Eviction};
use crate::contract::geometry::Geometry;
use crate::contract::ids::{HOST_MEMORY, MemoryId, PageId, PageRun};
use crate::contract::masks::MemoryMask;
use crate::pages::Pages;
use crate::pages::residency::Residency;
use crate::pages::state::PageState;

const GPU: MemoryId = MemoryId::gpu(0);
/// First pages of four blocks of 2 MiB.
const BLOCK: [u32; 4] = [0, 512, 1024, 1536];

fn choice(name: &str, options: &str) -> Choice {
    Choice { name: name.to_owned(), options: serde_json::from_str(options).unwrap() }
}

/// All evictors that evict, with their defaults.
fn evictors() -> impl Iterator<Item = (&'static str, Node)> {
    EVICTIONS.names().filter(|&name| name != "none").map(|name| (name, Node::new(name, "{}")))
}

/// A GPU, pages of 4 KiB, and an evictor.
struct Node {
    pages: Pages,
    evictor: Box<dyn Eviction>,
}

impl Node {
    fn new(name: &str, options: &str) -> Self {
        let geometry = Geometry { gpus: 1, page_size: Bytes(4 << 10) };
        let mut pages = Pages::new(geometry, 2);
        pages.allocate(&PageRun { first: PageId(0), count: 2048 }.into());
        let mut evictor = EVICTIONS.build(&choice(name, options), &geometry).unwrap();
        evictor.grow(pages.len());
        Self { pages, evictor }
    }

    fn put(&mut self, page: u32, memory: MemoryId) {
        let before = self.pages.state(PageId(page));
        let after = PageState { owner: memory, resident: MemoryMask::only(memory), ..before };
        self.pages.change_state(PageId(page), &before, &after);
    }

    fn use_page(&mut self, page: u32, times: u32) {
        let residency = Residency { pages: &self.pages, space: None };
        (0..times).for_each(|_| self.evictor.used(GPU, PageId(page), &residency));
    }

    /// Pages come to the GPU, one after another.
    fn bring(&mut self, pages: impl IntoIterator<Item = u32>) {
        for page in pages {
            self.put(page, GPU);
            self.use_page(page, 1);
        }
    }

    fn access(&mut self, page: u32, times: u32) {
        let residency = Residency { pages: &self.pages, space: None };
        self.evictor.accessed(GPU, PageId(page), times, &residency);
    }

    /// A plan that took a page away failed.
    fn restore(&mut self, page: u32) {
        self.put(page, GPU);
        self.evictor.restored(GPU, PageId(page));
    }

    fn victims(&mut self, wanted: u32, all: bool) -> Vec<u32> {
        let mut victims = vec![PageId(2047)];
        let residency = Residency { pages: &self.pages, space: None };
        self.evictor.victims(GPU, wanted, all, &residency, &mut victims);
        victims.into_iter().map(|page| page.0).collect()
    }

    fn knows(&self, page: u32) -> bool {
        self.evictor.knows(GPU, PageId(page))
    }
}

#[test]
fn nothing_leaves_an_empty_memory_whatever_the_list_held_before() {
    for name in EVICTIONS.names() {
        assert_eq!(Node::new(name, "{}").victims(1, false), [0; 0], "{name}");
    }
}

#[test]
fn all_evict_but_one_and_one_alone_is_told_of_accesses() {
    for name in EVICTIONS.names() {
        let evictor = Node::new(name, "{}").evictor;
        assert_eq!((evictor.evicts(), evictor.wants_accesses()), (name != "none", name == "lfu-block"), "{name}");
    }
}

#[test]
fn what_is_gone_when_room_is_asked_for_in_vain_is_forgotten_and_leaves_first_once_it_is_back() {
    for (name, mut node) in evictors() {
        node.bring([BLOCK[1], BLOCK[0]]);
        node.put(BLOCK[0], HOST_MEMORY);
        assert_eq!(node.victims(2, true), [0; 0], "{name}: one page cannot be two");
        assert_eq!((node.knows(BLOCK[0]), node.knows(BLOCK[1])), (false, true), "{name}");
        node.restore(BLOCK[0]);
        let mut both = node.victims(2, true);
        if name == "random-page" {
            both.sort_unstable();
        }
        assert_eq!(both, [BLOCK[0], BLOCK[1]], "{name}");
    }
}

#[test]
fn a_page_that_leaves_by_an_unfinished_plan_keeps_its_turn_if_it_comes_back() {
    for (name, mut node) in evictors() {
        node.bring([BLOCK[1], BLOCK[0]]);
        node.access(BLOCK[0], 5);
        node.put(BLOCK[0], HOST_MEMORY);
        node.pages.set_slot(PageId(BLOCK[0]), Some(7));
        assert_eq!(node.victims(2, true), [0; 0], "{name}: one page cannot be two");
        node.pages.set_slot(PageId(BLOCK[0]), None);
        node.restore(BLOCK[0]);
        let both = node.victims(2, true);
        assert!(both == [BLOCK[1], BLOCK[0]] || name == "random-page", "{name}: {both:?}");
    }
}

#[test]
fn victims_that_come_back_leave_again_in_their_order() {
    for (name, mut node) in evictors() {
        node.bring([BLOCK[1], BLOCK[0]]);
        let both = node.victims(2, true);
        both.iter().rev().for_each(|&page| node.restore(page));
        let next = node.victims(1, true);
        assert!(next == [BLOCK[1]] || name == "random-page", "{name}: {next:?}");
    }
}

/// With few keys, 57,344 uses are numbered before the numbers run out.
#[test]
fn many_uses_of_a_block_forget_no_block_that_is_there() {
    for name in ["lru-page", "lru-block", "sequential-local", "tree-neighborhood"] {
        let mut node = Node::new(name, "{}");
        node.bring([BLOCK[2], BLOCK[1]]);
        node.put(BLOCK[1], HOST_MEMORY);
        node.bring([BLOCK[3]]);
        node.use_page(BLOCK[3], 60_000);
        assert_eq!(BLOCK.map(|page| node.knows(page)), [false, false, true, true], "{name}");
        assert_eq!(node.victims(1, true), [BLOCK[2]], "{name}");
    }
}

#[test]
fn single_pages_leave_and_no_more_than_are_wanted() {
    for name in ["lru-page", "random-page"] {
        let mut node = Node::new(name, "{}");
        node.bring(0..10);
        assert_eq!(node.victims(3, true).len(), 3, "{name}");
    }
}

#[test]
fn sixty_four_kilobytes_leave_once() {
    let mut node = Node::new("sequential-local", "{}");
    node.bring(0..32);
    assert_eq!(node.victims(1, true), (0..16).collect::<Vec<_>>());
}

#[test]
fn sixty_four_kilobytes_of_which_pages_are_missing_stay() {
    for name in ["sequential-local", "tree-neighborhood"] {
        let mut node = Node::new(name, r#"{"whole": true}"#);
        node.bring((32..40).chain(16..32));
        assert_eq!(node.victims(1, true), (16..32).collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn whole_blocks_leave_behind_other_whole_blocks() {
    for name in ["lru-block", "lfu-block"] {
        let mut node = Node::new(name, r#"{"whole": true}"#);
        node.bring(BLOCK[0]..BLOCK[2]);
        assert_eq!(node.victims(513, true), (BLOCK[0]..BLOCK[2]).collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn pages_that_are_there_count_as_accesses_to_their_block() {
    let mut node = Node::new("lfu-block", "{}");
    node.bring([0, 1, 2, BLOCK[1]]);
    assert_eq!(node.victims(1, true), [BLOCK[1]], "one access against three, though it was the last");
}

#[test]
fn what_counts_as_a_use_and_whether_units_are_whole_is_written_if_it_is_no_default() {
    let written = |name: &str, options: &str, option: &str| {
        EVICTIONS.resolve(&choice(name, options)).unwrap().options.get(option).cloned()
    };
    for name in ["lru-page", "lru-block", "sequential-local", "tree-neighborhood"] {
        assert_eq!(written(name, "{}", "recency"), None, "{name}");
        assert_eq!(written(name, r#"{"recency": "access"}"#, "recency"), Some("access".into()), "{name}");
    }
    for name in ["lru-block", "lfu-block", "sequential-local", "tree-neighborhood"] {
        assert_eq!(written(name, "{}", "whole"), None, "{name}");
        assert_eq!(written(name, r#"{"whole": true}"#, "whole"), Some(true.into()), "{name}");
    }
}
