//! Small random traces, and folders to put them in.

#![allow(dead_code, reason = "each test uses some of it")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use octavo_trace::{Allocation, Counts, Header, Key, Kind, LaunchRow, Row, Rows, Share, Touched, TraceWriter};
use proptest::prelude::*;

/// A folder that goes when it is dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("octavo-trace-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A trace in memory.
#[derive(Clone, Debug)]
pub struct Program {
    pub header: Header,
    pub allocations: Vec<Allocation>,
    pub launches: Vec<LaunchRow>,
    pub rows: Rows,
}

impl Program {
    pub fn write(&self, path: &Path) {
        let mut writer = TraceWriter::create(path, self.header.clone()).unwrap();
        self.rows.iter().for_each(|row| writer.push(row).unwrap());
        writer.finish(&self.allocations, &self.launches).unwrap();
    }
}

/// The kind of an instruction, before it has a place.
#[derive(Clone, Debug)]
pub struct Instruction {
    kind: Kind,
    lines: Vec<u64>,
    /// Whether a store leaves every other line, the first among them, partly as it was.
    partial: bool,
    code_lines: Vec<u64>,
    counts: Counts,
    waits: (Option<u8>, Option<u8>),
}

pub fn allocations() -> Vec<Allocation> {
    let allocation = |name: &str, base, bytes| Allocation { name: name.to_owned(), base, bytes, gpu: (base % 3) as u8 };
    vec![allocation("low", 0x1000, 4000), allocation("high", 0x7000_0000, 5 << 20), allocation("end", 0x7080_0040, 64)]
}

/// Any line of an allocation.
fn line() -> impl Strategy<Value = u64> {
    let ranges: Vec<_> =
        allocations().iter().map(|found| found.base / 64..(found.base + found.bytes).div_ceil(64)).collect();
    prop_oneof![ranges[0].clone(), ranges[1].clone(), ranges[2].clone()]
}

/// Distinct lines: scattered, or a run with a gap.
fn lines() -> impl Strategy<Value = Vec<u64>> {
    let scattered = prop::collection::hash_set(line(), 0..40).prop_map(|lines| lines.into_iter().collect());
    let run = (0x7000_0000u64 / 64..0x7040_0000 / 64, 1u64..30)
        .prop_map(|(first, count)| (first..first + count).filter(|line| line % 7 != 3 || *line == first).collect());
    prop_oneof![scattered, run]
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let kind = prop::sample::select(&Kind::ALL[..6]);
    let counts = (0u32..100_000, 0u32..9, 0u32..9, 0u32..3)
        .prop_map(|(vector_alu, scalar_alu, local_data, branch)| Counts { vector_alu, scalar_alu, local_data, branch });
    let code = prop::collection::vec(0u64..1000, 0..3);
    let waits = (any::<Option<u8>>(), any::<Option<u8>>());
    (kind, lines(), any::<bool>(), code, counts, waits).prop_map(|(kind, lines, partial, code_lines, counts, waits)| {
        let lines = match kind {
            Kind::Scalar => lines.into_iter().take(1).collect(),
            kind if kind.is_memory() => lines,
            _ => Vec::new(),
        };
        let partial = partial && kind.is_written();
        let waits = if kind == Kind::Wait { waits } else { (None, None) };
        Instruction { kind, lines, partial, code_lines, counts, waits }
    })
}

fn push(rows: &mut Rows, key: Key, instruction: &Instruction) {
    let Instruction { kind, lines, partial, code_lines, counts, waits } = instruction;
    let every_other: Vec<u64> = (0..lines.len() as u64).step_by(2).collect();
    let vector = kind.is_vector() && !lines.is_empty();
    rows.push(Row {
        key,
        kind: *kind,
        code_lines,
        bytes: if kind.is_memory() { 4 } else { 0 },
        lanes: if vector { 64 } else { 0 },
        touched: Touched::Lines(lines),
        partial: if *partial { &every_other } else { &[] },
        counts: *counts,
        vector_wait: waits.0,
        scalar_wait: waits.1,
    });
}

fn launch(groups: u32, wavefronts: u32, gpus: u32) -> LaunchRow {
    let share = |gpu: u32| Share {
        gpu: gpu as u8 + 1,
        first: groups * gpu / gpus,
        groups: groups * (gpu + 1) / gpus - groups * gpu / gpus,
    };
    LaunchRow {
        kernel: format!("kernel{wavefronts}"),
        grid: [groups * wavefronts * 64, 1, 1],
        group: [wavefronts * 64, 1, 1],
        wavefronts_per_group: wavefronts as u16,
        vector_registers: 10,
        scalar_registers: 20,
        local_data_bytes: 4096,
        code_bytes: 100 * groups,
        flushed: false,
        split: (0..gpus).map(share).collect(),
    }
}

/// Programs of a few launches with up to `longest` instructions a wavefront, drawn from a pool of them.
pub fn programs(longest: usize) -> impl Strategy<Value = Program> {
    let shapes = prop::collection::vec((1u32..5, 1u32..4, 0u32..4), 1..4);
    let lengths = prop::collection::vec(0..longest, 1..20);
    (shapes, prop::collection::vec(instruction(), 1..40), lengths).prop_map(|(shapes, pool, lengths)| {
        let mut rows = Rows::default();
        let mut pool = pool.iter().cycle();
        let mut lengths = lengths.into_iter().cycle();
        let end = Instruction {
            kind: Kind::End,
            lines: Vec::new(),
            partial: false,
            code_lines: Vec::new(),
            counts: Counts::default(),
            waits: (None, None),
        };
        for (index, (groups, wavefronts, _)) in shapes.iter().enumerate() {
            for group in 0..*groups {
                for wavefront in 0..*wavefronts {
                    let length = lengths.next().unwrap();
                    for sequence in 0..=length as u32 {
                        let key = Key { launch: index as u32, group, wavefront: wavefront as u16, sequence };
                        let next = if sequence == length as u32 { &end } else { pool.next().unwrap() };
                        push(&mut rows, key, next);
                    }
                }
            }
        }
        let header = Header { lanes: 64, source: "test 1".to_owned(), command: "make it up".to_owned() };
        let launches = shapes.iter().map(|(groups, wavefronts, gpus)| launch(*groups, *wavefronts, *gpus)).collect();
        Program { header, allocations: allocations(), launches, rows }
    })
}
