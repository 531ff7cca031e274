//! What a placement strategy does about a fault.

use octavo_manager::{ProcessorId, Scheme};

use super::flight::Pending;
use super::model::Model;
use super::rules::{Grit, Placement};

/// One of the mechanisms of the design page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The page becomes the toucher's, and nobody else's.
    Migrate,
    /// As before, but there were replicas that the write makes worthless.
    Collapse,
    /// The toucher reaches the copy where it is.
    Map,
    /// The toucher gets a read-only replica.
    Duplicate,
    /// Replicas are removed without a writer, and the toucher reaches the copy that stays.
    LeaveDuplication,
    /// The page is everyone's; it comes from the host if nobody brought it before.
    Everywhere,
}

impl Model {
    pub(super) fn decide(&mut self, pending: &mut Pending) -> Action {
        match self.rules.placement {
            Placement::OnTouch => self.on_touch(),
            Placement::FirstTouch if self.on_host(pending.page()) => Action::Migrate,
            Placement::FirstTouch => Action::Map,
            Placement::AccessCounter(_) => self.access_counter(pending),
            Placement::Duplication => self.duplication(pending),
            Placement::Ideal => Action::Everywhere,
            Placement::Grit(grit) => {
                if !pending.noted {
                    pending.noted = true;
                    self.initiate(pending, &grit);
                }
                match self.groups.schemes[&pending.page()] {
                    Scheme::OnTouch => self.on_touch(),
                    Scheme::AccessCounter => self.access_counter(pending),
                    Scheme::Duplication => self.duplication(pending),
                }
            }
        }
    }

    fn on_touch(&self) -> Action {
        Action::Migrate
    }

    fn access_counter(&self, pending: &Pending) -> Action {
        let state = &self.pages[&pending.page()];
        let maps_host = self.remote().is_none_or(|remote| remote.map_host);
        match (state.replicated(), pending.writes()) {
            (true, true) => Action::Collapse,
            (true, false) => Action::LeaveDuplication,
            (false, _) if self.on_host(pending.page()) && !maps_host => Action::Migrate,
            (false, _) => Action::Map,
        }
    }

    fn duplication(&self, pending: &Pending) -> Action {
        let state = &self.pages[&pending.page()];
        let own = state.owner == pending.fault.processor;
        match (state.replicated(), pending.writes()) {
            (true, true) => Action::Collapse,
            (false, _) if self.on_host(pending.page()) => Action::Migrate,
            (false, _) if own => Action::Map,
            (false, true) => Action::Migrate,
            (_, false) => Action::Duplicate,
        }
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
        if state.holds(to) || state.replicated() || self.busy(page) {
            return false;
        }
        match self.rules.placement {
            Placement::OnTouch => true,
            Placement::Grit(_) if self.groups.schemes[&page] == Scheme::OnTouch => true,
            Placement::Grit(grit) if self.groups.schemes[&page] == Scheme::AccessCounter => {
                self.on_host(page) && !grit.remote.map_host
            }
            Placement::AccessCounter(remote) => self.on_host(page) && !remote.map_host,
            _ => self.on_host(page),
        }
    }
}
