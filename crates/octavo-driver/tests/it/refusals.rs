//! Plans that are refused, faults that can never be served, and mappings that vanish.

use octavo_driver::Service;
use octavo_driver::config::{BatchConfig, BatchScope, Replay, ServiceModel};
use octavo_manager::{
    Access, Fault, HOST_MEMORY, MemoryConfig, MemoryId, PageId, PageRun, Prefix, ProcessorId, Refusal, Why,
};
use octavo_registry::Choice;
use octavo_units::Time;

use crate::scripted::{Scripted, driver, driver_of, fault, read, run_alarms};

const AGAIN: Refusal = Refusal { done: Prefix::NONE, why: Why::Again };

fn refusing(step: &'static str, why: Why) -> Scripted {
    Scripted { refused: vec![(step, 0, Refusal { why, ..AGAIN })], ..Scripted::default() }
}

/// The log without times.
fn take(to: &mut Scripted) -> Vec<String> {
    to.take().iter().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
}

#[test]
fn what_is_done_stays_done() {
    let mut to = Scripted::default();
    let mut driver = driver(Service::at_once(), &[8, 8], &mut to);
    driver.faults(Time(0), &[fault(1, 3, Access::Write)], &mut to);
    to.take();
    to.refused = vec![("copy", 0, AGAIN), ("release", 0, AGAIN)];
    let touch = |driver: &mut octavo_driver::Driver, to: &mut Scripted| {
        driver.faults(Time(5), &[read(0, 3)], to);
        take(to)
    };
    let wake = "wake gpu0 3 evicting 0";
    assert_eq!(touch(&mut driver, &mut to), ["drain", "invalidate", "copy", "plan ends", wake, "plan ends"]);
    // No processor maps the page any more; the copy that was left behind goes before anybody is woken.
    assert_eq!(touch(&mut driver, &mut to), ["drain", "copy", "release", "plan ends", "release", wake, "plan ends"]);
    assert_eq!(driver.manager().page(PageId(3)).owner, MemoryId::gpu(0));
    assert_eq!(touch(&mut driver, &mut to), ["map", wake, "plan ends"]);
    assert!(driver.is_idle() && driver.outstanding().is_empty());
    driver.manager().check().unwrap();
}

#[test]
fn what_was_under_way_can_be_refused_in_part() {
    let config = MemoryConfig { prefetch: Choice::named("tree"), ..MemoryConfig::default() };
    let mut to = Scripted { later: vec!["copy"], ..Scripted::default() };
    let mut driver = driver_of(&config, Service::at_once(), &[64], &mut to);
    driver.faults(Time(0), &[read(0, 0)], &mut to);
    let first = to.under_way.pop_front().unwrap();
    driver.finished(Time(1), first, Ok(()), &mut to);
    let second = to.under_way.pop_front().unwrap();
    let done = Prefix { steps: 0, pages: 4 };
    driver.finished(Time(2), second, Err(Refusal { done, why: Why::Again }), &mut to);
    let there = |page: &u32| driver.manager().page(PageId(*page)).owner == MemoryId::gpu(0);
    assert_eq!((0..64).filter(there).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert_eq!(to.take().last().unwrap(), "2 plan ends");
    assert!(driver.is_idle() && driver.outstanding().is_empty());
}

#[test]
fn a_fault_that_was_refused_is_served_alone() {
    let config = MemoryConfig { prefetch: Choice::named("tree"), ..MemoryConfig::default() };
    let mut to = refusing("copy", Why::Again);
    let mut driver = driver_of(&config, Service::at_once(), &[64], &mut to);
    driver.faults(Time(0), &[read(0, 0)], &mut to);
    take(&mut to);
    driver.faults(Time(0), &[read(0, 0)], &mut to);
    assert_eq!(take(&mut to), ["copy", "release", "map", "wake gpu0 0 evicting 0", "plan ends"]);
    driver.faults(Time(0), &[read(0, 20)], &mut to);
    assert_eq!(take(&mut to).iter().filter(|step| *step == "copy").count(), 3, "others come with company");
}

#[test]
fn what_is_broken_kills_who_waits() {
    let mut to = refusing("copy", Why::Broken);
    let mut driver = driver(Service::at_once(), &[8, 8], &mut to);
    driver.faults(Time(0), &[read(0, 3)], &mut to);
    assert_eq!(take(&mut to), ["copy", "plan ends", "kill gpu0 3", "plan ends"]);
    assert!(driver.is_idle() && driver.outstanding().is_empty() && !driver.halted());
}

#[test]
fn a_memory_without_frames_holds_no_more_from_then_on() {
    let mut to = Scripted::default();
    let mut driver = driver(Service::at_once(), &[8, 8], &mut to);
    driver.faults(Time(0), &[read(0, 3)], &mut to);
    to.take();
    to.refused = vec![("copy", 0, Refusal { why: Why::NoMemory, ..AGAIN })];
    driver.faults(Time(0), &[read(0, 4)], &mut to);
    assert_eq!(take(&mut to), ["copy", "plan ends", "wake gpu0 4 evicting 0", "plan ends"]);
    driver.faults(Time(0), &[read(0, 4)], &mut to);
    assert_eq!(take(&mut to).iter().filter(|step| *step == "copy").count(), 2, "page 3 leaves first");
    assert_eq!(driver.manager().page(PageId(3)).owner, HOST_MEMORY);
    driver.capacity(Time(1), MemoryId::gpu(0), 8, &mut to);
    driver.faults(Time(1), &[read(0, 5)], &mut to);
    assert_eq!(driver.manager().page(PageId(4)).owner, MemoryId::gpu(0), "until it is told otherwise");
}

#[test]
fn a_host_without_frames_is_the_end() {
    let mut to = Scripted::default();
    let mut driver = driver(Service::at_once(), &[1, 8], &mut to);
    driver.faults(Time(0), &[read(0, 3)], &mut to);
    to.take();
    to.refused = vec![("copy", 0, Refusal { why: Why::NoMemory, ..AGAIN })];
    driver.faults(Time(0), &[read(0, 4)], &mut to);
    assert!(driver.halted() && driver.outstanding().is_empty());
    assert_eq!(take(&mut to).last().unwrap(), "kill gpu0 4");
}

#[test]
fn a_mapping_that_vanished_is_made_again() {
    let mut to = Scripted::default();
    let mut driver = driver(Service::at_once(), &[8, 8], &mut to);
    driver.faults(Time(0), &[read(0, 3)], &mut to);
    to.take();
    driver.faults(Time(1), &[read(0, 3)], &mut to);
    assert_eq!(take(&mut to), ["map", "wake gpu0 3 evicting 0", "plan ends"]);
}

#[test]
fn a_fault_that_is_merely_late_is_only_woken() {
    let mut to = Scripted { later: vec!["copy"], ..Scripted::default() };
    let mut driver = driver(Service::at_once(), &[8, 8], &mut to);
    driver.faults(Time(0), &[read(0, 3)], &mut to);
    // A store of the same GPU comes too late for the load's fault, and a plan holds the page.
    let other = driver.open_fault(&Fault { processor: ProcessorId::gpu(1), ..read(0, 3) }).fault();
    let ticket = to.under_way.pop_front().unwrap();
    to.later.clear();
    driver.finished(Time(1), ticket, Ok(()), &mut to);
    to.take();
    driver.fault_arrives(Time(2), other, &mut to);
    assert!(take(&mut to).contains(&"copy".to_owned()), "it is one like any other");
}

#[test]
fn when_memory_runs_out_nobody_waits_any_more() {
    let config = MemoryConfig { eviction: Choice::named("none"), ..MemoryConfig::default() };
    let mut to = Scripted::default();
    let mut driver = driver_of(&config, Service::at_once(), &[1, 1], &mut to);
    to.later = vec!["copy"];
    driver.faults(Time(0), &[read(1, 9)], &mut to);
    driver.faults(Time(1), &[read(0, 3), read(0, 4)], &mut to);
    assert!(driver.halted() && driver.outstanding().is_empty());
    let killed = |log: Vec<String>| log.into_iter().filter(|line| line.starts_with("kill")).collect::<Vec<_>>();
    assert_eq!(killed(take(&mut to)), ["kill gpu1 9", "kill gpu0 3", "kill gpu0 4"]);
    driver.faults(Time(3), &[read(0, 5)], &mut to);
    assert_eq!(killed(take(&mut to)), ["kill gpu0 5"]);
    // What is under way ends, and what it held can be freed.
    driver.free(Time(4), PageRun { first: PageId(0), count: 64 }, 7, &mut to);
    assert_eq!(to.freed, [0; 0], "a plan holds page 9");
    let under_way = to.under_way.pop_front().unwrap();
    driver.finished(Time(5), under_way, Ok(()), &mut to);
    assert_eq!(to.freed, [7]);
}

#[test]
fn pages_of_a_refused_plan_can_be_freed() {
    let mut to = Scripted { later: vec!["copy"], ..Scripted::default() };
    let mut driver = driver(Service::at_once(), &[8, 8], &mut to);
    driver.faults(Time(0), &[read(0, 3)], &mut to);
    driver.free(Time(1), PageRun { first: PageId(0), count: 64 }, 7, &mut to);
    let ticket = to.under_way.pop_front().unwrap();
    driver.finished(Time(2), ticket, Err(Refusal { why: Why::Gone, ..AGAIN }), &mut to);
    assert_eq!(take(&mut to), ["copy", "plan ends", "free 0x64", "wake gpu0 3 evicting 0", "plan ends"]);
}

#[test]
fn a_batch_ends_although_its_plan_was_refused() {
    let (batch, request) = (Time(100), Time(10));
    let config = BatchConfig {
        size: 2,
        batch,
        request,
        block: Time::ZERO,
        interrupt: Time::ZERO,
        look: Time::ZERO,
        scope: BatchScope::Node,
        replay: Replay::Batch,
    };
    let mut to = refusing("copy", Why::Again);
    let mut driver = driver(Service::new(&ServiceModel::Batch(config)), &[8, 8], &mut to);
    driver.faults(Time(0), &[read(0, 3)], &mut to);
    run_alarms(&mut driver, &mut to);
    let log = to.take();
    assert_eq!(log[log.len() - 3..], ["110 batch ends", "110 wake gpu0 3 evicting 0", "110 plan ends"]);
    assert!(driver.outstanding().is_empty());
}
