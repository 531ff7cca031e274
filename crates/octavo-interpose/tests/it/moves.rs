//! Checks a recording's launches and host touches, and which pages move when.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::built::Built;

/// The recording of a shape.
pub fn recorded(built: &Built, program: &Path, shape: &str) -> Value {
    built.clock(built.recorded(program).arg(shape));
    built.profile()
}

pub fn steps(profile: &Value, sort: &str) -> Vec<Value> {
    profile["steps"].as_array().unwrap().iter().filter(|step| step["step"] == sort).cloned().collect()
}

/// A placement file that moves all managed memory of a recording in one way.
pub fn file(profile: &Value, moves: &Value) -> Value {
    let buffers: Vec<Value> = profile["allocations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| {
            let frames = &profile["sites"][each["site"].as_u64().unwrap() as usize];
            json!({"name": "a", "call": each["call"], "bytes": each["bytes"], "frames": frames,
                   "placement": "managed", "moves": moves})
        })
        .collect();
    let launches: Vec<Value> =
        steps(profile, "launch").iter().map(|step| json!([step["kernel"], step["ns"], step["gap_ns"]])).collect();
    let kernels: Vec<Value> = profile["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| json!({"name": each["name"], "blocks": each["blocks"], "threads_per_block": each["threads_per_block"]}))
        .collect();
    json!({"octavo_placement": 2, "buffers": buffers, "recorded": {"kernels": kernels, "launches": launches}})
}

/// A shape under a placement file.
pub fn under(built: &Built, program: &Path, shape: &str, file: &Value) -> Command {
    let at = |name: &str| built.folder().join(name);
    fs::write(at("placement.json"), file.to_string()).unwrap();
    fs::remove_file(at("driver.log")).ok();
    let mut command = built.recorded(program);
    command.arg(shape).env_remove("OCTAVO_RECORD").env("OCTAVO_APPLY", at("placement.json"));
    command.env("STAND_IN_LOG", at("driver.log"));
    command
}

pub fn log(built: &Built) -> Value {
    serde_json::from_str(&fs::read_to_string(built.folder().join("placement.applied.json")).unwrap()).unwrap()
}

pub fn count(built: &Built, line: &str) -> usize {
    let text = fs::read_to_string(built.folder().join("driver.log")).unwrap_or_default();
    text.lines().filter(|each| each.starts_with(line)).count()
}

#[test]
fn launches_name_their_buffers_also_inside_structures() {
    let built = Built::new();
    let profile = recorded(&built, &built.shapes(), "needle");
    let launches = steps(&profile, "launch");
    assert_eq!((launches.len(), &profile["kernels"][0]["name"]), (255, &json!("diagonal")));
    assert!(launches.iter().all(|launch| launch["buffers"] == json!([0, 1])));
    // Nobody waits between two launches, so only the first begins later than the one before ended.
    assert!(launches[1..].iter().all(|launch| launch["gap_ns"] == 0 && launch["ns"].as_u64() > Some(3000)));
}

#[test]
fn the_order_of_touches_and_launches_is_seen() {
    let built = Built::new();
    let profile = recorded(&built, &built.shapes(), "rounds");
    let sorts: Vec<_> = profile["steps"].as_array().unwrap()[1..7].iter().map(|step| step["step"].clone()).collect();
    assert_eq!(sorts, ["launch", "wait", "left", "left", "touched", "touched"]);
    let first = &profile["steps"][0];
    assert_eq!((&first["allocation"], &first["share"], &first["written"]), (&json!(0), &json!(1.0), &json!(true)));
    // What both sides only read is known as that, and what a launch or the host writes is not.
    let written = |shape| {
        let profile = recorded(&built, &built.shapes(), shape);
        let touched = steps(&profile, "touched");
        touched[1..].iter().map(|step| step["written"].as_bool().unwrap()).collect::<Vec<_>>()
    };
    assert!(written("shared").iter().all(|written| !written));
    assert!(written("rounds").iter().all(|written| *written));
}

#[test]
fn a_wait_for_a_stream_says_nothing_of_others() {
    let built = Built::new();
    let profile = recorded(&built, &built.shapes(), "streams");
    let all = profile["steps"].as_array().unwrap();
    let first = all.iter().position(|step| step["step"] == "wait").unwrap();
    let after: Vec<_> =
        all[first..first + 3].iter().map(|step| (step["stream"].as_u64(), step["allocation"].as_u64())).collect();
    assert_eq!(after, [(Some(1), None), (None, Some(0)), (None, Some(1))]);
    let moves = json!({"to_device": true, "to_host_after": (1..=16).collect::<Vec<u64>>()});
    built.clock(&mut under(&built, &built.shapes(), "streams", &file(&profile, &moves)));
    let log = log(&built);
    assert!(log["buffers"].as_array().unwrap().iter().all(|buffer| buffer["to_host"] == 8), "{log}");
}

#[test]
fn how_much_launches_take_from_the_host_is_seen() {
    let built = Built::new();
    let share = |shape| {
        let profile = recorded(&built, &built.shapes(), shape);
        steps(&profile, "left")[0]["share"].as_f64().unwrap()
    };
    assert_eq!(share("atax"), 1.0);
    assert!(share("sparse") < 0.1);
}

#[test]
fn an_older_driver_says_no_parameters_but_names_of_cplusplus_do() {
    let built = Built::new();
    let of = |shape: &str| {
        built.clock(built.recorded(built.shapes()).arg(shape).env("STAND_IN_OLD", "1"));
        let profile = built.profile();
        (profile["kernels"][0].clone(), steps(&profile, "launch").remove(0)["buffers"].clone())
    };
    let (kernel, buffers) = of("rounds");
    assert_eq!((&kernel["name"], &kernel["parameters_known"]), (&json!("_Z5scalePiS_i"), &json!(true)));
    assert_eq!(buffers, json!([0, 1]));
    let (kernel, buffers) = of("atax");
    assert_eq!((&kernel["name"], &kernel["parameters_known"]), (&json!("product"), &json!(false)));
    assert_eq!(buffers, json!([]));
}

#[test]
fn launches_that_go_into_graphs_are_counted_and_move_nothing() {
    let built = Built::new();
    let program = built.shapes();
    let file = file(&recorded(&built, &program, "rounds"), &json!({"to_device": true}));
    built.clock(built.recorded(&program).arg("rounds").env("STAND_IN_CAPTURES", "1"));
    let captured = built.profile();
    assert_eq!((&captured["captured_launches"], steps(&captured, "launch").len()), (&json!(8), 0));
    built.clock(under(&built, &program, "rounds", &file).env("STAND_IN_CAPTURES", "1"));
    assert_eq!(count(&built, "prefetched"), 0);
}

#[test]
fn memory_moves_when_it_is_used_and_when_the_host_wants_it() {
    let built = Built::new();
    let program = built.shapes();
    let profile = recorded(&built, &program, "rounds");
    let plain = built.clock(built.plain(&program).arg("rounds"));
    let back: Vec<u64> = (1..=8).collect();
    let file = file(&profile, &json!({"to_device": true, "to_host_after": back}));
    let applied = built.clock(&mut under(&built, &program, "rounds", &file));
    assert_eq!((&applied["gpu_faults"], &applied["host_faults"]), (&json!(0), &json!(0)));
    assert!(applied["ns"].as_f64() < plain["ns"].as_f64().map(|ns| ns / 2.0));
    // Both go in one call, as the stream is the program's own.
    assert_eq!((count(&built, "batch 2"), count(&built, "prefetched back")), (16, 16));
    let log = log(&built);
    let moved = ["to_device", "to_host"].map(|key| log["buffers"][0][key].clone());
    assert_eq!((moved, &log["launches"][0]["rounds"]), ([json!(8), json!(8)], &json!(8)));
    // What the clock says, but for allocations, which nobody measures, and the last reading.
    let gained = plain["ns"].as_f64().unwrap() - applied["ns"].as_f64().unwrap();
    assert!((log["gained_ns"].as_f64().unwrap() / gained - 1.0).abs() < 0.15, "{log} {gained}");
}

#[test]
fn a_runtime_inside_the_program_is_seen_at_the_driver() {
    let built = Built::new();
    let program = built.whole_shapes();
    let profile = recorded(&built, &program, "rounds");
    let linked = recorded(&built, &built.shapes(), "rounds");
    assert_eq!((&profile["steps"], &profile["kernels"]), (&linked["steps"], &linked["kernels"]));
    let file = file(&profile, &json!({"to_device": true}));
    let applied = built.clock(&mut under(&built, &program, "rounds", &file));
    assert_eq!((&applied["gpu_faults"], count(&built, "batch 2")), (&json!(0), 8));
}

#[test]
fn memory_stays_where_nobody_has_touched_it() {
    let built = Built::new();
    let program = built.shapes();
    let file = file(&recorded(&built, &program, "hotspot"), &json!({"to_device": true}));
    built.clock(&mut under(&built, &program, "hotspot", &file));
    assert_eq!(count(&built, "prefetched"), 3);
}

#[test]
fn what_is_not_needed_is_discarded_before_it_is_filled() {
    let built = Built::new();
    let program = built.shapes();
    let profile = recorded(&built, &program, "cleared");
    let moves = |discard: bool| json!({"to_device": true, "discard_before_fill": discard});
    let kept = built.clock(&mut under(&built, &program, "cleared", &file(&profile, &moves(false))));
    assert_eq!(count(&built, "discarded"), 0);
    let discarded = built.clock(&mut under(&built, &program, "cleared", &file(&profile, &moves(true))));
    assert_eq!((count(&built, "discarded"), &log(&built)["buffers"][0]["discarded"]), (8, &json!(8)));
    assert!(discarded["ns"].as_f64() < kept["ns"].as_f64());
}

/// Three tables in turns where two have room: as an expert would, the last one stays and the others make way.
#[test]
fn what_makes_way_leaves_before_the_launch_that_needs_the_room() {
    const ROOM: &str = "9437184";
    let built = Built::new();
    let program = built.shapes();
    built.clock(built.recorded(&program).arg("turns").env("STAND_IN_MEMORY", ROOM));
    let profile = built.profile();
    let plain = built.clock(built.plain(&program).arg("turns").env("STAND_IN_MEMORY", ROOM));
    let mut file = file(&profile, &json!({"to_device": true}));
    let buffers = file["buffers"].as_array_mut().unwrap();
    // In rounds of three launches: what was just used makes way for what comes next but one.
    let leaves: [&[u64]; 3] = [&[4, 10, 16], &[2, 8, 14], &[6, 12]];
    for (number, before) in leaves.iter().enumerate() {
        buffers[number]["moves"] = json!({"to_device": true, "to_host_before": before});
        buffers[number]["order"] = json!([number]);
    }
    let applied = built.clock(under(&built, &program, "turns", &file).env("STAND_IN_MEMORY", ROOM));
    assert!(applied["evicted"].as_u64() < plain["evicted"].as_u64().map(|pages| pages / 4), "{plain} {applied}");
    assert!(applied["ns"].as_f64() < plain["ns"].as_f64().map(|ns| ns * 0.8), "{plain} {applied}");
    let log = log(&built);
    assert_eq!(log["buffers"][1]["to_host"], json!(3), "{log}");
    assert!(log["gained_ns"].as_i64() > Some(0), "{log}");
}

#[test]
fn what_does_not_help_is_withdrawn() {
    let built = Built::new();
    let program = built.shapes();
    let mut file = file(
        &recorded(&built, &program, "rounds"),
        &json!({"to_device": true, "to_host_after": [1, 2, 3, 4, 5, 6, 7, 8]}),
    );
    // As if all had been twenty times as fast.
    for launch in file["recorded"]["launches"].as_array_mut().unwrap() {
        for key in [1, 2] {
            launch[key] = launch[key].as_i64().map(|ns| ns / 20).into();
        }
    }
    built.clock(&mut under(&built, &program, "rounds", &file));
    let log = log(&built);
    assert_eq!(
        (&log["launches"][0]["withdrawn"], &log["buffers"][0]["returns"]["withdrawn"]),
        (&json!(true), &json!(true))
    );
    assert!(log["buffers"][0]["to_device"].as_u64() <= Some(2), "{log}");
    assert!(log["gained_ns"].as_i64() < Some(0));
}

#[test]
fn kernels_that_were_not_recorded_move_nothing() {
    let built = Built::new();
    let program = built.shapes();
    let mut file = file(&recorded(&built, &program, "rounds"), &json!({"to_device": true}));
    file["recorded"]["kernels"][0]["name"] = json!("other");
    built.clock(&mut under(&built, &program, "rounds", &file));
    assert_eq!(count(&built, "prefetched"), 0);
}
