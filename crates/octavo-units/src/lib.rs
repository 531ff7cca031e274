//! Quantities with units, parsed from and printed as text such as `300GB/s`, `16KiB`, `1.25us` or `100cycles`.
//!
//! Simulated time is an integer count of picoseconds, so that results are bit-identical on every machine.
#![forbid(unsafe_code)]

mod any;
mod bandwidth;
mod bytes;
mod cycles;
mod frequency;
mod parse;
mod rate;
mod time;

pub use any::any;
pub use bandwidth::Bandwidth;
pub use bytes::Bytes;
pub use cycles::Cycles;
pub use frequency::Frequency;
pub use parse::UnitError;
pub use rate::Rate;
pub use time::Time;
