//! The kernels that this program brings along, as text that drivers translate, packed with zstd.

use std::borrow::Cow;
use std::ffi::CString;

use octavo_gpu::{Architecture, Code, GpuError, Kernels, Source};

/// Compute capability of the GPUs that the texts were made for, the oldest ones; see `make kernels`.
const OLDEST: (i32, i32) = (7, 0);

macro_rules! packed {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../kernels/", $name, ".ptx.zst")))),*]
    };
}

/// Texts by the name of their source; `zstd -dc` shows one.
const PACKED: &[(&str, &[u8])] =
    packed!["arithmetic", "copies", "launches", "memory", "peers", "roofline", "unified", "zero_copy"];

/// Kernels that lie in this program.
pub struct Embedded;

impl Kernels for Embedded {
    fn code(&self, source: &Source, architecture: Architecture) -> Result<Code, GpuError> {
        if architecture.capability < OLDEST {
            return Err(GpuError::OldGpu { found: architecture.capability, needed: OLDEST });
        }
        let text = text_of(source).ok_or(GpuError::NoCompiler)?;
        Ok(Code::Ptx(Cow::Owned(CString::new(text).expect("texts have no zero byte"))))
    }

    fn compiler(&self) -> Option<String> {
        PACKED.iter().find_map(|(_, packed)| made_by(&unpack(packed)).map(str::to_owned))
    }
}

fn text_of(source: &Source) -> Option<String> {
    PACKED.iter().find(|(name, _)| source.name.strip_suffix(".cu") == Some(*name)).map(|(_, packed)| unpack(packed))
}

fn unpack(packed: &[u8]) -> String {
    let text = zstd::decode_all(packed).expect("a whole frame");
    String::from_utf8(text).expect("the compiler writes ASCII")
}

/// Each text begins with `// Kernels of copies.cu, digest 0123456789abcdef, made by NVRTC 12.2.`
fn made_by(text: &str) -> Option<&str> {
    text.lines().next()?.split_once("NVRTC ").map(|(_, version)| version.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use octavo_gpu::{Architecture, Code, GpuError, Kernels, probes};

    use super::{Embedded, OLDEST, text_of};

    #[test]
    fn texts_are_those_of_todays_sources() {
        for source in probes().iter().map(|probe| probe.source()) {
            let text = text_of(&source).unwrap_or_else(|| panic!("{} has no text: make kernels", source.name));
            let head = format!("// Kernels of {}, digest {}, ", source.name, source.digest());
            assert!(text.starts_with(&head), "{} was changed: make kernels", source.name);
        }
    }

    #[test]
    fn every_kernel_of_a_source_is_in_its_text() {
        for source in probes().iter().map(|probe| probe.source()) {
            let (whole, text) = (source.text(), text_of(&source).unwrap());
            let names = whole.split("extern \"C\" __global__ void ").skip(1).filter_map(|rest| rest.split('(').next());
            let missing: Vec<&str> = names.filter(|name| !text.contains(&format!(".entry {name}("))).collect();
            assert_eq!(missing, Vec::<&str>::new(), "{}", source.name);
        }
    }

    #[test]
    fn texts_are_for_the_oldest_driver_and_gpu() {
        let source = probes()[0].source();
        let Code::Ptx(text) = Embedded.code(&source, Architecture { capability: (12, 0) }).unwrap() else {
            panic!("a text was expected");
        };
        let text = text.to_str().unwrap();
        // 8.2 is what drivers of CUDA 12.2 know, the oldest that the probes run on.
        assert!(text.contains("\n.version 8.2\n.target sm_70\n"));
        assert_eq!(OLDEST, (7, 0));
        assert_eq!(Embedded.compiler().as_deref(), Some("12.2"));
    }

    #[test]
    fn older_gpus_are_refused_with_both_versions() {
        let refused = Embedded.code(&probes()[0].source(), Architecture { capability: (6, 1) }).unwrap_err();
        assert!(matches!(refused, GpuError::OldGpu { found: (6, 1), needed: (7, 0) }));
        assert!(refused.to_string().contains("6.1"));
    }
}
