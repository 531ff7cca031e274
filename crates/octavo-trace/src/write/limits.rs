//! Limits of tables, checked before they are written. Larger tables are cut into row groups that a reader takes.

use std::path::Path;

use crate::TraceError;
use crate::schema::{MAX_LIST, MAX_NAME_BYTES, MAX_TABLE_ROWS, too_long, too_many_rows};

/// Values of a list in a row group, after which the next one begins: bounds a reader's memory to a few megabytes, and
/// stays far below its limits.
pub(super) const GROUP_VALUES: usize = 1 << 20;

/// Bytes of a name that take up as much of a row group as one value of a list.
const BYTES_OF_VALUE: usize = 64;

/// Checks the rows of a table, which `path` will hold: how many they are, and of each its name and its longest list.
pub(super) fn check<'a>(path: &Path, rows: impl ExactSizeIterator<Item = (&'a str, usize)>) -> Result<(), TraceError> {
    if rows.len() > MAX_TABLE_ROWS {
        return Err(TraceError::new(path, too_many_rows(rows.len() as u64)));
    }
    for (row, (name, list)) in rows.enumerate() {
        let wrong = |reason| TraceError::at(path, row as u64, reason);
        if name.len() > MAX_NAME_BYTES {
            let found = name.len();
            return Err(wrong(format!("a name of {found} bytes, expected at most {MAX_NAME_BYTES}")));
        }
        if list > MAX_LIST {
            return Err(wrong(too_long("a list", list)));
        }
    }
    Ok(())
}

/// Row groups of at most `most` rows, which end where their names or the longest of their lists become too large.
pub(super) fn groups<'t, T>(
    table: &'t [T],
    most: usize,
    size: impl Fn(&'t T) -> (&'t str, usize),
) -> impl Iterator<Item = &'t [T]> {
    let mut rest = table;
    std::iter::from_fn(move || {
        let (mut rows, mut values) = (0, 0);
        while rows < rest.len().min(most) && values < GROUP_VALUES {
            let (name, list) = size(&rest[rows]);
            values += list.max(name.len() / BYTES_OF_VALUE);
            rows += 1;
        }
        let (group, after) = rest.split_at(rows);
        rest = after;
        (rows > 0).then_some(group)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_end_where_they_are_full() {
        let lengths = |table: &[usize], most| -> Vec<usize> {
            groups(table, most, |list| ("", *list)).map(<[usize]>::len).collect()
        };
        assert_eq!(lengths(&[0; 7], 3), [3, 3, 1]);
        assert_eq!(lengths(&[GROUP_VALUES, 1, GROUP_VALUES - 1, 5], 10), [1, 2, 1]);
        assert!(lengths(&[], 3).is_empty());
        let name = "x".repeat(MAX_NAME_BYTES);
        let names = vec![name.as_str(); GROUP_VALUES * BYTES_OF_VALUE / MAX_NAME_BYTES + 1];
        assert_eq!(groups(&names, usize::MAX, |name| (*name, 0)).count(), 2);
    }
}
