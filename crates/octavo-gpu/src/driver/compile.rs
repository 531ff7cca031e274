//! From CUDA C++ to code for a GPU, with NVRTC; needs no GPU.

use std::ffi::{CStr, CString, c_char};

use cudarc::nvrtc::{result, sys};

use crate::driver::architecture::Architecture;
use crate::driver::code::{Code, Kernels};
use crate::driver::source::Source;
use crate::error::GpuError;

/// Kernels compiled when they are needed, by NVRTC.
#[derive(Clone, Copy, Debug)]
pub struct Nvrtc;

impl Kernels for Nvrtc {
    fn code(&self, source: &Source, architecture: Architecture) -> Result<Code, GpuError> {
        compile(source, architecture)
    }

    fn compiler(&self) -> Option<String> {
        compiler_version().ok()
    }
}

/// Machine code where the compiler knows the architecture, otherwise code of the newest before it that it knows (PTX),
/// which the driver translates.
///
/// # Errors
/// No compiler; source that does not compile, with the compiler's words.
pub fn compile(source: &Source, architecture: Architecture) -> Result<Code, GpuError> {
    compile_for(source, &target(&supported()?, architecture.number()))
}

/// Text that drivers translate for this architecture and every later one.
///
/// # Errors
/// As for [`compile`].
pub fn compile_text(source: &Source, architecture: Architecture) -> Result<Code, GpuError> {
    present()?;
    compile_for(source, &format!("compute_{}", architecture.number()))
}

fn compile_for(source: &Source, target: &str) -> Result<Code, GpuError> {
    let program = Program::new(source)?;
    program.compile(source, target)?;
    let made = if target.starts_with("sm_") { program.machine_code() } else { program.ptx() };
    made.map_err(|error| failure(source, target, &error))
}

/// Architectures older than the known ones are left to the compiler to refuse.
fn target(known: &[i32], wanted: i32) -> String {
    let before = known.iter().copied().filter(|&number| number < wanted).max();
    match before {
        Some(before) if !known.contains(&wanted) => format!("compute_{before}"),
        _ => format!("sm_{wanted}"),
    }
}

/// Version of the compiler, such as `12.9`.
///
/// # Errors
/// No compiler.
pub fn compiler_version() -> Result<String, GpuError> {
    present()?;
    let (mut major, mut minor) = (0, 0);
    // SAFETY: writes two ints.
    let told = unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) };
    told.result().map_err(|_| GpuError::NoCompiler)?;
    Ok(format!("{major}.{minor}"))
}

fn present() -> Result<(), GpuError> {
    // SAFETY: opens a library whose constructors have no demands.
    if unsafe { sys::is_culib_present() } { Ok(()) } else { Err(GpuError::NoCompiler) }
}

fn supported() -> Result<Vec<i32>, GpuError> {
    present()?;
    let mut count = 0;
    // SAFETY: writes one int.
    unsafe { sys::nvrtcGetNumSupportedArchs(&raw mut count) }.result().map_err(|_| GpuError::NoCompiler)?;
    let mut architectures = vec![0; usize::try_from(count).unwrap_or(0)];
    // SAFETY: writes as many ints as it has just said.
    let told = unsafe { sys::nvrtcGetSupportedArchs(architectures.as_mut_ptr()) };
    told.result().map_err(|_| GpuError::NoCompiler)?;
    Ok(architectures)
}

/// One source in the compiler.
struct Program(sys::nvrtcProgram);

impl Program {
    fn new(source: &Source) -> Result<Self, GpuError> {
        let text = CString::new(source.text()).expect("sources hold no zero byte");
        let name = CString::new(source.name).expect("names hold no zero byte");
        let program = result::create_program(&text, Some(&name));
        program.map(Self).map_err(|error| failure(source, "", &format!("{error:?}")))
    }

    fn compile(&self, source: &Source, target: &str) -> Result<(), GpuError> {
        let options = [format!("--gpu-architecture={target}"), "--std=c++17".to_owned(), "-default-device".to_owned()];
        // SAFETY: the program is alive.
        unsafe { result::compile_program(self.0, &options) }.map_err(|error| {
            let log = self.log();
            failure(source, target, if log.is_empty() { format!("{error:?}") } else { log }.as_str())
        })
    }

    fn log(&self) -> String {
        // SAFETY: the program is alive.
        let log = unsafe { result::get_program_log(self.0) }.unwrap_or_default();
        text(log).map(|log| log.to_string_lossy().trim().to_owned()).unwrap_or_default()
    }

    fn machine_code(&self) -> Result<Code, String> {
        let words = |error| format!("{error:?}");
        let mut size = 0;
        // SAFETY: the program is alive; writes one number.
        unsafe { sys::nvrtcGetCUBINSize(self.0, &raw mut size) }.result().map_err(words)?;
        let mut code = vec![0_u8; size];
        // SAFETY: the program is alive; writes as many bytes as it has just said.
        unsafe { sys::nvrtcGetCUBIN(self.0, code.as_mut_ptr().cast()) }.result().map_err(words)?;
        if code.is_empty() { Err("the compiler left nothing".to_owned()) } else { Ok(Code::Machine(code)) }
    }

    fn ptx(&self) -> Result<Code, String> {
        // SAFETY: the program is alive.
        let made = unsafe { result::get_ptx(self.0) }.map_err(|error| format!("{error:?}"))?;
        let made = text(made).ok_or("the compiler left no text")?;
        Ok(Code::Ptx(made.into()))
    }
}

/// Up to the first zero byte; `None` if there is none.
fn text(letters: Vec<c_char>) -> Option<CString> {
    let bytes: Vec<u8> = letters.into_iter().map(|letter| letter.to_ne_bytes()[0]).collect();
    CStr::from_bytes_until_nul(&bytes).ok().map(CStr::to_owned)
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: destroyed once.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

fn failure(source: &Source, architecture: &str, log: &str) -> GpuError {
    GpuError::Compilation { name: source.name.to_owned(), architecture: architecture.to_owned(), log: log.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::target;

    #[test]
    fn an_architecture_that_is_not_known_gets_code_of_the_one_before_it() {
        let known = [75, 80, 90, 100, 103, 120];
        assert_eq!(target(&known, 90), "sm_90");
        assert_eq!(target(&known, 110), "compute_103");
        assert_eq!(target(&known, 130), "compute_120");
        assert_eq!(target(&known, 70), "sm_70");
    }
}
