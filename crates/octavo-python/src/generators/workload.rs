//! A generated workload: what it has is known, what its wavefronts do is generated when somebody asks.

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use octavo_program::{Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload};
use octavo_registry::Choice;
use octavo_trace::{Layout, TraceWorkload};

use super::ask::ask;
use super::description::Described;
use super::exception;

/// A workload of a Python class.
pub struct Generated {
    choice: Choice,
    size: Size,
    buffers: Vec<Buffer>,
    lives: Vec<Range<u32>>,
    launches: Vec<(Launch, Resources)>,
    host: HostSide,
    /// Its lines, or why there are none.
    trace: OnceLock<Result<TraceWorkload, String>>,
}

impl Generated {
    pub fn new(choice: Choice, size: Size, described: Described) -> Self {
        let buffers = described.buffers();
        let lives = described.lives();
        let (launches, host) = (described.launches(), described.host_side(&buffers));
        Self { choice, size, buffers, lives, launches, host, trace: OnceLock::new() }
    }

    fn trace(&self) -> &Result<TraceWorkload, String> {
        self.trace.get_or_init(|| {
            let path = ask("folder", &self.choice, &self.size).map_err(exception::kept)?;
            let trace = TraceWorkload::open(Path::new(&path), Layout::Recorded).map_err(|error| error.to_string())?;
            if trace.buffers() == self.buffers {
                Ok(trace)
            } else {
                Err(format!("{path}: expected the buffers that {} has now, found others", self.choice.name))
            }
        })
    }
}

impl Workload for Generated {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn lives(&self) -> &[Range<u32>] {
        &self.lives
    }

    fn launches(&self) -> u32 {
        self.launches.len() as u32
    }

    fn launch(&self, index: u32) -> Launch {
        self.launches[index as usize].0.clone()
    }

    fn resources(&self, index: u32) -> Resources {
        self.launches[index as usize].1
    }

    fn waits_for_some(&self) -> bool {
        true
    }

    fn host_side(&self) -> HostSide {
        self.host.clone()
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        match self.trace() {
            Ok(trace) => trace.fill(launch, group, wavefront, cursor, out),
            Err(_) => out.push(Op::END),
        }
    }

    fn failure(&self) -> Option<String> {
        match self.trace.get()? {
            Ok(trace) => trace.failure(),
            Err(reason) => Some(reason.clone()),
        }
    }
}
