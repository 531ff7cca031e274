//! Checks of `[[job]]` that types cannot express.

use octavo_node::divide_units;
use serde_json::Value;

use crate::Scenario;
use crate::error::Problem;
use crate::job::{ALL, Again, JobChoice};

/// Checks the jobs of a scenario whose node is resolved, and fills in their GPUs and how often they run.
pub(crate) fn check_jobs(scenario: &mut Scenario) -> Result<(), Problem> {
    let gpus = scenario.node.gpus;
    for (index, job) in scenario.job.iter_mut().enumerate() {
        if job.gpus.is_empty() {
            job.gpus = (0..gpus).collect();
        }
        if job.repetitions.is_none() && job.until.is_none() {
            job.until = Some(ALL.to_owned());
        }
        check_alone(index, job, gpus)?;
    }
    let jobs = &scenario.job;
    for index in 0..jobs.len() {
        check_name(index, jobs)?;
        check_until(index, jobs)?;
    }
    if !jobs.is_empty() && jobs.iter().all(|job| job.idle) {
        return Err(Problem::new("job[0].idle", "expected at least one job that is not idle, found none"));
    }
    check_memory(scenario)?;
    (0..gpus).try_for_each(|gpu| check_shares(gpu, jobs, scenario.node.compute.units))
}

fn key(index: usize, part: &str) -> String {
    format!("job[{index}].{part}")
}

fn check_alone(index: usize, job: &mut JobChoice, gpus: u32) -> Result<(), Problem> {
    let refuse = |part: &str, message: String| Err(Problem::new(key(index, part), message));
    if job.name == ALL {
        return refuse("name", format!("`{ALL}` means every job in `until`: expected another name"));
    }
    let allowed = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    if job.name.is_empty() || !job.name.chars().all(allowed) {
        return refuse("name", format!("expected letters, digits, `-`, `_` and `.`, found {:?}", job.name));
    }
    if let Some(beyond) = job.gpus.iter().find(|gpu| **gpu >= gpus) {
        let last = gpus.saturating_sub(1);
        return refuse("gpus", format!("expected 0 to {last}, the {gpus} GPUs of the node, found {beyond}"));
    }
    job.gpus.sort_unstable();
    if let Some(pair) = job.gpus.windows(2).find(|pair| pair[0] == pair[1]) {
        return refuse("gpus", format!("expected each GPU once, found {} twice", pair[0]));
    }
    if let Some(share) = job.share.filter(|share| !(*share > 0.0 && *share <= 1.0)) {
        return refuse("share", format!("expected more than 0 and at most 1, found {share}"));
    }
    if let (Some(times), Some(until)) = (job.repetitions, &job.until) {
        return refuse("until", format!("expected either `repetitions` or `until`, found {times} and `{until}`"));
    }
    Ok(())
}

fn check_name(index: usize, jobs: &[JobChoice]) -> Result<(), Problem> {
    let name = &jobs[index].name;
    match jobs[..index].iter().position(|other| other.name == *name) {
        Some(first) => Err(Problem::new(
            key(index, "name"),
            format!("expected a name of its own, found that of job[{first}], `{name}`"),
        )),
        None => Ok(()),
    }
}

fn check_until(index: usize, jobs: &[JobChoice]) -> Result<(), Problem> {
    let Some(until) = jobs[index].until.as_ref().filter(|until| *until != ALL) else { return Ok(()) };
    let others = || jobs.iter().map(|job| job.name.as_str()).filter(|name| *name != jobs[index].name).chain([ALL]);
    let refuse = |message: String| Err(Problem::new(key(index, "until"), message).meant(until, others()));
    if jobs.iter().all(|job| job.name != *until) {
        return refuse(format!("expected one of {}, found `{until}`", others().collect::<Vec<_>>().join(", ")));
    }
    let mut ring = vec![index];
    while let Again::Until(next) = jobs[*ring.last().unwrap_or(&index)].again(jobs) {
        if next == index {
            let names: Vec<&str> = ring.iter().chain([&index]).map(|&at| jobs[at].name.as_str()).collect();
            let message = format!(
                "it would wait for itself: expected a job that does not run until this one is over, found {}",
                names.join(" until ")
            );
            return Err(Problem::new(key(index, "until"), message));
        }
        if ring.contains(&next) {
            break; // A ring that this one is not part of: the jobs in it are refused.
        }
        ring.push(next);
    }
    Ok(())
}

/// Shares of memory by the names of jobs: they exist, and fit each GPU.
fn check_memory(scenario: &Scenario) -> Result<(), Problem> {
    const KEY: &str = "memory.sharing.shares";
    let Some(shares) = scenario.memory.sharing.options.get("shares").and_then(Value::as_object) else { return Ok(()) };
    let names: Vec<&str> = scenario.job.iter().map(|job| job.name.as_str()).collect();
    if let Some(stray) = shares.keys().find(|name| !names.contains(&name.as_str())) {
        let known = if names.is_empty() { "[[job]] tables".to_owned() } else { names.join(", ") };
        return Err(Problem::unknown_key(format!("{KEY}.{stray}"), format!("unknown job, expected {known}"))
            .meant(stray, names));
    }
    for gpu in 0..scenario.node.gpus {
        let here = || scenario.job.iter().filter(|job| job.gpus.contains(&gpu));
        let said: Vec<(&str, f64)> =
            here().filter_map(|job| Some((job.name.as_str(), shares.get(&job.name)?.as_f64()?))).collect();
        let (total, others) = (said.iter().map(|(_, share)| share).sum::<f64>(), here().count() - said.len());
        // Decimal shares need not add up to 1 exactly.
        let fits = if others == 0 { total < 1.0 + 1e-9 } else { total < 1.0 - 1e-9 };
        if !fits {
            let list: Vec<String> = said.iter().map(|(name, share)| format!("{share} of {name}")).collect();
            let rest = if others == 0 { "at most 1".to_owned() } else { format!("less than 1, for {others} more") };
            let message = format!("on gpu{gpu}, expected shares that add up to {rest}, found {}", list.join(", "));
            return Err(Problem::new(KEY, message));
        }
    }
    Ok(())
}

fn check_shares(gpu: u32, jobs: &[JobChoice], units: u32) -> Result<(), Problem> {
    let here: Vec<usize> = (0..jobs.len()).filter(|&job| jobs[job].gpus.contains(&gpu)).collect();
    let shares: Vec<Option<f64>> = here.iter().map(|&job| jobs[job].share).collect();
    let Err(error) = divide_units(units, &shares) else { return Ok(()) };
    let said: Vec<String> =
        here.iter().filter_map(|&job| Some(format!("{} of {}", jobs[job].share?, jobs[job].name))).collect();
    let said = if said.is_empty() { "equal shares".to_owned() } else { said.join(", ") };
    let message = format!("gpu{gpu} is divided among {} jobs ({said}): {error}", here.len());
    Err(Problem::new(key(here[error.program()], "share"), message))
}
