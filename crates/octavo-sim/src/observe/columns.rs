//! The tables of a result, and the meaning of each of their columns.

use serde::Serialize;

use crate::observe::table::{Table, Values};

/// What a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TableMeaning {
    /// File name without ending.
    pub name: &'static str,
    /// The thing that a row describes.
    pub row: &'static str,
    /// Its columns, in order.
    pub columns: &'static [ColumnMeaning],
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnMeaning {
    /// Its name.
    pub name: &'static str,
    /// The type of its values: `u64`, `text` or `category`.
    pub kind: &'static str,
    /// The unit of its values; empty for names, counts and codes.
    pub unit: &'static str,
    /// What a value says.
    pub meaning: &'static str,
    /// Which results have it.
    pub of: Of,
}

/// Which results have a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// All that have the table.
    All,
    /// Those of jobs.
    Jobs,
    /// Tables of runs in simulated time.
    Timed,
    /// Tables of runs without time.
    Untimed,
}

/// Every table of a run.
pub const TABLES: &[TableMeaning] = &[
    table("allocations", "allocation", ALLOCATIONS),
    table("page_groups", "64 KiB of an allocation", PAGE_GROUPS),
    table("links", "direction of a link, and further memory of the host", LINKS),
    table("kernels", "launch", KERNELS),
    table("stalls", "kernel, what its wavefronts did or waited for, and allocation", STALLS),
    table("jobs", "repetition of a job", JOBS),
    table("traffic", "launch, on coherent nodes", TRAFFIC),
    table("capacity", "change of a GPU's memory", CAPACITY),
    table("phases", "action of a whole program", PHASES),
    table("fault_waits", "range of times that a part of a wait took", FAULT_WAITS),
    table("intervals", "interval", INTERVALS),
    table("traffic_intervals", "interval, on coherent nodes", TRAFFIC_INTERVALS),
    table("link_intervals", "interval and direction of a link", LINK_INTERVALS),
    table("memory_intervals", "interval and processor, or further memory of the host", MEMORY_INTERVALS),
    table("events", "event on neighbouring pages", EVENTS),
    table("walks", "value of the attribute that a placement keeps for each page", WALKS),
    table("placement", "64 KiB of an allocation and memory that has pages of it", PLACEMENT),
    table("accesses", "GPU and memory that served it", ACCESSES),
];

const ADDRESS: ColumnMeaning = number("address", "bytes", "where it begins");
const ALLOCATION: ColumnMeaning = text("allocation", "its name");
const KERNEL: ColumnMeaning = text("kernel", "its name");
const BEGAN: ColumnMeaning = number("began_ps", "ps", "when it began");
const ENDED: ColumnMeaning = number("ended_ps", "ps", "when it ended");
const INTERVAL_END: ColumnMeaning = number("time_ps", "ps", "when the interval ended");

const ALLOCATIONS: &[ColumnMeaning] =
    &counted::<{ 3 + COUNTS.len() }>(&[ALLOCATION, ADDRESS, number("bytes", "bytes", "how large it is")]);
const PAGE_GROUPS: &[ColumnMeaning] = &counted::<{ 2 + COUNTS.len() }>(&[ALLOCATION, ADDRESS]);
/// The counts of groups of pages, in the order of `record::tables::count_columns`.
const COUNTS: &[ColumnMeaning] = &[
    number("read_fault", "requests", "faults of loads that the driver saw"),
    number("write_fault", "requests", "faults of stores that the driver saw"),
    number("counter", "requests", "notifications of access counters that the driver saw"),
    number("migration", "pages", "moved"),
    number("duplication", "pages", "copied so that both keep them"),
    number("write_collapse", "pages", "copied to a writer, while all other copies went"),
    number("eviction", "pages", "copied to make room"),
    number("prefetch", "pages", "copied before anyone asked for them"),
    number("remote_lines", "lines", "accessed in another processor's memory"),
    number("gpus", "GPUs", "that asked for one of the pages or got a copy"),
];
const LINKS: &[ColumnMeaning] = &[
    text("link", "its name"),
    number("busy_ps", "ps", "how long it carried anything"),
    number("lines", "bytes", "lines in another processor's memory, with the headers of request and answer"),
    number("migration", "bytes", "pages that moved"),
    number("duplication", "bytes", "pages that were copied so that both keep them"),
    number("write_collapse", "bytes", "pages that were copied to a writer"),
    number("eviction", "bytes", "pages that were copied to make room"),
    number("prefetch", "bytes", "pages that were copied before anyone asked for them"),
    number("control", "bytes", "messages of driver and page tables"),
    number("copies", "bytes", "copies that a program asked for"),
];
const KERNELS: &[ColumnMeaning] = &[
    KERNEL,
    BEGAN.only(Of::Timed),
    ENDED.only(Of::Timed),
    number("run_ps", "ps", "how long it ran, without the gap to the next launch").only(Of::Timed),
    number("wavefronts", "wavefronts", "that it had").only(Of::Timed),
    number("wavefront_ps", "ps", "from the beginning of each to its end, summed").only(Of::Timed),
    number("lines", "lines", "that it accessed").only(Of::Untimed),
];
const STALLS: &[ColumnMeaning] = &[
    KERNEL,
    ColumnMeaning {
        name: "stall",
        kind: "category",
        unit: "",
        meaning: "what its wavefronts did or waited for",
        of: Of::All,
    },
    text("allocation", "whose lines they waited for; empty if for none"),
    number("wavefront_ps", "ps", "that its wavefronts spent so, summed"),
    number("waits", "waits", "that ended with it"),
];
const JOBS: &[ColumnMeaning] = &[
    text("job", "its name"),
    number("repetition", "", "which one, from 1"),
    BEGAN.only(Of::Timed),
    ENDED.only(Of::Timed),
    number("began_lines", "lines", "that all jobs had accessed when it began").only(Of::Untimed),
    number("ended_lines", "lines", "that all jobs had accessed when it ended").only(Of::Untimed),
    number("complete", "", "0 if the end of the run cut it off, else 1"),
    number("faults", "requests", "faults that the driver saw on its pages"),
    number("counters", "requests", "notifications of access counters that the driver saw"),
    number("migrations", "pages", "moved"),
    number("duplications", "pages", "copied so that both keep them"),
    number("write_collapses", "pages", "copied to a writer, while all other copies went"),
    number("evictions", "pages", "copied to make room"),
    number("prefetches", "pages", "copied before anyone asked for them"),
    number("remote_lines", "lines", "accessed in another processor's memory"),
];
const LEVELS: [ColumnMeaning; 9] = [
    number("l1_l2_bytes", "bytes", "lines of the own memory beyond the L1 cache"),
    number("hbm_read_bytes", "bytes", "lines that were read from GPU memory"),
    number("hbm_written_bytes", "bytes", "lines that were written to GPU memory"),
    number("from_host_line_bytes", "bytes", "lines that came from the host"),
    number("from_host_page_bytes", "bytes", "pages that came from the host"),
    number("to_host_line_bytes", "bytes", "lines that went to the host"),
    number("to_host_page_bytes", "bytes", "pages that went to the host"),
    number("lpddr_read_bytes", "bytes", "read from the host's first memory"),
    number("lpddr_written_bytes", "bytes", "written to the host's first memory"),
];
const TRAFFIC: &[ColumnMeaning] = &[
    KERNEL, BEGAN, ENDED, LEVELS[0], LEVELS[1], LEVELS[2], LEVELS[3], LEVELS[4], LEVELS[5], LEVELS[6], LEVELS[7],
    LEVELS[8],
];
const TRAFFIC_INTERVALS: &[ColumnMeaning] =
    &[INTERVAL_END, LEVELS[0], LEVELS[1], LEVELS[2], LEVELS[3], LEVELS[4], LEVELS[5], LEVELS[6], LEVELS[7], LEVELS[8]];
const CAPACITY: &[ColumnMeaning] = &[
    number("time_ps", "ps", "when it changed"),
    number("gpu", "", "whose memory"),
    number("bytes", "bytes", "that there are from then on; 0 without a limit"),
];
const PHASES: &[ColumnMeaning] = &[
    text("job", "whose action").only(Of::Jobs),
    number("action", "", "which action of the program"),
    text("phase", "what kind of action"),
    text("name", "of the buffer, kernel or phase"),
    BEGAN,
    ENDED,
];
const FAULT_WAITS: &[ColumnMeaning] = &[
    text("part", "of the wait; `total` for all of it"),
    number("from_ps", "ps", "where the range begins"),
    number("below_ps", "ps", "below what it ends"),
    number("faults", "faults", "that took as long"),
    number("sum_ps", "ps", "that they took together"),
];
const INTERVALS: &[ColumnMeaning] = &[
    INTERVAL_END,
    number("lines", "lines", "that GPUs accessed"),
    number("faults", "faults", "that GPUs sent to the driver"),
    number("remote_gpu_lines", "lines", "accessed in another GPU's memory"),
    number("remote_host_lines", "lines", "accessed in the host's memory"),
    number("translations", "translations", "asked of L1 TLBs"),
    number("l1_tlb_hits", "translations", "that L1 TLBs had"),
    number("l2_tlb_hits", "translations", "that L2 TLBs had"),
    number("walks", "walks", "of page tables"),
    number("migrations", "pages", "moved"),
    number("duplications", "pages", "copied so that both keep them"),
    number("collapses", "pages", "copied to a writer, while all other copies went"),
    number("remote_maps", "mappings", "made to another processor's memory"),
    number("prefetched", "pages", "copied before anyone asked for them"),
    number("evictions", "pages", "written or given up to make room"),
];
const LINK_INTERVALS: &[ColumnMeaning] = &[
    INTERVAL_END,
    text("link", "its name"),
    number("bytes", "bytes", "that it carried"),
    number("busy_ps", "ps", "how long it carried anything"),
];
const MEMORY_INTERVALS: &[ColumnMeaning] = &[
    INTERVAL_END,
    text("processor", "or further memory of the host"),
    number("bytes", "bytes", "of the pages that it holds"),
];
const EVENTS: &[ColumnMeaning] = &[
    number("time_ps", "ps", "when it happened").only(Of::Timed),
    number("lines", "lines", "that were accessed before").only(Of::Untimed),
    ColumnMeaning { name: "kind", kind: "category", unit: "", meaning: "what happened", of: Of::All },
    ADDRESS,
    number("pages", "pages", "from the address on"),
    number("from", "", "which memory or processor, 0 for the host"),
    number("to", "", "which memory or processor, 0 for the host"),
];
const WALKS: &[ColumnMeaning] = &[
    text("attribute", "what the placement keeps"),
    text("value", "what it is of a page"),
    number("walks", "walks", "of pages that had it then"),
];
const PLACEMENT: &[ColumnMeaning] = &[
    ALLOCATION,
    ADDRESS,
    text("memory", "which has pages of it"),
    number("pages", "pages", "whose home it is"),
    number("copies", "pages", "that it holds a copy of, those at home included"),
];
const ACCESSES: &[ColumnMeaning] = &[
    text("gpu", "whose accesses"),
    text("memory", "which served them"),
    number("load_lines", "lines", "that it loaded"),
    number("store_lines", "lines", "that it stored"),
    number("scalar_load_lines", "lines", "that its scalar units loaded"),
];

/// Columns, and the counts behind them.
const fn counted<const ALL: usize>(first: &[ColumnMeaning]) -> [ColumnMeaning; ALL] {
    let mut all = [COUNTS[0]; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < first.len() { first[at] } else { COUNTS[at - first.len()] };
        at += 1;
    }
    all
}

const fn table(name: &'static str, row: &'static str, columns: &'static [ColumnMeaning]) -> TableMeaning {
    TableMeaning { name, row, columns }
}

const fn number(name: &'static str, unit: &'static str, meaning: &'static str) -> ColumnMeaning {
    ColumnMeaning { name, kind: "u64", unit, meaning, of: Of::All }
}

const fn text(name: &'static str, meaning: &'static str) -> ColumnMeaning {
    ColumnMeaning { name, kind: "text", unit: "", meaning, of: Of::All }
}

impl ColumnMeaning {
    const fn only(mut self, of: Of) -> Self {
        self.of = of;
        self
    }
}

impl Table {
    /// Whether the table is as [`TABLES`] says, in a result of a run in simulated time or without it.
    ///
    /// # Errors
    /// What was expected, and what it is.
    pub fn as_described(&self, timed: bool) -> Result<(), String> {
        let table = TABLES.iter().find(|table| table.name == self.name);
        let table = table.ok_or_else(|| format!("no table is called `{}`", self.name))?;
        let found: Vec<_> = self.columns.iter().map(|column| (column.name, column.values.kind())).collect();
        let told = table.columns.iter().filter(|column| match column.of {
            Of::All => true,
            Of::Timed => timed,
            Of::Untimed => !timed,
            Of::Jobs => found.iter().any(|(name, _)| *name == column.name),
        });
        let told: Vec<_> = told.map(|column| (column.name, column.kind)).collect();
        if found == told { Ok(()) } else { Err(format!("`{}` has {found:?}, expected {told:?}", self.name)) }
    }
}

impl Values {
    /// Their names in tables of meanings: `u64`, `f64`, `text` or `category`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::U64(_) => "u64",
            Self::F64(_) => "f64",
            Self::Text(_) | Self::Rounds { .. } => "text",
            Self::Category { .. } => "category",
        }
    }
}
