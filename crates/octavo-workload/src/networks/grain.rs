//! How much of an operator a work-group, a wavefront and an instruction process.

use octavo_program::LINE_BYTES;

use crate::emit::WAVEFRONT_LANES;

/// Wavefronts of a work-group: 256 threads, as most of `PyTorch`'s kernels have (our choice).
pub(super) const WAVEFRONTS: u32 = 4;
/// Lines of all operands that a wavefront has, where there are enough: 4 KiB, 16 elements of 4 bytes a thread (our
/// choice).
pub(super) const LINES_EACH: u64 = 64;
/// Lines of an operand that one instruction touches: 64 lanes with 4 bytes each.
pub(super) const LINES_AT_ONCE: u64 = WAVEFRONT_LANES as u64 * 4 / LINE_BYTES;
/// Operations of one vector instruction: a multiply-add of each lane.
pub(super) const OPERATIONS: u64 = 2 * WAVEFRONT_LANES as u64;
