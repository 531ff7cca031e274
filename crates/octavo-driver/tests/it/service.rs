//! When requests are served.

use octavo_driver::Service;
use octavo_driver::config::{BatchConfig, BatchScope, PoolConfig, Replay, ServiceModel};
use octavo_manager::{Access, CounterNotification, Fault, HOST, MemoryConfig, PageId, PageRun, ProcessorId};
use octavo_registry::Choice;
use octavo_units::Time;

use crate::scripted::{Scripted, driver, driver_of, fault, read, run_alarms, run_until};

fn pool(servers: u32) -> Service {
    Service::new(&ServiceModel::Pool(PoolConfig { service: Time(10), servers }))
}

fn batch(interrupt: u64, block: u64) -> BatchConfig {
    BatchConfig {
        size: 2,
        batch: Time(100),
        request: Time(10),
        block: Time(block),
        interrupt: Time(interrupt),
        look: Time::ZERO,
        scope: BatchScope::Node,
        replay: Replay::Batch,
    }
}

fn batches(config: BatchConfig) -> Service {
    Service::new(&ServiceModel::Batch(config))
}

#[test]
fn servers_take_one_request_each() {
    let mut to = Scripted::default();
    let mut driver = driver(pool(2), &[8, 8], &mut to);
    driver.faults(Time(5), &[read(0, 3), read(0, 4), read(1, 5)], &mut to);
    assert_eq!(to.take(), ["remind 15 FaultServed(0)", "remind 15 FaultServed(1)", "remind 25 FaultServed(2)"]);
    run_alarms(&mut driver, &mut to);
    let wakes: Vec<_> = to.take().into_iter().filter(|line| line.contains("wake")).collect();
    assert_eq!(wakes, ["15 wake gpu0 3 evicting 0", "15 wake gpu0 4 evicting 0", "25 wake gpu1 5 evicting 0"]);
}

#[test]
fn a_store_joins_a_load_until_it_is_served() {
    let mut to = Scripted::default();
    let mut driver = driver(pool(1), &[8, 8], &mut to);
    let first = driver.open_fault(&read(0, 3)).fault();
    driver.open_fault(&fault(0, 3, Access::Write));
    driver.fault_arrives(Time(0), first, &mut to);
    assert_eq!(driver.outstanding()[first].access, Access::Write);
    run_alarms(&mut driver, &mut to);
    assert!(driver.manager().page(PageId(3)).writable.contains(ProcessorId::gpu(0)));
}

#[test]
fn a_batch_wakes_at_its_end_and_then_takes_the_next() {
    let mut to = Scripted { durations: vec![("copy", 30)], ..Scripted::default() };
    let mut driver = driver(batches(batch(0, 0)), &[8, 8], &mut to);
    driver.faults(Time(5), &[read(0, 9), read(0, 4), read(1, 5)], &mut to);
    assert_eq!(to.take(), ["5 batch of 1", "remind 115 BatchServed(0)"], "the first request begins a batch by itself");
    driver.tick(Time(115), &mut to);
    assert_eq!(to.take(), ["115 copy", "remind 145 Plan(0)"]);
    driver.tick(Time(145), &mut to);
    assert_eq!(
        to.take(),
        [
            "145 release",
            "145 map",
            "145 batch ends",
            "145 wake gpu0 9 evicting 0",
            "145 batch of 2",
            "remind 265 BatchServed(0)",
            "145 plan ends"
        ]
    );
    driver.tick(Time(265), &mut to);
    assert_eq!(to.take(), ["265 copy", "remind 295 Plan(0)", "265 copy", "remind 295 Plan(1)"]);
    driver.tick(Time(295), &mut to);
    let wakes: Vec<_> = to.take().into_iter().filter(|line| line.contains("wake")).collect();
    assert_eq!(wakes, ["295 wake gpu0 4 evicting 0", "295 wake gpu1 5 evicting 0"]);
}

#[test]
fn a_driver_that_looks_again_needs_no_interrupt_for_what_it_finds() {
    let next = |came: u64| {
        let mut to = Scripted { durations: vec![("copy", 30)], ..Scripted::default() };
        let config = BatchConfig { look: Time(20), ..batch(50, 0) };
        let mut driver = driver(batches(config), &[8, 8], &mut to);
        driver.faults(Time(0), &[read(0, 9)], &mut to);
        run_until(&mut driver, &mut to, Time(came));
        to.take();
        driver.faults(Time(came), &[read(0, 4)], &mut to);
        run_alarms(&mut driver, &mut to);
        to.take().into_iter().find(|line| line.contains("batch of")).expect("it is served")
    };
    // An interrupt, a batch of 110 and a copy of 30: the first batch ends at 190, and the driver looks at 210.
    assert_eq!(next(200), "210 batch of 1");
    assert_eq!(next(215), "265 batch of 1", "an interrupt later");
}

#[test]
fn another_entry_of_a_fault_takes_up_room_in_a_batch_and_is_flushed_with_it() {
    let mut to = Scripted::default();
    let config = BatchConfig { replay: Replay::BatchFlush, ..batch(5, 0) };
    let mut driver = driver(batches(config), &[8, 8], &mut to);
    let first = driver.open_fault(&read(0, 3)).fault();
    driver.fault_arrives(Time(0), first, &mut to);
    driver.fault_arrives_again(Time(1), ProcessorId::gpu(0), &mut to);
    driver.fault_arrives_again(Time(2), ProcessorId::gpu(0), &mut to);
    driver.faults(Time(3), &[read(0, 4)], &mut to);
    run_alarms(&mut driver, &mut to);
    let lines: Vec<_> =
        to.take().into_iter().filter(|line| line.contains("wake") || line.contains("batch of")).collect();
    assert_eq!(
        lines,
        ["5 batch of 2", "125 wake gpu0 3 evicting 0", "125 wake gpu0 4 evicting 0"],
        "the batch is full"
    );
}

/// Three faults at once, of which the first is a batch of its own: the processors woken and the times, until no fault
/// is left.
fn woken_under(replay: Replay) -> Vec<String> {
    let mut to = Scripted { durations: vec![("copy", 30)], ..Scripted::default() };
    let mut driver = driver(batches(BatchConfig { replay, ..batch(0, 0) }), &[8, 8], &mut to);
    driver.faults(Time(5), &[read(0, 9), read(0, 4), read(1, 5)], &mut to);
    run_alarms(&mut driver, &mut to);
    to.take().into_iter().filter(|line| line.contains("wake") || line.contains("batch of")).collect()
}

#[test]
fn what_came_during_a_batch_is_flushed_and_woken_unserved() {
    assert_eq!(
        woken_under(Replay::BatchFlush),
        ["5 batch of 1", "145 wake gpu0 9 evicting 0", "145 wake gpu0 4 evicting 0", "145 wake gpu1 5 evicting 0",],
        "whoever has to faults again"
    );
}

#[test]
fn under_once_everyone_is_woken_when_nobody_waits_any_more() {
    let wakes = ["295 wake gpu0 9 evicting 0", "295 wake gpu0 4 evicting 0", "295 wake gpu1 5 evicting 0"];
    assert_eq!(woken_under(Replay::Once), [&["5 batch of 1", "145 batch of 2"][..], &wakes[..]].concat());
}

#[test]
fn after_twenty_batches_the_first_are_woken_though_others_wait() {
    let mut to = Scripted::default();
    let config = BatchConfig { size: 1, replay: Replay::Once, ..batch(0, 0) };
    let mut driver = driver(batches(config), &[64, 64], &mut to);
    driver.faults(Time(0), &(0..30).map(|page| read(0, page)).collect::<Vec<_>>(), &mut to);
    run_alarms(&mut driver, &mut to);
    let wakes: Vec<String> = to.take().into_iter().filter(|line| line.contains("wake")).collect();
    let at = |time: &str| wakes.iter().filter(|line| line.split(' ').next() == Some(time)).count();
    assert_eq!((at("2200"), at("3300")), (20, 10), "110 for each batch: {wakes:?}");
}

#[test]
fn under_block_nobody_waits_for_the_rest_of_the_batch() {
    let mut to = Scripted { durations: vec![("copy", 30)], ..Scripted::default() };
    let config = BatchConfig { replay: Replay::Block, ..batch(50, 0) };
    let mut driver = driver(batches(config), &[8, 8], &mut to);
    driver.faults(Time(5), &[read(0, 9), read(0, 4)], &mut to);
    run_alarms(&mut driver, &mut to);
    let lines: Vec<String> =
        to.take().into_iter().filter(|line| line.contains("wake") || line.contains("ends")).collect();
    let first_wake = lines.iter().position(|line| line.contains("wake")).unwrap();
    let end = lines.iter().position(|line| line.contains("batch ends")).unwrap();
    assert!(first_wake < end, "{lines:?}");
}

#[test]
fn an_interrupt_lets_requests_gather_and_faults_are_sorted_by_page() {
    let mut to = Scripted::default();
    let mut driver = driver(batches(batch(50, 0)), &[8, 8], &mut to);
    driver.faults(Time(5), &[read(0, 9), read(0, 4), read(1, 5)], &mut to);
    assert_eq!(to.take(), ["remind 55 BatchTaken(0)"]);
    driver.tick(Time(55), &mut to);
    assert_eq!(to.take(), ["55 batch of 2", "remind 175 BatchServed(0)"]);
    driver.tick(Time(175), &mut to);
    let wakes: Vec<_> = to.take().into_iter().filter(|line| line.contains("wake")).collect();
    assert_eq!(wakes, ["175 wake gpu0 4 evicting 0", "175 wake gpu0 9 evicting 0"]);
    assert_eq!(driver.deadline(), Some(Time(285)), "the busy driver took the rest when it was done");
}

#[test]
fn blocks_of_a_batch_cost_time() {
    for (pages, expected) in [([1, 2], 5 + 100 + 20 + 1000), ([1, 40], 5 + 100 + 20 + 2000)] {
        let mut to = Scripted::default();
        let config = MemoryConfig { page_size: octavo_units::Bytes(64 << 10), ..MemoryConfig::default() };
        let mut driver = driver_of(&config, batches(batch(5, 1000)), &[8, 8], &mut to);
        driver.faults(Time(0), &pages.map(|page| read(0, page)), &mut to);
        driver.tick(Time(5), &mut to);
        assert_eq!(driver.deadline(), Some(Time(expected)), "pages {pages:?}");
    }
}

#[test]
fn counter_notifications_are_requests_too() {
    let config = MemoryConfig { placement: Choice::named("access-counter"), ..MemoryConfig::default() };
    let mut to = Scripted::default();
    let mut driver = driver_of(&config, pool(1), &[8, 8], &mut to);
    let notification = CounterNotification { processor: ProcessorId::gpu(0), page: PageId(3) };
    driver.faults(Time(0), &[read(1, 5)], &mut to);
    driver.counter(Time(0), notification, &mut to);
    assert_eq!(to.take(), ["remind 10 FaultServed(0)", "remind 20 CounterServed(0)"]);
    run_alarms(&mut driver, &mut to);
    assert!(to.take().iter().any(|line| line == "20 clear"));
}

#[test]
fn each_gpu_has_batches_of_its_own() {
    let mut to = Scripted { durations: vec![("copy", 30)], ..Scripted::default() };
    let config = BatchConfig { scope: BatchScope::PerGpu, ..batch(0, 0) };
    let mut driver = driver(batches(config), &[8, 8], &mut to);
    driver.faults(Time(5), &[read(0, 9), read(1, 5)], &mut to);
    let both = ["5 batch of 1", "remind 115 BatchServed(0)", "5 batch of 1", "remind 115 BatchServed(1)"];
    assert_eq!(to.take(), both, "neither waits for the other");
    driver.faults(Time(6), &[read(1, 6), read(0, 4)], &mut to);
    assert_eq!(to.take(), Vec::<String>::new(), "of its own batch, each does");
    run_alarms(&mut driver, &mut to);
    let wakes: Vec<_> = to.take().into_iter().filter(|line| line.contains("wake")).collect();
    assert_eq!(wakes.iter().filter(|line| line.starts_with("145 ")).count(), 2, "{wakes:?}");
    assert_eq!(wakes.iter().filter(|line| line.starts_with("285 ")).count(), 2, "{wakes:?}");
}

#[test]
fn a_batch_waits_for_the_plans_of_its_own_gpu_alone() {
    let mut to = Scripted { durations: vec![("copy", 30)], ..Scripted::default() };
    let config = BatchConfig { scope: BatchScope::PerGpu, ..batch(0, 0) };
    let mut driver = driver(batches(config), &[8, 8], &mut to);
    driver.faults(Time(0), &[read(0, 9)], &mut to);
    driver.faults(Time(20), &[read(1, 5)], &mut to);
    run_alarms(&mut driver, &mut to);
    let wakes: Vec<_> = to.take().into_iter().filter(|line| line.contains("wake")).collect();
    assert_eq!(wakes, ["140 wake gpu0 9 evicting 0", "160 wake gpu1 5 evicting 0"]);
}

#[test]
fn a_page_is_busy_until_its_kept_wake_is_over() {
    let mut to = Scripted { slow_wakes: true, ..Scripted::default() };
    let mut driver = driver(batches(batch(0, 0)), &[8, 8], &mut to);
    let page = PageRun::one(PageId(9));
    driver.faults(Time(0), &[read(0, 9)], &mut to);
    driver.tick(Time(110), &mut to);
    driver.faults(Time(110), &[read(1, 9)], &mut to);
    driver.tick(Time(220), &mut to);
    let fault = driver.wake_arrives(to.wakes.pop_front().unwrap());
    assert!(driver.is_busy(page) && !to.take().contains(&"220 copy".to_owned()), "its access has not been tried yet");
    driver.replayed(Time(230), &fault, &mut to);
    assert!(to.take().contains(&"230 copy".to_owned()), "now the other GPU gets it");
}

#[test]
fn a_batch_does_not_wait_for_the_host() {
    let mut to = Scripted::default();
    let mut driver = driver(batches(batch(0, 0)), &[8, 8], &mut to);
    driver.faults(Time(0), &[read(1, 5)], &mut to);
    run_alarms(&mut driver, &mut to);
    to.take();
    to.later = vec!["copy"];
    let host = driver.open_fault(&Fault { processor: HOST, page: PageId(5), access: Access::Write }).fault();
    driver.serve_in_kernel(Time(200), host, &mut to);
    driver.faults(Time(200), &[read(0, 9)], &mut to);
    run_alarms(&mut driver, &mut to);
    let (of_host, of_gpu) = (to.under_way[0], to.under_way[1]);
    driver.finished(Time(400), of_gpu, Ok(()), &mut to);
    assert!(to.take().contains(&"400 batch ends".to_owned()), "the host's page is still on its way");
    driver.finished(Time(500), of_host, Ok(()), &mut to);
    assert!(driver.outstanding().is_empty());
}

#[test]
fn a_fault_on_a_busy_page_is_not_free() {
    let mut to = Scripted { slow_wakes: true, ..Scripted::default() };
    let mut driver = driver(pool(1), &[8, 8], &mut to);
    driver.faults(Time(0), &[read(0, 3)], &mut to);
    run_alarms(&mut driver, &mut to);
    to.take();
    driver.resolve_at_once(Time(20), &read(1, 3), &mut to);
    driver.go_on(Time(20), &mut to);
    let fault = driver.wake_arrives(to.wakes.pop_front().unwrap());
    driver.replayed(Time(20), &fault, &mut to);
    assert!(!to.take().contains(&"20 copy".to_owned()), "the manager never had it");
}
