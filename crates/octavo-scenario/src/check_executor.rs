//! The limits of a scenario's executor.

use octavo_manager::OutstandingAccesses;
use octavo_units::Time;

use crate::error::Problem;
use crate::executor::ExecutorChoice;
use crate::scenario::Scenario;

/// Refuses options that have no meaning without time, or without TLBs.
pub(crate) fn check_executor(scenario: &Scenario) -> Result<(), Problem> {
    check_walks(scenario)?;
    check_outstanding(scenario)?;
    if matches!(scenario.executor, ExecutorChoice::Simulated(_)) {
        return Ok(());
    }
    if let Some((number, late)) = scenario.job.iter().enumerate().find(|(_, job)| job.start > Time::ZERO) {
        let message = format!("executor.kind `instant` has no time: expected 0ns, found {}", late.start);
        return Err(Problem::new(format!("job[{number}].start"), message));
    }
    if !scenario.node.fidelity.is_line() {
        let message = "executor.kind `instant` has no caches: expected line, found page";
        return Err(Problem::new("node.fidelity", message.to_owned()));
    }
    if !scenario.node.capacity.change.is_empty() {
        let message = "executor.kind `instant` has no time: expected no memory that changes at a time, found some";
        return Err(Problem::new("node.capacity.change", message));
    }
    if scenario.record.interval == Time::ZERO {
        return Ok(());
    }
    let message = format!("executor.kind `instant` has no time: expected 0ns, found {}", scenario.record.interval);
    Err(Problem::new("record.interval", message))
}

/// At fidelity `page` accesses are processed many at a time, and none has a time at which it comes back.
fn check_outstanding(scenario: &Scenario) -> Result<(), Problem> {
    if scenario.memory.outstanding == OutstandingAccesses::Leave || scenario.node.fidelity.is_line() {
        return Ok(());
    }
    let message = "node.fidelity `page` knows no outstanding accesses: expected leave, found stay";
    Err(Problem::new("memory.outstanding", message.to_owned()))
}

/// No page tables are walked without time, nor at fidelity `page`.
fn check_walks(scenario: &Scenario) -> Result<(), Problem> {
    let why = if matches!(scenario.executor, ExecutorChoice::Instant(_)) {
        "executor.kind `instant`"
    } else if !scenario.node.fidelity.is_line() {
        "node.fidelity `page`"
    } else {
        return Ok(());
    };
    if !scenario.record.walks {
        return Ok(());
    }
    Err(Problem::new("record.walks", format!("{why} has no page-table walks: expected false, found true")))
}
