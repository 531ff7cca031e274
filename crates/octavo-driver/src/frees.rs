//! Pages that are to be freed as soon as no plan holds them.

use octavo_manager::{PageId, PageRun};

/// A run to be freed.
pub(crate) struct Free {
    pub run: PageRun,
    pub token: u64,
    /// The page that was busy when it was looked at last: while it is, the others need no look.
    pub busy: Option<PageId>,
}

/// Runs to be freed, oldest first.
#[derive(Default)]
pub(crate) struct Frees(pub Vec<Free>);

impl Frees {
    #[inline]
    pub fn any(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether `page` is about to be freed.
    pub fn contain(&self, page: PageId) -> bool {
        self.0.iter().any(|free| page.0.wrapping_sub(free.run.first.0) < free.run.count)
    }
}
