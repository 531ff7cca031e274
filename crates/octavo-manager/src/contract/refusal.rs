//! An executor's refusal to carry a plan out.

use crate::contract::ids::PageRun;
use crate::contract::plan::Step;

/// How much of a plan is done, or of the steps that have started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    /// Whole steps, the first ones.
    pub steps: u32,
    /// Pages of the next step, the first ones of its run. Steps that do not concern runs of pages are done as a whole
    /// or not at all.
    pub pages: u32,
}

impl Prefix {
    /// Nothing is done.
    pub const NONE: Self = Self { steps: 0, pages: 0 };

    /// These steps, the last perhaps in part.
    pub(crate) fn of(self, steps: &[Step]) -> impl Iterator<Item = Step> + '_ {
        let (whole, rest) = steps.split_at(self.steps as usize);
        whole.iter().copied().chain(rest.first().and_then(|step| self.part(step)))
    }

    /// The done part of the step after the complete ones; `None` if nothing is.
    #[must_use]
    pub fn part(self, step: &Step) -> Option<Step> {
        if self.pages > 0 { step.first_pages(self.pages) } else { None }
    }
}

/// Why a step is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Not now; a later try may succeed, perhaps an immediate one. An executor that knows the time answers later. After
    /// a thousand times in a row the driver treats it as [`Broken`](Self::Broken).
    Again,
    /// The memory that it fills has no frame left, even if its capacity says otherwise.
    NoMemory,
    /// The pages are not there any more: they are about to be freed.
    Gone,
    /// It never will be.
    Broken,
}

/// A plan, or the started part of it, is not carried out to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The part of it that is done and stays done.
    pub done: Prefix,
    /// Why the rest is not.
    pub why: Why,
}

impl Step {
    /// The same for the first `count` pages of its run; `None` if it has none, or if it cannot be done in part.
    fn first_pages(&self, count: u32) -> Option<Self> {
        let cut = |pages: PageRun| PageRun { count: count.min(pages.count), ..pages };
        Some(match *self {
            Self::Drain { processors, pages } => Self::Drain { processors, pages: cut(pages) },
            Self::Invalidate { processors, pages } => Self::Invalidate { processors, pages: cut(pages) },
            Self::Protect { processors, pages } => Self::Protect { processors, pages: cut(pages) },
            Self::Populate { memory, pages, zeroed } => Self::Populate { memory, pages: cut(pages), zeroed },
            Self::Copy { pages, from, to, cause } => Self::Copy { pages: cut(pages), from, to, cause },
            Self::Release { memory, pages } => Self::Release { memory, pages: cut(pages) },
            Self::Map { processors, pages, target, permission, mode } => {
                Self::Map { processors, pages: cut(pages), target, permission, mode }
            }
            Self::Wake { processor, pages } => Self::Wake { processor, pages: cut(pages) },
            Self::Consult { .. }
            | Self::Coalesce { .. }
            | Self::Splinter { .. }
            | Self::Compact { .. }
            | Self::ClearCounters { .. } => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ids::{HOST_MEMORY, PageId};

    #[test]
    fn of_a_step_of_which_no_page_is_done_nothing_is() {
        let release = |count| Step::Release { memory: HOST_MEMORY, pages: PageRun { first: PageId(7), count } };
        let part = |pages| Prefix { steps: 0, pages }.part(&release(4));
        assert_eq!([0, 1, 4].map(part), [None, Some(release(1)), Some(release(4))]);
    }
}
