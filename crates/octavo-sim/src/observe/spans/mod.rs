//! The timeline of a run as slices, arrows and counters: events on each GPU, in the driver and on the links.
//!
//! Kept only if requested, and written during the run. Nothing here is called for individual accesses.

mod hear;
mod lanes;
mod packet;
mod write;

use std::collections::BTreeMap;
use std::io::Write;

use octavo_manager::{Cause, Manager, MemoryId, PageRun, Plan, ProcessorId};

use self::lanes::Lanes;
use self::packet::{BYTES, NAMED_UNIT};
use self::write::{Note, Word, Writer};
use crate::fabric::links::LinkUse;

/// Tracks of one GPU.
struct GpuTracks {
    faults: Lanes,
    drains: Lanes,
    memory: u64,
    /// Value of the counter.
    held: Option<u32>,
}

/// A counter of a link's bandwidth.
struct LinkTrack {
    track: u64,
    bytes: u64,
    rate: f64,
}

/// The track and the flows of an outstanding fault or a plan in progress.
#[derive(Clone, Default)]
struct Open {
    track: u64,
    gpu: usize,
    flows: Vec<u64>,
}

pub(crate) struct Spans<'a> {
    writer: Writer<'a>,
    page_bytes: u64,
    /// Simulated time between values of the links' counters.
    interval: u64,
    kernels: u64,
    gpus: Vec<GpuTracks>,
    service: Lanes,
    driver: u64,
    /// The track of batches, of all GPUs or of one, and whether one is being served.
    batches: BTreeMap<Option<usize>, (u64, bool)>,
    plans: Lanes,
    links_root: u64,
    copies: BTreeMap<(MemoryId, MemoryId), Lanes>,
    link_use: Vec<LinkTrack>,
    sampled: u64,
    /// By number of the fault.
    open_faults: Vec<Open>,
    /// By number of the plan.
    open_plans: Vec<Open>,
    flows: u64,
}

impl<'a> Spans<'a> {
    pub fn new(out: &'a mut dyn Write, gpus: usize, page_bytes: u64, interval: u64) -> Self {
        let mut writer = Writer::new(out);
        let kernels = writer.track(None, "kernels");
        let driver = writer.track(None, "driver");
        let batches = writer.track(Some(driver), "batches");
        let gpus = (0..gpus).map(|gpu| GpuTracks::new(&mut writer, gpu)).collect();
        let links_root = writer.track(None, "links");
        Self {
            writer,
            page_bytes,
            interval,
            kernels,
            gpus,
            service: Lanes::new(driver, "service"),
            driver,
            batches: BTreeMap::from([(None, (batches, false))]),
            plans: Lanes::new(driver, "plans"),
            links_root,
            copies: BTreeMap::new(),
            link_use: Vec::new(),
            sampled: 0,
            open_faults: Vec::new(),
            open_plans: Vec::new(),
            flows: 0,
        }
    }

    /// The last kernel has ended at `time`: the driver's work in progress ends with it.
    pub fn finish(&mut self, time: u64, links: &[LinkUse]) {
        self.links(time, links);
        for gpu in &mut self.gpus {
            gpu.faults.close(&mut self.writer, time);
        }
        self.plans.close(&mut self.writer, time);
        for (track, _) in self.batches.values().filter(|(_, serving)| *serving) {
            self.writer.end_with_run(*track, time);
        }
    }

    /// Why the timeline could not be written, if it could not.
    pub fn failure(&self) -> Option<String> {
        self.writer.failure().map(ToString::to_string)
    }

    fn kernel(&mut self, name: &str, began: u64, ended: u64) {
        self.writer.named(self.kernels, name, (began, ended));
    }

    /// A GPU found no usable mapping. A flow of arrows begins.
    fn fault_began(&mut self, number: u32, gpu: usize, page: u32, write: bool, time: u64) {
        let track = self.gpus[gpu].faults.open(&mut self.writer, time);
        let word = if write { Word::WriteFault } else { Word::ReadFault };
        self.flows += 1;
        let notes = [(Note::Address, u64::from(page) * self.page_bytes)];
        self.writer.begin(track, word, time, &notes, &[self.flows]);
        put(&mut self.open_faults, number, Open { track, gpu, flows: vec![self.flows] });
    }

    /// The message that the fault is resolved travels to the GPU.
    fn fault_wakes(&mut self, number: u32, sent: u64, arrives: u64) {
        let fault = &self.open_faults[number as usize];
        self.writer.last_of_flow(fault.track, Word::Wake, (sent, arrives), fault.flows[0]);
    }

    fn fault_ended(&mut self, number: u32, time: u64) {
        let fault = &self.open_faults[number as usize];
        self.writer.end(fault.track, time);
        self.gpus[fault.gpu].faults.release(fault.track, time);
    }

    /// The flow of a fault.
    fn flow(&self, fault: u32) -> u64 {
        self.open_faults[fault as usize].flows[0]
    }

    /// One of the driver's servers serves a fault, or (without one) a notification of a counter.
    fn served(&mut self, fault: Option<u32>, began: u64, ended: u64) {
        let track = self.service.take(&mut self.writer, began, ended);
        match fault {
            Some(fault) => {
                let flow = self.flow(fault);
                self.writer.slice(track, Word::Service, (began, ended), &[], &[flow]);
            }
            None => self.writer.slice(track, Word::CounterService, (began, ended), &[], &[]),
        }
    }

    /// The driver serves a batch until `served`, and then carries out its plans.
    fn batch_began(&mut self, gpu: Option<usize>, span: (u64, u64), requests: usize, flows: &[u64]) {
        let name = || format!("batches {}", ProcessorId::gpu(gpu.unwrap_or_default()));
        let (track, serving) =
            self.batches.entry(gpu).or_insert_with(|| (self.writer.track(Some(self.driver), &name()), false));
        *serving = true;
        self.writer.begin(*track, Word::Batch, span.0, &[(Note::Requests, requests as u64)], &[]);
        self.writer.slice(*track, Word::Service, span, &[], flows);
    }

    fn batch_ended(&mut self, gpu: Option<usize>, time: u64) {
        if let Some((track, serving)) = self.batches.get_mut(&gpu) {
            *serving = false;
            self.writer.end(*track, time);
        }
    }

    /// A plan begins, with reads and writes of its policy's metadata, and continues the flows of the faults that it
    /// will wake.
    fn plan_began(&mut self, number: u32, plan: &Plan, time: u64, metadata: u64, flows: Vec<u64>) {
        let track = self.plans.open(&mut self.writer, time);
        self.writer.begin(track, word_of(plan.cause), time, &[], &flows);
        if metadata > 0 {
            self.writer.slice(track, Word::Metadata, (time, time + metadata), &[], &[]);
        }
        put(&mut self.open_plans, number, Open { track, gpu: 0, flows });
    }

    /// A step of a plan.
    fn step(&mut self, plan: u32, word: Word, span: (u64, u64), pages: PageRun) {
        let track = self.open_plans[plan as usize].track;
        let notes = pages_of(pages, self.page_bytes);
        self.writer.slice(track, word, span, &notes, &[]);
    }

    /// This many pages are moved inside their memory for a plan.
    fn compaction(&mut self, plan: u32, span: (u64, u64), pages: u32) {
        let track = self.open_plans[plan as usize].track;
        self.writer.slice(track, Word::Compact, span, &[(Note::Pages, u64::from(pages))], &[]);
    }

    fn plan_ended(&mut self, number: u32, time: u64) {
        let track = self.open_plans[number as usize].track;
        self.writer.end(track, time);
        self.plans.release(track, time);
    }

    /// The compute units of a GPU complete their accesses in flight.
    fn drain(&mut self, gpu: usize, span: (u64, u64), pages: PageRun) {
        let track = self.gpus[gpu].drains.take(&mut self.writer, span.0, span.1);
        let notes = pages_of(pages, self.page_bytes);
        self.writer.slice(track, Word::Drain, span, &notes, &[]);
    }

    /// Pages are copied for a plan, and for the faults whose flows it continues.
    fn copy(&mut self, plan: u32, cause: Cause, path: (MemoryId, MemoryId), span: (u64, u64), pages: PageRun) {
        let lanes = self
            .copies
            .entry(path)
            .or_insert_with(|| Lanes::new(self.links_root, format!("copies {}->{}", path.0, path.1)));
        let track = lanes.take(&mut self.writer, span.0, span.1);
        let [address, count] = pages_of(pages, self.page_bytes);
        let notes = [address, count, (Note::Bytes, u64::from(pages.count) * self.page_bytes)];
        let flows = &self.open_plans[plan as usize].flows;
        self.writer.slice(track, word_of(cause), span, &notes, flows);
    }

    /// The number of pages in each GPU.
    fn memory(&mut self, time: u64, manager: &Manager) {
        for (index, gpu) in self.gpus.iter_mut().enumerate() {
            let held = manager.frames_held(MemoryId::gpu(index));
            if gpu.held != Some(held) {
                gpu.held = Some(held);
                self.writer.count(gpu.memory, time, u64::from(held) * self.page_bytes);
            }
        }
    }

    /// Whether it is time for the next values of the links' counters.
    fn due(&self, time: u64) -> bool {
        time >= self.sampled + self.interval
    }

    /// The average bandwidth of each link since the last time.
    fn links(&mut self, time: u64, links: &[LinkUse]) {
        if self.link_use.is_empty() {
            let (writer, root) = (&mut self.writer, self.links_root);
            let track = |link: &LinkUse| LinkTrack {
                track: writer.counter(root, &link.name, NAMED_UNIT, "GB/s"),
                bytes: 0,
                rate: -1.0,
            };
            self.link_use = links.iter().map(track).collect();
        }
        for (link, state) in links.iter().zip(&mut self.link_use) {
            let bytes = link.bytes.iter().sum::<u64>();
            // A byte a picosecond is a thousand gigabytes a second.
            let rate = (bytes - state.bytes) as f64 / (time - self.sampled).max(1) as f64 * 1000.0;
            state.bytes = bytes;
            if rate.to_bits() != state.rate.to_bits() {
                state.rate = rate;
                self.writer.rate(state.track, self.sampled, rate);
            }
        }
        self.sampled = time;
    }
}

impl GpuTracks {
    fn new(writer: &mut Writer<'_>, gpu: usize) -> Self {
        let root = writer.track(None, &ProcessorId::gpu(gpu).to_string());
        let memory = writer.counter(root, "memory in use", BYTES, "");
        Self { faults: Lanes::new(root, "faults"), drains: Lanes::new(root, "drains"), memory, held: None }
    }
}

fn word_of(cause: Cause) -> Word {
    match cause {
        Cause::Migration => Word::Migration,
        Cause::RemoteMap => Word::RemoteMap,
        Cause::Duplication => Word::Duplication,
        Cause::WriteCollapse => Word::WriteCollapse,
        Cause::Eviction => Word::Eviction,
        Cause::Prefetch => Word::Prefetch,
        Cause::WriteBack => Word::WriteBack,
        Cause::Staging => Word::Staging,
    }
}

fn pages_of(pages: PageRun, page_bytes: u64) -> [(Note, u64); 2] {
    [(Note::Address, u64::from(pages.first.0) * page_bytes), (Note::Pages, u64::from(pages.count))]
}

/// Numbers are reused, so the list is as long as the largest number of things at one time.
fn put(list: &mut Vec<Open>, number: u32, open: Open) {
    let index = number as usize;
    if list.len() <= index {
        list.resize(index + 1, Open::default());
    }
    list[index] = open;
}
