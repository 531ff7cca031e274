//! All probes in order: finished ones are kept, missing ones are measured, each in a process of its own.

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use octavo_gpu::{Description, Effort, GpuError, Probe, describe, probes};

use crate::arguments::Run;
use crate::child;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::origin::Origin;
use crate::report::Report;

/// Measures what is missing. A probe that fails does not stop the others.
pub fn run(wanted: &Run) -> Result<(), Failure> {
    let chosen = chosen(&wanted.only)?;
    let gpus = describe()?;
    let gpu = gpus.get(wanted.gpu).ok_or(GpuError::UnknownGpu { asked: wanted.gpu, found: gpus.len() })?;
    let folder = Folder::new(&wanted.output);
    let _lock = folder.lock()?;
    folder.prepare()?;
    let kept = kept(wanted, &folder, &chosen, gpu, gpus.len())?;
    for probe in chosen.iter().filter(|probe| !kept.contains(&probe.name())) {
        folder.check_replaceable(probe.name())?;
    }
    let mut report = Report::new(wanted.json, chosen.len());
    report.gpu(wanted.gpu, gpus.len(), &gpu.name);
    let mut failed = Vec::new();
    for probe in chosen {
        report.next(probe.name());
        if kept.contains(&probe.name()) {
            report.kept();
            continue;
        }
        folder.discard(probe.name())?;
        if let Err(reason) = measure(wanted, probe, &report) {
            report.failed(&reason);
            failed.push((probe.name(), reason));
        }
        folder.prepare()?;
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::Incomplete(failed)) }
}

fn chosen(only: &[String]) -> Result<Vec<&'static dyn Probe>, Failure> {
    if let Some(found) = only.iter().find(|name| probes().iter().all(|probe| probe.name() != *name)) {
        let known = probes().iter().map(|probe| probe.name()).collect::<Vec<_>>().join(", ");
        return Err(Failure::UnknownProbe { known, found: found.clone() });
    }
    let wanted = |probe: &dyn Probe| only.is_empty() || only.iter().any(|name| name == probe.name());
    Ok(probes().iter().copied().filter(|probe| wanted(*probe)).collect())
}

/// Names of those that are finished and are the same measurement.
fn kept(
    wanted: &Run,
    folder: &Folder,
    chosen: &[&'static dyn Probe],
    gpu: &Description,
    gpus: usize,
) -> Result<Vec<&'static str>, Failure> {
    let effort = if wanted.quick { Effort::Quick } else { Effort::Full };
    let mut kept = Vec::new();
    for probe in chosen.iter().filter(|_| !wanted.force) {
        let Some(found) = folder.origin_of(probe.name())? else { continue };
        if let Some(difference) = found.difference(&Origin::new(*probe, gpu, gpus, effort)) {
            let (folder, probe) = (wanted.output.clone(), probe.name().to_owned());
            return Err(Failure::Foreign { folder, probe, difference });
        }
        kept.push(probe.name());
    }
    Ok(kept)
}

fn measure(wanted: &Run, probe: &dyn Probe, report: &Report) -> Result<(), String> {
    let program = env::current_exe().map_err(|error| format!("this program was not found again: {error}"))?;
    let began = Instant::now();
    let command = command(&program, wanted, probe);
    let rows = child::run(command, wanted.limit, &mut |done, of, what| report.step(done, of, what))?;
    report.finished(rows, began.elapsed().as_secs_f64());
    Ok(())
}

fn command(program: &Path, wanted: &Run, probe: &dyn Probe) -> Command {
    let mut command = Command::new(program);
    command.arg("measure").arg(probe.name()).args(["--gpu", &wanted.gpu.to_string()]);
    command.arg("--output").arg(&wanted.output);
    if let Some(time) = wanted.point_time {
        command.arg("--point-time").arg(humantime::format_duration(time).to_string());
    }
    command.args(wanted.quick.then_some("--quick")).args(wanted.cupti.then_some("--cupti"));
    command
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn probes_are_measured_in_their_own_order_and_unknown_ones_are_refused() {
        let names = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
            chosen(&only).map(|probes| probes.iter().map(|probe| probe.name()).collect::<Vec<_>>())
        };
        assert_eq!(names(&["launches", "copies"]).unwrap(), ["copies", "launches"]);
        assert!(names(&[]).unwrap().len() > 2);
        let error = names(&["copies", "copes"]).unwrap_err().to_string();
        assert!(error.starts_with("--only: expected one of copies, ") && error.ends_with("found `copes`"), "{error}");
    }
}
