//! Griffin's page classification: access counts that fade with every period, and the pages that had better move.

use std::collections::BTreeMap;

use octavo_manager::{AccessCount, HOST, ProcessorId, ProcessorMask};

use super::model::Model;
use super::rules::{Griffin, Placement};

/// Smoothed lines a period, of each page and GPU.
#[derive(Debug, Default)]
pub struct Accesses {
    lines: BTreeMap<(u32, ProcessorId), f32>,
}

impl Accesses {
    /// All counts fade; then this period's accesses count with their weight.
    fn period(&mut self, counts: &[AccessCount], smoothing: f32) {
        self.lines.values_mut().for_each(|lines| *lines *= 1.0 - smoothing);
        for count in counts {
            *self.lines.entry((count.page.0, count.processor)).or_default() += smoothing * count.lines as f32;
        }
    }

    fn of(&self, page: u32, gpu: ProcessorId) -> f32 {
        self.lines.get(&(page, gpu)).copied().unwrap_or(0.0)
    }

    pub(super) fn forget(&mut self, page: u32) {
        self.lines.retain(|(other, _), _| *other != page);
    }
}

impl Model {
    /// The periodic report, sorted by page and GPU.
    pub fn report(&mut self, counts: &[AccessCount]) {
        if let Placement::Griffin(griffin) = self.rules.placement {
            self.move_to_better_owners(&griffin, counts);
        }
        self.work_ahead();
    }

    /// Only pages in the report are looked at.
    fn move_to_better_owners(&mut self, griffin: &Griffin, counts: &[AccessCount]) {
        let counts: Vec<AccessCount> = counts
            .iter()
            .filter(|count| self.is_managed(count.page.0) && self.placement(count.page.0) == self.rules.placement)
            .copied()
            .collect();
        let counts = &counts[..];
        self.accesses.period(counts, hundredths(griffin.smoothing));
        let mut pages: Vec<u32> = counts.iter().map(|count| count.page.0).collect();
        pages.dedup();
        let mut moves: Vec<(f32, u32, ProcessorId)> =
            pages.into_iter().filter_map(|page| self.better_owner(page, griffin)).collect();
        moves.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        moves.truncate(griffin.batch as usize);
        let flight = self.open_flight();
        for (_, page, to) in moves {
            let state = &self.pages[&page];
            let movable =
                state.populated && !state.replicated() && !state.holds(to) && !self.busy(page) && !self.keeps(page);
            let wanted = self.preferred(page, to).is_none_or(|place| place == to);
            let moved = if movable && wanted { self.move_together(flight, &[page], to) } else { 0 };
            self.counts.migrations += moved;
            self.counts.report_migrations += moved;
        }
        self.close(flight);
    }

    /// The GPU that should own a page, and what that saves: its most frequent user, provided that it uses the page at
    /// all, does not own it, and uses it clearly more often than every other GPU or than the owner.
    fn better_owner(&self, page: u32, griffin: &Griffin) -> Option<(f32, u32, ProcessorId)> {
        let owner = self.pages[&page].owner;
        let gpus: Vec<ProcessorId> = ProcessorMask::all_gpus(self.rules.gpus()).iter().collect();
        let lines = |gpu: ProcessorId| self.accesses.of(page, gpu);
        let most = gpus.iter().map(|&gpu| lines(gpu)).fold(0.0, f32::max);
        let best = gpus.iter().copied().find(|&gpu| lines(gpu) == most)?;
        let second = gpus.iter().filter(|&&gpu| gpu != best).map(|&gpu| lines(gpu)).fold(0.0, f32::max);
        let owners = if owner == HOST { 0.0 } else { lines(owner) };
        let clear = most >= hundredths(griffin.dedicated) * second || most > hundredths(griffin.shifting) * owners;
        (most >= hundredths(griffin.touched) && owner != best && clear).then_some((most - owners, page, best))
    }
}

fn hundredths(number: u32) -> f32 {
    (f64::from(number) / 100.0) as f32
}
