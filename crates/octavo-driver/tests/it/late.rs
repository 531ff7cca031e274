//! Wakes that a batch keeps until its end, and GPUs that take a page from each other meanwhile.

use std::collections::VecDeque;

use octavo_driver::config::{BatchConfig, BatchScope, Replay, ServiceModel};
use octavo_driver::{Begun, Driver, Executor, FaultId, Instant, Outstanding, Service, Ticket, Wake};
use octavo_manager::{Access, Fault, Manager, MemoryConfig, PageId, PageRun, ProcessorId, Step, Topology};
use octavo_registry::Choice;
use octavo_units::Time;

/// Tables are changed when a step begins; copies take a while, and wakes too.
struct Slow {
    tables: Instant,
    wakes: VecDeque<(Time, FaultId)>,
}

const COPY: Time = Time(30);
const WAKE: Time = Time(10);

impl Executor for Slow {
    fn begin(&mut self, now: Time, ticket: Ticket, left: &[Step]) -> Begun {
        self.tables.begin(now, ticket, &left[..1]);
        let takes = if matches!(left[0], Step::Copy { .. }) { COPY } else { Time::ZERO };
        Begun::At(1, now + takes)
    }

    fn wake(&mut self, now: Time, id: FaultId, _fault: &Outstanding) -> Wake {
        self.wakes.push_back((now + WAKE, id));
        Wake::UnderWay
    }

    fn kill(&mut self, _now: Time, _id: FaultId, fault: &Outstanding) {
        panic!("{fault:?} is killed");
    }

    fn free(&mut self, now: Time, run: PageRun, token: u64, manager: &Manager) {
        self.tables.free(now, run, token, manager);
    }
}

/// GPUs that each store to the same pages, one line at a time.
struct Fight {
    driver: Driver,
    node: Slow,
    /// How many stores each GPU has left on each page.
    left: Vec<((usize, u32), u32)>,
}

impl Fight {
    fn new(replay: Replay, scope: BatchScope, gpus: usize, pages: u32, stores: u32) -> Self {
        let batch = BatchConfig {
            size: 256,
            batch: Time(20),
            request: Time(1),
            block: Time::ZERO,
            replay,
            interrupt: Time(2),
            scope,
        };
        let config = MemoryConfig { placement: Choice::named("on-touch"), ..MemoryConfig::default() };
        let manager = Manager::new(&config, &Topology::unlimited(gpus)).unwrap();
        let mut driver = Driver::new(manager, Service::new(&ServiceModel::Batch(batch)));
        let mut node = Slow { tables: Instant::new(gpus), wakes: VecDeque::new() };
        let run = PageRun { first: PageId(0), count: pages };
        node.tables.allocate(&run.into());
        driver.allocate(Time::ZERO, run.into(), &mut node);
        let places = (0..gpus).flat_map(|gpu| (0..pages).map(move |page| ((gpu, page), stores)));
        Self { driver, node, left: places.collect() }
    }

    /// How many stores are done once nothing is left to do, or after so many wakes.
    fn play(&mut self, most: u32) -> u32 {
        let all: u32 = self.left.iter().map(|(_, left)| left).sum();
        (0..self.left.len()).for_each(|place| self.store(Time::ZERO, place));
        let mut wakes = 0;
        while wakes < most {
            let next = [self.driver.deadline(), self.node.wakes.front().map(|(at, _)| *at)];
            let Some(now) = next.into_iter().flatten().min() else { break };
            self.driver.tick(now, &mut self.node);
            while let Some((_, id)) = self.node.wakes.front().copied().filter(|(at, _)| *at <= now) {
                self.node.wakes.pop_front();
                wakes += 1;
                let fault = self.driver.wake_arrives(id);
                let waits = |((gpu, page), _): &((usize, u32), u32)| {
                    (ProcessorId::gpu(*gpu), PageId(*page)) == (fault.processor, fault.page)
                };
                let place = self.left.iter().position(waits).unwrap();
                self.store(now, place);
                self.driver.replayed(now, &fault, &mut self.node);
            }
        }
        all - self.left.iter().map(|(_, left)| left).sum::<u32>()
    }

    /// A GPU stores as often as it can, and faults when it cannot.
    fn store(&mut self, now: Time, place: usize) {
        let ((gpu, page), left) = &mut self.left[place];
        let fault = Fault { processor: ProcessorId::gpu(*gpu), page: PageId(*page), access: Access::Write };
        if *left > 0 && self.node.tables.entry(fault.processor, fault.page).allows(fault.access) {
            *left -= 1;
        }
        if *left > 0 {
            self.driver.faults(now, &[fault], &mut self.node);
        }
    }
}

#[test]
fn gpus_that_take_pages_from_each_other_make_progress() {
    for replay in [Replay::Block, Replay::Batch, Replay::BatchFlush, Replay::Once] {
        for scope in [BatchScope::Node, BatchScope::PerGpu] {
            for gpus in [2, 3, 8] {
                let done = Fight::new(replay, scope, gpus, 4, 3).play(100_000);
                assert_eq!(done, gpus as u32 * 4 * 3, "{replay:?}, {scope:?}, {gpus} GPUs");
            }
        }
    }
}
