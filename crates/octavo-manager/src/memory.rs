//! What mechanisms work on: the pages, how full memories are, and who leaves a full one.

use crate::frames::Frames;
use crate::pages::Pages;
use crate::{Eviction, Statistics};

pub(crate) struct Memory {
    pub pages: Pages,
    pub frames: Frames,
    pub eviction: Box<dyn Eviction>,
    pub statistics: Statistics,
    /// Victims of the plan under construction; kept for its capacity.
    pub victims: Vec<crate::PageId>,
}
