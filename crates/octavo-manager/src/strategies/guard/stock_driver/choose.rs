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
        let preferred_fights = preferred.is_some_and(|preferred| fight.fighters().contains(preferred.processor()));
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

    /// With the requester if all can map it there, otherwise with the nearest processor that all can map, otherwise
    /// with the requester.
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
        self.fight.fighters().iter().all(|fighter| self.context.can_map(fighter, place))
    }

    fn all_are_fast_to(&self, place: MemoryId) -> bool {
        self.fight.fighters().iter().all(|fighter| fighter == place.processor() || self.is_fast(fighter, place))
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

#[cfg(test)]
mod tests {
    use octavo_units::{Bytes, Time};

    use super::*;
    use crate::contract::geometry::Geometry;
    use crate::contract::ids::HOST_MEMORY;
    use crate::contract::masks::MemoryMask;
    use crate::contract::topology::{FastLinks, Reach, Topology};
    use crate::memories::frames::Frames;
    use crate::pages::Pages;
    use crate::strategies::context::Charges;
    use crate::strategies::guard::stock_driver::page::Pin;

    const GPU: [ProcessorId; 3] = [ProcessorId::gpu(0), ProcessorId::gpu(1), ProcessorId::gpu(2)];
    const AT: [MemoryId; 3] = [MemoryId::gpu(0), MemoryId::gpu(1), MemoryId::gpu(2)];

    /// A fault of a processor on a page that lies in `owner`.
    struct Case<'a> {
        topology: &'a Topology,
        fighters: &'a [ProcessorId],
        owner: MemoryId,
        links: LinksThere,
        preferred: Option<MemoryId>,
    }

    impl Case<'_> {
        fn choose(&self, requester: ProcessorId, favoured: bool, pin: Option<MemoryId>) -> Choice {
            let &Case { topology, owner, links, preferred, .. } = self;
            let fight = Fight {
                fighters: self.fighters.iter().copied().fold(ProcessorMask::EMPTY, ProcessorMask::with).into(),
                favoured: Some(requester).filter(|_| favoured),
                pin: pin.map(|at| Pin { at, until: None }),
                ..Fight::default()
            };
            let geometry = Geometry { gpus: topology.gpus(), page_size: Bytes(4 << 10) };
            let context = Context {
                now: Time::ZERO,
                decider: None,
                pages: &mut Pages::new(geometry, topology.memories.len()),
                frames: &Frames::new(topology),
                was_full: MemoryMask::EMPTY,
                reach: &topology.reach,
                fast: &topology.fast,
                charges: &mut Charges::default(),
            };
            let context = &context;
            Situation { requester, owner, preferred, fight: &fight, pin_threshold: 10, links, context }.choose()
        }
    }

    /// The host fights as well and does not reach the GPU that the page should be with.
    #[test]
    fn the_processor_that_advice_prefers_gets_a_pinned_page_when_it_is_favoured() {
        let topology = &Topology::unlimited(2);
        let (fighters, preferred) = (&[HOST, GPU[0], GPU[1]], Some(AT[0]));
        let case = Case { topology, fighters, owner: HOST_MEMORY, links: LinksThere::None, preferred };
        assert_eq!(case.choose(GPU[0], false, Some(HOST_MEMORY)), Choice::Throttle);
        assert_eq!(case.choose(GPU[0], true, Some(HOST_MEMORY)), Choice::Pin(AT[0]));
        assert_eq!(case.choose(GPU[0], false, Some(AT[0])), Choice::Pin(AT[0]), "it is there");
        assert_eq!(case.choose(GPU[1], false, Some(HOST_MEMORY)), Choice::Pin(HOST_MEMORY), "others map it");
    }

    #[test]
    fn a_pinned_page_goes_to_the_favoured_and_is_mapped_by_those_who_can() {
        let topology = &Topology::unlimited(2);
        let (owner, links, preferred) = (HOST_MEMORY, LinksThere::None, None);
        let case = Case { topology, fighters: &GPU[..2], owner, links, preferred };
        assert_eq!(case.choose(GPU[1], true, Some(AT[0])), Choice::Pin(AT[1]));
        assert_eq!(case.choose(GPU[1], false, Some(AT[0])), Choice::Pin(AT[0]));
        let case = Case { fighters: &[HOST, GPU[0]], ..case };
        assert_eq!(case.choose(HOST, false, Some(AT[0])), Choice::Throttle, "the host does not reach it");
    }

    /// GPUs 1 and 2 do not reach each other. Both reach GPU 0 and the host: the favoured one's links decide.
    #[test]
    fn a_common_place_is_the_closest_that_all_who_fight_can_map() {
        let reach = |own: usize| MemoryMask::HOSTS.with(AT[0]).with(AT[own]);
        let reach = Reach::new(vec![MemoryMask::HOSTS, reach(0), reach(1), reach(2)]);
        let to_host = MemoryMask::only(HOST_MEMORY);
        for (fast, expected) in [(MemoryMask::EMPTY, AT[0]), (to_host, HOST_MEMORY), (to_host.with(AT[0]), AT[0])] {
            let none = MemoryMask::EMPTY;
            let fast = FastLinks::new(vec![none, none, fast, none]);
            let topology = &Topology { reach: reach.clone(), fast, ..Topology::unlimited(3) };
            let (owner, links, preferred) = (HOST_MEMORY, LinksThere::Node, None);
            let case = Case { topology, fighters: &GPU[1..], owner, links, preferred };
            assert_eq!(case.choose(GPU[1], true, Some(AT[2])), Choice::Pin(expected), "{topology:?}");
        }
    }

    #[test]
    fn links_between_gpus_are_fast_and_lead_neither_to_the_host_nor_from_it() {
        let topology = &Topology::unlimited(2).coherent();
        let case = |fighters, owner| {
            let case = Case { topology, fighters, owner, links: LinksThere::Gpus, preferred: None };
            case.choose(GPU[1], false, None)
        };
        assert_eq!(case(&GPU[..2], AT[0]), Choice::Pin(AT[0]));
        assert_eq!(case(&GPU[..2], HOST_MEMORY), Choice::Throttle);
        assert_eq!(case(&[HOST, GPU[1]], AT[0]), Choice::Throttle);
    }
}
