//! Room that comes later, or never, where idle GPUs keep victims: by hand.

use crate::common::{choice, fault, show};
use octavo_manager::{
    Access, Allocation, Event, HOST_MEMORY, Kind, Manager, MemoryConfig, MemoryId, PageId, PageRun, Plan, ProcessorId,
    SpaceId, Topology, Wait,
};
use octavo_registry::Choice;
use octavo_units::{Bytes, Time};

/// GPUs with this many pages of this many bytes that lend all they have, and a host with room for this many.
struct Node {
    manager: Manager,
    /// Plans without an acknowledgement.
    plans: Vec<Plan>,
}

impl Node {
    fn new(page_size: u64, gpus: &[u32], host: u32) -> Self {
        Self::with(&lending(page_size, r#"{"reserve": "0B"}"#), gpus, host)
    }

    fn with(config: &MemoryConfig, gpus: &[u32], host: u32) -> Self {
        let mut topology = Topology::of(gpus.to_vec());
        topology.memories[0].capacity_pages = host;
        let mut node = Self { manager: Manager::new(config, &topology).unwrap(), plans: Vec::new() };
        node.allocate(0, 64, Kind::Managed, None);
        node
    }

    fn allocate(&mut self, first: u32, count: u32, kind: Kind, gpu: Option<usize>) {
        let run = PageRun { first: PageId(first), count };
        let gpu = gpu.map(ProcessorId::gpu);
        self.happen(Event::Allocate(Allocation { kind, gpu, ..run.into() }));
    }

    fn happen(&mut self, event: Event<'_>) {
        self.manager.handle(Time::ZERO, event, &mut self.plans);
        self.manager.check().unwrap();
    }

    fn write(&mut self, gpu: usize, page: u32) {
        self.happen(Event::Faults(&[fault(gpu, page, Access::Write)]));
    }

    /// A GPU writes pages one after another, and all plans are acknowledged.
    fn writes(&mut self, gpu: usize, pages: impl IntoIterator<Item = u32>) {
        for page in pages {
            self.write(gpu, page);
            self.settle();
        }
    }

    /// Acknowledges all plans; work that nothing waits for is not begun.
    fn settle(&mut self) {
        while !self.plans.is_empty() {
            let plan = self.plans.remove(0);
            self.manager.complete(Time::ZERO, plan.id, &mut self.plans);
            self.manager.check().unwrap();
        }
    }

    fn work_ahead(&mut self) {
        self.manager.work_ahead(Time::ZERO, &mut self.plans);
    }

    /// Steps of the plans with one of these words, which are about data.
    fn steps(&self) -> Vec<String> {
        let data = |step: &String| ["copy", "populate", "release gpu"].iter().any(|word| step.starts_with(word));
        let steps = self.plans.iter().flat_map(|plan| &plan.steps).map(show).filter(data);
        steps.filter(|step| !step.starts_with("release gpu0")).collect()
    }
}

fn lending(page_size: u64, options: &str) -> MemoryConfig {
    let (demotion, eviction) = (choice("spare-memory", options), Choice::named("lru-block"));
    MemoryConfig { demotion, page_size: Bytes(page_size), eviction, ..MemoryConfig::default() }
}

fn run(first: u32, count: u32) -> PageRun {
    PageRun { first: PageId(first), count }
}

#[test]
fn device_memory_waits_for_frames_of_blocks_that_await_their_copy() {
    let mut node = Node::new(2 << 20, &[1, 3], u32::MAX);
    for page in [0, 1, 2] {
        node.write(0, page);
        node.settle();
    }
    // GPU 1 keeps pages 0 and 1 without a copy on the host, and has one free frame.
    node.allocate(3000, 2, Kind::Device, Some(1));
    assert_eq!(node.steps(), ["populate 3000 gpu1 as it is"]);
    let run = PageRun { first: PageId(3000), count: 2 };
    assert!(node.manager.out_of_memory().is_none() && node.manager.awaits_frames(run));
    assert!(!node.manager.awaits_frames(PageRun::one(PageId(3000))));
    // Who touches what is not there yet waits with it.
    node.write(1, 3001);
    node.settle();
    node.work_ahead();
    assert_eq!(node.steps(), ["copy 0 gpu1 host write-back"]);
    let write_back = node.plans.remove(0);
    node.manager.complete(Time::ZERO, write_back.id, &mut node.plans);
    assert_eq!(node.steps(), ["release gpu1 0", "populate 3001 gpu1 as it is"]);
    assert!(!node.manager.awaits_frames(run));
    let laid_out = node.plans.remove(0);
    node.manager.complete(Time::ZERO, laid_out.id, &mut node.plans);
    assert_eq!(node.plans.iter().flat_map(|plan| &plan.steps).map(show).collect::<Vec<_>>(), ["wake gpu1 3001"]);
    // What will never have room is out of memory at once: page 1 is in the last frame that can be had.
    node.allocate(4000, 2, Kind::Device, Some(1));
    assert_eq!(node.manager.out_of_memory().map(|out| (out.memory, out.page.0)), Some((MemoryId::gpu(1), 4000)));
}

#[test]
fn device_memory_that_is_freed_waits_no_more() {
    let mut node = Node::new(2 << 20, &[1, 2], u32::MAX);
    for page in [0, 1, 2] {
        node.write(0, page);
        node.settle();
    }
    node.allocate(3000, 2, Kind::Device, Some(1));
    let run = PageRun { first: PageId(3000), count: 2 };
    assert!(node.manager.awaits_frames(run) && node.plans.is_empty());
    let first = node.manager.starving().unwrap();
    assert_eq!((first.out.page.0, first.awaiting), (3000, 2));
    node.happen(Event::Free(run));
    assert!(!node.manager.awaits_frames(run) && node.manager.starving().is_none());
    node.work_ahead();
    node.settle();
    assert_eq!(node.manager.page(PageId(3000)).resident.iter().count(), 0);
}

#[test]
fn device_memory_that_is_freed_in_part_waits_for_the_rest() {
    let mut node = Node::new(2 << 20, &[1, 4], u32::MAX);
    node.writes(0, 0..5);
    node.allocate(3000, 4, Kind::Device, Some(1));
    node.happen(Event::Free(run(3001, 1)));
    let awaited = [run(3000, 1), run(3002, 2), run(2999, 2)].map(|run| node.manager.awaits_frames(run));
    let others = [run(3001, 1), run(2998, 2), run(3004, 1)].map(|run| node.manager.awaits_frames(run));
    assert_eq!((awaited, others), ([true; 3], [false; 3]));
    node.happen(Event::Free(run(3000, 1)));
    assert!(node.plans.is_empty(), "there is nothing to be done about it");
    assert_eq!(node.manager.starving().unwrap().out.page, PageId(3002));
}

#[test]
fn each_application_waits_for_what_is_its_own() {
    let mut node = Node::new(2 << 20, &[1, 1], u32::MAX);
    let own = Allocation { space: SpaceId(1), ..run(100, 2).into() };
    node.happen(Event::Allocate(own));
    // GPU 1 is full: it keeps page 0, of which the host has no copy.
    node.writes(0, 0..2);
    node.allocate(3000, 1, Kind::Device, Some(1));
    node.write(1, 100);
    let waits = |node: &Node| [0, 1, 2].map(|space| node.manager.first_wait(SpaceId(space)));
    let found = waits(&node);
    assert_eq!((found[0], found[2]), (Some(Wait::Page(PageId(3000))), None));
    assert!(matches!(found[1], Some(Wait::Fault(_))), "{found:?}");
    node.write(1, 101);
    assert_eq!(waits(&node), found, "what waits longest is still the same");
}

#[test]
fn copies_that_the_host_has_are_not_awaited() {
    let mut node = Node::new(64 << 10, &[1, 3], u32::MAX);
    // GPU 1 keeps page 0, which the host gets a copy of, and then page 32, and page 1 of the same block as page 0.
    node.writes(0, [0, 32]);
    node.work_ahead();
    node.settle();
    node.writes(0, [1, 33]);
    node.write(1, 40);
    let starving = node.manager.starving().unwrap();
    assert_eq!((starving.out.memory, starving.awaiting), (MemoryId::gpu(1), 2));
}

#[test]
fn who_waits_for_a_page_that_comes_or_goes_does_not_starve() {
    // In the only frame of GPU 0, page 0 is about to come, or about to leave for GPU 1.
    for leaves in [false, true] {
        let mut node = Node::new(2 << 20, &[1, 1], u32::MAX);
        node.write(0, 0);
        if leaves {
            node.settle();
            node.write(1, 0);
        }
        node.write(0, 5);
        assert_eq!((node.manager.starving(), node.manager.out_of_memory()), (None, None), "{leaves}");
        node.settle();
        assert_eq!(node.manager.page(PageId(5)).owner, MemoryId::gpu(0), "{leaves}");
    }
}

#[test]
fn who_waits_for_pages_that_are_being_staged_is_not_out_of_memory() {
    let prefetch = choice("multi-path", r#"{"blocks": 1, "stride": 1}"#);
    let eviction = Choice::named("none");
    let config = MemoryConfig { prefetch, eviction, ..lending(64 << 10, r#"{"reserve": "0B"}"#) };
    let mut node = Node::with(&config, &[100, 32], u32::MAX);
    node.allocate(3000, 1, Kind::Managed, None);
    // The second block is on its way to GPU 1, which has no room for more, and evicts nothing.
    node.write(0, 0);
    node.write(1, 3000);
    assert!(node.manager.out_of_memory().is_none());
    node.settle();
    assert_eq!(node.manager.page(PageId(3000)).owner, MemoryId::gpu(1), "what was staged made room");
}

#[test]
fn a_gpu_that_shrinks_needs_room_on_the_host() {
    let mut node = Node::new(2 << 20, &[3], 64);
    let shrink = |node: &mut Node, pages| {
        let capacity = Event::Capacity { memory: MemoryId::gpu(0), pages };
        node.manager.handle(Time::ZERO, capacity, &mut node.plans);
        node.work_ahead();
        node.settle();
    };
    node.writes(0, 0..3);
    shrink(&mut node, 2);
    assert_eq!((node.manager.page(PageId(0)).owner, node.manager.out_of_memory()), (HOST_MEMORY, None));
    // That fills the host.
    node.allocate(3000, 2, Kind::Pinned, None);
    node.settle();
    shrink(&mut node, 1);
    assert_eq!(node.manager.out_of_memory().map(|out| (out.memory, out.page.0)), Some((HOST_MEMORY, 1)));
}

#[test]
fn what_would_leave_ahead_of_need_stays_while_the_host_is_full() {
    let options = r#"{"reserve": "2MiB", "pre_eviction": true}"#;
    let mut node = Node::with(&lending(2 << 20, options), &[2], 64);
    node.writes(0, 0..2);
    node.allocate(3000, 2, Kind::Pinned, None);
    node.settle();
    node.work_ahead();
    assert!(node.plans.is_empty() && node.manager.out_of_memory().is_none(), "nobody needs the room");
    node.happen(Event::Free(run(3000, 2)));
    node.work_ahead();
    assert_eq!(node.steps(), ["copy 0 gpu0 host eviction"]);
}

#[test]
fn a_keeper_removes_the_block_on_which_it_faults_if_it_has_nothing_else() {
    let mut node = Node::new(64 << 10, &[2, 2], u32::MAX);
    for page in [0, 1, 32] {
        node.write(0, page);
        node.settle();
    }
    // GPU 1 keeps pages 0 and 1 of the first block, and the host has the others.
    assert_eq!(node.manager.page(PageId(1)).owner, MemoryId::gpu(1));
    node.write(1, 2);
    assert!(node.plans.is_empty() && node.manager.out_of_memory().is_none(), "nothing is removable yet");
    node.work_ahead();
    node.settle();
    assert_eq!(node.manager.page(PageId(2)).owner, MemoryId::gpu(1));
    assert!(node.manager.starving().is_none());
    let counts = node.manager.statistics();
    assert_eq!((counts.written_back, counts.yielded), (2, 2));
}

#[test]
fn a_host_that_is_full_takes_no_part_in_what_goes_to_a_neighbour() {
    let mut node = Node::new(2 << 20, &[1, 1], 64);
    node.write(0, 0);
    node.settle();
    node.allocate(3000, 1, Kind::Pinned, None);
    node.settle();
    assert_eq!(node.manager.frames_held(HOST_MEMORY), 64);
    node.write(0, 1);
    assert_eq!(node.steps(), ["copy 0 gpu0 gpu1 eviction", "copy 1 host gpu0 migration"]);
    node.settle();
    assert!(node.manager.out_of_memory().is_none());
    // Nor does it when a victim finds no neighbour: GPU 1 is full.
    node.allocate(4000, 1, Kind::Pinned, None);
    node.settle();
    node.write(0, 2);
    assert_eq!(node.manager.out_of_memory().map(|out| (out.memory, out.page.0)), Some((HOST_MEMORY, 2)));
}

#[test]
fn who_waits_for_a_copy_that_a_full_host_never_takes_can_be_named() {
    let mut node = Node::new(2 << 20, &[1, 1], 64);
    node.write(0, 0);
    node.settle();
    node.write(0, 1);
    node.settle();
    // The host had room for two pages, which will never be free again.
    node.allocate(3000, 2, Kind::Pinned, None);
    node.settle();
    node.work_ahead();
    assert!(node.plans.is_empty() && node.manager.starving().is_none(), "nobody waits");
    node.write(1, 5);
    let starving = node.manager.starving().unwrap();
    assert_eq!((starving.out.memory, starving.out.page.0, starving.awaiting), (MemoryId::gpu(1), 5, 1));
    assert!(node.manager.out_of_memory().is_none(), "a free would help");
    node.happen(Event::Free(PageRun { first: PageId(3000), count: 2 }));
    node.work_ahead();
    assert!(node.manager.starving().is_none(), "the copy is under way");
    node.settle();
    assert_eq!(node.manager.page(PageId(5)).owner, MemoryId::gpu(1));
}
