//! Errors.

use std::fmt::Display;

use cudarc::driver::DriverError;

/// Why something could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// The driver's library is not on this machine.
    #[error("no NVIDIA driver: its library (libcuda.so.1) was not found on this machine")]
    NoDriver,
    /// The driver is older than the calls of the probes.
    #[error("the driver knows CUDA {found}, and {needed} or newer is needed")]
    OldDriver {
        /// The driver's version, such as `11.8`.
        found: String,
        /// What is needed.
        needed: String,
    },
    /// There is a driver, but no GPU.
    #[error("the NVIDIA driver finds no GPU")]
    NoGpu,
    /// The GPU is older than what kernels were made for.
    #[error("the GPU has compute capability {}.{}, and {}.{} or newer is needed", found.0, found.1, needed.0, needed.1)]
    OldGpu {
        /// The GPU's version, such as (6, 1).
        found: (i32, i32),
        /// What is needed.
        needed: (i32, i32),
    },
    /// There is no GPU with that number.
    #[error("no GPU {asked}: this machine has {found}, counted from 0")]
    UnknownGpu {
        /// The requested number.
        asked: usize,
        /// How many there are.
        found: usize,
    },
    /// Kernels and copies of one GPU do not reach another's memory.
    #[error("GPU {from} cannot access the memory of GPU {to}")]
    NoPeerAccess {
        /// The one that should.
        from: usize,
        /// The other.
        to: usize,
    },
    /// There is no probe with that name.
    #[error("no probe `{0}`")]
    UnknownProbe(String),
    /// There is no architecture with that name.
    #[error("`{0}` is no architecture: expected one such as sm_90")]
    UnknownArchitecture(String),
    /// A call of the driver failed.
    #[error("{call} failed: {name}, {text}")]
    Call {
        /// What was called.
        call: &'static str,
        /// The driver's name of the error.
        name: String,
        /// The driver's words for it.
        text: String,
    },
    /// The compiler's library is not on this machine.
    #[error("no CUDA compiler: NVRTC (libnvrtc) was not found; `pip install octavo[gpu]` brings it")]
    NoCompiler,
    /// A probe's kernels do not compile.
    #[error("{name} does not compile for {architecture}:\n{log}")]
    Compilation {
        /// The probe's source file.
        name: String,
        /// Such as `sm_90`.
        architecture: String,
        /// What the compiler says.
        log: String,
    },
    /// A kernel is launched with other arguments than it takes, or does not exist: a mistake in a probe.
    #[error("kernel {kernel} takes ({expected}), and was given ({found})")]
    Arguments {
        /// The kernel.
        kernel: String,
        /// The argument types that it takes.
        expected: String,
        /// The argument types that it got.
        found: String,
    },
    /// A kernel computed something other than it must: the timed work is not what the probe claims.
    #[error("kernel {kernel} computed {found}, and it must be {expected}")]
    WrongResult {
        /// The kernel.
        kernel: String,
        /// What it must compute.
        expected: String,
        /// What it did.
        found: String,
    },
    /// Managed memory would need more than a quarter of the free memory: a real GPU is never oversubscribed.
    #[error("{asked} bytes of managed memory are more than a quarter of the {free} bytes free on the GPU")]
    TooMuchManaged {
        /// The request, and the bytes already allocated.
        asked: u64,
        /// The free memory when the probe began.
        free: u64,
    },
    /// The machine lacks memory for a buffer of the host.
    #[error("the host has no {0} bytes for a buffer")]
    HostMemory(usize),
    /// The progress callback said stop.
    #[error("stopped")]
    Stopped,
}

impl GpuError {
    pub(crate) fn wrong_result(kernel: &str, expected: impl Display, found: impl Display) -> Self {
        let (expected, found) = (expected.to_string(), found.to_string());
        Self::WrongResult { kernel: kernel.to_owned(), expected, found }
    }
}

/// Names the call in the driver's error.
pub(crate) trait Called<T> {
    /// `call` is the function of the driver.
    fn called(self, call: &'static str) -> Result<T, GpuError>;
}

impl<T> Called<T> for Result<T, DriverError> {
    fn called(self, call: &'static str) -> Result<T, GpuError> {
        self.map_err(|error| GpuError::Call { call, name: word(error.error_name()), text: word(error.error_string()) })
    }
}

fn word(text: Result<&std::ffi::CStr, DriverError>) -> String {
    text.map_or_else(|_| "unknown error".to_owned(), |text| text.to_string_lossy().into_owned())
}
