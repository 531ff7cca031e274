//! Files that this library writes.

use std::path::Path;

use serde::Serialize;

/// Writes a document, whole or not at all. There is nowhere to report an error: the user finds the file missing.
pub fn json(path: &Path, process: u32, document: &impl Serialize) {
    let beside = path.with_extension(format!("{process}.part"));
    let Ok(text) = serde_json::to_vec_pretty(document) else { return };
    if std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path)).is_err() {
        let _ = std::fs::remove_file(&beside);
    }
}
