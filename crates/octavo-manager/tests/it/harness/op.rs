//! Things that happen to a node, drawn at random with enough locality that pages are shared and groups form.

use std::collections::BTreeMap;

use octavo_manager::{
    Access, AccessCount, Accessed, Advice, Event, Fault, HOST, HOST_MEMORY, KernelEnd, Kind, MemoryId, PageId, PageRun,
    ProcessorId, ProcessorMask, SpaceId,
};
use octavo_units::Time;
use proptest::prelude::*;

use super::Harness;

/// One thing. Numbers are reduced to the node's size when it happens.
#[derive(Clone, Debug)]
pub enum Op {
    /// Processors touch pages; the faults are one batch.
    Touch(Vec<Touch>),
    /// One GPU touches consecutive pages, in one batch.
    Sweep { gpu: u8, first: u32, pages: u32, write: bool },
    /// GPUs take turns at the pages around one until most of them must have reached any fault threshold.
    Storm { gpu: u8, around: u32, level: u8, write: bool },
    /// An access counter speaks up.
    Counter { gpu: u8, page: u32 },
    /// One step of some plan.
    Advance(u8),
    /// The rest of some plan, and its acknowledgement.
    Finish(u8),
    /// Some plan is refused after a few steps and some pages of the next.
    Fail(u8, u8, u8),
    /// Everything under way is finished.
    Settle,
    /// A GPU's memory becomes this large.
    Resize { gpu: u8, pages: u32 },
    /// All of these pages that exist are freed.
    Thin { first: u32, pages: u32 },
    /// All of these pages that do not exist are allocated again.
    Thicken { first: u32, pages: u32 },
    /// Time passes, in units of the mix.
    Wait(u8),
    /// The second allocation is freed and made again.
    Renew,
    /// The periodic report of accesses, to strategies that ask for one.
    Report(Vec<(u32, u8, u32)>),
    /// Mapped pages are accessed: page, GPU and how often.
    Accessed(Vec<(u32, u8, u32)>),
    /// A kernel of one of the two applications ends.
    KernelEnd(u8),
    /// A program gives advice about all of these pages that are managed.
    Advise { first: u32, pages: u32, advice: Advice },
    /// A program wants pages in the memory of a GPU or of [the host](HOSTS).
    Prefetch { first: u32, pages: u32, to: u8 },
}

/// One access, by a GPU or by [the host](HOSTS).
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub gpu: u8,
    pub page: u32,
    pub write: bool,
}

/// The number of a GPU that stands for the host.
const HOSTS: u8 = u8::MAX;

/// The node that operations are reduced to.
#[derive(Clone, Copy, Debug)]
pub struct World {
    pub gpus: usize,
    /// Pages of the first and of the second allocation; the second starts right behind the first.
    pub pages: (u32, u32),
}

impl World {
    pub fn total(self) -> u32 {
        self.pages.0 + self.pages.1
    }

    pub fn allocate(self, harness: &mut Harness) {
        harness.second_space = self.pages.0;
        harness.allocate(0, self.pages.0);
        harness.allocate(self.pages.0, self.pages.1);
    }

    /// Advice about the processors that there are.
    pub fn sensible(self, advice: Advice) -> Advice {
        let there = |processor: &ProcessorId| processor.index() <= self.gpus;
        let preferred = advice.preferred.filter(|memory| there(&memory.processor()));
        let accessed_by = advice.accessed_by.iter().filter(there).fold(ProcessorMask::EMPTY, ProcessorMask::with);
        Advice { preferred, accessed_by, ..advice }
    }

    fn gpu(self, number: u8) -> ProcessorId {
        ProcessorId::gpu(number as usize % self.gpus)
    }

    fn fault(self, touch: Touch) -> Fault {
        let access = if touch.write { Access::Write } else { Access::Read };
        let processor = if touch.gpu == HOSTS { HOST } else { self.gpu(touch.gpu) };
        Fault { processor, page: PageId(touch.page % self.total()), access }
    }
}

/// Which operations may happen.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    /// Plans stay unfinished for a while, and some fail.
    pub concurrent: bool,
    /// Plans fail.
    pub failing: bool,
    /// Capacities change; the largest.
    pub resize: Option<u32>,
    /// Parts of allocations are freed and allocated again.
    pub thinned: bool,
    /// Programs say how they use pages, and want them in memories.
    pub speaking: bool,
    /// The unit of a wait, in picoseconds; 0 where no time passes.
    pub tick: u64,
    /// Most pages that one GPU touches in one batch.
    pub sweep: u32,
    /// Storms over up to 8 to this power of pages.
    pub storm_level: u8,
}

/// One operation of a mix.
pub fn op(mix: Mix) -> impl Strategy<Value = Op> {
    let mut kinds = calm_kinds(mix.storm_level, mix.sweep);
    if mix.concurrent {
        kinds.push((8, any::<u8>().prop_map(Op::Advance).boxed()));
        kinds.push((8, any::<u8>().prop_map(Op::Finish).boxed()));
    }
    if mix.failing {
        kinds.push((
            3,
            (any::<u8>(), 0u8..8, 0u8..5).prop_map(|(plan, steps, pages)| Op::Fail(plan, steps, pages)).boxed(),
        ));
    }
    if let Some(largest) = mix.resize {
        kinds.push((1, (0u8..16, 1..=largest).prop_map(|(gpu, pages)| Op::Resize { gpu, pages }).boxed()));
    }
    if mix.thinned {
        let run = || (0u32..64, 1u32..12);
        kinds.push((2, run().prop_map(|(first, pages)| Op::Thin { first, pages }).boxed()));
        kinds.push((2, run().prop_map(|(first, pages)| Op::Thicken { first, pages }).boxed()));
    }
    if mix.speaking {
        let run = || (page(), 1u32..24);
        let advise = (run(), advice()).prop_map(|((first, pages), advice)| Op::Advise { first, pages, advice });
        kinds.push((2, advise.boxed()));
        let to = prop_oneof![5 => 0u8..16, 1 => Just(HOSTS)];
        kinds.push((2, (run(), to).prop_map(|((first, pages), to)| Op::Prefetch { first, pages, to }).boxed()));
    }
    if mix.tick > 0 {
        kinds.push((6, prop_oneof![3 => 1u8..6, 1 => 1u8..100].prop_map(Op::Wait).boxed()));
    }
    proptest::strategy::Union::new_weighted(kinds)
}

/// The hints of a program: often few.
pub fn advice() -> impl Strategy<Value = Advice> {
    let memory = prop_oneof![3 => Just(None), 2 => (0u8..5).prop_map(|number| Some(MemoryId(number)))];
    (memory, prop_oneof![1 => Just(0u32), 1 => 0u32..32], prop::bool::weighted(0.3)).prop_map(
        |(preferred, accessed_by, read_mostly)| {
            let named = (0..5).filter(|bit| accessed_by >> bit & 1 == 1).map(ProcessorId);
            let accessed_by = named.fold(ProcessorMask::EMPTY, ProcessorMask::with);
            Advice { preferred, accessed_by, read_mostly }
        },
    )
}

/// Few pages are touched often, many now and then.
fn page() -> impl Strategy<Value = u32> {
    prop_oneof![5 => 0u32..12, 2 => 0u32..64, 1 => 0u32..4096]
}

fn calm_kinds(storm_level: u8, longest: u32) -> Vec<(u32, BoxedStrategy<Op>)> {
    let toucher = || prop_oneof![7 => 0u8..16, 1 => Just(HOSTS)];
    let touch = (toucher(), page(), any::<bool>()).prop_map(|(gpu, page, write)| Touch { gpu, page, write });
    let sweep = (toucher(), page(), 1..longest, any::<bool>());
    let storm = (0u8..16, page(), 0..=storm_level, prop::bool::weighted(0.4));
    vec![
        (8, proptest::collection::vec(touch, 1..6).prop_map(Op::Touch).boxed()),
        (2, sweep.prop_map(|(gpu, first, pages, write)| Op::Sweep { gpu, first, pages, write }).boxed()),
        (3, storm.prop_map(|(gpu, around, level, write)| Op::Storm { gpu, around, level, write }).boxed()),
        (3, (0u8..16, page()).prop_map(|(gpu, page)| Op::Counter { gpu, page }).boxed()),
        (2, Just(Op::Settle).boxed()),
        (1, Just(Op::Renew).boxed()),
        (1, proptest::collection::vec((page(), 0u8..16, 1u32..1000), 0..20).prop_map(Op::Report).boxed()),
        (2, proptest::collection::vec((page(), 0u8..16, 1u32..4), 0..8).prop_map(Op::Accessed).boxed()),
        (1, (0u8..2).prop_map(Op::KernelEnd).boxed()),
    ]
}

impl Harness {
    /// Makes one operation happen. If nothing is concurrent, its plans are finished at once.
    pub fn apply(&mut self, op: &Op, world: World, mix: Mix) {
        match *op {
            Op::Touch(ref touches) => self.touch(&touches.iter().map(|&touch| world.fault(touch)).collect::<Vec<_>>()),
            Op::Sweep { gpu, first, pages, write } => {
                let touches = (first..first + pages).map(|page| world.fault(Touch { gpu, page, write }));
                self.touch(&touches.collect::<Vec<_>>());
            }
            Op::Storm { gpu, around, level, write } => self.storm(world, Touch { gpu, page: around, write }, level),
            Op::Counter { gpu, page } => self.counter(world.gpu(gpu), PageId(page % world.total())),
            Op::Advance(plan) if !self.running.is_empty() => self.advance(plan as usize % self.running.len()),
            Op::Finish(plan) if !self.running.is_empty() => self.finish(plan as usize % self.running.len()),
            Op::Fail(plan, steps, pages) if !self.running.is_empty() => {
                self.fail(plan as usize % self.running.len(), steps.into(), pages.into());
            }
            Op::Advance(_) | Op::Finish(_) | Op::Fail(..) => {}
            Op::Settle => self.settle(),
            Op::Wait(ticks) => self.wait(self.now + Time(u64::from(ticks) * mix.tick)),
            Op::Resize { gpu, pages } => self.resize(world.gpu(gpu), pages),
            Op::Renew => {
                self.settle();
                self.free_present(world.pages.0, world.pages.1);
                self.allocate_missing(world.pages.0, world.pages.1);
            }
            Op::Thin { first, pages } => {
                self.settle();
                self.free_present(first % world.total(), pages.min(world.total() - first % world.total()));
            }
            Op::Thicken { first, pages } => {
                self.allocate_missing(first % world.total(), pages.min(world.total() - first % world.total()));
            }
            Op::Report(ref counts) => self.report(world, counts),
            Op::Accessed(ref accesses) => self.accessed(world, accesses),
            Op::KernelEnd(space) => self.kernel_end(u16::from(space), world.gpus),
            Op::Advise { first, pages, advice } => {
                let mut runs = self.runs_of(world, first, pages);
                runs.retain(|run| self.kind(run.first) == Kind::Managed);
                runs.into_iter().for_each(|run| self.advise(run, world.sensible(advice)));
            }
            Op::Prefetch { first, pages, to } => {
                let to = if to == HOSTS { HOST_MEMORY } else { world.gpu(to).memory() };
                for run in self.runs_of(world, first, pages) {
                    self.prefetch(run, to);
                }
            }
        }
        if !mix.concurrent {
            self.settle();
        }
    }

    /// Existing pages, by application.
    fn runs_of(&self, world: World, first: u32, pages: u32) -> Vec<PageRun> {
        let first = first % world.total();
        self.runs(first, pages.min(world.total() - first), true)
    }

    /// Sorted by page and GPU, one entry for each.
    fn report(&mut self, world: World, counts: &[(u32, u8, u32)]) {
        let named = |&(page, gpu, lines): &(u32, u8, u32)| ((page % world.total(), world.gpu(gpu)), lines);
        let there = |((page, _), _): &((u32, ProcessorId), u32)| self.machine.allocated(PageId(*page));
        let sorted: BTreeMap<(u32, ProcessorId), u32> = counts.iter().map(named).filter(there).collect();
        let report = sorted.into_iter().map(|((page, processor), lines)| {
            let page = PageId(page);
            AccessCount { processor, page, lines }
        });
        let report: Vec<AccessCount> = report.collect();
        self.event(Event::Report(&report));
        self.model.iter_mut().for_each(|model| model.report(&report));
        self.compare();
    }

    fn accessed(&mut self, world: World, accesses: &[(u32, u8, u32)]) {
        let named = |&(page, gpu, times): &(u32, u8, u32)| {
            let (processor, page) = (world.gpu(gpu), PageId(page % world.total()));
            Accessed { processor, page, times, stores: times > 1 }
        };
        let accesses: Vec<Accessed> = accesses.iter().map(named).collect();
        self.manager.note_accesses(&accesses);
        self.model.iter_mut().for_each(|model| model.accessed(&accesses));
    }

    fn kernel_end(&mut self, space: u16, gpus: usize) {
        let end = KernelEnd { space: SpaceId(space), gpus: ProcessorMask::all_gpus(gpus) };
        self.event(Event::KernelEnd(end));
        self.model.iter_mut().for_each(|model| model.kernel_end(space));
        self.compare();
    }

    /// Five of each eight pages, five of each eight of those spans and so on are touched by one GPU after the other.
    fn storm(&mut self, world: World, touch: Touch, level: u8) {
        let span = 8u32.pow(level.into());
        let base = touch.page - touch.page % span;
        let chosen = (0..span).filter(|offset| (0..level).all(|digit| offset >> (3 * digit) & 7 < 5));
        let pages: Vec<u32> = chosen.map(|offset| base + offset).filter(|&page| page < world.total()).collect();
        for round in 0..4 {
            let round_touch = |&page: &u32| world.fault(Touch { gpu: touch.gpu.wrapping_add(round), page, ..touch });
            self.touch(&pages.iter().map(round_touch).collect::<Vec<_>>());
            self.settle();
        }
    }
}
