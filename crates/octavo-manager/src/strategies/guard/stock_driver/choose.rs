//! Decisions about a thrashing page: the driver's rules, in their order.

use super::options::LinksThere;
use super::page::Fight;
use crate::contract::ids::{HOST, MemoryId, ProcessorId};
use crate::contract::masks::ProcessorMask;
use crate::strategies::context::Context;

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Pass,
    Throttle,
    Pin(MemoryId),
}

/// A fault and the fight that it is part of.
pub(super) struct Situation<'a, 'c> {
    pub requester: ProcessorId,
    /// Where the page is.
    pub owner: MemoryId,
    /// Where advice wants it.
    pub preferred: Option<MemoryId>,
    pub fight: &'a Fight,
    pub pin_threshold: u8,
    pub links: LinksThere,
    pub context: &'a Context<'c>,
}

impl Situation<'_, '_> {
    pub fn choose(&self) -> Choice {
        let Self { requester, preferred, fight, .. } = *self;
        let favoured = fight.favoured == Some(requester);
        if let Some(preferred) = preferred.filter(|&preferred| self.all_can_map(preferred)) {
            return Choice::Pin(preferred);
        }
        let preferred_fights = preferred.is_some_and(|preferred| fight.fighters.contains(preferred.processor()));
        if !preferred_fights && self.all_are_fast_to(self.owner) {
            return self.pin_where_all_are_fast();
        }
        match fight.pin {
            Some(pin) if preferred.is_some_and(|preferred| preferred.processor() == requester) => {
                let here = pin.at.processor() == requester;
                if here || favoured { Choice::Pin(requester.memory()) } else { Choice::Throttle }
            }
            Some(_) if favoured => Choice::Pin(self.common_place()),
            Some(pin) if self.context.can_map(requester, pin.at) => Choice::Pin(pin.at),
            Some(_) => Choice::Throttle,
            None if !favoured => Choice::Throttle,
            None if fight.throttles >= self.pin_threshold => Choice::Pin(requester.memory()),
            None => Choice::Pass,
        }
    }

    /// The host had rather map GPU memory, which it can cache, than the other way round.
    fn pin_where_all_are_fast(&self) -> Choice {
        match (self.owner.on_host(), self.requester) {
            (true, HOST) => Choice::Pass,
            (true, gpu) => Choice::Pin(gpu.memory()),
            (false, _) => Choice::Pin(self.owner),
        }
    }

    /// With the requester if all can map that, else what all can map that is closest to it, else with the requester.
    fn common_place(&self) -> MemoryId {
        let own = self.requester.memory();
        if self.all_can_map(own) {
            return own;
        }
        let processors = ProcessorMask::all_gpus(self.context.geometry().gpus).with(HOST);
        let common = processors.iter().map(ProcessorId::memory).filter(|&place| self.all_can_map(place));
        common.min_by_key(|&place| self.distance(place)).unwrap_or(own)
    }

    /// The driver's order: GPUs by a fast link, the host by a fast link, other GPUs within reach, the host, the rest.
    fn distance(&self, place: MemoryId) -> (u8, MemoryId) {
        let gpu = !place.on_host();
        let rank = match (self.is_fast(self.requester, place), self.context.can_map(self.requester, place)) {
            (true, _) => u8::from(!gpu),
            (false, true) => 2 + u8::from(!gpu),
            (false, false) => 4,
        };
        (rank, place)
    }

    fn all_can_map(&self, place: MemoryId) -> bool {
        self.fight.fighters.iter().all(|fighter| self.context.can_map(fighter, place))
    }

    fn all_are_fast_to(&self, place: MemoryId) -> bool {
        self.fight.fighters.iter().all(|fighter| fighter == place.processor() || self.is_fast(fighter, place))
    }

    fn is_fast(&self, processor: ProcessorId, place: MemoryId) -> bool {
        let linked = match self.links {
            LinksThere::Node => self.context.is_fast(processor, place),
            LinksThere::None => false,
            LinksThere::Gpus => processor != HOST && !place.on_host(),
            LinksThere::All => true,
        };
        linked && self.context.can_map(processor, place)
    }
}
