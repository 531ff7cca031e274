//! Whether a kernel has done the work that was timed.

use std::fmt::Display;

use bytemuck::AnyBitPattern;

use crate::driver::buffers::DeviceMemory;
use crate::error::GpuError;

/// The byte in buffers whose words are summed: the sum then shows how many words were read, whichever they were.
pub(crate) const BYTE: u8 = 1;

/// The sum of this many words of such a buffer, in 32 bits.
pub(crate) fn sum_of_words(words: u64) -> u32 {
    let low = u32::try_from(words & u64::from(u32::MAX)).expect("32 bits");
    low.wrapping_mul(u32::from_ne_bytes([BYTE; 4]))
}

/// Compares the first values of a buffer with those that the kernel must have written.
pub(crate) fn expect<T: AnyBitPattern + PartialEq + Display>(
    kernel: &str,
    memory: &DeviceMemory,
    expected: &[T],
) -> Result<(), GpuError> {
    expect_at(kernel, memory, 0, expected)
}

/// Compares values from `offset` bytes on.
pub(crate) fn expect_at<T: AnyBitPattern + PartialEq + Display>(
    kernel: &str,
    memory: &DeviceMemory,
    offset: u64,
    expected: &[T],
) -> Result<(), GpuError> {
    let found: Vec<T> = memory.read_from(offset, expected.len())?;
    let wrong = found.iter().zip(expected).find(|(found, expected)| found != expected);
    wrong.map_or(Ok(()), |(found, expected)| Err(GpuError::wrong_result(kernel, expected, found)))
}
