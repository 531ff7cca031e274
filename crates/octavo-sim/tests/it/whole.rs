//! Whole programs: allocation, the host's phases, copies, launches and frees, held to sums by hand.

use octavo_manager::{Advice, Kind, ProcessorId, ProcessorMask};
use octavo_node::StagingConfig;
use octavo_program::{
    Action, ActionId, BufferId, Lowering, Ordered, Program, ProgramBuilder, ProgramKind, Size, Span, Workload, lower,
};
use octavo_registry::Choice;
use octavo_sim::{Job, Phases, Repeat, RunOptions, RunResult, Values, simulate_jobs};
use octavo_units::Bandwidth;
use octavo_workload::WORKLOADS;

use crate::support::*;

/// The eight kernels of the GRIT study.
const KERNELS: [&str; 8] =
    ["bfs-shoc", "bitonicsort", "c2d", "fir", "gemm", "matrixmultiplication", "simpleconvolution", "stencil2d"];

/// Times of the test node: a call, a chunk of GPU memory, a pinned page, an unmapped page, a copy's call; picoseconds.
const CALL: u64 = 1_000_000;
const CHUNK: u64 = 10_000_000;
const PIN: u64 = 1_000_000;
const COPY_CALL: u64 = 5_000_000;
/// Picoseconds a byte takes on the host link of 32 GB/s, in thousandths.
const LINK_BYTE_MILLI: u64 = 31_250;
/// Picoseconds from one end of it to the other.
const LINK_LATENCY: u64 = 500_000;

fn kernel(name: &str) -> Box<dyn Workload> {
    WORKLOADS.build(&Choice::named(name), &Size { scale: 0.002, seed: 1 }).unwrap()
}

fn lowered(workload: &dyn Workload, kind: ProgramKind) -> Program {
    lower(workload, &Lowering { kind, ..Lowering::default() }).unwrap()
}

fn run_whole(workload: &dyn Workload, program: &Program, gpus: u32) -> RunResult {
    let job = Job::alone(workload, Some(program));
    simulate_jobs(&roomy(gpus), &memory("on-touch"), &[job], RunOptions::default()).unwrap()
}

/// The test node with units large enough for all kernels.
fn roomy(gpus: u32) -> octavo_node::NodeConfig {
    let mut node = node(gpus);
    node.compute.vector_registers = 256;
    node.compute.scalar_registers = 3200;
    node.compute.local_data = octavo_units::Bytes(64 << 10);
    node
}

/// Duration, phase and name of each action.
fn actions(result: &RunResult) -> Vec<(String, String, u64)> {
    let table = result.tables.iter().find(|table| table.name == "phases").unwrap();
    let column = |name: &str| &table.columns.iter().find(|column| column.name == name).unwrap().values;
    let times = |name: &str| match column(name) {
        Values::U64(values) => values.clone(),
        other => panic!("{other:?}"),
    };
    let texts = |name: &str| match column(name) {
        Values::Text(values) => values.clone(),
        other => panic!("{other:?}"),
    };
    let spans = times("began_ps").into_iter().zip(times("ended_ps")).map(|(began, ended)| ended - began);
    let labels = texts("phase").into_iter().zip(texts("name"));
    labels.zip(spans).map(|((phase, name), time)| (phase, name, time)).collect()
}

fn sum(phases: &Phases) -> u64 {
    phases.allocation_ps
        + phases.host_initialisation_ps
        + phases.copies_ps
        + phases.kernels_ps
        + phases.host_results_ps
        + phases.deallocation_ps
}

#[test]
fn phases_of_a_chain_add_up_to_the_time_of_the_run() {
    for kind in ProgramKind::ALL {
        let workload = kernel("fir");
        let result = run_whole(workload.as_ref(), &lowered(workload.as_ref(), kind), 2);
        let phases = result.summary.phases.unwrap();
        assert_eq!(sum(&phases), result.summary.time_ps, "{}: {phases:?}", kind.name());
        assert!(phases.kernels_ps > 0 && phases.host_initialisation_ps > 0 && phases.deallocation_ps > 0, "{phases:?}");
        assert_eq!(phases.copies_ps > 0, kind == ProgramKind::Explicit, "{}", kind.name());
    }
}

#[test]
fn explicit_copies_take_a_call_and_their_bytes_over_the_links() {
    for name in KERNELS {
        let workload = kernel(name);
        for gpus in [1, 2] {
            let program = lowered(workload.as_ref(), ProgramKind::Explicit);
            let result = run_whole(workload.as_ref(), &program, gpus);
            let (mut copies, mut bytes) = (0, 0);
            for ordered in program.actions() {
                if let octavo_program::Action::Copy { to, .. } = &ordered.action {
                    copies += 1;
                    bytes += to.len();
                }
            }
            // Each GPU's link carries its share, the largest of which is at most a page more than the others'.
            let found = result.summary.phases.unwrap().copies_ps;
            let share = bytes / u64::from(gpus);
            let least = copies * (COPY_CALL + LINK_LATENCY) + share * LINK_BYTE_MILLI / 1000;
            // Beside it, for each copy: memory of the host and the GPU fill and empty the pipeline, and a page more.
            let most = least + copies * (10_000_000 + 4096 * LINK_BYTE_MILLI / 1000);
            assert!((least..=most).contains(&found), "{name} on {gpus}: {found}, expected {least} to {most}");
            assert_eq!(result.summary.accesses.faults, 0, "{name}: device memory never faults");
            assert_eq!(result.summary.manager.migrations, 0, "{name}");
        }
    }
}

/// Inputs and outputs are ordinary memory: one core copies them to and from pinned memory, slower than the link.
#[test]
fn copies_of_ordinary_memory_are_as_fast_as_they_are_staged() {
    let workload = kernel("matrixmultiplication");
    let program = lowered(workload.as_ref(), ProgramKind::Explicit);
    let copies = |staging: StagingConfig| {
        let mut node = roomy(1);
        node.host.costs.staging = staging;
        let job = Job::alone(workload.as_ref(), Some(&program));
        let result = simulate_jobs(&node, &memory("on-touch"), &[job], RunOptions::default()).unwrap();
        result.summary.phases.unwrap().copies_ps
    };
    let (mut inward, mut outward, mut calls) = (0, 0, 0);
    for ordered in program.actions() {
        if let Action::Copy { from, to } = &ordered.action {
            calls += 1;
            match program.buffers()[to.buffer.index()].kind {
                Kind::Device => inward += to.len(),
                _ => outward += from.len(),
            }
        }
    }
    // 4 GB/s and 2 GB/s: 250 and 500 ps a byte, where the link takes 31.
    let slow = copies(StagingConfig { to_gpu: Bandwidth(4_000_000_000), to_host: Bandwidth(2_000_000_000) });
    let expected = inward * 250 + outward * 500 + calls * (COPY_CALL + LINK_LATENCY);
    // The last piece still passes the link and memories.
    assert!((expected..expected + calls * 10_000_000).contains(&slow), "{slow}, expected {expected}");
    let fast = copies(StagingConfig { to_gpu: Bandwidth(1 << 50), to_host: Bandwidth(1 << 50) });
    assert!(fast.abs_diff(copies(StagingConfig::default())) <= calls * 1_000_000, "{fast}");
}

#[test]
fn the_driver_is_paid_for_faults_of_cores_on_pages_of_gpus_alone() {
    const DRIVER: u64 = 7_000_000;
    let workload = kernel("fir");
    let program = lowered(workload.as_ref(), ProgramKind::Managed);
    let run = |driver: u64| {
        let mut node = roomy(1);
        node.host.costs.driver_fault = octavo_units::Time(driver);
        let job = Job::alone(workload.as_ref(), Some(&program));
        simulate_jobs(&node, &memory("on-touch"), &[job], RunOptions::default()).unwrap().summary
    };
    let (free, paid) = (run(0), run(DRIVER));
    let (free, paid) = (free.phases.unwrap(), paid.phases.unwrap());
    assert_eq!(free.host_initialisation_ps, paid.host_initialisation_ps, "these pages are nowhere yet");
    // One thread reads the results, so that no two faults overlap.
    let side = workload.host_side();
    let outputs = workload.buffers().iter().zip(side.roles()).filter(|(_, role)| role.output);
    let pages: u64 = outputs.map(|(buffer, _)| buffer.bytes.div_ceil(4096)).sum();
    let longer = paid.host_results_ps - free.host_results_ps;
    assert!(longer.abs_diff(pages * DRIVER) < pages * 100_000, "{longer} for {pages} pages");
}

#[test]
fn explicit_programs_allocate_and_free_by_chunks() {
    let workload = kernel("matrixmultiplication");
    let result = run_whole(workload.as_ref(), &lowered(workload.as_ref(), ProgramKind::Explicit), 1);
    for buffer in workload.buffers() {
        let expected = CALL + buffer.bytes.div_ceil(2 << 20) * CHUNK;
        for phase in ["allocation", "deallocation"] {
            let all = actions(&result);
            let found = all.iter().find(|(found, name, _)| found == phase && *name == buffer.name).unwrap().2;
            assert!((expected..expected + 2_000_000).contains(&found), "{phase} of {}: {found}", buffer.name);
        }
    }
}

#[test]
fn pinned_memory_is_read_over_the_host_link_and_never_faults() {
    for name in KERNELS {
        let workload = kernel(name);
        let result = run_whole(workload.as_ref(), &lowered(workload.as_ref(), ProgramKind::Pinned), 1);
        let (accesses, phases) = (&result.summary.accesses, result.summary.phases.unwrap());
        assert_eq!((accesses.faults, result.summary.manager.migrations), (0, 0), "{name}");
        assert_eq!(accesses.dram_reads + accesses.dram_writes, 0, "{name}: nothing lies in GPU memory");
        assert!(accesses.remote_host_lines > 0, "{name}");
        // A line, with its header and the request's: at least its 64 bytes pass the link.
        let least = accesses.remote_host_lines * 64 * LINK_BYTE_MILLI / 1000 / 2;
        assert!(phases.kernels_ps >= least, "{name}: {} is less than {least}", phases.kernels_ps);
        let pages: u64 = workload.buffers().iter().map(|buffer| buffer.bytes.div_ceil(4096)).sum();
        let buffers = workload.buffers().len() as u64;
        let zeroing = workload.buffers().iter().map(|buffer| buffer.bytes / 8 * 1000).sum::<u64>();
        let expected = buffers * CALL + pages * PIN + zeroing;
        let found = phases.allocation_ps;
        assert!((expected..=expected + buffers * 2_000_000).contains(&found), "{name}: {found}, not {expected}");
    }
}

#[test]
fn the_host_touches_every_line_of_its_inputs_and_outputs_once() {
    for kind in ProgramKind::ALL {
        let workload = kernel("fir");
        let result = run_whole(workload.as_ref(), &lowered(workload.as_ref(), kind), 1);
        let host = result.summary.host.unwrap();
        let side = workload.host_side();
        let lines = |wanted: fn(&octavo_program::Role) -> bool| -> u64 {
            let buffers = workload.buffers().iter().zip(side.roles());
            buffers.filter(|(_, role)| wanted(role)).map(|(buffer, _)| buffer.bytes.div_ceil(64)).sum()
        };
        assert_eq!(host.store_lines, lines(|role| role.input), "{}", kind.name());
        assert_eq!(host.load_lines, lines(|role| role.output), "{}", kind.name());
    }
}

#[test]
fn managed_pages_go_to_the_gpu_and_back_to_the_host_that_reads_them() {
    let workload = kernel("fir");
    let result = run_whole(workload.as_ref(), &lowered(workload.as_ref(), ProgramKind::Managed), 1);
    let links = result.tables.iter().find(|table| table.name == "links").unwrap();
    let moved = |link: usize| match &links.columns.iter().find(|column| column.name == "migration").unwrap().values {
        Values::U64(values) => values[link],
        other => panic!("{other:?}"),
    };
    let side = workload.host_side();
    let bytes = |wanted: fn(&octavo_program::Role) -> bool| -> u64 {
        let buffers = workload.buffers().iter().zip(side.roles());
        buffers.filter(|(_, role)| wanted(role)).map(|(buffer, _)| buffer.bytes.next_multiple_of(4096)).sum()
    };
    // The first row is gpu0->host, the second host->gpu0. What the kernel alone writes is not copied in.
    assert_eq!(moved(1), bytes(|role| role.input), "inputs go to the GPU");
    assert_eq!(moved(0), bytes(|role| role.output), "outputs come back");
}

/// The managed program of a workload with an action for each of its buffers before the first launch.
fn before_launch(workload: &dyn Workload, action: impl Fn(Span) -> Action) -> Program {
    let plain = lowered(workload, ProgramKind::Managed);
    let mut builder = ProgramBuilder::default();
    for buffer in plain.buffers() {
        builder.buffer(buffer.buffer.clone(), buffer.kind, buffer.spread);
    }
    let mut launched = false;
    for ordered in plain.actions() {
        if !launched && matches!(ordered.action, Action::Launch { .. }) {
            launched = true;
            for (index, buffer) in workload.buffers().iter().enumerate() {
                builder.then(action(Span { buffer: BufferId(index as u32), bytes: 0..buffer.bytes }));
            }
        }
        builder.then(ordered.action.clone());
    }
    builder.build(workload.launches()).unwrap()
}

#[test]
fn prefetched_inputs_do_not_fault() {
    let workload = kernel("fir");
    let plain = run_whole(workload.as_ref(), &lowered(workload.as_ref(), ProgramKind::Managed), 1);
    let program = before_launch(workload.as_ref(), |span| Action::Prefetch { span, to: ProcessorId::gpu(0) });
    let brought = run_whole(workload.as_ref(), &program, 1);
    let inputs: u64 = workload
        .buffers()
        .iter()
        .zip(workload.host_side().roles())
        .filter(|(_, role)| role.input)
        .map(|(buffer, _)| buffer.bytes.div_ceil(4096))
        .sum();
    assert!(brought.summary.manager.prefetched >= inputs, "{} of {inputs}", brought.summary.manager.prefetched);
    assert!(brought.summary.accesses.faults + inputs <= plain.summary.accesses.faults);
}

#[test]
fn pages_that_a_gpu_is_advised_to_access_stay_on_the_host() {
    let workload = kernel("fir");
    let advice = Advice { accessed_by: ProcessorMask::only(ProcessorId::gpu(0)), ..Advice::default() };
    let program = before_launch(workload.as_ref(), |span| Action::Advise { span, advice });
    let result = run_whole(workload.as_ref(), &program, 1);
    assert!(result.summary.accesses.remote_host_lines > 0, "inputs are read where they are");
    assert!(actions(&result).iter().any(|(phase, _, time)| phase == "other" && *time == CALL), "the call costs");
}

/// Two launches write four pages each, and what the first wrote is discarded in between.
#[test]
fn discarded_pages_are_not_written_back() {
    let (pages, page) = (8, 4096);
    let stores = |first: u64| (first..first + 4).flat_map(|at| store(at, 0)).collect::<Vec<_>>();
    let script = Script::sequence(pages, vec![stores(0), stores(4)]);
    let whole = |discard: bool| {
        let mut builder = ProgramBuilder::default();
        let buffer = builder.buffer(script.buffers()[0].clone(), Kind::Managed, Default::default());
        builder.then(Action::Allocate(buffer));
        builder.then(Action::Launch { launch: 0, buffers: [buffer].into() });
        // What is left of the fourth page, and of the fifth, is needed.
        let span = |end| Span { buffer, bytes: 0..end };
        let discards = [span(4 * page - 1), span(4 * page + 1)];
        discards.into_iter().filter(|_| discard).for_each(|span| _ = builder.then(Action::Discard(span)));
        builder.then(Action::Launch { launch: 1, buffers: [buffer].into() });
        builder.then(Action::Free(buffer));
        builder.build(2).unwrap()
    };
    let mut node = node(1);
    node.capacity.bytes = octavo_units::Bytes(4 * page);
    let written = |discard| {
        let program = whole(discard);
        let job = Job::alone(&script, Some(&program));
        let result = simulate_jobs(&node, &memory("on-touch"), &[job], RunOptions::default()).unwrap();
        let manager = &result.summary.manager;
        (link_bytes(&result, "gpu0->host", "eviction"), manager.discarded, manager.populated)
    };
    assert_eq!(written(false), (4 * page, 0, 8));
    assert_eq!(written(true), (0, 4, 8));
}

/// The first call that needs a GPU takes the longer: an allocation, or the first launch where memory is `malloc`'s.
#[test]
fn a_context_is_created_where_a_kind_of_memory_first_needs_it() {
    // Whole cycles and whole turns of the links, so that what follows is only later.
    const CONTEXT: u64 = (1 << 20) * 1_000_000;
    let workload = kernel("fir");
    for (kind, before, after) in [
        (ProgramKind::Explicit, "host-initialisation", "allocation"),
        (ProgramKind::Managed, "", "allocation"),
        (ProgramKind::Pinned, "", "allocation"),
        (ProgramKind::System, "host-initialisation", "kernel"),
    ] {
        let program = lowered(workload.as_ref(), kind);
        let job = || [Job::alone(workload.as_ref(), Some(&program))];
        let mut node = roomy(1);
        let run = |node: &octavo_node::NodeConfig| {
            simulate_jobs(node, &memory("on-touch"), &job(), RunOptions::default()).unwrap()
        };
        let plain = run(&node);
        node.host.costs.context = octavo_units::Time(CONTEXT);
        let with = run(&node);
        assert_eq!(with.summary.time_ps, plain.summary.time_ps + CONTEXT, "{}", kind.name());
        assert_eq!(plain.summary.phases.unwrap().context_ps, None);
        assert_eq!(with.summary.phases.unwrap().context_ps, Some(CONTEXT));
        let mut rows = actions(&with);
        let place = rows.iter().position(|(phase, ..)| phase == "context").unwrap();
        assert_eq!(place.checked_sub(1).map_or("", |before| &rows[before].0), before, "{}", kind.name());
        assert_eq!(rows[place + 1].0, after, "{}", kind.name());
        rows.remove(place);
        assert_eq!(rows, actions(&plain), "nothing else takes longer: {}", kind.name());
    }
}

/// The chain of a program's actions without those that make or free a buffer.
fn without_lifetimes(program: &Program) -> Program {
    let kept =
        program.actions().iter().filter(|ordered| !matches!(ordered.action, Action::Allocate(_) | Action::Free(_)));
    let chain = kept.enumerate().map(|(place, ordered)| {
        let after = place.checked_sub(1).map(|before| ActionId(before as u32)).into_iter().collect();
        Ordered { action: ordered.action.clone(), after }
    });
    Program::new(program.buffers().to_vec(), chain.collect(), 1).unwrap()
}

#[test]
fn buffers_that_nobody_allocates_are_there_from_the_start_and_gone_before_the_job_begins_anew() {
    let workload = kernel("fir");
    for kind in ProgramKind::ALL {
        let whole = lowered(workload.as_ref(), kind);
        let loaded = without_lifetimes(&whole);
        assert_eq!((loaded.loaded().count(), whole.loaded().count()), (whole.buffers().len(), 0), "{}", kind.name());
        let (once, full) = (run_whole(workload.as_ref(), &loaded, 2), run_whole(workload.as_ref(), &whole, 2));
        let phases = once.summary.phases.unwrap();
        assert_eq!((phases.allocation_ps, phases.deallocation_ps), (0, 0));
        assert_eq!(once.summary.accesses.faults, full.summary.accesses.faults, "{}", kind.name());

        let job = Job { repeat: Repeat::Times(2), ..Job::alone(workload.as_ref(), Some(&loaded)) };
        let twice = simulate_jobs(&roomy(2), &memory("on-touch"), &[job], RunOptions::default()).unwrap();
        let (first, both) = (once.summary.accesses.faults, twice.summary.accesses.faults);
        // Other times shift a few of the faults of managed memory, which two GPUs compete for.
        assert!(both.abs_diff(2 * first) * 10 <= first, "{}: {both}, a new process has nothing yet", kind.name());
    }
}
