//! Room that comes later, or never, where idle GPUs keep victims: by hand.

use crate::common::{choice, fault, show};
use octavo_manager::{
    Access, Allocation, Event, HOST_MEMORY, Kind, Manager, MemoryConfig, MemoryId, PageId, PageRun, Plan, ProcessorId,
    Topology,
};
use octavo_registry::Choice;
use octavo_units::{Bytes, Time};

/// GPUs with so many pages of so many bytes, that lend all they have, and a host with room for so many.
struct Node {
    manager: Manager,
    /// Plans without an acknowledgement.
    plans: Vec<Plan>,
}

impl Node {
    fn new(page_size: u64, gpus: &[u32], host: u32) -> Self {
        let demotion = choice("spare-memory", r#"{"reserve": "0B"}"#);
        let (page_size, eviction) = (Bytes(page_size), Choice::named("lru-block"));
        let config = MemoryConfig { demotion, page_size, eviction, ..MemoryConfig::default() };
        let mut topology = Topology::of(gpus.to_vec());
        topology.memories[0].capacity_pages = host;
        let mut node = Self { manager: Manager::new(&config, &topology).unwrap(), plans: Vec::new() };
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
