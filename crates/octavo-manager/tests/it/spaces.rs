//! Address spaces with strategies of their own.

use crate::common::{choice, fault};
use octavo_manager::{
    Access, Allocation, Event, KernelEnd, Manager, MemoryConfig, MemoryId, PageId, PageRun, Plan, ProcessorMask,
    SpaceConfig, SpaceId, Topology,
};
use octavo_registry::Choice;
use octavo_units::Time;

/// Pages of each address space: a block.
const PAGES: u32 = 512;

struct Node(Manager);

impl Node {
    fn new(config: &MemoryConfig, frames: u32, spaces: &[SpaceConfig]) -> Self {
        let manager = Manager::new(config, &Topology::of(vec![frames; 2])).unwrap();
        let mut manager = manager.with_spaces(config, spaces).unwrap();
        for space in 0..spaces.len() as u16 {
            let run = PageRun { first: PageId(u32::from(space) * PAGES), count: PAGES };
            let event = Event::Allocate(Allocation { space: SpaceId(space), ..run.into() });
            manager.handle(Time::ZERO, event, &mut Vec::new());
        }
        Self(manager)
    }

    /// Pages of its own that spaces write, in one batch; how many plans that takes.
    fn write(&mut self, pages: &[(u32, u32)]) -> usize {
        self.touch(0, pages, Access::Write)
    }

    /// The same of any GPU.
    fn touch(&mut self, gpu: usize, pages: &[(u32, u32)], access: Access) -> usize {
        let faults: Vec<_> = pages.iter().map(|&(space, page)| fault(gpu, space * PAGES + page, access)).collect();
        self.event(Event::Faults(&faults))
    }

    /// How many plans an event takes; all of them are carried out.
    fn event(&mut self, event: Event<'_>) -> usize {
        let mut plans: Vec<Plan> = Vec::new();
        self.0.handle(Time::ZERO, event, &mut plans);
        let made = plans.len();
        while let Some(plan) = plans.pop() {
            self.0.complete(Time::ZERO, plan.id, &mut plans);
        }
        self.0.check().unwrap();
        made
    }

    fn held(&self, space: u32) -> usize {
        let there = |page: &u32| self.0.page(PageId(*page)).resident.contains(MemoryId::gpu(0));
        (space * PAGES..(space + 1) * PAGES).filter(there).count()
    }
}

/// A space's own prefetcher and evictor, by name.
fn own(prefetch: Option<&str>, eviction: Option<&str>) -> SpaceConfig {
    let choice = |name: Option<&str>| name.map(Choice::named);
    SpaceConfig { prefetch: choice(prefetch), eviction: choice(eviction), ..SpaceConfig::default() }
}

#[test]
fn a_space_brings_what_its_own_prefetcher_says() {
    for (common, spaces) in [
        ("none", [own(Some("tree"), None), SpaceConfig::default()]),
        ("tree", [SpaceConfig::default(), own(Some("none"), None)]),
    ] {
        let config = MemoryConfig { prefetch: Choice::named(common), ..MemoryConfig::default() };
        let mut node = Node::new(&config, 1024, &spaces);
        let plans = node.write(&[(0, 3), (0, 40), (1, 3), (1, 40)]);
        assert_eq!([node.held(0), node.held(1)], [32, 2], "64 KiB around each fault, or the page alone");
        assert_eq!(plans, 3, "the first's faults are one service of their block");
    }
}

/// Reads of two GPUs on a page of each space, after a write.
fn spread(node: &mut Node) -> [usize; 2] {
    (0..2).for_each(|space| _ = node.write(&[(space, 3)]));
    (0..2).for_each(|space| _ = node.touch(1, &[(space, 3)], Access::Read));
    [0, 1].map(|space| node.0.page(PageId(space * PAGES + 3)).resident.len())
}

#[test]
fn a_space_has_its_pages_where_its_own_placement_says() {
    let duplication = || SpaceConfig { placement: Some(Choice::named("duplication")), ..SpaceConfig::default() };
    for (spaces, copies) in
        [([duplication(), SpaceConfig::default()], [2, 1]), ([SpaceConfig::default(), duplication()], [1, 2])]
    {
        assert_eq!(spread(&mut Node::new(&MemoryConfig::default(), 1024, &spaces)), copies);
    }
}

/// The first fault decides: a page that is read is duplicated, one that is written is mapped remotely.
#[test]
fn what_two_grits_count_is_named_by_whose_it_is() {
    let grit = |threshold: u32| choice("grit", &format!(r#"{{"fault_threshold": {threshold}}}"#));
    let space = |name: &str, placement| SpaceConfig { name: name.to_owned(), placement, ..SpaceConfig::default() };
    let config = MemoryConfig { placement: grit(1), ..MemoryConfig::default() };
    let spaces = [space("front", Some(grit(2))), space("back", None)];
    let mut node = Node::new(&config, 1024, &spaces);
    // Five of a group of eight: the back's are decided and predict three more, the front's have seen one fault.
    for space in 0..2 {
        (0..5).for_each(|page| _ = node.touch(0, &[(space, page)], Access::Read));
    }
    let statistics = node.0.statistics();
    let front = statistics.placements.get("job.front").unwrap();
    let counts = |path: &str| [statistics.placement.get(path).unwrap(), front.get(path).unwrap()];
    assert_eq!(counts("predictions"), [3, 0]);
    assert_eq!(counts("pages_by_scheme.duplication"), [8, 0]);
    assert_eq!(counts("pages_by_scheme.on_touch"), [504, 512], "each counts its own pages");
    (0..5).for_each(|page| _ = node.touch(1, &[(0, page)], Access::Write));
    let front = node.0.statistics().placements.get("job.front").unwrap().clone();
    assert_eq!([front.get("predictions"), front.get("pages_by_scheme.access_counter")], [Some(3), Some(8)]);
    assert!(node.0.statistics().placements.get("job.back").is_none(), "it has none of its own");
}

/// A group of 64 around pages of the other space leaves its group of eight alone.
#[test]
fn a_group_ends_where_the_pages_of_another_placement_begin() {
    let grit = choice("grit", r#"{"fault_threshold": 1}"#);
    let config = MemoryConfig { placement: grit.clone(), ..MemoryConfig::default() };
    let own = SpaceConfig { name: "own".to_owned(), placement: Some(grit), ..SpaceConfig::default() };
    let manager = Manager::new(&config, &Topology::unlimited(2)).unwrap();
    let mut node = Node(manager.with_spaces(&config, &[SpaceConfig::default(), own]).unwrap());
    for (space, first, count) in [(0, 0, 40), (1, 40, 8)] {
        let run = PageRun { first: PageId(first), count };
        node.event(Event::Allocate(Allocation { space: SpaceId(space), ..run.into() }));
    }
    // Five of each eight are read, the other space's first: the other three follow, and five groups of eight are one.
    for page in (40..45).chain((0..40).filter(|page| page % 8 < 5)) {
        node.event(Event::Faults(&[fault(0, page, Access::Read)]));
    }
    let counts = |node: &Node, path: &str| {
        let statistics = node.0.statistics();
        [statistics.placement.get(path).unwrap(), statistics.placements.get("job.own").unwrap().get(path).unwrap()]
    };
    assert_eq!(counts(&node, "groups_formed"), [6, 1], "five of eight pages and one of 64, and one of eight");
    assert_eq!(counts(&node, "predictions"), [15, 3]);
    // A page of the group is written: it leaves the group, which was still there.
    node.event(Event::Faults(&[fault(1, 41, Access::Write)]));
    assert_eq!(counts(&node, "groups_split"), [0, 1]);
}

/// The end of a kernel of one space reaches the placement of that space: `gps` gives up what the other never read.
#[test]
fn an_end_of_a_kernel_is_told_to_whose_it_was() {
    let gps = SpaceConfig { placement: Some(Choice::named("gps")), ..SpaceConfig::default() };
    let mut node = Node::new(&MemoryConfig::default(), 1024, &[SpaceConfig::default(), gps]);
    (0..2).for_each(|gpu| _ = node.touch(gpu, &[(1, 3)], Access::Write));
    let copies = |node: &Node| node.0.page(PageId(PAGES + 3)).resident.len();
    for (space, left) in [(0, 2), (1, 1)] {
        let end = KernelEnd { space: SpaceId(space), gpus: ProcessorMask::all_gpus(2) };
        node.event(Event::KernelEnd(end));
        assert_eq!(copies(&node), left, "after a kernel of space {space}");
    }
}

#[test]
fn a_space_gives_up_what_its_own_evictor_says() {
    let sharing = Choice::named("quota");
    let config = MemoryConfig { sharing, eviction: Choice::named("lru-page"), ..MemoryConfig::default() };
    for (spaces, left) in [
        // Its block leaves as a whole: there is room for the other's next page, too.
        ([own(None, Some("lru-block")), SpaceConfig::default()], [1, 9]),
        ([SpaceConfig::default(), own(None, Some("sequential-local"))], [8, 1]),
    ] {
        let mut node = Node::new(&config, 16, &spaces);
        (0..8).for_each(|page| _ = node.write(&[(0, page)]));
        (0..8).for_each(|page| _ = node.write(&[(1, page)]));
        assert_eq!([node.held(0), node.held(1)], [8, 8]);
        (0..2).for_each(|space| _ = node.write(&[(space, 20)]));
        let after = [node.held(0), node.held(1)];
        assert_eq!(after, left, "all that leave together, or a page");
    }
}

/// The executor asks whether to report accesses only once, before the space has memory and an evictor.
#[test]
fn a_space_whose_evictor_counts_accesses_asks_for_them_from_the_start() {
    let config = MemoryConfig { sharing: Choice::named("quota"), ..MemoryConfig::default() };
    for (eviction, wanted) in [("lfu-block", true), ("lru-block", false)] {
        let spaces = [SpaceConfig::default(), own(None, Some(eviction)), own(None, Some("lru-block"))];
        let manager = Manager::new(&config, &Topology::of(vec![16])).unwrap();
        let manager = manager.with_spaces(&config, &spaces).unwrap();
        assert_eq!(manager.wants_accesses(), wanted, "{eviction}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let refusal = |config: &MemoryConfig, space: SpaceConfig| {
        let manager = Manager::new(config, &Topology::of(vec![16])).unwrap();
        let error = manager.with_spaces(config, &[space]).err().unwrap();
        (error.key, error.message)
    };
    let (key, message) = refusal(&MemoryConfig::default(), own(None, Some("lru-block")));
    assert_eq!(key, "eviction");
    assert!(message.contains("expected memory.sharing = \"quota\" beside it, found `free-for-all`"), "{message}");
    let quota = MemoryConfig { sharing: Choice::named("quota"), ..MemoryConfig::default() };
    assert!(refusal(&quota, own(None, Some("none"))).1.contains("all jobs evict pages, or none"));
    let quiet = SpaceConfig::default();
    let (key, message) = refusal(&quota, own(Some("tre"), None));
    assert_eq!(key, "prefetch.name");
    assert!(message.contains("did you mean `tree`?"), "{message}");
    let counting = SpaceConfig { placement: Some(choice("access-counter", r#"{"threshold": 9}"#)), ..quiet };
    let grit = MemoryConfig { placement: choice("grit", "{}"), ..MemoryConfig::default() };
    let (key, message) = refusal(&grit, counting);
    assert_eq!(key, "placement");
    assert!(message.contains("a threshold of 256 lines, as another placement has them, found 9"), "{message}");
}
