//! Nodes in files: what a user writes into them, and how they are named.

use octavo_manager::{HOST, HOST_MEMORY, MemoryId, ProcessorId};
use octavo_node::AboutConfig;
use octavo_scenario::{Resolved, ScenarioError, Source, presets, resolve, resolve_with};

const MACHINE: &str = r#"
format = 1
date = 2026-11-21
[machine]
gpu = "A GPU"
[node]
extends = "grit-4gpu"
clock = "1980MHz"
l1.ways = 8
driver.service = { model = "batch", size = 256, batch = "30us", request = "1us" }
"#;
const SCENARIO: &str = "workload = \"fir\"\nmemory.placement = \"grit\"\n";

/// Paths of folders and names are told apart as a file system would.
fn files(place: &str, named_by: Option<&str>) -> Result<(String, String), String> {
    let folder = named_by.and_then(|file| Some(file.rsplit_once('/')?.0)).map_or(String::new(), |it| format!("{it}/"));
    let name = format!("{folder}{place}");
    let text = match name.as_str() {
        "machine.toml" | "lab/machine.toml" | "other/copy.toml" => MACHINE,
        "lab/mine.toml" => "[node]\nextends = \"machine.toml\"\ngpus = 2\n",
        "scenario.toml" => "workload = \"stencil2d\"\n[node]\npreset = \"grit-2gpu\"\nl1.ways = 8\n",
        "around.toml" => "[node]\nextends = \"there.toml\"\n",
        "there.toml" => "[node]\nextends = \"around.toml\"\n",
        "no-node.toml" => "[nodes]\ngpus = 4\n",
        "number.toml" => "\nnode = 3\n",
        "bad-base.toml" => "[node]\n\nextends = \"grit-4gpus\"\n",
        "bad-base-type.toml" => "[node]\nextends = 4\n",
        "bad-key.toml" => "[node]\nextends = \"grit-4gpu\"\n\nl1.wayss = 8\n",
        "bad-driver.toml" => "[node]\nextends = \"grit-4gpu\"\ndriver.preset = \"papr\"\n",
        "bad-unit.toml" => "[node]\nextends = \"grit-4gpu\"\nclock = 3\n",
        "impossible.toml" => "[node]\nextends = \"grit-4gpu\"\ngpus = 99\n",
        "slow.toml" => "[node]\nextends = \"gh200\"\nhost.costs.context = \"1ms\"\nhost.page_sizes = [\"64KiB\"]\n",
        "grace-again.toml" => "[node]\nextends = \"slow.toml\"\nhost.preset = \"grace\"\n",
        "grace-slow.toml" => "[node]\nextends = \"gh200\"\nhost.preset = \"grace\"\nhost.costs.context = \"1ms\"\n",
        "measured.toml" => {
            "[node]\nextends = \"gh200\"\nabout = { name = \"ours\", compared = \"a GPU\" }\nclock = \"2GHz\" # measured\n"
        }
        "on-measured.toml" => "[node]\nextends = \"measured.toml\"\nclock = \"1GHz\"  # [chosen] by us\n",
        "little.toml" => "[node]\ngpus = 4\n",
        "not.toml" => "[node\n",
        _ => return Err(format!("cannot read {name}: no such file")),
    };
    Ok((name, text.to_owned()))
}

fn resolved(name: &str, text: &str, overrides: &[&str]) -> Result<Resolved, ScenarioError> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    resolve_with(Source { name, text }, &overrides, &files)
}

fn with_node(file: &str) -> Result<Resolved, ScenarioError> {
    resolved("s.toml", SCENARIO, &[&format!("node.preset={file}")])
}

#[test]
fn every_preset_spelled_out_loads_again_as_it_is() {
    for name in presets::node_names() {
        let text = format!("{SCENARIO}node.preset = \"{name}\"\n");
        let found = resolve(Source { name: "s.toml", text: &text }, &[]).unwrap();
        assert_eq!(resolve(Source { name: "again.toml", text: &found.toml }, &[]).unwrap(), found, "{name}");
    }
}

#[test]
fn a_node_from_a_file_is_its_preset_with_changes_and_loads_again_without_the_file() {
    let found = with_node("machine.toml").unwrap();
    let node = &found.scenario.node;
    assert_eq!((node.clock.to_string().as_str(), node.l1.ways, node.gpus), ("1980MHz", 8, 4));
    assert!(found.toml.contains("batch = \"30us\"") && !found.toml.contains("servers"), "{}", found.toml);
    assert!(!found.toml.contains("machine") && !found.toml.contains("preset ="), "{}", found.toml);
    assert_eq!(resolve(Source { name: "again.toml", text: &found.toml }, &[]).unwrap(), found);
}

#[test]
fn only_the_contents_matter_not_the_name() {
    let text = format!("{SCENARIO}node.preset = \"copy.toml\"\n");
    assert_eq!(with_node("machine.toml").unwrap(), resolved("other/s.toml", &text, &[]).unwrap());
}

#[test]
fn a_file_may_extend_a_file_beside_it() {
    let node = with_node("lab/mine.toml").unwrap().scenario.node;
    assert_eq!((node.gpus, node.clock.to_string().as_str()), (2, "1980MHz"));
}

#[test]
fn a_scenario_is_a_file_that_holds_a_node() {
    let found = with_node("scenario.toml").unwrap().scenario;
    assert_eq!((found.node.gpus, found.node.l1.ways, found.workload.unwrap().name.as_str()), (2, 8, "fir"));
    let spelled_out = with_node("machine.toml").unwrap();
    let read = |_: &str, _: Option<&str>| Ok(("runs/x/scenario.toml".to_owned(), spelled_out.toml.clone()));
    let overrides = ["node.preset=runs/x/scenario.toml".to_owned()];
    let again = resolve_with(Source { name: "s.toml", text: SCENARIO }, &overrides, &read).unwrap();
    assert_eq!(again, spelled_out);
}

#[test]
fn what_the_scenario_says_wins_over_the_file_and_replaces_its_driver() {
    let text = format!("{SCENARIO}node.preset = \"machine.toml\"\nnode.l1.ways = 16\n");
    let node = resolved("s.toml", &text, &["node.clock=1GHz"]).unwrap().scenario.node;
    assert_eq!((node.l1.ways, node.clock.to_string().as_str()), (16, "1GHz"));
    let paper = resolved("s.toml", &text, &["node.driver.preset=paper"]).unwrap();
    let expected = resolved("s.toml", &text, &["node.driver.preset=paper", "node.preset=grit-4gpu"]).unwrap();
    assert_eq!(paper.scenario.node.driver, expected.scenario.node.driver);
}

#[test]
fn a_preset_that_is_named_again_replaces_what_nodes_below_say_about_the_same() {
    let host = |file| {
        let host = with_node(file).unwrap().scenario.node.host;
        (host.costs.context.to_string(), host.page_sizes.len(), host.cpu.cores)
    };
    assert_eq!(host("slow.toml"), ("1ms".to_owned(), 1, 72));
    assert_eq!(host("grace-again.toml"), ("0ps".to_owned(), 1, 72), "the preset has no page sizes");
    assert_eq!(host("grace-slow.toml"), ("1ms".to_owned(), 2, 72), "what stands beside the preset stays");
}

#[test]
fn what_cannot_be_used_is_refused_where_it_stands() {
    let refusals = [
        ("absent.toml", "--set node.preset=absent.toml: `node.preset`: cannot read absent.toml: no such file"),
        ("no-node.toml", "no-node.toml: `node`: missing; expected a table [node]; did you mean `nodes`?"),
        ("number.toml", "number.toml:2: `node`: expected a table, found 3"),
        ("bad-base.toml", "bad-base.toml:3: `node.extends`: unknown preset `grit-4gpus`, expected one of the "),
        ("bad-base.toml", "or a TOML file that holds a node, such as machine.toml; did you mean `grit-4gpu`?"),
        ("bad-base-type.toml", "bad-base-type.toml:2: `node.extends`: expected the name of a preset, or a TOML file"),
        ("bad-key.toml", "bad-key.toml:4: `node.l1.wayss`: unknown key, expected one of size, line, ways"),
        ("bad-driver.toml", "bad-driver.toml:3: `node.driver.preset`: unknown preset `papr`"),
        ("bad-unit.toml", "bad-unit.toml:3: `node.clock`: expected a frequency such as 1GHz"),
        ("impossible.toml", "impossible.toml:3: `node.gpus`: expected 1 to 72, found 99"),
        ("little.toml", "little.toml: `node.clock`: missing; expected a frequency"),
        ("not.toml", "not.toml:1: not valid TOML"),
        (
            "around.toml",
            "there.toml:2: `node.extends`: a node cannot extend itself: around.toml -> there.toml -> around.toml",
        ),
    ];
    for (file, expected) in refusals {
        let error = with_node(file).unwrap_err().to_string();
        assert!(error.contains(expected), "{file}: {error}");
    }
}

#[test]
fn a_scenario_that_names_a_missing_file_is_where_the_error_is() {
    let text = format!("{SCENARIO}node.preset = \"absent.toml\"\n");
    let error = resolved("lab/s.toml", &text, &[]).unwrap_err().to_string();
    assert_eq!(error, "lab/s.toml:3: `node.preset`: cannot read lab/absent.toml: no such file");
}

#[test]
fn without_a_reader_files_are_refused() {
    let overrides = ["node.preset=machine.toml".to_owned()];
    let error = resolve(Source { name: "s.toml", text: SCENARIO }, &overrides).unwrap_err().to_string();
    assert!(error.contains("nodes are not taken from files here"), "{error}");
}

#[test]
fn a_host_has_several_memories_and_writes_them_out() {
    let memory = r#"{ name = "expander", kind = "cxl", capacity = "64GiB", bandwidth = "28GB/s", latency = "250ns" }"#;
    let memories = format!("node.host.memories=[{memory}]");
    let resolved = |overrides: &[&str]| {
        let all = [&["node.preset=grit-2gpu"], overrides].concat();
        resolved("s.toml", SCENARIO, &all)
    };
    let plain = resolved(&[]).unwrap();
    assert!(!plain.toml.contains("memories") && !plain.toml.contains("[node.host.memory]"), "{}", plain.toml);
    let found = resolved(&["node.host.memory.capacity=1GiB", &memories]).unwrap();
    assert_eq!(found.scenario.node.host.memories[0].latency.0, 250_000);
    assert_eq!(resolve(Source { name: "again.toml", text: &found.toml }, &[]).unwrap().toml, found.toml);
    let error = resolved(&[&memories]).unwrap_err();
    assert!(error.to_string().contains("`node.host.memories[0]`: expected a limit in"), "{error}");
    let kind = memories.replace("cxl", "clx");
    let error = resolved(&["node.host.memory.capacity=1GiB", &kind]).unwrap_err();
    assert!(error.to_string().contains("clx") && error.to_string().contains("cxl"), "{error}");
}

#[test]
fn changes_of_capacity_are_spelled_out_or_refused_where_they_stand() {
    const TEXT: &str = "workload = \"fir\"\nmemory.placement = \"on-touch\"\nnode.preset = \"grit-2gpu\"\n\
        [[node.capacity.change]]\nat = \"5ms\"\ngpus = [1]\nfootprint_percent = 50\n";
    let read = |text: &str| resolve(Source { name: "s.toml", text }, &[]).map_err(|error| error.to_string());
    let first = read(TEXT).unwrap();
    assert_eq!(first.scenario.node.capacity.change[0].gpus, [1]);
    assert_eq!(read(&first.toml), Ok(first));
    let beyond = read(&TEXT.replace("[1]", "[2]")).unwrap_err();
    let expected = "s.toml:6: `node.capacity.change[0].gpus`: expected 0 to 1, the 2 GPUs of the node, found 2";
    assert_eq!(beyond, expected);
    let unknown = read(&TEXT.replace("at =", "from =")).unwrap_err();
    assert!(
        unknown.starts_with("s.toml:5: `node.capacity.change[0].from`: unknown key, expected one of at, gpus"),
        "{unknown}"
    );
}

/// For a preset with this many GPUs: whether GPU 0 reaches GPU 3 by a fast link, the host, and the host GPU 0.
fn fast(preset: &str, gpus: u32, more: &str) -> [bool; 3] {
    let text = format!("{SCENARIO}node.preset = \"{preset}\"\nnode.gpus = {gpus}\n{more}");
    let resolved = resolve(Source { name: "s.toml", text: &text }, &[]).unwrap_or_else(|error| panic!("{error}"));
    let links = resolved.scenario.node.topology(None, 4096).unwrap().fast;
    let (gpu, other) = (ProcessorId::gpu(0), MemoryId::gpu(3));
    [links.lead(gpu, other), links.lead(gpu, HOST_MEMORY), links.lead(HOST, MemoryId::gpu(0))]
}

#[test]
fn links_that_carry_more_than_those_to_the_host_are_fast() {
    assert_eq!(fast("grit-4gpu", 4, ""), [true, false, false], "NVLink beside PCIe");
    assert_eq!(fast("r9nano-4", 4, ""), [false; 3], "PCIe for all");
    assert_eq!(fast("gh200", 4, ""), [true; 3], "a coherent node");
    assert_eq!(fast("gh200-cdmm", 4, ""), [true; 3], "the same links");
    assert_eq!(fast("dgx-v100-4", 4, ""), [true, false, false]);
    let pairs = "node.links = [{ gpus = [1, 3], count = 6 }, { gpus = [0, 2], count = 1 }]\n";
    assert_eq!(fast("dgx-v100-4", 4, pairs), [false; 3], "what they send each other goes through the host");
}

#[test]
fn limits_of_issue_need_what_they_stand_on() {
    let refused = |overrides: &[&str]| {
        let all = [&["node.preset=r9nano"], overrides].concat();
        resolved("s.toml", SCENARIO, &all).unwrap_err().to_string()
    };
    let found = refused(&["node.compute.issues_in_time_order=false"]);
    for key in
        ["`node.compute.vector_decoder`", "found 4; the same for compute.lines_in_flight, 512", "compute.wait, 1cycles"]
    {
        assert!(found.contains(key), "{found}");
    }
    for (changes, expected) in [
        (
            &["node.compute.answers_in_order=false"][..],
            "`node.compute.answers_per_cycle`: expected 0 where answers come",
        ),
        (
            &["node.compute.answers_in_order=false", "node.compute.answers_per_cycle=0"],
            "`node.compute.lines_in_flight`: expected 0 where answers come in any order",
        ),
        (&["node.compute.answers_per_cycle=65"], "`node.compute.answers_per_cycle`: expected 0 to 64, found 65"),
        (&["node.remote.lines_in_flight=4"], "expected 0 where remote lines wait for places"),
        (&["node.registers_in_time_order=false"], "`node.scalar.answer`: expected 0cycles where places go"),
        (&["node.scalar.way_back=10cycles"], "expected less than scalar.cache.latency (10cycles), found 10cycles"),
    ] {
        let found = refused(changes);
        assert!(found.contains(expected), "{found}");
    }
}

/// How the operating system sees GPU memory, and whether the guard's lapse adapts.
fn selected(node: &str, overrides: &[&str]) -> (Option<octavo_node::GpuMemory>, Option<bool>) {
    let text = format!("workload = \"fir\"\nnode.preset = \"{node}\"\n");
    let found = resolved("s.toml", &text, overrides).unwrap();
    assert_eq!(resolve(Source { name: "again.toml", text: &found.toml }, &[]).unwrap(), found);
    let adapts = found.scenario.memory.guard.options.get("adaptive_lapse").and_then(serde_json::Value::as_bool);
    (found.scenario.node.coherence.map(|coherence| coherence.gpu_memory), adapts)
}

#[test]
fn the_release_of_the_driver_selects_what_nobody_says() {
    use octavo_node::GpuMemory::{Cdmm, Numa};
    const KEY: &str = "node.driver.release";
    assert_eq!(selected("gh200", &[]), (Some(Cdmm), Some(true)), "what ships today");
    assert_eq!(selected("gh200", &[&format!("{KEY}=610")]), (Some(Numa), Some(true)));
    assert_eq!(selected("gh200", &[&format!("{KEY}=580.65")]), (Some(Numa), Some(false)));
    assert_eq!(selected("gh200", &[&format!("{KEY}=580.159.04")]), (Some(Numa), Some(false)));
    let said = ["node.coherence.gpu_memory=numa", "memory.guard.adaptive_lapse=false"];
    assert_eq!(selected("gh200", &said), (Some(Numa), Some(false)), "what is said wins");
    assert_eq!(selected("gh200-numa", &[]), (Some(Numa), Some(true)));
    assert_eq!(selected("gh200-numa", &[&format!("{KEY}=615")]), (Some(Numa), Some(true)), "the preset says it");
    assert_eq!(selected("cuda-sm90", &[]), (None, Some(true)));
    assert_eq!(selected("dgx-v100-4", &[]), (None, Some(false)), "580 is the last branch with Volta");
    assert_eq!(selected("mi300a", &[]), (Some(Numa), None), "not NVIDIA's driver");
    assert_eq!(selected("grit-4gpu", &[]), (None, None));
}

#[test]
fn a_release_is_kept_as_it_is_written_and_refused_if_it_is_none() {
    let release = |text: &str| {
        let found = resolved("s.toml", SCENARIO, &["node.preset=cuda-sm90", &format!("node.driver.release={text}")]);
        found.map(|found| String::from(found.scenario.node.driver.release.unwrap()))
    };
    for text in ["615", "580.60", "580.159.04", "none"] {
        assert_eq!(release(text).unwrap(), text);
    }
    assert_eq!(release("\"615\"").unwrap(), "615");
    for text in ["R615", "6", "580.x"] {
        let refused = release(text).unwrap_err().to_string();
        assert!(refused.contains("node.driver.release") && refused.contains(text), "{refused}");
    }
}

fn about(found: &Resolved) -> AboutConfig {
    found.scenario.node.about.clone().unwrap()
}

#[test]
fn a_result_names_its_node_and_what_it_was_compared_with_but_no_node_that_extends_that_one() {
    let gh200 = about(&with_node("gh200").unwrap());
    assert_eq!((gh200.name.as_deref(), gh200.compared.is_some(), gh200.changed), (Some("gh200"), true, vec![]));
    let gb200 = about(&with_node("gb200").unwrap());
    assert_eq!((gb200.name.as_deref(), gb200.compared, gb200.see), (Some("gb200"), None, None));
    let ours = about(&with_node("measured.toml").unwrap());
    assert_eq!((ours.name.as_deref(), ours.compared.as_deref()), (Some("ours"), Some("a GPU")));
    let on_ours = about(&with_node("on-measured.toml").unwrap());
    assert_eq!((on_ours.name, on_ours.compared), (None, None));
    assert_eq!(about(&resolved("s.toml", SCENARIO, &[]).unwrap()).name.as_deref(), Some("grit-4gpu"));
}

#[test]
fn what_is_not_modelled_is_not_of_nodes_that_extend_it_either() {
    let four = about(&with_node("mi300a-4").unwrap());
    assert_eq!(four.not_modelled, about(&with_node("mi300a").unwrap()).not_modelled);
    assert!(!four.not_modelled.is_empty());
}

#[test]
fn keys_are_chosen_where_the_layer_that_gives_them_says_so() {
    let has = |file: &str, key: &str| about(&with_node(file).unwrap()).chosen.iter().any(|chosen| chosen == key);
    assert!(!has("measured.toml", "clock") && has("on-measured.toml", "clock"));
    assert!(has("measured.toml", "driver.service.batch"), "of gh200");
    assert!(!has("cuda-sm90", "driver.service.batch") && has("cuda-sm90", "host.cpu.cores"), "of the driver and host");
    let given = resolved("s.toml", SCENARIO, &["node.preset=gh200", "node.driver.service.batch=1us"]).unwrap();
    let given = about(&given);
    assert!(!given.chosen.contains(&"driver.service.batch".to_owned()));
    assert_eq!(given.changed, ["driver.service.batch"]);
}

#[test]
fn what_a_resolved_scenario_says_of_its_node_stays_as_it_is_run_again() {
    let first = resolved("s.toml", SCENARIO, &["node.preset=gh200", "node.gpus=2"]).unwrap();
    let again = resolved("again.toml", &first.toml, &["node.clock=1GHz"]).unwrap();
    assert_eq!(about(&again).changed, ["clock", "gpus"]);
    assert_eq!(about(&again).chosen, about(&first).chosen);
    let given = about(&resolved("again.toml", &first.toml, &["node.driver.service.batch=1us"]).unwrap());
    assert!(!given.chosen.contains(&"driver.service.batch".to_owned()));
    let other = resolved("again.toml", &first.toml, &["node.preset=cuda-sm90"]).unwrap();
    assert_eq!(other.scenario.node, with_node("cuda-sm90").unwrap().scenario.node, "nothing of the first is left");
}

#[test]
fn an_override_that_names_a_node_leaves_what_the_scenario_says_beside_it() {
    let text = format!("{SCENARIO}[node]\ncapacity.bytes = \"1GB\"\ngpus = 3\n");
    let node = resolved("s.toml", &text, &["node.preset=hgx-h100-8"]).unwrap().scenario.node;
    assert_eq!((node.capacity.bytes.0, node.gpus, node.capacity.shrinks), (1_000_000_000, 3, false));
    let set = ["node.gpus=2", "node.preset=hgx-h100-8"];
    assert_eq!(resolved("s.toml", SCENARIO, &set).unwrap().scenario.node.gpus, 2);
}

#[test]
fn what_a_scenario_says_as_the_node_does_changes_nothing() {
    let set = ["node.preset=cuda-sm90", "node.gpus=1", "node.host.costs.context=0ns", "node.dram.banks=79"];
    assert_eq!(about(&resolved("s.toml", SCENARIO, &set).unwrap()).changed, ["dram.banks"]);
    let set = ["node.preset=gh200", "node.host.costs.context=1ms"];
    assert_eq!(about(&resolved("s.toml", SCENARIO, &set).unwrap()).changed, ["host.costs.context"]);
}

#[test]
fn a_page_cache_is_where_the_operating_system_has_the_memory_of_gpus() {
    let cache = "node.host.page_cache={bytes=\"40GB\", free_blocks_percent=25}";
    let found = resolved("s.toml", SCENARIO, &["node.preset=gb10", cache]).unwrap();
    assert_eq!(found.scenario.node.host.page_cache.unwrap().free_blocks_percent, 25);
    let refused = |set: &[&str]| resolved("s.toml", SCENARIO, set).unwrap_err().key;
    assert_eq!(refused(&["node.preset=cuda-sm90", cache]), "node.host.page_cache");
    let much = cache.replace("25", "101");
    assert_eq!(refused(&["node.preset=gb10", &much]), "node.host.page_cache.free_blocks_percent");
}
