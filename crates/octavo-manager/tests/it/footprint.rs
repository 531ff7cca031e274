//! Per-page state stays small, so that footprints of 100 GB fit a laptop.

use crate::common::{choice, fault, placement};
use octavo_manager::{Access, Event, Manager, MemoryConfig, PLACEMENTS, PageId, PageRun, ProcessorId, Topology};
use octavo_units::Time;

/// Bytes of state for each page, after every GPU read and wrote until its memory, 70 % of the pages, was full.
fn bytes_per_page(name: &str, gpus: usize) -> f64 {
    const PAGES: u32 = 4 << 10;
    let topology = Topology::of(vec![PAGES * 7 / 10; gpus]);
    let mut manager = Manager::new(&placement(name, "{}"), &topology).unwrap();
    let mut plans = Vec::new();
    manager.handle(Time::ZERO, Event::Allocate(PageRun { first: PageId(0), count: PAGES }.into()), &mut plans);
    for round in 0..3 {
        for touch in 0..PAGES * gpus as u32 {
            let (gpu, page) = (touch as usize % gpus, touch / gpus as u32 * 7 % PAGES);
            let access = if (page + round) % 3 == 0 { Access::Write } else { Access::Read };
            let fault = octavo_manager::Fault { processor: ProcessorId::gpu(gpu), page: PageId(page), access };
            manager.handle(Time::ZERO, Event::Faults(&[fault]), &mut plans);
            while let Some(plan) = plans.pop() {
                manager.complete(Time::ZERO, plan.id, &mut plans);
                manager.recycle(plan);
            }
        }
    }
    manager.state_bytes() as f64 / f64::from(PAGES)
}

#[test]
fn four_gpus_need_less_than_sixty_four_bytes_a_page() {
    for name in PLACEMENTS.names() {
        let bytes = bytes_per_page(name, 4);
        println!("{name}: {bytes:.1} bytes a page with 4 GPUs, {:.1} with 16", bytes_per_page(name, 16));
        assert!(bytes < 64.0, "{name}: {bytes:.1} bytes a page");
    }
}

/// Bytes of state after a page of the last of this many blocks moved once.
fn bytes_with(guard: &str, blocks: u32) -> usize {
    let config = MemoryConfig { guard: choice(guard, "{}"), ..MemoryConfig::default() };
    let mut manager = Manager::new(&config, &Topology::unlimited(1)).unwrap();
    let all = PageRun { first: PageId(0), count: blocks * 512 };
    manager.handle(Time::ZERO, Event::Allocate(all.into()), &mut Vec::new());
    let last = fault(0, all.count - 1, Access::Write);
    manager.handle(Time::ZERO, Event::Faults(&[last]), &mut Vec::new());
    manager.state_bytes()
}

#[test]
fn a_guard_counts_what_it_knows_of_blocks_and_their_list() {
    const BLOCKS: u32 = 1000;
    let own = bytes_with("stock-driver", BLOCKS) - bytes_with("none", BLOCKS);
    let list = BLOCKS as usize * size_of::<usize>();
    assert!(own > list && own < list + 256, "the list, and one block: {own}");
}
