//! Room that comes later, or never, if an idle GPU keeps pages of another: whole programs.

use std::sync::Arc;

use octavo_manager::{Kind, MemoryConfig, Spread};
use octavo_node::NodeConfig;
use octavo_program::{Action, BufferId, Lowering, Op, Program, ProgramBuilder, Workload, lower};
use octavo_sim::{InstantOptions, Job, RunOptions, SimError, run_jobs_at_once, simulate_jobs};
use octavo_units::{Bytes, Cycles};

use crate::support::*;

const PAGE: u64 = 4096;

/// Two GPUs of eight pages.
fn small() -> NodeConfig {
    let mut node = node(2);
    node.capacity.bytes = Bytes(8 * PAGE);
    node
}

fn lending() -> MemoryConfig {
    let mut config = memory("first-touch");
    config.eviction.name = "lru-block".to_owned();
    config.demotion.name = "spare-memory".to_owned();
    config.demotion.options.insert("reserve".to_owned(), "0B".into());
    config
}

fn write(pages: std::ops::Range<u64>) -> Vec<Op> {
    pages.flat_map(|page| store(page, 0)).collect()
}

/// GPU 0 writes eight pages of one block and one of the next: the first eight go to GPU 1. Then GPU 1 writes `second`.
fn overflows(second: Vec<Op>) -> Script {
    let launches = vec![vec![[write(0..8), write(512..513)].concat(), compute(1)], vec![compute(1), second]];
    Script::on_gpus(2048, launches)
}

/// The buffers with these kinds are allocated, the last of several after the first launch; nothing writes them before.
fn program(script: &Script, kinds: &[Kind]) -> Program {
    let mut builder = ProgramBuilder::default();
    let ids: Vec<BufferId> = script
        .buffers()
        .iter()
        .zip(kinds)
        .map(|(buffer, &kind)| builder.buffer(buffer.clone(), kind, Spread::Split))
        .collect();
    let late = ids.len().max(2) - 1;
    let launch = |launch: u32, ids: &[BufferId]| Action::Launch { launch, buffers: Arc::from(ids) };
    ids[..late].iter().for_each(|&id| _ = builder.then(Action::Allocate(id)));
    builder.then(launch(0, &ids[..late]));
    ids[late..].iter().for_each(|&id| _ = builder.then(Action::Allocate(id)));
    builder.then(launch(1, &ids));
    builder.build(script.launches()).unwrap()
}

#[test]
fn a_host_without_room_for_what_an_idle_gpu_keeps_is_named() {
    let mut node = small();
    node.host.memory.capacity = Bytes(PAGE);
    let script = overflows(write(1024..1025));
    let program = program(&script, &[Kind::Managed]);
    let job = Job::alone(&script, Some(&program));
    let timed = simulate_jobs(&node, &lending(), &[job], RunOptions::default()).unwrap_err();
    let options = InstantOptions { turn: 1, report_lines: None, record_events: false, memory: None, progress: None };
    let instant = run_jobs_at_once(&node, &lending(), &[Job::alone(&script, Some(&program))], options).unwrap_err();
    for error in [timed, instant] {
        assert!(matches!(error, SimError::HostFullForKept { gpu: 1, kept: 8, .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains("gpu1 has no room for the page at 0x400000"), "{message}");
        assert!(message.contains("keeps 8 pages of others") && message.contains("full are host (4KiB)"), "{message}");
    }
    node.host.memory.capacity = Bytes(8 * PAGE);
    let job = Job::alone(&script, Some(&program));
    assert!(simulate_jobs(&node, &lending(), &[job], RunOptions::default()).is_ok(), "room for the copies");
}

#[test]
fn an_allocation_of_device_memory_ends_when_what_its_gpu_kept_has_its_copy() {
    let script = overflows(compute(1)).with_buffers(&[(1024, 0), (4, 2)]);
    let program = program(&script, &[Kind::Managed, Kind::Device]);
    let run = |node: &NodeConfig| {
        simulate_jobs(node, &lending(), &[Job::alone(&script, Some(&program))], RunOptions::default())
    };
    let counts = run(&small()).unwrap().summary.manager;
    assert_eq!((counts.evictions_to_spare, counts.written_back, counts.yielded), (8, 8, 8));
    // Without room on the host it waits for ever, and says so.
    let mut node = small();
    node.host.memory.capacity = Bytes(PAGE);
    let error = run(&node).unwrap_err();
    assert!(matches!(error, SimError::HostFullForKept { gpu: 1, kept: 8, .. }), "{error}");
}

/// If another job would begin again until all have ended, the run ends, too: whether an allocation waits or a fault.
#[test]
fn a_job_that_waits_in_vain_ends_a_run_that_others_repeat() {
    let allocates = overflows(compute(1)).with_buffers(&[(1024, 0), (4, 2)]);
    let allocating = program(&allocates, &[Kind::Managed, Kind::Device]);
    let faults = overflows(write(1024..1025));
    let faulting = program(&faults, &[Kind::Managed]);
    let other = Script::on_gpus(1, vec![vec![compute(1), compute(1)]]);
    let repeated = lower(&other, &Lowering::default()).unwrap();
    let mut node = small();
    node.host.memory.capacity = Bytes(2 * PAGE);
    for (script, waits) in [(&allocates, &allocating), (&faults, &faulting)] {
        for again in [None, Some(&repeated)] {
            let jobs = || {
                let waits = Job { program: Some(waits), ..Job::named("waits", script) };
                let again = Job { program: again, ..Job::named("again", &other) };
                [waits, again]
            };
            let timed = simulate_jobs(&node, &lending(), &jobs(), RunOptions::default()).unwrap_err();
            let options =
                InstantOptions { turn: 1, report_lines: None, record_events: false, memory: None, progress: None };
            let instant = run_jobs_at_once(&node, &lending(), &jobs(), options).unwrap_err();
            for error in [timed, instant] {
                assert!(matches!(error, SimError::HostFullForKept { gpu: 1, .. }), "{error}");
                assert!(error.to_string().contains("`waits` on gpu1 has no room"), "{error}");
            }
        }
    }
}

/// Pages that are dealt out at no cost push one another out while accesses wait for their walks.
#[test]
fn accesses_to_more_pages_than_a_gpu_has_frames_are_served() {
    let mut node = node(1);
    node.walker.level = Cycles(4000);
    for frames in [3, 4, 8] {
        node.capacity.bytes = Bytes(frames * PAGE);
        let groups = (0..64).map(|page| vec![[load(page, 0), store(page, 1)].concat()]).collect();
        let result = run(&node, "interleaved", &Script::new(64, vec![groups]));
        let accesses = result.summary.accesses;
        assert_eq!((accesses.load_lines, accesses.store_lines), (64, 64));
    }
}
