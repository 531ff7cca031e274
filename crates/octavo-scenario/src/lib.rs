//! Scenarios: presets, overrides, validation with helpful errors, JSON schema.
//!
//! A scenario is one TOML file: a node, a memory system, a workload and a seed. Presets fill in what the file leaves
//! out, overrides by dotted key change single values, and impossible values are refused with file, line and key.
//! Nothing here reads files, except for the trace or the recorded step that a scenario names: the presets are part of
//! the binary, and the caller reads node files.
#![forbid(unsafe_code)]

mod about;
mod check;
mod check_executor;
mod check_jobs;
mod check_program;
mod check_qubits;
mod check_split;
mod definitions;
mod error;
mod executor;
mod job;
mod layer;
mod listing;
mod merge;
mod nodes;
mod origin;
mod part;
pub mod presets;
mod program;
mod release;
mod resolve;
mod scenario;
mod schema;
mod shrink;
mod spell_jobs;
mod workloads;

pub use error::{Code, Mismatch, Mistake, ScenarioError};
pub use executor::{ExecutorChoice, InstantChoice, SimulatedChoice};
pub use job::{Again, JobChoice};
pub use layer::{toml_flaw, toml_line};
pub use listing::listing;
pub use nodes::Reader;
pub use origin::Origin;
pub use part::{Built, NamedWorkload, Part, PartRefused};
pub use program::{BufferChoice, ProgramChoice, ProgramRefused, RunKind};
pub use resolve::{Resolved, Source, load, resolve, resolve_with};
pub use scenario::{Record, Scenario};
pub use schema::{schema, spelled_out as schema_spelled_out};
pub use workloads::{WORKLOADS, WorkloadChoice};
