//! Variables of the roofline, each with its valid range.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A number outside the range in which its quantity means something.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("expected {expected}, found {found}")]
pub struct QuantityError {
    /// The quantity, its range and its unit.
    pub expected: &'static str,
    /// The number as found.
    pub found: f64,
}

/// A newtype over `f64` that holds only what `$valid` accepts.
macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $expected:literal, $valid:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(f64);

        impl TryFrom<f64> for $name {
            type Error = QuantityError;
            fn try_from(value: f64) -> Result<Self, QuantityError> {
                Self::new(value)
            }
        }

        impl From<$name> for f64 {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl $name {
            #[doc = concat!("Takes ", $expected, ".")]
            ///
            /// # Errors
            /// The number is outside this range, infinite or not a number.
            pub fn new(value: f64) -> Result<Self, QuantityError> {
                let valid: fn(f64) -> bool = $valid;
                if value.is_finite() && valid(value) {
                    Ok(Self(value))
                } else {
                    Err(QuantityError { expected: $expected, found: value })
                }
            }

            /// The plain number.
            #[must_use]
            pub fn get(self) -> f64 {
                self.0
            }
        }
    };
}

quantity!(
    /// Operational intensity α: operations, integer and floating point, for each byte of device memory touched.
    Intensity,
    "an operational intensity above 0 operations a byte",
    |value| value > 0.0
);
quantity!(
    /// Operations a second.
    Rate,
    "a rate above 0 operations a second",
    |value| value > 0.0
);
quantity!(
    /// Access sparsity σ: the share of the data touched at least once; 1 is dense.
    Sparsity,
    "a touched share above 0 and at most 1",
    |value| value > 0.0 && value <= 1.0
);
quantity!(
    /// Re-migration rate ρ: migrations over distinct pages requested; 1 brings every page once.
    Remigration,
    "a re-migration rate of at least 1",
    |value| value >= 1.0
);

quantity!(
    /// Occupancy: warps that are resident on a multiprocessor over those that fit.
    Occupancy,
    "an occupancy above 0 and at most 1",
    |value| value > 0.0 && value <= 1.0
);

/// A difference of times in seconds, which may be below 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct Seconds(pub f64);

impl Sparsity {
    /// Everything is touched.
    pub const DENSE: Self = Self(1.0);
}

impl Remigration {
    /// Every page comes once.
    pub const ONCE: Self = Self(1.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_their_range_are_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Intensity::new(bad).is_err() && Rate::new(bad).is_err() && Sparsity::new(bad).is_err(), "{bad}");
        }
        assert!(Sparsity::new(1.0).is_ok() && Sparsity::new(1.01).is_err());
        assert!(Remigration::new(1.0).is_ok() && Remigration::new(0.99).is_err());
    }

    #[test]
    fn a_refusal_says_what_was_expected() {
        let error = Sparsity::new(2.0).unwrap_err().to_string();
        assert_eq!(error, "expected a touched share above 0 and at most 1, found 2");
    }
}
