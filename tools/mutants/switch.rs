//! Which mutant is switched on, from the environment. Copied into the crate that is being tested; never part of Octavo.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The number of the mutant that is switched on.
const MUTANT: &str = "OCTAVO_MUTANT";
/// A file that is to hold the numbers of all mutants that are reached, four bytes each.
const REACHED: &str = "OCTAVO_MUTANTS_REACHED";

const UNREAD: u32 = u32::MAX;
const RECORD: u32 = u32::MAX - 1;
const NONE: u32 = u32::MAX - 2;

static ACTIVE: AtomicU32 = AtomicU32::new(UNREAD);
static SEEN: [AtomicU64; 512] = [const { AtomicU64::new(0) }; 512];

/// Is this mutant switched on?
#[inline]
pub fn on(mutant: u32) -> bool {
    let active = ACTIVE.load(Relaxed);
    active == mutant || (active >= RECORD && special(mutant))
}

/// What this mutant makes of a value. It counts as reached only where that makes a difference.
#[inline]
pub fn pick(mutant: u32, value: bool, changed: impl Fn() -> bool) -> bool {
    let active = ACTIVE.load(Relaxed);
    if active == mutant {
        return changed();
    }
    if active >= RECORD && changed() != value && special(mutant) {
        return changed();
    }
    value
}

#[cold]
fn special(mutant: u32) -> bool {
    if ACTIVE.load(Relaxed) == UNREAD {
        let named = env::var(MUTANT).ok().and_then(|number| number.parse().ok());
        let idle = if env::var_os(REACHED).is_some() { RECORD } else { NONE };
        ACTIVE.store(named.unwrap_or(idle), Relaxed);
        return on(mutant);
    }
    let (word, bit) = (mutant as usize / 64, 1 << (mutant % 64));
    if SEEN[word].fetch_or(bit, Relaxed) & bit == 0 {
        let path = env::var_os(REACHED).expect("asked for before");
        let mut file = OpenOptions::new().append(true).create(true).open(path).expect("the file can be written");
        file.write_all(&mutant.to_le_bytes()).expect("the file can be written");
    }
    false
}

/// One of two iterators, for functions that return some iterator.
#[derive(Clone)]
pub enum Either<A, B> {
    A(A),
    B(B),
}

impl<T, A: Iterator<Item = T>, B: Iterator<Item = T>> Iterator for Either<A, B> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match self {
            Self::A(one) => one.next(),
            Self::B(other) => other.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::A(one) => one.size_hint(),
            Self::B(other) => other.size_hint(),
        }
    }
}

impl<T, A, B> DoubleEndedIterator for Either<A, B>
where
    A: DoubleEndedIterator<Item = T>,
    B: DoubleEndedIterator<Item = T>,
{
    fn next_back(&mut self) -> Option<T> {
        match self {
            Self::A(one) => one.next_back(),
            Self::B(other) => other.next_back(),
        }
    }
}

impl<T, A: ExactSizeIterator<Item = T>, B: ExactSizeIterator<Item = T>> ExactSizeIterator for Either<A, B> {}
