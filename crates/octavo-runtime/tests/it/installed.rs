//! The library installed into a folder of its own, and programs compiled against that.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Where it was installed.
pub struct Installed {
    folder: TempDir,
}

/// How a program is linked.
#[derive(Clone, Copy, Debug)]
pub enum Link {
    /// To `liboctavo.so`.
    Shared,
    /// To `liboctavo.a`.
    Static,
}

impl Installed {
    /// Installs the library that was built with this test.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let built = std::env::current_exe().unwrap().parent().unwrap().to_owned();
        let install = Path::new(env!("CARGO_MANIFEST_DIR")).join("install.sh");
        ran(Command::new("sh").arg(install).arg(built).arg(folder.path().join("prefix")));
        Self { folder }
    }

    /// Compiles a program of `tests/c`, with warnings as errors, and says where it is.
    pub fn compiled(&self, source: &str, link: Link) -> PathBuf {
        let name = source.split('.').next().unwrap();
        let program = self.folder.path().join(format!("{name}-{link:?}"));
        let (compiler, standard) = if source.ends_with("cpp") { ("g++", "-std=c++17") } else { ("gcc", "-std=c11") };
        let library = self.folder.path().join("prefix/lib");
        let mut command = Command::new(compiler);
        command.args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread", "-o"]).arg(&program);
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(source)).args(self.flags(&["--cflags"]));
        match link {
            Link::Shared => command.args(self.flags(&["--libs"])).arg(format!("-Wl,-rpath,{}", library.display())),
            Link::Static => {
                let flags = self.flags(&["--libs", "--static"]);
                command.args(flags.iter().map(|flag| flag.replace("-loctavo", "-l:liboctavo.a")))
            }
        };
        ran(&mut command);
        program
    }

    /// What `pkg-config` says.
    fn flags(&self, asked: &[&str]) -> Vec<String> {
        let mut command = Command::new("pkg-config");
        command.env("PKG_CONFIG_PATH", self.folder.path().join("prefix/lib/pkgconfig")).args(asked).arg("octavo");
        text(&ran(&mut command)).split_whitespace().map(str::to_owned).collect()
    }
}

/// Runs a program to its successful end.
pub fn ran(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// What it printed.
pub fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}
