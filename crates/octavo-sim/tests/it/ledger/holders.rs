//! The holders of pages: events are followed from the start, and lead to the final counts.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Books, Event, Law, at_most, same};

/// The holders of copies of pages, by page: a bit for each GPU (there are up to 72), and one for all memories of the host together.
struct Holders<'b> {
    books: &'b Books,
    by_page: BTreeMap<u64, u128>,
    /// Pages that are on the host when their job begins; and whether it begins again.
    filled: Vec<(Range<u64>, bool)>,
    /// Pages that each GPU holds, and the most at once.
    held: Vec<u64>,
    most: Vec<u64>,
}

const HOST: u128 = 1;

impl<'b> Holders<'b> {
    fn new(books: &'b Books) -> Self {
        let names = books.texts("allocations", "allocation").iter();
        let rows = names.zip(books.numbers("allocations", "address")).zip(books.numbers("allocations", "bytes"));
        let filled = rows.filter_map(|((name, address), bytes)| {
            let job = if books.filled == [""] { "" } else { name.split('/').next().unwrap_or_default() };
            let pages = address / books.page_bytes..(address + bytes).div_ceil(books.page_bytes);
            let begins_again = books.texts("jobs", "job").iter().filter(|name| *name == job).count() > 1;
            books.filled.iter().any(|name| name == job).then_some((pages, begins_again))
        });
        let none = vec![0; books.gpus + 1];
        Self { books, by_page: BTreeMap::new(), filled: filled.collect(), held: none.clone(), most: none }
    }

    /// A GPU by its number, else the host.
    fn bit(&self, memory: u64) -> u128 {
        if memory <= self.books.gpus as u64 { 1 << memory } else { HOST }
    }

    fn of(&self, page: u64) -> u128 {
        let filled = self.filled.iter().find(|(pages, _)| pages.contains(&page));
        let at_first = if filled.is_some() { HOST } else { 0 };
        match self.by_page.get(&page) {
            // Its last copy was discarded, and its job has begun again.
            Some(0) if filled.is_some_and(|(_, begins_again)| *begins_again) => HOST,
            known => known.copied().unwrap_or(at_first),
        }
    }

    fn set(&mut self, page: u64, holders: u128) {
        let before = self.of(page);
        for gpu in 1..self.held.len() {
            match (before >> gpu & 1, holders >> gpu & 1) {
                (0, 1) => self.held[gpu] += 1,
                (1, 0) => self.held[gpu] -= 1,
                _ => {}
            }
            self.most[gpu] = self.most[gpu].max(self.held[gpu]);
        }
        self.by_page.insert(page, holders);
    }

    /// The effect of an event on the holders of a page; `None` if that is impossible.
    fn after(&self, event: &Event, holders: u128) -> Option<u128> {
        let (from, to) = (self.bit(event.from), self.bit(event.to));
        let held = holders & from != 0;
        match event.kind {
            "migration" | "write_collapse" | "eviction" | "prefetch" => held.then_some(holders & !from | to),
            "duplication" => held.then_some(holders | to),
            "discard" => held.then_some(holders & !from),
            // A page comes into being where nobody holds it, or goes where it belongs.
            "placed" if event.from == event.to => Some(to),
            "placed" => held.then_some(holders & !from | to),
            _ => Some(holders),
        }
    }

    fn follow(&mut self) -> Law {
        for event in self.books.events() {
            for page in event.first..event.first + event.pages {
                let before = self.of(page);
                let after = self.after(&event, before);
                self.set(page, after.ok_or_else(|| format!("{event:?}: page {page} is held by {before:#b}"))?);
            }
        }
        Ok(())
    }
}

/// Every copy, move and discard is of a page that its source holds; and the remaining pages are those in the final
/// tables.
pub fn events_lead_there(books: &Books) -> Law {
    let mut holders = Holders::new(books);
    holders.follow()?;
    if !books.in_time() {
        return placed(books, &holders);
    }
    let (names, bytes) = (books.texts("memory_intervals", "processor"), books.numbers("memory_intervals", "bytes"));
    if books.total("plans_cut_short") > 0 || names.is_empty() {
        return Ok(());
    }
    for gpu in 0..books.gpus {
        let row = names.iter().rposition(|name| *name == format!("gpu{gpu}")).expect("a row for each memory");
        same(format!("bytes on gpu{gpu}"), holders.held[gpu + 1] * books.page_bytes, bytes[row])?;
    }
    Ok(())
}

/// Without time: copies by group and memory, of programs that free nothing.
fn placed(books: &Books, holders: &Holders<'_>) -> Law {
    if books.filled.is_empty() || books.table("jobs").is_some() {
        return Ok(());
    }
    let names = books.texts("placement", "memory");
    for gpu in 0..books.gpus {
        let rows = names.iter().zip(books.numbers("placement", "copies"));
        let copies = rows.filter(|(name, _)| **name == format!("gpu{gpu}")).map(|(_, copies)| copies).sum();
        same(format!("pages on gpu{gpu}"), holders.held[gpu + 1], copies)?;
    }
    let (pages, copies) = (books.sum("placement", "pages"), books.sum("placement", "copies"));
    at_most("pages, each of which is at home in one memory", pages, copies)
}

/// No GPU ever holds more pages than it has room for, except for those that take none.
pub fn within_capacity(books: &Books) -> Law {
    let Some(capacity) = books.summary["capacity_bytes"].as_u64() else { return Ok(()) };
    if books.total("manager.pages_without_room") > 0 {
        return Ok(());
    }
    let mut holders = Holders::new(books);
    _ = holders.follow();
    for (gpu, most) in holders.most.iter().skip(1).enumerate() {
        at_most(format!("bytes on gpu{gpu}"), most * books.page_bytes, capacity)?;
    }
    let samples = books.texts("memory_intervals", "processor").iter().zip(books.numbers("memory_intervals", "bytes"));
    for (name, bytes) in samples.filter(|(name, _)| name.starts_with("gpu")) {
        at_most(format!("bytes sampled on {name}"), *bytes, capacity)?;
    }
    Ok(())
}

/// The last sample gives the final content of each memory of the host. No sample exceeds its capacity.
pub fn host_memories(books: &Books) -> Law {
    let names = books.texts("memory_intervals", "processor");
    for memory in books.summary["host_memories"].as_array().into_iter().flatten() {
        let number = |key: &str| memory[key].as_u64().unwrap_or(0);
        at_most(format!("bytes at the end in {memory}"), number("bytes"), number("most_bytes"))?;
        if number("capacity_bytes") > 0 {
            at_most(format!("bytes in {memory}"), number("most_bytes"), number("capacity_bytes"))?;
        }
        if let Some(row) = names.iter().rposition(|name| memory["memory"] == name.as_str()) {
            same(format!("{memory}"), books.numbers("memory_intervals", "bytes")[row], number("bytes"))?;
        }
    }
    Ok(())
}
