//! The final places of pages: summed up by groups of 64 KiB and the memories that have them.

use std::collections::BTreeMap;

use octavo_manager::{MAX_MEMORIES, Manager, MemoryId, PageId, PageRun, PageView};
use octavo_program::{Buffer, pages_of};
use schemars::JsonSchema;
use serde::Serialize;

use crate::observe::record::GROUP_BYTES;
use crate::observe::table::{Column, Table};

/// Pages of a buffer in one memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Placed {
    /// Name of the buffer.
    pub allocation: String,
    /// The memory: `host`, `gpu0`, …
    pub memory: String,
    /// Pages whose home it is: the copy that remote mappings lead to.
    pub pages: u64,
    /// Pages of which it holds a copy, those at home included.
    pub copies: u64,
}

/// Pages at home in a memory, and pages that it holds a copy of.
#[derive(Clone, Copy, Default)]
struct Pages {
    home: u64,
    copies: u64,
}

impl Pages {
    fn add(&mut self, other: &Self) {
        self.home += other.home;
        self.copies += other.copies;
    }
}

/// Pages by group and memory. A page larger than a group counts in its first.
pub(super) struct Placement {
    page_bytes: u64,
    groups: BTreeMap<(u64, MemoryId), Pages>,
}

impl Placement {
    pub const fn new(page_bytes: u64) -> Self {
        Self { page_bytes, groups: BTreeMap::new() }
    }

    /// Forgets the notes about the buffers of a job, which shares no group with others.
    pub fn forget<'b>(&mut self, buffers: impl Iterator<Item = &'b Buffer>) {
        for buffer in buffers {
            let (first, end) = (buffer.base / GROUP_BYTES, (buffer.base + buffer.bytes).div_ceil(GROUP_BYTES));
            let noted = self.groups.range((first, MemoryId(0))..(end, MemoryId(0))).map(|(place, _)| *place);
            noted.collect::<Vec<_>>().iter().for_each(|place| _ = self.groups.remove(place));
        }
    }

    /// Notes where pages of a buffer are now, once for each buffer.
    pub fn note(&mut self, run: PageRun, manager: &Manager) {
        let mut views = manager.pages(run).peekable();
        while let Some(first) = views.peek() {
            let group = self.group(first.page);
            let mut found = [Pages::default(); MAX_MEMORIES];
            while let Some(view) = views.next_if(|view| self.group(view.page) == group) {
                add(&mut found, &view);
            }
            for (memory, pages) in found.iter().enumerate().filter(|(_, pages)| pages.copies > 0) {
                // Two buffers may have parts of one group.
                let sum = self.groups.entry((group, MemoryId(memory as u8))).or_default();
                sum.add(pages);
            }
        }
    }

    fn group(&self, page: PageId) -> u64 {
        u64::from(page.0) * self.page_bytes / GROUP_BYTES
    }

    /// Notes all buffers that have not been freed.
    pub fn note_rest(&mut self, buffers: &[Buffer], manager: &Manager) {
        for pages in pages_of(buffers, self.page_bytes).filter(|pages| !pages.is_empty()) {
            let run = PageRun { first: PageId(pages.start as u32), count: (pages.end - pages.start) as u32 };
            if manager.page(run.first).allocated {
                self.note(run, manager);
            }
        }
    }

    fn of<'p>(&'p self, buffers: &'p [Buffer]) -> impl Iterator<Item = (&'p Buffer, u64, MemoryId, Pages)> {
        let groups = pages_of(buffers, GROUP_BYTES);
        buffers.iter().zip(groups).flat_map(|(buffer, groups)| {
            let noted = self.groups.range((groups.start, MemoryId(0))..(groups.end, MemoryId(0)));
            noted.map(move |((group, memory), pages)| (buffer, *group, *memory, *pages))
        })
    }

    /// Buffers in order, and their memories in order.
    pub fn summed_up(&self, buffers: &[Buffer]) -> Vec<Placed> {
        let mut sums = BTreeMap::<(u64, MemoryId), (&str, Pages)>::new();
        for (buffer, _, memory, pages) in self.of(buffers) {
            sums.entry((buffer.base, memory)).or_insert((&buffer.name, Pages::default())).1.add(&pages);
        }
        let placed = |((_, memory), (name, sum)): (&(u64, MemoryId), &(&str, Pages))| Placed {
            allocation: (*name).to_owned(),
            memory: memory.to_string(),
            pages: sum.home,
            copies: sum.copies,
        };
        sums.iter().map(placed).collect()
    }

    /// One row for each group and each memory that holds pages of it.
    pub fn table(&self, buffers: &[Buffer]) -> Table {
        let rows: Vec<_> = self.of(buffers).collect();
        let column = |name, value: fn(&Pages) -> u64| Column::u64(name, rows.iter().map(|row| value(&row.3)).collect());
        Table::new(
            "placement",
            vec![
                Column::text("allocation", rows.iter().map(|row| row.0.name.clone()).collect()),
                Column::u64("address", rows.iter().map(|row| row.1 * GROUP_BYTES).collect()),
                Column::text("memory", rows.iter().map(|row| row.2.to_string()).collect()),
                column("pages", |pages| pages.home),
                column("copies", |pages| pages.copies),
            ],
        )
    }
}

/// Counts a page in the memories that have it.
fn add(memories: &mut [Pages; MAX_MEMORIES], page: &PageView) {
    for memory in page.resident.iter() {
        memories[memory.index()].add(&Pages { home: u64::from(memory == page.owner), copies: 1 });
    }
}
