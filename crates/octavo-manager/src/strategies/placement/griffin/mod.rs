//! `griffin-dpc`: delayed first touch, and dynamic page classification from periodic access counts.

mod classify;
mod history;

use octavo_registry::{Entry, OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::classify::{Thresholds, better_owner};
use self::history::History;
use super::Placement;
use crate::contract::event::{AccessCount, Fault, Needs, ReportSpec};
use crate::contract::geometry::Geometry;
use crate::contract::ids::{HOST, HOST_MEMORY, PageId, PageRun, ProcessorId};
use crate::contract::masks::ProcessorMask;
use crate::contract::page::PageView;
use crate::strategies::context::Context;
use crate::strategies::decision::{Decision, Move};

/// Options of `griffin-dpc`. The numbers are the published ones as far as they are known; treat them as parameters.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// GPU clock cycles between reports of access counts; default 1000 (Griffin, HPCA 2020).
    period_cycles: u64,
    /// Bytes that one (page, GPU) count costs on the link to the host; default 8: a page number and a count. Ours.
    entry_bytes: u32,
    /// Weight of a new count in the exponentially smoothed one, above 0 and at most 1; default 0.03 (Griffin).
    smoothing: f64,
    /// Smoothed lines a period from which a page counts as touched by its most frequent user; default 0.03 (Griffin),
    /// which is one line with the default smoothing.
    touched: f64,
    /// A page is dedicated to a GPU that accesses it this many times as often as any other; default 2 (Griffin).
    dedicated: f64,
    /// The owner of a shared page is shifting when a GPU accesses it this many times as often as the owner; default
    /// 1.3 (Griffin).
    shifting: f64,
    /// Most pages that migrate after one report; default 8 (Griffin).
    batch_pages: u32,
    /// Pages that a GPU must hold more than each other GPU before its first touches are delayed; default 0: it holds
    /// the most. Ours.
    lead_pages: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            period_cycles: 1000,
            entry_bytes: 8,
            smoothing: 0.03,
            touched: 0.03,
            dedicated: 2.0,
            shifting: 1.3,
            batch_pages: 8,
            lead_pages: 0,
        }
    }
}

pub(super) static ENTRY: Entry<Box<dyn Placement>, Geometry> = Entry {
    name: "griffin-dpc",
    summary: "accesses remotely and migrates pages whose best owner is clear from access counts",
    source: "Griffin (HPCA 2020): delayed first touch, dynamic page classification",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let options: Options = typed::parse(options)?;
        check(&options)?;
        Ok(Box::new(Griffin {
            history: History::new(geometry.gpus, options.smoothing as f32),
            options,
            found: Vec::new(),
        }))
    },
};

fn check(options: &Options) -> Result<(), OptionError> {
    let refuse = |key: &str, message: String| Err(OptionError::new(key, message));
    if options.period_cycles == 0 {
        return refuse("period_cycles", "expected at least 1 cycle, found 0".to_owned());
    }
    if !(options.smoothing > 0.0 && options.smoothing <= 1.0) {
        return refuse("smoothing", format!("expected more than 0 and at most 1, found {}", options.smoothing));
    }
    for (key, ratio) in [("dedicated", options.dedicated), ("shifting", options.shifting)] {
        if !(ratio >= 1.0 && ratio.is_finite()) {
            return refuse(key, format!("expected a ratio of at least 1, found {ratio}"));
        }
    }
    Ok(())
}

/// A page that would be better off elsewhere.
struct Candidate {
    page: PageId,
    to: ProcessorId,
    /// Smoothed lines a period that would no longer be remote.
    gain: f32,
}

struct Griffin {
    options: Options,
    history: History,
    /// Candidates of the present report; kept for its capacity.
    found: Vec<Candidate>,
}

impl Griffin {
    /// Whether a GPU holds so much more than the others that the page had better go elsewhere.
    fn leads(&self, processor: ProcessorId, context: &Context<'_>) -> bool {
        let gpus = context.geometry().gpus;
        let others = ProcessorMask::all_gpus(gpus).without(processor);
        let held = context.held(processor.memory());
        let ahead = |other: ProcessorId| held > context.held(other.memory()).saturating_add(self.options.lead_pages);
        !others.is_empty() && others.iter().all(ahead)
    }

    fn consider(&mut self, page: PageId, context: &Context<'_>) {
        let Options { touched, dedicated, shifting, .. } = self.options;
        let [touched, dedicated, shifting] = [touched, dedicated, shifting].map(|threshold| threshold as f32);
        let thresholds = Thresholds { touched, dedicated, shifting };
        let owner = context.page(page).owner.processor();
        if let Some((to, gain)) = better_owner(self.history.counts(page), owner, &thresholds) {
            self.found.push(Candidate { page, to, gain });
        }
    }
}

impl Placement for Griffin {
    fn needs(&self) -> Needs {
        let Options { period_cycles, entry_bytes, .. } = self.options;
        Needs { reports: Some(ReportSpec { period_cycles, entry_bytes }), ..Needs::default() }
    }

    fn on_allocate(&mut self, pages: PageRun, _context: &mut Context<'_>) {
        self.history.grow(pages.first.index() + pages.count as usize);
    }

    fn on_free(&mut self, pages: PageRun, _context: &mut Context<'_>) {
        pages.iter().for_each(|page| self.history.forget(page));
    }

    /// A page whose first touch is delayed stays on the host, mapped remotely, until another GPU touches it or a report
    /// shows which GPU needs it.
    fn on_fault(&mut self, fault: &Fault, page: &PageView, context: &mut Context<'_>) -> Decision {
        if !page.cold() {
            return Decision::MapRemote;
        }
        let waits = fault.processor == HOST || self.leads(fault.processor, context);
        if waits { Decision::At(HOST_MEMORY) } else { Decision::Migrate }
    }

    /// Pages without accesses in a period are not looked at: their owner has not become worse.
    fn on_report(&mut self, counts: &[AccessCount], context: &mut Context<'_>, moves: &mut Vec<Move>) {
        self.history.next_period();
        self.found.clear();
        for of_page in counts.chunk_by(|one, next| one.page == next.page) {
            let page = of_page[0].page;
            if context.allocated(page) {
                self.history.add(page, of_page);
                self.consider(page, context);
            }
        }
        self.found.sort_by(|one, other| other.gain.total_cmp(&one.gain).then(one.page.cmp(&other.page)));
        self.found.truncate(self.options.batch_pages as usize);
        moves.extend(self.found.iter().map(|candidate| Move { page: candidate.page, to: candidate.to.memory() }));
    }

    fn bytes(&self) -> usize {
        self.history.bytes()
    }
}
