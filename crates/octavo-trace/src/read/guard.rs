//! Errors and panics of the Parquet decoder about damaged data.

use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::ParquetError;

/// Runs a piece of decoding. Lengths are checked before, so memory is bounded; what a decoder still trusts in damaged
/// data may make it panic, which is an error like any other here.
pub(super) fn guarded<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(decode)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(ParquetError::General(reason) | ParquetError::EOF(reason))) => Err(reason),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("is damaged in a way that its decoder does not expect".to_owned()),
    }
}
