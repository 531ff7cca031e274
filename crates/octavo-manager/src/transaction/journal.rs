//! Changes of a plan to frames, kept for its end.

use crate::contract::ids::ProcessorId;
use crate::memories::content::Content;

/// Changes of frames and of the sizes of pages by one plan.
#[derive(Default)]
pub(crate) struct Journal {
    /// Base frames that were written, and their previous content.
    pub frames: Vec<(ProcessorId, u32, Content)>,
    /// Base frames that pages left; some may be in use again.
    pub spare: Vec<(ProcessorId, u32)>,
    /// Blocks in their own places with any change of their pages.
    pub touched: Vec<(ProcessorId, u32)>,
    /// Blocks that became large pages.
    pub coalesced: Vec<(ProcessorId, u32)>,
    /// Blocks that the plan splits.
    pub splintered: Vec<(ProcessorId, u32)>,
    /// The processor whose memory the plan compacts.
    pub compacts: Option<ProcessorId>,
}

impl Journal {
    pub fn reset(&mut self) {
        self.frames.clear();
        self.spare.clear();
        self.touched.clear();
        self.coalesced.clear();
        self.splintered.clear();
        self.compacts = None;
    }
}
