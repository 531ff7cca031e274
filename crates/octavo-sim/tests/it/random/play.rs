//! Plays a scenario within bounds: a hang or a panic is a result like any other.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use octavo_node::CapacityError;
use octavo_program::Action;
use octavo_scenario::{Again, ExecutorChoice, Part, Resolved, Scenario};
use octavo_sim::{
    InstantOptions, InstantProgress, Job, Kept, MemoryBound, MemoryLine, Progress, Repeat, RunOptions, SimError, Table,
    TakeLine, estimate_memory, run_jobs_at_once, simulate_jobs,
};
use octavo_units::Time;
use serde_json::Value;

use crate::ledger::Books;

/// Looks at a run, each after 65,536 events, after which it is too long to be played to its end.
const LOOKS: u32 = 160;
/// Looks in which nothing is done before an instant run is one that hangs. A run in time has the simulator's own
/// watchdog, which knows what a report is.
const IDLE_LOOKS: u32 = 48;
/// Looks at most.
const MOST_LOOKS: u32 = 600;
/// Real time after which it is too long, too: where most lines fault, there is much work between two looks.
const LONG: Duration = Duration::from_secs(60);
/// Real time after which a run counts as one that hangs: it no longer comes to be looked at.
const PATIENCE: Duration = Duration::from_secs(300);
/// Bytes of memory above which a scenario is not played.
const MOST_MEMORY: u64 = 1 << 30;
/// Bytes that this process may use while one is played, several at once: the size of the records is unknown beforehand.
const BOUND: MemoryBound<'_> = MemoryBound { limit: 8 << 30, around: 0, in_use: &resident };

/// Bytes of memory that this process has; none where the system does not tell.
fn resident() -> u64 {
    const PAGE: u64 = 4096;
    let told = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    told.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * PAGE
}

/// A summary as JSON, and tables.
type Results = (Value, Vec<Table>);

/// The result of a scenario.
pub enum Played {
    /// It ended.
    Ended(Box<Books>),
    /// It says why it cannot be, and which key would have to be another: memory that is too small, a kernel that does not
    /// fit.
    Refused { key: Option<String>, reason: String },
    /// It is too long, or too large, to be played to its end.
    Left(&'static str),
    /// It broke a law that holds for all: it hangs, panics, or reports a defect in itself.
    Broken(String),
}

/// Plays a scenario in a thread of its own.
pub fn play(resolved: &Resolved) -> Played {
    let scenario = resolved.scenario.clone();
    let (answer, answers) = sync_channel(1);
    let playing = thread::Builder::new().name("a random scenario".to_owned()).spawn(move || {
        let played = catch_unwind(AssertUnwindSafe(|| played(&scenario)));
        drop(answer.send(played.unwrap_or_else(|panic| Played::Broken(format!("panics: {}", words(&*panic))))));
    });
    playing.expect("there is room for a thread");
    match answers.recv_timeout(PATIENCE) {
        Ok(played) => played,
        Err(RecvTimeoutError::Timeout) => Played::Broken("hangs between two events".to_owned()),
        Err(RecvTimeoutError::Disconnected) => Played::Broken("its thread vanished".to_owned()),
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without words").to_owned()
}

fn played(scenario: &Scenario) -> Played {
    let built = match scenario.built_while(&mut || ControlFlow::Continue(())) {
        Ok(built) => built,
        Err(refused) => return Played::Refused { key: None, reason: refused.to_string() },
    };
    // With the memories that it has at its scale.
    let (scenario, parts) = (&Scenario { node: built.node, memory: built.memory, ..scenario.clone() }, &built.parts);
    let jobs: Vec<Job<'_>> = parts.iter().map(job).collect();
    let in_time = matches!(scenario.executor, ExecutorChoice::Simulated(_));
    let kept = Kept { in_time, events: true, intervals: in_time, walks: scenario.record.walks };
    match estimate_memory(&scenario.node, &scenario.memory, &jobs, kept) {
        Ok(needed) if needed.total() > MOST_MEMORY => return Played::Left("memory"),
        Ok(_) => {}
        Err(error) => return judged(error, false),
    }
    let mut looks = Looks { began: Instant::now(), all: 0, idle: 0, done: [0; 3] };
    let result = match &scenario.executor {
        ExecutorChoice::Simulated(choice) => in_time_of(scenario, choice.replicate, &jobs, &mut looks),
        ExecutorChoice::Instant(choice) => at_once(scenario, choice.turn, &jobs, &mut looks).map(|found| (found, None)),
    };
    match result {
        Ok((result, lines)) => {
            let launches = parts.iter().filter(|part| part.program.is_none());
            let filled = launches.map(|part| part.name.clone()).collect();
            Played::Ended(Box::new(Books { lines, ..Books::new(scenario, result, copied(parts), filled) }))
        }
        Err(error) => judged(error, !in_time && looks.idle >= IDLE_LOOKS),
    }
}

/// A part of a scenario as the simulator takes it.
fn job(part: &Part) -> Job<'_> {
    let repeat = match part.again {
        Again::Times(times) => Repeat::Times(times),
        Again::UntilAll => Repeat::UntilAll,
        Again::Until(other) => Repeat::Until(other),
    };
    Job {
        program: part.program.as_ref(),
        existence: part.existence,
        gpus: part.gpus,
        start: part.start,
        repeat,
        share: part.share,
        idle: part.idle,
        memory: part.memory.clone(),
        ..Job::named(&part.name, part.workload.as_ref())
    }
}

/// Bytes that a program alone copies itself; nothing of jobs, which may run again.
fn copied(parts: &[Part]) -> Option<u64> {
    let [part] = parts else { return None };
    let actions = part.program.iter().flat_map(|program| program.actions());
    let bytes = actions.map(|ordered| match &ordered.action {
        Action::Copy { to, .. } => to.len(),
        _ => 0,
    });
    Some(bytes.sum())
}

/// The result, and how many lines memories read and wrote one by one, if they are simulated.
type InTime = (Results, Option<[u64; 2]>);

fn in_time_of(scenario: &Scenario, replicate: u32, jobs: &[Job<'_>], looks: &mut Looks) -> Result<InTime, SimError> {
    let (mut lines, mut last) = ([0; 2], 0);
    let mut take = |line: MemoryLine| {
        assert!(line.time >= last && line.gpu < scenario.node.gpus as usize, "{line:?} comes after {last} ps");
        last = line.time;
        lines[usize::from(line.write)] += 1;
        Ok(())
    };
    let listed = scenario.node.settles().is_none();
    let mut look = |state: Progress| looks.look([state.lines, state.groups_done, u64::from(state.launches_done)]);
    let options = RunOptions {
        record_events: true,
        record_walks: scenario.record.walks,
        interval: scenario.record.interval,
        replicate,
        timeline: None,
        lines: listed.then_some(&mut take as &mut TakeLine<'_>),
        time_limit: Some(Time(1 << 50)),
        memory: Some(BOUND),
        progress: Some(&mut look),
    };
    let result = simulate_jobs(&scenario.node, &scenario.memory, jobs, options)?;
    let summary = serde_json::to_value(&result.summary).expect("a summary can be written");
    Ok(((summary, result.tables), listed.then_some(lines)))
}

fn at_once(scenario: &Scenario, turn: u32, jobs: &[Job<'_>], looks: &mut Looks) -> Result<Results, SimError> {
    let mut look = |state: InstantProgress| looks.look([state.lines, state.groups_done, 0]);
    let options = InstantOptions {
        turn,
        report_lines: None,
        record_events: true,
        memory: Some(BOUND),
        progress: Some(&mut look),
    };
    let result = run_jobs_at_once(&scenario.node, &scenario.memory, jobs, options)?;
    let summary = serde_json::to_value(&result.summary).expect("a summary can be written");
    Ok((summary, result.tables))
}

/// Looks at how far a run is.
struct Looks {
    began: Instant,
    all: u32,
    /// Looks since something was done.
    idle: u32,
    done: [u64; 3],
}

impl Looks {
    fn look(&mut self, done: [u64; 3]) -> ControlFlow<()> {
        self.all += 1;
        self.idle = if done == self.done { self.idle + 1 } else { 0 };
        self.done = done;
        let is_long = (self.all >= LOOKS || self.began.elapsed() > LONG) && self.idle < IDLE_LOOKS;
        if is_long || self.all >= MOST_LOOKS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The meaning of an error: most are messages for users.
fn judged(error: SimError, is_idle: bool) -> Played {
    match error {
        SimError::Interrupted if is_idle => Played::Broken("hangs: no access is served any more".to_owned()),
        SimError::Interrupted => Played::Left("long"),
        SimError::MemoryMet(_) => Played::Left("memory"),
        SimError::Stuck { .. }
        | SimError::NoProgress(_)
        | SimError::TooLong { .. }
        | SimError::OverTime { .. }
        | SimError::Strategy(_) => Played::Broken(format!("is its own defect: {error}")),
        error => Played::Refused { key: key(&error), reason: error.to_string() },
    }
}

/// The key that an error names.
fn key(error: &SimError) -> Option<String> {
    match error {
        SimError::Capacity(CapacityError::TooFew { key, .. } | CapacityError::TooMuch { key, .. }) => Some(key.clone()),
        SimError::Memory(error) => Some(format!("memory.{}", error.key)),
        SimError::Node(error) => Some(format!("node.{}", error.key)),
        _ => None,
    }
}
