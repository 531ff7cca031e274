//! Memory of the operating system on a node that is cache-coherent: faults, lines and moves counted by hand.

use octavo_manager::{Huge, MemoryConfig, SystemConfig};
use octavo_node::{CoherenceConfig, DrainScope, GpuMemory, LargeTlbConfig, NodeConfig};
use octavo_program::{Lowering, Program, ProgramKind, Size, Workload, lower};
use octavo_registry::Choice;
use octavo_sim::{Job, RunOptions, RunResult, simulate_jobs};
use octavo_units::{Bytes, Time};
use octavo_workload::WORKLOADS;

use crate::support::*;

const PAGE: u64 = 64 << 10;
/// The kernel's time for a page that a GPU touches first.
const FIRST_TOUCH: u64 = 20_000_000;

fn coherent(gpu_memory: GpuMemory) -> NodeConfig {
    let mut node = node(1);
    node.compute.vector_registers = 256;
    node.compute.scalar_registers = 3200;
    node.compute.local_data = Bytes(64 << 10);
    node.driver.drain = DrainScope::TouchedUnits;
    node.coherence = Some(CoherenceConfig {
        gpu_memory,
        walk: Time(200_000),
        walkers: 8,
        first_touch: Time(FIRST_TOUCH),
        first_touch_cores: 1,
        cpu_latency: Time(800_000),
    });
    node
}

/// Input, which the host writes, and output, which the GPU touches first, have 2 MiB each.
fn kernel() -> Box<dyn Workload> {
    let options = [("elements", 512 << 10)].map(|(key, value): (&str, u64)| (key.to_owned(), value.into()));
    let choice = Choice { name: "relu".to_owned(), options: options.into_iter().collect() };
    WORKLOADS.build(&choice, &Size { scale: 1.0, seed: 1 }).unwrap()
}

fn run(node: &NodeConfig, memory: &MemoryConfig) -> RunResult {
    let workload = kernel();
    let program: Program =
        lower(workload.as_ref(), &Lowering { kind: ProgramKind::System, ..Lowering::default() }).unwrap();
    simulate_jobs(node, memory, &[Job::alone(workload.as_ref(), Some(&program))], RunOptions::default()).unwrap()
}

fn pages_of(bytes: u64) -> MemoryConfig {
    let system = SystemConfig { placement: Choice::named("coherent"), ..SystemConfig::default() };
    MemoryConfig { page_size: Bytes(bytes), system, ..memory("on-touch") }
}

/// 2 MiB.
const BUFFER: u64 = 2 << 20;

#[test]
fn a_gpu_faults_on_what_nobody_has_touched_alone() {
    let result = run(&coherent(GpuMemory::Numa), &pages_of(4 << 10));
    let (accesses, host) = (&result.summary.accesses, result.summary.host.as_ref().unwrap());
    // Pages of 4 KiB, of which counters tell nothing: the host's stay, and are read line by line.
    let pages = BUFFER >> 12;
    assert_eq!((accesses.faults, host.faults), (pages, pages), "output and input, each by who touches it first");
    assert_eq!(
        (accesses.remote_host_lines, host.gpu_lines),
        (BUFFER / 64, BUFFER / 64),
        "and read from the other side"
    );
    assert_eq!(result.summary.manager.migrations, 0);
    let kernels = result.summary.phases.unwrap().kernels_ps;
    assert!(kernels >= pages * FIRST_TOUCH, "the kernel makes one entry after another: {kernels}");
    // Larger pages need fewer.
    let large = run(&coherent(GpuMemory::Numa), &pages_of(PAGE)).summary;
    assert!(large.phases.unwrap().kernels_ps < kernels / 2);
}

#[test]
fn huge_pages_take_one_entry_of_a_gpu_whatever_the_sizing_of_other_memory() {
    let mut node = coherent(GpuMemory::Numa);
    for tlb in [&mut node.l1_tlb, &mut node.l2_tlb] {
        tlb.large = Some(LargeTlbConfig { entries: 4, ways: 4 });
    }
    let mut memory = pages_of(4 << 10);
    let base = run(&node, &memory).summary.accesses;
    assert_eq!(base.l1_tlb_large_hits, 0);
    memory.system.huge_pages = Huge::Always;
    let huge = run(&node, &memory).summary.accesses;
    assert!(huge.l1_tlb_large_hits > 0 && huge.host_translations < base.host_translations, "{huge:?}");
    (memory.sizing, memory.allocator) = (Choice::named("whole-blocks"), Choice::named("chunks"));
    assert_eq!(run(&node, &memory).summary.accesses, huge);
}

#[test]
fn what_is_accessed_often_comes_in_the_background() {
    let result = run(&coherent(GpuMemory::Numa), &pages_of(PAGE));
    let (summary, pages) = (&result.summary, BUFFER / PAGE);
    let counts = &summary.manager;
    assert_eq!((counts.counter_migrations, counts.migrations, counts.far_faults), (pages, pages, 2 * pages));
    // Accesses to a page on its way wait for it: they fault, and find it there.
    assert_eq!(summary.accesses.faults, pages + counts.stale_faults + counts.faults_on_busy_pages);
    // What was read of the input before it came, 256 lines or more for each of 64 KiB.
    let remote_lines = summary.accesses.remote_host_lines;
    assert!((256 * pages..BUFFER / 64).contains(&remote_lines), "{remote_lines}");
    assert_eq!(link_bytes(&result, "host->gpu0", "migration"), BUFFER);
    // The one launch is alone with both; a line has a header of 16 bytes.
    let level = |name| column(&result, "traffic", name);
    assert_eq!((level("from_host_page_bytes"), level("to_host_page_bytes")), (vec![BUFFER], vec![0]));
    assert_eq!(level("from_host_line_bytes"), [remote_lines * (64 + 16)], "loads are answered");
    assert_eq!(level("to_host_line_bytes"), [remote_lines * 16], "and were asked for");
    assert_eq!(level("lpddr_read_bytes"), [remote_lines * 64 + BUFFER], "lines that are loaded, and pages that leave");
    assert_eq!(level("lpddr_written_bytes"), [0], "what is stored to is on the GPU");
}

#[test]
fn memory_that_only_the_driver_manages_takes_no_page_of_the_system() {
    let summary = run(&coherent(GpuMemory::Cdmm), &pages_of(PAGE)).summary;
    assert_eq!(summary.manager.migrations, 0);
    assert_eq!(summary.accesses.remote_host_lines, 2 * BUFFER / 64, "input and output are on the host");
    assert_eq!(summary.host.unwrap().gpu_lines, 0);
}
