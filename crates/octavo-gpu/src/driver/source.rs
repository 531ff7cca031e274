//! Sources and options for the compiler.

use sha2::{Digest, Sha256};

/// Kernels of a probe, in CUDA C++.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The file, for the compiler's messages.
    pub name: &'static str,
    /// Its own source, without what all probes share.
    pub body: &'static str,
}

/// Source that all kernels share: names of types, the clock, and the kernel of [`Stopwatch`](super::event::Stopwatch).
const SHARED: &str = include_str!("shared.cuh");

impl Source {
    /// What the compiler gets.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{SHARED}\n#line 1 \"{}\"\n{}", self.name, self.body)
    }

    /// Tells versions of it apart.
    #[must_use]
    pub fn digest(&self) -> String {
        digest(&self.text())
    }
}

/// The first 16 digits of SHA-256.
pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
