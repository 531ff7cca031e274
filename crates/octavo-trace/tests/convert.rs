//! Small foreign traces, written by hand, become rows that were worked out by hand.

mod common;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use common::{Folder, rows};
use octavo_trace::TraceReader;
use octavo_trace::convert::{CONVERTERS, Conversion, ConvertError, Summary, convert};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn go(input: &Path, output: &Path) -> Result<Summary, ConvertError> {
    convert(None, input, output, &mut |_| ControlFlow::Continue(()))
}

fn tables(path: &Path) -> String {
    let trace = TraceReader::open(path).unwrap();
    let mut text = format!("{} / {}\n", trace.header().source, trace.header().command);
    for row in trace.allocations() {
        writeln!(text, "{} {:#x} {}", row.name, row.base, row.bytes).unwrap();
    }
    for row in trace.launches() {
        let (grid, group, warps) = (row.grid, row.group, row.wavefronts_per_group);
        let (registers, local) = (row.vector_registers, row.local_data_bytes);
        writeln!(text, "{} {grid:?} {group:?} {warps} {registers} {local}", row.kernel).unwrap();
    }
    text
}

/// Rows as `launch group wavefront sequence kind`, bytes × lanes and lines, counts, waits. Line 0 is the line of
/// `base`.
const ACCEL_SIM: &str = "\
0 0 0 0 load 8x32 0,1,2,3,4 v2 s1
0 0 0 1 load 4x32 0,1
0 0 0 2 wait vector 1
0 0 0 3 barrier v1 l1
0 0 0 4 wait l1 scalar 0
0 0 0 5 atomic 4x3 131072,131071,131135 v1 b1
0 0 0 6 store 4x0
0 0 0 7 wait b1 vector 1
0 0 0 8 store 4x28 65536,65537
0 0 0 9 end
0 0 1 0 end l1
0 1 0 0 end
0 1 1 0 end v2 s1
1 0 0 0 end
1 1 0 0 load 16x2 0,1
1 1 0 1 load 16x1 2 s1
1 1 0 2 wait s1 vector 1
1 1 0 3 wait vector 0
1 1 0 4 load 1x1 15 s1
1 1 0 5 end
";

const ACCEL_SIM_TABLES: &str = "\
accel-sim tracer 4, nvbit 1.5.5 / octavo trace convert --format accel-sim kernelslist.g
memcpy 0 0x7f0000000000 1536
range 0 0x7f0000400000 128
range 1 0x7f00007fffc0 4160
add(float*, float const*, int) [96, 1, 1] [48, 1, 1] 2 16 512
copy [64, 1, 1] [32, 1, 1] 1 8 0
";

#[test]
fn accel_sim_by_hand() {
    let folder = Folder::new("accel-sim");
    let summary = go(&data("accel-sim"), &folder.at("a.trace")).unwrap();
    assert_eq!(rows(&folder.at("a.trace"), 0x7f00_0000_0000), ACCEL_SIM);
    assert_eq!(tables(&folder.at("a.trace")), ACCEL_SIM_TABLES);
    // One half of a copy is no instruction of its own.
    assert_eq!((summary.format, summary.launches, summary.rows, summary.instructions), ("accel-sim", 2, 20, 31));
    let notes: Vec<_> = summary.notes.iter().map(|(what, count)| format!("{count} {what}")).collect();
    assert_eq!(
        notes,
        [
            "1 other lines of the list, such as copies from the device",
            "1 texture, surface and bulk accesses without addresses, counted as vector ALU",
            "1 warps that recorded no instruction, and end at once",
            "1 warps whose last instruction is no EXIT",
            "1 instructions with the unknown opcode `FROB.X`, counted as vector ALU",
        ]
    );
}

const NUMBERED: &str = "\
0 0 0 0 load 4x32 32,33
0 0 0 1 end
0 0 1 0 load 4x32 0,1
0 0 1 1 atomic 4x1 131072
0 0 1 2 end l1
0 1 0 0 load 8x32 0,1,2,3,4
0 1 0 1 store 4x2 65536 l2
0 1 0 2 end
0 1 1 0 end
1 0 0 0 end
2 0 0 0 end
2 1 0 0 load 16x1 0
2 1 0 1 end v1
";

#[test]
fn mem_trace_by_hand() {
    let folder = Folder::new("mem-trace");
    let summary = go(&data("mem-trace/numbered.txt"), &folder.at("a.trace")).unwrap();
    assert_eq!(rows(&folder.at("a.trace"), 0x7f00_0000_0000), NUMBERED);
    assert_eq!((summary.format, summary.launches, summary.instructions), ("nvbit-mem-trace", 3, 10));
    let found = tables(&folder.at("a.trace"));
    let expected = "\
nvbit mem_trace / octavo trace convert --format nvbit-mem-trace numbered.txt
range 0 0x7f0000000000 2176
range 1 0x7f0000400000 64
range 2 0x7f0000800000 64
add(float*, int) [128, 1, 1] [64, 1, 1] 2 16 512
empty [32, 1, 1] [32, 1, 1] 1 8 0
last [32, 2, 1] [32, 1, 1] 1 8 0
";
    assert_eq!(found, expected);

    go(&data("mem-trace/unnumbered.txt"), &folder.at("b.trace")).unwrap();
    let expected = "0 0 0 0 load 4x32 0,1\n0 0 0 1 end\n1 0 0 0 store 4x32 0,1\n1 0 0 1 end\n";
    assert_eq!(rows(&folder.at("b.trace"), 0x7f00_0000_0000), expected);
}

#[test]
fn launches_without_a_line_are_guessed() {
    let folder = Folder::new("guessed");
    let text = fs::read_to_string(data("mem-trace/numbered.txt")).unwrap();
    let kept =
        text.lines().filter(|line| !line.contains("LAUNCH")).fold(String::new(), |kept, line| kept + line + "\n");
    fs::write(folder.at("a.txt"), kept).unwrap();
    let summary = go(&folder.at("a.txt"), &folder.at("a.trace")).unwrap();
    assert_eq!(summary.launches, 2);
    let found = tables(&folder.at("a.trace"));
    let expected = "launch 0 [128, 1, 1] [64, 1, 1] 2 0 0\nlaunch 2 [32, 2, 1] [32, 1, 1] 1 0 0\n";
    assert!(found.ends_with(expected), "{found}");
}

type Pack = fn(&[u8]) -> Vec<u8>;

#[test]
fn packed_and_plain_give_the_same_bytes() {
    let folder = Folder::new("packed");
    go(&data("accel-sim"), &folder.at("plain.trace")).unwrap();
    let packs: [(&str, Pack); 3] = [(".gz", gzip), (".zst", zstd_pack), ("", <[u8]>::to_vec)];
    for (number, (end, pack)) in packs.into_iter().enumerate() {
        let input = folder.at(&format!("input-{number}"));
        fs::create_dir(&input).unwrap();
        fs::copy(data("accel-sim/kernelslist.g"), input.join("kernelslist.g")).unwrap();
        for name in ["kernel-1.traceg", "kernel-2.traceg"] {
            let bytes = fs::read(data("accel-sim").join(name)).unwrap();
            fs::write(input.join(format!("{name}{end}")), pack(&bytes)).unwrap();
        }
        let output = folder.at(&format!("{number}.trace"));
        go(&input, &output).unwrap();
        for name in ["instructions.parquet", "allocations.parquet", "launches.parquet"] {
            assert_eq!(fs::read(output.join(name)).unwrap(), fs::read(folder.at("plain.trace").join(name)).unwrap());
        }
    }
    // `xz --keep numbered.txt`
    go(&data("mem-trace/numbered.txt.xz"), &folder.at("xz.trace")).unwrap();
    assert_eq!(rows(&folder.at("xz.trace"), 0x7f00_0000_0000), NUMBERED);
    let bytes = fs::read(data("mem-trace/numbered.txt")).unwrap();
    fs::write(folder.at("numbered.gz"), gzip(&bytes)).unwrap();
    go(&folder.at("numbered.gz"), &folder.at("numbered.trace")).unwrap();
    assert_eq!(rows(&folder.at("numbered.trace"), 0x7f00_0000_0000), NUMBERED);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd_pack(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

#[test]
fn damage_is_named_and_leaves_nothing_behind() {
    let folder = Folder::new("damage");
    let kernel = fs::read_to_string(data("accel-sim/kernel-1.traceg")).unwrap();
    let list = "kernel-1.traceg\n";
    let twice = kernel.replace("thread block = 1,0,0", "thread block = 0,0,0");
    let packed = gzip(kernel.as_bytes());
    let cases: [(&str, Vec<u8>, &str); 12] = [
        (list, kernel[..kernel.find("#END_TB").unwrap()].into(), "ends within a thread block"),
        (
            list,
            kernel.replace("insts = 16", "insts = 17").into(),
            "line 40: warp 0 announces 17 instructions and has 16",
        ),
        (
            list,
            kernel.replace("0x7f0000000004 8 0", "0x7f0000000004").into(),
            "line 26: ends before the addresses of 32",
        ),
        (list, kernel.replace("= 1,0,0", "= 2,0,0").into(), "lies outside of the grid of 2,1,1"),
        (list, kernel.replace("(2,1,1)", "(70000,70000,1)").into(), "too many to be numbered"),
        (list, kernel.replace("(2,1,1)", "(2147483,1,1000)").into(), "wavefronts have no instruction at all"),
        (list, kernel.replace("-block dim", "-bulk dim").into(), "no `-block dim` before the first thread block"),
        (list, twice.into(), "warp 1 of thread block number 0 stands twice"),
        (list, packed[..packed.len() - 20].into(), "cannot be read"),
        (list, [kernel.as_bytes(), &vec![b'0'; 1 << 20]].concat(), "is longer than 262144 bytes"),
        ("kernel-1/../../x.traceg\n", Vec::new(), "line 1: `kernel-1/../../x.traceg` lies outside of the folder"),
        ("MemcpyHtoD,0xffffffffffffffff,9\n", Vec::new(), "line 1: 9 bytes at 0xffffffffffffffff lie beyond"),
    ];
    let input = folder.at("input");
    fs::create_dir(&input).unwrap();
    for (list, kernel, reason) in cases {
        fs::write(input.join("kernelslist.g"), list).unwrap();
        fs::write(input.join("kernel-1.traceg"), kernel).unwrap();
        let error = go(&input, &folder.at("a.trace")).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}, expected {reason}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "only the input is there after: {error}");
    }
}

#[test]
fn formats_are_told_apart_and_a_stop_is_heeded() {
    let folder = Folder::new("formats");
    let names: Vec<_> = CONVERTERS.iter().map(|converter| converter.name).collect();
    assert_eq!(names, ["accel-sim", "nvbit-mem-trace", "lackey"]);
    fs::write(folder.at("host.txt"), "==7== Lackey\nI  0401ab70,3\n S 1fff000668,8\n").unwrap();
    let found = go(&folder.at("host.txt"), &folder.at("host.trace")).unwrap();
    assert_eq!((found.format, found.launches, found.allocations, found.instructions), ("lackey", 0, 1, 1));
    fs::write(folder.at("poem.txt"), "no trace at all\n").unwrap();
    let error = go(&folder.at("poem.txt"), &folder.at("a.trace")).unwrap_err();
    assert!(error.to_string().contains("looks like none of accel-sim, nvbit-mem-trace"), "{error}");
    let error = convert(Some("vcd"), &data("accel-sim"), &folder.at("a.trace"), &mut |_| ControlFlow::Continue(()));
    assert!(error.unwrap_err().to_string().starts_with("unknown format `vcd`, expected one of accel-sim"));
    let error = go(&folder.at("none"), &folder.at("a.trace")).unwrap_err();
    assert!(error.to_string().contains("none: cannot be read"), "{error}");

    fs::write(folder.at("long.txt"), "CTA scan\n".repeat(100_000)).unwrap();
    let (long, output) = (folder.at("long.txt"), folder.at("a.trace"));
    let conversion = Conversion { format: Some("nvbit-mem-trace"), input: &long, output: &output, replace: false };
    let mut asked = 0;
    let stopped = conversion.run(&mut |state| {
        asked += 1;
        assert!(state.bytes == 900_000 && state.read > 0);
        ControlFlow::Break(())
    });
    assert_eq!((stopped, asked), (Err(ConvertError::Stopped), 1));
    assert!(!output.exists());
}
