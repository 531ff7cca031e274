//! Which work-groups of a launch run on which GPU.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the work-groups of a launch are split over GPUs: each gets one contiguous range of flattened ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dispatch {
    /// Equal ranges: sizes differ by at most one.
    #[default]
    EvenSplit,
    /// As many work-groups for each compute unit as if all GPUs were filled evenly, rounded up; the last GPUs get
    /// what is left, or nothing (MGPUSim v4.2.0, `distributeWGToGPUs`).
    FillFirst,
}

impl Dispatch {
    /// The range of each of `gpus` GPUs, in order; together they are `0..work_groups`, some possibly empty.
    ///
    /// `gpus` and `compute_units_per_gpu` are not zero.
    #[must_use]
    pub fn ranges(self, work_groups: u32, gpus: u32, compute_units_per_gpu: u32) -> Vec<Range<u32>> {
        let (total, count) = (u64::from(work_groups), u64::from(gpus));
        let start = |gpu: u64| match self {
            Self::EvenSplit => (total * gpu).div_ceil(count),
            Self::FillFirst => {
                let units = u64::from(compute_units_per_gpu);
                total.min(gpu * units * total.div_ceil(count * units))
            }
        };
        (0..count).map(|gpu| start(gpu) as u32..start(gpu + 1) as u32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(dispatch: Dispatch, work_groups: u32) -> Vec<usize> {
        let ranges = dispatch.ranges(work_groups, 4, 64);
        assert_eq!(ranges.iter().cloned().flatten().collect::<Vec<_>>(), (0..work_groups).collect::<Vec<_>>());
        ranges.iter().map(ExactSizeIterator::len).collect()
    }

    #[test]
    fn even_split_differs_by_at_most_one() {
        assert_eq!(sizes(Dispatch::EvenSplit, 4129), [1033, 1032, 1032, 1032]);
        assert_eq!(sizes(Dispatch::EvenSplit, 3), [1, 1, 1, 0]);
    }

    #[test]
    fn fill_first_is_as_mgpusim_documents() {
        assert_eq!(sizes(Dispatch::FillFirst, 64), [64, 0, 0, 0]);
        assert_eq!(sizes(Dispatch::FillFirst, 128), [64, 64, 0, 0]);
        assert_eq!(sizes(Dispatch::FillFirst, 4129), [1088, 1088, 1088, 865]);
        assert_eq!(sizes(Dispatch::FillFirst, 0), [0; 4]);
    }
}
