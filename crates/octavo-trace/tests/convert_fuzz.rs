//! Conversions of random and of damaged input: right or refused, never a panic, never half a trace.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use common::{Folder, rows};
use octavo_manager::Access;
use octavo_program::Action;
use octavo_trace::convert::{Conversion, ConvertError, Summary};
use octavo_trace::{TraceReader, validate};
use proptest::prelude::*;

const BASE: u64 = 0x7f00_0000_0000;

fn go(format: &str, input: &Path, output: &Path) -> Result<Summary, ConvertError> {
    let conversion = Conversion { format: Some(format), input, output, replace: true };
    conversion.run(&mut |_| ControlFlow::Continue(()))
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// A memory instruction: active lanes, where the first is and how far apart they are.
#[derive(Clone, Debug)]
struct Lanes {
    mask: u32,
    offset: u64,
    steps: Vec<u64>,
    store: bool,
}

impl Lanes {
    fn addresses(&self) -> Vec<u64> {
        let steps = self.steps.iter().take(self.mask.count_ones() as usize);
        let offsets = steps.scan(self.offset, |offset, step| {
            let found = *offset;
            *offset = (found + step) % (1 << 24);
            Some(BASE + found)
        });
        offsets.collect()
    }

    fn opcode(&self) -> &'static str {
        if self.store { "STG.E.64" } else { "LDG.E.64" }
    }

    /// The words from the address format on: as a list, as differences, or as base and stride where that is possible.
    fn encoded(&self, format: usize) -> String {
        let addresses = self.addresses();
        let (Some(first), true) = (addresses.first(), format > 0) else {
            return addresses.iter().fold("0".to_owned(), |text, address| text + &format!(" {address:#018x}"));
        };
        let deltas: Vec<_> = addresses.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]) as i64).collect();
        let gapless = (self.mask >> self.mask.trailing_zeros()).trailing_ones() == self.mask.count_ones();
        if format == 1 && gapless && deltas.windows(2).all(|pair| pair[0] == pair[1]) {
            return format!("1 {first:#x} {}", deltas.first().unwrap_or(&0));
        }
        deltas.iter().fold(format!("2 {first:#x}"), |text, delta| text + &format!(" {delta}"))
    }
}

fn access() -> impl Strategy<Value = Lanes> {
    let masks = prop_oneof![Just(u32::MAX), any::<u32>(), (0..33u32).prop_map(|lanes| !(u64::MAX << lanes) as u32)];
    let steps = prop_oneof![(0..200u64).prop_map(|step| vec![step; 32]), prop::collection::vec(0..1u64 << 24, 32),];
    (masks, 0..1u64 << 24, steps, any::<bool>()).prop_map(|(mask, offset, steps, store)| Lanes {
        mask,
        offset,
        steps,
        store,
    })
}

/// Accesses of two warps in each of two thread blocks.
fn program() -> impl Strategy<Value = [Vec<Lanes>; 4]> {
    let warp = || prop::collection::vec(access(), 0..6);
    [warp(), warp(), warp(), warp()]
}

fn accel_sim(program: &[Vec<Lanes>; 4], format: usize, blocks: [usize; 2]) -> String {
    let mut text = "-grid dim = (2,1,1)\n-block dim = (64,1,1)\n".to_owned();
    for block in blocks {
        writeln!(text, "#BEGIN_TB\nthread block = {block},0,0").unwrap();
        for warp in 0..2 {
            let accesses = &program[block * 2 + warp];
            writeln!(text, "warp = {warp}\ninsts = {}", accesses.len() + 1).unwrap();
            for access in accesses {
                let (mask, opcode, words) = (access.mask, access.opcode(), access.encoded(format));
                writeln!(text, "0010 {mask:08x} 0 {opcode} 1 R255 8 {words}").unwrap();
            }
            writeln!(text, "0020 ffffffff 0 EXIT 0 0").unwrap();
        }
        writeln!(text, "#END_TB").unwrap();
    }
    text
}

/// The warps interleaved as `order` says.
fn mem_trace(program: &[Vec<Lanes>; 4], order: &[usize]) -> String {
    let mut text = "MEMTRACE: CTX 0x1 - LAUNCH - Kernel pc 0x2 - Kernel name  - grid launch id 0 - grid size 2,1,1 - \
        block size 64,1,1 - nregs 0 - shmem 0 - cuda stream id 0\n"
        .to_owned();
    let mut next = [0; 4];
    for warp in order.iter().copied().chain((0..4).flat_map(|warp| [warp; 6])) {
        let Some(access) = program[warp].get(next[warp]) else { continue };
        next[warp] += 1;
        let mut lanes = access.addresses().into_iter();
        let (block, slot, opcode) = (warp / 2, warp % 2 + 7, access.opcode());
        write!(text, "MEMTRACE: CTX 0x1 - grid_launch_id 0 - CTA {block},0,0 - warp {slot} - {opcode} - ").unwrap();
        for lane in 0..32 {
            let address = if access.mask >> lane & 1 == 1 { lanes.next().unwrap() } else { 0 };
            write!(text, "{address:#018x} ").unwrap();
        }
        text.push('\n');
    }
    text
}

fn convert_accel_sim(folder: &Folder, kernel: impl AsRef<[u8]>) -> Result<String, ConvertError> {
    fs::write(folder.at("kernelslist.g"), "kernel-1.traceg\n").unwrap();
    fs::write(folder.at("kernel-1.traceg"), kernel).unwrap();
    go("accel-sim", folder.path(), &folder.at("a.trace")).map(|_| rows(&folder.at("a.trace"), BASE))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn encodings_orders_and_formats_agree(
        program in program(),
        order in prop::collection::vec(0..4usize, 0..24),
    ) {
        let folder = Folder::new("agree");
        let listed = convert_accel_sim(&folder, accel_sim(&program, 0, [0, 1])).unwrap();
        for (format, blocks) in [(1, [0, 1]), (2, [0, 1]), (0, [1, 0])] {
            prop_assert_eq!(&convert_accel_sim(&folder, accel_sim(&program, format, blocks)).unwrap(), &listed);
        }
        // No register is loaded, so Accel-Sim's rows have no waits either. A warp slot without access is not seen.
        if program.iter().any(Vec::is_empty) {
            return Ok(());
        }
        fs::write(folder.at("a.txt"), mem_trace(&program, &order)).unwrap();
        go("nvbit-mem-trace", &folder.at("a.txt"), &folder.at("a.trace")).unwrap();
        prop_assert_eq!(rows(&folder.at("a.trace"), BASE), listed);
    }
}

/// A change of some bytes.
#[derive(Clone, Debug)]
enum Damage {
    Cut(prop::sample::Index),
    Byte(prop::sample::Index, u8),
    Number(prop::sample::Index, u64),
    Remove(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        match self {
            Self::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Self::Byte(at, byte) => *at.get_mut(bytes) = *byte,
            Self::Number(at, number) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, number.to_string().into_bytes());
            }
            Self::Remove(at, count) => {
                let at = at.index(bytes.len());
                bytes.drain(at..(at + count).min(bytes.len()));
            }
            Self::Repeat(at, count) => {
                let at = at.index(bytes.len());
                let again = bytes[at..(at + count).min(bytes.len())].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }
}

fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let index = any::<prop::sample::Index>;
    let one = prop_oneof![
        index().prop_map(Damage::Cut),
        (index(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        (index(), prop::sample::select(&b" \n\r,=#-.0x19fRWarpTB"[..])).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        (index(), prop_oneof![Just(u64::MAX), 0..1u64 << 20]).prop_map(|(at, number)| Damage::Number(at, number)),
        (index(), 1..400usize).prop_map(|(at, count)| Damage::Remove(at, count)),
        (index(), 1..400usize).prop_map(|(at, count)| Damage::Repeat(at, count)),
    ];
    prop::collection::vec(one, 1..4)
}

fn damaged(bytes: &[u8], damage: &[Damage]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    damage.iter().for_each(|damage| damage.apply(&mut bytes));
    bytes
}

/// Converts arbitrary input: the result is a valid trace, or an error and nothing but the input.
fn survives(folder: &Folder, format: &str, input: &Path, beside: usize) -> Result<(), TestCaseError> {
    let output = folder.at("a.trace");
    match go(format, input, &output) {
        Ok(summary) => {
            prop_assert_eq!(validate(&output), Ok(summary.rows));
            fs::remove_dir_all(&output).unwrap();
        }
        Err(error) => prop_assert!(!error.to_string().is_empty() && error != ConvertError::Stopped),
    }
    prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), beside);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_accel_sim(which in 0..3usize, damage in damage(), pack in any::<bool>()) {
        let folder = Folder::new("damaged");
        for (number, name) in ["kernelslist.g", "kernel-1.traceg", "kernel-2.traceg"].into_iter().enumerate() {
            let mut bytes = fs::read(data("accel-sim").join(name)).unwrap();
            if pack && number > 0 {
                bytes = zstd::encode_all(&bytes[..], 1).unwrap();
            }
            if number == which {
                bytes = damaged(&bytes, &damage);
            }
            fs::write(folder.at(name), bytes).unwrap();
        }
        survives(&folder, "accel-sim", folder.path(), 3)?;
    }

    #[test]
    fn damaged_mem_trace(
        name in prop::sample::select(&["numbered.txt", "unnumbered.txt", "numbered.txt.xz"][..]),
        damage in damage(),
    ) {
        let folder = Folder::new("damaged");
        let bytes = fs::read(data("mem-trace").join(name)).unwrap();
        fs::write(folder.at("a.txt"), damaged(&bytes, &damage)).unwrap();
        survives(&folder, "nvbit-mem-trace", &folder.at("a.txt"), 1)?;
    }

    #[test]
    fn damaged_lackey(accesses in prop::collection::vec((0..4usize, 0..1u64 << 24, 1..65u64), 1..40), damage in damage()) {
        let folder = Folder::new("damaged");
        fs::write(folder.at("a.txt"), damaged(lackey(&accesses).as_bytes(), &damage)).unwrap();
        survives(&folder, "lackey", &folder.at("a.txt"), 1)?;
    }

    /// Every line that is touched is in the trace, and written there if it was stored to; a fact changed is told.
    #[test]
    fn each_access_of_lackey_counts(
        accesses in prop::collection::vec((0..4usize, 0..1u64 << 16, 1..65u64), 1..40),
        which in any::<prop::sample::Index>(),
    ) {
        let folder = Folder::new("lackey");
        let convert = |accesses: &[(usize, u64, u64)]| {
            fs::write(folder.at("a.txt"), lackey(accesses)).unwrap();
            let summary = go("lackey", &folder.at("a.txt"), &folder.at("a.trace"))?;
            let trace = TraceReader::open(&folder.at("a.trace")).unwrap();
            Ok::<_, ConvertError>((summary, swept(&trace)))
        };
        let data = |accesses: &[(usize, u64, u64)]| accesses.iter().any(|access| access.0 > 0);
        let found = convert(&accesses);
        prop_assert_eq!(found.is_ok(), data(&accesses));
        let Ok((summary, swept)) = found else { return Ok(()) };
        let mut expected = BTreeMap::new();
        for (kind, offset, bytes) in accesses.iter().filter(|access| access.0 > 0) {
            for line in (BASE + offset) / 64..=(BASE + offset + bytes - 1) / 64 {
                *expected.entry(line).or_insert(false) |= *kind > 1;
            }
        }
        prop_assert_eq!(&swept, &expected);
        let mut changed = accesses.clone();
        let place = which.index(changed.len());
        changed[place].1 = 1 << 20;
        if changed[place].0 > 0 {
            prop_assert_ne!(&convert(&changed).unwrap().1, &swept);
        }
        changed = accesses.clone();
        changed.push((0, 0, 1));
        prop_assert_ne!(&convert(&changed).unwrap().0, &summary);
    }
}

/// Instructions, loads, stores and modifications as Lackey prints them.
fn lackey(accesses: &[(usize, u64, u64)]) -> String {
    let one = |&(kind, offset, bytes): &(usize, u64, u64)| {
        format!("{}{:08x},{bytes}\n", ["I  ", " L ", " S ", " M "][kind], BASE + offset)
    };
    "==7== Lackey, an example Valgrind tool\n".to_owned() + &accesses.iter().map(one).collect::<String>()
}

/// Lines of a trace that the host sweeps, and whether it writes them. None comes twice: all fit in the cache.
fn swept(trace: &TraceReader) -> BTreeMap<u64, bool> {
    let program = trace.program().unwrap();
    let (mut count, mut lines) = (0, BTreeMap::new());
    for ordered in program.actions() {
        let Action::Host(phase) = &ordered.action else { continue };
        for piece in phase.pieces(0) {
            let base = program.buffers()[piece.buffer.index()].buffer.base;
            for access in piece.accesses() {
                lines.insert((base + access.start) / 64, piece.access == Access::Write);
                count += 1;
            }
        }
    }
    assert_eq!(count, lines.len());
    lines
}

#[test]
fn a_bomb_is_read_a_line_at_a_time() {
    let folder = Folder::new("bomb");
    // 64 MiB without an end of line, and as many lines of nothing, in a few kilobytes.
    for (byte, expected) in [(b'0', "line 1: is longer than 262144 bytes"), (b'\n', "has no thread block")] {
        let bomb = zstd::encode_all(std::io::Read::take(std::io::repeat(byte), 64 << 20), 1).unwrap();
        assert!(bomb.len() < 64 << 10);
        let error = convert_accel_sim(&folder, bomb).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
