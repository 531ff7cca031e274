//! GPUs that take pages from each other: each transfer of a page serves an access, however late the access is tried.

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
    copies: u32,
}

const COPY: Time = Time(30);
const WAKE: Time = Time(10);

impl Executor for Slow {
    fn begin(&mut self, now: Time, ticket: Ticket, left: &[Step]) -> Begun {
        self.tables.begin(now, ticket, &left[..1]);
        let copies = matches!(left[0], Step::Copy { .. });
        self.copies += u32::from(copies);
        let takes = if copies { COPY } else { Time::ZERO };
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
    /// How long a store is delayed after its wake-up.
    pause: Time,
    /// Wakes that are not over, and when their stores are tried.
    retries: VecDeque<(Time, Outstanding)>,
}

impl Fight {
    fn new((replay, scope, interrupt): (Replay, BatchScope, Time), pause: Time, gpus: usize) -> Self {
        let (pages, stores) = (PAGES, STORES);
        let batch = BatchConfig {
            size: 256,
            batch: Time(20),
            request: Time(1),
            block: Time::ZERO,
            replay,
            interrupt,
            look: Time::ZERO,
            scope,
        };
        let config = MemoryConfig { placement: Choice::named("on-touch"), ..MemoryConfig::default() };
        let manager = Manager::new(&config, &Topology::unlimited(gpus)).unwrap();
        let mut driver = Driver::new(manager, Service::new(&ServiceModel::Batch(batch)));
        let mut node = Slow { tables: Instant::new(gpus), wakes: VecDeque::new(), copies: 0 };
        let run = PageRun { first: PageId(0), count: pages };
        node.tables.allocate(&run.into());
        driver.allocate(Time::ZERO, run.into(), &mut node);
        let places = (0..gpus).flat_map(|gpu| (0..pages).map(move |page| ((gpu, page), stores)));
        Self { driver, node, left: places.collect(), pause, retries: VecDeque::new() }
    }

    /// The number of stores completed once nothing is left to do, or after `most` wakes.
    fn play(&mut self, most: u32) -> u32 {
        let all: u32 = self.left.iter().map(|(_, left)| left).sum();
        (0..self.left.len()).for_each(|place| self.store(Time::ZERO, place));
        let mut wakes = 0;
        while wakes < most {
            let wake = self.node.wakes.front().map(|(at, _)| *at);
            let next = [self.driver.deadline(), wake, self.retries.front().map(|(at, _)| *at)];
            let Some(now) = next.into_iter().flatten().min() else { break };
            self.driver.tick(now, &mut self.node);
            while let Some((_, id)) = self.node.wakes.front().copied().filter(|(at, _)| *at <= now) {
                self.node.wakes.pop_front();
                wakes += 1;
                self.retries.push_back((now + self.pause, self.driver.wake_arrives(id)));
            }
            self.try_again(now);
        }
        all - self.left.iter().map(|(_, left)| left).sum::<u32>()
    }

    fn try_again(&mut self, now: Time) {
        while let Some((_, fault)) = self.retries.front().copied().filter(|(at, _)| *at <= now) {
            self.retries.pop_front();
            let waits = |((gpu, page), _): &((usize, u32), u32)| {
                (ProcessorId::gpu(*gpu), PageId(*page)) == (fault.processor, fault.page)
            };
            let place = self.left.iter().position(waits).unwrap();
            self.store(now, place);
            self.driver.replayed(now, &fault, &mut self.node);
        }
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

const PAGES: u32 = 4;
const STORES: u32 = 3;

#[test]
fn each_transfer_serves_a_store() {
    let replays = [Replay::Block, Replay::Batch, Replay::BatchFlush, Replay::Once];
    let scopes = [BatchScope::Node, BatchScope::PerGpu];
    let services = replays.into_iter().flat_map(|replay| scopes.map(|scope| (replay, scope)));
    for (replay, scope) in services {
        for (interrupt, pause) in [(0, 0), (2, 0), (0, 100), (2, 1000)] {
            for gpus in [2, 3, 8] {
                let service = (replay, scope, Time(interrupt));
                let mut fight = Fight::new(service, Time(pause), gpus);
                let all = gpus as u32 * PAGES * STORES;
                assert_eq!(fight.play(100_000), all, "{service:?}, pause {pause}, {gpus} GPUs");
                assert!(fight.node.copies <= all, "{} copies, {service:?}, pause {pause}", fight.node.copies);
            }
        }
    }
}
