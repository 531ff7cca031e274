//! Settings from the environment, read once.

use std::env::var_os;
use std::path::{Path, PathBuf, absolute};
use std::sync::OnceLock;

/// Names the profile to write.
pub const RECORD: &str = "OCTAVO_RECORD";
/// Names the placement file to apply.
pub const APPLY: &str = "OCTAVO_APPLY";
/// Names the log of what was applied.
pub const LOG: &str = "OCTAVO_APPLY_LOG";
/// Switches everything off, unless it is empty or 0.
const DISABLE: &str = "OCTAVO_DISABLE";

/// Files that the environment names: where they are as the process begins, wherever that goes.
#[derive(Default)]
struct Asked {
    profile: Option<PathBuf>,
    placement: Option<PathBuf>,
    log: Option<PathBuf>,
}

fn asked() -> &'static Asked {
    static ASKED: OnceLock<Asked> = OnceLock::new();
    ASKED.get_or_init(|| {
        if var_os(DISABLE).is_some_and(|value| !value.is_empty() && value != "0") {
            return Asked::default();
        }
        let placement = file(APPLY);
        let log = placement.as_deref().map(|path| file(LOG).unwrap_or_else(|| beside(path)));
        Asked { profile: file(RECORD), placement, log }
    })
}

fn file(variable: &str) -> Option<PathBuf> {
    let named = var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from)?;
    Some(absolute(&named).unwrap_or(named))
}

/// `placement.json` has its log in `placement.applied.json`.
fn beside(placement: &Path) -> PathBuf {
    placement.with_extension("applied.json")
}

/// The profile to write, if any.
pub fn profile() -> Option<&'static PathBuf> {
    asked().profile.as_ref()
}

/// The placement file to apply and the log to write, if any.
pub fn placement() -> Option<(&'static PathBuf, &'static PathBuf)> {
    asked().placement.as_ref().zip(asked().log.as_ref())
}

/// Whether anything should be recorded or applied.
pub fn active() -> bool {
    asked().profile.is_some() || asked().placement.is_some()
}
