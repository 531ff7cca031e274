//! For any number of a node's key, a run ends in a result or in a message that names the key.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use octavo_node::{NodeConfig, Release};
use octavo_scenario::{Resolved, Source, presets, resolve};
use octavo_sim::{Kept, Progress, RunOptions, SimError, estimate_memory, simulate_jobs};
use octavo_units::{Bandwidth, Bytes, Cycles, Frequency, Time};
use serde_json::{Map, Value};

/// A whole program with a footprint of a few pages, so that the host computes, too.
const SCENARIO: &str =
    "workload = { name = 'fir', scale = 0.0009 }\nprogram.kind = 'managed'\nrecord.interval = '1us'\n";

/// Bytes above which a run is not tried.
const MOST_MEMORY: u64 = 1 << 30;

fn resolved(preset: &str, change: Option<(&str, &str)>) -> Result<Resolved, String> {
    let text = format!("{SCENARIO}node.preset = '{preset}'\n");
    let changes: Vec<String> = change.iter().map(|(key, value)| format!("node.{key}={value}")).collect();
    resolve(Source { name: "test", text: &text }, &changes).map_err(|error| error.to_string())
}

/// Runs for a moment: until it ends or has got somewhere.
fn run(resolved: &Resolved) -> Result<(), String> {
    let scenario = &resolved.scenario;
    let built = scenario.built_while(&mut || ControlFlow::Continue(())).map_err(|error| error.to_string())?;
    let jobs: Vec<_> = built
        .parts
        .iter()
        .map(|part| octavo_sim::Job {
            program: part.program.as_ref(),
            gpus: part.gpus,
            ..octavo_sim::Job::named(&part.name, part.workload.as_ref())
        })
        .collect();
    let intervals = scenario.record.interval > Time::ZERO;
    let kept = Kept { in_time: true, events: false, intervals, walks: scenario.record.walks };
    if estimate_memory(&built.node, &built.memory, &jobs, kept).is_ok_and(|needed| needed.total() > MOST_MEMORY) {
        return Ok(()); // What `--memory-limit` is for.
    }
    let mut stop = |_: Progress| ControlFlow::Break(());
    let options = RunOptions { interval: scenario.record.interval, progress: Some(&mut stop), ..RunOptions::default() };
    match simulate_jobs(&built.node, &built.memory, &jobs, options) {
        Ok(_) | Err(SimError::Interrupted | SimError::TooLong { .. }) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Stands for a number in the text of a value.
const HOLE: &str = "'a number goes here'";

/// A number or quantity of a node: the key to set, its present value, and the value to set with a [`HOLE`] for it.
type Place = (String, Value, String);

/// All of them: single numbers first, then numbers in lists, where the whole list is set.
fn numbers(node: &NodeConfig) -> Vec<Place> {
    fn below(key: &str, value: &Value, own: &mut Vec<Place>, listed: &mut Vec<Place>) {
        match value {
            Value::Object(table) => table.iter().for_each(|(name, value)| {
                below(&if key.is_empty() { name.clone() } else { format!("{key}.{name}") }, value, own, listed);
            }),
            Value::Array(_) => listed.extend(holes(value).into_iter().map(|(now, text)| (key.to_owned(), now, text))),
            _ if is_number(value) => own.push((key.to_owned(), value.clone(), HOLE.to_owned())),
            _ => {}
        }
    }
    let (mut own, mut listed) = (Vec::new(), Vec::new());
    below("", &serde_json::to_value(node).expect("a node can be written"), &mut own, &mut listed);
    own.append(&mut listed);
    own
}

fn is_number(value: &Value) -> bool {
    value.is_number() || value.as_str().is_some_and(|text| text.starts_with(|first: char| first.is_ascii_digit()))
}

/// The numbers in a value, each with the text of the whole that has a [`HOLE`] in its place.
fn holes(value: &Value) -> Vec<(Value, String)> {
    let texts = |parts: Vec<(&Value, String)>, whole: &dyn Fn(&[String]) -> String| {
        let written: Vec<String> = parts.iter().map(|(value, before)| format!("{before}{}", inline(value))).collect();
        let one = |(at, (value, before)): (usize, &(&Value, String))| {
            let with = |hole: String| [&written[..at], &[before.clone() + &hole], &written[at + 1..]].concat();
            holes(value).into_iter().map(|(now, hole)| (now, whole(&with(hole)))).collect::<Vec<_>>()
        };
        parts.iter().enumerate().flat_map(one).collect()
    };
    match value {
        Value::Array(items) => {
            texts(items.iter().map(|item| (item, String::new())).collect(), &|parts| format!("[{}]", parts.join(", ")))
        }
        Value::Object(table) => texts(entries(table), &|parts| format!("{{ {} }}", parts.join(", "))),
        _ if is_number(value) => vec![(value.clone(), HOLE.to_owned())],
        _ => Vec::new(),
    }
}

/// A value as TOML writes it on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(table) => {
            let written = entries(table).into_iter().map(|(value, before)| before + &inline(value));
            format!("{{ {} }}", written.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => format!("'{text}'"),
        _ => value.to_string(),
    }
}

/// The contents of a table, each with its prefix.
fn entries(table: &Map<String, Value>) -> Vec<(&Value, String)> {
    let present = table.iter().filter(|(_, value)| !value.is_null());
    present.map(|(name, value)| (value, format!("{name} = "))).collect()
}

/// Values at the limits of the notation, and odd ones, in the unit of `now`.
fn values(now: &Value, odd: u64) -> Vec<String> {
    let counts = [0, 1, odd, u64::from(u32::MAX), u64::MAX >> 1];
    let Some(text) = now.as_str() else {
        let odd_numbers = if now.is_f64() { ["-1.0", "nan", "inf", "1e308"].as_slice() } else { &["-1"] };
        let odd_numbers = odd_numbers.iter().map(ToString::to_string);
        return counts.iter().map(ToString::to_string).chain(odd_numbers).collect();
    };
    let written = |count: u64| {
        if text.parse::<Cycles>().is_ok() {
            Cycles(count).to_string()
        } else if text.parse::<Time>().is_ok() {
            Time(count).to_string()
        } else if text.parse::<Bytes>().is_ok() {
            Bytes(count).to_string()
        } else if text.parse::<Frequency>().is_ok() {
            Frequency(count).to_string()
        } else if text.parse::<Bandwidth>().is_ok() {
            Bandwidth(count).to_string()
        } else if Release::try_from(text.to_owned()).is_ok() {
            count.to_string()
        } else {
            panic!("a quantity of which unit? {text}")
        }
    };
    counts.into_iter().map(|count| format!("'{}'", written(count))).chain([format!("'-{text}'")]).collect()
}

/// The names that messages may use for a key: itself or, if values must go together, the table or a neighbouring key.
fn names(message: &str, key: &str) -> bool {
    let table = key.rsplit_once('.').map_or(key, |(table, _)| table);
    message.contains(key) || message.contains(table)
}

fn check(preset: &str, key: &str, value: &str) -> Result<(), String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| resolved(preset, Some((key, value))).and_then(|ready| run(&ready))));
    match outcome {
        Ok(Ok(())) => Ok(()),
        Ok(Err(message)) if names(&message, key) => Ok(()),
        Ok(Err(message)) => Err(format!("{preset}: node.{key}={value}: does not name the key: {message}")),
        Err(_) => Err(format!("{preset}: node.{key}={value}: panics")),
    }
}

/// All keys of a preset, each with the values that `chosen` picks.
fn check_all(preset: &str, odd: u64, mut chosen: impl FnMut(usize) -> bool) -> Vec<String> {
    let node = resolved(preset, None).expect("a preset is a node").scenario.node;
    let cases = numbers(&node).into_iter().flat_map(|(key, now, text)| {
        values(&now, odd).into_iter().map(move |value| (key.clone(), text.replace(HOLE, &value)))
    });
    let cases: Vec<(String, String)> =
        cases.enumerate().filter(|(index, _)| chosen(*index)).map(|(_, case)| case).collect();
    cases.iter().filter_map(|(key, value)| check(preset, key, value).err()).collect()
}

/// Every key with one or two of its values, in turns.
#[test]
fn every_number_of_the_default_node_gives_a_result_or_a_message() {
    let found = check_all("grit-4gpu", 7, |index| (index + index / 6) % 5 == 0);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Each link and page size of a node is found in its list.
#[test]
fn numbers_in_lists_are_found() {
    let value = serde_json::json!([{ "gpus": [0, 1], "count": 2, "of": null }, "64KiB"]);
    let texts: Vec<String> = holes(&value).into_iter().map(|(_, text)| text.replace(HOLE, "?")).collect();
    let expected = [
        "[{ gpus = [?, 1], count = 2 }, '64KiB']",
        "[{ gpus = [0, ?], count = 2 }, '64KiB']",
        "[{ gpus = [0, 1], count = ? }, '64KiB']",
        "[{ gpus = [0, 1], count = 2 }, ?]",
    ];
    assert_eq!(texts, expected);
}

/// A few of every preset, others of each.
#[test]
fn numbers_of_every_node_give_a_result_or_a_message() {
    for (number, preset) in presets::node_names().enumerate() {
        let found = check_all(preset, 12_345, |index| index % 89 == (number * 7) % 89);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

/// All of them, in `make soak`.
#[test]
#[ignore = "minutes"]
fn all_numbers_of_all_nodes_give_a_result_or_a_message() {
    let found: Vec<String> = presets::node_names().flat_map(|preset| check_all(preset, 4095, |_| true)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
