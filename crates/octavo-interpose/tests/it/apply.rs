//! Effects of a placement file on allocations, and that programs otherwise run as usual.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::built::{Built, silent};

/// A placement file for what a recording holds: a placement, and hints, for each call.
fn placement(profile: &Value, wanted: &[(&str, &str, Value)]) -> Value {
    let mut buffers: BTreeMap<String, Value> = BTreeMap::new();
    for each in profile["allocations"].as_array().unwrap() {
        let frames = &profile["sites"][each["site"].as_u64().unwrap() as usize];
        let Some((_, placement, hints)) = wanted.iter().find(|(call, ..)| each["call"] == *call) else { continue };
        let buffer = json!({
            "name": each["call"], "call": each["call"], "bytes": each["bytes"], "frames": frames,
            "placement": placement, "hints": hints, "host_never_touches": true,
        });
        buffers.insert(format!("{} {}", frames, each["bytes"]), buffer);
    }
    json!({"octavo_placement": 2, "buffers": buffers.into_values().collect::<Vec<_>>()})
}

/// A command under a placement file, with the hints that the driver gets.
fn under(built: &Built, mut command: Command, file: &Value) -> Command {
    let at = |name: &str| built.folder().join(name);
    fs::write(at("placement.json"), file.to_string()).unwrap();
    fs::remove_file(at("driver.log")).ok();
    command.env_remove("OCTAVO_RECORD").env("OCTAVO_APPLY", at("placement.json")).env("STAND_IN_LOG", at("driver.log"));
    command
}

fn lines(built: &Built) -> Vec<String> {
    let text = fs::read_to_string(built.folder().join("driver.log")).unwrap_or_default();
    text.lines().map(ToOwned::to_owned).collect()
}

fn count(built: &Built, line: &str) -> usize {
    lines(built).iter().filter(|each| *each == line).count()
}

fn log(built: &Built) -> Value {
    serde_json::from_str(&fs::read_to_string(built.folder().join("placement.applied.json")).unwrap()).unwrap()
}

/// The names of all logs.
fn logs(built: &Built) -> Vec<String> {
    let names = fs::read_dir(built.folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut logs: Vec<String> = names.filter(|name| name.starts_with("placement.applied.")).collect();
    logs.sort();
    logs
}

/// A recording of a program with these arguments, and a placement file for it.
fn recorded(built: &Built, program: &std::path::Path, arguments: &[&str], wanted: &[(&str, &str, Value)]) -> Value {
    silent(built.recorded(program).args(arguments));
    placement(&built.profile(), wanted)
}

#[test]
fn memory_becomes_what_the_file_says_and_is_freed_as_that() {
    let built = Built::new();
    let program = built.linked();
    let hints = json!(["prefer-device", "read-mostly", "prefetch"]);
    let file = recorded(
        &built,
        &program,
        &[],
        &[("cudaMalloc", "managed", hints), ("cudaMallocManaged", "pinned", json!([]))],
    );
    silent(&mut under(&built, built.recorded(&program), &file));
    // The program's own prefetch and advice are left out: its output is not managed any more.
    let told = [
        "made 4096 managed",
        "advised 3",
        "advised 1",
        "prefetched 4096",
        "made 4096 pinned",
        "freed 0 device",
        "waited 0",
        "freed 0 pinned",
        "made 100 pinned",
    ];
    assert_eq!(lines(&built), told);
    let log = log(&built);
    assert_eq!((&log["octavo_applied"], &log["refused"], &log["hints_left_out"]), (&json!(4), &json!(null), &json!(2)));
    let keys = ["name", "placement", "matched", "redirected", "failed", "hints_refused"];
    let mut done: Vec<Value> =
        log["buffers"].as_array().unwrap().iter().map(|one| keys.map(|key| one[key].clone()).into()).collect();
    done.sort_by_key(ToString::to_string);
    assert_eq!(
        done,
        [json!(["cudaMalloc", "managed", 1, 1, 0, 0]), json!(["cudaMallocManaged", "pinned", 1, 1, 0, 0]),]
    );
    assert_eq!(log["unnamed"], json!({"calls": 1, "bytes": 100}));
}

#[test]
fn every_kind_becomes_every_other() {
    let built = Built::new();
    let program = built.linked();
    for placement in ["device", "managed", "pinned"] {
        let wanted = [("cudaMalloc", placement, json!([])), ("cudaMallocManaged", placement, json!([]))];
        let file = recorded(&built, &program, &[], &wanted);
        silent(&mut under(&built, built.recorded(&program), &file));
        assert_eq!(count(&built, &format!("made 4096 {placement}")), 2, "{:?}", lines(&built));
    }
    for placement in ["device", "managed"] {
        let file = recorded(&built, &program, &["pinned"], &[("cudaMallocHost", placement, json!([]))]);
        silent(under(&built, built.recorded(&program), &file).arg("pinned"));
        assert_eq!(lines(&built), [format!("made 4096 {placement}"), "freed 0 device".to_owned()]);
    }
}

#[test]
fn a_runtime_inside_the_program_is_redirected_at_the_driver() {
    let built = Built::new();
    let program = built.whole();
    let wanted = [("cuMemAlloc", "pinned", json!([])), ("cuMemAllocManaged", "pinned", json!([]))];
    let file = recorded(&built, &program, &[], &wanted);
    silent(&mut under(&built, built.recorded(&program), &file));
    assert_eq!((count(&built, "made 4096 pinned"), count(&built, "freed 0 pinned")), (2, 2));
    assert!(!lines(&built).iter().any(|line| line.starts_with("refused")));
}

#[test]
fn a_driver_found_by_name_is_redirected() {
    let built = Built::new();
    let program = built.looking();
    let file = recorded(&built, &program, &[], &[("cuMemAlloc", "pinned", json!([]))]);
    silent(&mut under(&built, built.recorded(&program), &file));
    assert_eq!(count(&built, "made 4096 pinned"), 1);
}

#[test]
fn the_order_of_allocations_from_one_place_tells_them_apart() {
    let built = Built::new();
    let program = built.linked();
    let mut file = recorded(&built, &program, &["order"], &[("cudaMalloc", "managed", json!([]))]);
    file["buffers"][0]["order"] = json!([1]);
    let mut other = file["buffers"][0].clone();
    other["order"] = json!([2, 7]);
    other["placement"] = json!("pinned");
    file["buffers"].as_array_mut().unwrap().push(other);
    silent(under(&built, built.recorded(&program), &file).arg("order"));
    let made: Vec<_> = lines(&built).into_iter().filter(|line| line.starts_with("made")).collect();
    assert_eq!(made, ["made 4096 device", "made 4096 managed", "made 4096 pinned"]);
}

#[test]
fn among_threads_and_in_children_all_is_freed_as_what_it_is() {
    let built = Built::new();
    let program = built.linked();
    let wanted = [("cudaMalloc", "pinned", json!([])), ("cudaMallocManaged", "pinned", json!([]))];
    let file = recorded(&built, &program, &["threads"], &wanted);
    silent(under(&built, built.recorded(&program), &file).arg("threads"));
    assert_eq!((count(&built, "made 4096 pinned"), count(&built, "freed 0 pinned")), (800, 800));
    let file = recorded(&built, &program, &["fork"], &[("cudaMalloc", "pinned", json!([]))]);
    silent(under(&built, built.recorded(&program), &file).arg("fork"));
    assert_eq!(count(&built, "freed 0 pinned"), count(&built, "made 4096 pinned"));
    assert!(count(&built, "made 4096 pinned") >= 50);
}

#[test]
fn what_cannot_be_redirected_is_what_the_program_asked_for() {
    let built = Built::new();
    let program = built.linked();
    let wanted = [("cudaMalloc", "pinned", json!([])), ("cudaMallocManaged", "pinned", json!([]))];
    let file = recorded(&built, &program, &[], &wanted);
    silent(under(&built, built.recorded(&program), &file).env("STAND_IN_REFUSED", "pinned"));
    assert_eq!((count(&built, "made 4096 device"), count(&built, "made 4096 managed")), (1, 1));
    for buffer in log(&built)["buffers"].as_array().unwrap() {
        assert_eq!((&buffer["failed"], &buffer["status"], &buffer["redirected"]), (&json!(1), &json!(2), &json!(0)));
    }
    // Nothing of either kind: the program sees its own failure, as without.
    let file = placement(&built.profile(), &wanted);
    silent(under(&built, built.recorded(&program), &file).arg("failure").env("STAND_IN_LIMIT", "100000"));
}

#[test]
fn pools_are_passed_on_and_named() {
    let built = Built::new();
    let program = built.linked();
    let file = recorded(&built, &program, &["pool"], &[("cudaMallocAsync", "managed", json!([]))]);
    silent(under(&built, built.recorded(&program), &file).arg("pool"));
    assert_eq!(log(&built)["passed_on"], json!({"cudaMallocAsync": {"calls": 1, "bytes": 4096}}));
    assert_eq!(count(&built, "made 4096 device"), 2);
    let done = &log(&built)["buffers"][0];
    assert_eq!((&done["matched"], &done["as_it_is"], &done["redirected"]), (&json!(1), &json!(1), &json!(0)));
}

#[test]
fn what_is_as_asked_already_is_counted_so() {
    let built = Built::new();
    let program = built.linked();
    let wanted = [("cudaMalloc", "device", json!([])), ("cudaMallocManaged", "managed", json!([]))];
    let file = recorded(&built, &program, &[], &wanted);
    silent(&mut under(&built, built.recorded(&program), &file));
    for done in log(&built)["buffers"].as_array().unwrap() {
        assert_eq!((&done["matched"], &done["as_it_is"], &done["redirected"]), (&json!(1), &json!(1), &json!(0)));
    }
}

#[test]
fn memory_is_freed_where_it_was_made_whoever_frees_it() {
    let built = Built::new();
    let program = built.linked();
    let wanted = [("cudaMalloc", "managed", json!([])), ("cudaMallocManaged", "pinned", json!([]))];
    let file = recorded(&built, &program, &["freed-elsewhere"], &wanted);
    silent(under(&built, built.recorded(&program), &file).arg("freed-elsewhere"));
    let told = ["made 4096 managed", "made 4096 pinned", "freed 0 device", "waited 0", "freed 0 pinned"];
    assert_eq!(lines(&built), told);
    // One that was made on the second device: that is waited for.
    let file = recorded(&built, &program, &["devices"], &[("cudaMalloc", "pinned", json!([]))]);
    silent(under(&built, built.recorded(&program), &file).arg("devices"));
    let once = |device| ["made 4096 pinned".to_owned(), format!("waited {device}"), "freed 0 pinned".to_owned()];
    assert_eq!(lines(&built), [once(1), once(0)].concat());
}

#[test]
fn what_could_not_be_freed_can_be_freed_again() {
    let built = Built::new();
    let program = built.linked();
    let file = recorded(&built, &program, &["busy"], &[("cudaMalloc", "pinned", json!([]))]);
    silent(under(&built, built.recorded(&program), &file).arg("busy").env("STAND_IN_BUSY", "1"));
    assert_eq!(lines(&built), ["made 4096 pinned", "waited 0", "freed 0 pinned"]);
}

#[test]
fn an_allocation_that_fails_has_no_order() {
    let built = Built::new();
    let program = built.linked();
    let mut file = recorded(&built, &program, &["retry"], &[("cudaMalloc", "managed", json!([]))]);
    file["buffers"][0]["order"] = json!([1]);
    let mut other = file["buffers"][0].clone();
    other["order"] = json!([2]);
    other["placement"] = json!("pinned");
    file["buffers"].as_array_mut().unwrap().push(other);
    silent(under(&built, built.recorded(&program), &file).arg("retry"));
    let made: Vec<_> = lines(&built).into_iter().filter(|line| line.starts_with("made")).collect();
    assert_eq!(made, ["made 4096 device", "made 4096 managed", "made 4096 pinned"]);
    let done = &log(&built)["buffers"];
    assert_eq!((&done[0]["matched"], &done[0]["failed"], &done[1]["matched"]), (&json!(1), &json!(0), &json!(1)));
    assert_eq!(log(&built)["unnamed"], json!({"calls": 1, "bytes": 4096}));
}

#[test]
fn an_address_that_is_given_out_again_is_what_it_is_now() {
    let built = Built::new();
    let program = built.linked();
    let file = recorded(&built, &program, &["release"], &[("cudaMalloc", "pinned", json!([]))]);
    silent(under(&built, built.recorded(&program), &file).arg("release"));
    assert_eq!(lines(&built), ["made 4096 pinned", "made 4096 device", "freed 0 device"]);
    // After a reset nothing is there, as without the file.
    let file = recorded(&built, &program, &["reset"], &[("cudaMalloc", "pinned", json!([]))]);
    silent(under(&built, built.recorded(&program), &file).arg("reset"));
    assert_eq!(lines(&built), ["made 4096 pinned", "refused to free 0 device"]);
}

#[test]
fn a_file_that_is_refused_changes_nothing_and_the_log_says_so() {
    let built = Built::new();
    let program = built.linked();
    let good = recorded(&built, &program, &[], &[("cudaMalloc", "pinned", json!([]))]);
    let with = |key: &str, value: Value| {
        let mut bad = good.clone();
        bad[key] = value;
        bad
    };
    let cases = [
        (with("octavo_placement", json!(9)), "octavo_placement: expected format 2, found 9"),
        (with("colour", json!("red")), "unknown field `colour`, expected one of"),
        (json!("no placement"), "invalid type: string"),
    ];
    for (bad, expected) in cases {
        silent(&mut under(&built, built.recorded(&program), &bad));
        let log = log(&built);
        assert!(log["refused"].as_str().unwrap().contains(expected), "{log}");
        assert!(log["refused"].as_str().unwrap().contains("placement.json: "), "{log}");
        assert_eq!((count(&built, "made 4096 device"), count(&built, "made 4096 managed")), (1, 1));
    }
    // Of its processes, those that call nothing of CUDA's say nothing.
    fs::remove_file(built.folder().join("placement.applied.json")).unwrap();
    let script = format!("{0} nothing > /dev/null; {0} nothing > /dev/null", program.display());
    silent(under(&built, built.recorded("sh"), &json!("no placement")).args(["-c", &script]));
    assert_eq!(logs(&built), ["placement.applied.json"]);
    let mut missing = under(&built, built.recorded(&program), &good);
    silent(missing.env("OCTAVO_APPLY", built.folder().join("none.json")));
    let said = fs::read_to_string(built.folder().join("none.applied.json")).unwrap();
    assert!(said.contains("No such file"), "{said}");
    let mut folder = under(&built, built.recorded(&program), &good);
    silent(folder.env("OCTAVO_APPLY", built.folder()).env("OCTAVO_APPLY_LOG", built.folder().join("log.json")));
    let said = fs::read_to_string(built.folder().join("log.json")).unwrap();
    assert!(said.contains("expected a file, found a folder"), "{said}");
}

#[test]
fn a_child_applies_what_its_parent_read() {
    let built = Built::new();
    let program = built.linked();
    // The parent records nothing of its own: the child's frames belong to the same call.
    silent(built.recorded(&program).arg("unlinked"));
    let [profile] = &built.others()[..] else { panic!("expected one child") };
    let file = placement(profile, &[("cudaMalloc", "pinned", json!([]))]);
    silent(under(&built, built.recorded(&program), &file).arg("unlinked"));
    assert_eq!(lines(&built), ["made 4096 pinned", "waited 0", "freed 0 pinned"]);
    assert_eq!(logs(&built).len(), 1);
}

#[test]
fn switched_off_nothing_is_applied_or_written() {
    let built = Built::new();
    let program = built.linked();
    let file = recorded(&built, &program, &[], &[("cudaMalloc", "pinned", json!([]))]);
    silent(under(&built, built.recorded(&program), &file).env("OCTAVO_DISABLE", "1"));
    assert_eq!(count(&built, "made 4096 device"), 1);
    assert!(!built.folder().join("placement.applied.json").exists());
}

#[test]
fn a_recording_of_what_is_applied_tells_what_lies_there() {
    let built = Built::new();
    let program = built.linked();
    let file = recorded(&built, &program, &[], &[("cudaMalloc", "managed", json!([]))]);
    let mut both = under(&built, built.recorded(&program), &file);
    silent(both.env("OCTAVO_RECORD", built.folder().join("profile.json")));
    let first = &built.profile()["allocations"][0];
    assert_eq!((&first["kind"], &first["call"]), (&json!("managed"), &json!("cudaMalloc")));
}

#[test]
fn a_thread_may_be_cancelled_and_libraries_may_call_cuda_as_they_are_loaded() {
    let built = Built::new();
    let program = built.linked();
    built.constructor();
    let file = recorded(&built, &program, &[], &[("cudaMalloc", "pinned", json!([]))]);
    for mode in ["cancel", "constructor"] {
        silent(under(&built, built.recorded(&program), &file).arg(mode));
    }
}
