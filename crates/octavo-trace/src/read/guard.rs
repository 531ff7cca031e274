//! Errors and panics of the Parquet decoder about damaged data.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use parquet::errors::ParquetError;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}
static HOOK: Once = Once::new();

/// Runs a piece of decoding. Lengths are checked before, so memory is bounded; data that a decoder still trusts in
/// damaged files may make it panic, which is an error like any other here.
pub(super) fn guarded<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    HOOK.call_once(say_nothing_inside);
    let outer = INSIDE.replace(true);
    let found = catch_unwind(AssertUnwindSafe(decode));
    INSIDE.set(outer);
    match found {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(ParquetError::General(reason) | ParquetError::EOF(reason))) => Err(reason),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("is damaged in a way that its decoder does not expect".to_owned()),
    }
}

/// A panic that becomes an error is reported once: by the error.
fn say_nothing_inside() {
    let before = take_hook();
    set_hook(Box::new(move |panic| {
        if !INSIDE.get() {
            before(panic);
        }
    }));
}
