//! How the driver serves requests: a pool of servers, or one batch after another.

use std::collections::VecDeque;

use octavo_driver::config::{BatchConfig, ServiceModel};
use octavo_manager::{Event as ManagerEvent, Fault as ManagerFault};
use octavo_units::Time;

use crate::engine::event::Kind;
use crate::engine::pool::Pool;
use crate::machine::node::Node;

/// log2 of the lines of a block of 2 MiB.
const BLOCK_LINE_SHIFT: u32 = (2u32 << 20).trailing_zeros() - 6;

/// A request to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Fault(u32),
    Counter(u32),
}

impl Request {
    fn fault(self) -> Option<u32> {
        match self {
            Self::Fault(fault) => Some(fault),
            Self::Counter(_) => None,
        }
    }
}

/// The driver's servers and the host's walkers.
pub(crate) struct Service {
    walkers: Pool,
    model: Model,
}

enum Model {
    Pool { servers: Pool, service: u64 },
    Batch(Batches),
}

/// State of batched service.
struct Batches {
    config: BatchConfig,
    queue: VecDeque<Request>,
    serving: Vec<Request>,
    /// A batch is being served or its plans are being carried out.
    busy: bool,
    /// The interrupt that will make the idle driver take a batch is under way.
    called: bool,
    /// Faults whose wakes wait for the end of the batch.
    wakes: Vec<u32>,
}

impl Service {
    pub fn new(model: &ServiceModel, walkers: u32) -> Self {
        let model = match model {
            ServiceModel::Pool(pool) => Model::Pool { servers: Pool::new(pool.servers), service: pool.service.0 },
            ServiceModel::Batch(config) => Model::Batch(Batches {
                config: config.clone(),
                queue: VecDeque::new(),
                serving: Vec::new(),
                busy: false,
                called: false,
                wakes: Vec::new(),
            }),
        };
        Self { walkers: Pool::new(walkers), model }
    }

    /// A walk of the host's page table from `time` on.
    pub fn walk(&mut self, time: u64, duration: u64) -> u64 {
        self.walkers.reserve(time, duration)
    }
}

impl Node<'_> {
    pub fn request_fault_service(&mut self, fault: u32) {
        self.request(Request::Fault(fault));
    }

    pub fn request(&mut self, request: Request) {
        match &mut self.service.model {
            Model::Pool { servers, service } => {
                let served = servers.reserve(self.now, *service);
                if let Some(spans) = &mut self.spans {
                    spans.served(request.fault(), served - *service, served);
                }
                match request {
                    Request::Fault(fault) => self.schedule(served, Kind::FaultServed, fault),
                    Request::Counter(notification) => self.schedule(served, Kind::CounterServed, notification),
                }
            }
            Model::Batch(batches) => {
                batches.queue.push_back(request);
                self.call_driver();
            }
        }
    }

    /// An idle driver hears of the first request by an interrupt; a busy one looks when it is done.
    fn call_driver(&mut self) {
        let Model::Batch(batches) = &mut self.service.model else { return };
        let interrupt = batches.config.interrupt;
        if interrupt == Time::ZERO {
            return self.begin_batch_if_idle();
        }
        if !batches.busy && !batches.called {
            batches.called = true;
            self.schedule(self.now + interrupt.0, Kind::BatchTaken, 0);
        }
    }

    pub fn batch_taken(&mut self) {
        if let Model::Batch(batches) = &mut self.service.model {
            batches.called = false;
        }
        self.begin_batch_if_idle();
    }

    fn begin_batch_if_idle(&mut self) {
        let now = self.now;
        let Model::Batch(batches) = &mut self.service.model else { return };
        if batches.busy || batches.called || batches.queue.is_empty() {
            return;
        }
        batches.busy = true;
        let size = batches.queue.len().min(batches.config.size as usize);
        batches.serving.extend(batches.queue.drain(..size));
        let requests = batches.config.request.0 * size as u64;
        let blocks = if batches.config.block == Time::ZERO { 0 } else { self.blocks_of_batch() };
        let Model::Batch(batches) = &mut self.service.model else { return };
        let served = now + batches.config.batch.0 + requests + batches.config.block.0 * blocks;
        if let Some(spans) = &mut self.spans {
            let faults = batches.serving.iter().filter_map(|request| request.fault());
            let flows: Vec<u64> = faults.map(|fault| spans.flow(fault)).collect();
            spans.batch_began(now, served, size, &flows);
        }
        self.schedule(served, Kind::BatchServed, 0);
    }

    /// Blocks of 2 MiB that faults of the batch that is about to be served are in, each GPU's by themselves.
    fn blocks_of_batch(&self) -> u64 {
        let Model::Batch(batches) = &self.service.model else { return 0 };
        let faults = batches.serving.iter().filter_map(|request| request.fault());
        let mut blocks: Vec<(u32, usize)> = faults
            .map(|fault| (self.faulting_page(fault) >> self.block_page_shift(), self.faulting_gpu(fault)))
            .collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks.len() as u64
    }

    /// log2 of the pages of a block of 2 MiB.
    fn block_page_shift(&self) -> u32 {
        BLOCK_LINE_SHIFT - self.page_line_shift
    }

    /// The whole batch goes to the manager, faults sorted by page as the production driver sorts them.
    pub fn batch_served(&mut self) {
        let Model::Batch(batches) = &mut self.service.model else { return };
        let serving = std::mem::take(&mut batches.serving);
        let mut faults: Vec<ManagerFault> = Vec::with_capacity(serving.len());
        for request in &serving {
            match *request {
                Request::Fault(fault) => faults.push(self.mark_served(fault)),
                Request::Counter(notification) => self.counter_served(notification),
            }
        }
        faults.sort_by_key(|fault| (fault.page, fault.processor));
        self.manager.handle(ManagerEvent::Faults(&faults), &mut self.made);
        self.start_made_plans();
        self.end_batch_if_done();
    }

    /// Keeps a wake back until the end of the batch; `false` if wakes go out one by one.
    pub fn hold_wake(&mut self, fault: u32) -> bool {
        let Model::Batch(batches) = &mut self.service.model else { return false };
        batches.wakes.push(fault);
        true
    }

    /// When no plan serves faults any more, those served are replayed together, and the next batch begins. A fault
    /// that waited inside the manager can be served after its batch; it is replayed with whatever is then done.
    pub fn end_batch_if_done(&mut self) {
        if !self.plans.serve_no_fault() {
            return;
        }
        let now = self.now;
        let Model::Batch(batches) = &mut self.service.model else { return };
        let wakes = std::mem::take(&mut batches.wakes);
        let was_busy = batches.busy;
        batches.busy &= !batches.serving.is_empty();
        if let Some(spans) = &mut self.spans
            && was_busy
            && !batches.busy
        {
            spans.batch_ended(now);
        }
        for fault in wakes {
            self.send_wake(fault, now);
        }
        self.begin_batch_if_idle();
    }
}
