//! What the environment asks for, read once.

use std::env::var_os;
use std::path::{PathBuf, absolute};
use std::sync::OnceLock;

/// Names the profile to write.
pub const RECORD: &str = "OCTAVO_RECORD";
/// Switches everything off, unless it is empty or 0.
const DISABLE: &str = "OCTAVO_DISABLE";

/// The profile to write, if any: where it is named as the process begins, wherever that goes.
pub fn profile() -> Option<&'static PathBuf> {
    static PROFILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROFILE
        .get_or_init(|| {
            let off = var_os(DISABLE).is_some_and(|value| !value.is_empty() && value != "0");
            var_os(RECORD)
                .filter(|path| !off && !path.is_empty())
                .map(PathBuf::from)
                .map(|path| absolute(&path).unwrap_or(path))
        })
        .as_ref()
}

/// Whether anything is to be done.
pub fn active() -> bool {
    profile().is_some()
}
