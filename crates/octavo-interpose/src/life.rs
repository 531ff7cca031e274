//! The beginning and the end of a process, and forks.

use std::env::{set_var, var_os};
use std::path::{Path, PathBuf};

use crate::recorder::Recorder;
use crate::{settings, site};

/// Names the process whose profile has the name that was asked for; those of others have their number in it.
const FIRST: &str = "OCTAVO_RECORD_FIRST";

#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;
#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;

extern "C" fn begin() {
    let Some(path) = settings::profile() else { return };
    // This library has a Rust of its own, whose panics are nobody else's; the program's standard error is its own.
    std::panic::set_hook(Box::new(|_| {}));
    site::prepare();
    let process = std::process::id().to_string();
    let first = var_os(FIRST).is_none_or(|first| first == *process);
    if first {
        // SAFETY: this runs before the program does, in its only thread.
        unsafe {
            set_var(FIRST, &process);
            // Others write beside it, wherever they are started.
            set_var(settings::RECORD, path);
        }
    }
    Recorder::begin(if first { path.clone() } else { of_process(path) }, None);
    // SAFETY: the handler may run in any child.
    unsafe { libc::pthread_atfork(None, None, Some(forked)) };
}

/// A child records itself; what its parent recorded is the parent's.
extern "C" fn forked() {
    if let (Some(path), Some(parent)) = (settings::profile(), Recorder::current()) {
        Recorder::begin(of_process(path), Some(parent.process()));
    }
}

extern "C" fn end() {
    if let Some(recorder) = Recorder::current().filter(|recorder| recorder.process() == std::process::id()) {
        let _ = std::panic::catch_unwind(|| recorder.write());
    }
}

/// `profile.json` becomes `profile.1234.json`.
fn of_process(path: &Path) -> PathBuf {
    let process = std::process::id();
    match path.extension() {
        Some(extension) => path.with_extension(format!("{process}.{}", extension.to_string_lossy())),
        None => path.with_extension(process.to_string()),
    }
}
