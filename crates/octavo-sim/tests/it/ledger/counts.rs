//! Counts that appear in several tables.

use std::collections::BTreeMap;

use octavo_sim::TABLES;

use super::{Books, Law, at_most, same};

/// Columns of counts, which are kinds of events, too.
const COUNTED: [&str; 8] =
    ["read_fault", "write_fault", "counter", "migration", "duplication", "write_collapse", "eviction", "prefetch"];
/// Columns of `page_groups` that are no counts, or do not sum up: a GPU may ask for pages of several groups.
const NO_SUMS: [&str; 3] = ["allocation", "address", "gpus"];
/// Bytes of address space of a row of `page_groups`.
const GROUP_BYTES: u64 = 64 << 10;

/// The counts of each group of pages are those of its events. Faults that the driver discards have no event, and one
/// for reading that a write joins has that of one for writing.
pub fn events_are_groups(books: &Books) -> Law {
    let mut counted = BTreeMap::<(u64, &str), u64>::new();
    for event in books.events().filter(|event| COUNTED.contains(&event.kind)) {
        for page in event.first..event.first + event.pages {
            *counted.entry((page * books.page_bytes / GROUP_BYTES, event.kind)).or_default() += 1;
        }
    }
    for (row, address) in books.numbers("page_groups", "address").iter().enumerate() {
        let (mut faults, mut events_of_faults) = (0, 0);
        for kind in COUNTED {
            let events = counted.remove(&(address / GROUP_BYTES, kind)).unwrap_or(0);
            let count = books.numbers("page_groups", kind)[row];
            if books.discards && kind.ends_with("_fault") {
                (faults, events_of_faults) = (faults + count, events_of_faults + events);
            } else {
                same(format!("{kind} at {address:#x}"), events, count)?;
            }
        }
        at_most(format!("events of faults at {address:#x}"), events_of_faults, faults)?;
    }
    match counted.into_iter().next() {
        Some(((group, kind), count)) => Err(format!("{count} {kind} at {:#x}, in no group", group * GROUP_BYTES)),
        None => Ok(()),
    }
}

pub fn groups_sum_up(books: &Books) -> Law {
    let (names, addresses) = (books.texts("allocations", "allocation"), books.numbers("allocations", "address"));
    let table = TABLES.iter().find(|table| table.name == "page_groups").expect("every result has it");
    let counts = table.columns.iter().map(|column| column.name).filter(|name| !NO_SUMS.contains(name));
    for column in counts {
        same(column, books.sum("allocations", column), books.sum("page_groups", column))?;
        for (row, name) in
            names.iter().enumerate().filter(|(row, name)| names.iter().position(|other| other == *name) == Some(*row))
        {
            let alike = |table: &str| -> u64 {
                let rows = books.texts(table, "allocation").iter().zip(books.numbers(table, column));
                rows.filter(|(other, _)| *other == name).map(|(_, count)| count).sum()
            };
            same(format!("{column} of {name} at {:#x}", addresses[row]), alike("allocations"), alike("page_groups"))?;
        }
    }
    let remote = books.total("accesses.remote_gpu_lines") + books.total("accesses.remote_host_lines");
    same("remote lines", books.sum("allocations", "remote_lines"), remote)
}

/// Columns of jobs, with the columns of allocations that they sum up.
const OF_JOBS: [(&str, &[&str]); 8] = [
    ("faults", &["read_fault", "write_fault"]),
    ("counters", &["counter"]),
    ("migrations", &["migration"]),
    ("duplications", &["duplication"]),
    ("write_collapses", &["write_collapse"]),
    ("evictions", &["eviction"]),
    ("prefetches", &["prefetch"]),
    ("remote_lines", &["remote_lines"]),
];

pub fn jobs_sum_up(books: &Books) -> Law {
    let Some(jobs) = books.summary.get("jobs").and_then(|jobs| jobs.as_array()) else { return Ok(()) };
    let names = books.texts("jobs", "job");
    for (column, columns) in OF_JOBS {
        let mut all = 0;
        for job in jobs {
            let own = names.iter().zip(books.numbers("jobs", column)).filter(|(name, _)| job["name"] == name.as_str());
            let sum: u64 = own.map(|(_, count)| count).sum();
            same(format!("{column} of {}", job["name"]), sum, job[column].as_u64().unwrap_or(0))?;
            all += sum;
        }
        same(column, all, columns.iter().map(|column| books.sum("allocations", column)).sum())?;
    }
    for job in jobs {
        let complete = names.iter().zip(books.numbers("jobs", "complete"));
        let ended = complete.filter(|(name, complete)| job["name"] == name.as_str() && **complete == 1).count();
        same(format!("repetitions of {}", job["name"]), ended as u64, job["repetitions"].as_u64().unwrap_or(0))?;
    }
    Ok(())
}

/// Columns of intervals, with the totals that they sum up to.
const OF_INTERVALS: [(&str, &[&str]); 14] = [
    ("lines", &["accesses.load_lines", "accesses.store_lines"]),
    ("faults", &["accesses.faults"]),
    ("remote_gpu_lines", &["accesses.remote_gpu_lines"]),
    ("remote_host_lines", &["accesses.remote_host_lines"]),
    ("translations", &["accesses.translations"]),
    ("l1_tlb_hits", &["accesses.l1_tlb_hits"]),
    ("l2_tlb_hits", &["accesses.l2_tlb_hits"]),
    ("walks", &["accesses.walks"]),
    ("migrations", &["manager.migrations"]),
    ("duplications", &["manager.duplications"]),
    ("collapses", &["manager.collapses"]),
    ("remote_maps", &["manager.remote_maps"]),
    ("prefetched", &["manager.prefetched"]),
    ("evictions", &["manager.evictions_written", "manager.evictions_dropped"]),
];

pub fn intervals_sum_up(books: &Books) -> Law {
    if books.table("intervals").is_none() {
        return Ok(());
    }
    for (column, totals) in OF_INTERVALS {
        same(column, books.sum("intervals", column), totals.iter().map(|total| books.total(total)).sum())?;
    }
    if books.table("walks").is_some() {
        let walks = books.total("accesses.walks") + books.total("accesses.host_translations");
        let names = books.texts("walks", "attribute");
        let first = names.iter().zip(books.numbers("walks", "walks")).filter(|(name, _)| **name == names[0]);
        same("walks", first.map(|(_, count)| count).sum(), walks)?;
    }
    let times = books.numbers("intervals", "time_ps");
    if times.is_sorted() { Ok(()) } else { Err(format!("intervals are not in order: {times:?}")) }
}

pub fn launches(books: &Books) -> Law {
    same("rows of kernels", books.texts("kernels", "kernel").len() as u64, books.total("launches"))?;
    if books.table("traffic").is_some() {
        same("rows of traffic", books.texts("traffic", "kernel").len() as u64, books.total("launches"))?;
    }
    Ok(())
}

/// Every fault of a GPU ends, unless the end of the run cuts it short; and most come to the driver.
pub fn faults_end(books: &Books) -> Law {
    let begun = books.total("accesses.faults");
    let arrived = books.sum("allocations", "read_fault") + books.sum("allocations", "write_fault");
    if !books.in_time() {
        return same("faults", arrived, begun);
    }
    let parts = books.texts("fault_waits", "part").iter().zip(books.numbers("fault_waits", "faults"));
    let ended: u64 = parts.filter(|(part, _)| *part == "total").map(|(_, count)| count).sum();
    let cut = books.total("accesses.faults_cut_short");
    same("faults begun, and ended or cut short", begun, ended + cut)?;
    at_most("faults that came to the driver", arrived, begun)?;
    if books.withdraws { Ok(()) } else { at_most("faults that ended", ended, arrived) }
}

/// Pages that the manager counts, with the kind of events that copies them.
const OF_MANAGER: [(&str, &[&str]); 4] = [
    ("migration", &["manager.migrations", "manager.synchronised"]),
    ("duplication", &["manager.duplications", "manager.written_back", "manager.staged"]),
    ("eviction", &["manager.evictions_written", "manager.evictions_to_spare"]),
    ("prefetch", &["manager.prefetched"]),
];

/// Pages that the manager decided about have been copied, or were `placed` where that costs nothing, unless a plan failed
/// or the end cut it short.
pub fn the_manager(books: &Books) -> Law {
    let (mut moved, mut decided) = (0, 0);
    for (kind, totals) in OF_MANAGER {
        let of_kind: u64 = totals.iter().map(|total| books.total(total)).sum();
        at_most(format!("{kind} of pages"), books.sum("allocations", kind), of_kind)?;
        decided += of_kind;
        moved += books.sum("allocations", kind);
    }
    let placed = books.events().filter(|event| event.kind == "placed" && event.from != event.to);
    moved += placed.map(|event| event.pages).sum::<u64>();
    let at_rest = books.total("plans_cut_short") + books.total("manager.failed_plans") == 0;
    // Pages that nobody has touched are not copied when they are prefetched: they come into being.
    if at_rest && books.total("manager.populated") == 0 { same("pages moved", moved, decided) } else { Ok(()) }
}

/// Without time: lines by memory are the totals, and so are those of kernels.
pub fn accesses_sum_up(books: &Books) -> Law {
    if books.in_time() {
        return Ok(());
    }
    let columns = [
        ("load_lines", "accesses.load_lines"),
        ("store_lines", "accesses.store_lines"),
        ("scalar_load_lines", "accesses.scalar_loads"),
    ];
    let mut all = 0;
    for (column, total) in columns {
        let lines = books.sum("accesses", column);
        all += lines;
        if column != "scalar_load_lines" {
            same(column, lines, books.total(total))?;
        }
    }
    let places = ["accesses.local_lines", "accesses.remote_gpu_lines", "accesses.remote_host_lines"];
    same("lines of memories", all, places.iter().map(|place| books.total(place)).sum())
}
