//! Why this program ends without a result.

use std::path::{Path, PathBuf};

use octavo_gpu::GpuError;

/// What users read.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The driver, or a probe.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// There is no probe with that name.
    #[error("--only: expected one of {known}, found `{found}`")]
    UnknownProbe {
        /// Their names.
        known: String,
        /// What was typed.
        found: String,
    },
    /// Something cannot be read or written.
    #[error("{}: {reason}", path.display())]
    File {
        /// What.
        path: PathBuf,
        /// In the system's words.
        reason: String,
    },
    /// A folder holds samples of another measurement.
    #[error(
        "{} holds samples of `{probe}` from {difference}\nchoose another folder with -o, or measure everything anew with \
         --force",
        folder.display()
    )]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// The probe.
        probe: String,
        /// What differs.
        difference: String,
    },
    /// Probes that failed.
    #[error("{}", incomplete(.0))]
    Incomplete(Vec<(&'static str, String)>),
}

impl Failure {
    /// Something cannot be read or written.
    pub fn file(path: &Path, reason: impl ToString) -> Self {
        Self::File { path: path.to_owned(), reason: reason.to_string() }
    }
}

fn incomplete(failed: &[(&'static str, String)]) -> String {
    let reasons: String = failed.iter().map(|(probe, reason)| format!("\n  {probe}: {reason}")).collect();
    format!("{} probes failed:{reasons}\nthe same command tries these probes again", failed.len())
}
