//! Work before and after a launch, and before and after a wait of the host. The frames here hold nothing to drop: a
//! thread may be cancelled within the call.

use crate::apply::moves;
use crate::events::{beside_captures, is_capturing};
use crate::launch::{Launch, Wait};
use crate::recorder;

/// Launches, with the work before and after it.
///
/// # Safety
/// The launch has the parameters that its kernel has; `real` launches it.
pub unsafe fn launch(launch: Launch, real: impl FnOnce() -> i32) -> i32 {
    let (moved, began) = beside_captures(|| {
        let captured = is_capturing(launch.stream);
        // SAFETY: the caller says so.
        unsafe { (moves::launching(&launch, captured), recorder::launching(&launch, captured)) }
    });
    let status = real();
    beside_captures(|| {
        if status == 0 {
            recorder::launched(&launch, began);
        }
        moves::launched(&launch, moved);
    });
    status
}

/// Waits for something.
pub fn wait(wait: Wait, real: impl FnOnce() -> i32) -> i32 {
    beside_captures(|| moves::waiting(wait));
    let status = real();
    if status == 0 {
        beside_captures(|| {
            recorder::waited(wait);
            moves::waited(wait);
        });
    }
    status
}
