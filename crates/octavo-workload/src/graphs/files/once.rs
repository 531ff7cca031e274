//! Edges without direction that appear more than once, or both ways, become one.

/// Keeps the first of each pair of vertices, whichever comes first in it; how many others there were.
pub fn keep_once(edges: &mut Vec<(u32, u32)>) -> usize {
    let pair = |&(one, other): &(u32, u32)| (one.min(other), one.max(other));
    let mut sorted: Vec<_> = edges.iter().map(pair).collect();
    sorted.sort_unstable();
    let before = sorted.len();
    sorted.dedup();
    let others = before - sorted.len();
    if others > 0 {
        *edges = sorted;
    }
    others
}

/// The reader's notes about them.
pub fn note(others: usize) -> Option<String> {
    let text = format!("{others} edges without direction stand more than once or both ways; each counts once");
    (others > 0).then_some(text)
}
