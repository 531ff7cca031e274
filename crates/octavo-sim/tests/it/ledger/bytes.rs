//! Bytes on links: pages times their size, lines times theirs.

use std::collections::BTreeMap;

use super::{Books, Law, at_most, same};

/// Bytes of a line.
const LINE: u64 = 64;
/// Columns of `links` that are kinds of events.
const CAUSES: [&str; 5] = ["migration", "duplication", "write_collapse", "eviction", "prefetch"];
/// All columns of bytes.
const COLUMNS: [&str; 8] =
    ["lines", "migration", "duplication", "write_collapse", "eviction", "prefetch", "control", "copies"];

impl Books {
    /// Bytes for one purpose that left a GPU, and that came to it, whichever way they took.
    fn of_gpu(&self, gpu: usize, column: &str) -> (u64, u64) {
        let rows = || self.texts("links", "link").iter().zip(self.numbers("links", column));
        let (out, into) = (format!("gpu{gpu}->"), format!("->gpu{gpu}"));
        let sum = |is: &dyn Fn(&str) -> bool| rows().filter(|(name, _)| is(name)).map(|(_, bytes)| bytes).sum();
        (sum(&|name| name.starts_with(&out)), sum(&|name| name.ends_with(&into)))
    }
}

/// Pages that leave a GPU, and pages that come to it, are the ones that events copy.
pub fn pages_on_links(books: &Books) -> Law {
    if books.table("links").is_none() {
        return Ok(());
    }
    let mut copied = BTreeMap::<(&str, u64, bool), u64>::new();
    for event in books.events().filter(|event| CAUSES.contains(&event.kind) && event.from != event.to) {
        *copied.entry((event.kind, event.from, true)).or_default() += event.pages * books.page_bytes;
        *copied.entry((event.kind, event.to, false)).or_default() += event.pages * books.page_bytes;
    }
    for gpu in 0..books.gpus {
        for cause in CAUSES {
            let (out, into) = books.of_gpu(gpu, cause);
            let events = |out| copied.get(&(cause, gpu as u64 + 1, out)).copied().unwrap_or(0);
            same(format!("{cause} out of gpu{gpu}"), events(true), out)?;
            same(format!("{cause} into gpu{gpu}"), events(false), into)?;
        }
    }
    Ok(())
}

/// A remote line is a request and an answer, of which one carries the line; between GPUs both leave one and come to the
/// other. A store that is sent on to a replica is a line and its header.
pub fn lines_on_links(books: &Books) -> Law {
    if books.table("links").is_none() || books.total("host.gpu_lines") > 0 {
        return Ok(());
    }
    let ends = (0..books.gpus).map(|gpu| books.of_gpu(gpu, "lines"));
    let bytes: u64 = ends.map(|(out, into)| out + into).sum();
    let (among, host) = (books.total("accesses.remote_gpu_lines"), books.total("accesses.remote_host_lines"));
    let both_ways = 2 * books.header + LINE;
    let sent_on = 2 * (books.header + LINE) * books.total("accesses.broadcast_lines");
    let least = 2 * both_ways * among + both_ways * host + sent_on;
    at_most("bytes of lines without what lone ones take more", least, bytes)?;
    at_most("bytes of lines", bytes, least + books.lone * host)
}

pub fn programs_copies(books: &Books) -> Law {
    let Some(expected) = books.copied else { return Ok(()) };
    if !books.in_time() {
        return same("bytes copied", books.total("moved.copies_bytes"), expected);
    }
    let ends = (0..books.gpus).map(|gpu| books.of_gpu(gpu, "copies"));
    same("bytes copied", ends.map(|(out, into)| out + into).sum(), expected)
}

pub fn link_intervals(books: &Books) -> Law {
    if books.table("link_intervals").is_none() {
        return Ok(());
    }
    let mut sums = BTreeMap::<&str, (u64, u64)>::new();
    let (bytes, busy) = (books.numbers("link_intervals", "bytes"), books.numbers("link_intervals", "busy_ps"));
    for (row, link) in books.texts("link_intervals", "link").iter().enumerate() {
        let sum = sums.entry(link).or_default();
        *sum = (sum.0 + bytes[row], sum.1 + busy[row]);
    }
    for (row, link) in books.texts("links", "link").iter().enumerate() {
        let (bytes, busy) = sums.get(&**link).copied().unwrap_or_default();
        same(
            format!("bytes of {link}"),
            bytes,
            COLUMNS.iter().map(|column| books.numbers("links", column)[row]).sum(),
        )?;
        same(format!("busy_ps of {link}"), busy, books.numbers("links", "busy_ps")[row])?;
    }
    Ok(())
}

/// Purposes of moves without time, with their kinds of events.
const MOVED: [(&str, &[&str]); 5] = [
    ("migration", &["moved.migration_bytes"]),
    ("duplication", &["moved.duplication_bytes", "moved.write_back_bytes"]),
    ("write_collapse", &["moved.write_collapse_bytes"]),
    ("eviction", &["moved.eviction_bytes"]),
    ("prefetch", &["moved.prefetch_bytes"]),
];

pub fn moved(books: &Books) -> Law {
    if books.in_time() {
        return Ok(());
    }
    for (kind, totals) in MOVED {
        let pages: u64 = books.events().filter(|event| event.kind == kind).map(|event| event.pages).sum();
        same(kind, pages * books.page_bytes, totals.iter().map(|total| books.total(total)).sum())?;
    }
    Ok(())
}

/// Each line that memory reads or writes for the caches is listed once.
pub fn lines_of_memory(books: &Books) -> Law {
    let Some([read, written]) = books.lines else { return Ok(()) };
    same("lines read", read, books.total("accesses.dram_reads"))?;
    same("lines written", written, books.total("accesses.dram_writes"))
}

/// On coherent nodes: traffic over time sums up to lines of memories, and to the traffic of the links to the host.
pub fn traffic(books: &Books) -> Law {
    if books.table("traffic_intervals").is_none() {
        return Ok(());
    }
    let same_sum = |column: &str, bytes: u64| same(column, books.sum("traffic_intervals", column), bytes);
    same_sum("hbm_read_bytes", LINE * books.total("accesses.dram_reads"))?;
    same_sum("hbm_written_bytes", LINE * books.total("accesses.dram_writes"))?;
    let carried = |is: &dyn Fn(&str) -> bool, columns: &[&str]| -> u64 {
        let rows = books.texts("links", "link").iter().enumerate().filter(|(_, link)| is(link));
        rows.map(|(row, _)| columns.iter().map(|column| books.numbers("links", column)[row]).sum::<u64>()).sum()
    };
    let pages = [&CAUSES[..], &["copies"]].concat();
    for (way, is) in [
        ("from_host", &(|link: &str| link.starts_with("host->gpu")) as &dyn Fn(&str) -> bool),
        ("to_host", &|link: &str| link.starts_with("gpu") && link.ends_with("->host")),
    ] {
        same_sum(&format!("{way}_line_bytes"), carried(is, &["lines"]))?;
        same_sum(&format!("{way}_page_bytes"), carried(is, &pages))?;
    }
    Ok(())
}
