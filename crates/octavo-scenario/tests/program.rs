//! `[program]`: what is kept, what is refused, and the resulting program.

use std::ops::ControlFlow;

use octavo_manager::{HOST, Kind, MemoryId, ProcessorId, ProcessorMask};
use octavo_program::{Action, Lowering, Program, ProgramKind, Size, Workload, lower};
use octavo_registry::Choice;
use octavo_scenario::{PartRefused, ProgramRefused, Resolved, RunKind, ScenarioError, Source, WORKLOADS, resolve};

const FILE: &str = r#"
workload = { name = "vectoradd", scale = 0.01 }
memory.placement = "on-touch"
node.preset = "grit-4gpu"
"#;

fn resolved(overrides: &[&str]) -> Result<Resolved, ScenarioError> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    resolve(Source { name: "s.toml", text: FILE }, &overrides)
}

fn refusal(overrides: &[&str]) -> String {
    resolved(overrides).unwrap_err().to_string()
}

fn workload(resolved: &Resolved) -> Box<dyn Workload> {
    resolved.scenario.workloads().unwrap().remove(0).1
}

fn program(overrides: &[&str]) -> Result<Option<Program>, String> {
    let resolved = resolved(overrides).unwrap();
    resolved.scenario.parts().map(|mut parts| parts.remove(0).program).map_err(|error| error.to_string())
}

/// Name of the first buffer.
fn first() -> String {
    workload(&resolved(&[]).unwrap()).buffers()[0].name.clone()
}

#[test]
fn launches_alone_leave_no_trace_in_the_resolved_scenario() {
    let plain = resolved(&[]).unwrap();
    assert!(!plain.toml.contains("program"), "{}", plain.toml);
    assert_eq!(plain.scenario.program.kind, RunKind::Launches);
    assert_eq!(resolved(&["program.kind=launches", "program.host_threads=1"]).unwrap(), plain);
    assert_eq!(program(&[]), Ok(None));
}

#[test]
fn a_whole_program_is_spelled_out_and_loads_again() {
    let set = format!("program.buffers.{}={{ kind = \"managed\", accessed_by = [\"gpu1\", \"host\"] }}", first());
    let chosen = resolved(&["program.kind=pinned", "program.host_threads=2", &set]).unwrap();
    for expected in ["kind = \"pinned\"", "devices = \"interleaved\"", "host_threads = 2", "kind = \"managed\""] {
        assert!(chosen.toml.contains(expected), "{expected} not in\n{}", chosen.toml);
    }
    assert_eq!(resolve(Source { name: "again.toml", text: &chosen.toml }, &[]), Ok(chosen));
}

#[test]
fn buffers_get_their_kind_and_what_is_said_about_them() {
    let name = first();
    let keys = ["preferred=gpu1", "accessed_by=[\"gpu0\", \"host\"]", "read_mostly=true"];
    let said = keys.map(|assignment| format!("program.buffers.{name}.{assignment}"));
    let program = program(&["program.kind=managed", &said[0], &said[1], &said[2]]).unwrap().unwrap();
    let advice = program.actions().iter().find_map(|ordered| match &ordered.action {
        Action::Advise { span, advice } => Some((span.buffer.index(), *advice)),
        _ => None,
    });
    let (buffer, advice) = advice.unwrap();
    let both = ProcessorMask::only(HOST).with(ProcessorId::gpu(0));
    assert_eq!((buffer, advice.preferred, advice.accessed_by), (0, Some(MemoryId::gpu(1)), both));
    assert!(advice.read_mostly);
}

#[test]
fn buffers_are_discarded_before_launches_where_the_driver_can() {
    let name = first();
    let set = format!("program.buffers.{name}.discard_before=each-launch");
    let node = |release: &'static str| ["program.kind=managed", "node.preset=cuda-sm90", release];
    let [kind, preset, release] = node("node.driver.release=580.65");
    let program = program(&[kind, preset, release, &set]).unwrap().unwrap();
    let names: Vec<&str> = program.actions().iter().map(|ordered| ordered.action.name()).collect();
    let launch = names.iter().position(|name| *name == "launch").unwrap();
    assert_eq!(names[launch - 1], "discard");
    for [kind, preset, older] in [node("node.driver.release=575"), node("node.driver.release=none")] {
        assert!(refusal(&[kind, preset, older, &set]).contains("`node.driver.release` from 580.65 on"), "{older}");
    }
    assert!(refusal(&["program.kind=pinned", preset, release, &set]).contains("expected managed, found pinned"));
}

#[test]
fn one_device_buffer_among_managed_ones() {
    let set = format!("program.buffers.{}.kind=device", first());
    let program = program(&["program.kind=managed", &set]).unwrap().unwrap();
    let kinds: Vec<Kind> = program.buffers().iter().map(|buffer| buffer.kind).collect();
    assert_eq!((kinds[0], kinds[1], kinds[kinds.len() - 1]), (Kind::Device, Kind::Managed, Kind::System));
}

#[test]
fn what_cannot_be_is_refused_where_it_stands() {
    let kind = refusal(&["program.kind=manged"]);
    assert!(
        kind.starts_with("--set program.kind=manged: `program.kind`: expected one of launches, explicit"),
        "{kind}"
    );
    assert!(kind.ends_with("did you mean `managed`?"), "{kind}");
    assert!(refusal(&["program.host_threads=0"]).contains("`program.host_threads`: expected a whole number from 1"));
    let threads = refusal(&["program.kind=managed", "program.host_threads=100000"]);
    assert!(threads.contains("(`node.host.cpu.cores`), found 100000"), "{threads}");
}

#[test]
fn launches_alone_have_no_program_to_change() {
    let set = format!("program.buffers.{}.kind=device", first());
    let error = refusal(&[&set]);
    let expected = format!(
        "--set {set}: `program.buffers.{}`: needs a whole program: expected `program.kind` one of explicit, managed, \
         system, pinned, found launches",
        first()
    );
    assert_eq!(error, expected);
    assert!(refusal(&["program.devices=split"]).contains("`program.devices`: needs a whole program"));
    assert!(refusal(&["program.host_threads=2"]).contains("`program.host_threads`: needs a whole program"));
}

#[test]
fn buffers_that_do_not_exist_are_refused_with_the_nearest() {
    let name = first();
    let error = refusal(&["program.kind=managed", &format!("program.buffers.{name}x.kind=device")]);
    assert!(error.contains(&format!("`program.buffers.{name}x`: unknown buffer of `vectoradd`")), "{error}");
    let error = refusal(&["program.kind=managed", &format!("program.buffers.{name}.knd=device")]);
    assert!(error.contains("unknown key") && error.ends_with("did you mean `kind`?"), "{error}");
}

#[test]
fn advice_is_about_managed_memory_and_names_processors_of_the_node() {
    let name = first();
    let set = |key: &str| format!("program.buffers.{name}.{key}");
    for (kind, key) in
        [("explicit", "read_mostly=true"), ("pinned", "preferred=gpu1"), ("system", "accessed_by=[\"host\"]")]
    {
        let error = refusal(&["node.preset=gh200", "node.gpus=2", &format!("program.kind={kind}"), &set(key)]);
        assert!(error.contains("advice") && error.contains("expected managed, found"), "{error}");
    }
    let error = refusal(&["program.kind=managed", &set("preferred=gpu4")]);
    assert!(error.contains("expected one of host, gpu0, gpu1, gpu2, gpu3, found `gpu4`; did you mean"), "{error}");
    let error = refusal(&["program.kind=managed", &set("accessed_by=[\"hots\"]")]);
    assert!(error.contains("accessed_by`") && error.ends_with("did you mean `host`?"), "{error}");
}

#[test]
fn prefetch_is_for_memory_that_moves_and_names_processors_of_the_node() {
    let name = first();
    let set = |key: &str| format!("program.buffers.{name}.{key}");
    let error = refusal(&["program.kind=pinned", &set("prefetch=gpu0")]);
    assert!(error.contains("prefetch is for memory that moves: expected managed or system, found pinned"), "{error}");
    let error = refusal(&["program.kind=managed", &set("prefetch=gpu4")]);
    assert!(error.contains("expected one of host, gpu0, gpu1, gpu2, gpu3, found `gpu4`; did you mean"), "{error}");
    let error = refusal(&["program.kind=managed", &set("prefetch_before=each-launch")]);
    assert!(error.contains(&format!("prefetch_before`: needs `program.buffers.{name}.prefetch`")), "{error}");
    let error = refusal(&["program.kind=explicit", &set("populate=true")]);
    assert!(error.contains("populate is for memory that moves: expected managed or system, found device"), "{error}");
    let each = [set("prefetch=gpu0"), set("prefetch_before=each-launch")];
    assert!(program(&["program.kind=managed", &each[0], &each[1]]).is_ok());
}

#[test]
fn device_memory_beyond_all_gpus_memory_is_refused_before_the_run() {
    let small = ["node.capacity.footprint_percent=20", "node.capacity.scope=per-gpu"];
    let error = program(&["program.kind=explicit", small[0], small[1]]).unwrap_err();
    assert!(error.starts_with("`program.kind`: ") && error.contains("`node.capacity` gives all GPUs"), "{error}");
    assert!(program(&["program.kind=managed", small[0], small[1]]).is_ok(), "managed memory is evicted");
    assert!(program(&["program.kind=explicit"]).is_ok());
}

/// A trace of vectoradd as a program of this kind whose host has three threads, or of its launches alone.
fn trace(name: &str, whole: Option<ProgramKind>) -> (std::path::PathBuf, Program) {
    let path = std::env::temp_dir().join(format!("octavo-recorded-{}-{name}.trace", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    let workload = WORKLOADS.build(&Choice::named("vectoradd"), &Size { scale: 0.001, seed: 1 }).unwrap();
    let lowering = Lowering { kind: whole.unwrap_or(ProgramKind::Explicit), host_threads: 3, ..Lowering::default() };
    let program = lower(workload.as_ref(), &lowering).unwrap();
    octavo_trace::record(&path, workload.as_ref(), whole.map(|_| &program), "test", "none").unwrap();
    (path, program)
}

#[test]
fn a_trace_of_a_whole_program_runs_as_it_was_recorded_unless_something_else_is_asked_for() {
    let (path, recorded) = trace("whole", Some(ProgramKind::Explicit));
    let named = format!("workload={}", path.display());
    let plain = [named.as_str(), "workload.scale=1"];
    let chosen = resolved(&plain).unwrap();
    assert_eq!(chosen.scenario.program.kind, RunKind::Recorded);
    assert_eq!(program(&plain).unwrap().as_ref(), Some(&recorded));
    let launches = resolved(&[plain[0], plain[1], "program.kind=launches"]).unwrap();
    let managed = program(&[plain[0], plain[1], "program.kind=managed"]).unwrap().unwrap();
    assert!(managed.buffers().iter().all(|buffer| buffer.kind == Kind::Managed), "the launches' own buffers");
    assert_eq!(managed.buffers().len(), 3);
    let few = program(&[plain[0], plain[1], "node.host.cpu.cores=2"]).unwrap_err();
    assert!(few.contains("of the recorded program has 3 threads, found 2 cores"), "{few}");
    let threads = refusal(&[plain[0], plain[1], "program.kind=recorded", "program.host_threads=2"]);
    assert!(threads.contains("`program.host_threads`: the trace says it itself"), "{threads}");
    // What is resolved stays what it is, with the trace or without.
    std::fs::remove_dir_all(&path).unwrap();
    for resolved in [chosen, launches] {
        assert_eq!(resolve(Source { name: "again.toml", text: &resolved.toml }, &[]), Ok(resolved));
    }
}

#[test]
fn launches_alone_are_no_recorded_program() {
    let (path, _) = trace("launches", None);
    let plain = [&format!("workload={}", path.display()), "workload.scale=1"];
    assert_eq!(resolved(&plain).unwrap().scenario.program.kind, RunKind::Launches);
    let error = refusal(&[plain[0], plain[1], "program.kind=recorded"]);
    assert!(error.contains("holds launches alone, version 1"), "{error}");
    let kernel = refusal(&["program.kind=recorded"]);
    assert!(kernel.contains("only traces are recorded programs, found the workload `vectoradd`"), "{kernel}");
    assert!(ProgramRefused::NotRecorded.to_string().contains("expected a trace with actions"));
    std::fs::remove_dir_all(&path).unwrap();
}

#[test]
fn system_memory_has_a_placement_and_a_prefetcher_of_its_own() {
    assert!(!resolved(&["memory.system.placement=on-touch"]).unwrap().toml.contains("memory.system"), "the default");
    let chosen = resolved(&["memory.system={ placement = \"access-counter\", prefetch = \"tree\" }"]).unwrap();
    assert!(
        chosen.toml.contains("[memory.system.placement]\nname = \"access-counter\"\nthreshold = 256\n"),
        "{}",
        chosen.toml
    );
    assert!(chosen.toml.contains("[memory.system.prefetch]\nname = \"tree\"\n"), "{}", chosen.toml);
    assert_eq!(resolve(Source { name: "again.toml", text: &chosen.toml }, &[]), Ok(chosen));
    for (set, expected) in [
        ("memory.system.placement=grti", "`memory.system.placement.name`: unknown placement `grti`"),
        (
            "memory.system.placement={ name = \"grit\", fault_threshold = 0 }",
            "`memory.system.placement.fault_threshold`: expected 1 to",
        ),
        ("memory.system.prefech=tree", "`memory.system.prefech`: unknown key, expected one of placement, prefetch"),
        (
            "memory={ placement = \"grit\", system.placement = { name = \"access-counter\", threshold = 64 } }",
            "`memory.system.placement`: expected access counters with a threshold of 256 lines",
        ),
        ("memory.system=on-touch", "`memory.system`: expected a table"),
    ] {
        let found = refusal(&[set]);
        assert!(found.contains(expected), "{found}\nnot\n{expected}");
    }
}

#[test]
fn a_coherent_node_brings_its_memory_system_and_names_what_it_has() {
    let memory = |overrides: &[&str]| resolved(&[&["node.preset=gh200"], overrides].concat()).unwrap().scenario.memory;
    let own = memory(&["program.kind=system"]);
    assert_eq!(
        (own.page_size.0, own.prefetch.name.as_str(), own.eviction.name.as_str()),
        (64 << 10, "tree", "lru-block")
    );
    assert_eq!(memory(&["memory.prefetch=none"]).prefetch.name, "none", "what is written lies above it");
    assert_eq!(memory(&["memory.preset=uvmsmart"]).prefetch.name, "tree-neighborhood", "another takes its place");
    let size = refusal(&["node.preset=gh200", "memory.page_size=2MiB"]);
    assert!(size.contains("memory.page_size") && size.contains("one of 64KiB, 4KiB"), "{size}");
    let spelled = resolved(&["node.preset=gh200"]).unwrap();
    let again = resolve(Source { name: "again.toml", text: &spelled.toml }, &[]).unwrap();
    assert_eq!(again, spelled);
}

#[test]
fn a_kind_that_the_node_cannot_offer_is_refused() {
    let none = "node.system_memory=none";
    let kind = refusal(&[none, "program.kind=system"]);
    assert!(kind.contains("program.kind") && kind.contains("expected one of explicit, managed, pinned"), "{kind}");
    let buffer = format!("program.buffers.{}.kind=system", first());
    let one = refusal(&[none, "program.kind=managed", &buffer]);
    assert!(one.contains(&format!("program.buffers.{}.kind", first())), "{one}");
    assert!(refusal(&["node.preset=gh200", none]).contains("node.system_memory"));
}

#[test]
fn a_recorded_program_of_memory_that_the_node_cannot_offer_is_refused() {
    let (path, recorded) = trace("system", Some(ProgramKind::System));
    let plain = [&format!("workload={}", path.display()), "workload.scale=1"];
    assert_eq!(program(&plain).unwrap().as_ref(), Some(&recorded));
    let error = program(&[plain[0], plain[1], "node.system_memory=none"]).unwrap_err();
    let (name, system) =
        (&recorded.buffers()[0].buffer.name, "expected device, managed or pinned memory, found system");
    assert!(error.starts_with(&format!("`program.kind`: buffer `{name}` of the recorded program")), "{error}");
    assert!(error.contains("`node.system_memory`") && error.ends_with(system), "{error}");
    std::fs::remove_dir_all(&path).unwrap();
}

#[test]
fn a_network_is_split_over_the_gpus_that_it_runs_on() {
    let split = |workload: &str| resolved(&[&format!("workload={{ name = \"resnet18\", {workload} }}")]);
    assert!(["scale = 0.01", "replicas = 4", "stages = 4"].iter().all(|options| split(options).is_ok()));
    let refused = split("stages = 3").unwrap_err().to_string();
    assert!(
        refused.ends_with("`workload.stages`: expected 1 or 4, the number of GPUs that it runs on; found 3"),
        "{refused}"
    );
    let file = FILE.replace("workload = { name = \"vectoradd\", scale = 0.01 }", "");
    for (gpus, expected) in [("1, 2", "expected 1 or 2, the number"), ("3", "expected 1, the number")] {
        let workload = "{ name = \"resnet18\", replicas = 4 }";
        let job = format!("job=[{{ name = \"train\", workload = {workload}, gpus = [{gpus}] }}]");
        let refused = resolve(Source { name: "s.toml", text: &file }, &[job]).unwrap_err().to_string();
        assert!(refused.contains(&format!("`job[0].workload.replicas`: {expected}")), "{refused}");
    }
}

/// 2^32 amplitudes of 8 bytes take 32 GiB, all that host and GPU have.
#[test]
fn too_many_qubits_are_refused_with_what_fits_the_node() {
    let small = ["node.preset=gh200", "node.host.memory.capacity=16GiB", "node.capacity.bytes=16GiB"];
    let run =
        |workload: &str, more: &[&str]| resolved(&[&small[..], &[&format!("workload={workload}")], more].concat());
    let circuit = |qubits: u32| format!("{{ name = \"quantum-volume\", qubits = {qubits}, depth = 1 }}");
    assert!(run(&circuit(32), &[]).is_ok());
    assert!(
        run("{ name = \"quantum-volume\", qubits = 31, precision = \"double\" }", &["program.kind=managed"]).is_ok()
    );
    let refused = |workload: &str, more: &[&str]| run(workload, more).unwrap_err().to_string();
    let many = refused(&circuit(40), &[]);
    assert!(many.contains("`workload.qubits`: expected at most 32 qubits, whose state takes 32GiB"), "{many}");
    assert!(many.ends_with("fits the memory of host and GPUs of 32GiB; found 40"), "{many}");
    let pinned = refused(&circuit(32), &["program.kind=pinned"]);
    assert!(pinned.contains("expected at most 31 qubits") && pinned.contains("the host's memory of 16GiB"), "{pinned}");
    let scaled = refused("{ name = \"quantum-volume\", scale = 8.0 }", &["program.kind=explicit"]);
    assert!(
        scaled.contains("`workload.scale`: expected at most 31 qubits") && scaled.ends_with("found 33"),
        "{scaled}"
    );
    let fits = resolved(&["workload={ name = \"quantum-volume\", qubits = 38 }", "node.preset=grit-4gpu"]);
    assert!(fits.is_ok(), "its memory is a share of the footprint: {fits:?}");
}

#[test]
fn an_explicit_program_larger_than_its_only_gpu_runs_in_strips() {
    let parts = |overrides: &[&str]| resolved(overrides).unwrap().scenario.parts().map(|mut parts| parts.remove(0));
    let explicit = ["program.kind=explicit", "node.gpus=1", "workload.scale=0.25"];
    let capacity = ["node.capacity.footprint_percent=20", "node.capacity.scope=per-gpu"];
    let (whole, small) = (parts(&explicit).ok().unwrap(), [&explicit[..], &capacity].concat());
    let stripped = parts(&small).unwrap_or_else(|refused| panic!("{refused}"));
    assert!(stripped.workload.launches() > whole.workload.launches());
    let program = stripped.program.unwrap();
    let device: Vec<_> = program.buffers().iter().filter(|buffer| buffer.kind == Kind::Device).collect();
    assert_eq!(device.iter().map(|buffer| buffer.buffer.name.as_str()).collect::<Vec<_>>(), ["strip"]);
    assert!(5 * device[0].buffer.bytes <= stripped.workload.footprint(), "a fifth of all buffers");
    let refused = |more: &str| parts(&[&small[..], &[more]].concat()).err().unwrap().to_string();
    assert!(refused("node.gpus=2").starts_with("`program.kind`"), "{}", refused("node.gpus=2"));
    assert!(!refused("node.gpus=2").contains("strip-mined"));
    let sizes = resolved(&small).unwrap().scenario.sizes().unwrap().parts.remove(0);
    let buffers = |part: Option<octavo_program::Program>| part.unwrap().buffers().to_vec();
    assert_eq!((sizes.workload.launches(), buffers(sizes.program)), (0, buffers(Some(program))));
    let long = ["workload={ name = \"fir\", scale = 4.0 }", "node.capacity.footprint_percent=1"];
    let scenario = resolved(&[&small[..], &long].concat()).unwrap().scenario;
    let stopped = scenario.built_while(&mut || ControlFlow::Break(())).err();
    assert_eq!(stopped, Some(PartRefused::Program(ProgramRefused::Stopped)));
    let random = refused("workload={ name = \"gups\", scale = 1.0 }");
    assert!(random.contains("cannot be strip-mined: work-group 0 alone reaches"), "{random}");
}

#[test]
fn memory_and_data_of_launches_alone_are_two_facts_on_one_gpu() {
    let one = "node.gpus=1";
    let chosen =
        resolved(&[one, "program.frames=allocation", "program.data=launch", "program.alignment=256B"]).unwrap();
    for expected in ["frames = \"allocation\"", "data = \"launch\"", "alignment = \"256B\""] {
        assert!(chosen.toml.contains(expected), "{expected} not in\n{}", chosen.toml);
    }
    assert_eq!(resolve(Source { name: "again.toml", text: &chosen.toml }, &[]), Ok(chosen));
    let nowhere = refusal(&[one, "program.data=allocation"]);
    assert!(nowhere.contains("`program.data`") && nowhere.contains("`program.frames` allocation"), "{nowhere}");
    let four = refusal(&["program.frames=allocation"]);
    assert!(four.contains("`program.frames`: expected one GPU") && four.contains("found 4"), "{four}");
    let whole = refusal(&[one, "program.kind=managed", "program.data=launch"]);
    assert!(whole.contains("`program.data`") && whole.contains("`program.kind` launches"), "{whole}");
}

#[test]
fn memory_that_exists_from_allocation_has_to_fit() {
    let small = ["node.gpus=1", "node.capacity.footprint_percent=20", "program.frames=allocation"];
    let error = program(&small).unwrap_err();
    assert!(error.starts_with("`program.frames`: ") && error.contains("`node.capacity`"), "{error}");
    assert!(program(&small[..2]).is_ok(), "managed memory is evicted");
}

#[test]
fn buffers_lie_as_far_apart_as_asked_for() {
    let ends = |overrides: &[&str]| workload(&resolved(overrides).unwrap()).address_end();
    let [close, apart, own] = [&["program.alignment=256B"][..], &["program.alignment=2MiB"], &[]].map(ends);
    assert!(close < apart, "{close} {apart}");
    assert_eq!(apart, own, "kernels have 2 MiB of their own");
    for (found, shown) in [("64B", "64B"), ("4MiB", "4MiB"), ("768B", "768B")] {
        let error = refusal(&[&format!("program.alignment={found}")]);
        assert!(error.contains("a power of two, 256B to 2MiB") && error.contains(shown), "{error}");
    }
    let explicit = program(&["program.kind=explicit", "program.alignment=256B"]).unwrap().unwrap();
    assert_eq!(explicit.buffers()[1].buffer.base % 256, 0);
    assert!(explicit.buffers()[1].buffer.base < explicit.buffers()[0].buffer.bytes + 256);
}
