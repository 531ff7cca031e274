//! Calls within calls: the runtime allocates by the driver, and that is one allocation.

use std::cell::Cell;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// A call that is going on in this thread. Without a destructor: a thread that is cancelled in it may only pass frames
/// that have none, and makes few calls afterwards.
pub struct Call {
    depth: u32,
}

impl Call {
    /// A call begins.
    pub fn begin() -> Self {
        let depth = DEPTH.get();
        DEPTH.set(depth + 1);
        Self { depth }
    }

    /// Whether the program called, and no library that is being called.
    pub fn is_the_programs(&self) -> bool {
        self.depth == 0
    }

    /// The call ends.
    pub fn end(self) {
        DEPTH.set(self.depth);
    }
}
