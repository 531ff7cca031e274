//! A panic of Octavo's stays Octavo's: it neither unwinds into the program nor prints there.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}
static HOOK: Once = Once::new();

/// The result of `work`, or `otherwise` if it panics.
pub fn guarded<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !INSIDE.get() {
                before(panic);
            }
        }));
    });
    let outer = INSIDE.replace(true);
    let found = catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise);
    INSIDE.set(outer);
    found
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_becomes_an_answer() {
        assert_eq!(guarded(-5, || panic!("nobody sees this")), -5);
        assert_eq!(guarded(-5, || 0), 0);
    }
}
