//! Arrays of whole numbers as `NumPy` writes them (`.npy`).

const MAGIC: &[u8] = b"\x93NUMPY";

/// The numbers of an array of one dimension.
///
/// # Errors
/// Other arrays and other bytes.
pub fn whole_numbers(file: &[u8]) -> Result<Vec<u64>, String> {
    let (header, content) = parts(file).ok_or("expected an array of NumPy, found other bytes")?;
    let kind = quoted(header, "descr").unwrap_or_default();
    let (signed, size) = match kind {
        "<i4" => (true, 4),
        "<i8" => (true, 8),
        "<u4" => (false, 4),
        "<u8" => (false, 8),
        other => return Err(format!("expected whole numbers of 32 or 64 bits, found `{other}`")),
    };
    let value = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
    let numbers: Vec<u64> = content.chunks_exact(size).map(value).collect();
    if signed && let Some(index) = numbers.iter().position(|number| number >> (8 * size - 1) != 0) {
        return Err(format!("expected no negative numbers, found one at {index}"));
    }
    Ok(numbers)
}

/// The text of an array that is one text of ASCII (`|S3`) or other characters (`<U3`).
///
/// # Errors
/// Other arrays and other bytes.
pub fn text(file: &[u8]) -> Result<String, String> {
    let (header, content) = parts(file).ok_or("expected an array of NumPy, found other bytes")?;
    let kind = quoted(header, "descr").unwrap_or_default();
    if !kind.starts_with("|S") && !kind.starts_with("<U") {
        return Err(format!("expected a text, found `{kind}`"));
    }
    let text: Vec<u8> = content.iter().copied().filter(|byte| *byte != 0).collect();
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The header's text, and what follows it.
fn parts(file: &[u8]) -> Option<(&str, &[u8])> {
    let rest = file.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_at_checked(2)?;
    let (size, rest) = rest.split_at_checked(if version[0] == 1 { 2 } else { 4 })?;
    let size = size.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    let (header, content) = rest.split_at_checked(size)?;
    Some((std::str::from_utf8(header).ok()?, content))
}

/// The text in quotes behind a key.
fn quoted<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    header.split_once(&format!("'{key}'"))?.1.split('\'').nth(1)
}
