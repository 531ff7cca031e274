//! The class of a page, and its best place.

use crate::contract::ids::{HOST, ProcessorId};

pub(super) struct Thresholds {
    pub touched: f32,
    pub dedicated: f32,
    pub shifting: f32,
}

/// The processor that ought to own the page, and how many smoothed lines a period that saves; `None` if it is the
/// present one or not clear.
///
/// A page that is hardly touched (streaming) stays. A page that one GPU accesses far more often than any other is
/// dedicated to that GPU. A page shared by several changes its owner only when another GPU accesses it clearly more
/// often than the owner does (owner-shifting); if its owner is the host, anyone does.
pub(super) fn better_owner(counts: &[f32], owner: ProcessorId, thresholds: &Thresholds) -> Option<(ProcessorId, f32)> {
    let (best, most) = highest(counts, None)?;
    if most < thresholds.touched || owner == ProcessorId::gpu(best) {
        return None;
    }
    let second = highest(counts, Some(best)).map_or(0.0, |(_, count)| count);
    let of_owner = if owner == HOST { 0.0 } else { counts[owner.index() - 1] };
    let dedicated = most >= thresholds.dedicated * second;
    let shifting = most > thresholds.shifting * of_owner;
    (dedicated || shifting).then(|| (ProcessorId::gpu(best), most - of_owner))
}

/// The GPU with the highest count, the first of several, leaving out one.
fn highest(counts: &[f32], without: Option<usize>) -> Option<(usize, f32)> {
    let counts = counts.iter().copied().enumerate().filter(|(gpu, _)| Some(*gpu) != without);
    counts.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLISHED: Thresholds = Thresholds { touched: 0.03, dedicated: 2.0, shifting: 1.3 };

    fn to(counts: &[f32], owner: ProcessorId) -> Option<usize> {
        better_owner(counts, owner, &PUBLISHED).and_then(|(to, _)| to.gpu_index())
    }

    #[test]
    fn pages_move_only_when_their_best_owner_is_clear_and_elsewhere() {
        let gpu = ProcessorId::gpu;
        assert_eq!(to(&[0.0, 0.02], gpu(0)), None, "streaming");
        assert_eq!(to(&[0.4, 1.0], gpu(0)), Some(1), "dedicated");
        assert_eq!(to(&[0.4, 1.0], gpu(1)), None, "dedicated to its owner");
        assert_eq!(to(&[1.0, 1.2, 0.9], gpu(0)), None, "shared");
        assert_eq!(to(&[1.0, 1.4, 1.3], gpu(0)), Some(1), "owner-shifting");
        assert_eq!(to(&[1.0, 1.2, 0.9], HOST), Some(1), "anyone rather than the host");
    }

    #[test]
    fn thresholds_say_how_often_is_often() {
        let gpu = ProcessorId::gpu;
        assert_eq!(to(&[0.0, 0.03], gpu(0)), Some(1), "just touched");
        assert_eq!(to(&[1.0, 1.0], HOST), Some(0), "the first of two that are as good");
        let to = |dedicated, shifting, counts: &[f32], owner| {
            let thresholds = Thresholds { touched: 0.03, dedicated, shifting };
            better_owner(counts, owner, &thresholds).and_then(|(to, _)| to.gpu_index())
        };
        assert_eq!(to(1.2, 3.0, &[1.0, 1.5], gpu(0)), Some(1), "1.5 times is dedicated");
        assert_eq!(to(1.2, 3.0, &[2.0, 2.2], gpu(0)), None, "1.1 times is neither");
        assert_eq!(to(2.0, 1.0, &[1.0, 1.0], gpu(1)), None, "no page leaves for one that is as good");
    }
}
