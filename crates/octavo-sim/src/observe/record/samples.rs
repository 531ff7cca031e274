//! The interval tables: events, and the places of pages, from one sample to the next.
//!
//! They do not grow with simulated time: once there are [`MOST`] intervals, each two become one that is twice as long,
//! and so do later ones.

use octavo_manager::{Manager, Statistics};

use crate::bound::Recorded;
use crate::fabric::links::LinkUse;
use crate::gpu::counts::Accesses;
use crate::observe::table::{Column, TEXT_BYTES, Table};

/// Columns of the `intervals` table besides the time.
const NAMES: [&str; 14] = [
    "lines",
    "faults",
    "remote_gpu_lines",
    "remote_host_lines",
    "translations",
    "l1_tlb_hits",
    "l2_tlb_hits",
    "walks",
    "migrations",
    "duplications",
    "collapses",
    "remote_maps",
    "prefetched",
    "evictions",
];

/// Intervals that a run keeps at most, exclusive; our choice: more than any picture shows, and more than a second at the
/// default interval. An even number.
pub(crate) const MOST: usize = 10_000;

fn totals(accesses: &Accesses, manager: &Statistics) -> [u64; NAMES.len()] {
    [
        accesses.load_lines + accesses.store_lines,
        accesses.faults,
        accesses.remote_gpu_lines,
        accesses.remote_host_lines,
        accesses.translations,
        accesses.l1_tlb_hits,
        accesses.l2_tlb_hits,
        accesses.walks,
        manager.migrations,
        manager.duplications,
        manager.collapses,
        manager.remote_maps,
        manager.prefetched,
        manager.evictions_written + manager.evictions_dropped,
    ]
}

/// Samples so far.
pub(super) struct Samples {
    /// Simulated time from one to the next.
    interval: u64,
    time: Vec<u64>,
    counts: [Vec<u64>; NAMES.len()],
    links: LinkSamples,
    memory: MemorySamples,
    /// Totals at the last sample.
    last: [u64; NAMES.len()],
    /// Intervals at most.
    most: usize,
}

/// One row for each sample and link.
#[derive(Default)]
struct LinkSamples {
    time: Vec<u64>,
    /// Their names, in the order of the rows of a sample.
    names: Vec<String>,
    bytes: Vec<u64>,
    busy: Vec<u64>,
    /// Bytes and time at the last sample.
    last: Vec<(u64, u64)>,
}

/// One row for each sample and processor.
#[derive(Default)]
struct MemorySamples {
    time: Vec<u64>,
    /// Their names, in the order of the rows of a sample.
    names: Vec<String>,
    bytes: Vec<u64>,
}

impl Samples {
    pub fn every(interval: u64) -> Self {
        Self {
            interval,
            time: Vec::new(),
            counts: Default::default(),
            links: LinkSamples::default(),
            memory: MemorySamples::default(),
            last: [0; NAMES.len()],
            most: MOST,
        }
    }

    /// Simulated time until the next sample.
    pub fn interval(&self) -> u64 {
        self.interval
    }

    /// When intervals ended, ascending.
    pub fn ends(&self) -> &[u64] {
        &self.time
    }

    pub fn push(&mut self, time: u64, accesses: &Accesses, manager: &Manager, links: &[LinkUse]) {
        let totals = totals(accesses, &manager.statistics());
        self.time.push(time);
        for ((column, now), last) in self.counts.iter_mut().zip(totals).zip(self.last) {
            column.push(now - last);
        }
        self.last = totals;
        self.links.push(time, links);
        self.memory.push(time, manager);
        if self.time.len() == self.most {
            self.widen();
        }
    }

    /// Numbers of each row, in the form in which they are written, and the text of those of links and memories.
    pub fn recorded(&self) -> Recorded {
        const NUMBER: usize = size_of::<u64>();
        let named = |rows, numbers| Recorded::rows(rows, numbers * NUMBER, numbers * NUMBER + TEXT_BYTES);
        let (links, memory) = (named(self.links.time.len(), 3), named(self.memory.time.len(), 2));
        let own = (NAMES.len() + 1) * NUMBER;
        Recorded::rows(self.time.len(), own, own).and(links).and(memory)
    }

    /// Makes one interval of each two.
    fn widen(&mut self) {
        self.links.widen(self.time.len());
        self.memory.widen(self.time.len());
        second_of_two(&mut self.time, 1);
        self.counts.iter_mut().for_each(|counts| sum_of_two(counts, 1));
        self.interval *= 2;
    }

    pub fn tables(self) -> [Table; 3] {
        let mut columns = vec![Column::u64("time_ps", self.time)];
        columns.extend(NAMES.into_iter().zip(self.counts).map(|(name, counts)| Column::u64(name, counts)));
        [Table::new("intervals", columns), self.links.table(), self.memory.table()]
    }
}

impl LinkSamples {
    fn push(&mut self, time: u64, links: &[LinkUse]) {
        if self.names.is_empty() {
            self.names = links.iter().map(|link| link.name.clone()).collect();
            self.last = vec![(0, 0); links.len()];
        }
        for (link, last) in links.iter().zip(&mut self.last) {
            let bytes = link.bytes.iter().sum::<u64>();
            self.time.push(time);
            self.bytes.push(bytes - last.0);
            self.busy.push(link.busy - last.1);
            *last = (bytes, link.busy);
        }
    }

    fn widen(&mut self, samples: usize) {
        let links = self.time.len() / samples;
        second_of_two(&mut self.time, links);
        sum_of_two(&mut self.bytes, links);
        sum_of_two(&mut self.busy, links);
    }

    fn table(self) -> Table {
        let samples = self.time.len() / self.names.len().max(1);
        let columns = vec![
            Column::u64("time_ps", self.time),
            Column::rounds("link", self.names, samples),
            Column::u64("bytes", self.bytes),
            Column::u64("busy_ps", self.busy),
        ];
        Table::new("link_intervals", columns)
    }
}

impl MemorySamples {
    fn push(&mut self, time: u64, manager: &Manager) {
        let geometry = manager.geometry();
        if self.names.is_empty() {
            self.names = manager.memories().map(|memory| memory.to_string()).collect();
        }
        for memory in manager.memories() {
            self.time.push(time);
            self.bytes.push(manager.pages_held(memory) * geometry.page_size.0);
        }
    }

    fn widen(&mut self, samples: usize) {
        let memories = self.time.len() / samples;
        second_of_two(&mut self.time, memories);
        second_of_two(&mut self.bytes, memories);
    }

    fn table(self) -> Table {
        let samples = self.time.len() / self.names.len().max(1);
        let columns = vec![
            Column::u64("time_ps", self.time),
            Column::rounds("processor", self.names, samples),
            Column::u64("bytes", self.bytes),
        ];
        Table::new("memory_intervals", columns)
    }
}

/// For each two samples of `width` rows, the sums row by row.
fn sum_of_two(rows: &mut Vec<u64>, width: usize) {
    let sums = |two: &[u64]| -> Vec<u64> { (0..width).map(|row| two[row] + two[width + row]).collect() };
    *rows = rows.chunks_exact(2 * width.max(1)).flat_map(sums).collect();
}

/// Keeps the second of each two samples of `width` rows.
fn second_of_two(rows: &mut Vec<u64>, width: usize) {
    *rows = rows.chunks_exact(2 * width.max(1)).flat_map(|two| two[width..].to_vec()).collect();
}

#[cfg(test)]
mod tests {
    use octavo_manager::{MemoryConfig, Topology};

    use super::*;
    use crate::observe::table::Values;

    /// Samples of a link that carries this many bytes in each 5 ps; at most `most` intervals.
    fn sampled(most: usize, sent: &[u64]) -> Samples {
        let manager = Manager::new(&MemoryConfig::default(), &Topology::unlimited(1)).unwrap();
        let mut samples = Samples { most, ..Samples::every(5) };
        let (mut done, mut accesses) = (0, Accesses::default());
        let mut link = LinkUse { name: "a->b".to_owned(), busy: 0, bytes: Default::default() };
        while done < sent.len() {
            // As a machine does: it asks after each sample when the next is due.
            let until = (done + samples.interval() as usize / 5).min(sent.len());
            let bytes: u64 = sent[done..until].iter().sum();
            accesses.load_lines += bytes;
            link.bytes[0] += bytes;
            link.busy += 2 * bytes;
            done = until;
            samples.push(done as u64 * 5, &accesses, &manager, std::slice::from_ref(&link));
        }
        samples
    }

    fn column(table: &Table, name: &str) -> Vec<u64> {
        let column = table.columns.iter().find(|column| column.name == name).unwrap();
        let Values::U64(values) = &column.values else { panic!("{name} is of numbers") };
        values.clone()
    }

    #[test]
    fn two_become_one_where_there_would_be_too_many() {
        let [all, links, memory] = sampled(4, &[1, 2, 3, 4, 5, 6, 7, 8, 9]).tables();
        // Four of 5 ps become two of 10; with two more they are four again, and become two of 20; then 5 ps are left.
        assert_eq!(column(&all, "time_ps"), [20, 40, 45]);
        assert_eq!(column(&all, "lines"), [10, 26, 9]);
        assert_eq!(column(&links, "time_ps"), [20, 40, 45]);
        assert_eq!(column(&links, "bytes"), [10, 26, 9]);
        assert_eq!(column(&links, "busy_ps"), [20, 52, 18]);
        // The host and a GPU at each of three times.
        assert_eq!(column(&memory, "time_ps"), [20, 20, 40, 40, 45, 45]);
    }

    #[test]
    fn below_the_limit_every_interval_stays() {
        let [all, ..] = sampled(4, &[1, 2, 3]).tables();
        assert_eq!(column(&all, "time_ps"), [5, 10, 15]);
        assert_eq!(column(&all, "lines"), [1, 2, 3]);
    }

    #[test]
    fn however_long_a_run_the_tables_stay_small_and_add_up() {
        for length in 1..400 {
            let sent: Vec<u64> = (0..length).map(|number| number * 7 % 11).collect();
            let [all, links, memory] = sampled(8, &sent).tables();
            let times = column(&all, "time_ps");
            assert!(times.len() < 8 && times.is_sorted(), "{times:?}");
            assert_eq!(times.last(), Some(&(length * 5)));
            let bounds = std::iter::once(0).chain(times.iter().map(|time| *time as usize / 5));
            let sums: Vec<u64> =
                bounds.zip(&times).map(|(from, to)| sent[from..*to as usize / 5].iter().sum()).collect();
            assert_eq!(column(&all, "lines"), sums);
            assert_eq!(column(&links, "bytes"), sums);
            assert_eq!(column(&memory, "time_ps").len(), 2 * times.len());
        }
    }
}
