//! Input that the writer refuses, and what it leaves behind.

use std::path::PathBuf;

use octavo_trace::{
    Allocation, Counts, Header, Key, Kind, LaunchRow, MAX_GROUP_ROWS, MAX_LIST, MAX_NAME_BYTES, MAX_TABLE_ROWS, Row,
    Share, Touched, TraceError, TraceReader, TraceWriter,
};

fn header() -> Header {
    Header { lanes: 64, source: "test 1".to_owned(), command: "by hand".to_owned() }
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("octavo-trace-{}", std::process::id())).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
    folder
}

fn key(wavefront: u16, sequence: u32) -> Key {
    Key { launch: 0, group: 0, wavefront, sequence }
}

fn load(wavefront: u16, sequence: u32, lines: &[u64]) -> Row<'_> {
    let plain = Row::plain(key(wavefront, sequence), Kind::Load, Counts::default());
    Row { bytes: 4, lanes: 64, touched: Touched::Lines(lines), ..plain }
}

fn store(wavefront: u16, sequence: u32, lines: &[u64]) -> Row<'_> {
    Row { kind: Kind::Store, ..load(wavefront, sequence, lines) }
}

fn end(wavefront: u16, sequence: u32) -> Row<'static> {
    Row::plain(key(wavefront, sequence), Kind::End, Counts { vector_alu: 3, ..Counts::default() })
}

fn tables() -> ([Allocation; 1], [LaunchRow; 1]) {
    let launch = LaunchRow {
        kernel: "copy".to_owned(),
        grid: [128, 1, 1],
        group: [128, 1, 1],
        wavefronts_per_group: 2,
        vector_registers: 8,
        scalar_registers: 16,
        local_data_bytes: 0,
        code_bytes: 0,
        flushed: false,
        split: Vec::new(),
    };
    ([Allocation { name: "input".to_owned(), base: 0, bytes: 4096, gpu: 0 }], [launch])
}

#[test]
fn a_trace_appears_only_when_it_is_whole() {
    let path = folder("whole.trace");
    let mut writer = TraceWriter::create(&path, header()).unwrap();
    for wavefront in 0..2 {
        writer.push(load(wavefront, 0, &[1, 2, 0])).unwrap();
        writer.push(end(wavefront, 1)).unwrap();
    }
    assert!(!path.exists() && writer.rows() == 4);
    let (allocations, launches) = tables();
    writer.finish(&allocations, &launches).unwrap();
    let mut names: Vec<_> =
        std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["allocations.parquet", "instructions.parquet", "launches.parquet"]);

    assert!(TraceWriter::create(&path, header()).err().unwrap().reason.contains("exists already"));
    drop(TraceWriter::replace(&path, header()).unwrap());
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().filter(hidden).count(), 0);
}

#[test]
fn a_folder_with_files_of_others_is_not_replaced() {
    let path = folder("notes.trace");
    let whole = |writer: Result<TraceWriter, _>| {
        let mut writer: TraceWriter = writer.unwrap();
        for wavefront in 0..2 {
            writer.push(load(wavefront, 0, &[1])).unwrap();
            writer.push(end(wavefront, 1)).unwrap();
        }
        let (allocations, launches) = tables();
        writer.finish(&allocations, &launches)
    };
    whole(TraceWriter::create(&path, header())).unwrap();
    std::fs::write(path.join("octavo-manifest.json"), "{}").unwrap();
    whole(TraceWriter::replace(&path, header())).unwrap();

    let late = TraceWriter::replace(&path, header());
    std::fs::write(path.join("notes.txt"), "mine").unwrap();
    let reasons = [whole(late).unwrap_err().reason, TraceWriter::replace(&path, header()).err().unwrap().reason];
    for reason in reasons {
        assert_eq!(reason, "is not replaced: it holds notes.txt, which is no part of a trace");
    }
    assert_eq!(std::fs::read(path.join("notes.txt")).unwrap(), b"mine");
}

fn hidden(entry: &std::io::Result<std::fs::DirEntry>) -> bool {
    entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".whole")
}

#[test]
fn lane_addresses_say_which_lines_a_store_fills() {
    let path = folder("addresses.trace");
    let mut writer = TraceWriter::create(&path, header()).unwrap();
    let words: Vec<u64> = (0..64).map(|lane| 4 + 4 * lane).collect();
    for wavefront in 0..2 {
        writer.push(Row { touched: Touched::Addresses(&words), ..store(wavefront, 0, &[]) }).unwrap();
        writer.push(end(wavefront, 1)).unwrap();
    }
    let (mut allocations, launches) = tables();
    allocations[0].gpu = 3;
    writer.finish(&allocations, &launches).unwrap();
    let reader = TraceReader::open(&path).unwrap();
    let rows = reader.rows(0).unwrap();
    assert_eq!((rows.get(0).touched, rows.get(0).partial), (Touched::Lines(&[0, 1, 2, 3, 4]), &[0, 4][..]));
    assert_eq!(reader.allocations(), &allocations);
}

#[test]
fn rows_that_break_a_rule_are_named() {
    let mut writer = TraceWriter::create(&folder("refused.trace"), header()).unwrap();
    writer.push(load(1, 0, &[0])).unwrap();
    for (row, reason) in [
        (load(0, 0, &[0]), "not sorted: wavefront 0 of group 0 of launch 0 comes after wavefront 1"),
        (load(1, 2, &[0]), "sequence 2 follows 0"),
        (load(2, 0, &[0]), "wavefront 1 of group 0 of launch 0 has no `end`"),
        (load(1, 1, &[5, 4, 5]), "line 5 stands twice"),
        (load(1, 1, &[]), "64 active lanes touch 0 lines"),
        (load(1, 1, &[1 << 58]), "beyond the last"),
        (Row { lanes: 65, ..load(1, 1, &[0]) }, "65 lanes are active"),
        (Row { bytes: 4, ..end(1, 1) }, "`end` that moves bytes"),
        (Row { vector_wait: Some(0), ..end(1, 1) }, "belong to `wait`"),
        (Row { touched: Touched::Addresses(&[4, 8]), ..load(1, 1, &[]) }, "2 addresses for 64 active lanes"),
        (Row { partial: &[0], ..load(1, 1, &[0]) }, "a `load` with `partial`"),
        (Row { partial: &[1, 0], ..store(1, 1, &[0, 1]) }, "`partial` does not ascend"),
        (Row { partial: &[0, 2], ..store(1, 1, &[0, 1]) }, "position 2 of 2 lines"),
        (Row { partial: &[0], touched: Touched::Addresses(&[0; 64]), ..store(1, 1, &[]) }, "from which it follows"),
    ] {
        let error = writer.push(row).unwrap_err();
        assert!(error.row == Some(1) && error.reason.contains(reason), "{error}");
        assert!(error.file.ends_with("refused.trace/instructions.parquet"), "{error}");
    }
    let error = writer.finish(&[], &[]).unwrap_err();
    assert!(error.reason.contains("has no `end`"), "{error}");
}

/// A change of a trace of two wavefronts.
struct Change {
    name: &'static str,
    /// Values at the limit, of which one more is refused.
    most: usize,
    make: fn(usize, &mut Vec<Allocation>, &mut LaunchRow, &mut Vec<u64>),
}

/// Limits of what both the writer and the reader take.
const LIMITS: [Change; 5] = [
    Change {
        name: "rows of a table",
        most: MAX_TABLE_ROWS,
        make: |count, allocations, _, _| {
            allocations.extend((1..count as u64).map(|index| Allocation {
                name: index.to_string(),
                base: index * 4096,
                bytes: 1,
                gpu: 0,
            }));
        },
    },
    Change {
        name: "bytes of an allocation's name",
        most: MAX_NAME_BYTES,
        make: |count, allocations, _, _| allocations[0].name = "x".repeat(count),
    },
    Change {
        name: "bytes of a kernel's name",
        most: MAX_NAME_BYTES,
        make: |count, _, launch, _| launch.kernel = "x".repeat(count),
    },
    Change {
        name: "shares of a launch",
        most: MAX_LIST,
        make: |count, _, launch, _| {
            launch.split = vec![Share { gpu: 1, first: 0, groups: 0 }; count];
            launch.split[0].groups = 1;
        },
    },
    Change {
        name: "lines of code in a row",
        most: MAX_LIST,
        make: |count, _, _, code_lines| *code_lines = vec![7; count],
    },
];

fn written_with(change: &Change, count: usize) -> Result<(PathBuf, usize), TraceError> {
    let path = folder("limit.trace");
    let ([allocation], [mut launch]) = tables();
    let (mut allocations, mut code_lines) = (vec![allocation], Vec::new());
    (change.make)(count, &mut allocations, &mut launch, &mut code_lines);
    let mut writer = TraceWriter::create(&path, header())?;
    for wavefront in 0..2 {
        writer.push(Row { code_lines: &code_lines, ..load(wavefront, 0, &[1, 2, 0]) })?;
        writer.push(end(wavefront, 1))?;
    }
    let rows = allocations.len();
    writer.finish(&allocations, &[launch]).map(|()| (path, rows))
}

#[test]
fn what_is_at_a_limit_is_written_and_read_and_one_more_is_refused() {
    for change in LIMITS {
        let (path, rows) =
            written_with(&change, change.most).unwrap_or_else(|error| panic!("{}: {error}", change.name));
        assert_eq!(TraceReader::open(&path).unwrap().allocations().len(), rows, "{}", change.name);
        let refused = written_with(&change, change.most + 1).expect_err(change.name);
        let [found, most] = [change.most + 1, change.most].map(|count| count.to_string());
        assert!(refused.reason.contains(&found) && refused.reason.contains(&most), "{}: {refused}", change.name);
        assert!(refused.file.contains("limit.trace"), "{}: {refused}", change.name);
    }
}

#[test]
fn tables_of_more_rows_than_a_row_group_has_are_read_back() {
    let path = folder("long.trace");
    let (allocations, [launch]) = tables();
    let count = MAX_GROUP_ROWS as u32 + 1;
    let launch = LaunchRow { grid: [1, 1, 1], group: [64, 1, 1], wavefronts_per_group: 1, ..launch };
    let mut writer = TraceWriter::create(&path, header()).unwrap();
    for launch in 0..count {
        let key = Key { launch, group: 0, wavefront: 0, sequence: 0 };
        writer.push(Row::plain(key, Kind::End, Counts::default())).unwrap();
    }
    let launches: Vec<_> = (0..count).map(|one| LaunchRow { code_bytes: one, ..launch.clone() }).collect();
    writer.finish(&allocations, &launches).unwrap();
    assert_eq!(TraceReader::open(&path).unwrap().launches(), launches);
}
