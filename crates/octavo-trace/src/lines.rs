//! From lane addresses to the lines they touch.

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

#[cfg(test)]
mod tests {
    use super::lines_of_addresses;

    #[test]
    fn each_line_once_in_first_touch_order() {
        let mut lines = vec![7];
        lines_of_addresses(&[640, 644, 60, 0, 700], 8, &mut lines);
        assert_eq!(lines, [7, 10, 0, 1, 11]);
    }
}
