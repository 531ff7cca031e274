//! The recordings of programs, and that they run as usual.

use std::process::Command;

use serde_json::{Value, json};

use crate::built::{Built, silent};

/// Some keys of an allocation.
fn about(allocation: &Value, keys: &[&str]) -> Value {
    keys.iter().map(|key| allocation[key].clone()).collect()
}

/// The nearest caller of an allocation, by its line.
fn line(profile: &Value, allocation: &Value) -> String {
    let frame = &profile["sites"][allocation["site"].as_u64().unwrap() as usize][0];
    let address = format!("{:#x}", frame["offset"].as_u64().unwrap() - 1);
    let output = Command::new("addr2line").arg("-fse").arg(frame["module"].as_str().unwrap()).arg(address).output();
    String::from_utf8(output.unwrap().stdout).unwrap().lines().next().unwrap().to_owned()
}

const TRAFFIC: [&str; 5] = ["copied_in", "copied_out", "copied_within", "filled", "prefetched"];

#[test]
fn allocations_are_recorded_in_order_with_who_called_and_what_moved() {
    let built = Built::new();
    silent(&mut built.recorded(built.linked()));
    let profile = built.profile();
    let [input, output, pinned] = &profile["allocations"].as_array().unwrap()[..] else { panic!("{profile}") };
    assert_eq!(about(input, &["kind", "call", "bytes"]), json!(["device", "cudaMalloc", 4096]));
    assert_eq!(about(output, &["kind", "call", "bytes"]), json!(["managed", "cudaMallocManaged", 4096]));
    assert_eq!(about(pinned, &["kind", "call", "bytes"]), json!(["pinned", "cudaMallocHost", 100]));
    let (none, once) = (json!({"calls": 0, "bytes": 0}), json!({"calls": 1, "bytes": 4096}));
    assert_eq!(about(input, &TRAFFIC), json!([once, none, none, none, none]));
    assert_eq!(about(output, &TRAFFIC), json!([none, once, none, once, once]));
    assert_eq!(about(output, &["launches_before", "launches_at_end", "advised"]), json!([0, 1, 1]));
    assert_eq!((line(&profile, input), line(&profile, output)), ("input".to_owned(), "output".to_owned()));
    assert!(input["freed_ns"].is_u64() && pinned["freed_ns"].is_null());
    let kernel = &profile["kernels"][0];
    assert_eq!(about(kernel, &["blocks", "threads_per_block", "launches"]), json!([8, 128, 1]));
    assert_eq!(about(&profile, &["launches", "lost", "forked_from", "octavo_profile"]), json!([1, 0, null, 2]));
}

#[test]
fn a_runtime_inside_the_program_is_seen_through_the_driver() {
    let built = Built::new();
    silent(&mut built.recorded(built.whole()));
    let profile = built.profile();
    let calls: Vec<_> = profile["allocations"].as_array().unwrap().iter().map(|one| one["call"].clone()).collect();
    assert_eq!(calls, ["cuMemAlloc", "cuMemAllocManaged", "cuMemAllocHost"]);
    assert_eq!(profile["launches"], 1);
    assert_eq!(profile["allocations"][0]["copied_in"], json!({"calls": 1, "bytes": 4096}));
}

#[test]
fn a_driver_found_by_name_is_seen_and_other_names_are_found_as_ever() {
    let built = Built::new();
    silent(&mut built.plain(built.looking()));
    silent(&mut built.recorded(built.looking()));
    let profile = built.profile();
    let allocation = &profile["allocations"][0];
    let (moved, set) = (json!({"calls": 1, "bytes": 16}), json!({"calls": 1, "bytes": 4096}));
    assert_eq!(about(allocation, &["copied_in", "copied_out", "filled"]), json!([moved, moved, set]));
    assert_eq!(about(&profile["kernels"][0], &["blocks", "threads_per_block"]), json!([24, 32]));
}

#[test]
fn nothing_is_lost_among_threads() {
    let built = Built::new();
    silent(built.recorded(built.linked()).arg("threads"));
    let profile = built.profile();
    let allocations = profile["allocations"].as_array().unwrap();
    assert_eq!((allocations.len(), &profile["launches"], &profile["lost"]), (800, &json!(400), &json!(0)));
    assert!(allocations.iter().all(|one| one["freed_ns"].is_u64()));
    let once = json!({"calls": 1, "bytes": 4096});
    for (kind, way) in [("device", "copied_in"), ("managed", "copied_out")] {
        let of_kind = allocations.iter().filter(|one| one["kind"] == kind);
        assert_eq!(of_kind.filter(|one| one[way] == once).count(), 400, "{kind}");
    }
}

#[test]
fn children_record_themselves() {
    let built = Built::new();
    silent(built.recorded(built.linked()).arg("fork"));
    let (parent, children) = (built.profile(), built.others());
    assert_eq!(parent["allocations"].as_array().unwrap().len(), 100);
    assert_eq!(children.len(), 4);
    for child in children {
        assert_eq!(child["forked_from"], parent["process"]);
        assert_eq!(child["allocations"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn programs_that_a_script_starts_have_profiles_of_their_own() {
    let built = Built::new();
    let program = built.linked();
    let twice = format!("{0}; {0}", program.display());
    silent(built.recorded("sh").args(["-c", &twice]));
    assert_eq!(built.others().len(), 2);
}

#[test]
fn allocations_that_fail_stay_failures() {
    let built = Built::new();
    silent(built.recorded(built.linked()).arg("failure").env("STAND_IN_LIMIT", "100000"));
    assert_eq!(built.profile()["allocations"].as_array().unwrap().len(), 2);
}

#[test]
fn nothing_is_written_when_it_is_switched_off_or_nothing_happens() {
    let built = Built::new();
    let program = built.linked();
    silent(built.recorded(&program).env("OCTAVO_DISABLE", "1"));
    silent(built.recorded(built.whole()).env_remove("OCTAVO_RECORD"));
    let said = silent(built.recorded(&program).arg("nothing")).stdout;
    assert_eq!(said, silent(built.plain(&program).arg("nothing")).stdout);
    assert!(built.others().is_empty());
    assert!(std::panic::catch_unwind(|| built.profile()).is_err());
}

#[test]
fn a_program_with_its_own_malloc_begins() {
    let built = Built::new();
    silent(&mut built.recorded(built.allocating()));
    assert_eq!(built.profile()["allocations"].as_array().unwrap().len(), 3);
}

#[test]
fn switched_off_a_driver_is_found_as_without() {
    let built = Built::new();
    silent(built.recorded(built.looking()).env("OCTAVO_DISABLE", "1"));
    silent(built.recorded(built.looking()).env_remove("OCTAVO_RECORD"));
}

#[test]
fn a_runtime_of_one_library_alone_is_found_whatever_its_name() {
    for runtime in ["libcudart.so.11.0", "libcudart-d0da41ae.so.11.0"] {
        let built = Built::new();
        let program = built.plugin(runtime);
        silent(&mut built.plain(&program));
        silent(built.recorded(&program).env("OCTAVO_DISABLE", "1"));
        silent(&mut built.recorded(&program));
        let profile = built.profile();
        assert_eq!(about(&profile["allocations"][0], &["call", "bytes"]), json!(["cudaMalloc", 4096]), "{runtime}");
    }
}

#[test]
fn libraries_may_call_cuda_as_they_are_loaded() {
    let built = Built::new();
    built.constructor();
    silent(built.recorded(built.linked()).arg("constructor"));
    let profile = built.profile();
    assert_eq!((&profile["launches"], profile["kernels"].as_array().unwrap().len()), (&json!(20_000), 20_000));
    assert_eq!(profile["allocations"].as_array().unwrap().len(), 400);
}

#[test]
fn a_thread_may_be_cancelled_within_a_call() {
    let built = Built::new();
    silent(built.recorded(built.linked()).arg("cancel"));
    assert_eq!(built.profile()["allocations"].as_array().unwrap().len(), 2);
}

#[test]
fn a_profile_lies_where_it_was_named_as_the_program_began() {
    let built = Built::new();
    let mut command = built.recorded(built.linked());
    command.arg("elsewhere").env("OCTAVO_RECORD", "profile.json").current_dir(built.folder());
    silent(&mut command);
    let script = format!("mkdir sub && cd sub && {}", built.linked().display());
    let mut command = built.recorded("sh");
    command.args(["-c", &script]).env("OCTAVO_RECORD", "profile.json").current_dir(built.folder());
    silent(&mut command);
    assert_eq!((built.profile()["launches"].clone(), built.others().len()), (json!(1), 1));
}
