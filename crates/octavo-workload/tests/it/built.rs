//! Workloads that several tests look at. Each is built once, as graphs take longer to make than to check.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

use octavo_program::{Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;

/// The seed of tests that need no particular one.
pub const SEED: u64 = 11;

/// Empty until the first test that asks has built it; others wait for that.
type Built = OnceLock<Box<dyn Workload>>;

/// A registered workload by name, with its default options.
pub fn build(name: &str, scale: f64, seed: u64) -> Box<dyn Workload> {
    WORKLOADS.build(&Choice::named(name), &Size { scale, seed }).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The same, kept for the other tests.
pub fn built(name: &str, scale: f64) -> &'static dyn Workload {
    static ALL: Mutex<BTreeMap<(String, u64), &'static Built>> = Mutex::new(BTreeMap::new());
    let key = (name.to_owned(), scale.to_bits());
    let one = *ALL.lock().unwrap().entry(key).or_insert_with(|| Box::leak(Box::default()));
    &**one.get_or_init(|| build(name, scale, SEED))
}
