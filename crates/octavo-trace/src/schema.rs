//! The files of a trace: their names, columns and metadata.

/// Version of the format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 1: allocations and launches.
    Launches,
    /// 2: a whole program, with `actions.parquet` next to the other three files.
    Program,
}

impl Version {
    /// Every version that is read.
    pub const ALL: [Self; 2] = [Self::Launches, Self::Program];

    /// The name in the metadata.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Launches => "1",
            Self::Program => "2",
        }
    }

    /// The files of a trace.
    pub(crate) const fn files(self) -> &'static [&'static str] {
        match self {
            Self::Launches => &[INSTRUCTIONS, ALLOCATIONS, LAUNCHES],
            Self::Program => &[INSTRUCTIONS, ALLOCATIONS, LAUNCHES, ACTIONS],
        }
    }
}

/// Rows of a row group, at most.
pub const MAX_GROUP_ROWS: usize = 131_072;

/// Rows of the table of allocations, launches or actions, at most: far more than any program has.
pub const MAX_TABLE_ROWS: usize = 1 << 20;

/// Bytes of a name, at most.
pub const MAX_NAME_BYTES: usize = 4096;

/// Values of a list in one row, at most.
pub const MAX_LIST: usize = 1 << 20;

/// Lines of a kernel's code, at most: 64 MiB.
pub(crate) const CODE_LINES_END: u64 = 1 << 20;

pub(crate) fn too_many_rows(found: u64) -> String {
    format!("has {found} rows, expected at most {MAX_TABLE_ROWS}")
}

pub(crate) fn too_long(what: &str, found: usize) -> String {
    format!("{what} of {found} values, expected at most {MAX_LIST}")
}

pub(crate) const INSTRUCTIONS: &str = "instructions.parquet";
pub(crate) const ALLOCATIONS: &str = "allocations.parquet";
pub(crate) const LAUNCHES: &str = "launches.parquet";

pub(crate) const ACTIONS: &str = "actions.parquet";

pub(crate) const KEY_VERSION: &str = "octavo.trace.version";
pub(crate) const KEY_LANES: &str = "octavo.trace.lanes";
pub(crate) const KEY_SOURCE: &str = "octavo.trace.source";
pub(crate) const KEY_COMMAND: &str = "octavo.trace.command";

/// The written columns; a file may also have `addresses`, a list like `lines`.
pub(crate) const INSTRUCTIONS_SCHEMA: &str = "message instructions {
    required int32 launch (INTEGER(32,false));
    required int32 group (INTEGER(32,false));
    required int32 wavefront (INTEGER(16,false));
    required int32 sequence (INTEGER(32,false));
    required binary kind (STRING);
    required group code_lines (LIST) { repeated group list { required int64 element (INTEGER(64,false)); } }
    required int32 bytes (INTEGER(16,false));
    required int32 lanes (INTEGER(8,false));
    required group lines (LIST) { repeated group list { required int64 element (INTEGER(64,false)); } }
    required group partial (LIST) { repeated group list { required int64 element (INTEGER(64,false)); } }
    required int32 vector_alu (INTEGER(32,false));
    required int32 scalar_alu (INTEGER(32,false));
    required int32 local_data (INTEGER(32,false));
    required int32 branch (INTEGER(32,false));
    optional int32 vector_wait (INTEGER(8,false));
    optional int32 scalar_wait (INTEGER(8,false));
}";

pub(crate) const ALLOCATIONS_SCHEMA: &str = "message allocations {
    required binary name (STRING);
    required int64 base (INTEGER(64,false));
    required int64 bytes (INTEGER(64,false));
    required int32 gpu (INTEGER(8,false));
}";

/// Like [`ALLOCATIONS_SCHEMA`], for a whole program.
pub(crate) const MEMORIES_SCHEMA: &str = "message allocations {
    required binary name (STRING);
    required int64 base (INTEGER(64,false));
    required int64 bytes (INTEGER(64,false));
    required int32 gpu (INTEGER(8,false));
    required binary kind (STRING);
    required binary spread (STRING);
}";

pub(crate) const ACTIONS_SCHEMA: &str = "message actions {
    required int32 action (INTEGER(32,false));
    required binary kind (STRING);
    required group after (LIST) { repeated group list { required int32 element (INTEGER(32,false)); } }
    required int64 address (INTEGER(64,false));
    required int64 bytes (INTEGER(64,false));
    required int64 source (INTEGER(64,false));
    required int32 processor (INTEGER(8,false));
    required group accessed_by (LIST) { repeated group list { required int32 element (INTEGER(8,false)); } }
    required int32 read_mostly (INTEGER(8,false));
    required int32 launch (INTEGER(32,false));
    required group allocations (LIST) { repeated group list { required int32 element (INTEGER(32,false)); } }
    required binary name (STRING);
    required int32 threads (INTEGER(32,false));
    required group sweeps (LIST) {
        repeated group list {
            required group element {
                required int64 address (INTEGER(64,false));
                required int64 bytes (INTEGER(64,false));
                required int32 writes (INTEGER(8,false));
                required int64 width (INTEGER(64,false));
                required int64 stride (INTEGER(64,false));
                required int32 thread (INTEGER(32,false));
            }
        }
    }
}";

pub(crate) const LAUNCHES_SCHEMA: &str = "message launches {
    required int32 launch (INTEGER(32,false));
    required binary kernel (STRING);
    required int32 grid_x (INTEGER(32,false));
    required int32 grid_y (INTEGER(32,false));
    required int32 grid_z (INTEGER(32,false));
    required int32 group_x (INTEGER(32,false));
    required int32 group_y (INTEGER(32,false));
    required int32 group_z (INTEGER(32,false));
    required int32 wavefronts_per_group (INTEGER(16,false));
    required int32 vector_registers (INTEGER(16,false));
    required int32 scalar_registers (INTEGER(16,false));
    required int32 local_data_bytes (INTEGER(32,false));
    required int32 code_bytes (INTEGER(32,false));
    required int32 flushed (INTEGER(8,false));
    required group split (LIST) {
        repeated group list {
            required group element {
                required int32 gpu (INTEGER(8,false));
                required int32 first (INTEGER(32,false));
                required int32 groups (INTEGER(32,false));
            }
        }
    }
}";
