//! How plans are carried out.

use octavo_driver::Service;
use octavo_manager::{Access, MemoryConfig, PageId, PageRun};
use octavo_registry::Choice;
use octavo_units::Time;

use crate::scripted::{Scripted, driver, driver_of, fault, read, run_alarms};

#[test]
fn a_step_that_takes_time_is_waited_for() {
    let mut to = Scripted { durations: vec![("copy", 30)], ..Scripted::default() };
    let mut driver = driver(Service::at_once(), &[8, 8], &mut to);
    driver.faults(Time(5), &[read(0, 3)], &mut to);
    assert_eq!(to.take(), ["5 copy", "remind 35 Plan(0)"]);
    assert_eq!(driver.deadline(), Some(Time(35)));
    driver.tick(Time(34), &mut to);
    assert_eq!(to.take(), [""; 0]);
    driver.tick(Time(35), &mut to);
    assert_eq!(to.take(), ["35 release", "35 map", "35 wake gpu0 3 evicting 0", "35 plan ends"]);
    assert!(driver.is_idle() && driver.outstanding().is_empty());
}

#[test]
fn a_step_can_end_whenever_the_executor_says() {
    let mut to = Scripted { later: vec!["copy"], ..Scripted::default() };
    let mut driver = driver(Service::at_once(), &[8, 8], &mut to);
    driver.faults(Time(5), &[read(0, 3)], &mut to);
    assert_eq!((to.take(), driver.deadline()), (vec!["5 copy".to_owned()], None));
    let ticket = to.under_way.pop_front().unwrap();
    driver.finished(Time(50), ticket, Ok(()), &mut to);
    assert_eq!(to.take(), ["50 release", "50 map", "50 wake gpu0 3 evicting 0", "50 plan ends"]);
}

#[test]
#[should_panic(expected = "what is finished was under way")]
fn nothing_is_finished_twice() {
    let mut to = Scripted { later: vec!["copy", "map"], ..Scripted::default() };
    let mut driver = driver(Service::at_once(), &[8, 8], &mut to);
    driver.faults(Time(5), &[read(0, 3)], &mut to);
    let ticket = to.under_way.pop_front().unwrap();
    driver.finished(Time(50), ticket, Ok(()), &mut to);
    driver.finished(Time(50), ticket, Ok(()), &mut to);
}

/// Both ways to take time are accounted alike.
#[test]
fn time_for_making_room_is_kept_apart() {
    for later in [false, true] {
        let mut to = Scripted::default();
        let mut driver = driver(Service::at_once(), &[1, 8], &mut to);
        driver.faults(Time(0), &[read(0, 3)], &mut to);
        to.take();
        if later {
            to.later = vec!["copy"];
        } else {
            to.durations = vec![("copy", 30)];
        }
        driver.faults(Time(100), &[read(0, 4)], &mut to);
        for now in [130, 160] {
            match to.under_way.pop_front() {
                Some(ticket) => driver.finished(Time(now), ticket, Ok(()), &mut to),
                None => driver.tick(Time(now), &mut to),
            }
        }
        let log = to.take();
        assert!(log.contains(&"160 wake gpu0 4 evicting 30".to_owned()), "{log:?}");
        assert_eq!(log.iter().filter(|line| line.contains("copy")).count(), 2, "one leaves, one comes: {log:?}");
    }
}

#[test]
fn pages_are_busy_until_the_wake_has_arrived() {
    let mut to = Scripted { slow_wakes: true, ..Scripted::default() };
    let mut driver = driver(Service::at_once(), &[8, 8], &mut to);
    driver.faults(Time(5), &[read(0, 3)], &mut to);
    assert_eq!(to.take(), ["5 copy", "5 release", "5 map", "5 wake gpu0 3 evicting 0"]);
    assert!(driver.is_busy(PageRun::one(PageId(3))));
    driver.faults(Time(6), &[fault(1, 3, Access::Write)], &mut to);
    assert_eq!(to.take(), [""; 0], "it waits for the first");
    let wake = to.wakes.pop_front().unwrap();
    driver.woken(Time(9), wake, &mut to);
    let log = to.take();
    assert_eq!(log[0], "9 plan ends");
    assert_eq!(log.last().unwrap(), "9 wake gpu1 3 evicting 0");
    assert!(!driver.is_idle());
}

#[test]
fn accesses_to_a_faulting_page_are_one_fault() {
    let mut to = Scripted { later: vec!["copy"], ..Scripted::default() };
    let mut driver = driver(Service::at_once(), &[8, 8], &mut to);
    driver.faults(Time(5), &[read(0, 3), read(0, 3)], &mut to);
    driver.faults(Time(6), &[fault(0, 3, Access::Write)], &mut to);
    assert_eq!(driver.outstanding().len(), 1);
    let ticket = to.under_way.pop_front().unwrap();
    driver.finished(Time(7), ticket, Ok(()), &mut to);
    assert_eq!(to.log.iter().filter(|line| line.contains("wake")).count(), 1);
}

#[test]
fn metadata_is_read_before_the_first_step() {
    let placement = Choice { name: "grit".into(), options: serde_json::from_str(r#"{"pa_cache": false}"#).unwrap() };
    let config = MemoryConfig { placement, ..MemoryConfig::default() };
    let mut to = Scripted::default();
    let mut driver = driver_of(&config, Service::at_once(), &[8, 8], &mut to);
    driver.faults(Time(5), &[read(0, 3)], &mut to);
    assert_eq!(to.take(), [format!("remind {} Plan(0)", driver.deadline().unwrap().0)], "no step yet");
    assert!(driver.deadline() > Some(Time(5)));
    run_alarms(&mut driver, &mut to);
    assert!(driver.is_idle());
}

#[test]
fn a_free_waits_for_busy_pages_and_wakes_who_waits_there() {
    let mut to = Scripted { later: vec!["copy"], ..Scripted::default() };
    let mut driver = driver(Service::at_once(), &[8, 8], &mut to);
    driver.faults(Time(5), &[read(0, 3)], &mut to);
    driver.faults(Time(5), &[read(1, 3)], &mut to);
    let run = PageRun { first: PageId(0), count: 8 };
    driver.free(Time(6), run, 42, &mut to);
    driver.faults(Time(7), &[read(1, 4)], &mut to);
    assert_eq!(to.take(), ["5 copy"], "neither is freed nor is page 4 touched");
    // The end of the first plan begins a plan for the second fault: pages have to come to rest.
    for now in [8, 9] {
        let ticket = to.under_way.pop_front().unwrap();
        driver.finished(Time(now), ticket, Ok(()), &mut to);
    }
    let log = to.take();
    let freed = log.iter().position(|line| line == "9 free 0x8").expect("freed when nobody holds page 3");
    assert_eq!(log[freed + 1..], ["9 wake gpu1 4 evicting 0"]);
    assert_eq!(to.freed, [42]);
    assert!(driver.outstanding().is_empty() && !driver.manager().page(PageId(3)).allocated);

    driver.faults(Time(10), &[read(0, 2)], &mut to);
    assert_eq!(to.take(), ["10 wake gpu0 2 evicting 0"], "whoever comes later finds nothing there");
}

#[test]
fn nothing_is_begun_when_memory_ran_out() {
    let config = MemoryConfig { eviction: Choice::named("none"), ..MemoryConfig::default() };
    let mut to = Scripted::default();
    let mut driver = driver_of(&config, Service::at_once(), &[1], &mut to);
    driver.faults(Time(0), &[read(0, 3)], &mut to);
    assert!(!driver.halted());
    to.take();
    driver.faults(Time(1), &[read(0, 4)], &mut to);
    assert!(driver.halted());
    assert_eq!(to.take(), ["1 kill gpu0 4"]);
}

#[test]
fn faults_that_cost_nothing_are_over_when_the_call_returns() {
    let mut to = Scripted::default();
    let mut driver = driver(Service::at_once(), &[8, 8], &mut to);
    driver.resolve_at_once(Time(5), &fault(0, 3, Access::Write), &mut to);
    assert_eq!(to.take(), ["5 copy", "5 release", "5 map"], "nobody waits");
    assert!(driver.is_idle() && !driver.is_busy(PageRun::one(PageId(3))));
    driver.go_on(Time(5), &mut to);
    assert_eq!(to.take(), [""; 0]);
}
