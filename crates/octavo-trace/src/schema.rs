//! The three files of a trace: their names, columns and metadata.

/// Version of the format, the only one that is read and written.
pub const VERSION: &str = "1";
/// Rows of a row group, at most.
pub const MAX_GROUP_ROWS: usize = 131_072;

pub(crate) const INSTRUCTIONS: &str = "instructions.parquet";
pub(crate) const ALLOCATIONS: &str = "allocations.parquet";
pub(crate) const LAUNCHES: &str = "launches.parquet";

pub(crate) const KEY_VERSION: &str = "octavo.trace.version";
pub(crate) const KEY_LANES: &str = "octavo.trace.lanes";
pub(crate) const KEY_SOURCE: &str = "octavo.trace.source";
pub(crate) const KEY_COMMAND: &str = "octavo.trace.command";

/// What is written; a file may also have `addresses`, a list as `lines` is.
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
