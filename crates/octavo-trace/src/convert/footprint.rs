//! An allocation table from copies to the device and from other touched memory.

use std::collections::BTreeMap;

use crate::Allocation;

/// Lines of a region of 2 MiB, the granularity of CUDA's allocations: memory further apart than this becomes another
/// allocation.
const REGION_LINES: u64 = (2 << 20) / 64;
/// Regions, at most: 2 TiB when all are full.
const MAX_REGIONS: usize = 1 << 20;

/// A stretch of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub base: u64,
    /// First byte after it.
    pub end: u64,
}

impl Span {
    fn first_line(self) -> u64 {
        self.base / 64
    }

    fn last_line(self) -> u64 {
        (self.end - 1) / 64
    }
}

/// Which lines were touched outside of the copies.
pub(super) struct Footprint {
    /// Ascending and apart.
    copies: Vec<Span>,
    /// First and last line touched in each region.
    regions: BTreeMap<u64, (u64, u64)>,
    /// The region before, which is not in `regions` yet.
    current: Option<(u64, (u64, u64))>,
}

impl Footprint {
    /// No page is touched yet; `copies` went to the device, in any order, none of them empty.
    pub fn new(mut copies: Vec<Span>) -> Self {
        copies.sort_by_key(|span| (span.base, span.end));
        let mut apart: Vec<Span> = Vec::new();
        for span in copies {
            match apart.last_mut() {
                Some(last) if span.base < last.end => last.end = last.end.max(span.end),
                _ => apart.push(span),
            }
        }
        Self { copies: apart, regions: BTreeMap::new(), current: None }
    }

    /// `lines` are touched.
    ///
    /// # Errors
    /// They are scattered over more memory than any GPU has.
    pub fn touch(&mut self, lines: &[u64]) -> Result<(), String> {
        for line in lines {
            if self.copied(*line) {
                continue;
            }
            let region = line / REGION_LINES;
            match &mut self.current {
                Some((current, (first, last))) if *current == region => {
                    *first = (*first).min(*line);
                    *last = (*last).max(*line);
                }
                _ => {
                    self.keep();
                    self.current = Some((region, (*line, *line)));
                    if self.regions.len() > MAX_REGIONS {
                        return Err(format!("accesses are scattered over more than {MAX_REGIONS} regions of 2 MiB"));
                    }
                }
            }
        }
        Ok(())
    }

    /// The table: copies as `memcpy N`, other touched memory as `range N`, both ascending.
    pub fn allocations(mut self) -> Vec<Allocation> {
        self.keep();
        let named = |what: &str, spans: &[Span]| {
            let name = |(number, span): (usize, &Span)| Allocation {
                name: format!("{what} {number}"),
                base: span.base,
                bytes: span.end - span.base,
                gpu: 0,
            };
            spans.iter().enumerate().map(name).collect::<Vec<_>>()
        };
        let mut table = named("memcpy", &self.copies);
        table.extend(named("range", &self.ranges()));
        table.sort_by_key(|allocation| allocation.base);
        table
    }

    fn copied(&self, line: u64) -> bool {
        let after = self.copies.partition_point(|span| span.first_line() <= line);
        after > 0 && self.copies[after - 1].last_line() >= line
    }

    fn keep(&mut self) {
        if let Some((region, (first, last))) = self.current.take() {
            let kept = self.regions.entry(region).or_insert((first, last));
            *kept = (kept.0.min(first), kept.1.max(last));
        }
    }

    /// Touched memory, joined over gaps below a region and cut at copies.
    fn ranges(&self) -> Vec<Span> {
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for &(first, last) in self.regions.values() {
            match joined.last_mut() {
                Some(before) if first - before.1 <= REGION_LINES => before.1 = last,
                _ => joined.push((first, last)),
            }
        }
        let mut ranges = Vec::new();
        for (first, last) in joined {
            self.cut(Span { base: first * 64, end: (last + 1) * 64 }, &mut ranges);
        }
        ranges
    }

    fn cut(&self, mut whole: Span, ranges: &mut Vec<Span>) {
        let start = self.copies.partition_point(|copy| copy.end <= whole.base);
        for copy in &self.copies[start..] {
            if copy.base >= whole.end {
                break;
            }
            if copy.base > whole.base {
                ranges.push(Span { base: whole.base, end: copy.base });
            }
            whole.base = copy.end;
        }
        if whole.base < whole.end {
            ranges.push(whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Footprint, Span};

    fn table(copies: &[(u64, u64)], lines: &[u64]) -> Vec<(String, u64, u64)> {
        let mut footprint = Footprint::new(copies.iter().map(|&(base, end)| Span { base, end }).collect());
        footprint.touch(lines).unwrap();
        footprint.allocations().into_iter().map(|row| (row.name, row.base, row.bytes)).collect()
    }

    fn row(name: &str, base: u64, bytes: u64) -> (String, u64, u64) {
        (name.to_owned(), base, bytes)
    }

    #[test]
    fn copies_are_joined_and_ranges_lie_around_them() {
        let copies = [(4096, 4100), (4098, 4200), (8192, 8200)];
        // Lines 64 and 65 hold the copy, 128 the other; 63 and 66 lie beside the first, 100000 far away.
        let found = table(&copies, &[64, 63, 66, 128, 100_000, 100_001]);
        let expected = [
            row("range 0", 4032, 64),
            row("memcpy 0", 4096, 104),
            row("range 1", 4200, 88),
            row("memcpy 1", 8192, 8),
            row("range 2", 6_400_000, 128),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn gaps_of_two_mebibytes_part_ranges() {
        let lines = [0, 32_768, 65_537, 40_000];
        assert_eq!(table(&[], &lines), [row("range 0", 0, 65_538 * 64)]);
        assert_eq!(table(&[], &[0, 32_769]), [row("range 0", 0, 64), row("range 1", 32_769 * 64, 64)]);
        assert_eq!(table(&[], &[]), []);
    }
}
