//! Counts of accesses, by GPU and memory.

use octavo_manager::{MAX_MEMORIES, MemoryId, ProcessorId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::observe::table::{Column, Table};

/// How wavefronts access lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Load,
    Store,
    ScalarLoad,
}

/// Lines of one GPU in one memory, by [`Kind`].
type Lines = [u64; 3];

/// The work of the host's threads in a whole program. Lines are 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HostLines {
    /// Lines that they read.
    pub load_lines: u64,
    /// Lines that they wrote.
    pub store_lines: u64,
    /// Accesses that the kernel had to serve: first touches, and pages that were elsewhere.
    pub faults: u64,
}

/// Lines by GPU, then by the memory that served them.
pub(super) struct Counts {
    served: Vec<[Lines; MAX_MEMORIES]>,
    /// Faults that the driver had, by GPU.
    faults: Vec<u64>,
    /// Loads by scalar units.
    pub scalar_loads: u64,
    /// Store lines sent on to other replicas.
    pub broadcast_lines: u64,
}

impl Counts {
    pub fn new(gpus: usize) -> Self {
        let served = vec![[Lines::default(); MAX_MEMORIES]; gpus];
        Self { served, faults: vec![0; gpus], scalar_loads: 0, broadcast_lines: 0 }
    }

    #[inline]
    pub fn serve(&mut self, gpu: usize, memory: MemoryId, kind: Kind, lines: u32) {
        self.served[gpu][memory.index()][kind as usize] += u64::from(lines);
    }

    pub fn fault(&mut self, gpu: usize) {
        self.faults[gpu] += 1;
    }

    pub fn faults(&self) -> u64 {
        self.faults.iter().sum()
    }

    /// Lines of a kind that all GPUs accessed, wherever they lay.
    pub fn total(&self, kind: Kind) -> u64 {
        self.served.iter().flatten().map(|lines| lines[kind as usize]).sum()
    }

    /// Lines of all kinds in memories that `is` says of a GPU and a memory.
    pub fn lines(&self, is: impl Fn(ProcessorId, MemoryId) -> bool) -> u64 {
        let rows = self.rows().filter(|(gpu, memory, _)| is(*gpu, *memory));
        rows.map(|(_, _, lines)| lines.iter().sum::<u64>()).sum()
    }

    fn rows(&self) -> impl Iterator<Item = (ProcessorId, MemoryId, Lines)> {
        self.served.iter().enumerate().flat_map(|(gpu, memories)| {
            let memory =
                move |(memory, lines): (usize, &Lines)| (ProcessorId::gpu(gpu), MemoryId(memory as u8), *lines);
            memories.iter().enumerate().map(memory)
        })
    }

    /// One row for each GPU and each memory that served lines of it.
    pub fn table(&self) -> Table {
        let rows: Vec<_> = self.rows().filter(|(_, _, lines)| lines.iter().any(|count| *count > 0)).collect();
        let lines =
            |name, kind: Kind| Column::u64(name, rows.iter().map(|(_, _, lines)| lines[kind as usize]).collect());
        Table::new(
            "accesses",
            vec![
                Column::text("gpu", rows.iter().map(|(gpu, _, _)| gpu.to_string()).collect()),
                Column::text("memory", rows.iter().map(|(_, memory, _)| memory.to_string()).collect()),
                lines("load_lines", Kind::Load),
                lines("store_lines", Kind::Store),
                lines("scalar_load_lines", Kind::ScalarLoad),
            ],
        )
    }
}
