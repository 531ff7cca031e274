//! The `events` table: what happened to pages, in order.

use octavo_manager::{ATTRIBUTES, AttributeChange, Cause, HOST_MEMORY, MemoryId, PageRun};

use crate::bound::Recorded;
use crate::observe::table::{Column, Table, Values};

/// Kinds of rows in the `events` table. Changes of a placement's attributes of pages are numbered after them.
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

    pub const fn of_fault(write: bool) -> Self {
        if write { Self::WriteFault } else { Self::ReadFault }
    }

    /// Names of all kinds of rows, by code.
    pub fn names() -> Vec<&'static str> {
        let changes = ATTRIBUTES.iter().flat_map(|attribute| attribute.events).copied();
        Self::NAMES.into_iter().chain(changes).collect()
    }
}

/// The code of a row about `change`; `None` if the value has no name.
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

/// Memories of the host beyond its first are numbered after this many GPUs, or all that there are: from 17 on in nodes of
/// any usual size, so that tables of different nodes can be compared.
const NUMBERED_GPUS: usize = 16;

/// Rows of a chunk, 1.5 MiB; our choice.
const CHUNK: usize = 1 << 16;

/// All rows so far, in order of time, in chunks: they never move, and each is given up when its columns are made.
pub(super) struct Timeline {
    gpus: usize,
    /// All of them have [`CHUNK`] rows but the last.
    chunks: Vec<Vec<Row>>,
}

impl Timeline {
    /// For a node with this many GPUs.
    pub fn new(gpus: usize) -> Self {
        Self { gpus, chunks: vec![Vec::new()] }
    }

    fn number(&self, memory: MemoryId) -> u8 {
        memory.place(self.gpus.max(NUMBERED_GPUS)) as u8
    }

    pub fn push(&mut self, time: u64, kind: EventKind, pages: PageRun, from: MemoryId, to: MemoryId) {
        let (from, to) = (self.number(from), self.number(to));
        self.add(Row { time, kind: kind as u8, page: pages.first.0, pages: pages.count, from, to });
    }

    fn add(&mut self, row: Row) {
        if self.last().len() == CHUNK {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        self.last().push(row);
    }

    fn last(&mut self) -> &mut Vec<Row> {
        self.chunks.last_mut().expect("one is there from the beginning")
    }

    fn rows(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// A row, and its number in each of five columns and its code.
    pub fn recorded(&self) -> Recorded {
        Recorded::rows(self.rows(), size_of::<Row>(), 5 * size_of::<u64>() + 1)
    }

    /// Neighbours that change alike one after another share a row.
    pub fn attribute(&mut self, time: u64, change: &AttributeChange) {
        let Some(kind) = code(change) else { return };
        let page = change.page.0;
        if let Some(last) = self.last().last_mut()
            && (last.time, last.kind) == (time, kind)
            && last.page + last.pages == page
        {
            last.pages += 1;
            return;
        }
        self.add(Row { time, kind, page, pages: 1, from: HOST_MEMORY.0, to: HOST_MEMORY.0 });
    }

    /// One row each, with the time of the note in a column named after that `clock`.
    pub fn table(self, page_bytes: u64, clock: &'static str) -> Table {
        let rows = self.rows();
        let mut numbers: [Vec<u64>; 5] = std::array::from_fn(|_| Vec::with_capacity(rows));
        let mut codes = Vec::with_capacity(rows);
        for row in self.chunks.into_iter().flatten() {
            let address = u64::from(row.page) * page_bytes;
            let values = [row.time, address, row.pages.into(), row.from.into(), row.to.into()];
            numbers.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
            codes.push(row.kind);
        }
        let [times, addresses, pages, from, to] = numbers;
        Table::new(
            "events",
            vec![
                Column::u64(clock, times),
                Column { name: "kind", values: Values::Category { codes, names: EventKind::names() } },
                Column::u64("address", addresses),
                Column::u64("pages", pages),
                Column::u64("from", from),
                Column::u64("to", to),
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
    fn memories_of_the_host_have_numbers_behind_all_gpus() {
        let number = |gpus, memory| Timeline::new(gpus).number(memory);
        assert_eq!([1, 4, 16].map(|gpus| number(gpus, MemoryId::host(1))), [17; 3]);
        let numbers = [MemoryId::gpu(71), MemoryId::host(0), MemoryId::host(1), MemoryId::host(7)];
        assert_eq!(numbers.map(|memory| number(72, memory)), [72, 0, 73, 79]);
    }

    #[test]
    fn neighbours_that_change_alike_share_a_row() {
        let mut timeline = Timeline::new(1);
        let on_touch = |page| AttributeChange { page: PageId(page), attribute: &SCHEME, value: Scheme::OnTouch as u8 };
        for page in [4, 5, 7] {
            timeline.attribute(10, &on_touch(page));
        }
        timeline.attribute(11, &on_touch(8));
        let rows = &timeline.chunks[0];
        let pages: Vec<_> = rows.iter().map(|row| (row.page, row.pages)).collect();
        assert_eq!(pages, [(4, 2), (7, 1), (8, 1)]);
        assert!(rows.iter().all(|row| EventKind::names()[usize::from(row.kind)] == "scheme_on_touch"));
    }

    #[test]
    fn rows_are_in_order_however_many_chunks_there_are() {
        let mut timeline = Timeline::new(1);
        let rows = 2 * CHUNK + 3;
        for time in 0..rows as u64 {
            let page = PageRun { first: PageId(time as u32), count: 1 };
            timeline.push(time, EventKind::Migration, page, HOST_MEMORY, MemoryId::gpu(0));
        }
        assert_eq!(timeline.chunks.iter().map(Vec::len).collect::<Vec<_>>(), [CHUNK, CHUNK, 3]);
        assert_eq!(timeline.recorded(), Recorded::rows(rows, 24, 41));
        let table = timeline.table(4096, "time_ps");
        let column = |index: usize| match &table.columns[index].values {
            Values::U64(values) => values.clone(),
            other => panic!("numbers, not {other:?}"),
        };
        assert!(column(0).into_iter().eq(0..rows as u64));
        assert!(column(2).into_iter().eq((0..rows as u64).map(|page| page * 4096)));
    }
}
