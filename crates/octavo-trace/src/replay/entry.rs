//! Traces by the name a user types.

use std::path::Path;

use octavo_program::{Size, Workload, WorkloadEntry};
use octavo_registry::{OptionError, Options, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::digest::digest;
use super::layout::Layout;
use super::order::InstructionOrder;
use super::workload::TraceWorkload;

/// Options of `trace`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TraceOptions {
    /// Folder of the trace, relative to the working directory. No default: it is required.
    pub path: Option<String>,
    /// The places of allocations: `recorded`, all shifted together, unless they are too far apart; or `packed` one
    /// after another, each as far into a block of 2 MiB as recorded. Default `recorded` (page sharing as in the
    /// program).
    pub layout: Layout,
    /// Whether vector instructions come first within a stretch of instructions without memory accesses, barriers and
    /// waits (`grouped`), or where they were recorded (`recorded`), if the trace shows that. Default `grouped`: fewer
    /// operations. `recorded` is for nodes whose SIMDs share a decoder.
    pub instructions: InstructionOrder,
    /// Digest of the trace's contents, so that results of another trace are not reused. Default: computed.
    pub digest: Option<String>,
}

/// A recorded trace.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "trace",
    summary: "A recorded program, replayed: `workload.path` names the folder",
    source: "docs/trace-format.md",
    schema: typed::schema::<TraceOptions>,
    resolve: |options| {
        let mut parsed: TraceOptions = typed::parse(options)?;
        let path = path_of(&parsed)?;
        // A scenario with a digest is a resolved one: it stays what it is, wherever its trace has gone.
        if parsed.digest.is_none() {
            parsed.digest = Some(found(Path::new(&path))?);
        }
        let mut options = Options::new();
        options.insert("path".to_owned(), path.into());
        options.insert("layout".to_owned(), serde_json::to_value(parsed.layout).unwrap_or_default());
        options.insert("instructions".to_owned(), serde_json::to_value(parsed.instructions).unwrap_or_default());
        options.insert("digest".to_owned(), parsed.digest.into());
        Ok(options)
    },
    build: |options, size| build(&typed::parse(options)?, size),
};

fn build(options: &TraceOptions, size: &Size) -> Result<Box<dyn Workload>, OptionError> {
    if size.scale != 1.0 {
        let message = format!("a trace has the size it was recorded with: expected 1, found {}", size.scale);
        return Err(OptionError::new("scale", message));
    }
    let path = path_of(options)?;
    let path = Path::new(&path);
    let workload = TraceWorkload::open(path, options.layout).map_err(|error| wrong(&error))?;
    if let Some(expected) = &options.digest {
        let found = found(path)?;
        if found != *expected {
            let message =
                format!("{} is another trace than the scenario is about: {found}, expected {expected}", path.display());
            return Err(OptionError::new("digest", message));
        }
    }
    Ok(Box::new(workload.in_order(options.instructions)))
}

fn path_of(options: &TraceOptions) -> Result<String, OptionError> {
    options.path.clone().ok_or_else(|| OptionError::new("path", "missing; expected the folder of a trace"))
}

fn found(path: &Path) -> Result<String, OptionError> {
    digest(path).map_err(|error| wrong(&error))
}

fn wrong(error: &crate::TraceError) -> OptionError {
    OptionError::new("path", error.to_string())
}
