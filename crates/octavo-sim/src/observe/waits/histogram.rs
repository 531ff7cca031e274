//! Counts by ranges of values that grow with the values.

/// Ranges between a power of two and the next: each is at most 1/32 (3 %) as wide as its values are large; our choice.
const RANGES: u64 = 32;

/// The number of values in each range, and their sum.
#[derive(Default)]
pub(super) struct Histogram(Vec<(u64, u64)>);

/// A range that has values: `from` on, `below` excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub from: u64,
    pub below: u64,
    pub count: u64,
    pub sum: u64,
}

impl Histogram {
    pub fn add(&mut self, value: u64) {
        let index = range_of(value);
        if self.0.len() <= index {
            self.0.resize(index + 1, (0, 0));
        }
        let (count, sum) = &mut self.0[index];
        *count += 1;
        *sum += value;
    }

    /// The ranges that have values, smallest first.
    pub fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let full = self.0.iter().enumerate().filter(|(_, (count, _))| *count > 0);
        full.map(|(index, &(count, sum))| {
            let (from, width) = bounds(index as u64);
            Row { from, below: from.saturating_add(width), count, sum }
        })
    }
}

/// Values below [`RANGES`] each have a range of their own.
fn range_of(value: u64) -> usize {
    if value < RANGES {
        return value as usize;
    }
    let shift = value.ilog2() - RANGES.ilog2();
    (u64::from(shift) * RANGES + (value >> shift)) as usize
}

/// The beginning of a range, and its width.
fn bounds(index: u64) -> (u64, u64) {
    if index < RANGES {
        return (index, 1);
    }
    let shift = index / RANGES - 1;
    ((RANGES + index % RANGES) << shift, 1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_range_which_is_narrow() {
        let powers = (0..64).flat_map(|power| [(1u64 << power) - 1, 1 << power, (1 << power) + 1, (3 << power) / 2]);
        for value in powers.chain([0, u64::MAX]) {
            let (from, width) = bounds(range_of(value) as u64);
            assert!(from <= value && value - from < width, "{value} in {from} + {width}");
            assert!(width == 1 || width <= from / RANGES, "{from} + {width}");
        }
    }

    #[test]
    fn ranges_follow_one_another() {
        for index in 0..1900 {
            let (from, width) = bounds(index);
            assert_eq!(range_of(from), index as usize);
            assert_eq!(bounds(index + 1).0, from + width);
        }
    }

    #[test]
    fn rows_have_what_was_added() {
        let mut histogram = Histogram::default();
        [7, 64, 65, 66].into_iter().for_each(|value| histogram.add(value));
        let rows: Vec<Row> = histogram.rows().collect();
        assert_eq!(rows[0], Row { from: 7, below: 8, count: 1, sum: 7 });
        assert_eq!(rows[1], Row { from: 64, below: 66, count: 2, sum: 129 });
        assert_eq!(rows[2], Row { from: 66, below: 68, count: 1, sum: 66 });
    }
}
