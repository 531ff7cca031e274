//! Former names: refused in files that users write, brought up to date in result folders.
//!
//! Former names of workloads stand beside their registry.

use serde_json::{Map, Value, json};

use crate::WORKLOADS;
use crate::layer::take;

/// Keys that went away, and what says the same now.
const RENAMED: &[(&str, &str)] = &[
    ("node.compute.instruction_cycles", "`node.compute.vector_alu.occupancy` says it"),
    (
        "node.host.costs.call",
        "`allocate` and `free` of `node.host.costs.device`, `pinned`, `managed` and `system` say it",
    ),
    ("node.host.costs.device_chunk", "`allocate.each` and `free.each` of `node.host.costs.device` say it"),
    (
        "node.host.costs.pin",
        "`node.host.costs.frame`, and `allocate.each` and `free.each` of `node.host.costs.pinned` say it",
    ),
];
/// Keys that were removed without a successor, and what to do: a stored scenario means the same without them.
const REMOVED: &[(&str, &str)] = &[
    ("node.host.cpu.capacity", "nothing limits host memory"),
    ("node.scalar.cache.fill_write", NEVER_ACTED),
    ("node.scalar.cache.in_order", NEVER_ACTED),
    ("node.scalar.cache.line", NEVER_ACTED),
    ("node.scalar.cache.miss_registers", "`node.scalar.in_flight` limits its requests"),
    ("node.scalar.tlb.invalidation", NEVER_ACTED),
    ("node.scalar.tlb.miss_registers", NEVER_ACTED),
    ("node.scalar.tlb.on_miss", NEVER_ACTED),
    ("node.scalar.tlb.ports", NEVER_ACTED),
];
const NEVER_ACTED: &str = "it never changed anything, so leave it out";

/// Presets of memory systems that went away, and what took their place.
const MEMORY_PRESETS: &[(&str, &str)] = &[(
    "uvm",
    "`stock-driver` took its place, and has the driver's guard as well (`memory.guard = \"none\"` leaves it out)",
)];

/// What replaced a former memory preset, in words; `None` if there was none of that name.
pub(crate) fn memory_preset(name: &str) -> Option<&'static str> {
    MEMORY_PRESETS.iter().find(|(former, _)| *former == name).map(|(_, instead)| *instead)
}

/// What replaced a former key, in words; `None` if there was no such key.
pub(crate) fn key(key: &str) -> Option<&'static str> {
    RENAMED.iter().chain(REMOVED).find(|(former, _)| *former == key).map(|(_, instead)| *instead)
}

/// Gives what had another name its name of today, and drops what says nothing any more.
pub(crate) fn bring_up_to_date(scenario: &mut Map<String, Value>) {
    REMOVED.iter().for_each(|(key, _)| drop(take(scenario, key)));
    spell_out_allocations(scenario);
    let jobs = scenario.get_mut("job").and_then(Value::as_array_mut).into_iter().flatten();
    jobs.filter_map(|job| job.get_mut("workload")).for_each(rename);
    let Some(workload) = scenario.get_mut("workload") else { return };
    rename(workload);
    let programs = workload.get_mut("applications").and_then(Value::as_array_mut);
    programs.into_iter().flatten().for_each(rename);
}

/// Once, all kinds of memory had one call. Device memory had a cost for each chunk, pinned memory one for each page.
fn spell_out_allocations(scenario: &mut Map<String, Value>) {
    let mut former = |name: &str| take(scenario, &format!("node.host.costs.{name}"));
    let (Some(call), Some(chunk), Some(pin)) = (former("call"), former("device_chunk"), former("pin")) else { return };
    let both = |each: &Value| {
        let cost = json!({ "call": call, "each": each, "below_chunk": "0ns" });
        json!({ "allocate": cost, "free": cost })
    };
    let nothing = both(&json!("0ns"));
    let costs = [
        ("device", both(&chunk)),
        ("pinned", both(&pin)),
        ("managed", nothing.clone()),
        ("system", nothing),
        ("frame", pin),
    ];
    let there = scenario["node"]["host"]["costs"].as_object_mut().expect("it had costs");
    there.extend(costs.map(|(name, cost)| (name.to_owned(), cost)));
}

fn rename(program: &mut Value) {
    let Some(name) = program.get_mut("name") else { return };
    if let Some(former) = name.as_str().and_then(|name| WORKLOADS.former(name)) {
        *name = former.today.into();
    }
}
