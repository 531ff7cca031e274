//! Copies that the host makes itself, as their memory lies on the host: never with another result.

use serde_json::{Value, json};

use crate::built::{Built, silent};
use crate::moves::{count, file, log, recorded, under};

/// A recording of a search, and a placement file that lets the host make the copies of its flag.
fn search(built: &Built) -> (Value, Value) {
    let program = built.shapes();
    let profile = recorded(built, &program, "flag");
    let mut file = file(&profile, &json!(null));
    let buffers = file["buffers"].as_array_mut().unwrap();
    buffers.retain(|buffer| buffer["bytes"] == 4);
    let buffer = buffers[0].as_object_mut().unwrap();
    buffer.remove("moves");
    buffer.insert("hints".to_owned(), json!(["prefer-host", "accessed-by-device"]));
    buffer.insert("copied_by_host".to_owned(), json!(true));
    (profile, file)
}

/// The host copies what it overwrites at once, and a kernel writes by an address that lies in device memory: the program
/// checks all that it reads.
#[test]
fn the_host_makes_copies_of_what_lies_there() {
    let built = Built::new();
    let (profile, file) = search(&built);
    let copied: Vec<&Value> =
        profile["steps"].as_array().unwrap().iter().filter(|step| step["step"] == "copied").collect();
    assert!(copied.len() > 200 && copied.iter().all(|step| step["waited"] == true));
    for program in [built.shapes(), built.whole_shapes()] {
        let file = if program.ends_with("shapes") { &file } else { &self::file_of_whole(&built) };
        let plain = built.clock(built.plain(&program).arg("flag"));
        let applied = built.clock(&mut under(&built, &program, "flag", file));
        let log = log(&built);
        let launches = plain["launches"].as_u64().unwrap();
        assert_eq!(log["buffers"][0]["stored"], json!(2 * launches), "{log}");
        assert_eq!((&log["copies"]["withdrawn"], &log["copies"]["rounds"]), (&json!(false), &json!(launches - 1)));
        // What the clock says but for the first round, and for the allocation, which nobody measures.
        let gained = plain["ns"].as_f64().unwrap() - applied["ns"].as_f64().unwrap();
        assert!(gained > 0.25 * plain["ns"].as_f64().unwrap(), "{plain} {applied}");
        assert!((log["gained_ns"].as_f64().unwrap() / gained - 1.0).abs() < 0.15, "{log} {gained}");
    }
}

fn file_of_whole(built: &Built) -> Value {
    let (_, mut file) = search(built);
    let profile = recorded(built, &built.whole_shapes(), "flag");
    let flag = profile["allocations"].as_array().unwrap().iter().find(|each| each["bytes"] == 4).unwrap();
    file["buffers"][0]["call"] = flag["call"].clone();
    file["buffers"][0]["frames"] = profile["sites"][flag["site"].as_u64().unwrap() as usize].clone();
    file
}

#[test]
fn copies_that_do_not_help_are_given_back_to_the_driver() {
    let built = Built::new();
    let (_, file) = search(&built);
    let program = built.shapes();
    let plain = built.clock(built.plain(&program).arg("flag"));
    let applied = built.clock(under(&built, &program, "flag", &file).env("STAND_IN_FAR", "16"));
    let log = log(&built);
    assert_eq!((&log["copies"]["withdrawn"], &log["copies"]["rounds"]), (&json!(true), &json!(3)), "{log}");
    assert!(log["buffers"][0]["stored"].as_u64() < Some(12), "{log}");
    assert!(log["gained_ns"].as_i64() < Some(0));
    assert!(applied["ns"].as_f64() < plain["ns"].as_f64().map(|ns| ns * 1.02), "{plain} {applied}");
    // It prefers the device from then on, and goes there.
    assert_eq!((count(&built, "advised 3"), count(&built, "prefetched 4")), (2, 1));
}

/// A stream that copies do not wait for is at work from before the flag's memory exists until after everything else, and
/// the launches go to another such stream.
#[test]
fn the_host_waits_for_no_more_than_the_program_would() {
    let built = Built::new();
    let (_, file) = search(&built);
    let program = built.shapes();
    let plain = built.clock(built.plain(&program).args(["flag", "apart"]));
    let applied = built.clock(under(&built, &program, "flag", &file).arg("apart"));
    let log = log(&built);
    let launches = plain["launches"].as_u64().unwrap() - 1;
    assert_eq!(log["buffers"][0]["stored"], json!(2 * launches), "{log}");
    assert!(applied["ns"].as_f64() <= plain["ns"].as_f64(), "{plain} {applied}");
}

#[test]
fn while_a_graph_is_recorded_the_driver_makes_the_copies() {
    let built = Built::new();
    let (_, file) = search(&built);
    built.clock(under(&built, &built.shapes(), "flag", &file).env("STAND_IN_CAPTURES", "1"));
    let log = log(&built);
    assert_eq!((&log["buffers"][0]["stored"], &log["buffers"][0]["redirected"]), (&json!(0), &json!(1)), "{log}");
}

/// Threads, children, contexts that end, addresses that are given out again: results are the program's own.
#[test]
fn whatever_a_program_does_its_results_are_right() {
    let built = Built::new();
    let program = built.linked();
    let modes = ["", "threads", "fork", "elsewhere", "freed-elsewhere", "devices", "busy", "retry"];
    let gone = ["reset", "release", "stale"];
    for mode in modes.into_iter().chain(gone) {
        silent(built.recorded(&program).arg(mode));
        let mut file = file(&built.profile(), &json!(null));
        let buffers = file["buffers"].as_array_mut().unwrap();
        buffers.retain(|buffer| buffer["call"] == "cudaMalloc");
        buffers.dedup_by_key(|buffer| buffer["frames"].clone());
        for buffer in buffers.iter_mut() {
            let buffer = buffer.as_object_mut().unwrap();
            buffer.remove("moves");
            buffer.insert("hints".to_owned(), json!(["prefer-host", "accessed-by-device"]));
            buffer.insert("copied_by_host".to_owned(), json!(true));
        }
        silent(&mut under(&built, &program, mode, &file));
        let log = log(&built);
        let sum = |key: &str| -> u64 {
            log["buffers"].as_array().unwrap().iter().map(|each| each[key].as_u64().unwrap()).sum()
        };
        assert!(log["refused"].is_null() && sum("redirected") > 0, "{mode}: {log}");
        assert_eq!(sum("stored") > 0, ["", "threads", "fork", "elsewhere"].contains(&mode), "{mode}: {log}");
    }
}
