//! What types cannot express about `[program]`.

use octavo_manager::{HOST, Kind, ProcessorId};
use octavo_program::{ProgramKind, Workload};

use crate::error::Problem;
use crate::layer::nth;
use crate::program::{BufferChoice, ProgramChoice};
use crate::scenario::WorkloadChoice;
use crate::{Scenario, WORKLOADS};

/// Checks the programs of a scenario whose other parts are spelled out.
pub(crate) fn check_programs(scenario: &Scenario) -> Result<(), Problem> {
    let all: Vec<u32> = (0..scenario.node.gpus).collect();
    if let Some(workload) = &scenario.workload {
        let program = &scenario.program;
        Checked { scenario, prefix: String::new(), workload, program, gpus: &all }.check()?;
    }
    scenario.job.iter().enumerate().try_for_each(|(index, job)| {
        let (prefix, workload, program, gpus) = (nth("job", index) + ".", &job.workload, &job.program, &job.gpus);
        Checked { scenario, prefix, workload, program, gpus }.check()
    })
}

/// A program and whose it is.
struct Checked<'a> {
    scenario: &'a Scenario,
    /// What its keys begin with.
    prefix: String,
    workload: &'a WorkloadChoice,
    program: &'a ProgramChoice,
    /// The GPUs that it runs on.
    gpus: &'a [u32],
}

impl Checked<'_> {
    fn check(&self) -> Result<(), Problem> {
        let program = self.program;
        let Some(kind) = program.kind.whole() else { return self.refuse_what_launches_lack() };
        let (threads, cores) = (program.host_threads, self.scenario.node.host.cpu.cores);
        if threads > cores {
            let message =
                format!("expected 1 to {cores}, the cores of the host (`node.host.cpu.cores`), found {threads}");
            return Err(self.problem("host_threads", message));
        }
        if program.buffers.is_empty() {
            return Ok(());
        }
        let built = WORKLOADS.build(&self.workload.choice(), &self.workload.size(self.scenario.seed));
        let workload = built
            .map_err(|error| Problem::found_below(&format!("{}workload", self.prefix), &error.key, &error.message))?;
        self.check_names(workload.as_ref())?;
        program.buffers.iter().try_for_each(|(name, buffer)| self.check_buffer(kind, name, buffer))
    }

    fn problem(&self, key: &str, message: String) -> Problem {
        Problem::new(format!("{}program.{key}", self.prefix), message)
    }

    /// Nothing of a program may be chosen where there is none.
    fn refuse_what_launches_lack(&self) -> Result<(), Problem> {
        let (program, default) = (self.program, ProgramChoice::default());
        let key = match program.buffers.keys().next() {
            Some(name) => format!("buffers.{name}"),
            None if program.devices != default.devices => "devices".to_owned(),
            None if program.host_threads != default.host_threads => "host_threads".to_owned(),
            None => return Ok(()),
        };
        let kinds = ProgramKind::ALL.map(ProgramKind::name).join(", ");
        let needed = format!("{}program.kind", self.prefix);
        Err(self.problem(&key, format!("needs a whole program: expected `{needed}` one of {kinds}, found launches")))
    }

    fn check_names(&self, workload: &dyn Workload) -> Result<(), Problem> {
        let known = || workload.buffers().iter().map(|buffer| buffer.name.as_str());
        let Some(unknown) = self.program.buffers.keys().find(|name| known().all(|known| known != *name)) else {
            return Ok(());
        };
        let (workload, names) = (&self.workload.name, known().collect::<Vec<_>>().join(", "));
        let message = format!("unknown buffer of `{workload}`, expected one of {names}");
        Err(self.problem(&format!("buffers.{unknown}"), message).meant(unknown, known()))
    }

    fn check_buffer(&self, program: ProgramKind, name: &str, buffer: &BufferChoice) -> Result<(), Problem> {
        let key = |part: &str| format!("buffers.{name}.{part}");
        let said = [
            ("preferred", buffer.preferred.is_some()),
            ("accessed_by", !buffer.accessed_by.is_empty()),
            ("read_mostly", buffer.read_mostly),
        ];
        let kind = buffer.kind.unwrap_or(program.buffers());
        if let Some((part, _)) = said.into_iter().find(|(_, said)| *said && kind.stays()) {
            let moves = format!("{} or {}", Kind::Managed, Kind::System);
            let message = format!("advice is for memory that moves: expected {moves}, found {kind}");
            return Err(self.problem(&key(part), message));
        }
        let named = buffer.preferred.iter().map(|name| ("preferred", name));
        let mut named = named.chain(buffer.accessed_by.iter().map(|name| ("accessed_by", name)));
        named.try_for_each(|(part, name)| self.check_processor(&key(part), name))
    }

    /// Advice names the host, or a GPU of the node that the program runs on.
    fn check_processor(&self, key: &str, name: &str) -> Result<(), Problem> {
        let gpus = self.gpus.iter().map(|&gpu| ProcessorId::gpu(gpu as usize));
        let known: Vec<String> = [HOST].into_iter().chain(gpus).map(|processor| processor.to_string()).collect();
        if known.iter().any(|known| known == name) {
            return Ok(());
        }
        let message = format!("expected one of {}, found `{name}`", known.join(", "));
        Err(self.problem(key, message).meant(name, known.iter().map(String::as_str)))
    }
}
