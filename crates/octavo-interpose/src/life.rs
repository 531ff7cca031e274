//! The beginning and the end of a process, and forks.

use std::env::{set_var, var_os};
use std::path::{Path, PathBuf};

use crate::apply::{Applied, Behind};
use crate::guard::guarded;
use crate::lookup::behind;
use crate::recorder::Recorder;
use crate::{settings, site};

/// Names the process whose files have the requested names; names of other processes' files contain the process number.
const FIRST: &str = "OCTAVO_FIRST";

#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;
#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;

extern "C" fn begin() {
    if !settings::active() {
        return;
    }
    // The Rust runtime in this library is private, so the hook affects no one else's panics. Standard error belongs to
    // the program.
    std::panic::set_hook(Box::new(|_| {}));
    guarded(|| {
        site::prepare();
        let first = is_first();
        if let Some(path) = settings::profile() {
            Recorder::begin(named(path, first), None);
        }
        if let Some((placement, log)) = settings::placement() {
            Applied::begin(placement.clone(), named(log, first), Behind(behind));
            // Of others, who may have nothing to do with CUDA, only those that call it say so.
            if let Some(applied) = Applied::current().filter(|_| first) {
                applied.write_refusal();
            }
        }
    });
    // SAFETY: the handler may run in any child.
    unsafe { libc::pthread_atfork(None, None, Some(forked)) };
}

/// Whether this is the first of the processes that find these settings; the others learn it.
fn is_first() -> bool {
    let process = std::process::id().to_string();
    let first = var_os(FIRST).is_none_or(|first| first == *process);
    if first {
        let files = [
            settings::profile(),
            settings::placement().map(|(file, _)| file),
            settings::placement().map(|(_, log)| log),
        ];
        // SAFETY: this runs before the program does, in its only thread.
        unsafe {
            set_var(FIRST, &process);
            // Others read and write where this one does, wherever they are started.
            for (variable, path) in [settings::RECORD, settings::APPLY, settings::LOG].iter().zip(files) {
                if let Some(path) = path {
                    set_var(variable, path);
                }
            }
        }
    }
    first
}

/// A child has files of its own; its parent's actions belong to the parent.
extern "C" fn forked() {
    guarded(|| {
        if let (Some(path), Some(parent)) = (settings::profile(), Recorder::current()) {
            Recorder::begin(named(path, false), Some(parent.process()));
        }
        if let (Some((_, log)), Some(parent)) = (settings::placement(), Applied::current()) {
            parent.go_on(named(log, false));
        }
    });
}

extern "C" fn end() {
    let own = |process: u32| process == std::process::id();
    guarded(|| {
        if let Some(recorder) = Recorder::current().filter(|recorder| own(recorder.process())) {
            recorder.write();
        }
        if let Some(applied) = Applied::current().filter(|applied| own(applied.process())) {
            applied.write();
        }
    });
}

/// `profile.json` becomes `profile.1234.json`, except for the first process.
fn named(path: &Path, first: bool) -> PathBuf {
    if first {
        return path.to_owned();
    }
    let process = std::process::id();
    match path.extension() {
        Some(extension) => path.with_extension(format!("{process}.{}", extension.to_string_lossy())),
        None => path.with_extension(process.to_string()),
    }
}
