//! Numbers in lines of text.

/// What is wrong with a text, and in which line.
pub(super) type Wrong = (usize, String);

/// A whole number in a line.
pub(super) fn number(word: Option<&str>, what: &str) -> Result<u64, String> {
    let Some(word) = word else { return Err(format!("expected {what}, found the end of the line")) };
    word.parse().map_err(|_| format!("expected {what}, found `{word}`"))
}
