//! The strategies for each page, by the kind of its memory and by its address space.

use octavo_units::Time;

use crate::contract::counts::NamedCounts;
use crate::contract::error::ConfigError;
use crate::contract::event::Needs;
use crate::contract::failure::Failure;
use crate::contract::ids::SpaceId;
use crate::contract::kind::Kind;
use crate::contract::page::PageView;
use crate::pages::census::Census;
use crate::pages::deciders::{Decider, Deciders};
use crate::strategies::needs;
use crate::strategies::placement::Placement;
use crate::strategies::prefetch::Prefetch;

/// The strategies that decide where pages lie and what comes along with them.
pub(crate) struct Policy {
    pub placement: Box<dyn Placement>,
    pub prefetch: Box<dyn Prefetch>,
}

/// All strategies that decide. None decides about memory that [stays](Kind::stays).
pub(crate) struct Policies {
    /// By [`Decider`]: the page knows which of them decides about it.
    placements: Vec<Placing>,
    /// Likewise; which of them is asked is in `bringing`.
    prefetchers: Vec<Box<dyn Prefetch>>,
    bringing: Deciders,
    /// The reports that all placements together request.
    needs: Needs,
}

/// A placement, and its answers when it was asked.
struct Placing {
    /// The part that it decides about, for summaries.
    name: String,
    placement: Box<dyn Placement>,
    needs: Needs,
}

impl Policies {
    /// The policies of managed memory and of the operating system's.
    ///
    /// # Errors
    /// If they need what a node cannot give both.
    pub fn new(managed: Policy, system: Policy) -> Result<Self, ConfigError> {
        let prefetchers = vec![managed.prefetch, system.prefetch];
        let (placements, bringing) = (Vec::new(), Deciders::default());
        let mut policies = Self { placements, prefetchers, bringing, needs: Needs::default() };
        policies.add("managed", "placement", managed.placement)?;
        policies.add("system", "system.placement", system.placement)?;
        Ok(policies)
    }

    /// Adds a placement with this key, which decides about memory with this name.
    fn add(&mut self, name: &str, key: &str, placement: Box<dyn Placement>) -> Result<Decider, ConfigError> {
        let needs = placement.needs();
        let joint = needs::joint(&self.needs, &needs);
        self.needs = joint.map_err(|message| ConfigError::new(key, message))?;
        self.placements.push(Placing { name: name.to_owned(), placement, needs });
        Ok(Decider::at(self.placements.len() - 1))
    }

    /// An address space with this name has its own placement for its managed pages.
    ///
    /// # Errors
    /// If it needs what the node cannot give it beside the others.
    pub fn add_placement(&mut self, name: &str, placement: Box<dyn Placement>) -> Result<Decider, ConfigError> {
        self.add(&format!("job.{name}"), "placement", placement)
    }

    /// An address space has a prefetcher of its own for its managed pages.
    pub fn add_prefetch(&mut self, space: SpaceId, prefetch: Box<dyn Prefetch>) {
        self.prefetchers.push(prefetch);
        self.bringing.set(space, Decider::at(self.prefetchers.len() - 1));
    }

    /// All placements, with who they are.
    pub fn placements(&self) -> impl Iterator<Item = (Decider, &dyn Placement)> {
        let all = self.placements.iter().enumerate();
        all.map(|(index, placing)| (Decider::at(index), placing.placement.as_ref()))
    }

    /// All placements.
    pub fn deciders(&self) -> impl Iterator<Item = Decider> + use<> {
        (0..self.placements.len()).map(Decider::at)
    }

    pub fn placement(&mut self, decider: Decider) -> &mut dyn Placement {
        self.placements[decider.index()].placement.as_mut()
    }

    /// The counts of the placement that decides about these pages.
    pub fn counters(&self, census: &Census<'_>) -> NamedCounts {
        self.placements[census.decider.index()].placement.counters(census)
    }

    /// The part that a placement decides about, for summaries.
    pub fn name(&self, decider: Decider) -> &str {
        &self.placements[decider.index()].name
    }

    /// What all placements together want to be told.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// The reports that one of them requests.
    pub fn needs_of(&self, decider: Decider) -> Needs {
        self.placements[decider.index()].needs
    }

    /// The earliest deadline of any placement.
    pub fn deadline(&self) -> Option<Time> {
        self.placements.iter().filter_map(|placing| placing.placement.deadline()).min()
    }

    /// The prefetcher for pages of this kind. `space` is called only if it matters.
    pub fn brings(&self, kind: Kind, space: impl FnOnce() -> SpaceId) -> Decider {
        self.bringing.of(kind, space).expect("nobody decides about pages that stay")
    }

    pub fn prefetcher(&mut self, number: Decider) -> &mut dyn Prefetch {
        self.prefetchers[number.index()].as_mut()
    }

    /// Prefetchers that want whole blocks ahead of need.
    pub fn looking_ahead(&self) -> impl Iterator<Item = Decider> + '_ {
        (0..self.prefetchers.len()).filter(|&number| self.prefetchers[number].looks_ahead()).map(Decider::at)
    }

    /// Whether a placement lets a page be prefetched.
    pub fn may_prefetch(&self, placement: Decider, page: &PageView) -> bool {
        self.placements[placement.index()].placement.may_prefetch(page)
    }

    /// A placement, and a prefetcher.
    pub fn both(&mut self, placement: Decider, prefetch: Decider) -> (&dyn Placement, &mut dyn Prefetch) {
        (self.placements[placement.index()].placement.as_ref(), self.prefetchers[prefetch.index()].as_mut())
    }

    /// Whether any prefetcher wants to see faults on one block together.
    pub fn any_serves_blocks(&self) -> bool {
        self.prefetchers.iter().any(|prefetch| prefetch.serves_blocks())
    }

    /// Whether faults on one block of these pages are served together: that is done where managed memory's prefetcher
    /// wants it, as the driver serves blocks of all memory alike, or their own.
    pub fn serves_blocks(&self, kind: Kind, space: SpaceId) -> bool {
        if kind.stays() {
            return false;
        }
        let asked = [self.brings(Kind::Managed, || space), self.brings(kind, || space)];
        asked.iter().any(|prefetch| self.prefetchers[prefetch.index()].serves_blocks())
    }

    /// The first failure of any of them.
    pub fn failure(&self) -> Option<Box<Failure>> {
        let placements = self.placements.iter().find_map(|placing| placing.placement.failure());
        placements.or_else(|| self.prefetchers.iter().find_map(|prefetch| prefetch.failure()))
    }

    pub fn bytes(&self) -> usize {
        let placements: usize = self.placements.iter().map(|placing| placing.placement.bytes()).sum();
        placements + self.prefetchers.iter().map(|prefetch| prefetch.bytes()).sum::<usize>()
    }
}
