//! Rows and edges in equal parts.

use std::ops::Range;

use crate::emit::WAVEFRONT_LANES;

/// Rows and edges, together, of a wavefront: seven a lane, as CUB's merge-based kernels have for values of four bytes.
pub const PART: u64 = 7 * WAVEFRONT_LANES as u64;
/// Wavefronts of a work-group: 256 threads.
pub const WAVEFRONTS: u32 = 4;
/// Edges that lanes look at together.
pub const LANES: u32 = WAVEFRONT_LANES;

/// Rows cut into parts; rows end at `offsets[1..]`.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    offsets: &'a [u32],
}

/// The share of one wavefront: it ends `rows`, and works on `edges`, of which the first may belong to a row that others
/// work on, too, as may the last, after `rows`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub rows: Range<u32>,
    pub edges: Range<u32>,
}

impl<'a> Parts<'a> {
    /// For rows with these offsets, which begin with 0.
    pub fn new(offsets: &'a [u32]) -> Self {
        Self { offsets }
    }

    pub fn rows(self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    fn edges(self) -> u32 {
        self.offsets[self.offsets.len() - 1]
    }

    /// Work-groups that it takes.
    pub fn work_groups(self) -> u32 {
        let items = u64::from(self.rows()) + u64::from(self.edges());
        items.div_ceil(PART * u64::from(WAVEFRONTS)) as u32
    }

    /// Steps in which each wavefront finds its share.
    pub fn search_steps(self) -> u32 {
        u32::BITS - self.rows().leading_zeros()
    }

    /// The share of a wavefront, empty behind the last.
    pub fn share(self, wavefront: u64) -> Share {
        let [(first, from), (last, to)] = [wavefront, wavefront + 1].map(|part| {
            let diagonal = self.diagonal(part);
            let row = self.search(diagonal, u32::MAX).start;
            (row, (diagonal - u64::from(row)) as u32)
        });
        Share { rows: first..last, edges: from..to }
    }

    /// A share of which only `rows` and the first of the edges are known.
    pub fn rest_of(self, rows: Range<u32>, first: u32) -> Share {
        let all = u64::from(self.rows()) + u64::from(self.edges());
        let items = PART.min(all - u64::from(rows.start) - u64::from(first));
        let edges = (items - rows.len() as u64) as u32;
        Share { rows, edges: first..first + edges }
    }

    /// The rows whose ends a wavefront's two searches look at in a step.
    pub fn looked_at(self, wavefront: u64, step: u32) -> impl Iterator<Item = u32> {
        let search = move |part| self.search(self.diagonal(part), step);
        [wavefront, wavefront + 1].into_iter().map(search).filter(|left| !left.is_empty()).map(|left| middle(&left))
    }

    /// The row of an edge that is not before `from`'s.
    pub fn row_of(self, edge: u32, from: u32) -> u32 {
        let behind = &self.offsets[from as usize + 1..];
        from + behind.iter().take_while(|&&end| end <= edge).count() as u32
    }

    /// The first of a row's edges.
    pub fn first(self, row: u32) -> u32 {
        self.offsets[row as usize]
    }

    fn diagonal(self, part: u64) -> u64 {
        (part * PART).min(u64::from(self.rows()) + u64::from(self.edges()))
    }

    /// Where the number of rows that end within the first `diagonal` items is looked for after this many steps; it is
    /// known when nothing is left.
    fn search(self, diagonal: u64, steps: u32) -> Range<u32> {
        let first = diagonal.saturating_sub(self.edges().into()) as u32;
        let mut left = first..diagonal.min(self.rows().into()) as u32;
        for _ in 0..steps {
            if left.is_empty() {
                break;
            }
            let row = middle(&left);
            let ends_within = u64::from(self.offsets[row as usize + 1]) < diagonal - u64::from(row);
            left = if ends_within { row + 1..left.end } else { left.start..row };
        }
        left
    }
}

fn middle(left: &Range<u32>) -> u32 {
    left.start + (left.end - left.start) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows and edges in the order in which a single thread would go through them: a row ends behind its edges.
    fn in_order(offsets: &[u32]) -> Vec<(bool, u32)> {
        (0..offsets.len() - 1)
            .flat_map(|row| {
                let edges = (offsets[row]..offsets[row + 1]).map(|edge| (false, edge));
                edges.chain([(true, row as u32)])
            })
            .collect()
    }

    fn check(degrees: &[u32]) {
        let mut offsets = vec![0];
        degrees.iter().for_each(|degree| offsets.push(offsets[offsets.len() - 1] + degree));
        let (parts, items) = (Parts::new(&offsets), in_order(&offsets));
        for (wavefront, expected) in items.chunks(PART as usize).enumerate() {
            let Share { rows, edges } = parts.share(wavefront as u64);
            assert_eq!(parts.rest_of(rows.clone(), edges.start).edges, edges);
            let mut found: Vec<_> = edges.map(|edge| (false, edge)).chain(rows.map(|row| (true, row))).collect();
            let mut expected = expected.to_vec();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "wavefront {wavefront}");
            assert_eq!(parts.looked_at(wavefront as u64, parts.search_steps()).count(), 0, "it is found in time");
        }
        let beyond = parts.share(u64::from(parts.work_groups() * WAVEFRONTS));
        assert!(beyond.rows.is_empty() && beyond.edges.is_empty());
        assert!(u64::from(parts.work_groups() * WAVEFRONTS) * PART >= items.len() as u64);
    }

    #[test]
    fn shares_are_equal_and_in_order_whatever_the_rows() {
        check(&[0; 2000]);
        check(&[5000]);
        check(&[3, 0, 0, 5000, 1, 0, 447, 448, 449, 0]);
        check(&(0..3000).map(|row| row * 7919 % 13).collect::<Vec<_>>());
    }

    #[test]
    fn the_row_of_an_edge_skips_empty_rows() {
        let parts = Parts::new(&[0, 2, 2, 2, 5, 5]);
        assert_eq!([0, 1, 2, 4].map(|edge| parts.row_of(edge, 0)), [0, 0, 3, 3]);
        assert_eq!(parts.row_of(4, 3), 3);
    }
}
