//! Compressed rows or columns of `NumPy` and `SciPy` (`scipy.sparse.save_npz`, or `numpy.savez` with `indptr` and
//! `indices`).

use crate::graphs::files::matrix::Matrix;
use crate::graphs::files::{numpy, zip};

pub fn parse(archive: &[u8]) -> Result<Matrix, String> {
    let file = |name: &str| zip::find(archive, &format!("{name}.npy"));
    let array = |name: &str| {
        let file = file(name)?.ok_or_else(|| format!("expected an array `{name}`, found none"))?;
        numpy::whole_numbers(&file).map_err(|message| format!("`{name}`: {message}"))
    };
    let by_column = by_column(file("format")?.as_deref())?;
    let (offsets, targets) = (array("indptr")?, array("indices")?);
    let height = offsets.len().saturating_sub(1) as u64;
    let width = match file("shape")? {
        Some(_) => width(&array("shape")?, height, by_column)?,
        None => height,
    };
    if height.max(width) > 1 << 31 {
        return Err(format!("expected at most 2^31 rows and columns, found {height} and {width}"));
    }
    check_rows(&offsets, targets.len() as u64)?;
    if let Some(at) = targets.iter().position(|&target| target >= width) {
        let last = width.saturating_sub(1);
        return Err(format!("`indices`, entry {at}: expected a vertex from 0 to {last}, found {}", targets[at]));
    }
    let row = |row: usize| (offsets[row]..offsets[row + 1]).map(move |edge| (row, edge));
    let places = (0..height as usize).flat_map(row).map(|(row, edge)| (row as u32, targets[edge as usize] as u32));
    let entries = places.map(|(row, column)| if by_column { (column, row) } else { (row, column) }).collect();
    let (rows, columns) = if by_column { (width, height) } else { (height, width) };
    let mut matrix = Matrix { rows: rows as u32, columns: columns as u32, entries, ..Matrix::default() };
    matrix.note_values(file("data")?.is_some(), 0);
    Ok(matrix)
}

/// Whether columns are compressed rather than rows, as `SciPy` says; without a word of it, rows are.
fn by_column(format: Option<&[u8]>) -> Result<bool, String> {
    let Some(file) = format else { return Ok(false) };
    match numpy::text(file)?.as_str() {
        "csr" => Ok(false),
        "csc" => Ok(true),
        other => Err(format!("`format`: expected `csr` or `csc`, found `{other}`")),
    }
}

/// What a shape says about the side that is not compressed.
fn width(shape: &[u64], height: u64, by_column: bool) -> Result<u64, String> {
    let (height_said, width) = match *shape {
        [rows, columns] if by_column => (columns, rows),
        [rows, columns] => (rows, columns),
        _ => return Err(format!("`shape`: expected two numbers, found {}", shape.len())),
    };
    if height_said != height {
        return Err(format!("`shape`: expected {height}, as `indptr` has, found {height_said}"));
    }
    Ok(width)
}

fn check_rows(offsets: &[u64], targets: u64) -> Result<(), String> {
    let (first, last) = (offsets.first().copied(), offsets.last().copied());
    if first != Some(0) || last != Some(targets) {
        let found = format!("found {} and {}", first.unwrap_or_default(), last.unwrap_or_default());
        return Err(format!("`indptr`: expected numbers from 0 to {targets}, as many as `indices` has, {found}"));
    }
    match offsets.windows(2).position(|row| row[1] < row[0]) {
        Some(row) => {
            Err(format!("`indptr`, entry {}: expected at least {}, found {}", row + 1, offsets[row], offsets[row + 1]))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An array of 32-bit numbers as `NumPy` writes it.
    fn npy(numbers: &[i32]) -> Vec<u8> {
        let header = format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({},), }}\n", numbers.len());
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        numbers.iter().for_each(|number| file.extend(number.to_le_bytes()));
        file
    }

    /// An archive of stored files; checks of sums are left out, as the reader does.
    fn archive(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let (mut all, mut directory) = (Vec::new(), Vec::new());
        for (name, content) in files {
            let size = (content.len() as u32).to_le_bytes();
            let name_size = (name.len() as u16).to_le_bytes();
            directory.extend(b"PK\x01\x02".iter().chain(&[0; 16]));
            directory.extend(size.iter().chain(&size).chain(&name_size).chain(&[0; 12]));
            directory.extend((all.len() as u32).to_le_bytes().iter().chain(name.as_bytes()));
            all.extend(b"PK\x03\x04".iter().chain(&[0; 14]).chain(&size).chain(&size).chain(&name_size).chain(&[0; 2]));
            all.extend(name.as_bytes().iter().chain(content));
        }
        let at = (all.len() as u32).to_le_bytes();
        all.extend(&directory);
        all.extend(b"PK\x05\x06\0\0\0\0");
        let count = (files.len() as u16).to_le_bytes();
        all.extend(count.iter().chain(&count).chain(&(directory.len() as u32).to_le_bytes()).chain(&at).chain(&[0; 2]));
        all
    }

    fn rows(offsets: &[i32], targets: &[i32]) -> Result<Matrix, String> {
        parse(&archive(&[("indices.npy", npy(targets)), ("indptr.npy", npy(offsets))]))
    }

    #[test]
    fn rows_become_edges() {
        let parsed = rows(&[0, 2, 2, 3], &[1, 2, 0]).expect("a graph");
        assert_eq!((parsed.rows, parsed.columns, parsed.entries), (3, 3, vec![(0, 1), (0, 2), (2, 0)]));
    }

    #[test]
    fn columns_that_are_compressed_become_rows() {
        let mut format = npy(&[]);
        let header = format.windows(3).position(|three| three == b"<i4").expect("a kind");
        format[header..header + 3].copy_from_slice(b"|S3");
        let read = |format: &[u8], shape: &[i32]| {
            let text = [format, b"csc"].concat();
            let files = [("indptr.npy", npy(&[0, 2, 3])), ("indices.npy", npy(&[1, 2, 0])), ("format.npy", text)];
            parse(&archive(&[&files[..], &[("shape.npy", npy(shape))]].concat()))
        };
        let parsed = read(&format, &[3, 2]).expect("a matrix");
        assert_eq!((parsed.rows, parsed.columns, parsed.entries), (3, 2, vec![(1, 0), (2, 0), (0, 1)]));
        assert!(read(&format, &[2, 3]).is_err() && read(&format, &[3]).is_err());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let wrong = |offsets: &[i32], targets: &[i32]| rows(offsets, targets).unwrap_err();
        assert_eq!(wrong(&[0, 1, 2], &[1, 2]), "`indices`, entry 1: expected a vertex from 0 to 1, found 2");
        assert_eq!(wrong(&[0, 2, 1, 3], &[1, 2, 0]), "`indptr`, entry 2: expected at least 2, found 1");
        assert_eq!(
            wrong(&[0, 1, 2], &[1]),
            "`indptr`: expected numbers from 0 to 1, as many as `indices` has, found 0 and 2"
        );
        assert_eq!(wrong(&[0, 1], &[-1]), "`indices`: expected no negative numbers, found one at 0");
        let none = parse(&archive(&[("indptr.npy", npy(&[0]))])).unwrap_err();
        assert_eq!(none, "expected an array `indices`, found none");
        assert_eq!(parse(b"nothing").unwrap_err(), "expected a ZIP archive, found other bytes");
        let whole = archive(&[("indptr.npy", npy(&[0, 1])), ("indices.npy", npy(&[0]))]);
        assert!((0..whole.len()).all(|end| parse(&whole[..end]).is_err()), "an archive that is cut off");
    }
}
