//! How programs that run at the same time share the compute units of a GPU.

use std::ops::Range;

/// A program does not get its compute units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// The shares up to its own are more than the GPU.
    #[error("expected shares that add up to at most 1")]
    TooMuch {
        /// Which of the programs.
        program: usize,
    },
    /// A job would have less than one unit.
    #[error("it would have none of the {units} compute units, expected at least 1")]
    NoUnits {
        /// Which of the programs.
        program: usize,
        /// Compute units of the GPU.
        units: u32,
    },
}

impl ShareError {
    /// Which of the programs.
    #[must_use]
    pub const fn program(self) -> usize {
        match self {
            Self::TooMuch { program } | Self::NoUnits { program, .. } => program,
        }
    }
}

/// The units of each program, side by side in order. A program that requests a share (above 0, at most 1) gets that
/// part of all `units`, rounded down; programs without a request get equal parts of the rest, also rounded down.
///
/// # Errors
/// The first program whose share is no longer there, or for which no unit is left.
pub fn divide_units(units: u32, shares: &[Option<f64>]) -> Result<Vec<Range<usize>>, ShareError> {
    // A thousandth of a unit more, so that 0.29 of 100 are 29.
    let asked = |share: f64| (share * f64::from(units) + 1e-3) as u32;
    let mut taken = 0;
    for (program, share) in shares.iter().enumerate() {
        taken += share.map_or(0, asked);
        if taken > units {
            return Err(ShareError::TooMuch { program });
        }
    }
    let silent = shares.iter().filter(|share| share.is_none()).count() as u32;
    let equal = (units - taken) / silent.max(1);
    let mut next = 0;
    let part = |(program, share): (usize, &Option<f64>)| {
        let own = share.map_or(equal, asked);
        let first = next;
        next += own;
        if own == 0 { Err(ShareError::NoUnits { program, units }) } else { Ok(first as usize..next as usize) }
    };
    shares.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_parts_leave_the_rest_unused() {
        assert_eq!(divide_units(30, &[None; 4]).unwrap(), [0..7, 7..14, 14..21, 21..28]);
        assert_eq!(divide_units(2, &[None; 3]), Err(ShareError::NoUnits { program: 0, units: 2 }));
    }

    #[test]
    fn shares_come_first_and_the_others_divide_what_is_left() {
        assert_eq!(divide_units(64, &[None, Some(0.5), None]).unwrap(), [0..16, 16..48, 48..64]);
        assert_eq!(divide_units(100, &[Some(0.29), Some(0.71)]).unwrap(), [0..29, 29..100]);
        assert_eq!(divide_units(64, &[Some(0.75), Some(0.5)]), Err(ShareError::TooMuch { program: 1 }));
        assert_eq!(divide_units(64, &[Some(1.0), None]), Err(ShareError::NoUnits { program: 1, units: 64 }));
        assert_eq!(divide_units(64, &[Some(0.01)]), Err(ShareError::NoUnits { program: 0, units: 64 }));
    }
}
