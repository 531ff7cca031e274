//! Whether moves help: rounds with them, compared with the recording of the same launches without them. Moves that do
//! not help are not repeated.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::apply::placement::{Placement, Recorded};
use crate::events::Event;

/// Rounds after which moves that have not helped are given up; our choice: the first rounds may differ from the others.
const ROUNDS: u64 = 3;
/// How many times the recorded duration to wait for more rounds; our choice.
const FAR: f64 = 1.5;
/// Rounds with copies by the host after which they are trusted if they helped; our choice: measuring costs two events a
/// launch.
const TRUSTED: u64 = 256;

/// Measurements of one sort of move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Measured {
    /// Rounds that were measured.
    rounds: u64,
    /// Nanoseconds with moves, and recorded without.
    ns: i64,
    recorded_ns: i64,
    /// Whether it did not help and is given up.
    pub withdrawn: bool,
}

impl Measured {
    /// Whether anything was measured.
    pub fn is_known(&self) -> bool {
        self.rounds > 0
    }

    /// One more round. Those that are `short` may be late once by chance.
    fn add(&mut self, ns: i64, recorded: i64, short: bool) {
        self.rounds += 1;
        self.ns += ns;
        self.recorded_ns += recorded;
        let far = !short && self.ns as f64 > self.recorded_ns as f64 * FAR;
        self.withdrawn |= far || (self.rounds >= ROUNDS && self.ns > self.recorded_ns);
    }
}

/// Moved bytes of a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    to_device: u64,
    to_device_bytes: u64,
    to_host: u64,
    to_host_bytes: u64,
    discarded: u64,
    /// Copies that the host made itself.
    stored: u64,
    stored_bytes: u64,
}

/// What was done.
#[derive(Debug, Default)]
pub struct Log {
    /// By buffer of the file.
    pub buffers: BTreeMap<usize, Counts>,
    /// Calls that the driver refused.
    pub refused: u64,
}

impl Log {
    /// A buffer's memory goes to the device.
    pub fn brought(&mut self, buffer: usize, bytes: u64) {
        let counts = self.buffers.entry(buffer).or_default();
        counts.to_device += 1;
        counts.to_device_bytes = counts.to_device_bytes.saturating_add(bytes);
    }

    /// To the host.
    pub fn returned(&mut self, buffer: usize, bytes: u64) {
        let counts = self.buffers.entry(buffer).or_default();
        counts.to_host += 1;
        counts.to_host_bytes = counts.to_host_bytes.saturating_add(bytes);
    }

    /// The host made a copy itself.
    pub fn stored(&mut self, buffer: usize, bytes: u64) {
        let counts = self.buffers.entry(buffer).or_default();
        counts.stored += 1;
        counts.stored_bytes = counts.stored_bytes.saturating_add(bytes);
    }

    /// Nowhere.
    pub fn discarded(&mut self, buffer: usize) {
        self.buffers.entry(buffer).or_default().discarded += 1;
    }

    /// The driver did not do it.
    pub fn refused(&mut self) {
        self.refused += 1;
    }
}

/// From the first launch with moves to the last one before a wait; or the time between two launches, in which the host
/// touches pages that were moved to it.
#[derive(Debug)]
pub struct Round {
    of: Of,
    first: u64,
    last: u64,
    begin: Event,
    end: Event,
    ns: Option<i64>,
}

#[derive(Debug)]
enum Of {
    /// Moves to the device at launches of a kernel.
    Site(usize),
    /// Moves of buffers to the host.
    Returns(Vec<usize>),
    /// Launches up to a wait, from the end of the launch before them, and thus with the copies between.
    Hosted,
}

impl Round {
    /// Its duration, if it has ended.
    pub fn read(&mut self) {
        if self.end.is_over() {
            self.ns = self.begin.until(self.end);
        }
    }

    /// Its duration in the recording.
    fn recorded(&self, recorded: &Recorded) -> Option<i64> {
        let at = |ordinal: u64| recorded.launches.get(usize::try_from(ordinal).ok()?);
        if matches!(self.of, Of::Returns(_)) {
            return at(self.last)?.2;
        }
        let without_gap = !matches!(self.of, Of::Hosted);
        (self.first..=self.last).try_fold(0, |sum, ordinal| {
            let (_, ns, gap) = at(ordinal)?;
            Some(sum + (*ns)? + if without_gap && ordinal == self.first { 0 } else { (*gap)? })
        })
    }
}

/// Launches that are measured.
#[derive(Debug)]
struct Open {
    site: usize,
    first: u64,
    last: u64,
    begin: Option<Event>,
    end: Option<Event>,
}

/// The results so far about which moves help.
#[derive(Debug, Default)]
pub struct Trial {
    /// By recorded kernel, and by buffer.
    pub sites: BTreeMap<usize, Measured>,
    pub returns: BTreeMap<usize, Measured>,
    /// Of all copies by the host together.
    pub hosted: Measured,
    /// Whether the next launch is measured for that, and the launches that are since a wait.
    hosts: bool,
    copying: Option<Round>,
    /// What was done.
    pub log: Log,
    open: Option<Open>,
    /// The launch before a return, and when it ended.
    ended: Option<(u64, Event)>,
    returning: Vec<usize>,
    done: Vec<Round>,
    /// Nanoseconds that were gained in all rounds that were measured.
    pub gained: i64,
}

impl Trial {
    /// Whether moves at launches of a kernel have not been found useless.
    pub fn allows(&self, site: usize) -> bool {
        self.sites.get(&site).is_none_or(|measured| !measured.withdrawn)
    }

    /// The same of moves of a buffer to the host.
    pub fn returns(&self, buffer: usize) -> bool {
        self.returns.get(&buffer).is_none_or(|measured| !measured.withdrawn)
    }

    /// A buffer goes to the host before the next wait.
    pub fn returning(&mut self, buffer: usize) {
        self.returning.push(buffer);
    }

    /// A launch begins, before which something moves or not; whether the host makes copies. Whether it is timed: only
    /// recorded launches are.
    pub fn before_launch(
        &mut self,
        ordinal: u64,
        site: Option<usize>,
        moves: bool,
        hosts: bool,
        file: &Placement,
    ) -> bool {
        let recorded = usize::try_from(ordinal).ok().and_then(|ordinal| file.recorded.launches.get(ordinal));
        let Some((kernel, Some(_), _)) = recorded.filter(|(kernel, ..)| site == Some(*kernel)) else {
            (self.open, self.ended, self.copying) = (None, None, None);
            return false;
        };
        if moves && self.open.is_none() {
            self.open = Some(Open { site: *kernel, first: ordinal, last: ordinal, begin: None, end: None });
        }
        self.hosts = hosts && self.hosted.rounds < TRUSTED;
        self.open.is_some() || !self.returning.is_empty() || self.hosts
    }

    /// It was launched between two events, which are kept: no more launches are timed than were recorded.
    pub fn after_launch(&mut self, ordinal: u64, (begin, end): (Event, Event)) {
        let before = self.ended.take();
        if let Some((_, before)) = before
            && !self.returning.is_empty()
        {
            let of = Of::Returns(std::mem::take(&mut self.returning));
            self.done.push(Round { of, first: ordinal, last: ordinal, begin: before, end: begin, ns: None });
        } else if self.hosts && self.open.is_none() {
            self.copied(ordinal, before, end);
        }
        self.ended = Some((ordinal, end));
        if let Some(open) = &mut self.open {
            open.last = ordinal;
            open.begin.get_or_insert(begin);
            open.end = Some(end);
        }
    }

    /// A launch has ended between copies of the host.
    fn copied(&mut self, ordinal: u64, before: Option<(u64, Event)>, end: Event) {
        if let Some(round) = &mut self.copying {
            (round.last, round.end) = (ordinal, end);
        } else if let Some((_, begin)) = before.filter(|(last, _)| last + 1 == ordinal) {
            self.copying = Some(Round { of: Of::Hosted, first: ordinal, last: ordinal, begin, end, ns: None });
        }
    }

    /// The host has waited: rounds that can be read.
    pub fn after_wait(&mut self) -> Vec<Round> {
        self.done.extend(self.copying.take());
        if let Some(Open { site, first, last, begin: Some(begin), end: Some(end) }) = self.open.take() {
            self.done.push(Round { of: Of::Site(site), first, last, begin, end, ns: None });
        }
        std::mem::take(&mut self.done)
    }

    /// Compares rounds with the recording; unfinished rounds wait.
    pub fn judge(&mut self, rounds: Vec<Round>, file: &Placement) {
        for round in rounds {
            let Some(ns) = round.ns else {
                self.done.push(round);
                continue;
            };
            let Some(recorded) = round.recorded(&file.recorded) else { continue };
            self.gained += recorded - ns;
            match &round.of {
                Of::Site(site) => self.sites.entry(*site).or_default().add(ns, recorded, false),
                Of::Returns(buffers) => {
                    for buffer in buffers {
                        self.returns.entry(*buffer).or_default().add(ns, recorded, false);
                    }
                }
                Of::Hosted => self.hosted.add(ns, recorded, true),
            }
        }
    }
}
