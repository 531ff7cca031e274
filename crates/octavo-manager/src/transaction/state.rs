//! What mechanisms work on: the pages, how full memories are, and who leaves a full one.

use octavo_units::Time;

use crate::contract::counts::Statistics;
use crate::contract::ids::PageId;
use crate::contract::topology::Reach;
use crate::memories::frames::Frames;
use crate::pages::Pages;
use crate::strategies::demotion::Demotion;
use crate::strategies::evictors::Evictors;
use crate::strategies::guard::ThrashingGuard;
use crate::strategies::sharing::Sharing;
use crate::transaction::physical::Physical;

pub(crate) struct Memory {
    /// When the present call from outside happens.
    pub now: Time,
    pub pages: Pages,
    pub frames: Frames,
    pub reach: Reach,
    /// Which frames hold what, if anyone cares.
    pub physical: Option<Physical>,
    pub evictors: Evictors,
    /// What address spaces may take from one another, if anyone tells them apart.
    pub sharing: Option<Box<dyn Sharing>>,
    pub demotion: Box<dyn Demotion>,
    /// Who steps in when processors fight over pages, if anyone does.
    pub guard: Option<Box<dyn ThrashingGuard>>,
    pub statistics: Statistics,
    /// Victims of the plan under construction; kept for its capacity.
    pub victims: Vec<PageId>,
}

impl Memory {
    /// Whether the page is fought over, and moves for no prefetcher, counter or report.
    pub fn keeps(&self, page: PageId) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.keeps(page))
    }
}
