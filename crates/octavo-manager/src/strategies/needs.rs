//! Requirements of several placements of one node.

use octavo_registry::{Choice, is_place};

use crate::contract::error::ConfigError;
use crate::contract::event::{Needs, ReportSpec};
use crate::contract::geometry::Geometry;
use crate::strategies::choice::built;
use crate::strategies::placement::PLACEMENTS;

/// Finds placements, each with its key, that a node cannot have together. Strategies from outside are not built for
/// this check: a run finds such conflicts.
pub(super) fn check(choices: &[(&str, &Choice)], geometry: &Geometry) -> Result<(), ConfigError> {
    let mut known = Needs::default();
    for &(key, choice) in choices.iter().filter(|(_, choice)| !is_place(&choice.name)) {
        let needs = built(&PLACEMENTS, choice, geometry)?.needs();
        known = joint(&known, &needs).map_err(|message| ConfigError::new(key, message))?;
    }
    Ok(())
}

/// Reports that both request.
///
/// # Errors
/// What was expected and found, if the node cannot give both what they want.
pub(super) fn joint(known: &Needs, more: &Needs) -> Result<Needs, String> {
    if let (Some(known), Some(more)) = (known.counters, more.counters)
        && known != more
    {
        let (what, expected, found) = match known.threshold == more.threshold {
            true => ("of", format!("{} pages", known.group_pages), more.group_pages),
            false => ("with a threshold of", format!("{} lines", known.threshold), more.threshold),
        };
        return Err(format!(
            "expected access counters {what} {expected}, as another placement has them, found {found}: a GPU's counters \
             have one"
        ));
    }
    if let (Some(known), Some(more)) = (known.reports, more.reports)
        && known != more
    {
        let said = |spec: ReportSpec| format!("{} cycles and {} bytes", spec.period_cycles, spec.entry_bytes);
        return Err(format!(
            "expected reports every {} an entry, as another placement has them, found {}: a GPU makes one",
            said(known),
            said(more)
        ));
    }
    Ok(Needs {
        counters: known.counters.or(more.counters),
        reports: known.reports.or(more.reports),
        accesses: known.accesses || more.accesses,
        free_store_faults: known.free_store_faults || more.free_store_faults,
        free_faults: known.free_faults || more.free_faults,
    })
}
