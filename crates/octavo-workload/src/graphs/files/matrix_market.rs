//! Matrix Market: a header, the sizes, then one entry a line, rows and columns from 1 (`coordinate`), or every value
//! column by column (`array`).
//!
//! Source: <https://math.nist.gov/MatrixMarket/formats.html>.

use crate::graphs::files::matrix::{Matrix, Shape};
use crate::graphs::files::text::{Wrong, end, number, value, within};

/// What the header says.
#[derive(Clone, Copy)]
struct Header {
    is_array: bool,
    /// Numbers of each value: none of a pattern, two of a complex one.
    numbers: usize,
    shape: Shape,
}

pub fn parse(text: &str) -> Result<Matrix, Wrong> {
    let mut lines = text.lines().enumerate().map(|(line, content)| (line + 1, content.trim()));
    let header = lines.next().map_or("", |(_, header)| header);
    let header = Header::of(header).map_err(|message| (1, message))?;
    let mut contents = lines.filter(|(_, content)| !content.is_empty() && !content.starts_with('%'));
    let Some((line, sizes)) = contents.next() else {
        let last = text.lines().count();
        return Err((last, "expected rows and columns, found the end of the file".to_owned()));
    };
    let (rows, columns, entries) = header.sizes(sizes).map_err(|message| (line, message))?;
    let mut matrix = Matrix { rows, columns, shape: header.shape, ..Matrix::default() };
    let mut places = header.is_array.then(|| Places::of(&matrix));
    let (mut found, mut last, mut zeros) = (0, line, 0u64);
    for (line, content) in contents {
        let wrong = |message: String| (line, message);
        let mut words = content.split_ascii_whitespace();
        let place = match &mut places {
            Some(places) => places.next(),
            None => Some(header.place(&mut words, rows, columns).map_err(wrong)?),
        };
        let value = header.value(&mut words).map_err(wrong)?;
        let is_zero = value == Some(0.0);
        found += 1;
        // More than there may be are counted, and refused below.
        if let Some(place) = place.filter(|_| found <= entries && !(header.is_array && is_zero)) {
            matrix.entries.push(place);
            matrix.values.extend(value.filter(|_| header.numbers == 1));
            zeros += u64::from(is_zero);
        }
        last = line;
    }
    if found != entries {
        return Err((last, format!("expected {entries} entries, found {found}")));
    }
    matrix.note_values(header.numbers > 0, zeros);
    Ok(matrix)
}

impl Header {
    fn of(header: &str) -> Result<Self, String> {
        let words: Vec<String> = header.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let read = || {
            let ["%%matrixmarket", "matrix", layout, field, symmetry] = words.as_slice() else { return None };
            let is_array = *layout == "array";
            let numbers = match *field {
                "pattern" if !is_array => 0,
                "real" | "double" | "integer" => 1,
                "complex" => 2,
                _ => return None,
            };
            let shape = match *symmetry {
                "general" => Shape::General,
                "symmetric" => Shape::Symmetric,
                "skew-symmetric" if numbers > 0 => Shape::Skew,
                "hermitian" if numbers == 2 => Shape::Symmetric,
                _ => return None,
            };
            (is_array || *layout == "coordinate").then_some(Self { is_array, numbers, shape })
        };
        read().ok_or_else(|| {
            format!(
                "expected `%%MatrixMarket matrix`, `coordinate` or `array`, `real`, `integer`, `complex` or (of \
                 coordinates) `pattern`, and `general`, `symmetric`, `skew-symmetric` or (of complex ones) `hermitian`, \
                 found `{header}`"
            )
        })
    }

    /// Rows, columns and entries.
    fn sizes(&self, content: &str) -> Result<(u32, u32, u64), String> {
        let mut words = content.split_ascii_whitespace();
        let (rows, columns) = (number(words.next(), "rows")?, number(words.next(), "columns")?);
        let side = |size: u64| u32::try_from(size).ok().filter(|size| *size <= 1 << 31);
        let Some((rows, columns)) = side(rows).zip(side(columns)) else {
            return Err(format!("expected at most 2^31 rows and columns, found {rows} and {columns}"));
        };
        if self.shape != Shape::General && rows != columns {
            return Err(format!("expected as many rows as columns, found {rows} and {columns}"));
        }
        let (height, width) = (u64::from(rows), u64::from(columns));
        let entries = match self.shape {
            _ if !self.is_array => number(words.next(), "entries")?,
            Shape::General => height * width,
            Shape::Symmetric => height * (height + 1) / 2,
            Shape::Skew => height * height.saturating_sub(1) / 2,
        };
        end(words.next()).map(|()| (rows, columns, entries))
    }

    /// Where an entry stands, which is in the lower half where the upper one follows from it.
    fn place<'a>(
        &self,
        words: &mut impl Iterator<Item = &'a str>,
        rows: u32,
        columns: u32,
    ) -> Result<(u32, u32), String> {
        let row = within(number(words.next(), "a vertex")?, rows.into())?;
        let column = within(number(words.next(), "a vertex")?, columns.into())?;
        let (is_kept, what) = match self.shape {
            Shape::General => (true, ""),
            Shape::Symmetric => (column <= row, "on or below"),
            Shape::Skew => (column < row, "below"),
        };
        if !is_kept {
            let found = format!("found row {} and column {}", row + 1, column + 1);
            return Err(format!("expected an entry {what} the diagonal, from which the other half follows, {found}"));
        }
        Ok((row, column))
    }

    /// The value, of a complex one the sum of its parts' sizes; a pattern has none.
    fn value<'a>(&self, words: &mut impl Iterator<Item = &'a str>) -> Result<Option<f64>, String> {
        let mut numbers = [0.0; 2];
        for number in &mut numbers[..self.numbers] {
            *number = value(words.next(), "a value")?;
        }
        let found = if self.numbers == 1 { numbers[0] } else { numbers[0].abs() + numbers[1].abs() };
        end(words.next()).map(|()| (self.numbers > 0).then_some(found))
    }
}

/// Places of an array, column by column, without those that follow from others.
struct Places {
    rows: u32,
    columns: u32,
    shape: Shape,
    next: (u32, u32),
}

impl Places {
    fn of(matrix: &Matrix) -> Self {
        let first = Self::first(matrix.shape, 0);
        Self { rows: matrix.rows, columns: matrix.columns, shape: matrix.shape, next: (first, 0) }
    }

    /// First row of a column.
    fn first(shape: Shape, column: u32) -> u32 {
        match shape {
            Shape::General => 0,
            Shape::Symmetric => column,
            Shape::Skew => column + 1,
        }
    }
}

impl Iterator for Places {
    type Item = (u32, u32);

    fn next(&mut self) -> Option<(u32, u32)> {
        let (row, column) = self.next;
        if row >= self.rows || column >= self.columns {
            return None;
        }
        self.next =
            if row + 1 < self.rows { (row + 1, column) } else { (Self::first(self.shape, column + 1), column + 1) };
        Some((row, column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "%%MatrixMarket matrix coordinate pattern symmetric\n% comment\n";

    fn entries(text: &str) -> Vec<(u32, u32)> {
        parse(text).expect("a matrix").entries
    }

    #[test]
    fn all_kinds_of_matrices() {
        let banner = |rest: &str| format!("%%MatrixMarket matrix {rest}");
        assert_eq!(entries(&format!("{HEADER}4 4 2\n2 1\n4 1\n")), [(1, 0), (3, 0)]);
        assert_eq!(entries(&banner("coordinate real general\n2 3 1\n1 3 0.5\n")), [(0, 2)]);
        assert_eq!(entries(&banner("coordinate integer skew-symmetric\n3 3 1\n3 1 -2\n")), [(2, 0)]);
        assert_eq!(entries(&banner("coordinate complex hermitian\n3 3 2\n1 1 1 0\n3 1 0 -2\n")), [(0, 0), (2, 0)]);
        assert_eq!(entries(&banner("array real general\n2 3\n1\n0\n0\n2\n3\n0\n")), [(0, 0), (1, 1), (0, 2)]);
        assert_eq!(entries(&banner("array real symmetric\n2 2\n0\n1\n2\n")), [(1, 0), (1, 1)]);
        assert_eq!(entries(&banner("array real skew-symmetric\n3 3\n1\n0\n2\n")), [(1, 0), (2, 1)]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |rest: &str| parse(&format!("{HEADER}{rest}")).unwrap_err();
        assert_eq!(wrong("4 4 1\n5 1\n"), (4, "expected a vertex from 1 to 4, found 5".to_owned()));
        assert_eq!(wrong("4 4 1\n0 1\n"), (4, "expected a vertex from 1 to 4, found 0".to_owned()));
        assert_eq!(wrong("4 4 3\n2 1\n"), (4, "expected 3 entries, found 1".to_owned()));
        assert_eq!(wrong("4 4 1\n2 1\n3 1\n"), (5, "expected 1 entries, found 2".to_owned()));
        assert_eq!(wrong("4 4 1\n1 2\n").0, 4, "above the diagonal");
        assert_eq!(wrong("4 4 1\n2 1 0.5\n").0, 4, "a value of a pattern");
        assert_eq!(wrong("4 5 1\n").1, "expected as many rows as columns, found 4 and 5");
        assert_eq!(wrong("").0, 2);
        for header in
            ["array pattern general", "coordinate real hermitian", "coordinate text general", "grid real general"]
        {
            assert_eq!(parse(&format!("%%MatrixMarket matrix {header}\n2 2 0\n")).unwrap_err().0, 1, "{header}");
        }
        let skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 3\n";
        assert_eq!(parse(skew).unwrap_err().0, 3, "the diagonal of a skew matrix is zero");
    }
}
