//! Times: parts sum up to what they are parts of.

use std::collections::BTreeMap;

use super::{Books, Law, at_most, same};

/// The parts of waits of faults sum up to the waits, and each has the same number of faults.
pub fn waits(books: &Books) -> Law {
    let mut sums = BTreeMap::<&str, (u64, u64)>::new();
    let (faults, times) = (books.numbers("fault_waits", "faults"), books.numbers("fault_waits", "sum_ps"));
    for (row, part) in books.texts("fault_waits", "part").iter().enumerate() {
        let sum = sums.entry(part).or_default();
        *sum = (sum.0 + faults[row], sum.1 + times[row]);
    }
    let Some((all, total)) = sums.remove("total") else { return Ok(()) };
    sums.iter().try_for_each(|(part, (faults, _))| same(format!("faults of {part}"), *faults, all))?;
    same("sum of the parts", sums.values().map(|(_, time)| time).sum(), total)
}

/// What the wavefronts of a kernel did and waited for sums up to the time from the beginning of each to its end. A launch
/// does not end before its wavefronts.
pub fn stalls(books: &Books) -> Law {
    if books.table("stalls").is_none() {
        return Ok(());
    }
    let mut sums = BTreeMap::<&str, u64>::new();
    for (name, time) in books.texts("stalls", "kernel").iter().zip(books.numbers("stalls", "wavefront_ps")) {
        *sums.entry(name).or_default() += time;
    }
    let column = |name| books.numbers("kernels", name);
    let mut expected = BTreeMap::<&str, u64>::new();
    for (row, name) in books.texts("kernels", "kernel").iter().enumerate() {
        let whole = column("ended_ps")[row] - column("began_ps")[row];
        at_most(format!("run_ps of {name}"), column("run_ps")[row], whole)?;
        at_most(format!("wavefront_ps of {name}"), column("wavefront_ps")[row], column("wavefronts")[row] * whole)?;
        *expected.entry(name).or_default() += column("wavefront_ps")[row];
    }
    for (name, time) in expected {
        same(format!("wavefront_ps of {name}"), sums.remove(name).unwrap_or(0), time)?;
    }
    same("kernels that are in stalls alone", sums.len() as u64, 0)
}

/// Phases and the columns of the summary that they sum up to.
const PHASES: [(&str, &[&str]); 6] = [
    ("allocation_ps", &["allocation"]),
    ("host_initialisation_ps", &["host-initialisation"]),
    ("copies_ps", &["copy-in", "copy-out"]),
    ("kernels_ps", &["kernel"]),
    ("host_results_ps", &["host-results"]),
    ("deallocation_ps", &["deallocation"]),
];

pub fn phases(books: &Books) -> Law {
    let end = books.total("time_ps");
    if !books.in_time() {
        return Ok(());
    }
    for table in ["kernels", "phases", "jobs"] {
        let (began, ended) = (books.numbers(table, "began_ps"), books.numbers(table, "ended_ps"));
        for (began, ended) in began.iter().zip(ended) {
            at_most(format!("a row of {table}, from beginning to end"), *began, *ended)?;
            at_most(format!("the end of a row of {table}"), *ended, end)?;
        }
    }
    let jobs: Vec<&serde_json::Value> = books.summary["jobs"].as_array().into_iter().flatten().collect();
    let summaries = if jobs.is_empty() { vec![&books.summary] } else { jobs };
    for summary in summaries.into_iter().filter(|summary| summary.get("phases").is_some()) {
        for (key, names) in PHASES {
            let sum = sum_of_phases(books, summary["name"].as_str(), names);
            same(key, sum, summary["phases"][key].as_u64().unwrap_or(0))?;
        }
    }
    Ok(())
}

/// For a job by its name, or for all rows.
fn sum_of_phases(books: &Books, job: Option<&str>, names: &[&str]) -> u64 {
    let (jobs, phases) = (books.texts("phases", "job"), books.texts("phases", "phase"));
    let (began, ended) = (books.numbers("phases", "began_ps"), books.numbers("phases", "ended_ps"));
    let own = |row: &usize| names.contains(&&*phases[*row]) && job.is_none_or(|job| jobs[*row] == job);
    (0..phases.len()).filter(own).map(|row| ended[row] - began[row]).sum()
}
