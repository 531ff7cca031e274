//! Explicit programs in strips: a work-group loads the same data as if all buffers fitted.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use octavo_manager::{Access, Kind};
use octavo_program::{
    Action, LINE_BYTES, Look, Lowering, Op, OpKind, Program, ProgramKind, Size, Span, Stripped, Strips, StripsRefused,
    Workload, lower, lower_in_strips,
};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use serde_json::json;

use crate::lanes::stream;

fn build(name: &str, scale: f64, options: &[(&str, serde_json::Value)]) -> Box<dyn Workload> {
    let mut choice = Choice::named(name);
    choice.options.extend(options.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    WORKLOADS.build(&choice, &Size { scale, seed: 11 }).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn explicit() -> Lowering {
    Lowering { kind: ProgramKind::Explicit, ..Lowering::default() }
}

fn stripped(workload: &dyn Workload, room: u64) -> Result<(Strips, Program), StripsRefused> {
    lower_in_strips(workload, &explicit(), room, &mut Look::Accesses(&mut || ControlFlow::Continue(())))
}

/// For each line, what was stored there last, 0 if nothing was.
type Memory = BTreeMap<u64, u64>;

/// The results of a program if a value is known only by who stored it: by kernel launch and work-group, in the order in
/// which they run, the loaded values; then those that the host reads.
fn run(workload: &dyn Workload, program: &Program) -> Vec<Vec<u64>> {
    let (mut memory, mut loaded, mut stale) = (Memory::new(), Vec::new(), false);
    let arena = program.buffers().last().filter(|last| last.buffer.name == "strip");
    let arena = arena.map_or(u64::MAX, |last| last.buffer.base / LINE_BYTES);
    let address = |span: &Span| program.buffers()[span.buffer.index()].buffer.base + span.bytes.start;
    let mut written = 0;
    for ordered in program.actions() {
        match &ordered.action {
            Action::Host(phase) => {
                let mut seen = Vec::new();
                for sweep in &phase.sweeps {
                    let first = address(&sweep.span) / LINE_BYTES;
                    for line in first..(address(&sweep.span) + sweep.span.len()).div_ceil(LINE_BYTES) {
                        if sweep.access == Access::Write {
                            written += 1;
                            memory.insert(line, written << 32);
                        } else {
                            seen.push(memory.get(&line).copied().unwrap_or_default());
                        }
                    }
                }
                loaded.push(seen);
            }
            Action::Copy { from, to } => {
                let [first, target] = [from, to].map(|span| address(span) / LINE_BYTES);
                if target >= arena && std::mem::take(&mut stale) {
                    memory.split_off(&arena);
                }
                for line in 0..from.len().div_ceil(LINE_BYTES) {
                    let value = memory.get(&(first + line)).copied().unwrap_or_default();
                    memory.insert(target + line, value);
                }
            }
            Action::Launch { launch, .. } => {
                // What is in the arena without a copy is nothing that a strip may build on.
                if std::mem::replace(&mut stale, true) {
                    memory.split_off(&arena);
                }
                launches(workload, *launch, &mut memory, &mut loaded);
            }
            _ => {}
        }
    }
    loaded.retain(|seen| !seen.is_empty());
    loaded
}

/// Work-groups one after another. A store's value follows from what the group has loaded so far.
fn launches(workload: &dyn Workload, launch: u32, memory: &mut Memory, loaded: &mut Vec<Vec<u64>>) {
    let shape = workload.launch(launch);
    for group in 0..shape.work_groups {
        let mut seen = Vec::new();
        for wavefront in 0..shape.wavefronts_per_group {
            for op in stream(workload, launch, group, wavefront, 512) {
                access(op, memory, &mut seen);
            }
        }
        loaded.push(seen);
    }
}

fn access(op: Op, memory: &mut Memory, seen: &mut Vec<u64>) {
    if !matches!(op.kind(), OpKind::Load | OpKind::Store | OpKind::ScalarLoad) {
        return;
    }
    for part in op.uniform() {
        for line in part.line()..part.line() + u64::from(part.count()) {
            let before = memory.get(&line).copied().unwrap_or_default();
            if !part.is_store() {
                seen.push(before);
                continue;
            }
            let mixed = seen.iter().fold(seen.len() as u64 + 1, |sum, value| sum.rotate_left(7) ^ value);
            memory.insert(line, if part.is_partial() { mixed ^ before.rotate_left(3) } else { mixed } | 1);
        }
    }
}

/// Runs a workload whole and in strips that fit this many bytes; returns the number of strips.
fn assert_same(workload: impl Fn() -> Box<dyn Workload>, room: u64) -> u32 {
    let whole = workload();
    let expected = run(whole.as_ref(), &lower(whole.as_ref(), &explicit()).unwrap());
    let (strips, program) = stripped(whole.as_ref(), room).unwrap();
    let device = program.buffers().iter().filter(|buffer| buffer.kind == Kind::Device);
    assert!(device.map(|buffer| buffer.buffer.bytes.next_multiple_of(2 << 20)).sum::<u64>() <= room);
    let count = strips.len();
    let found = run(&Stripped::new(workload(), strips, &program), &program);
    assert!(expected == found, "{} work-groups and phases load something else", found.len());
    count
}

const MIB: u64 = 1 << 20;

#[test]
fn strips_load_what_the_whole_program_loads() {
    let heat = [("side", json!(1024)), ("steps", json!(4))];
    let strips = assert_same(|| build("hs", 1.0, &heat), 4 * MIB);
    assert!(strips > 4, "{strips} strips of two launches");
    assert_same(|| build("srad", 1.0, &[("rows", json!(512)), ("columns", json!(512))]), 3 * MIB);
    let circuit = [("qubits", json!(19)), ("depth", json!(2))];
    let one = assert_same(|| build("quantum-volume", 1.0, &circuit), 4 * MIB);
    let chunked = [("qubits", json!(19)), ("depth", json!(2)), ("chunk_qubits", json!(16))];
    assert!(assert_same(|| build("quantum-volume", 1.0, &chunked), 4 * MIB) > one);
    assert_same(|| build("pathfinder", 1.0 / 64.0, &[]), 4 * MIB);
    assert_same(|| build("stencil2d", 1.0 / 64.0, &[]), 4 * MIB);
}

#[test]
fn what_is_too_large_to_look_at_is_refused() {
    let state = build("quantum-volume", 1.0, &[("qubits", json!(36)), ("depth", json!(1))]);
    let refused = stripped(state.as_ref(), 96_000 * MIB).unwrap_err();
    assert!(matches!(refused, StripsRefused::TooLarge { .. }), "{refused}");
}

#[test]
fn what_jumps_about_is_refused_by_name() {
    let gups = build("gups", 1.0 / 16.0, &[]);
    let refused = stripped(gups.as_ref(), 2 * MIB).unwrap_err();
    assert!(matches!(&refused, StripsRefused::GroupTooLarge { launch: 0, group: 0, .. }), "{refused}");
    assert!(refused.to_string().contains("work-group 0 alone reaches"), "{refused}");
}
