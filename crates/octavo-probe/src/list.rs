//! The probes there are.

use std::io::{self, Write};
use std::path::Path;

use octavo_gpu::probes;
use serde_json::json;

use crate::failure::Failure;

/// Name, title and description of each.
pub fn print(as_json: bool) -> Result<(), Failure> {
    let text = if as_json { format!("{:#}\n", listed()) } else { words() };
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::file(Path::new("output"), error)),
        _ => Ok(()),
    }
}

fn listed() -> serde_json::Value {
    let entry =
        |probe: &&dyn octavo_gpu::Probe| json!({"name": probe.name(), "title": probe.title(), "about": probe.about()});
    probes().iter().map(entry).collect()
}

fn words() -> String {
    probes().iter().map(|probe| format!("{}: {}\n  {}\n\n", probe.name(), probe.title(), probe.about())).collect()
}
