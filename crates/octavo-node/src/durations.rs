//! No single duration is longer than any machine would wait: sums of durations stay far below the limit of 64 bits.

use octavo_units::{Cycles, Frequency, Time};
use serde_json::Value;

use crate::error::{NodeError, error};
use crate::node::NodeConfig;

/// The longest that anything may take; our choice. 64 bits hold almost two million times as much.
const LONGEST: Time = Time(10_000_000_000_000);

/// Keys that say when something is, and not how long it takes.
const MOMENTS: [&str; 1] = ["at"];

/// Checks every duration of a node, wherever it is.
pub(crate) fn check_durations(node: &NodeConfig) -> Result<(), NodeError> {
    let values = serde_json::to_value(node).expect("a node can be written");
    check("", &values, node.clock)
}

fn check(key: &str, value: &Value, clock: Frequency) -> Result<(), NodeError> {
    match value {
        Value::Object(table) => {
            let mut durations = table.iter().filter(|(name, _)| !MOMENTS.contains(&name.as_str()));
            durations.try_for_each(|(name, value)| check(&below(key, name), value, clock))
        }
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(index, item)| check(&format!("{key}[{index}]"), item, clock))
        }
        Value::String(text) => check_text(key, text, clock),
        _ => Ok(()),
    }
}

fn below(key: &str, name: &str) -> String {
    if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") }
}

fn check_text(key: &str, text: &str, clock: Frequency) -> Result<(), NodeError> {
    if let Ok(cycles) = text.parse::<Cycles>()
        && clock.time_for(cycles) > LONGEST
    {
        return Err(error(key, format!("expected at most {LONGEST} (of cycles at {clock}), found {text}")));
    }
    match text.parse::<Time>() {
        Ok(time) if time > LONGEST => Err(error(key, format!("expected at most {LONGEST}, found {text}"))),
        _ => Ok(()),
    }
}
