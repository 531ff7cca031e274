//! The stand-in and the programs, compiled once a test.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// A folder with a driver, a runtime and programs.
pub struct Built {
    folder: TempDir,
}

impl Built {
    /// Compiles the driver and the runtime.
    pub fn new() -> Self {
        let built = Self { folder: tempfile::tempdir().unwrap() };
        let map = format!("-Wl,--version-script={}", source("driver.map").display());
        built.compile(
            "libcuda.so.1",
            &["driver.c", "unified.c"],
            &["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", &map],
        );
        built.compile("libcudart.so.12", &["runtime.c"], &["-shared", "-fPIC", "-Wl,-soname,libcudart.so.12"]);
        built
    }

    /// A program of the runtime's, which is a library of its own.
    pub fn linked(&self) -> PathBuf {
        self.compile("linked", &["program.c"], &["-l:libcudart.so.12"])
    }

    /// The same with the runtime inside.
    pub fn whole(&self) -> PathBuf {
        self.compile("whole", &["program.c", "runtime.c"], &[])
    }

    /// The first with an allocator of its own.
    pub fn allocating(&self) -> PathBuf {
        self.compile("allocating", &["program.c", "malloc.c"], &["-fno-builtin", "-l:libcudart.so.12"])
    }

    /// A library that calls CUDA as it is loaded.
    pub fn constructor(&self) -> PathBuf {
        self.compile("libconstructor.so", &["constructor.c"], &["-shared", "-fPIC", "-l:libcudart.so.12"])
    }

    /// A program whose library has a runtime for itself, which is a file of this name.
    pub fn plugin(&self, runtime: &str) -> PathBuf {
        let (name, of_runtime) = (format!("-Wl,-soname,{runtime}"), format!("-l:{runtime}"));
        self.compile(runtime, &["runtime.c"], &["-shared", "-fPIC", &name]);
        self.compile("libplugin.so", &["plugin_library.c"], &["-shared", "-fPIC", &of_runtime]);
        self.compile("plugin", &["plugin.c"], &[])
    }

    /// Programs of several shapes.
    pub fn shapes(&self) -> PathBuf {
        self.compile("shapes", &["shapes.c"], &["-l:libcudart.so.12", "-l:libcuda.so.1"])
    }

    /// The same with the runtime inside.
    pub fn whole_shapes(&self) -> PathBuf {
        self.compile("whole_shapes", &["shapes.c", "runtime.c"], &["-l:libcuda.so.1"])
    }

    /// A program that finds the driver itself.
    pub fn looking(&self) -> PathBuf {
        self.compile("looking", &["lookup.c"], &[])
    }

    fn compile(&self, name: &str, sources: &[&str], flags: &[&str]) -> PathBuf {
        let file = self.folder.path().join(name);
        let mut command = Command::new("gcc");
        command.args(["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"]).arg(&file);
        command.args(sources.iter().map(|name| source(name))).arg("-L").arg(self.folder.path()).args(flags).arg("-ldl");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        file
    }

    /// A command, to be recorded.
    pub fn recorded(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let library = std::env::current_exe().unwrap().with_file_name("liboctavo_interpose.so");
        assert!(library.is_file(), "{}", library.display());
        let mut command = self.plain(program);
        command.env("LD_PRELOAD", library).env("OCTAVO_RECORD", self.folder.path().join("profile.json"));
        command
    }

    /// The same, not recorded.
    pub fn plain(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("LD_LIBRARY_PATH", self.folder.path()).env_remove("OCTAVO_DISABLE");
        command
    }

    /// The clock of the stand-in after a command that succeeds.
    pub fn clock(&self, command: &mut Command) -> Value {
        let path = self.folder.path().join("clock");
        silent(command.env("STAND_IN_CLOCK", &path));
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }

    /// Where everything lies.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The profile of the first process.
    pub fn profile(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.folder.path().join("profile.json")).unwrap()).unwrap()
    }

    /// All profiles of other processes.
    pub fn others(&self) -> Vec<Value> {
        let names = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let others = names.filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with("profile.") && name != "profile.json"
        });
        others.map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()).collect()
    }
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name)
}

/// Runs a command to its successful end, in which it says nothing.
pub fn silent(command: &mut Command) -> Output {
    let output = ended(command);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{command:?}: {:?} {said}", output.status);
    output
}

/// The most time for a command; our choice: a longer one hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs a command, and kills it with all that it started if it hangs.
fn ended(command: &mut Command) -> Output {
    let child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let group = format!("-{}", child.id());
    let (end, ends) = channel::<()>();
    let watch = std::thread::spawn(move || {
        if ends.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            Command::new("kill").args(["-KILL", "--", &group]).status().unwrap();
        }
    });
    let output = child.wait_with_output().unwrap();
    drop(end);
    watch.join().unwrap();
    output
}
