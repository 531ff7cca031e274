//! The C interface of `include/octavo.h`: `tests/it/header.rs` checks that both agree.

use octavo_advise::{Placement, Term};

/// Grows with every change that programs notice.
pub const ABI: u32 = 1;

/// The result of a call.
pub type Status = i32;
/// The question was answered.
pub const OK: Status = 0;
/// The question was answered for the built-in machine.
pub const ASSUMED_MACHINE: Status = 1;
/// A pointer is null, or a number is outside its range.
pub const BAD_ARGUMENT: Status = -1;
/// The file cannot be read.
pub const NO_FILE: Status = -2;
/// The file does not hold the constants of a machine.
pub const BAD_FILE: Status = -3;
/// The buffers that must be on the device exceed its memory.
pub const DOES_NOT_FIT: Status = -4;
/// An error in Octavo.
pub const INTERNAL: Status = -5;

/// The device touches it first.
pub const DEVICE_FIRST: u32 = 1;
/// Host and device write it in near phases.
pub const WRITE_SHARED: u32 = 2;
/// The host touches it.
pub const SEEN_BY_HOST: u32 = 4;
/// The device touches its pages in order.
pub const SWEPT: u32 = 8;

/// `octavo_data`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Data {
    /// Bytes of this structure.
    pub struct_size: u32,
    /// Bits above.
    pub flags: u32,
    /// Bytes as allocated.
    pub bytes: u64,
    /// Share of its pages that the device touches.
    pub touched: f64,
    /// Times that a touched page comes to the device.
    pub visits: f64,
    /// By kernels, repeats counted.
    pub accessed_bytes: u64,
    /// On these.
    pub operations: f64,
    /// Blocks of a launch.
    pub blocks: u64,
    /// Threads of a block of a launch.
    pub threads_per_block: u64,
    /// Seconds of the kernels that use it.
    pub kernel_seconds: f64,
    /// Bytes of lines that miss the device's caches.
    pub line_bytes: u64,
    /// Pages that faults in flight wait for.
    pub faults_together: u64,
    /// Bytes copied to the device.
    pub copied_in: u64,
    /// Bytes copied back.
    pub copied_out: u64,
    /// Calls that copy.
    pub copies: u64,
    /// Seconds for which its faults are held up.
    pub stalled_seconds: f64,
}

/// `octavo_answer`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// Bytes of this structure.
    pub struct_size: u32,
    /// Where to allocate it.
    pub placement: i32,
    /// The term that decides.
    pub dominant: i32,
    /// Whether the search was finished.
    pub exact: u32,
    /// Seconds that managed memory takes beyond device memory.
    pub managed_seconds: f64,
    /// Seconds that pinned memory takes beyond device memory.
    pub pinned_seconds: f64,
}

/// Placements by number.
pub const PLACEMENTS: [(Placement, &std::ffi::CStr); 3] =
    [(Placement::Device, c"device"), (Placement::Managed, c"managed"), (Placement::Pinned, c"pinned")];

/// Terms by number.
pub const TERMS: [(Term, &std::ffi::CStr); 8] = [
    (Term::Exposed, c"exposed"),
    (Term::Faults, c"faults"),
    (Term::Thrashing, c"thrashing"),
    (Term::FirstTouch, c"first touch"),
    (Term::Returned, c"returned"),
    (Term::Having, c"having"),
    (Term::Launches, c"launches"),
    (Term::Copy, c"copy"),
];

/// Statuses with their words.
pub const STATUSES: [(Status, &std::ffi::CStr); 7] = [
    (OK, c"answered"),
    (ASSUMED_MACHINE, c"answered for the built-in machine: no constants of a machine were given"),
    (BAD_ARGUMENT, c"a pointer is null, or a number is outside its range"),
    (NO_FILE, c"the file cannot be read"),
    (BAD_FILE, c"the file does not hold the constants of a machine, as `octavo constants` writes them"),
    (DOES_NOT_FIT, c"what may lie nowhere but on the device exceeds its memory"),
    (INTERNAL, c"an error in Octavo"),
];
