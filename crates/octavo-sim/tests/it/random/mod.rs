//! Random scenarios of real parts: every shipped node, strategies of all kinds, drivers, programs, jobs. Each ends in a
//! result whose tables agree, or in a message.
//!
//! A scenario depends on its number alone. A scenario that breaks a law is shortened as far as possible, and printed.

mod choice;
mod draw;
mod parts;
mod play;
mod programs;
mod scenario;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use octavo_scenario::{Source, resolve};

use self::play::{Played, play};
use self::scenario::Drawn;
use crate::ledger::Books;

/// The number of scenarios of a soak, if it is not 10,000.
const COUNT: &str = "OCTAVO_SOAK_SCENARIOS";
/// The number of the first one, if not 0.
const FIRST: &str = "OCTAVO_SOAK_FIRST";

/// The results of many scenarios.
#[derive(Default)]
struct Tally {
    ends: BTreeMap<&'static str, u64>,
    broken: Vec<(u64, String)>,
}

/// The meaning of a scenario, and the law that it breaks; without a setting that only a run refuses.
fn verdict(mut drawn: Drawn) -> (Drawn, &'static str, Vec<String>) {
    loop {
        let Ok(resolved) = drawn.resolved() else { return (drawn, "invalid", Vec::new()) };
        match play(&resolved) {
            Played::Ended(books) => {
                let broken = books.broken();
                return (drawn, "ended", broken);
            }
            Played::Refused { key, reason } => match key.and_then(|key| drawn.without(&key)) {
                Some(left) => drawn = left,
                None => {
                    println!("refused: {reason}");
                    return (drawn, "refused", Vec::new());
                }
            },
            Played::Left(why) => return (drawn, why, Vec::new()),
            Played::Broken(why) => return (drawn, "broken", vec![why]),
        }
    }
}

/// The books of a scenario that ends, by its settings.
pub fn ended(settings: &[String]) -> Books {
    let text = settings.join("\n");
    let resolved = resolve(Source { name: "test", text: &text }, &[]).unwrap_or_else(|error| panic!("{error}"));
    match play(&resolved) {
        Played::Ended(books) => *books,
        Played::Refused { reason, .. } | Played::Broken(reason) => panic!("{reason}\n{text}"),
        Played::Left(why) => panic!("{why}\n{text}"),
    }
}

/// The scenario without all that the broken law does not need.
fn shortened(drawn: Drawn, broken: &str) -> Drawn {
    let law = |text: &str| text.split(':').next().unwrap_or_default().to_owned();
    let mut shortest = drawn;
    for at in (1..shortest.0.len().saturating_sub(1)).rev() {
        let mut shorter = shortest.clone();
        if at + 1 >= shorter.0.len() {
            continue; // It went with another, which a run refused.
        }
        shorter.0.remove(at);
        let (played, _, found) = verdict(shorter);
        if found.iter().any(|found| law(found) == law(broken)) {
            shortest = played;
        }
    }
    shortest
}

fn soak(first: u64, count: u64) -> Tally {
    let (next, tally) = (AtomicU64::new(first), Mutex::new(Tally::default()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= first + count {
                return;
            }
            let (drawn, end, broken) = verdict(Drawn::of(number).0);
            let drawn = broken.first().map_or(drawn.clone(), |broken| shortened(drawn, broken));
            let mut tally = tally.lock().expect("nobody panics here");
            *tally.ends.entry(end).or_default() += 1;
            if !broken.is_empty() {
                let why = broken.join("\n");
                println!("scenario {number} ({FIRST}={number}): {why}\n{drawn}");
                tally.broken.push((number, why));
            }
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    tally.into_inner().expect("nobody panicked")
}

fn judge(tally: &Tally) {
    println!("{:?}", tally.ends);
    assert!(tally.broken.is_empty(), "{:?}", tally.broken);
}

/// A few of them.
#[test]
fn random_scenarios_end_and_their_tables_agree() {
    judge(&soak(0, 40));
}

/// Scenarios that once broke a law, which the first line of each file names.
#[test]
fn scenarios_that_broke_a_law_once_keep_all() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/random/found");
    let mut files: Vec<_> = folder.read_dir().expect("the folder").map(|file| file.expect("a file").path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a scenario");
        let settings: Vec<String> = text.lines().map(str::to_owned).collect();
        assert_eq!(ended(&settings).broken(), Vec::<String>::new(), "{}", file.display());
    }
}

#[test]
#[ignore = "takes long: `make soak`"]
fn very_many_random_scenarios() {
    judge(&soak(asked(FIRST).unwrap_or(0), asked(COUNT).unwrap_or(10_000)));
}

fn asked(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|number| number.parse().unwrap_or_else(|_| panic!("{variable}: expected a number, found {number}")))
}
