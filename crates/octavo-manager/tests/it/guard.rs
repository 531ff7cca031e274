//! `stock-driver`: times and steps by hand, from the rules of the driver (`uvm_perf_thrashing.c`), of two GPUs that take
//! a page from each other.

use crate::common::{choice, fault, show};
use octavo_manager::{
    Access, Allocation, Event, FastLinks, HOST, HOST_MEMORY, Kind, Manager, MemoryConfig, MemoryId, MemoryMask, PageId,
    PageRun, Topology,
};
use octavo_units::Time;

const US: u64 = 1_000_000;
const PAGE: PageId = PageId(3);

/// Two GPUs that touch one page, each access when the test says.
struct Fight {
    manager: Manager,
    woken: Vec<(u64, String)>,
}

impl Fight {
    fn new(options: &str) -> Self {
        Self::on(&Topology::unlimited(2), options)
    }

    fn on(topology: &Topology, options: &str) -> Self {
        Self::of(&MemoryConfig { guard: choice("stock-driver", options), ..MemoryConfig::default() }, topology)
    }

    fn of(config: &MemoryConfig, topology: &Topology) -> Self {
        let mut manager = Manager::new(config, topology).unwrap();
        let run = PageRun { first: PageId(0), count: 1024 };
        manager.handle(Time::ZERO, Event::Allocate(run.into()), &mut Vec::new());
        Self { manager, woken: Vec::new() }
    }

    /// With a prefetcher that brings the 64 KiB around faults once this many pages of their block have come in a row.
    fn with_tree(min_faults: u32) -> Self {
        let prefetch = choice("tree", &format!(r#"{{"min_faults": {min_faults}}}"#));
        let config = MemoryConfig { guard: choice("stock-driver", "{}"), prefetch, ..MemoryConfig::default() };
        Self::of(&config, &Topology::unlimited(2))
    }

    /// Something happens; its steps but wakes, which are noted. Plans are done at once.
    fn event(&mut self, at: u64, event: Event<'_>) -> Vec<String> {
        let mut plans = Vec::new();
        self.manager.handle(Time(at * US), event, &mut plans);
        let steps: Vec<String> = plans.iter().flat_map(|plan| plan.steps.iter().map(show)).collect();
        plans.iter().for_each(|plan| self.manager.complete(Time(at * US), plan.id, &mut Vec::new()));
        self.manager.check().unwrap();
        let (wakes, others): (Vec<String>, Vec<String>) = steps.into_iter().partition(|step| step.starts_with("wake"));
        self.woken.extend(wakes.into_iter().map(|wake| (at, wake)));
        others
    }

    /// A store of a GPU, at a time in microseconds; where the page is then.
    fn store(&mut self, at: u64, gpu: usize) -> MemoryId {
        self.event(at, Event::Faults(&[fault(gpu, PAGE.0, Access::Write)]));
        self.owner()
    }

    fn owner(&self) -> MemoryId {
        self.manager.page(PAGE).owner
    }

    fn count(&self, name: &str) -> u64 {
        self.manager.statistics().named(name).expect("counted")
    }

    fn deadline_us(&self) -> Option<u64> {
        self.manager.deadline().map(|time| time.0 / US)
    }
}

const GPU: [MemoryId; 2] = [MemoryId::gpu(0), MemoryId::gpu(1)];

/// Four moves: the first is the block's, the second the page's first, the third and fourth are within the lapse.
/// `threshold` 3 needs one more, the fifth.
fn five_moves(fight: &mut Fight) {
    for (number, at) in [0, 100, 200, 300, 400].into_iter().enumerate() {
        assert_eq!(fight.count("thrashing_pages"), 0);
        assert_eq!(fight.store(at, number % 2), GPU[number % 2], "move {number}");
    }
    assert_eq!((fight.count("thrashing_pages"), fight.owner()), (1, GPU[0]));
}

/// Over `NVLink` the page is pinned where it is as soon as processors compete for it, mapped by both, and unpinned 150
/// ms later.
#[test]
fn gpus_with_fast_links_share_the_page_where_it_is() {
    let mut fight = Fight::new("{}");
    five_moves(&mut fight);
    let steps = fight.event(500, Event::Faults(&[fault(1, PAGE.0, Access::Write)]));
    assert_eq!(steps, ["map gpu1 3 -> gpu0 rw"], "pinned with gpu0, which goes on without a fault");
    assert_eq!((fight.count("pinned_pages"), fight.count("throttled_faults")), (1, 0));
    assert_eq!(fight.deadline_us(), Some(500 + 150_000));
    assert_eq!(fight.event(150_499, Event::Tick), [""; 0]);
    assert_eq!(fight.event(150_500, Event::Tick), ["invalidate gpu1 3"]);
    assert_eq!((fight.count("unpinned_pages"), fight.manager.deadline()), (1, None));
    // Nothing is known about the page any more: it moves again.
    assert_eq!(fight.store(150_501, 1), GPU[1]);
}

/// Over PCIe who comes first in a period of 500 us gets the page, and the other waits for the end of it.
#[test]
fn gpus_without_fast_links_take_turns_until_the_page_is_pinned() {
    let mut fight = Fight::new(r#"{"fast_links": "none", "pin_threshold": 2, "adaptive_lapse": false}"#);
    five_moves(&mut fight);
    // gpu1 begins a period, until 1000, and is favoured: it gets the page. gpu0 waits until 1000.
    assert_eq!(fight.store(500, 1), GPU[1]);
    assert_eq!(fight.store(600, 0), GPU[1]);
    assert_eq!((fight.count("throttled_faults"), fight.deadline_us()), (1, Some(1000)));
    assert_eq!(fight.event(999, Event::Tick), [""; 0]);
    // Its wait is over, a new period begins, until 1500, and it is favoured. The last move was at 500, a lapse ago.
    fight.event(1000, Event::Tick);
    assert_eq!(fight.owner(), GPU[0]);
    assert_eq!(fight.woken.last().unwrap(), &(1000, "wake gpu0 3".to_owned()));
    assert_eq!(fight.store(1100, 1), GPU[0]);
    assert_eq!((fight.count("throttled_faults"), fight.deadline_us()), (2, Some(1500)));
    // Two faults were throttled: who is favoured next gets the page pinned, and the other maps it.
    let steps = fight.event(1500, Event::Tick);
    assert_eq!(fight.owner(), GPU[1]);
    assert_eq!(steps.last().unwrap(), "map gpu0 3 -> gpu1 rw", "{steps:?}");
    assert_eq!((fight.count("pinned_pages"), fight.deadline_us()), (1, Some(151_500)));
    assert_eq!(fight.store(1600, 0), GPU[1], "nobody has to fault");
    assert_eq!(fight.manager.statistics().stale_faults, 1);
}

/// The node decides which links are fast. With a link of one direction, the page is pinned as soon as it is at its end.
#[test]
fn links_are_as_fast_as_the_node_says() {
    let one_way = FastLinks::new(vec![MemoryMask::EMPTY, MemoryMask::only(GPU[1]), MemoryMask::EMPTY]);
    let expected = [
        (FastLinks::none(2), (0, 1, GPU[1])),
        (one_way, (1, 0, GPU[1])),
        (FastLinks::between_gpus(2), (1, 0, GPU[0])),
        (FastLinks::all(2), (1, 0, GPU[0])),
    ];
    for (fast, expected) in expected {
        let topology = Topology { fast, ..Topology::unlimited(2) };
        let mut fight = Fight::on(&topology, r#"{"adaptive_lapse": false}"#);
        five_moves(&mut fight);
        fight.store(500, 1);
        fight.store(600, 0);
        let found = (fight.count("pinned_pages"), fight.count("throttled_faults"), fight.owner());
        assert_eq!(found, expected, "{topology:?}");
    }
}

/// The favoured processor comes back within its own period: no processor is favoured for a moment, so it is again.
#[test]
fn the_same_processor_is_not_favoured_twice_in_a_row() {
    let mut fight = Fight::new(r#"{"fast_links": "none", "adaptive_lapse": false, "nap": "400us"}"#);
    five_moves(&mut fight);
    assert_eq!(fight.store(500, 1), GPU[1], "favoured until 900");
    // The host takes the page away within the period: it is not favoured and sleeps, half as long again.
    let host = octavo_manager::Fault { processor: HOST, page: PAGE, access: Access::Write };
    fight.event(800, Event::Faults(&[host]));
    assert_eq!((fight.owner(), fight.deadline_us()), (GPU[1], Some(950)));
    fight.event(950, Event::Tick);
    assert_eq!(fight.owner(), HOST_MEMORY, "favoured until 1350");
    // Both GPUs wait until then; gpu0 is favoured next, and gpu1 waits on.
    fight.store(1100, 0);
    fight.store(1200, 1);
    assert_eq!((fight.owner(), fight.count("throttled_faults")), (HOST_MEMORY, 3));
    fight.event(1350, Event::Tick);
    assert_eq!((fight.owner(), fight.deadline_us()), (GPU[0], Some(1750)));
    assert_eq!(fight.count("throttled_faults"), 3, "a fault that waits on is counted once");
    fight.event(1750, Event::Tick);
    assert_eq!((fight.owner(), fight.deadline_us()), (GPU[1], None));
}

/// The host sleeps past the lapse, so that the fight is over when it gets the page.
#[test]
fn a_whole_nap_of_the_host_ends_the_fight() {
    let mut fight = Fight::new(r#"{"fast_links": "none", "adaptive_lapse": false}"#);
    five_moves(&mut fight);
    assert_eq!(fight.store(500, 1), GPU[1], "favoured until 1000");
    let host = octavo_manager::Fault { processor: HOST, page: PAGE, access: Access::Write };
    fight.event(600, Event::Faults(&[host]));
    assert_eq!((fight.owner(), fight.deadline_us()), (GPU[1], Some(1200)));
    fight.event(1200, Event::Tick);
    assert_eq!(fight.owner(), HOST_MEMORY);
    assert_eq!(fight.store(1210, 1), GPU[1], "nobody waits for it");
    assert_eq!(fight.count("throttled_faults"), 1);
}

#[test]
fn moves_that_are_further_apart_are_no_fight() {
    let mut fight = Fight::new(r#"{"adaptive_lapse": false}"#);
    for number in 0..20 {
        assert_eq!(fight.store(number * 501, number as usize % 2), GPU[number as usize % 2]);
    }
    assert_eq!((fight.count("thrashing_pages"), fight.manager.deadline()), (0, None));
    // Adaptive, the lapse never grows from moves that far apart.
    let mut adaptive = Fight::new("{}");
    (0..20).for_each(|number| _ = adaptive.store(number * 501, number as usize % 2));
    assert_eq!(adaptive.count("thrashing_pages"), 0);
}

/// 500 us grow to 562.5 us with the second move, to 632.8 us with the third: the fourth, 600 us later, belongs to them.
#[test]
fn the_lapse_grows_while_moves_are_close() {
    let times = [0, 100, 200, 800, 1400, 2000];
    let fights = [true, false].map(|adaptive| {
        let mut fight = Fight::new(&format!(r#"{{"adaptive_lapse": {adaptive}}}"#));
        times.iter().enumerate().for_each(|(number, at)| _ = fight.store(*at, number % 2));
        fight.count("thrashing_pages")
    });
    assert_eq!(fights, [1, 0]);
}

#[test]
fn what_the_program_says_goes_before_what_is_known() {
    let mut fight = Fight::new(r#"{"adaptive_lapse": false}"#);
    five_moves(&mut fight);
    // It wants the page with gpu1, and nothing is known about it any more.
    let wish = Event::Prefetch { pages: PageRun::one(PAGE), to: GPU[1] };
    fight.event(450, wish);
    assert_eq!(fight.owner(), GPU[1]);
    assert_eq!(fight.store(500, 0), GPU[0]);
    assert_eq!(fight.count("pinned_pages"), 0);
}

#[test]
fn a_page_that_is_pinned_does_not_come_along() {
    let mut fight = Fight::with_tree(20);
    five_moves(&mut fight);
    fight.store(500, 1);
    assert_eq!((fight.count("pinned_pages"), fight.owner()), (1, GPU[0]));
    let faults: Vec<_> = (8..30).map(|page| fault(1, page, Access::Write)).collect();
    fight.event(600, Event::Faults(&faults));
    let owners = [2, PAGE.0, 4].map(|page| fight.manager.page(PageId(page)).owner);
    assert_eq!(owners, [GPU[1], GPU[0], GPU[1]]);
}

/// `grow_fault_granularity`: the 64 KiB of a page that is fought over do not come as a whole, others do.
#[test]
fn neighbours_of_a_page_that_is_fought_over_do_not_come_along() {
    let mut fight = Fight::with_tree(6);
    five_moves(&mut fight);
    let apart: Vec<_> = (0..6).map(|number| fault(1, 200 + 32 * number, Access::Write)).collect();
    fight.event(500, Event::Faults(&apart));
    fight.event(600, Event::Faults(&[fault(1, 8, Access::Write)]));
    let owners = [8, 9, 200, 201].map(|page| fight.manager.page(PageId(page)).owner);
    assert_eq!(owners, [GPU[1], HOST_MEMORY, GPU[1], GPU[1]]);
}

#[test]
fn nobody_fights_over_memory_of_the_operating_system() {
    let mut fight = Fight::new("{}");
    let run = PageRun { first: PageId(2048), count: 8 };
    fight.event(0, Event::Allocate(Allocation { kind: Kind::System, ..run.into() }));
    for (number, at) in [0, 100, 200, 300, 400, 500].into_iter().enumerate() {
        fight.event(at, Event::Faults(&[fault(number % 2, 2051, Access::Write)]));
        assert_eq!(fight.manager.page(PageId(2051)).owner, GPU[number % 2]);
    }
    assert_eq!(fight.count("thrashing_pages"), 0);
}

#[test]
fn faults_that_wait_for_freed_pages_are_forgotten() {
    let mut fight = Fight::new(r#"{"fast_links": "none", "adaptive_lapse": false}"#);
    five_moves(&mut fight);
    fight.store(500, 1);
    fight.store(600, 0);
    assert_eq!(fight.deadline_us(), Some(1000));
    let run = PageRun { first: PageId(0), count: 1024 };
    fight.event(700, Event::Free(run));
    assert_eq!(fight.manager.deadline(), None);
    fight.event(800, Event::Allocate(run.into()));
    assert_eq!(fight.store(900, 0), GPU[0], "a new page that nobody fought over");
}

#[test]
fn a_pinned_page_that_is_freed_is_not_unpinned() {
    let mut fight = Fight::new("{}");
    five_moves(&mut fight);
    fight.store(500, 1);
    assert_eq!(fight.count("pinned_pages"), 1);
    fight.event(600, Event::Free(PageRun { first: PageId(0), count: 1024 }));
    assert_eq!(fight.manager.deadline(), None);
}

/// gpu1 was favoured last. If that is forgotten, it is favoured again in the next fight; if not, it has to wait.
#[test]
fn a_quiet_block_is_forgotten_after_an_epoch() {
    let owners = ["10ms", "1s"].map(|epoch| {
        let options = format!(r#"{{"fast_links": "none", "adaptive_lapse": false, "epoch": "{epoch}"}}"#);
        let mut fight = Fight::new(&options);
        five_moves(&mut fight);
        assert_eq!(fight.store(500, 1), GPU[1]);
        for (number, at) in [20_000, 20_100, 20_200, 20_300, 20_400].into_iter().enumerate() {
            assert_eq!(fight.count("thrashing_pages"), 1, "what was long ago is no part of this fight");
            fight.store(at, number % 2);
        }
        assert_eq!(fight.count("thrashing_pages"), 2);
        fight.store(20_500, 1)
    });
    assert_eq!(owners, [GPU[1], GPU[0]]);
}

#[test]
fn options_out_of_range_are_refused() {
    for (options, key) in [
        (r#"{"threshold": 8}"#, "guard.threshold"),
        (r#"{"pin_threshold": 0}"#, "guard.pin_threshold"),
        (r#"{"nap": "0ns"}"#, "guard.nap"),
        (r#"{"fast_link": "none"}"#, "guard.fast_link"),
    ] {
        let config = MemoryConfig { guard: choice("stock-driver", options), ..MemoryConfig::default() };
        assert_eq!(config.resolve().unwrap_err().key, key);
    }
}

/// Moves that are a lapse apart, 500 us, are within it.
#[test]
fn counting_begins_with_two_moves_within_the_lapse() {
    for (gap, fights) in [(500, 1), (501, 0), (1000, 0)] {
        let mut fight = Fight::new(r#"{"adaptive_lapse": false}"#);
        for (number, at) in [0, gap, gap + 100, gap + 200, gap + 300].into_iter().enumerate() {
            fight.store(at, number % 2);
        }
        assert_eq!(fight.count("thrashing_pages"), fights, "{gap} us");
    }
}

/// The driver's timer comes again 20 us later.
#[test]
fn a_page_in_an_unfinished_plan_is_unpinned_a_little_later() {
    let mut fight = Fight::new("{}");
    five_moves(&mut fight);
    let mut plans = Vec::new();
    fight.manager.handle(Time(500 * US), Event::Faults(&[fault(1, PAGE.0, Access::Write)]), &mut plans);
    fight.manager.handle(Time(150_500 * US), Event::Tick, &mut Vec::new());
    assert_eq!((fight.count("unpinned_pages"), fight.deadline_us()), (0, Some(150_520)));
    plans.iter().for_each(|plan| fight.manager.complete(Time(150_510 * US), plan.id, &mut Vec::new()));
    assert_eq!(fight.event(150_520, Event::Tick), ["invalidate gpu1 3"]);
    assert_eq!(fight.count("unpinned_pages"), 1);
}

#[test]
fn a_page_that_is_pinned_for_ever_is_never_unpinned() {
    let mut fight = Fight::new(r#"{"pin": "0ps"}"#);
    five_moves(&mut fight);
    fight.store(500, 1);
    assert_eq!((fight.count("pinned_pages"), fight.deadline_us()), (1, None));
    assert_eq!(fight.event(10_000_000, Event::Tick), [""; 0]);
    assert_eq!(fight.count("unpinned_pages"), 0);
}
