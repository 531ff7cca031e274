//! Whose pages leave a full memory: everyone's in one order, or by the shares that address spaces have of it.

use std::cmp::Reverse;

use octavo_manager::{Kind, ProcessorId};

use super::kinds::Moves;
use super::leaving::{Look, Order};
use super::model::Model;

/// Somebody's pages are to leave.
#[derive(Clone, Copy)]
pub(super) struct Need {
    pub pages: usize,
    /// Fewer are of no use.
    pub all: bool,
    /// The address space of the page that needs the room, if a page needs it that moves itself.
    pub asking: Option<u16>,
}

impl Model {
    /// Pages that leave; none if all that are needed cannot. They are out of the order in which pages leave.
    pub(super) fn choose(&mut self, gpu: ProcessorId, need: Need) -> Vec<u32> {
        if self.rules.quota.is_some() {
            return self.choose_by_shares(gpu, need);
        }
        let victims = self.candidates(gpu, 0, need.pages);
        if need.all && victims.len() < need.pages {
            return Vec::new();
        }
        victims.iter().for_each(|&victim| self.orders[0].left(gpu, victim));
        victims
    }

    /// Each address space gives up what it may, until there is enough room. A page that was chosen and stays after all
    /// is the next to leave.
    fn choose_by_shares(&mut self, gpu: ProcessorId, need: Need) -> Vec<u32> {
        let (mut victims, mut for_others) = (Vec::new(), 0);
        for (space, most) in self.yields(gpu, need) {
            let left = need.pages.saturating_sub(victims.len());
            let mut chosen = self.candidates(gpu, space, left.min(most));
            chosen.iter().for_each(|&page| self.order(page).left(gpu, page));
            let beyond = chosen.split_off(most.min(chosen.len()));
            self.stay(gpu, &beyond);
            for_others += if need.asking.is_some_and(|asking| asking != space) { chosen.len() } else { 0 };
            victims.extend(chosen);
        }
        if need.all && victims.len() < need.pages {
            self.stay(gpu, &victims);
            return Vec::new();
        }
        self.counts.evictions_for_others += for_others as u64;
        victims
    }

    fn stay(&mut self, gpu: ProcessorId, chosen: &[u32]) {
        chosen.iter().rev().for_each(|&page| self.order(page).restored(gpu, page));
    }

    /// The next pages to evict: of one address space where they are told apart, else of anyone.
    fn candidates(&mut self, gpu: ProcessorId, space: u16, wanted: usize) -> Vec<u32> {
        let whose = if self.rules.quota.is_some() { usize::from(space) } else { 0 };
        let mut order = std::mem::replace(&mut self.orders[whose], Order::Nobody);
        let own = |page| self.rules.quota.is_none() || self.spaces[&page] == space;
        let leaves = |page| self.pages.get(&page).is_some_and(|state| state.fills(gpu)) && self.kind(page).moves();
        let here = |page| leaves(page) && own(page);
        let (busy, extent) = (|page| self.busy(page), |page| self.extent(page));
        let victims = order.victims(gpu, wanted, &Look { here: &here, busy: &busy, extent: &extent });
        self.orders[whose] = order;
        victims
    }

    /// The order in which the pages of a page's address space leave.
    pub(super) fn order(&mut self, page: u32) -> &mut Order {
        let told_apart = self.rules.quota.is_some();
        &mut self.orders[if told_apart { usize::from(self.spaces[&page]) } else { 0 }]
    }

    /// Which address spaces give up pages, in this order, and how many at most.
    fn yields(&self, gpu: ProcessorId, need: Need) -> Vec<(u16, usize)> {
        let mut above: Vec<(u16, i64)> = [0, 1]
            .into_iter()
            .filter(|&space| self.held_of(gpu, space) > 0)
            .map(|space| (space, self.held_of(gpu, space) - self.guaranteed(gpu, space)))
            .collect();
        above.sort_by_key(|&(_, above)| Reverse(above));
        let Some(asking) = need.asking else { return level(&above, need.pages) };
        let other = above.iter().find(|(space, _)| *space != asking).copied();
        let gives = other.filter(|(_, above)| *above > 0).map(|(space, above)| (space, above as usize));
        match (self.held_of(gpu, asking) > 0, gives) {
            (true, gives) => gives.into_iter().chain([(asking, usize::MAX)]).collect(),
            (false, Some(gives)) => vec![gives],
            (false, None) => other.map(|(space, _)| (space, need.pages)).into_iter().collect(),
        }
    }

    /// Frames of a GPU that hold pages of an address space which can leave.
    fn held_of(&self, gpu: ProcessorId, space: u16) -> i64 {
        let own = |(page, state): &(&u32, &super::page::Page)| {
            self.spaces[page] == space && self.kind(**page).moves() && state.fills(gpu)
        };
        self.pages.iter().filter(own).count() as i64
    }

    /// Frames of a GPU that an address space is guaranteed: its share of those that are not taken for good, or an equal
    /// part of what the others leave. No more is promised than there is.
    fn guaranteed(&self, gpu: ProcessorId, space: u16) -> i64 {
        let shares = self.rules.quota.expect("there are shares");
        let there = |space: u16| self.spaces.values().any(|other| *other == space);
        let said = |space: u16| shares[usize::from(space)].filter(|_| there(space)).map(i64::from);
        let taken = |(page, state): &(&u32, &super::page::Page)| self.kind(**page) == Kind::Device && state.fills(gpu);
        let taken = self.pages.iter().filter(taken).count() as i64;
        let room = (i64::from(self.capacity(gpu)) - taken).max(0);
        let promised = (said(0).unwrap_or(0) + said(1).unwrap_or(0)).max(8);
        let part = |eighths: i64| room * eighths / promised;
        let equal = [0, 1].into_iter().filter(|&space| there(space) && said(space).is_none()).count() as i64;
        match said(space) {
            _ if !there(space) => 0,
            Some(eighths) => part(eighths),
            None => (room - [0, 1].into_iter().filter_map(said).map(part).sum::<i64>()) / equal,
        }
    }
}

/// No space asked for room: those furthest above their shares give up pages one by one, until that is enough. The last
/// to be asked may give up more, where pages of the others are busy.
fn level(above: &[(u16, i64)], wanted: usize) -> Vec<(u16, usize)> {
    let mut line = above.first().map_or(0, |(_, above)| *above);
    let sum = |line: i64| above.iter().map(|(_, above)| (above - line).max(0)).sum::<i64>();
    while !above.is_empty() && sum(line) < wanted as i64 {
        line -= 1;
    }
    let mut yields: Vec<(u16, usize)> = above
        .iter()
        .filter(|(_, above)| *above > line)
        .map(|&(space, above)| (space, (above - line) as usize))
        .collect();
    yields.last_mut().into_iter().for_each(|(_, most)| *most = usize::MAX);
    yields
}
