//! The differences between a model and the recording.

use std::collections::BTreeSet;
use std::fmt::{Display, Write as _};

use super::profile::{PageProfile, Profile};

/// How far a model may be off, as a share of the recorded value.
#[derive(Clone, Copy)]
pub struct Tolerance {
    /// Totals of instructions and lines.
    pub totals: f64,
    /// Lines of each page that are read and written.
    pub pages: f64,
    /// Pages which other work-groups read or write than recorded.
    pub sharing: f64,
    /// Wavefronts that differ from the recorded ones in anything at all.
    pub wavefronts: f64,
}

impl Tolerance {
    /// Nothing differs.
    pub const EXACT: Self = Self { totals: 0.0, pages: 0.0, sharing: 0.0, wavefronts: 0.0 };
}

/// The comparison as rows of a table.
pub struct Comparison {
    table: String,
    pub failures: Vec<String>,
}

impl Comparison {
    /// The comparison of `model` and `trace`, to be printed under `name`.
    pub fn of(name: &str, model: &Profile, trace: &Profile, tolerance: Tolerance) -> Self {
        let mut comparison = Self { table: format!("\n{name}\n"), failures: Vec::new() };
        comparison.table.push_str("                         model      trace  off by\n");
        comparison.launches(model, trace);
        comparison.buffers(model, trace);
        for ((what, found), (_, expected)) in model.total().named().into_iter().zip(trace.total().named()) {
            comparison.number(what, found, expected, tolerance.totals);
        }
        comparison.pages(model, trace, tolerance);
        comparison.streams(model, trace, tolerance.wavefronts);
        comparison
    }

    pub fn print(&self) {
        println!("{}", self.table);
    }

    fn row(&mut self, what: &str, model: impl Display, trace: impl Display, off: f64, tolerance: f64) {
        let wrong = if off > tolerance { "  <-- wrong" } else { "" };
        let _ = writeln!(self.table, "  {what:<19} {model:>10} {trace:>10} {:>6.2} %{wrong}", off * 100.0);
        if off > tolerance {
            self.failures.push(format!("{what}: {model}, recorded {trace}"));
        }
    }

    fn number(&mut self, what: &str, model: u64, trace: u64, tolerance: f64) {
        self.row(what, model, trace, off(model, trace), tolerance);
    }

    /// Number, kernels, grids and registers of launches are the same in any case.
    fn launches(&mut self, model: &Profile, trace: &Profile) {
        let grids = |profile: &Profile| profile.launches.iter().map(|launch| launch.grid.clone()).collect::<Vec<_>>();
        let (found, expected) = (grids(model), grids(trace));
        self.number("launches", found.len() as u64, expected.len() as u64, 0.0);
        let different = found.iter().zip(&expected).filter(|(found, expected)| found != expected);
        self.failures.extend(different.map(|(found, expected)| format!("launch {found}, recorded {expected}")));
    }

    /// So are buffers.
    fn buffers(&mut self, model: &Profile, trace: &Profile) {
        self.number("bytes in buffers", model.buffers.values().sum(), trace.buffers.values().sum(), 0.0);
        if model.buffers != trace.buffers {
            self.failures.push(format!("buffers {:?}, recorded {:?}", model.buffers, trace.buffers));
        }
    }

    fn pages(&mut self, model: &Profile, trace: &Profile, tolerance: Tolerance) {
        let all: BTreeSet<_> = model.pages.keys().chain(trace.pages.keys()).collect();
        let none = PageProfile::default();
        let pairs: Vec<_> = all
            .iter()
            .map(|page| (model.pages.get(page).unwrap_or(&none), trace.pages.get(page).unwrap_or(&none)))
            .collect();
        self.number("pages", model.pages.len() as u64, trace.pages.len() as u64, tolerance.pages);
        let worst = |what: fn(&PageProfile) -> u64| {
            let pages = pairs.iter().map(|(found, expected)| (what(found), what(expected)));
            pages.max_by(|a, b| off(a.0, a.1).total_cmp(&off(b.0, b.1))).unwrap_or_default()
        };
        let (read, written) = (worst(|page| page.read), worst(|page| page.written));
        self.number("worst page, read", read.0, read.1, tolerance.pages);
        self.number("worst page, written", written.0, written.1, tolerance.pages);
        let shared = pairs.iter().filter(|(a, b)| (&a.readers, &a.writers) == (&b.readers, &b.writers)).count();
        self.number("same work-groups", shared as u64, pairs.len() as u64, tolerance.sharing);
    }

    fn streams(&mut self, model: &Profile, trace: &Profile, tolerance: f64) {
        let pairs = || model.streams.iter().zip(&trace.streams);
        let same = pairs().filter(|(found, expected)| found == expected).count();
        self.number("same wavefronts", same as u64, trace.streams.len() as u64, tolerance);
        let Some((number, (found, expected))) = pairs().enumerate().find(|(_, (a, b))| a != b) else { return };
        let place = found.iter().zip(expected).take_while(|(a, b)| a == b).count();
        let (found, expected) = (found.get(place), expected.get(place));
        let _ = writeln!(
            self.table,
            "  first difference: wavefront {number}, event {place}\n    {found:?}\n    {expected:?}"
        );
    }
}

/// Difference as a share of the expected value; all of it if that is zero.
fn off(found: u64, expected: u64) -> f64 {
    if expected == 0 { f64::from(found != 0) } else { found.abs_diff(expected) as f64 / expected as f64 }
}
