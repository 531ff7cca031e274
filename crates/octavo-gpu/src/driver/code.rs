//! Compiled kernels, as the driver takes them.

use std::borrow::Cow;
use std::ffi::CStr;

use crate::driver::architecture::Architecture;
use crate::driver::source::Source;
use crate::error::GpuError;

/// Where compiled kernels come from.
pub trait Kernels {
    /// A source's kernels, for a GPU of that architecture.
    ///
    /// # Errors
    /// There are none, or they do not compile.
    fn code(&self, source: &Source, architecture: Architecture) -> Result<Code, GpuError>;

    /// Version of the compiler that makes or made them, such as `12.9`; `None` where there is none.
    fn compiler(&self) -> Option<String>;
}

/// The result of compiling a source.
#[derive(Clone, Debug)]
pub enum Code {
    /// Machine code of one architecture: an ELF file, whole.
    Machine(Vec<u8>),
    /// Text in NVIDIA's intermediate language, which the driver translates for architectures from its own on.
    Ptx(Cow<'static, CStr>),
}

impl Code {
    /// All of it; texts end in a zero byte.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Machine(code) => code,
            Self::Ptx(text) => text.to_bytes_with_nul(),
        }
    }
}
