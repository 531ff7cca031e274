//! What the compiler is given.

/// Kernels of a probe, in CUDA C++.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The file, for the compiler's messages.
    pub name: &'static str,
    /// What is in it, without what all probes share.
    pub body: &'static str,
}

/// What all kernels share: names of types, the clock, and the kernel of [`Stopwatch`](super::event::Stopwatch).
const SHARED: &str = include_str!("shared.cuh");

impl Source {
    /// What the compiler gets.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{SHARED}\n#line 1 \"{}\"\n{}", self.name, self.body)
    }
}
