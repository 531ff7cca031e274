//! The data other than the instructions: recorder, allocations, launches.

/// Metadata that each file of a trace carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Lanes of a wavefront: 64 (AMD) or 32 (NVIDIA).
    pub lanes: u8,
    /// The recorder, with version: `mgpusim v4.2.0`.
    pub source: String,
    /// The command that recorded it.
    pub command: String,
}

/// One row of `allocations.parquet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Its unique name in the program.
    pub name: String,
    /// First byte.
    pub base: u64,
    /// Size as requested, more than 0.
    pub bytes: u64,
    /// GPU whose memory was requested, from 1; 0 for none in particular.
    pub gpu: u8,
}

/// One row of `launches.parquet`; its number is its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchRow {
    /// Name of the kernel.
    pub kernel: String,
    /// Work-items in each dimension: x, y, z.
    pub grid: [u32; 3],
    /// Work-items in a work-group: x, y, z.
    pub group: [u32; 3],
    /// Wavefronts in each work-group.
    pub wavefronts_per_group: u16,
    /// Vector registers a lane; 0 when unknown.
    pub vector_registers: u16,
    /// Scalar registers a wavefront; 0 when unknown.
    pub scalar_registers: u16,
    /// Local data share a work-group, in bytes.
    pub local_data_bytes: u32,
    /// Size of the kernel's code, from where its lines are counted; 0 when unknown.
    pub code_bytes: u32,
    /// Whether all caches were written back and emptied since the launch before, because the host copied from or to
    /// memory that it may have written.
    pub flushed: bool,
    /// Which work-groups ran on which GPU; empty when not recorded.
    pub split: Vec<Share>,
}

/// Contiguous work-groups that ran on one GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The GPU, from 1.
    pub gpu: u8,
    /// First work-group.
    pub first: u32,
    /// How many.
    pub groups: u32,
}

impl LaunchRow {
    /// Work-groups of the grid, the last of each dimension perhaps incomplete; `None` if a size is 0 or there are
    /// more than can be numbered.
    #[must_use]
    pub fn work_groups(&self) -> Option<u32> {
        let mut total = 1u64;
        for (grid, group) in self.grid.into_iter().zip(self.group) {
            if group == 0 || grid == 0 {
                return None;
            }
            total = total.checked_mul(u64::from(grid.div_ceil(group)))?;
        }
        u32::try_from(total).ok()
    }
}
