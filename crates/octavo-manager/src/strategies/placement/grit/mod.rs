//! `grit`: picks on-touch, access counter or duplication for each page, at run time, from the faults the driver sees
//! anyway.

pub(crate) mod bits;
pub(super) mod counts;
mod initiator;
mod options;
mod pa_cache;
mod pa_table;
mod prediction;

use octavo_registry::{Entry, OptionError, typed};

use self::bits::Scheme;
use self::counts::Counts;
use self::initiator::Initiator;
use self::options::Options;
use super::Placement;
use super::counters::{self, HostPages};
use super::duplication;
use crate::contract::counts::NamedCounts;
use crate::contract::event::{CounterNotification, CounterSpec, Fault, Needs};
use crate::contract::geometry::Geometry;
use crate::contract::ids::PageRun;
use crate::contract::page::PageView;
use crate::pages::attributes::Attribute;
use crate::pages::census::Census;
use crate::strategies::context::Context;
use crate::strategies::decision::Decision;

/// The most faults that the widest counter can count.
const MAX_THRESHOLD: u32 = 16;

pub(super) static ENTRY: Entry<Box<dyn Placement>, Geometry> = Entry {
    name: "grit",
    summary: "picks on-touch, access counter or duplication for each page at run time",
    source: "GRIT (HPCA 2024), section 5",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let options: Options = typed::parse(options)?;
        check(&options)?;
        Ok(Box::new(Grit::new(options, geometry)))
    },
};

fn check(options: &Options) -> Result<(), OptionError> {
    let Options { fault_threshold, pa_cache_entries: entries, pa_cache_ways: ways, counter_threshold, .. } = *options;
    counters::check_threshold("counter_threshold", counter_threshold)?;
    if !(1..=MAX_THRESHOLD).contains(&fault_threshold) {
        let message = format!("expected 1 to {MAX_THRESHOLD} faults, found {fault_threshold}");
        return Err(OptionError::new("fault_threshold", message));
    }
    if ways == 0 || entries % ways != 0 || !(entries / ways).is_power_of_two() {
        let message = format!("expected a power of two of sets of {ways} entries, found {entries}");
        return Err(OptionError::new("pa_cache_entries", message));
    }
    Ok(())
}

struct Grit {
    options: Options,
    counters: CounterSpec,
    initiator: Initiator,
    counts: Counts,
}

impl Grit {
    fn new(options: Options, geometry: &Geometry) -> Self {
        let counters = counters::spec(options.counter_threshold, geometry);
        Self { counters, initiator: Initiator::new(&options), counts: Counts::default(), options }
    }

    fn mechanism(&self, scheme: Scheme, page: &PageView) -> Decision {
        match scheme {
            Scheme::OnTouch => Decision::Migrate,
            Scheme::Duplication => duplication::decide(page, self.options.downgrade_drain, self.options.host_replicas),
            Scheme::AccessCounter if page.cold() && self.options.host_pages == HostPages::Migrate => Decision::Migrate,
            Scheme::AccessCounter => Decision::MapRemote,
        }
    }
}

impl Placement for Grit {
    fn needs(&self) -> Needs {
        Needs { counters: Some(self.counters), ..Needs::default() }
    }

    fn attributes(&self) -> &'static [&'static Attribute] {
        &bits::CLAIMED
    }

    fn counters(&self, census: &Census<'_>) -> NamedCounts {
        self.counts.named(census)
    }

    fn on_allocate(&mut self, pages: PageRun, context: &mut Context<'_>) {
        self.initiator.grow(pages);
        for page in pages.iter() {
            // A group can have been formed around pages that did not exist yet.
            prediction::split(page, &mut self.counts, context);
            Scheme::OnTouch.write(page, context);
        }
    }

    fn on_free(&mut self, pages: PageRun, context: &mut Context<'_>) {
        for page in pages.iter() {
            self.initiator.forget(page);
            prediction::split(page, &mut self.counts, context);
        }
    }

    /// The fault that reaches the threshold is served under the scheme it decides.
    fn on_fault(&mut self, fault: &Fault, page: &PageView, context: &mut Context<'_>) -> Decision {
        let old = Scheme::read(fault.page, context).unwrap_or(Scheme::OnTouch);
        let Some(new) = self.initiator.count(fault, &mut self.counts, context) else {
            return self.mechanism(old, page);
        };
        self.counts.decided(old, new);
        // Equal schemes start no group check, to avoid swinging back and forth.
        if new != old {
            new.write(fault.page, context);
            // Groups of pages that were formed are kept whole or split even if nothing is predicted from them.
            prediction::split(fault.page, &mut self.counts, context);
            if self.options.prediction {
                prediction::promote(fault.page, new, &mut self.counts, context);
            }
        }
        self.mechanism(new, page)
    }

    fn on_counter(
        &mut self,
        notification: &CounterNotification,
        _page: &PageView,
        context: &mut Context<'_>,
    ) -> Option<PageRun> {
        Some(counters::run(notification.page, self.options.counter_moves, context))
    }

    /// Pages of the other schemes are where faults and counters put them.
    fn may_prefetch(&self, page: &PageView) -> bool {
        page.cold() || Scheme::of(page) == Some(Scheme::OnTouch)
    }

    fn check(&self, context: &Context<'_>) -> Result<(), String> {
        prediction::check(context)?;
        self.initiator.check(context)
    }

    fn bytes(&self) -> usize {
        self.initiator.bytes()
    }
}
