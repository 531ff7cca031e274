//! Idle memory of other GPUs between a GPU and the host, against a [reference](crate::reference::tiers).

use std::collections::VecDeque;

use crate::common::choice;
use crate::reference::tiers::{Counts, Place, Tiers};
use octavo_manager::{
    Access, Event, Fault, HOST, Manager, MemoryConfig, MemoryId, Mode, PageId, PageRun, PlanId, ProcessorId, Topology,
};
use octavo_registry::Choice;
use octavo_units::{Bytes, Time};
use proptest::collection::vec;
use proptest::prelude::*;

/// Pages of a history, each of them a block.
const PAGES: u32 = 40;
const PAGE: u64 = 2 << 20;

/// A node without plans that overlap.
#[derive(Clone, Debug)]
pub struct Lending {
    pub capacity: Vec<u32>,
    pub reserve: u32,
    pub first_touch: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum Happening {
    /// A GPU touches a page; the number behind the last is the host.
    Touch(usize, u32),
    Resize(usize, u32),
}

pub fn lending() -> impl Strategy<Value = Lending> {
    (vec(1u32..12, 1..5), 0u32..5, any::<bool>()).prop_map(|(capacity, reserve, first_touch)| Lending {
        capacity,
        reserve,
        first_touch,
    })
}

pub fn happening() -> impl Strategy<Value = Happening> {
    let page = || prop_oneof![2 => 0..12u32, 3 => 0..PAGES];
    prop_oneof![
        // GPU 0 fills more than it has, and the others little.
        6 => page().prop_map(|page| Happening::Touch(0, page)),
        6 => (0..64usize, page()).prop_map(|(who, page)| Happening::Touch(who, page)),
        1 => (0..4usize, 1..14u32).prop_map(|(gpu, pages)| Happening::Resize(gpu, pages)),
    ]
}

/// The manager and the model, and what the manager has been told so far.
struct Both {
    manager: Manager,
    model: Tiers,
    events: u64,
}

/// Plays a history; how many events that was.
pub fn play(lending: &Lending, happenings: &[Happening]) -> u64 {
    let mut both = Both::new(lending);
    for &happening in happenings {
        both.happens(happening);
        both.compare();
    }
    both.events
}

impl Both {
    fn new(lending: &Lending) -> Self {
        let options = format!(r#"{{"reserve": "{}B"}}"#, PAGE * u64::from(lending.reserve));
        let config = MemoryConfig {
            placement: Choice::named(if lending.first_touch { "first-touch" } else { "on-touch" }),
            demotion: choice("spare-memory", &options),
            eviction: Choice::named("lru-page"),
            page_size: Bytes(PAGE),
            ..MemoryConfig::default()
        };
        let manager = Manager::new(&config, &Topology::of(lending.capacity.clone())).unwrap();
        let capacity = lending.capacity.iter().map(|&pages| pages as usize).collect();
        let model = Tiers::new(capacity, lending.reserve as usize, lending.first_touch, PAGES as usize);
        let mut both = Self { manager, model, events: 0 };
        both.event(Event::Allocate(PageRun { first: PageId(0), count: PAGES }.into()));
        both
    }

    fn happens(&mut self, happening: Happening) {
        let gpus = self.model.capacity.len();
        match happening {
            Happening::Touch(who, page) => {
                let who = who % (gpus + 1);
                let processor = if who == gpus { HOST } else { ProcessorId::gpu(who) };
                if self.manager.page(PageId(page)).mapped.contains(processor) {
                    return;
                }
                self.event(Event::Faults(&[Fault { processor, page: PageId(page), access: Access::Write }]));
                self.model.fault(who, page as usize);
            }
            Happening::Resize(gpu, pages) => {
                let gpu = gpu % gpus;
                self.event(Event::Capacity { memory: MemoryId::gpu(gpu), pages });
                self.model.resize(gpu, pages as usize);
            }
        }
    }

    /// Hands the manager an event, and finishes every plan that follows, in order.
    fn event(&mut self, event: Event<'_>) {
        let mut plans = Vec::new();
        self.manager.handle(Time::ZERO, event, &mut plans);
        self.manager.work_ahead(Time::ZERO, &mut plans);
        self.events += 1;
        let mut unfinished: VecDeque<PlanId> = plans.drain(..).map(|plan| plan.id).collect();
        while let Some(id) = unfinished.pop_front() {
            self.manager.complete(Time::ZERO, id, &mut plans);
            self.manager.work_ahead(Time::ZERO, &mut plans);
            self.events += 1;
            unfinished.extend(plans.drain(..).map(|plan| plan.id));
        }
    }

    fn compare(&self) {
        let gpus = self.model.capacity.len();
        for page in 0..PAGES {
            let view = self.manager.page(PageId(page));
            let place = match (view.owner.gpu_index(), view.mode) {
                (None, _) => Place::Host,
                (Some(gpu), Mode::Spare) if view.backed() => Place::Kept(gpu),
                (Some(gpu), mode) => {
                    assert_ne!(mode, Mode::Spare, "page {page} has no copy on the host");
                    Place::Own(gpu)
                }
            };
            assert_eq!(place, self.model.places[page as usize], "page {page}: manager, then model");
            let mut mapped = self.model.mapped[page as usize].clone();
            mapped.sort_unstable();
            let who = |who: usize| if who == gpus { HOST } else { ProcessorId::gpu(who) };
            let found: Vec<usize> = (0..=gpus).filter(|&index| view.mapped.contains(who(index))).collect();
            assert_eq!(found, mapped, "who maps page {page}: manager, then model");
        }
        for gpu in 0..gpus {
            let held = self.manager.frames_held(MemoryId::gpu(gpu)) as usize;
            assert_eq!(held, self.model.held(gpu), "frames of GPU {gpu}: manager, then model");
        }
        let found = self.manager.statistics();
        let found = Counts {
            migrations: found.migrations,
            evictions_to_spare: found.evictions_to_spare,
            evictions_written: found.evictions_written,
            written_back: found.written_back,
            fetched_from_spare: found.fetched_from_spare,
            yielded: found.yielded,
        };
        assert_eq!(found, self.model.counts, "manager, then model");
        self.manager.check().unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_leaves_goes_to_idle_gpus_in_turn_and_comes_back(
        lending in lending(),
        happenings in vec(happening(), 1..200),
    ) {
        play(&lending, &happenings);
    }
}
