//! From lane addresses to the lines they touch, and which of these a store fills.

/// Bytes of a line.
const LINE_BYTES: u64 = 64;

/// Appends the numbers of the distinct lines that `bytes` bytes at each of `addresses` touch, in first-touch order.
pub(crate) fn lines_of_addresses(addresses: &[u64], bytes: u16, lines: &mut Vec<u64>) {
    let start = lines.len();
    for address in addresses {
        let last = address.saturating_add(u64::from(bytes).saturating_sub(1)) / 64;
        for line in address / 64..=last {
            // Neighbouring lanes often touch the same line; there are at most a few hundred others.
            if lines[start..].last() != Some(&line) && !lines[start..].contains(&line) {
                lines.push(line);
            }
        }
    }
}

/// Appends the positions in `lines` of those that a store of `bytes` bytes at each of `addresses` does not fill;
/// `lines` are those it touches.
pub(crate) fn partial_of_addresses(addresses: &[u64], bytes: u16, lines: &[u64], partial: &mut Vec<u64>) {
    // One bit for each byte of each line.
    let mut written = vec![0u64; lines.len()];
    let mut position = 0;
    for address in addresses.iter().filter(|_| bytes > 0) {
        let last = address.saturating_add(u64::from(bytes) - 1);
        for line in address / LINE_BYTES..=last / LINE_BYTES {
            if lines[position] != line {
                position = lines.iter().position(|found| *found == line).unwrap_or(position);
            }
            let from = if line == address / LINE_BYTES { address % LINE_BYTES } else { 0 };
            let to = if line == last / LINE_BYTES { last % LINE_BYTES } else { LINE_BYTES - 1 };
            written[position] |= u64::MAX >> (LINE_BYTES - 1 - (to - from)) << from;
        }
    }
    partial.extend((0..).zip(&written).filter(|(_, bytes)| **bytes != u64::MAX).map(|(position, _)| position));
}

/// Appends the positions of all of this many lines if a store of `bytes` bytes in total cannot fill them: the value of
/// [`Row::partial`](crate::Row::partial) if it was not recorded which lines it fills.
pub fn partial_together(bytes: u64, lines: usize, partial: &mut Vec<u64>) {
    if bytes < lines as u64 * LINE_BYTES {
        partial.extend(0..lines as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::{lines_of_addresses, partial_of_addresses, partial_together};

    #[test]
    fn each_line_once_in_first_touch_order() {
        let mut lines = vec![7];
        lines_of_addresses(&[640, 644, 60, 0, 700], 8, &mut lines);
        assert_eq!(lines, [7, 10, 0, 1, 11]);
    }

    fn partial(addresses: &[u64], bytes: u16) -> (Vec<u64>, Vec<u64>) {
        let (mut lines, mut partial) = (Vec::new(), Vec::new());
        lines_of_addresses(addresses, bytes, &mut lines);
        partial_of_addresses(addresses, bytes, &lines, &mut partial);
        (lines, partial)
    }

    #[test]
    fn a_store_of_64_words_off_by_one_fills_all_lines_but_the_first_and_the_last() {
        let words = |first: u64| (0..64).map(|lane| first + 4 * lane).collect::<Vec<_>>();
        assert_eq!(partial(&words(640), 4), (vec![10, 11, 12, 13], vec![]));
        assert_eq!(partial(&words(644), 4), (vec![10, 11, 12, 13, 14], vec![0, 4]));
    }

    #[test]
    fn lanes_fill_lines_in_any_order_and_across_borders() {
        let (even, odd) = ((0..16).map(|lane| 64 + 8 * lane), (0..16).map(|lane| 68 + 8 * lane));
        assert_eq!(partial(&even.clone().collect::<Vec<_>>(), 4).1, [0, 1], "every other word");
        assert_eq!(partial(&even.chain(odd).collect::<Vec<_>>(), 4), (vec![1, 2], vec![]));
        assert_eq!(partial(&[60, 76, 92, 108, 124], 16), (vec![0, 1, 2], vec![0, 2]), "lanes straddle lines");
        assert_eq!(partial(&[0, 0, 8], 8), (vec![0], vec![0]));
        assert_eq!(partial(&[u64::MAX - 63], 64), (vec![u64::MAX / 64], vec![]));
    }

    #[test]
    fn what_is_not_recorded_is_told_by_the_number_of_bytes() {
        let together = |bytes, lines| {
            let mut partial = Vec::new();
            partial_together(bytes, lines, &mut partial);
            partial
        };
        assert_eq!((together(256, 4), together(255, 4)), (vec![], vec![0, 1, 2, 3]));
    }
}
