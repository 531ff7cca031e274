//! Python bindings, nothing else: text in, text and columns out. The package `octavo` makes it pleasant.

mod advise;
mod allocator;
mod circuit;
mod convert;
mod describe;
mod errors;
mod generators;
mod gpu;
mod line_file;
mod memory;
mod networks;
mod policies;
mod run;
mod scenario;
mod table_file;
mod tables;
mod tier;
mod trace;

use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;

/// Octavo's engine. Use the package `octavo` instead: this module's functions may change at any time.
#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use crate::advise::models::{
        budget_choice, graph_sparsity, host_access_penalty, penalty_readings, prefetch_replay,
    };
    #[pymodule_export]
    use crate::advise::roofline::{roofline_ceilings, roofline_crossing, roofline_zone_end};
    #[pymodule_export]
    use crate::circuit::quantum_volume;
    #[pymodule_export]
    use crate::convert::{trace_convert, trace_formats};
    #[pymodule_export]
    use crate::describe::{
        event_kinds, inspect_workload, listing, read_notes, result_schema, schema, schema_spelled_out,
        workload_program, workload_result,
    };
    #[pymodule_export]
    use crate::errors::{
        GpuError, Interrupted, OutOfMemory, OverTime, PolicyError, ScenarioError, SimulationError, TraceError,
        UnknownGpuProbe,
    };
    #[pymodule_export]
    use crate::gpu::{gpu_compile, gpu_describe, gpu_host, gpu_probe, gpu_probes};
    #[pymodule_export]
    use crate::memory::{memory_around, memory_resident};
    #[pymodule_export]
    use crate::networks::caching_allocator;
    #[pymodule_export]
    use crate::policies::{
        AccessCount, CounterNotification, Decision, Fault, Hint, JobMemory, Memory, Move, Needs, Node, Occupancy,
        OptionError, Page, Residency, Service, Shortage, Unsubscribe, Yield,
    };
    #[pymodule_export]
    use crate::run::{gpu_memory, memory_needed, page_order, run};
    #[pymodule_export]
    use crate::scenario::{quantity, resolve, toml_flaw, toml_line};
    #[pymodule_export]
    use crate::table_file::table_bytes;
    #[pymodule_export]
    use crate::tier::{TierHandle, tier_allocator};
    #[pymodule_export]
    use crate::trace::{TraceWriter, table_flaw, trace_head, trace_info, trace_record, trace_validate};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::policies::extend();
        crate::generators::extend();
        module.add("VERSION", env!("CARGO_PKG_VERSION"))
    }
}
