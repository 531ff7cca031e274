//! Vertices of a list get numbers from 0 without gaps: those between have no edge, and would cost memory for nothing.

/// How many vertices edges have, the edges among them in new numbers, and what a reader says of these.
///
/// More than 2^32 vertices need more edges than a list may have, which its reader refuses.
pub fn compacted(edges: Vec<(u64, u64)>) -> (u32, Vec<(u32, u32)>, Option<String>) {
    let mut used: Vec<u64> = edges.iter().flat_map(|(from, to)| [*from, *to]).collect();
    used.sort_unstable();
    used.dedup();
    let (Some(&first), Some(&last)) = (used.first(), used.last()) else { return (0, Vec::new(), None) };
    let count = used.len() as u64;
    let as_they_are = first == 0 && last + 1 == count;
    let place = |vertex: u64| match vertex - first {
        offset if last - first + 1 == count => offset as u32,
        _ => used.partition_point(|&one| one < vertex) as u32,
    };
    let edges = edges.into_iter().map(|(from, to)| (place(from), place(to))).collect();
    let note = format!("{count} vertices numbered from {first} to {last} are renumbered from 0 in that order");
    (count as u32, edges, (!as_they_are).then_some(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_vanish_and_order_stays() {
        let (vertices, edges, note) = compacted(vec![(7, u64::MAX), (3, 7)]);
        assert_eq!((vertices, edges, note.is_some()), (3, vec![(1, 2), (0, 1)], true));
        let (vertices, edges, note) = compacted(vec![(2, 1), (1, 3)]);
        assert_eq!((vertices, edges, note.is_some()), (3, vec![(1, 0), (0, 2)], true));
        assert_eq!(compacted(vec![(0, 2), (1, 0)]), (3, vec![(0, 2), (1, 0)], None));
    }
}
