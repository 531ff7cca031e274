//! The recorded events give the place of every page: followed from the start, they lead to the samples' counts.

use crate::support::{Script, combinations, node};
use octavo_manager::{Kind, MemoryConfig, Spread};
use octavo_program::{Action, Op, ProgramBuilder, Span, Workload as _};
use octavo_sim::{Job, RunOptions, RunResult, Table, Values, simulate, simulate_jobs};
use octavo_units::Time;

const PAGES: u64 = 48;
const PAGE_BYTES: u64 = 4096;
const GPUS: usize = 3;

/// Loads and stores of a GPU on pages that it shares with the others.
fn accesses(gpu: u64) -> impl Iterator<Item = Op> {
    (0..500).flat_map(move |step| {
        let line = (step * 7 + gpu * 5) % PAGES * 64 + step % 60;
        [if (step + gpu).is_multiple_of(4) { Op::store(line, 2) } else { Op::load(line, 3) }, Op::WAIT]
    })
}

/// Loads and stores of all GPUs on the same pages, and time at the end for work still in progress.
fn script() -> Script {
    let wavefront = |gpu: u64| accesses(gpu).chain(std::iter::repeat_n(Op::compute(1000), 2000)).collect::<Vec<_>>();
    Script::new(PAGES, vec![(0..GPUS as u64).map(|gpu| vec![wavefront(gpu)]).collect()])
}

fn run(memory: &MemoryConfig, events: bool) -> RunResult {
    let mut node = node(GPUS as u32);
    node.capacity.footprint_percent = 60;
    let options = RunOptions { record_events: events, interval: Time(1_000_000_000), ..RunOptions::default() };
    simulate(&node, memory, &script(), options).unwrap_or_else(|error| panic!("{memory:?}: {error}"))
}

fn table<'a>(result: &'a RunResult, name: &str) -> &'a Table {
    result.tables.iter().find(|table| table.name == name).expect("recorded")
}

fn values<'a>(table: &'a Table, name: &str) -> &'a Values {
    &table.columns.iter().find(|column| column.name == name).expect("a column").values
}

fn numbers<'a>(table: &'a Table, name: &str) -> &'a [u64] {
    let Values::U64(numbers) = values(table, name) else { panic!("{name} holds numbers") };
    numbers
}

/// Kind, pages, source and target of every event up to a time, in order.
fn events(result: &RunResult, until: u64) -> Vec<(&'static str, std::ops::Range<usize>, usize, usize)> {
    let table = table(result, "events");
    let Values::Category { codes, names } = values(table, "kind") else { panic!("kinds are names") };
    let columns = ["address", "pages", "from", "to"].map(|name| numbers(table, name));
    let before = numbers(table, "time_ps").partition_point(|&time| time <= until);
    let rows = codes[..before].iter().enumerate().map(|(row, &code)| {
        let [address, pages, from, to] = columns.map(|column| column[row] as usize);
        let first = address / PAGE_BYTES as usize;
        (names[code as usize], first..first + pages, from, to)
    });
    rows.collect()
}

/// Bytes that each processor holds, if the events up to a time are followed from pages that are all on the host.
fn followed(result: &RunResult, until: u64) -> Vec<u64> {
    let mut holders = vec![1u32; PAGES as usize];
    for (kind, pages, from, to) in events(result, until) {
        for page in pages {
            let holder = &mut holders[page];
            match kind {
                "migration" | "write_collapse" | "eviction" | "prefetch" | "placed" => {
                    *holder = *holder & !(1 << from) | 1 << to;
                }
                "duplication" => *holder |= 1 << to,
                "discard" => *holder &= !(1 << from),
                _ => {}
            }
        }
    }
    let held = |processor: usize| holders.iter().filter(|&&mask| mask >> processor & 1 != 0).count() as u64;
    (0..=GPUS).map(|processor| held(processor) * PAGE_BYTES).collect()
}

#[test]
fn events_lead_to_the_memory_that_was_sampled() {
    for memory in combinations() {
        let result = run(&memory, true);
        let samples = table(&result, "memory_intervals");
        // The last sample but one: everything is quiet, and what the end of the kernel gives up is yet to come.
        let from = numbers(samples, "bytes").len() - 2 * (GPUS + 1);
        let sampled = &numbers(samples, "bytes")[from..from + GPUS + 1];
        assert_eq!(followed(&result, numbers(samples, "time_ps")[from]), sampled, "{memory:?}");
    }
}

/// Launches of all GPUs on the same pages, all of which are discarded in between: pages of a program that begin nowhere.
fn discarding(memory: &MemoryConfig) -> RunResult {
    let launch = |_| (0..GPUS as u64).map(|gpu| vec![accesses(gpu).take(400).collect()]).collect();
    let script = Script::new(PAGES, (0..2).map(launch).collect());
    let mut program = ProgramBuilder::default();
    let buffer = program.buffer(script.buffers()[0].clone(), Kind::Managed, Spread::default());
    program.then(Action::Allocate(buffer));
    program.then(Action::Launch { launch: 0, buffers: [buffer].into() });
    program.then(Action::Discard(Span { buffer, bytes: 0..PAGES * PAGE_BYTES }));
    program.then(Action::Launch { launch: 1, buffers: [buffer].into() });
    let program = program.build(2).unwrap();
    let mut node = node(GPUS as u32);
    node.capacity.footprint_percent = 60;
    let options = RunOptions { record_events: true, ..RunOptions::default() };
    let job = Job::alone(&script, Some(&program));
    simulate_jobs(&node, memory, &[job], options).unwrap_or_else(|error| panic!("{memory:?}: {error}"))
}

#[test]
fn pages_that_are_discarded_are_nowhere_until_they_are_placed() {
    for memory in combinations().step_by(7) {
        let result = discarding(&memory);
        let (mut holders, mut discarded) = (vec![0u32; PAGES as usize], 0);
        for (kind, pages, from, to) in events(&result, u64::MAX) {
            for page in pages {
                let holder = &mut holders[page];
                let held = *holder >> from & 1 != 0;
                match kind {
                    "placed" => *holder = *holder & !(1 << from) | 1 << to,
                    "migration" | "write_collapse" | "eviction" | "prefetch" | "duplication" => {
                        assert!(held, "{kind} of page {page} from {from}: {memory:?}");
                        *holder = *holder & !(u32::from(kind != "duplication") << from) | 1 << to;
                    }
                    "discard" => {
                        assert!(held, "page {page} at {from}: {memory:?}");
                        *holder &= !(1 << from);
                        discarded += u64::from(*holder == 0);
                    }
                    _ => {}
                }
            }
        }
        // What is left at the end is given back, too.
        let manager = &result.summary.manager;
        assert!(manager.discarded <= discarded && manager.discarded <= PAGES, "{memory:?}");
        let by_decree = ["ideal", "gps"].contains(&memory.placement.name.as_str());
        assert!(
            manager.discarded == PAGES || by_decree || memory.guard.name != "none",
            "{memory:?}: {}",
            manager.discarded
        );
    }
}

#[test]
fn schemes_of_the_events_are_those_counted_at_the_end() {
    let memory = crate::support::memory("grit");
    let result = run(&memory, true);
    let mut schemes = vec![""; PAGES as usize];
    for (kind, pages, ..) in events(&result, u64::MAX) {
        if let Some(scheme) = kind.strip_prefix("scheme_") {
            schemes[pages].fill(scheme);
        }
    }
    let count = |name| schemes.iter().filter(|&&scheme| scheme == name).count() as u64;
    for (name, scheme) in
        [("none", ""), ("on_touch", "on_touch"), ("access_counter", "access_counter"), ("duplication", "duplication")]
    {
        let counted = result.summary.manager.named(&format!("pages_by_scheme.{name}"));
        assert_eq!(counted, Some(count(scheme)), "{name}");
    }
    assert!(count("on_touch") < PAGES, "the script makes GRIT change its mind");
}

#[test]
fn samples_add_up_to_the_totals() {
    let memory = crate::support::memory("access-counter");
    let result = run(&memory, true);
    let (accesses, manager) = (&result.summary.accesses, &result.summary.manager);
    for (name, total) in [
        ("lines", accesses.load_lines + accesses.store_lines),
        ("translations", accesses.translations),
        ("l1_tlb_hits", accesses.l1_tlb_hits),
        ("walks", accesses.walks),
        ("remote_gpu_lines", accesses.remote_gpu_lines),
        ("remote_host_lines", accesses.remote_host_lines),
        ("remote_maps", manager.remote_maps),
        ("evictions", manager.evictions_written + manager.evictions_dropped),
    ] {
        assert_eq!(numbers(table(&result, "intervals"), name).iter().sum::<u64>(), total, "{name}");
    }
    assert!(accesses.remote_host_lines > 0 && manager.remote_maps > 0);
}

#[test]
fn recording_events_changes_nothing_else() {
    let memory = crate::support::memory("grit");
    let (mut with, without) = (run(&memory, true), run(&memory, false));
    let recorded = with.tables.len();
    with.tables.retain(|table| table.name != "events");
    assert_eq!(with.tables.len() + 1, recorded);
    assert_eq!(with, without);
}

/// Every walk has a page, and counting them changes nothing else.
#[test]
fn walks_are_counted_once_by_the_scheme_of_their_page() {
    let mut node = node(GPUS as u32);
    node.capacity.footprint_percent = 60;
    // A TLB that holds little, so that there are walks beside faults.
    (node.l2_tlb.entries, node.l2_tlb.ways) = (4, 4);
    let with = |record_walks| {
        let options = RunOptions { record_walks, ..RunOptions::default() };
        simulate(&node, &crate::support::memory("grit"), &script(), options).unwrap()
    };
    let (plain, counted) = (with(false), with(true));
    assert_eq!(serde_json::to_value(&plain.summary).unwrap(), serde_json::to_value(&counted.summary).unwrap());
    assert!(plain.tables.iter().all(|table| table.name != "walks"));
    let walks = numbers(table(&counted, "walks"), "walks");
    assert_eq!(walks.iter().sum::<u64>(), counted.summary.accesses.walks);
    assert!(walks.iter().filter(|&&count| count > 0).count() > 2, "{walks:?}");
}
