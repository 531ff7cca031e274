//! `[program]`: what is kept, what is refused, and the program that comes of it.

use octavo_manager::{HOST, Kind, MemoryId, ProcessorId, ProcessorMask};
use octavo_program::{Action, Program, Workload};
use octavo_scenario::{Resolved, RunKind, ScenarioError, Source, resolve};

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
    let set = format!("program.buffers.{}={{ kind = \"system\", accessed_by = [\"gpu1\", \"host\"] }}", first());
    let chosen = resolved(&["program.kind=pinned", "program.host_threads=2", &set]).unwrap();
    for expected in ["kind = \"pinned\"", "devices = \"interleaved\"", "host_threads = 2", "kind = \"system\""] {
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
fn advice_is_for_memory_that_moves_and_names_processors_of_the_node() {
    let name = first();
    let set = |key: &str| format!("program.buffers.{name}.{key}");
    for kind in ["explicit", "pinned"] {
        let error = refusal(&[&format!("program.kind={kind}"), &set("read_mostly=true")]);
        assert!(error.contains("advice is for memory that moves: expected managed or system, found"), "{error}");
    }
    let error = refusal(&["program.kind=managed", &set("preferred=gpu4")]);
    assert!(error.contains("expected one of host, gpu0, gpu1, gpu2, gpu3, found `gpu4`; did you mean"), "{error}");
    let error = refusal(&["program.kind=managed", &set("accessed_by=[\"hots\"]")]);
    assert!(error.contains("accessed_by`") && error.ends_with("did you mean `host`?"), "{error}");
}

#[test]
fn device_memory_beyond_all_gpus_memory_is_refused_before_the_run() {
    let small = ["node.capacity.footprint_percent=20", "node.capacity.scope=per-gpu"];
    let error = program(&["program.kind=explicit", small[0], small[1]]).unwrap_err();
    assert!(error.starts_with("`program.kind`: ") && error.contains("`node.capacity` gives all GPUs"), "{error}");
    assert!(program(&["program.kind=managed", small[0], small[1]]).is_ok(), "managed memory is evicted");
    assert!(program(&["program.kind=explicit"]).is_ok());
}
