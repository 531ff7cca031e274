//! What a placement strategy decides about a fault, and what follows for the page in its present state.

use octavo_manager::{HOST, ProcessorId, ProcessorMask, Scheme};

use super::flight::Pending;
use super::model::Model;
use super::rules::{Griffin, Grit, Placement, Remote};

/// What a strategy decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Migrate,
    Map,
    Duplicate,
    Everywhere,
    Subscribe,
    /// The page has its place there.
    At(ProcessorId),
    /// It goes there, wherever it is.
    To(ProcessorId),
    /// The same, and all who fight over it map it there.
    Pin(ProcessorId, ProcessorMask),
    /// Readers get a replica, of a page on the host too.
    Replicate,
}

/// The mechanism that serves the fault, one of those on the design page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The page becomes the toucher's alone.
    Migrate,
    /// Like the case before, but the write also invalidates replicas.
    Collapse,
    /// The toucher reaches the copy where it is.
    Map,
    /// The toucher gets a read-only replica.
    Duplicate,
    /// Replicas are removed without a new holder, and the toucher reaches the copy that stays.
    LeaveDuplication,
    /// The page is everyone's; it comes from the host if it was not brought before.
    Everywhere,
    /// It is no GPU's any more: the host wants it.
    Recall,
    /// The toucher gets a replica that it can write; stores go to all.
    Subscribe,
    /// The page goes there, and the toucher reaches it there.
    MoveTo(ProcessorId),
    /// The page was in no memory and now gets a frame where the toucher reaches it.
    Populate(ProcessorId),
    /// It was nowhere, and is every GPU's now.
    PopulateEverywhere,
}

impl Model {
    /// Called once for each fault; a fault that finds no room keeps its verdict.
    pub(super) fn decide(&mut self, flight: u64, pending: &Pending) -> Verdict {
        if self.is_managed(pending.page())
            && let Some(verdict) = self.advised(pending)
        {
            return verdict;
        }
        let on_host = self.on_host(pending.page());
        match self.placement(pending.page()) {
            Placement::OnTouch => Verdict::Migrate,
            Placement::FirstTouch if on_host => Verdict::Migrate,
            Placement::FirstTouch => Verdict::Map,
            Placement::AccessCounter(remote) => access_counter(on_host, remote),
            Placement::Duplication => Verdict::Duplicate,
            Placement::Ideal if pending.fault.processor == HOST => Verdict::Map,
            Placement::Ideal => Verdict::Everywhere,
            Placement::Gps(_) => self.subscriptions.decide(&pending.fault),
            Placement::Griffin(_) if !on_host => Verdict::Map,
            Placement::Griffin(griffin) if self.waits(flight, pending, &griffin) => Verdict::At(HOST),
            Placement::Griffin(_) => Verdict::Migrate,
            Placement::Interleaved(_) => Verdict::At(self.homes[&pending.page()]),
            Placement::Grit(grit) => {
                self.initiate(pending, &grit);
                match self.groups.schemes[&pending.page()] {
                    Scheme::OnTouch => Verdict::Migrate,
                    Scheme::AccessCounter => access_counter(on_host, grit.remote),
                    Scheme::Duplication => Verdict::Duplicate,
                }
            }
        }
    }

    pub(super) fn action(&self, verdict: Verdict, pending: &Pending) -> Action {
        let state = &self.pages[&pending.page()];
        let own = state.owner == pending.fault.processor;
        let reads_elsewhere = !pending.writes() && !self.on_host(pending.page()) && !own;
        // The host maps no GPU's memory; GPUs map everyone's.
        let out_of_reach = pending.fault.processor == HOST && !self.on_host(pending.page());
        let host_cannot = |place: ProcessorId| pending.fault.processor == HOST && place != HOST;
        match verdict {
            Verdict::Pin(place, _) if host_cannot(place) => self.action(Verdict::Migrate, pending),
            Verdict::Pin(place, _) => self.action(Verdict::To(place), pending),
            Verdict::Everywhere if !state.populated => Action::PopulateEverywhere,
            Verdict::At(home) if !state.populated && (pending.fault.processor != HOST || home == HOST) => {
                Action::Populate(home)
            }
            Verdict::To(place) if !state.populated => Action::Populate(place),
            _ if !state.populated => Action::Populate(pending.fault.processor),
            _ if out_of_reach && state.everywhere => Action::Recall,
            Verdict::At(home) if home == HOST || !self.on_host(pending.page()) => self.action(Verdict::Map, pending),
            Verdict::At(_) if pending.fault.processor == HOST => self.action(Verdict::Migrate, pending),
            Verdict::At(_) if state.replicated() => self.action(Verdict::Map, pending),
            Verdict::At(home) => Action::MoveTo(home),
            Verdict::Map if out_of_reach => self.action(Verdict::Migrate, pending),
            Verdict::To(_) if state.replicated() || state.everywhere => self.action(Verdict::Migrate, pending),
            Verdict::To(place) if place == state.owner => Action::Map,
            Verdict::To(place) => Action::MoveTo(place),
            Verdict::Replicate if !pending.writes() && !state.everywhere && (!own || state.replicated()) => {
                Action::Duplicate
            }
            Verdict::Replicate => self.action(Verdict::Migrate, pending),
            Verdict::Everywhere => Action::Everywhere,
            // The host hears no stores of others.
            Verdict::Subscribe if state.replicated() && state.holds(HOST) => self.action(Verdict::Migrate, pending),
            Verdict::Subscribe if !state.replicated() && (own || self.on_host(pending.page())) => {
                self.action(Verdict::Migrate, pending)
            }
            Verdict::Subscribe => Action::Subscribe,
            Verdict::Map if state.replicated() && !state.broadcast => Action::LeaveDuplication,
            Verdict::Map => Action::Map,
            // The owner of replicas may be the host, if they were made by advice.
            Verdict::Duplicate if state.replicated() && !state.broadcast => self.action(Verdict::Replicate, pending),
            Verdict::Duplicate if reads_elsewhere => Action::Duplicate,
            Verdict::Migrate | Verdict::Duplicate if state.replicated() => Action::Collapse,
            Verdict::Migrate | Verdict::Duplicate if own => Action::Map,
            Verdict::Migrate | Verdict::Duplicate => Action::Migrate,
        }
    }

    /// Griffin's delayed first touch: the host, and a GPU that holds clearly more than every other, reach the page
    /// where it is. Changes that this plan itself has made so far do not count.
    fn waits(&self, flight: u64, pending: &Pending, griffin: &Griffin) -> bool {
        let toucher = pending.fault.processor;
        let held = |gpu: ProcessorId| self.held_before(gpu.memory(), flight);
        let others: Vec<ProcessorId> =
            ProcessorMask::all_gpus(self.rules.gpus()).iter().filter(|gpu| *gpu != toucher).collect();
        let leads = || !others.is_empty() && others.iter().all(|&other| held(toucher) > held(other) + griffin.lead);
        toucher == HOST || leads()
    }

    /// GRIT's fault-aware initiator: counts the fault and, at the threshold, picks the scheme.
    fn initiate(&mut self, pending: &Pending, grit: &Grit) {
        let page = pending.page();
        let Some(written) = self.attributes.fault(page, pending.writes(), grit.threshold) else { return };
        let scheme = if written { Scheme::AccessCounter } else { Scheme::Duplication };
        if self.groups.schemes.insert(page, scheme) == Some(scheme) {
            return;
        }
        self.groups.isolate(page);
        if grit.prediction {
            self.groups.promote(page, 512);
        }
    }

    /// Whether a page may be brought by prefetching, or its strategy wants it where it is.
    pub(super) fn comes_along(&self, page: u32, to: ProcessorId) -> bool {
        let state = &self.pages[&page];
        if state.holds(to) || state.replicated() || state.everywhere || self.busy(page) || self.keeps(page) {
            return false;
        }
        if self.said(page).preferred.is_some_and(|preferred| preferred.processor() != to) {
            return false;
        }
        match self.placement(page) {
            Placement::OnTouch => true,
            Placement::Grit(_) if self.groups.schemes[&page] == Scheme::OnTouch => true,
            _ => self.on_host(page),
        }
    }
}

fn access_counter(on_host: bool, remote: Remote) -> Verdict {
    if on_host && !remote.map_host { Verdict::Migrate } else { Verdict::Map }
}
