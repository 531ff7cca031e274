use crate::{Bandwidth, Bytes, Cycles, Frequency, Rate, Time, UnitError};

/// A base unit, and how many of it.
type Counted = (&'static str, u64);

/// The base unit of `text`, whatever quantity it is, and how many of these it is: `("ps", 1_250_000)` of `1.25us`.
///
/// # Errors
/// It is no quantity, or a fraction finer than the base unit.
pub fn any(text: &str) -> Result<Counted, UnitError> {
    let parsers: [fn(&str) -> Option<Counted>; 6] = [
        |text| text.parse().ok().map(|Time(count)| ("ps", count)),
        |text| text.parse().ok().map(|Bytes(count)| ("B", count)),
        |text| text.parse().ok().map(|Bandwidth(count)| ("B/s", count)),
        |text| text.parse().ok().map(|Frequency(count)| ("Hz", count)),
        |text| text.parse().ok().map(|Cycles(count)| ("cycles", count)),
        |text| text.parse().ok().map(|Rate(count)| ("op/s", count)),
    ];
    let expected = "a quantity such as 1.25us, 16KiB, 300GB/s, 1GHz, 100cycles or 66.9Top/s";
    let found = parsers.iter().find_map(|parse| parse(text));
    found.ok_or_else(|| UnitError { found: text.to_owned(), expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_tells_what_it_measures() {
        let all = [("1.25\u{b5}s", ("ps", 1_250_000)), ("16KiB", ("B", 16_384)), ("300GB/s", ("B/s", 300_000_000_000))];
        let more = [("1GHz", ("Hz", 1_000_000_000)), ("7cycles", ("cycles", 7)), ("2Kop/s", ("op/s", 2_000))];
        for (text, expected) in all.into_iter().chain(more) {
            assert_eq!(any(text), Ok(expected));
        }
        for bad in ["", "5", "1e3ns", "-5ns", "0.5ps", "3parsecs"] {
            assert!(any(bad).is_err(), "{bad}");
        }
    }
}
