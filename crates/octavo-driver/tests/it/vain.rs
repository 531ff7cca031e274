//! Retries end: of plans that are refused again and again, of pages about to be freed, and when processors take a page
//! from each other.

use std::collections::VecDeque;

use octavo_driver::{Driver, Instant, Service};
use octavo_manager::{Access, Fault, Manager, MemoryConfig, MemoryId, PageId, PageRun, Prefix, Refusal, Topology, Why};
use octavo_registry::Choice;
use octavo_units::{Bytes, Time};

use crate::scripted::{Scripted, driver, driver_of, fault};

/// Refusals in a row after which the driver gives something up.
const MOST: usize = 1000;

fn write(gpu: usize, page: u32) -> Fault {
    fault(gpu, page, Access::Write)
}

/// Lines of the log with this word, without times.
fn lines(to: &mut Scripted, word: &str) -> Vec<String> {
    let lines = to.take().into_iter().map(|line| line.split_once(' ').unwrap().1.to_owned());
    lines.filter(|line| line.contains(word)).collect()
}

/// GPU 0 has room for one page, where each page is a block, and GPU 1 keeps what leaves it.
fn lending(to: &mut Scripted) -> Driver {
    let mut config = MemoryConfig { page_size: Bytes(2 << 20), ..MemoryConfig::default() };
    config.placement = Choice::named("on-touch");
    config.demotion = Choice::named("spare-memory");
    config.demotion.options.insert("reserve".to_owned(), "0B".into());
    driver_of(&config, Service::at_once(), &[1, 4], to)
}

/// Ends the copy that started first.
fn end_copy(driver: &mut Driver, how: Result<(), Refusal>, to: &mut Scripted) {
    let ticket = to.under_way.pop_front().expect("a copy is under way");
    driver.finished(Time(1), ticket, how, to);
}

/// Pages 0 and 1 lie on GPU 1; the copy of page 0 to the host is under way, the copy of page 1 comes next.
fn two_kept(to: &mut Scripted) -> Driver {
    let mut driver = lending(to);
    to.later = vec!["copy"];
    driver.faults(Time(0), &[write(0, 0)], to);
    end_copy(&mut driver, Ok(()), to);
    for page in [1, 2] {
        driver.faults(Time(0), &[write(0, page)], to);
        // The write-back of page 0 goes on meanwhile.
        (0..2).for_each(|_| {
            let ticket = to.under_way.pop_back().unwrap();
            driver.finished(Time(1), ticket, Ok(()), to);
        });
    }
    assert_eq!(to.under_way.len(), 1);
    to.take();
    driver
}

const BOTH: PageRun = PageRun { first: PageId(0), count: 2 };

#[test]
fn what_is_to_be_freed_is_not_written_back_first() {
    for how in [Ok(()), Err(Refusal { done: Prefix::NONE, why: Why::Gone })] {
        let mut to = Scripted::default();
        let mut driver = two_kept(&mut to);
        driver.free(Time(1), BOTH, 7, &mut to);
        assert!(driver.is_freeing(PageId(1)) && to.freed.is_empty());
        end_copy(&mut driver, how, &mut to);
        assert_eq!(lines(&mut to, ""), ["plan ends", "free 0x2"], "{how:?}");
        assert!(driver.is_idle() && !driver.is_freeing(PageId(1)));
        driver.manager().check().unwrap();
    }
}

#[test]
fn a_copy_in_the_background_that_is_always_refused_is_left_until_something_else_happens() {
    for why in [Why::Again, Why::Gone] {
        let mut to = Scripted::default();
        let mut driver = two_kept(&mut to);
        to.later.clear();
        to.never = Some(("copy", why));
        end_copy(&mut driver, Err(Refusal { done: Prefix::NONE, why }), &mut to);
        assert_eq!(lines(&mut to, "copy").len(), MOST - 1, "{why:?}");
        assert!(driver.is_idle() && !driver.halted());
        to.never = None;
        driver.allocate(Time(2), PageRun::one(PageId(600)).into(), &mut to);
        assert_eq!(lines(&mut to, "copy").len(), 2);
        assert!(driver.manager().page(PageId(1)).backed());
    }
}

/// One GPU with room for two pages, one of which it should keep free.
fn reserving(to: &mut Scripted) -> Driver {
    let mut config = MemoryConfig { placement: Choice::named("on-touch"), ..MemoryConfig::default() };
    config.demotion = Choice::named("reserve");
    config.demotion.options.insert("free".to_owned(), config.page_size.to_string().into());
    driver_of(&config, Service::at_once(), &[2], to)
}

#[test]
fn an_eviction_ahead_of_need_that_is_always_refused_is_left_until_something_else_happens() {
    // What comes from the host is drained nowhere.
    let mut to = Scripted { never: Some(("drain", Why::Again)), ..Scripted::default() };
    let mut driver = reserving(&mut to);
    driver.faults(Time(0), &[write(0, 0), write(0, 1)], &mut to);
    assert_eq!(lines(&mut to, "drain").len(), MOST);
    assert!(driver.is_idle() && !driver.halted() && driver.outstanding().is_empty());
    to.never = None;
    driver.allocate(Time(2), PageRun::one(PageId(600)).into(), &mut to);
    assert_eq!(lines(&mut to, "drain").len(), 1);
}

#[test]
fn an_eviction_that_a_lower_capacity_demands_is_not_tried_for_ever() {
    let mut to = Scripted { never: Some(("drain", Why::Again)), ..Scripted::default() };
    let mut driver = driver(Service::at_once(), &[2], &mut to);
    driver.faults(Time(0), &[write(0, 0), write(0, 1)], &mut to);
    driver.capacity(Time(1), MemoryId::gpu(0), 1, &mut to);
    assert_eq!(lines(&mut to, "drain").len(), MOST);
    assert!(driver.is_idle() && !driver.halted());
}

#[test]
fn nothing_is_evicted_ahead_of_need_while_a_free_waits() {
    let mut to = Scripted { later: vec!["copy"], ..Scripted::default() };
    let mut driver = reserving(&mut to);
    driver.faults(Time(0), &[write(0, 0), write(0, 1)], &mut to);
    driver.free(Time(1), PageRun::one(PageId(1)), 7, &mut to);
    end_copy(&mut driver, Ok(()), &mut to);
    assert_eq!(lines(&mut to, "drain"), [""; 0]);
    end_copy(&mut driver, Ok(()), &mut to);
    assert_eq!((lines(&mut to, "drain"), to.freed.as_slice()), (vec![], [7].as_slice()));
    assert!(driver.is_idle() && driver.manager().frames_held(MemoryId::gpu(0)) == 1);
}

#[test]
fn a_fault_whose_plans_are_always_refused_is_killed_and_no_other() {
    let mut to = Scripted { never: Some(("copy", Why::Again)), ..Scripted::default() };
    let mut driver = driver(Service::at_once(), &[8, 8], &mut to);
    for tries in 1.. {
        driver.faults(Time(0), &[write(0, 3)], &mut to);
        if lines(&mut to, "gpu0 3") == ["kill gpu0 3"] {
            assert_eq!(tries, MOST);
            break;
        }
    }
    assert!(driver.is_idle() && driver.outstanding().is_empty() && !driver.halted());
    // One that is done in between counts anew.
    for _ in 0..3 {
        for _ in 0..MOST - 1 {
            driver.faults(Time(0), &[write(0, 4)], &mut to);
        }
        to.never = None;
        driver.faults(Time(0), &[write(0, 4), write(1, 4)], &mut to);
        to.never = Some(("copy", Why::Again));
    }
    assert_eq!(lines(&mut to, "kill"), [""; 0]);
}

#[test]
fn a_plan_whose_end_is_always_refused_halts_the_driver() {
    let mut to = Scripted { never: Some(("release", Why::Again)), ..Scripted::default() };
    let mut driver = driver(Service::at_once(), &[8, 8], &mut to);
    driver.faults(Time(0), &[write(0, 3)], &mut to);
    assert!(driver.halted() && driver.refused_for_good() && driver.is_idle() && driver.outstanding().is_empty());
    assert_eq!(lines(&mut to, "gpu0"), ["kill gpu0 3"]);
}

/// Four GPUs that all write page 0, and were all woken.
fn all_want_one_page() -> (Driver, Instant) {
    let topology = Topology::of(vec![8; 4]);
    let config = MemoryConfig { placement: Choice::named("on-touch"), ..MemoryConfig::default() };
    let mut driver = Driver::new(Manager::new(&config, &topology).unwrap(), Service::at_once());
    let mut node = Instant::new(4);
    let run = PageRun { first: PageId(0), count: 4 };
    node.allocate(&run.into());
    driver.allocate(Time::ZERO, run.into(), &mut node);
    let all: Vec<Fault> = (0..4).map(|gpu| write(gpu, 0)).collect();
    driver.faults(Time::ZERO, &all, &mut node);
    (driver, node)
}

fn woken(node: &mut Instant) -> Vec<Fault> {
    std::iter::from_fn(|| node.take_woken()).collect()
}

#[test]
fn of_all_who_are_woken_together_one_gets_on() {
    let (mut driver, mut node) = all_want_one_page();
    for left in (0..4).rev() {
        let (done, again): (Vec<Fault>, Vec<Fault>) = woken(&mut node)
            .into_iter()
            .partition(|fault| node.entry(fault.processor, fault.page).allows(fault.access));
        assert_eq!((done.len(), again.len()), (1, left));
        driver.faults(Time::ZERO, &again, &mut node);
    }
    assert!(driver.outstanding().is_empty());
}

/// The case that the contract of [`Wake::Arrived`](octavo_driver::Wake) warns of.
#[test]
fn who_hands_in_each_before_the_next_has_tried_lets_them_take_the_page_from_each_other() {
    let (mut driver, mut node) = all_want_one_page();
    let mut waiting: VecDeque<Fault> = woken(&mut node).into();
    for _ in 0..10_000 {
        let fault = waiting.pop_front().unwrap();
        assert!(!node.entry(fault.processor, fault.page).allows(fault.access));
        driver.faults(Time::ZERO, &[fault], &mut node);
        waiting.extend(woken(&mut node));
    }
    assert_eq!(waiting.len(), 4);
}
