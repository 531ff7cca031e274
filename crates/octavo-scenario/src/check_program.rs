//! What types cannot express about `[program]`.

use octavo_manager::Kind;
use octavo_program::{ProgramKind, Workload};

use crate::error::Problem;
use crate::program::{BufferChoice, ProgramChoice, processors};
use crate::{Scenario, WORKLOADS, mix};

/// Checks the program of a scenario whose other parts are spelled out.
pub(crate) fn check_program(scenario: &Scenario) -> Result<(), Problem> {
    let program = &scenario.program;
    let Some(kind) = program.kind.whole() else { return refuse_what_launches_lack(program) };
    if scenario.workload.name == mix::ENTRY.name {
        let message = format!("a mix runs its launches alone so far: expected launches, found {}", kind.name());
        return Err(Problem::new("program.kind", message));
    }
    let (threads, cores) = (program.host_threads, scenario.node.host.cpu.cores);
    if threads > cores {
        let message = format!("expected 1 to {cores}, the cores of the host (`node.host.cpu.cores`), found {threads}");
        return Err(Problem::new("program.host_threads", message));
    }
    if program.buffers.is_empty() {
        return Ok(());
    }
    let workload = WORKLOADS
        .build(&scenario.workload.choice(), &scenario.size())
        .map_err(|error| Problem::found_below("workload", &error.key, &error.message))?;
    check_names(scenario, workload.as_ref())?;
    program.buffers.iter().try_for_each(|(name, buffer)| check_buffer(scenario, kind, name, buffer))
}

/// Nothing of a program may be chosen where there is none.
fn refuse_what_launches_lack(program: &ProgramChoice) -> Result<(), Problem> {
    let default = ProgramChoice::default();
    let key = match program.buffers.keys().next() {
        Some(name) => format!("program.buffers.{name}"),
        None if program.devices != default.devices => "program.devices".to_owned(),
        None if program.host_threads != default.host_threads => "program.host_threads".to_owned(),
        None => return Ok(()),
    };
    let kinds = ProgramKind::ALL.map(ProgramKind::name).join(", ");
    Err(Problem::new(key, format!("needs a whole program: expected `program.kind` one of {kinds}, found launches")))
}

fn check_names(scenario: &Scenario, workload: &dyn Workload) -> Result<(), Problem> {
    let known = || workload.buffers().iter().map(|buffer| buffer.name.as_str());
    let Some(unknown) = scenario.program.buffers.keys().find(|name| known().all(|known| known != *name)) else {
        return Ok(());
    };
    let (workload, names) = (&scenario.workload.name, known().collect::<Vec<_>>().join(", "));
    let message = format!("unknown buffer of `{workload}`, expected one of {names}");
    Err(Problem::new(format!("program.buffers.{unknown}"), message).meant(unknown, known()))
}

fn check_buffer(scenario: &Scenario, program: ProgramKind, name: &str, buffer: &BufferChoice) -> Result<(), Problem> {
    let key = |part: &str| format!("program.buffers.{name}.{part}");
    let said = [
        ("preferred", buffer.preferred.is_some()),
        ("accessed_by", !buffer.accessed_by.is_empty()),
        ("read_mostly", buffer.read_mostly),
    ];
    let kind = buffer.kind.unwrap_or(program.buffers());
    if let Some((part, _)) = said.into_iter().find(|(_, said)| *said && kind.stays()) {
        let message =
            format!("advice is for memory that moves: expected {} or {}, found {kind}", Kind::Managed, Kind::System);
        return Err(Problem::new(key(part), message));
    }
    let named = buffer.preferred.iter().map(|name| ("preferred", name));
    let mut named = named.chain(buffer.accessed_by.iter().map(|name| ("accessed_by", name)));
    named.try_for_each(|(part, name)| check_processor(&key(part), name, scenario.node.gpus as usize))
}

fn check_processor(key: &str, name: &str, gpus: usize) -> Result<(), Problem> {
    let known: Vec<String> = processors(gpus).map(|processor| processor.to_string()).collect();
    if known.iter().any(|known| known == name) {
        return Ok(());
    }
    let message = format!("expected one of {}, found `{name}`", known.join(", "));
    Err(Problem::new(key, message).meant(name, known.iter().map(String::as_str)))
}
