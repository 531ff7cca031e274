//! The books of a run: all tables and totals of one result speak of the same events, and must agree.
//!
//! Each law is one sentence about a result. None knows how a run decides, and all hold for every scenario.

mod bytes;
mod columns;
mod counts;
mod holders;
mod times;

use std::collections::BTreeMap;

use octavo_driver::config::{Replay, ServiceModel};
use octavo_scenario::Scenario;
use octavo_sim::{Column, Table, Values};
use serde_json::Value;

/// A result, and the parts of its scenario that the laws need.
#[derive(Clone, Debug)]
pub struct Books {
    /// The summary in the form of its file.
    pub summary: Value,
    pub tables: Vec<Table>,
    pub page_bytes: u64,
    /// Bytes of a request of a remote line.
    pub header: u64,
    /// What a line of the host may take more.
    pub lone: u64,
    pub gpus: usize,
    /// Whether faults may arrive at the driver, and be discarded before it takes them.
    pub discards: bool,
    /// Whether faults may be withdrawn before they arrive.
    pub withdraws: bool,
    /// Names of the jobs of which only launches run: all their pages are on the host at first, and again whenever they
    /// begin. Pages of others come into being.
    pub filled: Vec<String>,
    /// Bytes that the program itself copies; none if that is unknown.
    pub copied: Option<u64>,
    /// Lines that memories of GPUs read and wrote, if each was listed.
    pub lines: Option<[u64; 2]>,
}

/// Why a result is wrong.
pub type Law = Result<(), String>;

type Check = fn(&Books) -> Law;

/// Every law, by name.
const LAWS: [(&str, Check); 23] = [
    ("events are the counts of page groups", counts::events_are_groups),
    ("page groups sum up to allocations", counts::groups_sum_up),
    ("jobs sum up to allocations and are the summary's", counts::jobs_sum_up),
    ("intervals sum up to the totals", counts::intervals_sum_up),
    ("launches are those of the table", counts::launches),
    ("faults that began have ended or were cut short", counts::faults_end),
    ("what the manager counts has happened", counts::the_manager),
    ("accesses without time sum up", counts::accesses_sum_up),
    ("pages on links are those that events copy", bytes::pages_on_links),
    ("lines on links are those that were accessed", bytes::lines_on_links),
    ("lines that are listed are those that memories read and write", bytes::lines_of_memory),
    ("programs' copies are on links", bytes::programs_copies),
    ("link intervals sum up to links", bytes::link_intervals),
    ("traffic is what passes memories and links", bytes::traffic),
    ("memories of the host hold what was sampled last", holders::host_memories),
    ("bytes moved without time are those of events", bytes::moved),
    ("pages are where events lead", holders::events_lead_there),
    ("no memory holds more than it can", holders::within_capacity),
    ("parts of waits sum up to waits", times::waits),
    ("phases sum up, and nothing ends after the end", times::phases),
    ("stalls sum up to the time of wavefronts", times::stalls),
    ("tables have the columns that are told of them", columns::columns),
    ("totals have the keys that are told of them", columns::totals),
];

impl Books {
    /// The books of a result of a scenario.
    pub fn new(
        scenario: &Scenario,
        (summary, mut tables): (Value, Vec<Table>),
        copied: Option<u64>,
        filled: Vec<String>,
    ) -> Self {
        let page_bytes = scenario.memory.decision_size().expect("the scenario ran").0;
        let (header, gpus) = (scenario.node.remote.header.0, scenario.node.gpus as usize);
        let lone = scenario.node.remote.lone_header.map_or(0, |lone| lone.0.saturating_sub(header));
        let service = &scenario.node.driver.service;
        let discards = matches!(service, ServiceModel::Batch(batch) if batch.replay == Replay::BatchFlush);
        let withdraws = scenario.node.fault_buffer.as_ref().is_some_and(|buffer| buffer.interval.0 > 0);
        tables.iter_mut().flat_map(|table| &mut table.columns).for_each(spell_out);
        Self { summary, tables, page_bytes, header, lone, gpus, discards, withdraws, filled, copied, lines: None }
    }

    /// All laws that it breaks.
    pub fn broken(&self) -> Vec<String> {
        let broken = LAWS.iter().filter_map(|(name, law)| Some(format!("{name}: {}", law(self).err()?)));
        broken.collect()
    }

    /// Pages that events copy, by kind.
    pub fn copied_pages(&self) -> BTreeMap<&'static str, u64> {
        let mut pages = BTreeMap::new();
        let copies = self.events().filter(|event| event.from != event.to && !event.kind.ends_with("_fault"));
        for event in copies.filter(|event| event.kind != "remote_map") {
            *pages.entry(event.kind).or_default() += event.pages;
        }
        pages
    }

    /// Whether it is of a run in simulated time.
    fn in_time(&self) -> bool {
        self.summary.get("executor").is_none()
    }

    /// A total by its path; 0 if it is left out, as rare ones are.
    fn total(&self, path: &str) -> u64 {
        let value = path.split('.').try_fold(&self.summary, |value, key| value.get(key));
        value.and_then(Value::as_u64).unwrap_or(0)
    }

    fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// A column of numbers; empty without the table.
    fn numbers(&self, table: &str, column: &str) -> &[u64] {
        match self.values(table, column) {
            Some(Values::U64(numbers)) => numbers,
            _ => &[],
        }
    }

    /// A column of text; empty without the table.
    fn texts(&self, table: &str, column: &str) -> &[String] {
        match self.values(table, column) {
            Some(Values::Text(texts)) => texts,
            _ => &[],
        }
    }

    fn values(&self, table: &str, column: &str) -> Option<&Values> {
        let table = self.table(table)?;
        table.columns.iter().find(|found| found.name == column).map(|column| &column.values)
    }

    fn sum(&self, table: &str, column: &str) -> u64 {
        self.numbers(table, column).iter().sum()
    }

    /// The records of pages, in order.
    fn events(&self) -> impl Iterator<Item = Event> + '_ {
        let (codes, names) = match self.values("events", "kind") {
            Some(Values::Category { codes, names }) => (&codes[..], &names[..]),
            _ => (&[][..], &[][..]),
        };
        let column = |name| self.numbers("events", name);
        let (addresses, pages, from, to) = (column("address"), column("pages"), column("from"), column("to"));
        codes.iter().enumerate().map(move |(row, code)| {
            let first = addresses[row] / self.page_bytes;
            Event { kind: names[usize::from(*code)], first, pages: pages[row], from: from[row], to: to[row] }
        })
    }
}

/// A column of rounds becomes one of texts.
fn spell_out(column: &mut Column) {
    if let Values::Rounds { round, rounds } = &column.values {
        column.values = Values::Text((0..*rounds).flat_map(|_| round.clone()).collect());
    }
}

/// A row of `events`.
#[derive(Clone, Copy, Debug)]
struct Event {
    kind: &'static str,
    first: u64,
    pages: u64,
    from: u64,
    to: u64,
}

/// Two counts of the same thing.
fn same(what: impl std::fmt::Display, one: u64, other: u64) -> Law {
    if one == other { Ok(()) } else { Err(format!("{what}: {one} and {other}")) }
}

/// A count of finished things among those that were started.
fn at_most(what: impl std::fmt::Display, part: u64, whole: u64) -> Law {
    if part <= whole { Ok(()) } else { Err(format!("{what}: {part} of {whole}")) }
}
