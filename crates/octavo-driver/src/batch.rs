//! One batch of requests after another, as the production driver serves them.

use std::collections::VecDeque;

use octavo_manager::ProcessorId;
use octavo_units::Time;

use crate::config::{BatchConfig, BatchScope, Replay};
use crate::faults::FaultId;

/// Batches in a row that are replayed together at most, under [`Replay::Once`]
/// (`uvm_perf_fault_max_batches_per_service`).
const MAX_BATCHES: u32 = 20;

/// A request to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A fault.
    Fault(FaultId),
    /// A counter notification, by its number.
    Counter(u32),
    /// A fault of a GPU that another request of it stands for: it takes up room.
    Again(ProcessorId),
}

impl Request {
    /// The fault, if it is one.
    #[must_use]
    pub fn fault(self) -> Option<FaultId> {
        match self {
            Self::Fault(fault) => Some(fault),
            Self::Counter(_) | Self::Again(_) => None,
        }
    }
}

/// What an idle driver does when a request arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// It takes a batch now.
    Now,
    /// An interrupt comes first.
    Interrupt(Time),
    /// It is busy or called already, and will look when it is done.
    No,
}

/// All queues: one, or one for each GPU up to the last that ever sent a request.
pub(crate) struct Queues {
    config: BatchConfig,
    each: Vec<Batches>,
}

impl Queues {
    pub fn new(config: &BatchConfig) -> Self {
        Self { config: config.clone(), each: vec![Batches::new(config)] }
    }

    pub fn len(&self) -> usize {
        self.each.len()
    }

    /// Batches that all queues have begun.
    pub fn begun(&self) -> u64 {
        self.each.iter().map(|batches| batches.begun).sum()
    }

    /// The GPU that a queue belongs to; `None` for the queue of all GPUs.
    pub fn gpu(&self, queue: usize) -> Option<usize> {
        self.per_gpu().then_some(queue)
    }

    /// Whether wakes wait for the end of the batch.
    pub fn hold_wakes(&self) -> bool {
        self.config.replay != Replay::Block
    }

    /// The queue of a GPU's requests.
    pub fn of(&mut self, processor: ProcessorId) -> usize {
        let queue = if self.per_gpu() { processor.gpu_index().unwrap_or_default() } else { 0 };
        while self.each.len() <= queue {
            self.each.push(Batches::new(&self.config));
        }
        queue
    }

    fn per_gpu(&self) -> bool {
        self.config.scope == BatchScope::PerGpu
    }
}

impl std::ops::Index<usize> for Queues {
    type Output = Batches;
    fn index(&self, queue: usize) -> &Batches {
        &self.each[queue]
    }
}

impl std::ops::IndexMut<usize> for Queues {
    fn index_mut(&mut self, queue: usize) -> &mut Batches {
        &mut self.each[queue]
    }
}

/// State of batched service of one queue.
pub(crate) struct Batches {
    config: BatchConfig,
    queue: VecDeque<Request>,
    serving: Vec<Request>,
    /// A batch is being served or its plans are being carried out.
    busy: bool,
    /// Whether the interrupt on which the idle driver will take a batch has been sent.
    called: bool,
    /// Faults whose wake-ups wait for the end of the batch.
    wakes: Vec<FaultId>,
    /// Batches since the last replay.
    batches: u32,
    /// Batches since the beginning.
    begun: u64,
}

impl Batches {
    pub fn new(config: &BatchConfig) -> Self {
        Self {
            config: config.clone(),
            queue: VecDeque::new(),
            serving: Vec::new(),
            busy: false,
            called: false,
            wakes: Vec::new(),
            batches: 0,
            begun: 0,
        }
    }

    /// A request comes. An idle driver hears of the first one by an interrupt; a busy one looks when it is done.
    pub fn request(&mut self, request: Request) -> Call {
        self.queue.push_back(request);
        if matches!(request, Request::Again(_)) {
            return Call::No;
        }
        let interrupt = self.config.interrupt;
        if interrupt == Time::ZERO {
            return Call::Now;
        }
        if self.busy || self.called {
            return Call::No;
        }
        self.called = true;
        Call::Interrupt(interrupt)
    }

    /// The interrupt has come.
    pub fn taken(&mut self) {
        self.called = false;
    }

    /// Whether a request waits: further entries of faults are none, for the first ones may be served or under way.
    fn some_wait(&self) -> bool {
        self.queue.iter().any(|request| !matches!(request, Request::Again(_)))
    }

    /// A batch is over, and an idle driver without requests is to look again after this time.
    pub fn look_again(&mut self) -> Option<Time> {
        let idle = !self.busy && !self.called && !self.some_wait() && self.config.look != Time::ZERO;
        self.called |= idle;
        idle.then_some(self.config.look)
    }

    /// Takes a batch if the driver is idle and there are requests.
    pub fn begin(&mut self) -> Option<&[Request]> {
        if self.busy || self.called || !self.some_wait() {
            return None;
        }
        self.busy = true;
        self.batches += 1;
        self.begun += 1;
        let size = self.queue.len().min(self.config.size as usize);
        self.serving.extend(self.queue.drain(..size));
        Some(&self.serving)
    }

    /// What is being served.
    pub fn serving(&self) -> &[Request] {
        &self.serving
    }

    /// Whether the time to serve a batch depends on how many blocks its faults are in.
    pub fn counts_blocks(&self) -> bool {
        self.config.block != Time::ZERO
    }

    /// The time for serving a batch whose faults are in this many blocks.
    pub fn duration(&self, blocks: u64) -> Time {
        let BatchConfig { batch, request, block, .. } = self.config;
        batch + request * self.serving.len() as u64 + block * blocks
    }

    /// The batch is served: its requests, to be handed back to [`Batches::recycle`].
    pub fn served(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.serving)
    }

    /// Takes the emptied list of requests back for its memory.
    pub fn recycle(&mut self, mut requests: Vec<Request>) {
        requests.clear();
        if self.serving.is_empty() {
            self.serving = requests;
        }
    }

    /// Keeps a wake until the end of the batch.
    pub fn hold(&mut self, fault: FaultId) {
        self.wakes.push(fault);
    }

    /// If no plan serves faults any more, the batch ends unless it is still being served. Whether that ended it.
    pub fn end(&mut self) -> bool {
        let was_busy = self.busy;
        self.busy &= !self.serving.is_empty();
        was_busy && !self.busy
    }

    /// The wakes held back that go out now, to be handed back to [`Batches::recycle_wakes`].
    pub fn held(&mut self) -> Vec<FaultId> {
        let some_wait = !self.serving.is_empty() || self.some_wait();
        if self.config.replay == Replay::Once && some_wait && self.batches < MAX_BATCHES {
            return Vec::new();
        }
        self.batches = 0;
        std::mem::take(&mut self.wakes)
    }

    /// A batch ends: faults that arrived meanwhile may be discarded.
    pub fn flush(&mut self) -> Vec<FaultId> {
        if self.config.replay != Replay::BatchFlush {
            return Vec::new();
        }
        let flushed = self.queue.iter().filter_map(|request| request.fault()).collect();
        self.queue.retain(|request| matches!(request, Request::Counter(_)));
        flushed
    }

    pub fn recycle_wakes(&mut self, mut wakes: Vec<FaultId>) {
        wakes.clear();
        if self.wakes.is_empty() {
            self.wakes = wakes;
        }
    }
}
