//! A user's text, and the resolved scenario.

use octavo_scenario::{Resolved, ScenarioError, Source, presets, resolve};

const FILE: &str = r#"
workload = { name = "fir", scale = 0.0625 }
memory.placement = "grit"
node.preset = "grit-4gpu"
"#;

fn resolved(text: &str, overrides: &[&str]) -> Result<Resolved, ScenarioError> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    resolve(Source { name: "s.toml", text }, &overrides)
}

fn refusal(overrides: &[&str]) -> String {
    resolved(FILE, overrides).unwrap_err().to_string()
}

#[test]
fn every_node_preset_makes_a_scenario_that_loads_again_to_itself() {
    for node in presets::node_names() {
        for driver in presets::driver_names() {
            let set = [format!("node.preset={node}"), format!("node.driver.preset={driver}")];
            let first = resolved(FILE, &[&set[0], &set[1]]).unwrap();
            let again = resolved(&first.toml, &[]).unwrap();
            assert_eq!(first, again, "{node} {driver}");
        }
    }
}

#[test]
fn overrides_win_over_the_file_and_the_file_over_presets() {
    let text = format!("{FILE}node.gpu_link.bandwidth = \"100GB/s\"\nnode.l1.ways = 8\n");
    let scenario = resolved(&text, &["node.gpu_link.bandwidth=600GB/s", "seed=7"]).unwrap().scenario;
    assert_eq!(scenario.node.gpu_link.bandwidth.to_string(), "600GB/s");
    assert_eq!(
        (scenario.node.l1.ways, scenario.node.gpus, scenario.seed, scenario.workload.unwrap().size(scenario.seed).seed),
        (8, 4, 7, 7)
    );
}

#[test]
fn defaults_of_what_is_chosen_by_name_are_spelled_out() {
    let toml = resolved(FILE, &[]).unwrap().toml;
    for expected in ["fault_threshold = 4", "page_size = \"4KiB\"", "name = \"none\"", "name = \"lru-page\""] {
        assert!(toml.contains(expected), "{expected} not in\n{toml}");
    }
}

#[test]
fn the_hardware_driver_replaces_the_paper_one() {
    let toml = resolved(FILE, &["node.driver.preset=hardware"]).unwrap().toml;
    assert!(toml.contains("model = \"batch\"") && !toml.contains("servers"), "{toml}");
}

#[test]
fn a_memory_preset_is_a_whole_memory_system_of_which_parts_can_be_exchanged() {
    for memory in presets::memory_names() {
        let first = resolved(FILE, &[&format!("memory.preset={memory}")]).unwrap();
        assert_eq!(first, resolved(&first.toml, &[]).unwrap(), "{memory}");
        assert_ne!(first.scenario.memory.placement.name, "grit", "{memory} replaces what the file spells out");
    }
    let grit = resolved(FILE, &["memory.preset=uvmsmart", "memory.placement=grit"]).unwrap().scenario.memory;
    let names = [&grit.placement, &grit.prefetch, &grit.eviction].map(|choice| choice.name.as_str());
    assert_eq!(names, ["grit", "tree-neighborhood", "tree-neighborhood"]);
    assert!(refusal(&["memory.preset=uvmsmat"]).contains("did you mean `uvmsmart`?"));
    assert!(refusal(&["memory.preset=3"]).contains("expected the name of a preset"));
}

/// UVMSmart (ISCA 2019), configs/GeForceGTX1080Ti/gpgpusim.config: 66645 cycles at 1481 MHz are 45 µs.
#[test]
fn the_presets_of_uvmsmart_state_its_published_values() {
    let resolved = resolved(FILE, &["memory.preset=uvmsmart", "node.driver.preset=uvmsmart"]).unwrap();
    let service = resolved.toml.split("[node.driver.service]\n").nth(1).unwrap();
    assert!(service.starts_with("model = \"pool\"\nservice = \"45us\"\nservers = 1\n"), "{service}");
    assert_eq!((66_645.0_f64 / 1481.0).round(), 45.0);
    assert_eq!(resolved.scenario.memory.page_size.0, 4096);
    assert_eq!(resolved.scenario.memory.eviction.options["reserved_percent"], 0);
}

/// nvidia-uvm 595.45.04, uvm_perf_prefetch.c: the module parameters' defaults.
#[test]
fn the_preset_of_the_production_driver_states_its_defaults() {
    let set = ["memory.preset=stock-driver", "node.driver.preset=stock-driver"];
    let resolved = resolved(FILE, &set).unwrap();
    let memory = resolved.scenario.memory;
    let values = ["threshold", "min_faults", "big_pages"].map(|key| memory.prefetch.options[key].to_string());
    assert_eq!(values, ["51", "1", "true"]);
    assert_eq!((memory.eviction.name.as_str(), memory.guard.name.as_str()), ("lru-block", "stock-driver"));
    let guard = ["threshold", "pin_threshold", "lapse", "nap", "pin", "epoch", "max_resets"];
    let guard = guard.map(|key| memory.guard.options[key].to_string().replace('"', ""));
    assert_eq!(guard, ["3", "10", "500us", "500us", "150ms", "1s", "4"]);
    let service = resolved.toml.split("[node.driver.service]\n").nth(1).unwrap();
    assert!(service.starts_with("model = \"batch\"\nsize = 256\n"), "{service}");
    assert!(service.contains("replay = \"batch-flush\""), "{service}");
}

#[test]
fn misspelt_keys_are_refused_where_they_stand() {
    let error = resolved(&format!("{FILE}node.gpu_lnik.latency = \"1cycles\"\n"), &[]).unwrap_err();
    assert_eq!(error.origin.to_string(), "s.toml:5");
    assert_eq!(error.key, "node.gpu_lnik");
    assert_eq!(error.hint.as_deref(), Some("did you mean `gpu_link`?"));
    assert!(refusal(&["node.driver.service.severs=2"]).contains("did you mean `servers`?"));
    assert!(refusal(&["memory.placement.fault_treshold=2"]).contains("did you mean `fault_threshold`?"));
    assert!(refusal(&["memroy.page_size=4KiB"]).contains("did you mean `memory`?"));
    assert!(refusal(&["workload.scael=2"]).contains("did you mean `scale`?"));
    assert!(refusal(&["workload.tpas=2"]).contains("`workload.tpas`"));
}

#[test]
fn of_several_flaws_the_first_of_the_file_is_named() {
    let lines = [
        "workload.scael = 2",
        "memory.placement.treshold = 2",
        "node.gpu_lnik.latency = \"1cycles\"",
        "memory.evicton = \"lru\"",
        "node.gpus = \"four\"",
        "seed = -3",
        "workload = \"firr\"",
    ];
    for first in 0..lines.len() {
        for other in (first + 1..lines.len()).filter(|other| first > 0 || *other < 6) {
            let workload = if other == 6 { "" } else { "workload.name = \"fir\"" };
            let text = format!("name = \"flawed\"\n{}\n\n{}\n{workload}\n", lines[first], lines[other]);
            let error = resolved(&text, &[]).unwrap_err();
            // The node is looked at before memory and workloads.
            let named = if first < 2 && [2, 4].contains(&other) { "s.toml:4" } else { "s.toml:2" };
            assert_eq!(error.origin.to_string(), named, "{text}{error}");
        }
    }
    let text = "seed = 1\nworkload = { name = \"fir\", scael = 2 }\nnode.gpu_lnk.latency = \"1cycles\"\n";
    let error = resolved(text, &["nodes=3"]).unwrap_err();
    assert_eq!(error.key, "nodes", "an override is named before the file");
}

#[test]
fn numbers_are_refused_with_key_range_and_value() {
    let said = |change: &str| refusal(&[change]);
    let samples = said("workload.taps=-4");
    assert!(samples.ends_with("`workload.taps`: expected a whole number from 0 to 4294967295, found -4"), "{samples}");
    let large = said("workload.taps=1e30");
    assert!(
        large.contains("`workload.taps`: expected a whole number from 0") && large.contains(", found 1e"),
        "{large}"
    );
    let threshold = said("memory.placement={name=\"access-counter\",threshold=999999999999}");
    let range = "`memory.placement.threshold`: expected a whole number from 0 to 4294967295, found 999999999999";
    assert!(threshold.ends_with(range), "{threshold}");
}

#[test]
fn of_many_names_the_nearest_are_given() {
    let unknown = refusal(&["workload=firr"]);
    let (before, after) = unknown.split_once(" that `octavo list workloads` shows, such as fir, ").unwrap();
    assert!(before.contains("unknown workload `firr`, expected one of the "), "{unknown}");
    assert!(after.ends_with("; did you mean `fir`?") && after.len() < 60, "{unknown}");
    assert!(refusal(&["node.preset=grit-5gpu"]).contains("that `octavo list nodes` shows, such as grit-"));
}

#[test]
fn wrong_units_are_refused_with_what_was_expected() {
    let error = refusal(&["node.gpu_link.bandwidth=300GB"]);
    assert_eq!(
        error,
        "--set node.gpu_link.bandwidth=300GB: `node.gpu_link.bandwidth`: expected a bandwidth such as 300GB/s (B/s, \
         KB/s, MB/s, GB/s, TB/s), found `300GB`"
    );
    assert!(refusal(&["node.clock=1"]).contains("expected a frequency such as 1GHz"));
    assert!(refusal(&["node.driver.service.service=3cycles"]).contains("expected a time such as 1.25us"));
    assert!(refusal(&["node.gpus=four"]).contains("expected a whole number"));
    assert!(refusal(&["record.events=1"]).contains("expected true or false, found 1"));
}

#[test]
fn impossible_combinations_are_refused() {
    assert!(refusal(&["node.gpus=73"]).contains("`node.gpus`: expected 1 to 72, found 73"));
    assert!(refusal(&["node.l1.ways=3"]).contains("`node.l1.size`"));
    assert!(refusal(&["node.l1_tlb.ways=5"]).contains("`node.l1_tlb.ways`"));
    let lock = refusal(&["node.l2.lock=11cycles"]);
    assert!(lock.contains("`node.l2.lock`") && lock.contains("at most l2.latency (10cycles)"), "{lock}");
    assert!(refusal(&["seed=-1"]).contains("`seed`: expected a whole number from 0"));
}

#[test]
fn tables_and_durations_beyond_reason_are_refused_by_their_keys() {
    let cases = [
        ("scalar.units=0", "expected 1 to 256, found 0"),
        ("scalar.cache.ways=0", "expected 1 to 32, found 0"),
        ("scalar.cache.size=64B", "expected ways × 64B × a power of two, found 64 bytes in 4 ways"),
        ("scalar.in_flight=65537", "expected 0 to 65536, found 65537"),
        ("scalar.tlb.ways=0", "expected 1 to 256 ways that divide the entries, found 0 of 64"),
        ("fetch.units=0", "expected 1 to 256, found 0"),
        ("fetch.buffer_lines=4294967295", "expected 0 to 1024, found 4294967295"),
        ("l1.size=1GiB", "expected at most 8MiB, found 1GiB"),
        ("l2.size=1TiB", "expected at most 1GiB, found 1TiB"),
        ("l2_tlb.entries=2147483648", "expected 1 to 1048576, found 2147483648"),
        ("walker.cache_entries=4294967295", "expected 0 to 65536, found 4294967295"),
        ("remote.lines_in_flight=4294967295", "expected 0 to 65536, found 4294967295"),
        ("remote.header=1GiB", "expected at most 64KiB, found 1GiB"),
        ("dram.interleave=4GiB", "expected a line (64B) to 1GiB, found 4GiB"),
        ("clock=1Hz", "expected 1MHz to 1000GHz, found 1Hz"),
        ("dram.latency=9223372036854775807cycles", "expected at most 10s (of cycles at 1GHz), found"),
        ("host.costs.pinned.free.call=11s", "expected at most 10s, found 11s"),
    ];
    for (change, reason) in cases {
        let said = refusal(&[&format!("node.{change}")]);
        let key = change.split_once('=').map_or(change, |(key, _)| key);
        assert!(said.contains(&format!("`node.{key}`: {reason}")), "{said}");
    }
}

#[test]
fn a_scale_of_zero_or_less_is_refused() {
    for scale in ["0", "0.0", "-1", "2000"] {
        let error = refusal(&[&format!("workload.scale={scale}")]);
        assert!(error.contains("`workload.scale`: expected more than 0 and at most 1024"), "{error}");
    }
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    assert!(refusal(&["workload=firr"]).contains("did you mean `fir`?"));
    assert!(refusal(&["workload=fri"]).contains("did you mean `fir`?"));
    assert!(refusal(&["memory.placement=on-tuch"]).contains("did you mean `on-touch`?"));
    assert!(refusal(&["node.preset=grit-4gpus"]).contains("did you mean `grit-4gpu`?"));
    assert!(refusal(&["node.driver.preset=papier"]).contains("did you mean `paper`?"));
    assert!(refusal(&["node.driver.drain=whole"]).contains("expected one of whole-gpu, touched-units"));
}

#[test]
fn what_is_missing_is_named() {
    let error = resolved("memory.placement = \"grit\"\nnode.preset = \"grit-4gpu\"\n", &[]).unwrap_err().to_string();
    assert!(error.contains("`workload.name`: missing"), "{error}");
}

#[test]
fn a_misspelled_key_is_named_before_what_is_missing() {
    let table = resolved("wrkload = { name = \"fir\" }\n", &[]).unwrap_err().to_string();
    assert!(table.starts_with("s.toml:1: `wrkload`: unknown key") && table.ends_with("`workload`?"), "{table}");
    let name = resolved("workload = { nam = \"fir\" }\n", &[]).unwrap_err().to_string();
    assert_eq!(name, "s.toml:1: `workload.nam`: unknown key; did you mean `name`?");
}

#[test]
fn a_scenario_that_names_no_node_and_no_placement_has_those_of_the_command_line() {
    let named = "memory.placement = \"on-touch\"\nnode.preset = \"grit-4gpu\"\nworkload = \"fir\"\n";
    let named = resolved(named, &["node.clock=2GHz"]).unwrap();
    assert_eq!(resolved("workload = \"fir\"\n", &["node.clock=2GHz"]).unwrap(), named);
    let error = resolved("workload = \"fir\"\nmemory.placment = \"grit\"\n", &[]).unwrap_err().to_string();
    assert!(error.starts_with("s.toml:2: `memory.placment`: unknown key"), "{error}");
}

#[test]
fn a_node_that_is_spelled_out_is_not_completed() {
    let error = resolved("workload = \"fir\"\n[node]\nclock = \"1GHz\"\n", &[]).unwrap_err().to_string();
    assert!(error.starts_with("s.toml: `node."), "{error}");
    assert!(error.contains("missing"), "{error}");
}

#[test]
fn a_preset_in_an_override_replaces_a_node_that_is_spelled_out_but_keeps_changes_to_a_preset() {
    let spelled_out = resolved(FILE, &[]).unwrap().toml;
    let eight = resolved(&spelled_out, &["node.preset=grit-8gpu"]).unwrap();
    assert_eq!(eight, resolved(FILE, &["node.preset=grit-8gpu"]).unwrap());
    let hardware = resolved(&spelled_out, &["node.driver.preset=hardware"]).unwrap();
    assert_eq!(hardware, resolved(FILE, &["node.driver.preset=hardware"]).unwrap());
    let changed = format!("{FILE}node.l1.ways = 8\n");
    let node = resolved(&changed, &["node.preset=grit-8gpu"]).unwrap().scenario.node;
    assert_eq!((node.gpus, node.l1.ways), (8, 8));
}
