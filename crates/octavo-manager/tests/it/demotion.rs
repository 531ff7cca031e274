//! Where victims go, and when they leave, by hand.

use crate::common::{choice, fault, show};
use octavo_manager::{
    Access, Advice, Allocation, CounterNotification, CounterSpec, Demotion, Event, HOST_MEMORY, Kind, Manager,
    MemoryConfig, MemoryId, MemoryMask, Mode, Occupancy, PageId, PageRun, Plan, PlanClass, PrefetchPlan, ProcessorId,
    SpaceId, SystemConfig, SystemTable, Topology,
};
use octavo_units::{Bytes, Time};

fn manager(demotion: &str, gpus: &[u32]) -> Manager {
    let config = MemoryConfig { demotion: choice("reserve", demotion), ..MemoryConfig::default() };
    allocated(Manager::new(&config, &Topology::of(gpus.to_vec())).unwrap())
}

fn allocated(mut manager: Manager) -> Manager {
    manager.handle(Time::ZERO, Event::Allocate(PageRun { first: PageId(0), count: 64 }.into()), &mut Vec::new());
    manager
}

/// An event, followed by the work that nobody waits for.
fn handle(manager: &mut Manager, event: Event<'_>, plans: &mut Vec<Plan>) {
    manager.handle(Time::ZERO, event, plans);
    manager.work_ahead(Time::ZERO, plans);
}

/// A plan is done.
fn complete(manager: &mut Manager, plan: &Plan, plans: &mut Vec<Plan>) {
    manager.complete(Time::ZERO, plan.id, plans);
    manager.work_ahead(Time::ZERO, plans);
}

/// GPU 0 writes a page: the plans, which are done in order.
fn write(manager: &mut Manager, page: u32) -> Vec<Plan> {
    by(manager, 0, page)
}

/// Another does.
fn by(manager: &mut Manager, gpu: usize, page: u32) -> Vec<Plan> {
    let (mut plans, mut all) = (Vec::new(), Vec::new());
    handle(manager, Event::Faults(&[fault(gpu, page, Access::Write)]), &mut plans);
    while !plans.is_empty() {
        let plan = plans.remove(0);
        complete(manager, &plan, &mut plans);
        all.push(plan);
    }
    manager.check().unwrap();
    all
}

fn copies(plans: &[Plan]) -> Vec<Vec<String>> {
    let copies = |plan: &Plan| plan.steps.iter().map(show).filter(|step| step.starts_with("copy")).collect();
    plans.iter().map(copies).collect()
}

/// Steps in which a word occurs.
fn shown(plans: &[Plan], word: &str) -> Vec<String> {
    let steps = plans.iter().flat_map(|plan| &plan.steps).map(show);
    steps.filter(|step| step.contains(word)).collect()
}

#[test]
fn victims_leave_by_plans_of_their_own_before_their_frames_are_needed() {
    let mut manager = manager(r#"{"free": "8KiB"}"#, &[4]);
    for page in [0, 1] {
        assert_eq!(copies(&write(&mut manager, page)), [[format!("copy {page} host gpu0 migration")]]);
    }
    // Two of four frames are free. One more page is one too many: page 0 goes, and nobody waits for that.
    let plans = write(&mut manager, 2);
    assert_eq!(copies(&plans), [["copy 2 host gpu0 migration"], ["copy 0 gpu0 host eviction"]]);
    assert_eq!(plans[0].room_steps, 0);
    assert_eq!(manager.frames_held(MemoryId::gpu(0)), 2);
}

#[test]
fn at_most_half_of_a_memory_is_kept_free() {
    let mut manager = manager("{}", &[3]);
    (0..8).for_each(|page| _ = write(&mut manager, page));
    assert_eq!(manager.frames_held(MemoryId::gpu(0)), 2, "100 MiB are more than there is");
}

#[test]
fn what_stays_leaves_less_to_keep_free() {
    // Two of four frames are to be free: one page of device memory, or two, are free of that.
    for (device, free) in [(0, 2), (1, 1), (2, 0), (3, 0)] {
        let mut manager = manager(r#"{"free": "8KiB"}"#, &[4]);
        let run = PageRun { first: PageId(1000), count: device };
        if device > 0 {
            let event = Event::Allocate(Allocation { kind: Kind::Device, ..run.into() });
            let mut plans = Vec::new();
            handle(&mut manager, event, &mut plans);
            plans.iter().for_each(|plan| complete(&mut manager, plan, &mut Vec::new()));
        }
        (0..8).for_each(|page| _ = write(&mut manager, page));
        assert_eq!(manager.frames_held(MemoryId::gpu(0)), 4 - free, "{device} pages of device memory");
    }
}

#[test]
fn memory_of_the_operating_system_on_a_gpu_leaves_less_to_keep_free() {
    let config = MemoryConfig {
        system: SystemConfig { placement: choice("coherent", "{}"), ..SystemConfig::default() },
        demotion: choice("reserve", r#"{"free": "8KiB"}"#),
        ..MemoryConfig::default()
    };
    for (touched, free) in [(0, 2), (1, 1), (2, 0), (3, 0)] {
        let topology = Topology { system: SystemTable::Shared { on_gpus: true }, ..Topology::of(vec![4]) };
        let mut manager = allocated(Manager::new(&config, &topology).unwrap());
        let run = PageRun { first: PageId(3000), count: 4 };
        let allocation = Allocation { kind: Kind::System, populated: false, ..run.into() };
        handle(&mut manager, Event::Allocate(allocation), &mut Vec::new());
        (3000..3000 + touched).for_each(|page| _ = write(&mut manager, page));
        (0..8).for_each(|page| _ = write(&mut manager, page));
        assert_eq!(manager.frames_held(MemoryId::gpu(0)), 4 - free, "{touched} pages of system memory");
    }
}

/// Two GPUs with this many pages of 2 MiB, of which GPU 1 keeps `reserve` MiB.
fn lenders(reserve: u32, gpus: &[u32]) -> Manager {
    let options = format!(r#"{{"reserve": "{reserve}MiB"}}"#);
    let demotion = choice("spare-memory", &options);
    let config = MemoryConfig { demotion, page_size: Bytes(2 << 20), ..MemoryConfig::default() };
    allocated(Manager::new(&config, &Topology::of(gpus.to_vec())).unwrap())
}

#[test]
fn victims_go_to_a_neighbour_and_get_a_copy_on_the_host_in_the_background() {
    let mut manager = lenders(2, &[1, 2]);
    write(&mut manager, 0);
    let plans = write(&mut manager, 1);
    let expected =
        [vec!["copy 0 gpu0 gpu1 eviction", "copy 1 host gpu0 migration"], vec!["copy 0 gpu1 host write-back"]];
    assert_eq!(copies(&plans), expected);
    assert_eq!((plans[1].class, plans[1].room_steps), (PlanClass::Background, 0));
    let kept = manager.page(PageId(0));
    assert!(kept.backed() && kept.cold() && kept.mapped.is_empty() && kept.mode == Mode::Spare);
    write(&mut manager, 2);
    // The neighbour is full. Its reserve is what it can remove: the page that has its copy longest goes.
    assert_eq!(shown(&write(&mut manager, 3)[..1], "gpu1"), ["release gpu1 0", "copy 2 gpu0 gpu1 eviction"]);
    assert_eq!(manager.page(PageId(0)).resident, MemoryMask::only(HOST_MEMORY));
    // What comes back comes from the neighbour, and nobody removes it there meanwhile.
    let plans = write(&mut manager, 1);
    let expected = ["release gpu1 2", "copy 3 gpu0 gpu1 eviction", "copy 1 gpu1 gpu0 migration", "release gpu1 1"];
    assert_eq!(shown(&plans[..1], "gpu1"), expected);
    assert_eq!(manager.page(PageId(1)).resident, MemoryMask::only(MemoryId::gpu(0)));
    let counts = manager.statistics();
    let expected = (4, 4, 2, 1, 0);
    let found = (counts.evictions_to_spare, counts.written_back, counts.yielded, counts.fetched_from_spare);
    assert_eq!((found.0, found.1, found.2, found.3, counts.evictions_written), expected);
}

#[test]
fn the_host_gets_one_block_after_another() {
    let mut manager = lenders(0, &[1, 8]);
    // Pages 0 to 2 leave for the neighbour, and the first is being copied to the host.
    let mut backs = Vec::new();
    for page in 0..4 {
        let mut plans = Vec::new();
        handle(&mut manager, Event::Faults(&[fault(0, page, Access::Write)]), &mut plans);
        let demand = plans.remove(0);
        complete(&mut manager, &demand, &mut plans);
        backs.extend(plans);
    }
    assert_eq!(copies(&backs), [["copy 0 gpu1 host write-back"]]);
    let first = backs.remove(0);
    complete(&mut manager, &first, &mut backs);
    assert_eq!(copies(&backs), [["copy 1 gpu1 host write-back"]]);
}

#[test]
fn a_large_page_of_mosaic_is_large_again_once_it_is_back_from_the_neighbour() {
    let config = MemoryConfig {
        // A large frame is free whenever a block begins to come.
        demotion: choice("spare-memory", r#"{"reserve": "2MiB", "pre_eviction": true}"#),
        eviction: choice("lru-block", "{}"),
        allocator: choice("cocoa", r#"{"channels": 1}"#),
        sizing: choice("mosaic", r#"{"large_page": "2MiB", "threshold": 1}"#),
        page_size: Bytes(64 << 10),
        ..MemoryConfig::default()
    };
    let mut manager = allocated(Manager::new(&config, &Topology::of(vec![64, 128])).unwrap());
    let large = |manager: &Manager| [0, 32].map(|page| manager.coalesced(ProcessorId::gpu(0), PageId(page)));
    (0..32).for_each(|page| _ = write(&mut manager, page));
    assert_eq!(large(&manager), [true, false]);
    (32..64).for_each(|page| _ = write(&mut manager, page));
    assert_eq!(large(&manager), [false, true]);
    assert_eq!(manager.page(PageId(0)).owner, MemoryId::gpu(1));
    (0..32).for_each(|page| _ = write(&mut manager, page));
    assert_eq!(large(&manager), [true, false]);
    let counts = manager.statistics();
    let found = [counts.evictions_to_spare, counts.fetched_from_spare, counts.splintered, counts.evictions_written];
    assert_eq!(found, [64, 32, 2, 0]);
}

#[test]
fn a_keeper_removes_what_has_its_copy_before_its_own_pages_leave_and_nothing_else() {
    let mut manager = lenders(0, &[2, 2]);
    by(&mut manager, 1, 20);
    (0..3).for_each(|page| _ = write(&mut manager, page));
    assert_eq!(manager.page(PageId(0)).owner, MemoryId::gpu(1));
    let plans = by(&mut manager, 1, 21);
    assert_eq!(
        shown(&plans[..1], "gpu1"),
        ["release gpu1 0", "copy 21 host gpu1 migration", "map gpu1 21 -> gpu1 rw", "wake gpu1 21"]
    );
    // Pages 0 and 21 are gone or own; page 1 comes and has no copy yet. So page 21 leaves: GPU 0 is full.
    let mut plans = Vec::new();
    handle(&mut manager, Event::Free(PageRun { first: PageId(20), count: 1 }), &mut plans);
    handle(&mut manager, Event::Faults(&[fault(0, 3, Access::Write)]), &mut plans);
    assert_eq!(shown(&plans, "gpu1"), ["copy 1 gpu0 gpu1 eviction"]);
    plans.drain(..).for_each(|plan| complete(&mut manager, &plan, &mut Vec::new()));
    handle(&mut manager, Event::Faults(&[fault(1, 22, Access::Write)]), &mut plans);
    assert_eq!(shown(&plans, "copy"), ["copy 21 gpu1 host eviction", "copy 22 host gpu1 migration"]);
    manager.check().unwrap();
}

#[test]
fn where_kept_pages_make_room_no_own_page_leaves_under_any_eviction() {
    for eviction in octavo_manager::EVICTIONS.names().filter(|name| *name != "none") {
        let config = MemoryConfig {
            demotion: choice("spare-memory", r#"{"reserve": "0B"}"#),
            eviction: choice(eviction, "{}"),
            page_size: Bytes(2 << 20),
            ..MemoryConfig::default()
        };
        let mut manager = allocated(Manager::new(&config, &Topology::of(vec![1, 2])).unwrap());
        by(&mut manager, 1, 20);
        (0..2).for_each(|page| _ = write(&mut manager, page));
        assert_eq!(manager.page(PageId(0)).owner, MemoryId::gpu(1), "{eviction}");
        let plans = by(&mut manager, 1, 21);
        assert_eq!(shown(&plans, "release gpu1"), ["release gpu1 0"], "{eviction}");
        assert_eq!(manager.page(PageId(20)).owner, MemoryId::gpu(1), "{eviction}");
    }
}

#[test]
fn who_is_not_where_a_kept_page_should_be_maps_it_there() {
    let mut manager = lenders(0, &[1, 2, 2]);
    (0..2).for_each(|page| _ = write(&mut manager, page));
    assert_eq!(manager.page(PageId(0)).owner, MemoryId::gpu(1));
    let advice = Advice { preferred: Some(MemoryId::gpu(0)), ..Advice::default() };
    handle(&mut manager, Event::Advise { pages: PageRun::one(PageId(0)), advice }, &mut Vec::new());
    let plans = by(&mut manager, 2, 0);
    assert_eq!(shown(&plans, "copy 0"), ["copy 0 gpu1 gpu0 migration"]);
    assert_eq!(shown(&plans, "map"), ["map gpu0 0 -> gpu0 rw", "map gpu2 0 -> gpu0 rw"]);
}

#[test]
fn a_keeper_that_touches_what_it_keeps_has_it_without_a_copy() {
    let mut manager = lenders(0, &[1, 2]);
    (0..2).for_each(|page| _ = write(&mut manager, page));
    assert_eq!(shown(&by(&mut manager, 1, 0), ""), ["release host 0", "map gpu1 0 -> gpu1 rw", "wake gpu1 0"]);
    assert_eq!(
        shown(&write(&mut manager, 0), "copy"),
        ["copy 1 gpu0 gpu1 eviction", "copy 0 gpu1 gpu0 migration", "copy 1 gpu1 host write-back"]
    );
}

#[test]
fn nobody_lends_what_it_has_in_reserve() {
    for (reserve, capacity, kept) in [(0, 4, 4), (2, 4, 3), (4, 4, 2), (8, 4, 2), (6, 8, 5)] {
        let mut manager = lenders(reserve, &[1, capacity]);
        let mut plans = Vec::new();
        for page in 0..10 {
            handle(&mut manager, Event::Faults(&[fault(0, page, Access::Write)]), &mut plans);
            let mut made = std::mem::take(&mut plans).into_iter();
            // The first copy to the host never ends, so that nothing is removable.
            let demand = made.next().unwrap();
            complete(&mut manager, &demand, &mut plans);
            plans.clear();
        }
        assert_eq!(manager.frames_held(MemoryId::gpu(1)), kept, "{reserve} MiB of {capacity} pages");
    }
}

/// GPU 1 has two pages that it can remove, of which one is its reserve: it takes one of two that leave together.
#[test]
fn what_a_lender_removes_for_one_block_counts_no_more_for_the_next() {
    let mut manager = lenders(2, &[2, 2]);
    (0..4).for_each(|page| _ = write(&mut manager, page));
    assert_eq!([0, 1].map(|page| manager.page(PageId(page)).owner), [MemoryId::gpu(1); 2]);
    let mut plans = Vec::new();
    handle(&mut manager, Event::Capacity { memory: MemoryId::gpu(0), pages: 0 }, &mut plans);
    assert_eq!(copies(&plans), [["copy 2 gpu0 gpu1 eviction", "copy 3 gpu0 host eviction"]]);
}

#[test]
fn a_reserve_of_more_than_half_of_a_gpu_can_be_refused() {
    // Of 4 and 8 pages of 2 MiB: two are half of the smaller memory.
    assert_eq!(lenders(4, &[4, 8]).check_reserve(), Ok(()));
    let error = lenders(5, &[4, 8]).check_reserve().unwrap_err();
    assert_eq!(error.key, "demotion.reserve");
    assert_eq!(error.message, "expected at most 4MiB, half of a GPU's memory of 8MiB, found 6MiB");
    assert_eq!(lenders(5, &[u32::MAX, 8]).check_reserve(), Ok(()));
    let ahead = MemoryConfig { demotion: choice("reserve", "{}"), ..MemoryConfig::default() };
    let ahead = |pages: u32| Manager::new(&ahead, &Topology::of(vec![pages])).unwrap().check_reserve();
    assert_eq!(ahead(51_200), Ok(()), "half of 200 MiB are the default");
    assert_eq!(ahead(51_199).unwrap_err().key, "demotion.free");
    let none = Manager::new(&MemoryConfig::default(), &Topology::of(vec![1])).unwrap();
    assert_eq!(none.check_reserve(), Ok(()), "nothing is asked for");
}

#[test]
fn a_block_of_which_pages_stay_behind_goes_to_the_host() {
    let config = MemoryConfig { demotion: choice("spare-memory", r#"{"reserve": "0B"}"#), ..MemoryConfig::default() };
    let mut manager = allocated(Manager::new(&config, &Topology::of(vec![2, 8])).unwrap());
    (0..2).for_each(|page| _ = write(&mut manager, page));
    assert_eq!(copies(&write(&mut manager, 2))[0][0], "copy 0 gpu0 host eviction");
}

#[test]
fn neighbours_take_turns_or_the_one_with_the_fewest_blocks_to_write_back_is_chosen() {
    for (neighbour, expected) in [("round-robin", [1, 2, 1, 2]), ("fewest-pending", [1, 2, 1, 1])] {
        let options = format!(r#"{{"reserve": "0B", "neighbour": "{neighbour}"}}"#);
        let demotion = choice("spare-memory", &options);
        let config = MemoryConfig { demotion, page_size: Bytes(2 << 20), ..MemoryConfig::default() };
        let mut manager = allocated(Manager::new(&config, &Topology::of(vec![1, 8, 8])).unwrap());
        let (mut chosen, mut under_way) = (Vec::new(), Vec::new());
        for page in 0..5 {
            let mut plans = Vec::new();
            handle(&mut manager, Event::Faults(&[fault(0, page, Access::Write)]), &mut plans);
            complete(&mut manager, &plans[0], &mut under_way);
            if page == 3 {
                // Of those on GPU 1, which came first, one has its copy now.
                under_way.drain(..1).for_each(|plan| complete(&mut manager, &plan, &mut Vec::new()));
            }
            if page > 0 {
                chosen.push(manager.page(PageId(page - 1)).owner.gpu_index().unwrap());
            }
        }
        assert_eq!(chosen, expected, "{neighbour}");
    }
}

#[test]
fn victims_leave_for_the_neighbour_ahead_of_need() {
    let demotion = choice("spare-memory", r#"{"reserve": "4MiB", "pre_eviction": true}"#);
    let config = MemoryConfig { demotion, page_size: Bytes(2 << 20), ..MemoryConfig::default() };
    let mut manager = allocated(Manager::new(&config, &Topology::of(vec![4, 6])).unwrap());
    (0..2).for_each(|page| _ = write(&mut manager, page));
    // Two of four frames are to be free; page 2 finds one, and page 0 goes.
    let plans = write(&mut manager, 2);
    let expected =
        [vec!["copy 2 host gpu0 migration"], vec!["copy 0 gpu0 gpu1 eviction"], vec!["copy 0 gpu1 host write-back"]];
    assert_eq!(copies(&plans), expected);
    assert!(plans[1].class == PlanClass::Background && plans[0].room_steps == 0);
    // What GPU 1 keeps counts as its reserve: four of its own pages fit beside two.
    (3..5).for_each(|page| _ = write(&mut manager, page));
    let own: Vec<Vec<String>> = (20..24).map(|page| shown(&by(&mut manager, 1, page), "gpu1")).collect();
    assert!(own.iter().flatten().all(|step| !step.starts_with("copy 2") || step.ends_with("migration")), "{own:?}");
    assert_eq!(manager.statistics().yielded, 1);
}

/// Three GPUs with this many pages of 64 KiB, two blocks of 32 pages for each megabyte, and these strategies.
fn with_lanes(demotion: &str, prefetch: (&str, &str), gpus: &[u32]) -> Manager {
    with_plans(PrefetchPlan::Shared, demotion, prefetch, gpus)
}

/// The same, if this plan brings prefetched pages.
fn with_plans(prefetch_plan: PrefetchPlan, demotion: &str, prefetch: (&str, &str), gpus: &[u32]) -> Manager {
    let (demotion, prefetch) = (choice("spare-memory", demotion), choice(prefetch.0, prefetch.1));
    let page_size = Bytes(64 << 10);
    let config = MemoryConfig { demotion, prefetch, prefetch_plan, page_size, ..MemoryConfig::default() };
    let mut manager = Manager::new(&config, &Topology::of(gpus.to_vec())).unwrap();
    manager.handle(Time::ZERO, Event::Allocate(PageRun { first: PageId(0), count: 32 * 8 }.into()), &mut Vec::new());
    manager
}

/// A batch of loads of GPU 0; the plans' copies and wakes.
fn batch(manager: &mut Manager, pages: &[u32]) -> Vec<Vec<String>> {
    let mut plans = Vec::new();
    let faults: Vec<_> = pages.iter().map(|&page| fault(0, page, Access::Read)).collect();
    manager.handle(Time::ZERO, Event::Faults(&faults), &mut plans);
    let shown = plans.iter().map(|plan| {
        let steps = plan.steps.iter().map(show);
        steps.filter(|step| step.starts_with("copy") || step.starts_with("wake")).collect()
    });
    let shown = shown.collect();
    for plan in plans {
        manager.complete(Time::ZERO, plan.id, &mut Vec::new());
    }
    manager.check().unwrap();
    shown
}

#[test]
fn half_of_a_batch_comes_by_way_of_a_neighbour() {
    let options = r#"{"reserve": "0B", "parallel_fetch": true}"#;
    let mut manager = with_lanes(options, ("none", "{}"), &[100, 100, 100]);
    // Blocks 0, 1 and 2: the first two come over the GPU's own link.
    let found = batch(&mut manager, &[0, 32, 64]);
    let last = ["copy 64 host gpu1 staging", "copy 64 gpu1 gpu0 migration", "wake gpu0 64"];
    let own = |page: u32| vec![format!("copy {page} host gpu0 migration"), format!("wake gpu0 {page}")];
    assert_eq!(found, [own(0), own(32), last.map(str::to_owned).to_vec()]);
    assert_eq!(manager.frames_held(MemoryId::gpu(1)), 0);
    assert_eq!(manager.page(PageId(64)).resident, MemoryMask::only(MemoryId::gpu(0)));
    // One block alone has no later half; the next detour is the other neighbour's turn.
    assert_eq!(batch(&mut manager, &[96]), [own(96)]);
    assert_eq!(batch(&mut manager, &[128, 160])[1][0], "copy 160 host gpu2 staging");
    assert_eq!(manager.statistics().staged, 2);
}

#[test]
fn a_batch_comes_straight_unless_it_is_to_come_by_way_of_neighbours() {
    let mut manager = with_lanes(r#"{"reserve": "0B"}"#, ("none", "{}"), &[100, 100]);
    assert_eq!(batch(&mut manager, &[0, 32])[1], ["copy 32 host gpu0 migration", "wake gpu0 32"]);
    let mut manager = with_lanes("{}", ("none", "{}"), &[100, 100]).with_demotion(Box::new(Lends));
    assert_eq!(batch(&mut manager, &[0, 32])[1], ["copy 32 host gpu0 migration", "wake gpu0 32"]);
}

/// Would lend its second GPU's link, and says nothing else.
struct Lends;

impl Demotion for Lends {
    fn lender(&mut self, _to: MemoryId, _pages: u32, _memories: &Occupancy<'_>) -> Option<MemoryId> {
        Some(MemoryId::gpu(1))
    }
}

#[test]
fn a_whole_block_makes_the_detour() {
    let options = r#"{"reserve": "0B", "parallel_fetch": true}"#;
    let mut manager = with_lanes(options, ("tree", r#"{"threshold": 1}"#), &[100, 100]);
    let expected = [
        "copy 32 host gpu1 staging",
        "copy 32 gpu1 gpu0 migration",
        "copy 33x31 host gpu1 staging",
        "copy 33x31 gpu1 gpu0 prefetch",
        "wake gpu0 32",
    ];
    assert_eq!(batch(&mut manager, &[0, 32])[1], expected);
    // By plans of their own, the other pages make it as well.
    let mut manager = with_plans(PrefetchPlan::Own, options, ("tree", r#"{"threshold": 1}"#), &[100, 100]);
    assert_eq!(batch(&mut manager, &[0, 32])[3], expected[2..4]);
}

#[test]
fn blocks_are_halved_and_not_faults() {
    let mut manager = with_lanes(r#"{"reserve": "0B", "parallel_fetch": true}"#, ("none", "{}"), &[100, 100]);
    let found = batch(&mut manager, &[0, 1, 2, 32]);
    let first: Vec<&String> = found.iter().map(|steps| &steps[0]).collect();
    let own = [0, 1, 2].map(|page| format!("copy {page} host gpu0 migration"));
    assert_eq!((first[..3].to_vec(), first[3].as_str()), (own.iter().collect(), "copy 32 host gpu1 staging"));
}

#[test]
fn neighbours_without_room_lend_no_link() {
    let options = r#"{"reserve": "64MiB", "parallel_fetch": true}"#;
    let mut manager = with_lanes(options, ("none", "{}"), &[100, 1]);
    assert_eq!(batch(&mut manager, &[0, 32])[1], ["copy 32 host gpu0 migration", "wake gpu0 32"]);
}

#[test]
fn whole_blocks_come_ahead_over_the_local_path() {
    let ahead = ("local-path", r#"{"blocks": 2, "stride": 2}"#);
    let mut manager = with_lanes(r#"{"reserve": "0B"}"#, ahead, &[200, 200]);
    // Up from block 0: blocks 2 and 4, beside the rest of block 0.
    let found = batch(&mut manager, &[3]);
    assert_eq!(found[1..], [["copy 64x32 host gpu0 prefetch"], ["copy 128x32 host gpu0 prefetch"]]);
    // From block 5 to block 2 it goes down: block 0 is there already.
    assert_eq!(batch(&mut manager, &[165])[1..], [["copy 224x32 host gpu0 prefetch"]]);
    assert_eq!(batch(&mut manager, &[33]).len(), 1);
}

#[test]
fn pages_that_another_gpu_has_or_should_have_do_not_come_ahead() {
    let ahead = ("local-path", r#"{"blocks": 1, "stride": 1}"#);
    let mut manager = with_lanes(r#"{"reserve": "0B"}"#, ahead, &[200, 200]);
    let run = |first, count| PageRun { first: PageId(first), count };
    let [here, there] = [0, 1].map(MemoryId::gpu);
    let mut plans = Vec::new();
    handle(&mut manager, Event::Prefetch { pages: run(32, 4), to: there }, &mut plans);
    complete(&mut manager, &plans[0], &mut Vec::new());
    for (first, memory) in [(36, there), (40, here)] {
        let advice = Advice { preferred: Some(memory), ..Advice::default() };
        handle(&mut manager, Event::Advise { pages: run(first, 4), advice }, &mut Vec::new());
    }
    assert_eq!(batch(&mut manager, &[0])[1..], [["copy 40x24 host gpu0 prefetch"]]);
}

#[test]
fn memory_with_a_prefetcher_of_its_own_does_not_come_ahead() {
    let ahead = ("local-path", r#"{"blocks": 1, "stride": 1}"#);
    let mut manager = with_lanes(r#"{"reserve": "0B"}"#, ahead, &[200, 200]);
    let next = PageRun { first: PageId(256), count: 32 };
    let system = Allocation { kind: Kind::System, ..next.into() };
    handle(&mut manager, Event::Allocate(system), &mut Vec::new());
    assert_eq!(batch(&mut manager, &[224]).len(), 1, "the block behind it is the operating system's memory");
}

#[test]
fn what_lies_on_the_host_comes_ahead_to_a_neighbour_and_what_lies_there_comes_on() {
    let ahead = ("multi-path", r#"{"blocks": 1, "stride": 1}"#);
    let mut manager = with_lanes(r#"{"reserve": "0B"}"#, ahead, &[200, 200]);
    assert_eq!(batch(&mut manager, &[0])[1..], [["copy 32x32 host gpu1 staging"]]);
    let staged = manager.page(PageId(32));
    assert!(staged.mode == Mode::Spare && staged.backed() && staged.owner == MemoryId::gpu(1));
    // The neighbour can remove it at once, as the host has it still. A fault finds it there.
    assert_eq!(batch(&mut manager, &[32])[0][0], "copy 32 gpu1 gpu0 migration");
}

#[test]
fn a_keeper_removes_victims_that_are_backed_before_what_was_staged() {
    let ahead = ("multi-path", r#"{"blocks": 1, "stride": 1}"#);
    let mut manager = with_lanes(r#"{"reserve": "0B"}"#, ahead, &[32, 64]);
    // Block 7 is staged at GPU 1. Then block 6 leaves for it, but for a page, and gets its copy on the host: later, but it
    // goes first.
    assert_eq!(shown(&write(&mut manager, 6 * 32), "staging"), ["copy 224x32 host gpu1 staging"]);
    assert_eq!(shown(&write(&mut manager, 0), "write-back"), ["copy 193x31 gpu1 host write-back"]);
    let plans = by(&mut manager, 1, 2 * 32);
    assert_eq!(shown(&plans[..1], "release gpu1"), ["release gpu1 193x31"]);
}

#[test]
fn more_borrowers_than_lenders_fall_back_to_the_local_path_and_are_counted() {
    let ahead = ("multi-path", r#"{"blocks": 1, "stride": 1}"#);
    let mut manager = with_lanes(r#"{"reserve": "0B"}"#, ahead, &[64, 64, 300]);
    // GPU 0 evicts block 0, and GPU 1 block 4: now two of three GPUs borrow memory.
    (0..3).for_each(|block| _ = write(&mut manager, block * 32));
    assert_eq!(manager.statistics().fell_back, 0);
    (4..6).for_each(|block| _ = by(&mut manager, 1, block * 32));
    let plans = by(&mut manager, 1, 6 * 32);
    assert_eq!(shown(&plans, "224")[0], "copy 224x32 host gpu1 prefetch");
    assert_eq!(manager.statistics().fell_back, 32);
}

#[test]
fn where_nobody_lends_memory_nothing_falls_back_to_the_local_path() {
    let config = MemoryConfig {
        prefetch: choice("multi-path", r#"{"blocks": 1, "stride": 1}"#),
        page_size: Bytes(64 << 10),
        ..MemoryConfig::default()
    };
    let mut manager = allocated(Manager::new(&config, &Topology::of(vec![64, 64])).unwrap());
    assert_eq!(batch(&mut manager, &[0])[1..], [["copy 32x32 host gpu0 prefetch"]]);
    assert_eq!(manager.statistics().fell_back, 0);
}

/// Blocks leave whole for neighbours without a reserve, and come back whole.
fn whole_blocks_lent() -> MemoryConfig {
    MemoryConfig {
        demotion: choice("spare-memory", r#"{"reserve": "0B"}"#),
        prefetch: choice("tree", r#"{"threshold": 1}"#),
        eviction: choice("lru-block", "{}"),
        page_size: Bytes(64 << 10),
        ..MemoryConfig::default()
    }
}

#[test]
fn a_block_goes_to_the_neighbour_from_which_another_comes_back() {
    let config = whole_blocks_lent();
    for (lends, expected) in [(64, "gpu1"), (63, "host")] {
        let mut manager = allocated(Manager::new(&config, &Topology::of(vec![40, lends])).unwrap());
        // The first page of a block finds room; the others do not, and the other block leaves for them.
        (0..2).for_each(|block| _ = write(&mut manager, block * 32));
        let back = write(&mut manager, 0);
        assert_eq!(shown(&back[..1], "eviction"), [format!("copy 32x32 gpu0 {expected} eviction")], "{lends}");
    }
}

#[test]
fn where_frames_have_numbers_a_block_goes_to_a_neighbour_from_which_nothing_comes_back() {
    let config = MemoryConfig { allocator: choice("chunks", "{}"), ..whole_blocks_lent() };
    for (gpus, expected) in [(vec![40, 96, 96], "gpu2"), (vec![40, 96], "host")] {
        let mut manager = allocated(Manager::new(&config, &Topology::of(gpus)).unwrap());
        (0..2).for_each(|block| _ = write(&mut manager, block * 32));
        // Block 0 is kept by GPU 1. It comes back from there, and block 1 makes room.
        let back = write(&mut manager, 0);
        assert_eq!(shown(&back[..1], "eviction"), [format!("copy 32x32 gpu0 {expected} eviction")]);
    }
}

#[test]
fn what_leaves_for_the_host_stays_mapped_and_comes_back_when_it_is_used_often() {
    let config = MemoryConfig {
        page_size: Bytes(64 << 10),
        placement: choice("fault-and-count", "{}"),
        demotion: choice("host", r#"{"stays_mapped": true}"#),
        ..MemoryConfig::default()
    };
    let mut manager = allocated(Manager::new(&config, &Topology::of(vec![2])).unwrap());
    write(&mut manager, 0);
    write(&mut manager, 1);
    // Page 0 leaves: the GPU maps it where it is, and page 1 all the same.
    let plans = write(&mut manager, 2);
    assert_eq!(shown(&plans, "eviction"), ["copy 0 gpu0 host eviction"]);
    assert_eq!(shown(&plans, "map gpu0 0"), ["map gpu0 0 -> host rw"]);
    for page in 0..3 {
        assert!(manager.believes_mapped(&fault(0, page, Access::Write)), "no fault on page {page}");
    }
    // It is used often, and comes back; page 1 leaves for it, mapped as well.
    let mut plans = Vec::new();
    let notification = CounterNotification { processor: ProcessorId::gpu(0), page: PageId(0) };
    handle(&mut manager, Event::Counter(notification), &mut plans);
    assert_eq!(shown(&plans, "copy"), ["copy 1 gpu0 host eviction", "copy 0 host gpu0 migration"]);
    assert_eq!(shown(&plans, "map gpu0"), ["map gpu0 1 -> host rw", "map gpu0 0 -> gpu0 rw"]);
    let plan = plans.remove(0);
    complete(&mut manager, &plan, &mut plans);
    // Without it, the next access is a fault.
    let plain = MemoryConfig { demotion: choice("host", "{}"), ..config };
    let mut manager = allocated(Manager::new(&plain, &Topology::of(vec![2])).unwrap());
    (0..3).for_each(|page| _ = write(&mut manager, page));
    assert!(!manager.believes_mapped(&fault(0, 0, Access::Write)));
}

#[test]
fn counters_tell_nothing_of_small_pages() {
    let needs = |size, options| {
        let placement = choice("fault-and-count", options);
        let config = MemoryConfig { page_size: Bytes(size), placement, ..MemoryConfig::default() };
        Manager::new(&config, &Topology::of(vec![2])).unwrap().needs().counters
    };
    assert_eq!(needs(64 << 10, "{}"), Some(CounterSpec { threshold: 256, group_pages: 1 }));
    assert_eq!(needs(64 << 10, r#"{"migration": false}"#), None);
    assert_eq!(needs(4 << 10, "{}"), None);
}

#[test]
fn a_keeper_removes_other_blocks_before_the_one_that_it_needs_room_in() {
    let mut manager = with_lanes(r#"{"reserve": "0B"}"#, ("none", "{}"), &[1, 2]);
    // GPU 1 keeps a page of block 0, which came first, and one of block 1.
    [0, 32, 64].into_iter().for_each(|page| _ = write(&mut manager, page));
    assert_eq!(shown(&by(&mut manager, 1, 2), "release gpu1"), ["release gpu1 32"]);
}

#[test]
fn a_page_that_should_be_with_a_neighbour_goes_there_without_a_detour() {
    let options = r#"{"reserve": "0B", "parallel_fetch": true}"#;
    let mut manager = with_lanes(options, ("none", "{}"), &[100, 100]);
    let advice = Advice { preferred: Some(MemoryId::gpu(1)), ..Advice::default() };
    handle(&mut manager, Event::Advise { pages: PageRun::one(PageId(32)), advice }, &mut Vec::new());
    assert_eq!(batch(&mut manager, &[0, 32])[1], ["copy 32 host gpu1 migration", "wake gpu0 32"]);
}

#[test]
fn only_what_the_host_has_makes_a_detour() {
    let options = r#"{"reserve": "0B", "parallel_fetch": true}"#;
    let mut manager = with_lanes(options, ("none", "{}"), &[100, 100, 100]);
    by(&mut manager, 2, 33);
    let found = batch(&mut manager, &[0, 32, 33]);
    assert_eq!(found[1][0], "copy 32 host gpu1 staging");
    assert_eq!(found[2], ["copy 33 gpu2 gpu0 migration", "wake gpu0 33"]);
}

#[test]
fn what_was_staged_before_makes_room_for_what_is_staged_next() {
    let ahead = ("multi-path", r#"{"blocks": 1, "stride": 1}"#);
    let mut manager = with_lanes(r#"{"reserve": "0B"}"#, ahead, &[200, 40]);
    assert_eq!(shown(&write(&mut manager, 0), "gpu1"), ["copy 32x32 host gpu1 staging"]);
    assert_eq!(shown(&write(&mut manager, 64), "gpu1"), ["release gpu1 32x32", "copy 96x32 host gpu1 staging"]);
}

/// GPUs with this many pages of 64 KiB, whose blocks leave as a whole.
fn block_by_block(gpus: &[u32]) -> Manager {
    let config = MemoryConfig {
        demotion: choice("spare-memory", r#"{"reserve": "0B"}"#),
        eviction: choice("lru-block", "{}"),
        page_size: Bytes(64 << 10),
        ..MemoryConfig::default()
    };
    let mut manager = Manager::new(&config, &Topology::of(gpus.to_vec())).unwrap();
    manager.handle(Time::ZERO, Event::Allocate(PageRun { first: PageId(0), count: 32 * 8 }.into()), &mut Vec::new());
    manager
}

#[test]
fn a_kept_block_that_is_larger_than_what_comes_leaves_as_a_whole() {
    let mut manager = block_by_block(&[2, 2]);
    [32, 33].into_iter().for_each(|page| _ = write(&mut manager, page));
    assert_eq!(copies(&write(&mut manager, 64))[0][0], "copy 32x2 gpu0 gpu1 eviction");
    write(&mut manager, 96);
    let plans = write(&mut manager, 128);
    assert_eq!(shown(&plans[..1], "gpu1"), ["release gpu1 32x2", "copy 64 gpu0 gpu1 eviction"]);
}

#[test]
fn blocks_that_leave_together_go_where_each_finds_room() {
    let options = r#"{"reserve": "0B", "neighbour": "fewest-pending"}"#;
    let config =
        MemoryConfig { demotion: choice("spare-memory", options), page_size: Bytes(2 << 20), ..Default::default() };
    let mut manager = allocated(Manager::new(&config, &Topology::of(vec![3, 1, 1])).unwrap());
    (0..4).for_each(|page| _ = write(&mut manager, page));
    assert_eq!(manager.page(PageId(0)).owner, MemoryId::gpu(1));
    // Page 1 takes the place of page 0, which has its copy, page 2 the frame of the other, and no GPU has a third one.
    let run = PageRun { first: PageId(1000), count: 3 };
    let device = Allocation { kind: Kind::Device, gpu: Some(ProcessorId::gpu(0)), ..run.into() };
    let mut plans = Vec::new();
    handle(&mut manager, Event::Allocate(device), &mut plans);
    let expected = ["copy 1 gpu0 gpu1 eviction", "copy 2 gpu0 gpu2 eviction", "copy 3 gpu0 host eviction"];
    assert_eq!(shown(&plans, "copy"), expected);
}

#[test]
fn pages_that_are_kept_and_have_their_copy_take_nothing_from_shares() {
    let config = MemoryConfig {
        demotion: choice("spare-memory", r#"{"reserve": "0B"}"#),
        sharing: choice("quota", "{}"),
        page_size: Bytes(64 << 10),
        ..MemoryConfig::default()
    };
    let mut manager = allocated(Manager::new(&config, &Topology::of(vec![8, 1])).unwrap());
    let other = Allocation { space: SpaceId(1), ..PageRun { first: PageId(64), count: 32 }.into() };
    handle(&mut manager, Event::Allocate(other), &mut Vec::new());
    // GPU 0 keeps page 0 and has three pages of the first application and four of the second: half of the memory.
    [0, 32].into_iter().for_each(|page| _ = by(&mut manager, 1, page));
    (33..36).chain(64..68).for_each(|page| _ = write(&mut manager, page));
    assert_eq!((manager.page(PageId(0)).owner, manager.frames_held(MemoryId::gpu(0))), (MemoryId::gpu(0), 8));
    // What comes beside page 0 does not drive that out, and nobody is above its share.
    assert_eq!(shown(&write(&mut manager, 1), "eviction"), ["copy 33 gpu0 host eviction"]);
}
