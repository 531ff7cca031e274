//! Checks of `[program]` that types cannot express.

use octavo_manager::{HOST, Kind, ProcessorId};
use octavo_node::SystemMemory;
use octavo_program::{BUFFER_ALIGNMENT, Data, Frames, ProgramKind, Workload};
use octavo_units::Bytes;

use crate::check_qubits::check_qubits;
use crate::check_split::check_split;
use crate::error::{Code, Problem};
use crate::layer::nth;
use crate::program::{BufferChoice, ProgramChoice, RunKind};
use crate::workloads::WorkloadChoice;
use crate::{Scenario, WORKLOADS};

/// The closest that allocations lie: `cudaMalloc` promises 256 bytes (CUDA C++ Programming Guide, 6.2).
const CLOSEST: u64 = 256;

/// Checks the programs of a scenario whose other parts are resolved.
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

/// Makes a trace of a whole program run as one, unless `written` decides what runs.
pub(crate) fn settle_recorded(
    workload: &WorkloadChoice,
    program: &mut ProgramChoice,
    written: bool,
) -> Result<(), Problem> {
    let Some(path) = workload.options.get("path").and_then(|path| path.as_str()) else { return Ok(()) };
    let recorded = octavo_trace::holds_program(path.as_ref());
    let recorded = recorded.map_err(|error| Problem::new("workload.path", error.to_string()))?;
    if recorded && !written {
        program.kind = RunKind::Recorded;
    }
    if !recorded && program.kind == RunKind::Recorded {
        let message = format!("{path} holds launches alone, version 1 of the format: expected another kind");
        return Err(Problem::new("program.kind", message));
    }
    Ok(())
}

/// A program and its job.
struct Checked<'a> {
    scenario: &'a Scenario,
    /// The beginning of its keys.
    prefix: String,
    workload: &'a WorkloadChoice,
    program: &'a ProgramChoice,
    /// The GPUs that it runs on.
    gpus: &'a [u32],
}

impl Checked<'_> {
    fn check(&self) -> Result<(), Problem> {
        let program = self.program;
        check_qubits(&self.prefix, self.workload, program.kind, &self.scenario.node)?;
        check_split(&self.prefix, self.workload, self.gpus.len())?;
        if program.kind == RunKind::Recorded {
            return self.check_recorded();
        }
        self.check_alignment()?;
        let Some(kind) = program.kind.memory() else { return self.check_launches() };
        self.refuse_what_programs_say_themselves()?;
        self.check_offered(kind)?;
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

    /// A recorded program cannot be changed.
    fn check_recorded(&self) -> Result<(), Problem> {
        if self.workload.name != octavo_trace::ENTRY.name {
            let message = format!("only traces are recorded programs, found the workload `{}`", self.workload.name);
            return Err(self.problem("kind", message));
        }
        let says = "the trace says it itself: nothing is chosen beside `recorded`";
        let aligned = self.program.alignment.map(|_| "alignment".to_owned());
        let chosen = self.chosen().or_else(|| self.chosen_of_launches().map(str::to_owned)).or(aligned);
        chosen.map_or(Ok(()), |key| Err(self.problem(&key, says.to_owned())))
    }

    /// A key of the program that was given a value.
    fn chosen(&self) -> Option<String> {
        let (program, default) = (self.program, ProgramChoice::default());
        match program.buffers.keys().next() {
            Some(name) => Some(format!("buffers.{name}")),
            None if program.devices != default.devices => Some("devices".to_owned()),
            None if program.host_threads != default.host_threads => Some("host_threads".to_owned()),
            None => None,
        }
    }

    /// A key that only launches alone have and that was given a value.
    fn chosen_of_launches(&self) -> Option<&'static str> {
        let (program, default) = (self.program, ProgramChoice::default());
        let frames = (program.frames != default.frames).then_some("frames");
        frames.or_else(|| (program.data != default.data).then_some("data"))
    }

    /// Whole programs say when they allocate and copy.
    fn refuse_what_programs_say_themselves(&self) -> Result<(), Problem> {
        let Some(key) = self.chosen_of_launches() else { return Ok(()) };
        let needed = format!("{}program.kind", self.prefix);
        Err(self.problem(key, format!("whole programs allocate and copy themselves: expected `{needed}` launches")))
    }

    fn check_alignment(&self) -> Result<(), Problem> {
        let Some(Bytes(alignment)) = self.program.alignment else { return Ok(()) };
        if alignment.is_power_of_two() && (CLOSEST..=BUFFER_ALIGNMENT).contains(&alignment) {
            return Ok(());
        }
        let expected = format!("a power of two, {} to {}", Bytes(CLOSEST), Bytes(BUFFER_ALIGNMENT));
        let key = format!("{}program.alignment", self.prefix);
        Err(Problem::mismatch(key, expected, Bytes(alignment)))
    }

    /// Launches alone lack what whole programs have; their memory is on one GPU if it exists before it is touched.
    fn check_launches(&self) -> Result<(), Problem> {
        self.refuse_what_launches_lack()?;
        let program = self.program;
        if program.data == Data::Allocation && program.frames != Frames::Allocation {
            let needed = format!("{}program.frames", self.prefix);
            let message = format!("data need memory to be in: expected `{needed}` allocation, found touch");
            return Err(self.problem("data", message));
        }
        match self.chosen_of_launches() {
            Some(key) if self.gpus.len() != 1 => {
                let found = self.gpus.len();
                Err(self.problem(key, format!("expected one GPU, whose memory it would be, found {found}")))
            }
            _ => Ok(()),
        }
    }

    /// Options of a program are refused where there is no program.
    fn refuse_what_launches_lack(&self) -> Result<(), Problem> {
        let Some(key) = self.chosen() else { return Ok(()) };
        let kinds = ProgramKind::ALL.map(ProgramKind::name).join(", ");
        let needed = format!("{}program.kind", self.prefix);
        Err(self.problem(&key, format!("needs a whole program: expected `{needed}` one of {kinds}, found launches")))
    }

    /// Checks that the node has memory of the requested kinds.
    fn check_offered(&self, program: ProgramKind) -> Result<(), Problem> {
        if self.scenario.node.system_memory == SystemMemory::Offered {
            return Ok(());
        }
        let refuse = |key: &str| {
            let kinds = [ProgramKind::Explicit, ProgramKind::Managed, ProgramKind::Pinned].map(ProgramKind::name);
            let message = format!(
                "GPUs of this node cannot use memory of the operating system (`node.system_memory`): expected one of {}, \
                 found system",
                kinds.join(", ")
            );
            Err(self.problem(key, message))
        };
        let other = |(_, buffer): &(&String, &BufferChoice)| buffer.kind == Some(Kind::System);
        match self.program.buffers.iter().find(other) {
            Some((name, _)) => refuse(&format!("buffers.{name}.kind")),
            None if program == ProgramKind::System => refuse("kind"),
            None => Ok(()),
        }
    }

    fn check_names(&self, workload: &dyn Workload) -> Result<(), Problem> {
        let known = || workload.buffers().iter().map(|buffer| buffer.name.as_str());
        let Some(unknown) = self.program.buffers.keys().find(|name| known().all(|known| known != *name)) else {
            return Ok(());
        };
        let (workload, names) = (&self.workload.name, known().collect::<Vec<_>>().join(", "));
        let message = format!("unknown buffer of `{workload}`, expected one of {names}");
        Err(self.problem(&format!("buffers.{unknown}"), message).of(Code::UnknownKey).meant(unknown, known()))
    }

    fn check_buffer(&self, program: ProgramKind, name: &str, buffer: &BufferChoice) -> Result<(), Problem> {
        let key = |part: &str| format!("buffers.{name}.{part}");
        let advised = [
            ("preferred", buffer.preferred.is_some()),
            ("accessed_by", !buffer.accessed_by.is_empty()),
            ("read_mostly", buffer.read_mostly),
        ];
        let moved = [("prefetch", buffer.prefetch.is_some()), ("populate", buffer.populate)];
        let kind = buffer.kind.unwrap_or(program.buffers());
        if let Some((part, _)) = advised.into_iter().find(|(_, said)| *said && kind != Kind::Managed) {
            let message = format!("advice is about managed memory: expected {}, found {kind}", Kind::Managed);
            return Err(self.problem(&key(part), message));
        }
        if let Some((part, _)) = moved.into_iter().find(|(_, said)| *said && kind.stays()) {
            let moves = format!("{} or {}", Kind::Managed, Kind::System);
            let message = format!("{part} is for memory that moves: expected {moves}, found {kind}");
            return Err(self.problem(&key(part), message));
        }
        if buffer.discard_before.is_some() {
            self.check_discard(&key("discard_before"), kind)?;
        }
        if let (None, Some(_)) = (&buffer.prefetch, buffer.prefetch_before) {
            return Err(self.problem(&key("prefetch_before"), format!("needs `program.{}`", key("prefetch"))));
        }
        let named = buffer.preferred.iter().map(|name| ("preferred", name));
        let named = named.chain(buffer.prefetch.iter().map(|name| ("prefetch", name)));
        let mut named = named.chain(buffer.accessed_by.iter().map(|name| ("accessed_by", name)));
        named.try_for_each(|(part, name)| self.check_processor(&key(part), name))
    }

    fn check_discard(&self, key: &str, kind: Kind) -> Result<(), Problem> {
        let driver = &self.scenario.node.driver;
        if kind != Kind::Managed {
            let message = format!("only managed memory is discarded: expected {}, found {kind}", Kind::Managed);
            return Err(self.problem(key, message));
        }
        if driver.discard == Some(true) {
            return Ok(());
        }
        let release = driver.release.clone().map_or_else(|| "none".to_owned(), String::from);
        let message = format!(
            "this driver does not discard pages: expected `node.driver.release` from 580.65 on, found {release}, or \
             `node.driver.discard` true"
        );
        Err(self.problem(key, message))
    }

    /// Advice names the host, or a GPU of the node that the program runs on.
    fn check_processor(&self, key: &str, name: &str) -> Result<(), Problem> {
        let gpus = self.gpus.iter().map(|&gpu| ProcessorId::gpu(gpu as usize));
        let known: Vec<String> = [HOST].into_iter().chain(gpus).map(|processor| processor.to_string()).collect();
        if known.iter().any(|known| known == name) {
            return Ok(());
        }
        let key = format!("{}program.{key}", self.prefix);
        let problem = Problem::mismatch(key, format!("one of {}", known.join(", ")), format!("`{name}`"));
        Err(problem.meant(name, known.iter().map(String::as_str)))
    }
}
