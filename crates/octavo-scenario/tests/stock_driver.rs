//! The composition `memory.preset = "stock-driver"`, compared with the production driver's own code for the same
//! faults: pages that a batch brings, and the block that leaves.

use octavo_manager::{
    Access, Event, Fault, Manager, MemoryConfig, MemoryId, PageId, PageRun, Plan, ProcessorId, Topology,
};
use octavo_scenario::{Source, resolve};
use octavo_units::Time;

const BLOCK: u32 = 512;
const BIG_PAGE: u32 = 16;

struct Node(Manager);

impl Node {
    /// A GPU with room for this many blocks.
    fn new(blocks: u32) -> Self {
        let mut manager = Manager::new(&stock_driver(), &Topology::of(vec![blocks * BLOCK])).unwrap();
        let run = PageRun { first: PageId(0), count: 8 * BLOCK };
        manager.handle(Time::ZERO, Event::Allocate(run.into()), &mut Vec::new());
        Self(manager)
    }

    /// The GPU reads pages, which the driver finds in one batch; how many KiB it holds more than before.
    fn batch(&mut self, pages: impl IntoIterator<Item = u32>) -> i64 {
        let before = i64::from(self.0.frames_held(MemoryId::gpu(0)));
        let fault = |page| Fault { processor: ProcessorId::gpu(0), page: PageId(page), access: Access::Read };
        let faults: Vec<Fault> = pages.into_iter().map(fault).collect();
        let mut plans: Vec<Plan> = Vec::new();
        self.0.handle(Time::ZERO, Event::Faults(&faults), &mut plans);
        while let Some(plan) = plans.pop() {
            self.0.complete(Time::ZERO, plan.id, &mut plans);
        }
        self.0.check().unwrap();
        (i64::from(self.0.frames_held(MemoryId::gpu(0))) - before) * 4
    }

    fn there(&self, page: u32) -> bool {
        self.0.page(PageId(page)).resident.contains(MemoryId::gpu(0))
    }

    /// The resident pages of a block.
    fn of_block(&self, block: u32) -> usize {
        (block * BLOCK..(block + 1) * BLOCK).filter(|&page| self.there(page)).count()
    }
}

fn stock_driver() -> MemoryConfig {
    let text = "workload = \"fir\"\nnode.preset = \"grit-2gpu\"\nmemory.preset = \"stock-driver\"\n";
    resolve(Source { name: "s.toml", text }, &[]).unwrap().scenario.memory
}

#[test]
fn sequential_faults_bring_ever_more_until_the_block_is_full() {
    let mut node = Node::new(8);
    let mut brought = Vec::new();
    while let Some(page) = (0..BLOCK).find(|&page| !node.there(page)) {
        brought.push(node.batch([page]));
    }
    assert_eq!(brought, [64, 64, 128, 256, 512, 1024]);
}

#[test]
fn one_fault_more_than_half_of_the_big_pages_brings_the_whole_block() {
    let alternate = |count: u32| (0..count).map(|index| index * 2 * BIG_PAGE);
    assert_eq!(Node::new(8).batch([7]), 64);
    assert_eq!(Node::new(8).batch(alternate(16)), 1024);
    assert_eq!(Node::new(8).batch(alternate(16).chain([BIG_PAGE])), 2048);
}

#[test]
fn the_block_serviced_least_recently_leaves_whole() {
    let mut node = Node::new(2);
    node.batch((0..17).map(|index| index * BIG_PAGE));
    node.batch([BLOCK]);
    assert_eq!([0, 1].map(|block| node.of_block(block)), [512, 16]);
    // The third block needs its frames: the first leaves, though it was full and the second is not.
    node.batch((0..17).map(|index| 2 * BLOCK + index * BIG_PAGE));
    assert_eq!([0, 1, 2].map(|block| node.of_block(block)), [0, 16, 512]);
}
