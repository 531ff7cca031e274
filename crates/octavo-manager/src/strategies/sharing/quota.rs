//! `quota`: each address space is guaranteed a share of each GPU's memory.
//!
//! Unused memory may be borrowed. It is given back when another address space needs room: those above their shares
//! give up pages first; if there are none, the address space that needs room gives up its own pages.

use std::collections::BTreeMap;

use octavo_registry::{Entry, OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Sharing, Shortage, Yield};
use crate::contract::geometry::Geometry;
use crate::contract::ids::SpaceId;

/// Options of `quota`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// By the name of a job: its guaranteed share of the memory of each of its GPUs, above 0 and at most 1. Jobs that
    /// are not named have equal parts of what the others leave (ours).
    shares: BTreeMap<String, f64>,
}

pub(super) static ENTRY: Entry<Box<dyn Sharing>, Geometry> = Entry {
    name: "quota",
    summary: "guarantees each address space a share of each GPU's memory; what others do not use may be borrowed",
    source: "ours; proportional shares with borrowing as in max-min fairness",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        let Options { shares } = typed::parse(options)?;
        if let Some((name, share)) = shares.iter().find(|(_, share)| !(**share > 0.0 && **share <= 1.0)) {
            let message = format!("expected more than 0 and at most 1, found {share}");
            return Err(OptionError::new(&format!("shares.{name}"), message));
        }
        Ok(Box::new(Quota { shares, above: Vec::new() }))
    },
};

struct Quota {
    /// Shares that were said, by name.
    shares: BTreeMap<String, f64>,
    /// Pages of each address space above its share; kept for its capacity.
    above: Vec<(SpaceId, i64)>,
}

impl Sharing for Quota {
    fn yields(&mut self, shortage: &Shortage<'_>, yields: &mut Vec<Yield>) {
        self.measure(shortage);
        let Some(asking) = shortage.asking else { return self.level(shortage.wanted, yields) };
        let others = self.above.iter().filter(|(space, _)| *space != asking);
        yields.extend(others.clone().filter(|(_, above)| *above > 0).map(|&(space, above)| most(space, above)));
        if shortage.held(asking) > 0 {
            yields.push(Yield { space: asking, most: u32::MAX });
        } else if yields.is_empty() {
            // All frames are guaranteed to others, and held by them: who has none must still go on.
            yields.extend(others.take(1).map(|&(space, _)| most(space, shortage.wanted.into())));
        }
    }
}

impl Quota {
    /// The spaces that hold anything, and by how much each exceeds its share, the largest excess first.
    fn measure(&mut self, shortage: &Shortage<'_>) {
        let shares = Shares::of(&self.shares, shortage);
        let holders = shortage.spaces().filter(|&space| shortage.held(space) > 0);
        let above = |space| i64::from(shortage.held(space)) - i64::from(shares.guaranteed(space, shortage));
        self.above.clear();
        self.above.extend(holders.map(|space| (space, above(space))));
        self.above.sort_by_key(|&(_, above)| std::cmp::Reverse(above));
    }

    /// No space requested room: the spaces furthest above their shares come down to one common level.
    fn level(&self, wanted: u32, yields: &mut Vec<Yield>) {
        let above = |level: i64| self.above.iter().map(move |&(space, above)| (space, (above - level).max(0)));
        let enough = |level: i64| above(level).map(|(_, pages)| pages).sum::<i64>() >= i64::from(wanted);
        let highest = self.above.first().map_or(0, |&(_, above)| above);
        let (mut low, mut high) = (highest - i64::from(wanted), highest);
        while low < high {
            let middle = low + (high - low + 1) / 2;
            if enough(middle) { low = middle } else { high = middle - 1 }
        }
        yields.extend(above(low).filter(|(_, pages)| *pages > 0).map(|(space, pages)| most(space, pages)));
        // Where pages of the others are busy, the last one gives up more.
        yields.last_mut().into_iter().for_each(|last| last.most = u32::MAX);
    }
}

fn most(space: SpaceId, pages: i64) -> Yield {
    Yield { space, most: pages as u32 }
}

/// How a memory is divided among the address spaces that have their home there.
struct Shares<'a> {
    said: &'a BTreeMap<String, f64>,
    room: u32,
    /// The divisor of shares: more than 1 if more was promised than exists.
    promised: f64,
    /// The pages of each space that requested no share.
    equal: u32,
}

impl<'a> Shares<'a> {
    fn of(said: &'a BTreeMap<String, f64>, shortage: &Shortage<'_>) -> Self {
        let home = || shortage.spaces().filter(|&space| shortage.at_home(space));
        let named = || home().filter_map(|space| said.get(shortage.name(space)).copied());
        let promised = named().sum::<f64>().max(1.0);
        let mut shares = Self { said, room: shortage.room(), promised, equal: 0 };
        let rest = shares.room - named().map(|share| shares.pages(share)).sum::<u32>().min(shares.room);
        let others = home().count() - named().count();
        shares.equal = rest / (others.max(1) as u32);
        shares
    }

    /// Pages that an address space is guaranteed; none where it is a guest.
    fn guaranteed(&self, space: SpaceId, shortage: &Shortage<'_>) -> u32 {
        match self.said.get(shortage.name(space)) {
            _ if !shortage.at_home(space) => 0,
            Some(&share) => self.pages(share),
            None => self.equal,
        }
    }

    fn pages(&self, share: f64) -> u32 {
        (f64::from(self.room) * share / self.promised) as u32
    }
}

#[cfg(test)]
mod tests {
    use octavo_registry::Choice;
    use octavo_units::Bytes;

    use super::super::SHARINGS;
    use super::*;
    use crate::contract::event::Allocation;
    use crate::contract::ids::{MemoryId, PageId, PageRun, ProcessorId};
    use crate::contract::masks::ProcessorMask;
    use crate::contract::topology::Topology;
    use crate::memories::frames::Frames;
    use crate::pages::tenants::Tenants;

    /// The guaranteed parts of two jobs on the first GPU's memory: 20 pages, of which four cannot leave.
    fn guaranteed(said: &[(&str, f64)], gpus: [usize; 2]) -> [u32; 2] {
        let mut tenants = Tenants::default();
        for (space, gpu) in [SpaceId(0), SpaceId(1)].into_iter().zip(gpus) {
            let run = PageRun { first: PageId(u32::from(space.0) * 8), count: 8 };
            tenants.set_name(space, ["one", "two"][usize::from(space.0)]);
            let gpus = ProcessorMask::only(ProcessorId::gpu(gpu));
            tenants.allocated(&Allocation { space, gpus, ..run.into() }, ProcessorMask::all_gpus(2));
        }
        let (memory, frames) = (MemoryId::gpu(0), Frames::new(&Topology::of(vec![20, 20])));
        let shortage =
            Shortage { memory, wanted: 1, asking: None, awaiting: 3, staying: 1, tenants: &tenants, frames: &frames };
        let said = said.iter().map(|&(name, share)| (name.to_owned(), share)).collect();
        let shares = Shares::of(&said, &shortage);
        [0, 1].map(|space| shares.guaranteed(SpaceId(space), &shortage))
    }

    #[test]
    fn what_cannot_leave_is_shared_by_nobody() {
        assert_eq!(guaranteed(&[], [0, 0]), [8, 8]);
    }

    #[test]
    fn shares_of_more_than_there_is_are_cut_alike() {
        assert_eq!(guaranteed(&[("one", 0.8), ("two", 0.8)], [0, 0]), [8, 8]);
    }

    #[test]
    fn a_guest_is_guaranteed_nothing() {
        assert_eq!(guaranteed(&[], [1, 0]), [0, 16]);
        assert_eq!(guaranteed(&[("one", 0.5)], [1, 0]), [0, 16]);
    }

    #[test]
    fn a_share_is_more_than_nothing_and_at_most_all() {
        let refused = |share: f64| {
            let options = serde_json::json!({ "shares": { "one": share } }).as_object().unwrap().clone();
            let choice = Choice { name: "quota".to_owned(), options };
            SHARINGS.build(&choice, &Geometry { gpus: 1, page_size: Bytes(4 << 10) }).is_err()
        };
        assert_eq!([0.0, 0.1, 1.0, 1.1].map(refused), [true, false, false, true]);
    }
}
