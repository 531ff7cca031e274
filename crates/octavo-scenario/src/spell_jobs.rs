//! From the settings for jobs to one table for each: names of workloads, abbreviations for several programs
//! (`hs+gups`), and settings for all of them.

use serde_json::{Map, Value};

use crate::error::Problem;
use crate::merge::Merged;
use crate::presets;
use crate::workloads::{MIX, spell_out_name};

/// The most jobs of a scenario.
const MOST: usize = 64;
/// Options that every workload has. They may be given once for all jobs.
pub(crate) const OF_ALL: [&str; 2] = ["scale", "seed"];

/// Spells out the jobs, if there are any; the rest of `workload` and `program` beside them applies to all of them.
pub(crate) fn spell_out_jobs(merged: &mut Merged) -> Result<(), Problem> {
    if take_mix(merged)? {
        merged.adopt_strays();
    }
    if let Some(stray) = merged.stray_job() {
        let names: Vec<&str> = job_names(merged);
        let expected = if names.is_empty() {
            "there are none: expected [[job]] tables, or a workload of several programs such as hs+gups".to_owned()
        } else {
            format!("expected one of {}", names.join(", "))
        };
        return Err(
            Problem::unknown_key(format!("job.{stray}"), format!("unknown job, {expected}")).meant(stray, names)
        );
    }
    let Some(jobs) = merged.values.get("job").and_then(Value::as_array) else { return Ok(()) };
    if jobs.is_empty() || jobs.len() > MOST {
        return Err(Problem::mismatch("job", format!("1 to {MOST} jobs"), jobs.len()));
    }
    refuse_what_no_job_takes(merged)?;
    let common = Common::take(merged)?;
    let jobs = merged.values.get_mut("job").and_then(Value::as_array_mut).into_iter().flatten();
    for (index, job) in jobs.enumerate() {
        if let Some(job) = job.as_object_mut() {
            common.spell_out(index, job)?;
        }
    }
    Ok(())
}

/// What is said once for all jobs is lost where each says it itself.
fn refuse_what_no_job_takes(merged: &Merged) -> Result<(), Problem> {
    let jobs = merged.get("job").and_then(Value::as_array).into_iter().flatten();
    let own: Vec<Option<&Value>> = jobs.map(|job| job.get("workload")).collect();
    let defaults = presets::defaults().source;
    let is_written = |key: &str| merged.origin(&format!("workload.{key}")).source != defaults;
    let is_taken = |key: &str| own.iter().any(|own| own.is_none_or(|own| own.get(key).is_none()));
    let said = merged.get("workload").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let Some(lost) = said.into_iter().find(|key| is_written(key) && !is_taken(key)) else { return Ok(()) };
    let message = format!("every job has a {lost} of its own: expected that of a job, job.NAME.workload.{lost}");
    Err(Problem::new(format!("workload.{lost}"), message))
}

fn job_names(merged: &Merged) -> Vec<&str> {
    let jobs = merged.values.get("job").and_then(Value::as_array).into_iter().flatten();
    jobs.filter_map(|job| job.get("name")?.as_str()).collect()
}

/// A workload that is several programs becomes a job for each; whether it was.
fn take_mix(merged: &mut Merged) -> Result<bool, Problem> {
    if merged.get("workload.name").and_then(Value::as_str) != Some(MIX) {
        return Ok(false);
    }
    refuse_both(merged)?;
    let origin = merged.origin("workload");
    let Some(Value::Object(mut workload)) = merged.take("workload") else { return Ok(false) };
    let programs = match workload.shift_remove("applications") {
        Some(Value::Array(programs)) => programs,
        None => Vec::new(),
        Some(other) => {
            return Err(Problem::mismatch("workload.applications", "a list of programs", other));
        }
    };
    if programs.is_empty() || programs.len() > MOST {
        let message = format!("expected 1 to {MOST} programs, found {}", programs.len());
        return Err(Problem::new("workload.applications", message));
    }
    workload.shift_remove("name");
    if let Some(unknown) = workload.keys().find(|key| !OF_ALL.contains(&key.as_str())) {
        let message = format!("unknown option of several programs, expected applications, {}", OF_ALL.join(", "));
        return Err(Problem::unknown_key(format!("workload.{unknown}"), message).meant(unknown, OF_ALL));
    }
    let mut names: Vec<String> = Vec::new();
    let job = |mut program: Value| {
        if program.is_string() {
            program = Value::Object(Map::from_iter([("name".to_owned(), program)]));
        }
        let base = program.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let copies = names.iter().filter(|name| **name == base).count();
        let name = if copies == 0 { base.clone() } else { format!("{base}.{}", copies + 1) };
        names.push(base);
        Value::Object(Map::from_iter([("name".to_owned(), name.into()), ("workload".to_owned(), program)]))
    };
    merged.values.insert("job".to_owned(), programs.into_iter().map(job).collect());
    merged.values.insert("workload".to_owned(), Value::Object(workload));
    merged.note("job", origin);
    Ok(true)
}

/// Settings for all jobs.
struct Common {
    size: Map<String, Value>,
    program: Map<String, Value>,
}

impl Common {
    fn take(merged: &mut Merged) -> Result<Self, Problem> {
        refuse_both(merged)?;
        if let Some(table) = merged.get("program.buffers") {
            let name = table.as_object().and_then(|table| table.keys().next()).cloned().unwrap_or_default();
            let message = "buffers are those of one job: expected a table [job.program.buffers] below it";
            return Err(Problem::new(format!("program.buffers.{name}"), message));
        }
        let mut table = |key: &str| match merged.values.shift_remove(key) {
            Some(Value::Object(table)) => Ok(table),
            None => Ok(Map::new()),
            Some(other) => Err(Problem::new(key, format!("expected a table, found {other}"))),
        };
        Ok(Self { size: table("workload")?, program: table("program")? })
    }

    fn spell_out(&self, index: usize, job: &mut Map<String, Value>) -> Result<(), Problem> {
        if let Some(workload) = job.get_mut("workload") {
            if workload.is_string() {
                *workload = Value::Object(Map::from_iter([("name".to_owned(), workload.take())]));
            }
            if let Some(workload) = workload.as_object_mut() {
                spell_out_name(workload);
                if workload.get("name").and_then(Value::as_str) == Some(MIX) {
                    let key = format!("job[{index}].workload.name");
                    return Err(Problem::new(key, "a job is one program: expected one workload, and a job for each"));
                }
                fill(workload, &self.size);
                workload.retain(|_, value| !value.is_null());
            }
        }
        if !self.program.is_empty() {
            let own = job.entry("program").or_insert_with(|| Value::Object(Map::new()));
            if let Some(own) = own.as_object_mut() {
                fill(own, &self.program);
            }
        }
        Ok(())
    }
}

/// Adds what `table` itself leaves out.
fn fill(table: &mut Map<String, Value>, common: &Map<String, Value>) {
    for (key, value) in common {
        table.entry(key.clone()).or_insert_with(|| value.clone());
    }
}

/// A scenario has a workload or jobs.
fn refuse_both(merged: &Merged) -> Result<(), Problem> {
    let Some(jobs) = merged.get("job") else { return Ok(()) };
    let workload = merged.get("workload").and_then(Value::as_object);
    let Some(key) = workload.into_iter().flat_map(Map::keys).find(|key| !OF_ALL.contains(&key.as_str())) else {
        return Ok(());
    };
    let found = jobs.as_array().map_or(1, Vec::len);
    let message = format!(
        "the scenario has [[job]] tables, {found} of them: expected their own workloads, and only {} for all of them",
        OF_ALL.join(" and ")
    );
    Err(Problem::new(format!("workload.{key}"), message))
}
