//! Programs of a scenario: kernels so small that a run takes milliseconds, and the actions around them.

use octavo_program::Workload;
use octavo_registry::Options;
use octavo_scenario::{WORKLOADS, WorkloadChoice};

use super::choice::any;
use super::draw::Draw;
use super::scenario::Drawn;

use octavo_manager::{EVICTIONS, PLACEMENTS, PREFETCHERS};

/// A buffer's footprint at most, in bytes; chosen so that hundreds of runs take seconds.
const MOST_BYTES: u64 = 600 << 10;
/// Work-groups of a program at most.
const MOST_GROUPS: u64 = 400;
/// Programs that need a file.
const FROM_FILES: [&str; 2] = ["step", "trace"];

/// A workload and its scale, as TOML writes it, and itself.
struct Kernel {
    text: String,
    workload: Box<dyn Workload>,
}

/// A kernel as small as it needs to be.
fn kernel(draw: &mut Draw) -> Kernel {
    let names: Vec<&str> = WORKLOADS.names().filter(|name| !FROM_FILES.contains(name)).collect();
    loop {
        let name = draw.one(&names);
        let mut scale = draw.one(&[0.0005, 0.001, 0.002, 0.004]);
        for _ in 0..6 {
            let choice = WorkloadChoice { name: name.to_owned(), scale, seed: None, options: Options::new() };
            let built = WORKLOADS.build(&choice.choice(), &choice.size(1));
            if let Ok(workload) = built
                && is_small(workload.as_ref())
            {
                return Kernel { text: format!("{{ name = '{name}', scale = {scale} }}"), workload };
            }
            scale /= 3.0;
        }
    }
}

fn is_small(workload: &dyn Workload) -> bool {
    let groups: u64 = (0..workload.launches()).map(|launch| u64::from(workload.launch(launch).work_groups)).sum();
    workload.footprint() <= MOST_BYTES && groups <= MOST_GROUPS
}

/// A program that has the node to itself.
pub fn alone(drawn: &mut Drawn, draw: &mut Draw) {
    let kernel = kernel(draw);
    let gpus = drawn.resolved_gpus();
    for (key, value) in around(&kernel, gpus, draw) {
        drawn.set(&format!("program.{key}"), value);
    }
    drawn.set("workload", kernel.text);
}

/// The actions around the launches of a kernel: keys below `program`, and their values.
fn around(kernel: &Kernel, gpus: u32, draw: &mut Draw) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    if draw.chance(40) {
        return settings;
    }
    let mut set = |key: String, value: &str| settings.push((key, value.to_owned()));
    set("kind".to_owned(), draw.one(&["'explicit'", "'managed'", "'managed'", "'pinned'", "'system'"]));
    if draw.chance(20) {
        set("devices".to_owned(), draw.one(&["'interleaved'", "'split'"]));
    }
    if draw.chance(20) {
        set("host_threads".to_owned(), draw.one(&["2", "4"]));
    }
    for buffer in kernel.workload.buffers() {
        if draw.chance(20) {
            set(format!("buffers.\"{}\"", buffer.name), &said(gpus, draw));
        }
    }
    settings
}

/// The settings of a program for a buffer: its kind, or advice.
fn said(gpus: u32, draw: &mut Draw) -> String {
    let processor = |draw: &mut Draw| match draw.below(gpus as usize + 1) {
        0 => "host".to_owned(),
        gpu => format!("gpu{}", gpu - 1),
    };
    let one = processor(draw);
    match draw.below(8) {
        0 => format!("{{ kind = '{}' }}", draw.one(&["device", "managed", "pinned", "system"])),
        1 => format!("{{ preferred = '{one}' }}"),
        2 => format!("{{ preferred = '{one}', accessed_by = ['{}'] }}", processor(draw)),
        3 => format!("{{ accessed_by = ['{one}'] }}"),
        4 => "{ read_mostly = true }".to_owned(),
        5 => format!("{{ prefetch = '{one}', prefetch_before = 'each-launch' }}"),
        6 => format!("{{ discard_before = '{}' }}", draw.one(&["each-launch", "host-writes"])),
        _ => "{ populate = true }".to_owned(),
    }
}

/// Two or three programs side by side.
pub fn jobs(drawn: &mut Drawn, gpus: u32, draw: &mut Draw) {
    let jobs: Vec<String> = (0..2 + draw.below(2)).map(|number| job(number, gpus, draw)).collect();
    drawn.set("job", format!("[{}]", jobs.join(", ")));
}

fn job(number: usize, gpus: u32, draw: &mut Draw) -> String {
    let kernel = kernel(draw);
    let mut text = format!("{{ name = 'job{number}', workload = {}", kernel.text);
    if gpus > 1 && draw.chance(70) {
        let first = draw.below(gpus as usize);
        let second = draw.below(gpus as usize);
        let list = if first == second { first.to_string() } else { format!("{first}, {second}") };
        text += &format!(", gpus = [{list}]");
    }
    if draw.chance(30) {
        text += &format!(", repetitions = {}", draw.one(&[1, 2, 3]));
    } else if number > 0 && draw.chance(30) {
        text += ", until = 'job0'";
    } else if number == 0 {
        text += ", repetitions = 1";
    }
    if draw.chance(20) {
        text += ", start = '5us'";
    }
    if draw.chance(5) {
        text += ", idle = true";
    }
    if draw.chance(30) {
        text += &format!(", program = {{ kind = {} }}", draw.one(&["'explicit'", "'managed'", "'pinned'", "'system'"]));
    }
    if draw.chance(15) {
        text += &format!(", memory = {{ placement = {} }}", any(&PLACEMENTS, draw));
    } else if draw.chance(10) {
        let (prefetch, eviction) = (any(&PREFETCHERS, draw), any(&EVICTIONS, draw));
        text += &format!(", memory = {{ prefetch = {prefetch}, eviction = {eviction} }}");
    }
    text + " }"
}
