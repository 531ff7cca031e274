//! The `events` table: what happened to pages, in the order it happened.

use octavo_manager::{Cause, HOST, PageId, PageRun, ProcessorId, Scheme};

use crate::observe::table::{Column, Table, Values};

/// Kinds of rows in the `events` table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum EventKind {
    ReadFault,
    WriteFault,
    Counter,
    Migration,
    Duplication,
    WriteCollapse,
    Eviction,
    Prefetch,
    /// A page gets its place at no cost (`ideal`, `interleaved`).
    Placed,
    /// A mapping to another processor's memory.
    RemoteMap,
    /// A copy is given up without being written anywhere.
    Discard,
    SchemeOnTouch,
    SchemeAccessCounter,
    SchemeDuplication,
}

impl EventKind {
    /// Names in the table, by code.
    pub const NAMES: [&str; 14] = [
        "read_fault",
        "write_fault",
        "counter",
        "migration",
        "duplication",
        "write_collapse",
        "eviction",
        "prefetch",
        "placed",
        "remote_map",
        "discard",
        "scheme_on_touch",
        "scheme_access_counter",
        "scheme_duplication",
    ];
    /// The first kinds are also counted for allocations and page groups.
    pub const COUNTED: usize = 8;
    pub const COUNTED_NAMES: [&str; Self::COUNTED] =
        ["read_fault", "write_fault", "counter", "migration", "duplication", "write_collapse", "eviction", "prefetch"];

    pub const fn of(cause: Cause) -> Self {
        match cause {
            Cause::Migration | Cause::RemoteMap => Self::Migration,
            Cause::Duplication => Self::Duplication,
            Cause::WriteCollapse => Self::WriteCollapse,
            Cause::Eviction => Self::Eviction,
            Cause::Prefetch => Self::Prefetch,
        }
    }

    const fn of_scheme(scheme: Scheme) -> Self {
        match scheme {
            Scheme::OnTouch => Self::SchemeOnTouch,
            Scheme::AccessCounter => Self::SchemeAccessCounter,
            Scheme::Duplication => Self::SchemeDuplication,
        }
    }
}

/// One row.
#[derive(Clone, Copy)]
struct Row {
    time: u64,
    kind: EventKind,
    page: u32,
    pages: u32,
    from: u8,
    to: u8,
}

/// All rows so far, in order of time.
#[derive(Default)]
pub(super) struct Timeline(Vec<Row>);

impl Timeline {
    pub fn push(&mut self, time: u64, kind: EventKind, pages: PageRun, from: ProcessorId, to: ProcessorId) {
        self.0.push(Row { time, kind, page: pages.first.0, pages: pages.count, from: from.0, to: to.0 });
    }

    /// Neighbours that change to the same scheme one after another share a row.
    pub fn scheme(&mut self, time: u64, page: PageId, scheme: Scheme) {
        let kind = EventKind::of_scheme(scheme);
        if let Some(last) = self.0.last_mut()
            && (last.time, last.kind) == (time, kind)
            && last.page + last.pages == page.0
        {
            last.pages += 1;
            return;
        }
        self.push(time, kind, PageRun { first: page, count: 1 }, HOST, HOST);
    }

    pub fn table(&self, page_bytes: u64) -> Table {
        let rows = &self.0;
        let column = |name, value: fn(&Row) -> u64| Column::u64(name, rows.iter().map(value).collect());
        let codes = rows.iter().map(|row| row.kind as u8).collect();
        let addresses = rows.iter().map(|row| u64::from(row.page) * page_bytes).collect();
        Table::new(
            "events",
            vec![
                column("time_ps", |row| row.time),
                Column { name: "kind", values: Values::Category { codes, names: EventKind::NAMES.to_vec() } },
                Column::u64("address", addresses),
                column("pages", |row| u64::from(row.pages)),
                column("from", |row| u64::from(row.from)),
                column("to", |row| u64::from(row.to)),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_kinds_are_the_first_and_have_the_same_names() {
        assert_eq!(EventKind::NAMES[..EventKind::COUNTED], EventKind::COUNTED_NAMES);
        assert_eq!(EventKind::Prefetch as usize + 1, EventKind::COUNTED);
        assert_eq!(EventKind::SchemeDuplication as usize + 1, EventKind::NAMES.len());
    }

    #[test]
    fn neighbours_that_change_alike_share_a_row() {
        let mut timeline = Timeline::default();
        for page in [4, 5, 7] {
            timeline.scheme(10, PageId(page), Scheme::OnTouch);
        }
        timeline.scheme(11, PageId(8), Scheme::OnTouch);
        let pages: Vec<_> = timeline.0.iter().map(|row| (row.page, row.pages)).collect();
        assert_eq!(pages, [(4, 2), (7, 1), (8, 1)]);
    }
}
