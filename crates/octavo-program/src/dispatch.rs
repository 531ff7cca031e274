//! Which work-groups of a launch run on which GPU.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the work-groups of a launch are split over GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dispatch {
    /// Equal contiguous ranges of flattened ids: sizes differ by at most one.
    #[default]
    EvenSplit,
    /// Contiguous ranges in multiples of the compute units: as many work-groups for each unit as if all GPUs were
    /// filled evenly, rounded up; the last GPUs get what is left, or nothing (MGPUSim v4.2.0,
    /// `distributeWGToGPUs`).
    UnitMultiples,
    /// One queue for all GPUs: work-groups fill the units of one GPU, then the next, and whoever has room takes the
    /// next (GRIT section 6, taken literally). Who runs what is decided while running.
    FillFirst,
}

impl Dispatch {
    /// The range of each of `gpus` GPUs, in order; together they are `0..work_groups`, some possibly empty. `None`
    /// when that is decided while running.
    ///
    /// `gpus` and `compute_units_per_gpu` are not zero.
    #[must_use]
    pub fn ranges(self, work_groups: u32, gpus: u32, compute_units_per_gpu: u32) -> Option<Vec<Range<u32>>> {
        let (total, count) = (u64::from(work_groups), u64::from(gpus));
        let units = u64::from(compute_units_per_gpu);
        let start = |gpu: u64| match self {
            Self::EvenSplit => Some((total * gpu).div_ceil(count)),
            Self::UnitMultiples => Some(total.min(gpu * units * total.div_ceil(count * units))),
            Self::FillFirst => None,
        };
        (0..count).map(|gpu| Some(start(gpu)? as u32..start(gpu + 1)? as u32)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(dispatch: Dispatch, work_groups: u32) -> Vec<usize> {
        let ranges = dispatch.ranges(work_groups, 4, 64).unwrap();
        assert_eq!(ranges.iter().cloned().flatten().collect::<Vec<_>>(), (0..work_groups).collect::<Vec<_>>());
        ranges.iter().map(ExactSizeIterator::len).collect()
    }

    #[test]
    fn even_split_differs_by_at_most_one() {
        assert_eq!(sizes(Dispatch::EvenSplit, 4129), [1033, 1032, 1032, 1032]);
        assert_eq!(sizes(Dispatch::EvenSplit, 3), [1, 1, 1, 0]);
    }

    #[test]
    fn unit_multiples_are_as_mgpusim_documents() {
        assert_eq!(sizes(Dispatch::UnitMultiples, 64), [64, 0, 0, 0]);
        assert_eq!(sizes(Dispatch::UnitMultiples, 128), [64, 64, 0, 0]);
        assert_eq!(sizes(Dispatch::UnitMultiples, 4129), [1088, 1088, 1088, 865]);
        assert_eq!(sizes(Dispatch::UnitMultiples, 0), [0; 4]);
    }
}
