//! Records of a recording.

/// Records of the driver's unified-memory activity, as CUPTI gave them.
#[derive(Clone, Debug)]
pub struct Activity {
    /// Version of CUPTI (`cuptiGetVersion`).
    pub cupti: u32,
    /// Which version of the record it writes: `v2` (64 bytes) or `v3` (104).
    pub layout: &'static str,
    /// Whole records one after another, without the rest of their buffers.
    pub records: Vec<u8>,
    /// How many were lost.
    pub dropped: u64,
}
