//! The `events` table: what happened to pages, in the order it happened.

use octavo_manager::{ATTRIBUTES, AttributeChange, Cause, HOST_MEMORY, MemoryId, PageRun};

use crate::observe::table::{Column, Table, Values};

/// Kinds of rows in the `events` table. Changes of what a placement keeps about a page are numbered after them.
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
}

impl EventKind {
    /// Names in the table, by code.
    const NAMES: [&str; 11] = [
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
    ];
    /// The first kinds are also counted for allocations and page groups.
    pub const COUNTED: usize = 8;
    pub const COUNTED_NAMES: [&str; Self::COUNTED] =
        ["read_fault", "write_fault", "counter", "migration", "duplication", "write_collapse", "eviction", "prefetch"];

    pub const fn of(cause: Cause) -> Self {
        match cause {
            Cause::Migration | Cause::RemoteMap => Self::Migration,
            // There is one more copy, and the source keeps its own.
            Cause::Duplication | Cause::WriteBack | Cause::Staging => Self::Duplication,
            Cause::WriteCollapse => Self::WriteCollapse,
            Cause::Eviction => Self::Eviction,
            Cause::Prefetch => Self::Prefetch,
        }
    }

    /// Names of all kinds of rows, by code.
    pub fn names() -> Vec<&'static str> {
        let changes = ATTRIBUTES.iter().flat_map(|attribute| attribute.events).copied();
        Self::NAMES.into_iter().chain(changes).collect()
    }
}

/// The code of a row that tells of `change`; `None` if the value has no name.
fn code(change: &AttributeChange) -> Option<u8> {
    let index = ATTRIBUTES.iter().position(|known| std::ptr::eq(*known, change.attribute))?;
    let before: usize = ATTRIBUTES[..index].iter().map(|attribute| attribute.events.len()).sum();
    let event = usize::from(change.value).checked_sub(1)?;
    Some((EventKind::NAMES.len() + before + event) as u8)
}

/// One row.
#[derive(Clone, Copy)]
struct Row {
    time: u64,
    /// An [`EventKind`], or beyond these.
    kind: u8,
    page: u32,
    pages: u32,
    from: u8,
    to: u8,
}

/// All rows so far, in order of time.
#[derive(Default)]
pub(super) struct Timeline(Vec<Row>);

impl Timeline {
    pub fn push(&mut self, time: u64, kind: EventKind, pages: PageRun, from: MemoryId, to: MemoryId) {
        self.0.push(Row { time, kind: kind as u8, page: pages.first.0, pages: pages.count, from: from.0, to: to.0 });
    }

    /// Neighbours that change alike one after another share a row.
    pub fn attribute(&mut self, time: u64, change: &AttributeChange) {
        let Some(kind) = code(change) else { return };
        let page = change.page.0;
        if let Some(last) = self.0.last_mut()
            && (last.time, last.kind) == (time, kind)
            && last.page + last.pages == page
        {
            last.pages += 1;
            return;
        }
        self.0.push(Row { time, kind, page, pages: 1, from: HOST_MEMORY.0, to: HOST_MEMORY.0 });
    }

    /// One row each, with what they were noted at in a column of the name of that `clock`.
    pub fn table(&self, page_bytes: u64, clock: &'static str) -> Table {
        let rows = &self.0;
        let column = |name, value: fn(&Row) -> u64| Column::u64(name, rows.iter().map(value).collect());
        let codes = rows.iter().map(|row| row.kind).collect();
        let addresses = rows.iter().map(|row| u64::from(row.page) * page_bytes).collect();
        Table::new(
            "events",
            vec![
                column(clock, |row| row.time),
                Column { name: "kind", values: Values::Category { codes, names: EventKind::names() } },
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
    use octavo_manager::{PageId, SCHEME, Scheme};

    use super::*;

    #[test]
    fn counted_kinds_are_the_first_and_have_the_same_names() {
        assert_eq!(EventKind::NAMES[..EventKind::COUNTED], EventKind::COUNTED_NAMES);
        assert_eq!(EventKind::Prefetch as usize + 1, EventKind::COUNTED);
        assert_eq!(EventKind::Discard as usize + 1, EventKind::NAMES.len());
    }

    #[test]
    fn neighbours_that_change_alike_share_a_row() {
        let mut timeline = Timeline::default();
        let on_touch = |page| AttributeChange { page: PageId(page), attribute: &SCHEME, value: Scheme::OnTouch as u8 };
        for page in [4, 5, 7] {
            timeline.attribute(10, &on_touch(page));
        }
        timeline.attribute(11, &on_touch(8));
        let pages: Vec<_> = timeline.0.iter().map(|row| (row.page, row.pages)).collect();
        assert_eq!(pages, [(4, 2), (7, 1), (8, 1)]);
        assert!(timeline.0.iter().all(|row| EventKind::names()[usize::from(row.kind)] == "scheme_on_touch"));
    }
}
