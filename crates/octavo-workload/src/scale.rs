//! How a footprint scale turns into the dimensions of a kernel.
//!
//! Scale 1 is the published footprint. Dimensions grow so that the *footprint* is proportional to the scale: a
//! vector's length with the scale itself, the side of a square with its square root. Each is rounded to the nearest
//! multiple of what the kernel's blocking needs, so the footprint follows the scale only as closely as that allows.

use octavo_registry::OptionError;

/// Bytes of a megabyte in published footprints, taken as binary, like the cache sizes next to them.
pub const MEGABYTE: u64 = 1 << 20;

/// The length of a vector of `published` elements at `scale`, a multiple of `granule`.
///
/// # Errors
/// A scale that is not a positive number, or at which nothing is left.
pub fn length(published: u64, scale: f64, granule: u64) -> Result<u64, OptionError> {
    round(published as f64 * checked(scale)?, LARGEST, scale, granule)
}

/// The side of a square (or a dimension of arrays that all grow with its square) of `published` elements.
///
/// # Errors
/// As for [`length`].
pub fn side(published: u64, scale: f64, granule: u64) -> Result<u64, OptionError> {
    round(published as f64 * checked(scale)?.sqrt(), LARGEST.sqrt(), scale, granule)
}

/// The power of two nearest to `published` elements at `scale` (nearest by ratio), at least `smallest`.
///
/// # Errors
/// As for [`length`].
pub fn power_of_two(published: u64, scale: f64, smallest: u64) -> Result<u64, OptionError> {
    let exponent = (published as f64 * checked(scale)?).log2().round();
    if exponent > f64::from(LARGEST_EXPONENT) {
        return Err(too_large(scale));
    }
    // Below one element the cast ends at 2^0.
    let elements = 1 << exponent as u32;
    if exponent < 0.0 || elements < smallest { Err(too_small(scale)) } else { Ok(elements) }
}

/// `elements` themselves, as the option `key` gives them, if there are some and not more than can be numbered.
///
/// # Errors
/// Otherwise.
pub fn given(key: &str, elements: u64) -> Result<u64, OptionError> {
    if (1..=1 << LARGEST_EXPONENT).contains(&elements) {
        return Ok(elements);
    }
    Err(OptionError::new(key, format!("expected 1 to 2^{LARGEST_EXPONENT}, found {elements}")))
}

/// `elements` themselves, as the option `key` gives them, if they are a multiple of `granule` that [`given`] allows.
///
/// # Errors
/// Otherwise.
pub fn multiple(key: &str, elements: u64, granule: u64) -> Result<u64, OptionError> {
    if elements.is_multiple_of(granule) {
        return given(key, elements);
    }
    Err(OptionError::new(key, format!("expected a multiple of {granule}, found {elements}")))
}

/// `count` itself, as the option `key` gives it, if it is not 0.
///
/// # Errors
/// Otherwise.
pub fn at_least_one(key: &str, count: u32) -> Result<u32, OptionError> {
    if count > 0 { Ok(count) } else { Err(OptionError::new(key, "expected at least 1, found 0")) }
}

/// `count` itself, the value of the option `key`, if it is not 0 and all launches (`each` for each of them, and
/// `others`) can be numbered.
///
/// # Errors
/// Otherwise.
pub fn repeated(key: &str, count: u32, each: u32, others: u32) -> Result<u32, OptionError> {
    let most = (u32::MAX - others) / each;
    if (1..=most).contains(&count) {
        return Ok(count);
    }
    Err(OptionError::new(key, format!("expected 1 to {most} ({each} launches each), found {count}")))
}

/// Accepts a number of work-groups that a launch can have, to which the option `key` leads.
///
/// # Errors
/// Otherwise.
pub fn work_groups(key: &str, groups: u64) -> Result<(), OptionError> {
    if groups <= u64::from(u32::MAX) {
        return Ok(());
    }
    Err(OptionError::new(key, format!("expected what has at most {} work-groups, found {groups}", u32::MAX)))
}

/// The value of option `key`, otherwise `published` elements at `scale` to the nearest multiple of `granule`.
///
/// # Errors
/// Names the option, or `scale`, where there are none, more than `most`, or (as given) not a multiple of `granule`.
pub fn chosen(
    key: &str,
    given: Option<u64>,
    published: u64,
    scale: f64,
    granule: u64,
    most: u64,
) -> Result<u64, OptionError> {
    let Some(elements) = given else {
        return at_most(most, length(published, scale, granule)?, scale);
    };
    if elements == 0 || elements > most || !elements.is_multiple_of(granule) {
        let multiple = if granule == 1 { String::new() } else { format!(" a multiple of {granule},") };
        return Err(OptionError::new(key, format!("expected{multiple} {granule} to {most}, found {elements}")));
    }
    Ok(elements)
}

/// `elements`, which `scale` led to, if they are at most `most`.
///
/// # Errors
/// Otherwise.
pub fn at_most(most: u64, elements: u64, scale: f64) -> Result<u64, OptionError> {
    if elements > most { Err(too_large(scale)) } else { Ok(elements) }
}

/// `scale` itself when it is a positive, finite number.
///
/// # Errors
/// Otherwise.
pub fn checked(scale: f64) -> Result<f64, OptionError> {
    if scale.is_finite() && scale > 0.0 {
        Ok(scale)
    } else {
        Err(OptionError::new(
            "scale",
            format!("expected a positive number (1 is the published footprint), found {scale}"),
        ))
    }
}

/// More elements than this (a terabyte of 4-byte ones) would not fit the work-group ids of their threads.
const LARGEST: f64 = (1u64 << LARGEST_EXPONENT) as f64;
const LARGEST_EXPONENT: u32 = 38;

fn round(elements: f64, largest: f64, scale: f64, granule: u64) -> Result<u64, OptionError> {
    if elements > largest {
        return Err(too_large(scale));
    }
    match (elements / granule as f64).round() as u64 {
        0 => Err(too_small(scale)),
        granules => Ok(granules * granule),
    }
}

fn too_small(scale: f64) -> OptionError {
    OptionError::new("scale", format!("{scale} is so small that nothing is left of the workload"))
}

fn too_large(scale: f64) -> OptionError {
    OptionError::new("scale", format!("{scale} is so large that nothing could hold the workload"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footprint_follows_the_scale() {
        assert_eq!(length(1000, 0.5, 1).unwrap(), 500);
        assert_eq!(length(1000, 1.0, 64).unwrap(), 1024);
        assert_eq!(side(512, 0.25, 32).unwrap(), 256);
        assert_eq!(power_of_two(7_864_320, 1.0, 2).unwrap(), 1 << 23);
        assert_eq!(power_of_two(1 << 23, 0.0625, 2).unwrap(), 1 << 19);
    }

    #[test]
    fn what_is_given_counts() {
        assert_eq!(chosen("n", Some(48), 1000, 0.5, 16, 64).unwrap(), 48);
        assert_eq!(chosen("n", None, 1000, 0.05, 16, 64).unwrap(), 48);
        assert_eq!(chosen("n", None, 1000, 0.5, 16, 64).unwrap_err().key, "scale");
        for wrong in [0, 8, 80] {
            assert_eq!(chosen("n", Some(wrong), 1000, 0.5, 16, 64).unwrap_err().key, "n");
        }
    }

    #[test]
    fn what_cannot_be_numbered_is_refused() {
        let most = u32::MAX / 3;
        assert_eq!(repeated("steps", most, 3, 0), Ok(most));
        assert_eq!(repeated("steps", most, 3, 1).unwrap_err().key, "steps");
        let refused = repeated("steps", most + 1, 3, 0).unwrap_err();
        assert_eq!(refused.message, "expected 1 to 1431655765 (3 launches each), found 1431655766");
        assert_eq!(repeated("steps", 0, 3, 0).unwrap_err().key, "steps");
        assert_eq!(work_groups("rows", u32::MAX.into()), Ok(()));
        assert_eq!(work_groups("rows", 1 << 32).unwrap_err().key, "rows");
    }

    #[test]
    fn nonsense_is_refused() {
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9, 1e30] {
            assert!(length(1000, scale, 16).is_err(), "{scale}");
            assert!(side(100, scale, 16).is_err(), "{scale}");
            assert!(power_of_two(1000, scale, 2).is_err(), "{scale}");
        }
    }
}
