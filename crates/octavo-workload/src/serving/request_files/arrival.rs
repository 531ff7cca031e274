//! A request as a file has it.

/// Tokens of a block that Mooncake's `hash_ids` name (its README, `FAST25-release`).
pub const HASHED_TOKENS: u32 = 512;
/// Tokens of a prompt or a reply, at most.
const MOST_TOKENS: u64 = 1 << 24;

/// A request as its file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// Seconds after the first request.
    pub seconds: f64,
    /// Tokens of its prompt, at least one.
    pub prompt: u32,
    /// Tokens of its reply, at least one.
    pub reply: u32,
    /// The content of each block of [`HASHED_TOKENS`] of its prompt: blocks with the same number have the same content.
    /// Empty where the file does not say.
    pub blocks: Vec<u64>,
}

/// The problem, and its line.
pub(super) type Wrong = (usize, String);

/// Requests, and what their reader assumed or did not use.
pub(super) type Found = (Vec<Arrival>, Vec<String>);

/// A number of tokens.
pub(super) fn tokens(found: u64, what: &str) -> Result<u32, String> {
    if found > MOST_TOKENS {
        return Err(format!("`{what}`: expected at most {MOST_TOKENS} tokens, found {found}"));
    }
    Ok(found as u32)
}
