//! The parts of a scenario and how they are drawn: often what users write, rarely odd values.

use octavo_manager::{ALLOCATORS, DEMOTIONS, EVICTIONS, GUARDS, PLACEMENTS, PREFETCHERS, SHARINGS, SIZINGS};
use octavo_scenario::presets;

use super::choice::any;
use super::draw::Draw;
use super::programs;
use super::scenario::Drawn;

pub fn node(drawn: &mut Drawn, draw: &mut Draw) {
    let nodes: Vec<String> = presets::node_names().map(|name| format!("'{name}'")).collect();
    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
    drawn.set_one("node.preset", &nodes, draw);
    if draw.chance(10) {
        drawn.set_one("node.gpus", &["1", "2", "3", "5"], draw);
    }
    if draw.chance(10) {
        drawn.set_one("node.dispatch", &["'even-split'", "'fill-first'", "'round-robin'"], draw);
    }
    if draw.chance(8) {
        let (name, kind) = draw.one(&[("far", "cxl"), ("node1", "numa")]);
        let capacity = draw.one(&["256KiB", "1MiB", "64MiB"]);
        let speed = "bandwidth = '25GB/s', latency = '300ns'";
        let memory = format!("[{{ name = '{name}', kind = '{kind}', capacity = '{capacity}', {speed} }}]");
        drawn.set("node.host.memories", memory);
        drawn.set_one("node.host.memory.capacity", &["'128KiB'", "'512KiB'", "'64MiB'"], draw);
    }
}

/// A preset, or strategies of all kinds, or some in addition to a preset.
pub fn memory(drawn: &mut Drawn, draw: &mut Draw) {
    if draw.chance(25) {
        let names: Vec<String> = presets::memory_names().map(|name| format!("'{name}'")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        drawn.set_one("memory.preset", &names, draw);
    }
    if draw.chance(70) {
        drawn.set("memory.placement", any(&PLACEMENTS, draw));
    }
    if draw.chance(40) {
        drawn.set("memory.prefetch", any(&PREFETCHERS, draw));
        drawn.set_one("memory.prefetch_plan", &["'shared'", "'own'", "'at-once'"], draw);
    }
    if draw.chance(50) {
        drawn.set("memory.eviction", any(&EVICTIONS, draw));
    }
    if draw.chance(40) {
        drawn.set("memory.demotion", any(&DEMOTIONS, draw));
    }
    if draw.chance(30) {
        drawn.set("memory.guard", any(&GUARDS, draw));
    }
    if draw.chance(30) {
        drawn.set("memory.sizing", any(&SIZINGS, draw));
        drawn.set("memory.allocator", any(&ALLOCATORS, draw));
    }
    odd_memory(drawn, draw);
}

/// Options that few memory systems have.
fn odd_memory(drawn: &mut Drawn, draw: &mut Draw) {
    let seldom: [(&str, &[&str]); 6] = [
        ("memory.page_size", &["'4KiB'", "'64KiB'", "'2MiB'"]),
        ("memory.outstanding", &["'stay'"]),
        ("memory.host_frames", &["'base'", "'large'"]),
        ("memory.padding", &["'trees'"]),
        ("memory.synchronisation", &["'dirty-home'"]),
        ("memory.system.huge_pages", &["'always'"]),
    ];
    for (key, values) in seldom {
        if draw.chance(12) {
            drawn.set_one(key, values, draw);
        }
    }
    if draw.chance(20) {
        drawn.set("memory.system.placement", any(&PLACEMENTS, draw));
        drawn.set("memory.system.prefetch", any(&PREFETCHERS, draw));
    }
    if draw.chance(6) {
        let (index, occupancy) = (draw.one(&[10, 50, 100]), draw.one(&[10, 50]));
        drawn.set("memory.fragmentation", format!("{{ index = {index}, occupancy = {occupancy}, seed = 3 }}"));
    }
}

/// From a few pages to more than enough.
pub fn capacity(drawn: &mut Drawn, draw: &mut Draw) {
    let share = |draw: &mut Draw| draw.one(&[5, 10, 20, 40, 70, 90, 100]);
    let bytes = ["'16KiB'", "'32KiB'", "'64KiB'", "'128KiB'", "'512KiB'", "'2MiB'", "'4MiB'"];
    match draw.below(10) {
        0..3 => {}
        3..7 => {
            drawn.set("node.capacity.bytes", "'0B'");
            drawn.set("node.capacity.footprint_percent", share(draw));
            drawn.set_one("node.capacity.scope", &["'per-gpu'", "'total'"], draw);
        }
        _ => drawn.set_one("node.capacity.bytes", &bytes, draw),
    }
    if draw.chance(10) {
        let (at, later) = (draw.one(&["2us", "40us"]), draw.one(&["100us", "700us"]));
        let least = draw.one(&["'12KiB'", "'64KiB'"]);
        let change = format!("[{{ at = '{at}', bytes = {least} }}, {{ at = '{later}', bytes = '128KiB' }}]");
        drawn.set("node.capacity.bytes", "'256KiB'");
        drawn.set("node.capacity.change", change);
    }
}

pub fn driver(drawn: &mut Drawn, draw: &mut Draw) {
    match draw.below(10) {
        0..4 => {}
        4..6 => {
            let names: Vec<String> = presets::driver_names().map(|name| format!("'{name}'")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            drawn.set_one("node.driver.preset", &names, draw);
        }
        6..9 => drawn.set("node.driver.service", batches(draw)),
        _ => {
            let (service, servers) = (draw.one(&["100ns", "1us", "45us"]), draw.one(&[1, 2, 64]));
            drawn.set(
                "node.driver.service",
                format!("{{ model = 'pool', service = '{service}', servers = {servers} }}"),
            );
        }
    }
    if draw.chance(15) {
        drawn.set_one("node.driver.drain", &["'whole-gpu'", "'touched-units'"], draw);
    }
    if draw.chance(8) {
        drawn.set("node.driver.trans_fw", "{ filter_entries = 64, fingerprint_bits = 4 }");
    }
}

fn batches(draw: &mut Draw) -> String {
    let replay = draw.one(&["block", "batch", "batch-flush", "once"]);
    let (scope, interrupt) = (draw.one(&["node", "per-gpu"]), draw.one(&["0ns", "2us", "30us"]));
    let (size, batch) = (draw.one(&[1, 4, 32, 256]), draw.one(&["0ns", "1us", "20us"]));
    let (request, block) = (draw.one(&["0ns", "200ns", "1us"]), draw.one(&["0ns", "5us"]));
    format!(
        "{{ model = 'batch', size = {size}, batch = '{batch}', request = '{request}', block = '{block}', \
         replay = '{replay}', scope = '{scope}', interrupt = '{interrupt}' }}"
    )
}

/// The executor, the fidelity, and what is recorded.
pub fn execution(drawn: &mut Drawn, draw: &mut Draw) {
    drawn.set("seed", draw.below(1000));
    drawn.set("record.events", "true");
    if draw.chance(20) {
        drawn.set("executor", format!("{{ kind = 'instant', turn = {} }}", draw.one(&[1, 1, 4])));
        return;
    }
    drawn.set_one("record.interval", &["'1us'", "'10us'", "'100us'"], draw);
    if draw.chance(10) {
        drawn.set("executor", "{ kind = 'simulated', replicate = 3 }");
    }
    if draw.chance(25) {
        drawn.set("node.fidelity", "'page'");
    } else if draw.chance(25) {
        drawn.set("record.walks", "true");
    }
}

/// A single program, or several side by side.
pub fn programs(drawn: &mut Drawn, draw: &mut Draw) {
    if draw.chance(70) {
        return programs::alone(drawn, draw);
    }
    if draw.chance(40) {
        drawn.set("memory.sharing", any(&SHARINGS, draw));
    }
    let gpus = drawn.resolved_gpus();
    programs::jobs(drawn, gpus, draw);
}
