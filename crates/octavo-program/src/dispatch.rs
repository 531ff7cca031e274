//! Which work-groups of a launch run on which GPU.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::share::Share;

/// How the work-groups of a launch are split over GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dispatch {
    /// Equal contiguous ranges of flattened ids: sizes differ by at most one.
    #[default]
    EvenSplit,
    /// Contiguous ranges in multiples of the compute units. Each unit gets as many work-groups as if all GPUs were
    /// filled evenly, rounded up. The last GPUs get the rest, or nothing (MGPUSim since April 2022, v4.2.0:
    /// `distributeWGToGPUs`).
    UnitMultiples,
    /// One queue for all GPUs: work-groups fill the units of one GPU, then the next; any GPU with room takes the next
    /// work-group (GRIT section 6, taken literally). The split is decided during the run.
    FillFirst,
    /// One work-group after another, each to the next GPU (MGPUSim from November 2019 to April 2022: the flattened id
    /// modulo the number of GPUs).
    RoundRobin,
    /// One work-group for each compute unit of a GPU, then of the next GPU, and again from the first (GRIT section 6,
    /// read as decided in advance).
    RoundRobinUnits,
    /// This many neighbouring work-groups for a GPU, the same number for the next, and again from the first: 1 is
    /// `round-robin`, an equal share `even-split`.
    Blocks(NonZeroU32),
}

impl Dispatch {
    /// The share of each of `gpus` GPUs, in order; together they are `0..work_groups`, some possibly empty. `None`
    /// when that is decided while running.
    ///
    /// `gpus` and `compute_units_per_gpu` are not zero.
    #[must_use]
    pub fn shares(self, work_groups: u32, gpus: u32, compute_units_per_gpu: u32) -> Option<Vec<Share>> {
        let (total, count) = (u64::from(work_groups), u64::from(gpus));
        let contiguous = |start: &dyn Fn(u64) -> u64| {
            (0..count).map(|gpu| Share::contiguous(start(gpu) as u32..start(gpu + 1) as u32)).collect()
        };
        let blocks = |each| Share::in_blocks(work_groups, gpus, each);
        Some(match self {
            Self::EvenSplit => contiguous(&|gpu| (total * gpu).div_ceil(count)),
            Self::UnitMultiples => {
                let units = u64::from(compute_units_per_gpu);
                contiguous(&|gpu| total.min(gpu * units * total.div_ceil(count * units)))
            }
            Self::FillFirst => return None,
            Self::RoundRobin => blocks(1),
            Self::RoundRobinUnits => blocks(compute_units_per_gpu),
            Self::Blocks(each) => blocks(each.get()),
        })
    }

    /// The same, with decisions at run time made as if all work-groups took equally long: each GPU is filled with the
    /// `groups_at_once` work-groups that its units hold, in order, and again once they have ended.
    ///
    /// The numbers of GPUs, units and work-groups at once must not be zero.
    #[must_use]
    pub fn expected_shares(
        self,
        work_groups: u32,
        gpus: u32,
        compute_units_per_gpu: u32,
        groups_at_once: u32,
    ) -> Vec<Share> {
        self.shares(work_groups, gpus, compute_units_per_gpu)
            .unwrap_or_else(|| Share::in_blocks(work_groups, gpus, groups_at_once))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(dispatch: Dispatch, work_groups: u32) -> Vec<usize> {
        let shares = dispatch.shares(work_groups, 4, 64).unwrap();
        let mut all: Vec<_> = shares.iter().cloned().flatten().collect();
        all.sort_unstable();
        assert_eq!(all, (0..work_groups).collect::<Vec<_>>(), "{dispatch:?}");
        shares.into_iter().map(Iterator::count).collect()
    }

    fn blocks(each: u32) -> Dispatch {
        Dispatch::Blocks(NonZeroU32::new(each).unwrap())
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

    #[test]
    fn round_robin_is_by_work_group_or_by_unit() {
        assert_eq!(sizes(Dispatch::RoundRobin, 6), [2, 2, 1, 1]);
        let second = Dispatch::RoundRobin.shares(6, 4, 64).unwrap().swap_remove(1);
        assert_eq!(second.collect::<Vec<_>>(), [1, 5]);
        assert_eq!(sizes(Dispatch::RoundRobinUnits, 300), [64 + 44, 64, 64, 64]);
    }

    #[test]
    fn blocks_lie_between_one_work_group_and_an_equal_share() {
        assert_eq!(sizes(blocks(3), 14), [5, 3, 3, 3]);
        assert_eq!(sizes(blocks(u32::MAX), 14), [14, 0, 0, 0]);
        for groups in [0, 1, 6, 4129] {
            assert_eq!(sizes(blocks(1), groups), sizes(Dispatch::RoundRobin, groups));
            assert_eq!(sizes(blocks(64), groups), sizes(Dispatch::RoundRobinUnits, groups));
        }
        assert_eq!(sizes(blocks(1032), 4128), sizes(Dispatch::EvenSplit, 4128));
    }

    #[test]
    fn fill_first_is_decided_while_running_and_expected_in_fillings() {
        assert!(Dispatch::FillFirst.shares(10, 2, 1).is_none());
        let expected = Dispatch::FillFirst.expected_shares(10, 2, 1, 2);
        let expected: Vec<Vec<_>> = expected.into_iter().map(Iterator::collect).collect();
        assert_eq!(expected, [vec![0, 1, 4, 5, 8, 9], vec![2, 3, 6, 7]]);
        let even = Dispatch::EvenSplit.expected_shares(10, 2, 1, 2);
        assert_eq!(even.into_iter().map(Iterator::count).collect::<Vec<_>>(), [5, 5]);
    }
}
