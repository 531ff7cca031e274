//! Relations between runs that hold whatever the right numbers are: names have no effect, links only take time, memory
//! for everything is like memory without a limit, and halves of a launch do the work of the whole.

use octavo_program::{Buffer, Cursor, HostSide, Launch, OpSink, Resources, Workload};
use octavo_registry::Options;
use octavo_scenario::{Source, WORKLOADS, WorkloadChoice, resolve};
use octavo_sim::{Job, RunOptions, RunResult, Values, simulate_jobs};
use octavo_units::Time;
use serde_json::Value;

use crate::random::ended;
use crate::support::{memory, node};

/// A workload under other names, and with each launch split into this many parts.
struct Changed {
    inner: Box<dyn Workload>,
    buffers: Vec<Buffer>,
    parts: u32,
}

impl Changed {
    fn new(name: &str, parts: u32, rename: impl Fn(usize, &str) -> String) -> Self {
        let choice = WorkloadChoice { name: name.to_owned(), scale: 0.002, seed: None, options: Options::new() };
        let inner = WORKLOADS.build(&choice.choice(), &choice.size(1)).expect("it is registered");
        let renamed =
            |(index, buffer): (usize, &Buffer)| Buffer { name: rename(index, &buffer.name), ..buffer.clone() };
        let buffers = inner.buffers().iter().enumerate().map(renamed).collect();
        Self { inner, buffers, parts }
    }

    /// The work-groups of a part, from the first on.
    fn groups(&self, index: u32) -> std::ops::Range<u32> {
        let (all, part) = (self.inner.launch(index / self.parts).work_groups, index % self.parts);
        all * part / self.parts..all * (part + 1) / self.parts
    }
}

impl Workload for Changed {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }
    fn launches(&self) -> u32 {
        self.inner.launches() * self.parts
    }
    fn launch(&self, index: u32) -> Launch {
        Launch { work_groups: self.groups(index).len() as u32, ..self.inner.launch(index / self.parts) }
    }
    fn resources(&self, index: u32) -> Resources {
        self.inner.resources(index / self.parts)
    }
    fn code_bytes(&self, index: u32) -> u64 {
        self.inner.code_bytes(index / self.parts)
    }
    fn waits_for_some(&self) -> bool {
        self.inner.waits_for_some()
    }
    fn host_side(&self) -> HostSide {
        HostSide::of_launches(self)
    }
    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        self.inner.fill(launch / self.parts, self.groups(launch).start + group, wavefront, cursor, out);
    }
}

/// Runs a workload under a placement; with little memory, each GPU holds two fifths.
fn run(workload: &dyn Workload, (gpus, placement): (u32, &str), percent: u32) -> RunResult {
    let mut node = node(gpus);
    node.compute.vector_registers = 256;
    node.compute.scalar_registers = 3200;
    node.compute.local_data = octavo_units::Bytes(64 << 10);
    node.capacity.footprint_percent = percent;
    let options = RunOptions { record_events: true, interval: Time(10_000_000), ..RunOptions::default() };
    simulate_jobs(&node, &memory(placement), &[Job::alone(workload, None)], options).expect("it is valid")
}

/// The same with one name for another in all columns; rows of no buffer have none.
fn renamed(mut result: RunResult, rename: impl Fn(&str) -> String) -> RunResult {
    for column in result.tables.iter_mut().flat_map(|table| &mut table.columns) {
        if let (true, Values::Text(texts)) = (column.name == "allocation", &mut column.values) {
            texts.iter_mut().filter(|text| !text.is_empty()).for_each(|text| *text = rename(text));
        }
    }
    result
}

#[test]
fn names_of_buffers_mean_nothing() {
    for placement in ["on-touch", "duplication", "grit", "gps", "interleaved"] {
        // In the other order, too, if names were sorted.
        let rename = |name: &str| format!("{}{name}", char::from(b'z' - name.len() as u8 % 26));
        let plain = run(&Changed::new("fir", 1, |_, name| name.to_owned()), (3, placement), 40);
        let other = run(&Changed::new("fir", 1, |_, name| rename(name)), (3, placement), 40);
        assert!(renamed(plain, rename) == other, "{placement}");
    }
}

#[test]
fn halves_of_a_launch_do_what_the_whole_does() {
    let sums = |parts: u32, name: &str| {
        let result = run(&Changed::new(name, parts, |_, name| name.to_owned()), (1, "on-touch"), 0);
        let accesses = &result.summary.accesses;
        let counts = [accesses.load_lines, accesses.store_lines, accesses.compute_instructions];
        (result.summary.launches, counts, result.summary.manager.migrations, accesses.remote_host_lines)
    };
    for name in ["fir", "vectoradd", "relu", "stencil2d"] {
        let (whole, halves) = (sums(1, name), sums(2, name));
        assert_eq!(halves.0, 2 * whole.0, "{name}");
        assert_eq!((halves.1, halves.2, halves.3), (whole.1, whole.2, whole.3), "{name}");
    }
}

/// Every page comes once where one GPU has room for all and nothing is brought ahead.
#[test]
fn speeds_and_drivers_do_not_change_what_moves_to_one_gpu_with_room() {
    let kernels = ["fir", "bfs-shoc", "histo", "spmv"];
    let ways: [&[&str]; 7] = [
        &[],
        &["node.host_link.bandwidth='1GB/s'"],
        &["node.host_link.latency='20000cycles'", "node.driver.preset='stock-driver'"],
        &["node.driver.service={model='pool', service='45us', servers=3}"],
        &["node.driver.preset='hardware'", "node.clock='300MHz'"],
        &["node.fidelity='page'"],
        &["executor={kind='instant'}", "record.events=true"],
    ];
    for kernel in kernels {
        let moved = |way: &[&str]| {
            let common = ["node.preset='cuda-sm90'", "memory.preset='plain'"].map(str::to_owned).to_vec();
            let workload = vec![format!("workload={{name='{kernel}', scale=0.001}}")];
            let books = ended(&[common, way.iter().map(|way| (*way).to_owned()).collect(), workload].concat());
            let lines = ["load_lines", "store_lines"].map(|key| books.summary["accesses"][key].as_u64());
            let pages = books.copied_pages();
            (lines, pages)
        };
        let first = moved(ways[0]);
        assert!(first.1.values().sum::<u64>() > 0, "{kernel}");
        for way in &ways[1..] {
            assert_eq!(moved(way), first, "{kernel}, {way:?}");
        }
    }
}

/// Without time, speeds change nothing at all.
#[test]
fn speeds_mean_nothing_without_time() {
    let faster = [
        "node.host_link.bandwidth='900GB/s'",
        "node.gpu_link.bandwidth='1GB/s'",
        "node.dram.latency='7cycles'",
        "node.driver.service={model='batch', size=8, batch='1us', request='1us'}",
    ];
    for placement in ["on-touch", "access-counter", "grit", "gps"] {
        let run = |settings: &[&str]| {
            let mut all = vec!["node.preset='grit-4gpu'".to_owned(), format!("memory.placement='{placement}'")];
            all.extend(["executor={kind='instant'}", "record.events=true"].map(str::to_owned));
            all.extend(settings.iter().map(|setting| (*setting).to_owned()));
            all.push("workload={name='stencil2d', scale=0.002}".to_owned());
            ended(&all)
        };
        let (plain, other) = (run(&[]), run(&faster));
        assert!((&plain.summary, &plain.tables) == (&other.summary, &other.tables), "{placement}");
    }
}

#[test]
fn memory_for_everything_is_memory_without_a_limit() {
    for placement in ["on-touch", "first-touch", "access-counter", "interleaved", "grit"] {
        let workload = Changed::new("bfs-shoc", 1, |_, name| name.to_owned());
        let (mut full, none) = (run(&workload, (2, placement), 100), run(&workload, (2, placement), 0));
        assert!(full.summary.capacity_bytes.is_some() && none.summary.capacity_bytes.is_none());
        full.summary.capacity_bytes = None;
        // Lists of what may leave take memory themselves.
        full.summary.manager_state_bytes = none.summary.manager_state_bytes;
        assert!(full == none, "{placement}");
    }
}

/// Two jobs, each with a GPU and data of its own.
fn jobs(order: [usize; 2]) -> Value {
    let texts = [
        "{name='one', gpus=[0], repetitions=1, workload={name='fir', scale=0.002}}",
        "{name='other', gpus=[1], repetitions=1, workload={name='histo', scale=0.002}}",
    ];
    let list = order.map(|job| texts[job]).join(", ");
    let settings = ["node.preset='grit-2gpu'", "memory.placement='on-touch'", "node.capacity.footprint_percent=0"];
    let mut settings: Vec<String> = settings.map(str::to_owned).to_vec();
    settings.push(format!("job=[{list}]"));
    let mut found: Vec<Value> = ended(&settings).summary["jobs"].as_array().expect("there are jobs").clone();
    found.sort_by_key(|job| job["name"].to_string());
    let counts =
        ["name", "repetitions", "faults", "counters", "migrations", "duplications", "evictions", "remote_lines"];
    found.iter().map(|job| counts.map(|key| job[key].clone()).to_vec()).collect::<Vec<_>>().into()
}

#[test]
fn jobs_that_share_nothing_do_the_same_in_any_order() {
    let found = jobs([0, 1]);
    assert_eq!(found, jobs([1, 0]));
    assert!(found[0][4].as_u64() > Some(0) && found[1][4].as_u64() > Some(0), "{found}");
}

/// Recording changes nothing else.
#[test]
fn a_run_does_not_depend_on_what_is_recorded() {
    let run = |events: bool, interval: &str, walks: bool| {
        let settings = [
            "node.preset='grit-4gpu'".to_owned(),
            "memory.placement='grit'".to_owned(),
            format!("record={{events={events}, interval='{interval}', walks={walks}}}"),
            "workload={name='bfs-shoc', scale=0.002}".to_owned(),
        ];
        let source = settings.join("\n");
        let scenario = resolve(Source { name: "test", text: &source }, &[]).expect("it is valid").scenario;
        let parts = scenario.parts().expect("it can be built");
        let options = RunOptions {
            record_events: events,
            interval: scenario.record.interval,
            record_walks: walks,
            ..RunOptions::default()
        };
        let job = Job::alone(parts[0].workload.as_ref(), None);
        let mut result = simulate_jobs(&scenario.node, &scenario.memory, &[job], options).expect("it runs");
        result.summary.simulated_events = 0; // Samples are events, too.
        result
            .tables
            .retain(|table| ["allocations", "page_groups", "links", "kernels", "fault_waits"].contains(&table.name));
        result
    };
    let plain = run(false, "0ns", false);
    assert!(plain == run(true, "3us", true) && plain == run(true, "100us", false));
}
