//! Panics end here.

/// Does work of this library's; none if it panicked, of which `life` has seen to it that nothing is printed.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).ok()
}
