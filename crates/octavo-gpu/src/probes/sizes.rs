//! Lists of sizes.

/// Powers of two from one to another, both if the distance allows, each `2^every` times the one before.
pub(crate) fn powers_of_two(from: u64, to: u64, every: u32) -> Vec<u64> {
    assert!(from.is_power_of_two(), "the first of the powers is one");
    std::iter::successors(Some(from), |size| size.checked_mul(1 << every)).take_while(|&size| size <= to).collect()
}

/// `points` sizes for each doubling, at equal distances within it.
pub(crate) fn per_octave(from: u64, to: u64, points: u64) -> Vec<u64> {
    let octave = |size: u64| (0..points).map(move |part| size + size * part / points);
    powers_of_two(from, to, 1).into_iter().flat_map(octave).filter(|&size| size <= to).collect()
}

/// The largest power of two that is no larger.
pub(crate) fn power_within(bytes: u64) -> u64 {
    1 << bytes.max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::{per_octave, power_within, powers_of_two};

    #[test]
    fn powers_go_up_to_the_last_that_fits() {
        assert_eq!(powers_of_two(4096, 32768, 1), [4096, 8192, 16384, 32768]);
        assert_eq!(powers_of_two(4096, 1 << 20, 4), [4096, 65536, 1 << 20]);
        assert_eq!(powers_of_two(4096, 4095, 1), []);
        assert_eq!(powers_of_two(1 << 62, u64::MAX, 1), [1 << 62, 1 << 63]);
    }

    #[test]
    fn octaves_are_divided_evenly_and_end_where_asked() {
        assert_eq!(per_octave(4, 16, 4), [4, 5, 6, 7, 8, 10, 12, 14, 16]);
        assert_eq!(per_octave(4, 15, 2), [4, 6, 8, 12]);
    }

    #[test]
    fn a_power_within_is_never_larger() {
        assert_eq!([0, 1, 3, 4, 5].map(power_within), [1, 1, 2, 4, 4]);
    }
}
