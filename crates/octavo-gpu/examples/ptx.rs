//! Writes every probe's kernels as text that drivers translate (PTX, packed with zstd), into a folder: `make kernels` runs it.

use std::path::Path;
use std::{env, fs, process};

use octavo_gpu::{Architecture, Kernels, Nvrtc, compile_text, probes};

/// Volta: the oldest that Octavo knows. Drivers translate its code for everything newer.
const OLDEST: Architecture = Architecture { capability: (7, 0) };

/// zstd's level of its smallest files that any reader unpacks.
const SLOWEST: i32 = 19;

fn main() {
    let folder = env::args().nth(1).unwrap_or_else(|| fail("expected a folder"));
    let compiler = Nvrtc.compiler().unwrap_or_else(|| fail("no NVRTC"));
    for probe in probes() {
        let source = probe.source();
        let code = compile_text(&source, OLDEST).unwrap_or_else(|error| fail(&error.to_string()));
        let text = String::from_utf8(code.bytes().to_vec()).expect("the compiler writes ASCII");
        let text = text.trim_end_matches('\0');
        let head = format!("// Kernels of {}, digest {}, made by NVRTC {compiler}.", source.name, source.digest());
        let path = Path::new(&folder).join(source.name).with_extension("ptx.zst");
        let packed = zstd::encode_all(format!("{head}\n{text}").as_bytes(), SLOWEST);
        packed
            .and_then(|packed| fs::write(&path, packed))
            .unwrap_or_else(|error| fail(&format!("{}: {error}", path.display())));
    }
}

fn fail(why: &str) -> ! {
    eprintln!("ptx: {why}");
    process::exit(1)
}
