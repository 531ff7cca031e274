//! What address spaces take from one another: by hand, and compared with a model that examines every page.

use std::collections::BTreeMap;

use crate::common::fault;
use octavo_manager::{
    Access, Allocation, Event, Kind, Manager, MemoryConfig, MemoryId, PageId, PageRun, Plan, ProcessorId,
    ProcessorMask, Sharing, Shortage, SpaceConfig, SpaceId, Step, Topology, Yield,
};
use octavo_registry::Choice;
use octavo_units::Time;
use proptest::prelude::*;
use serde_json::json;

/// Pages of each address space; the first is a multiple of this. Not blocks: they share those.
const PAGES: u32 = 40;

struct Node {
    manager: Manager,
    plans: Vec<Plan>,
}

impl Node {
    /// Address spaces with these shares, on GPUs with this many frames each.
    fn new(eviction: &str, gpus: &[u32], shares: &[Option<f64>]) -> Self {
        let name = |index: usize| format!("job{index}");
        let said = shares.iter().enumerate().filter_map(|(index, share)| Some((name(index), json!((*share)?))));
        let options = json!({ "shares": said.collect::<serde_json::Map<_, _>>() }).as_object().unwrap().clone();
        let config = MemoryConfig {
            sharing: Choice { name: "quota".to_owned(), options },
            eviction: Choice::named(eviction),
            ..MemoryConfig::default()
        };
        let spaces: Vec<SpaceConfig> =
            (0..shares.len()).map(|index| SpaceConfig { name: name(index), ..SpaceConfig::default() }).collect();
        let manager =
            Manager::new(&config, &Topology::of(gpus.to_vec())).unwrap().with_spaces(&config, &spaces).unwrap();
        let mut node = Self { manager, plans: Vec::new() };
        (0..shares.len() as u16).for_each(|space| node.allocate(space, ProcessorMask::EMPTY, Kind::Managed));
        node
    }

    fn allocate(&mut self, space: u16, gpus: ProcessorMask, kind: Kind) {
        let run = PageRun { first: PageId(u32::from(space) * PAGES), count: PAGES };
        self.event(Event::Allocate(Allocation { space: SpaceId(space), gpus, kind, ..run.into() }));
    }

    /// Plays an event to its end; returns the plans.
    fn event(&mut self, event: Event<'_>) -> Vec<Plan> {
        self.manager.handle(Time::ZERO, event, &mut self.plans);
        self.manager.work_ahead(Time::ZERO, &mut self.plans);
        let mut all = Vec::new();
        while !self.plans.is_empty() {
            let plan = self.plans.remove(0);
            self.manager.complete(Time::ZERO, plan.id, &mut self.plans);
            self.manager.work_ahead(Time::ZERO, &mut self.plans);
            all.push(plan);
        }
        self.manager.check().unwrap();
        all
    }

    /// The space writes pages of its own on GPU 0, one after the other.
    fn write(&mut self, space: u16, pages: impl IntoIterator<Item = u32>) -> Vec<Plan> {
        let write = |page| fault(0, u32::from(space) * PAGES + page, Access::Write);
        pages.into_iter().flat_map(|page| self.event(Event::Faults(&[write(page)]))).collect()
    }

    /// Pages of each space on GPU 0.
    fn held(&self, spaces: u16) -> Vec<usize> {
        (0..spaces).map(|space| resident(&self.manager, space, MemoryId::gpu(0)).len()).collect()
    }

    fn for_others(&self) -> u64 {
        self.manager.statistics().evictions_for_others
    }
}

/// Pages of a space in a memory.
fn resident(manager: &Manager, space: u16, memory: MemoryId) -> Vec<u32> {
    let pages = u32::from(space) * PAGES..(u32::from(space) + 1) * PAGES;
    pages.filter(|&page| manager.page(PageId(page)).resident.contains(memory)).collect()
}

#[test]
fn what_is_unused_is_borrowed_and_given_back() {
    let mut node = Node::new("lru-page", &[8], &[None, None]);
    node.write(0, 0..8);
    assert_eq!(node.held(2), [8, 0], "nobody else wants it");
    node.write(1, 0..4);
    assert_eq!(node.held(2), [4, 4]);
    assert_eq!(resident(&node.manager, 0, MemoryId::gpu(0)), [4, 5, 6, 7], "used longest ago leave first");
    assert_eq!(node.for_others(), 4);
    node.write(1, 4..20);
    assert_eq!((node.held(2), node.for_others()), (vec![4, 4], 4), "from now on it gives up its own");
    node.write(0, 0..4);
    assert_eq!((node.held(2), node.for_others()), (vec![4, 4], 4));
}

/// Gives up at most this many pages of each.
struct AtMost(u32);

impl Sharing for AtMost {
    fn yields(&mut self, shortage: &Shortage<'_>, yields: &mut Vec<Yield>) {
        yields.extend(shortage.spaces().map(|space| Yield { space, most: self.0 }));
    }
}

#[test]
fn who_keeps_the_pages_of_a_full_memory_is_known() {
    let full = |most, eviction: &str| {
        let mut node = Node::new(eviction, &[8], &[None, None]);
        node.manager = node.manager.with_sharing(Box::new(AtMost(most)));
        node.write(0, 0..8);
        node.write(1, [0]);
        node
    };
    let (nothing, all) = (full(0, "lru-page"), full(u32::MAX, "lru-page"));
    assert!(nothing.manager.starving().is_some() && nothing.manager.sharing_keeps(MemoryId::gpu(0)));
    assert!(all.manager.starving().is_none() && !all.manager.sharing_keeps(MemoryId::gpu(0)));
    let evictor = full(u32::MAX, "none");
    assert!(evictor.manager.starving().is_some() && !evictor.manager.sharing_keeps(MemoryId::gpu(0)));
}

#[test]
fn shares_that_are_said_go_first_and_the_others_divide_what_is_left() {
    let mut node = Node::new("lru-page", &[20], &[Some(0.5), None, None]);
    node.write(2, 0..20);
    node.write(1, 0..20);
    assert_eq!(node.held(3), [0, 15, 5], "the last is down at its share, the second borrows that of the first");
    node.write(0, 0..20);
    assert_eq!(node.held(3), [10, 5, 5]);
}

#[test]
fn a_space_without_memory_is_guaranteed_nothing() {
    let mut node = Node::new("lru-page", &[8], &[None, None]);
    node.write(0, 0..8);
    node.write(1, 0..8);
    node.event(Event::Free(PageRun { first: PageId(PAGES), count: PAGES }));
    node.write(0, 8..16);
    assert_eq!(node.held(1), [8]);
    node.allocate(1, ProcessorMask::only(ProcessorId::gpu(1)), Kind::Managed);
    assert_eq!(node.held(2), [8, 0], "it runs elsewhere now");
    node.write(1, 0..4);
    assert_eq!(node.held(2), [7, 1], "a guest gets a page where all is guaranteed to others, and no more");
}

#[test]
fn a_block_is_not_taken_whole_below_the_share_of_its_space() {
    for eviction in ["lru-block", "sequential-local", "tree-neighborhood"] {
        let mut node = Node::new(eviction, &[24], &[None, None]);
        node.write(0, 0..15);
        node.write(1, 0..9);
        node.write(1, [9]);
        assert_eq!(node.held(2), [12, 10], "{eviction}: three above its share, of sixteen or more that leave together");
        node.write(1, [10]);
        node.write(1, [11]);
        assert_eq!(node.held(2), [12, 12], "{eviction}");
    }
}

#[test]
fn memory_that_stays_is_shared_by_nobody_and_shares_are_of_the_rest() {
    let mut node = Node::new("lru-page", &[PAGES + 8], &[None, None]);
    node.write(0, 0..30);
    node.write(1, 0..18);
    assert_eq!(node.held(2), [30, 18]);
    node.allocate(2, ProcessorMask::EMPTY, Kind::Device);
    assert_eq!(node.held(2), [4, 4], "those furthest above their shares give up more");
    node.write(0, 30..40);
    assert_eq!(node.held(2), [6, 2], "a third of the eight is the third's, who lends it");
}

#[test]
fn a_memory_that_shrinks_takes_from_those_furthest_above_their_shares() {
    let mut node = Node::new("lru-page", &[32], &[Some(0.5), None, None]);
    node.write(0, 0..20);
    node.write(1, 0..12);
    node.event(Event::Capacity { memory: MemoryId::gpu(0), pages: 16 });
    // Guaranteed are 8, 4 and 4 of 16: both are 12 and 8 above, and come down to 4 and 4, as the third has none.
    assert_eq!(node.held(3), [10, 6, 0]);
}

/// The rule in slow words, for one page at a time: everyone's pages in each memory, used longest ago first.
#[derive(Default)]
struct Model {
    queues: BTreeMap<(usize, u16), Vec<u32>>,
}

impl Model {
    fn held(&self, gpu: usize, space: u16) -> usize {
        self.queues.get(&(gpu, space)).map_or(0, Vec::len)
    }

    fn touch(&mut self, gpu: usize, space: u16, page: u32, capacity: usize, shares: &[Option<f64>]) {
        let spaces = 0..shares.len() as u16;
        for queue in self.queues.values_mut() {
            queue.retain(|&other| other != page);
        }
        if spaces.clone().map(|space| self.held(gpu, space)).sum::<usize>() == capacity {
            let above = |of: u16| self.held(gpu, of) as i64 - guaranteed(of, capacity, shares) as i64;
            let others = spaces.filter(|&of| of != space && self.held(gpu, of) > 0);
            // Of equals, the first.
            let furthest = others.rev().max_by_key(|&of| above(of));
            let loser = match furthest {
                Some(other) if above(other) > 0 || self.held(gpu, space) == 0 => other,
                _ => space,
            };
            self.queues.get_mut(&(gpu, loser)).unwrap().remove(0);
        }
        self.queues.entry((gpu, space)).or_default().push(page);
    }
}

fn guaranteed(space: u16, capacity: usize, shares: &[Option<f64>]) -> usize {
    let said: Vec<f64> = shares.iter().flatten().copied().collect();
    let scale = said.iter().sum::<f64>().max(1.0);
    let pages = |share: f64| (capacity as f64 * share / scale).floor() as usize;
    match shares[usize::from(space)] {
        Some(share) => pages(share),
        None => (capacity - said.iter().map(|&share| pages(share)).sum::<usize>()) / (shares.len() - said.len()),
    }
}

fn shares() -> impl Strategy<Value = Vec<Option<f64>>> {
    prop::collection::vec(prop::option::of(prop::sample::select(vec![0.125, 0.25, 0.5])), 2..5)
}

proptest! {
    #[test]
    fn page_by_page_the_rule_is_the_slow_one(
        shares in shares(),
        capacity in 1..24u32,
        touches in prop::collection::vec((0..2usize, any::<u16>(), 0..PAGES), 1..400),
    ) {
        let mut node = Node::new("lru-page", &[capacity; 2], &shares);
        let mut model = Model::default();
        for (gpu, space, page) in touches {
            let space = space % shares.len() as u16;
            let page = u32::from(space) * PAGES + page;
            if node.manager.page(PageId(page)).owner == MemoryId::gpu(gpu) {
                continue; // Nothing happens: the page is mapped.
            }
            node.event(Event::Faults(&[fault(gpu, page, Access::Write)]));
            model.touch(gpu, space, page, capacity as usize, &shares);
            for gpu in 0..2 {
                for space in 0..shares.len() as u16 {
                    let mut expected = model.queues.get(&(gpu, space)).cloned().unwrap_or_default();
                    expected.sort_unstable();
                    prop_assert_eq!(resident(&node.manager, space, MemoryId::gpu(gpu)), expected);
                }
            }
        }
    }

    /// Under any evictor of a space, and with plans of any length.
    #[test]
    fn no_other_takes_from_a_space_within_its_share(
        shares in shares(),
        eviction in prop::sample::select(octavo_manager::EVICTIONS.names().filter(|name| *name != "none").collect::<Vec<_>>()),
        capacity in 1..60u32,
        steps in prop::collection::vec((any::<u16>(), 0..PAGES, any::<prop::sample::Index>(), 0..3u8), 1..300),
    ) {
        let mut node = Node::new(eviction, &[capacity], &shares);
        let mut held = vec![0i64; shares.len()];
        let mut waiting = 0i64;
        for (space, page, which, what) in steps {
            let mut made = Vec::new();
            let known = node.plans.len();
            if what > 0 || known == 0 {
                let space = space % shares.len() as u16;
                let fault = fault(0, u32::from(space) * PAGES + page, Access::Write);
                if node.manager.believes_mapped(&fault) {
                    continue;
                }
                waiting += 1;
                node.manager.handle(Time::ZERO, Event::Faults(&[fault]), &mut made);
            } else {
                let plan = node.plans.remove(which.index(known));
                waiting -= woken(&plan);
                node.manager.complete(Time::ZERO, plan.id, &mut made);
            }
            for plan in &made {
                follow(plan, capacity as usize, &shares, &mut held)?;
            }
            node.plans.append(&mut made);
        }
        while !node.plans.is_empty() {
            let (plan, mut made) = (node.plans.remove(0), Vec::new());
            waiting -= woken(&plan);
            node.manager.complete(Time::ZERO, plan.id, &mut made);
            for plan in &made {
                follow(plan, capacity as usize, &shares, &mut held)?;
            }
            node.plans.append(&mut made);
        }
        prop_assert_eq!(waiting, 0, "somebody waits for ever");
        node.manager.check().unwrap();
    }
}

fn woken(plan: &Plan) -> i64 {
    let wakes = |step: &Step| if let Step::Wake { pages, .. } = step { i64::from(pages.count) } else { 0 };
    plan.steps.iter().map(wakes).sum()
}

/// Which pages a plan takes from whom; each plan serves faults of one space.
fn follow(
    plan: &Plan,
    capacity: usize,
    shares: &[Option<f64>],
    held: &mut [i64],
) -> Result<(), proptest::test_runner::TestCaseError> {
    let of = |page: PageId| page.0 / PAGES;
    let asking = plan.steps.iter().find_map(|step| match step {
        Step::Wake { pages, .. } => Some(of(pages.first)),
        _ => None,
    });
    let before = held.to_vec();
    for step in &plan.steps {
        match step {
            Step::Release { memory, pages } if !memory.on_host() => {
                pages.iter().for_each(|page| held[of(page) as usize] -= 1);
            }
            Step::Copy { to, pages, .. } if !to.on_host() => {
                pages.iter().for_each(|page| held[of(page) as usize] += 1);
            }
            _ => {}
        }
    }
    let own = asking.map(|asking| asking as usize);
    let at_its_share = own.is_some_and(|own| before[own] > 0);
    for space in (0..shares.len()).filter(|&space| Some(space) != own && at_its_share) {
        let kept = before[space].min(guaranteed(space as u16, capacity, shares) as i64);
        prop_assert!(held[space] >= kept, "space {space} fell from {} to {}: {plan:?}", before[space], held[space]);
    }
    Ok(())
}
