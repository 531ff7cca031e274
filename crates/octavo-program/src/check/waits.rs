//! Which actions wait for which others, directly or through others.

use crate::action::{ActionId, Ordered};

/// Actions that are looked for at once, one for each bit.
const TOGETHER: usize = 128;

/// Answers at once in most programs: where actions follow one another, or all wait for one now and then.
pub(super) struct Waits<'a> {
    actions: &'a [Ordered],
    /// All actions, each behind those that it waits for.
    order: &'a [ActionId],
    /// By action: its place in the order.
    places: Vec<u32>,
    /// By action: how many of the first actions in the order it is known to wait for, without exception.
    all_of_first: Vec<u32>,
}

impl<'a> Waits<'a> {
    pub fn new(actions: &'a [Ordered], order: &'a [ActionId]) -> Self {
        let (mut places, mut all_of_first) = (vec![0; actions.len()], vec![0; actions.len()]);
        for (place, action) in order.iter().enumerate() {
            places[action.index()] = place as u32;
            let through = |before: &ActionId| {
                let (place, all) = (places[before.index()], all_of_first[before.index()]);
                if all == place { place + 1 } else { all }
            };
            all_of_first[action.index()] = actions[action.index()].after.iter().map(through).max().unwrap_or_default();
        }
        Self { actions, order, places, all_of_first }
    }

    /// The first of these pairs whose first action does not wait for its second.
    pub fn missing(&self, pairs: impl Iterator<Item = (usize, usize)>) -> Option<(usize, usize)> {
        let mut asked = Vec::new();
        let mut sources = Vec::new();
        for (action, before) in pairs {
            if self.places[before] >= self.places[action] {
                return self.missing_of(&asked, &sources).or(Some((action, before)));
            }
            if self.places[before] < self.all_of_first[action] {
                continue;
            }
            if sources.last() != Some(&before) {
                if sources.len() == TOGETHER {
                    if let Some(missing) = self.missing_of(&asked, &sources) {
                        return Some(missing);
                    }
                    asked.clear();
                    sources.clear();
                }
                sources.push(before);
            }
            asked.push((action, before, sources.len() - 1));
        }
        self.missing_of(&asked, &sources)
    }

    /// The same of pairs whose second actions are `sources`, by their numbers.
    fn missing_of(&self, asked: &[(usize, usize, usize)], sources: &[usize]) -> Option<(usize, usize)> {
        let first = sources.iter().map(|source| self.places[*source]).min()?;
        let mut own = vec![0u128; self.actions.len()];
        sources.iter().enumerate().for_each(|(number, source)| own[*source] |= 1 << number);
        let mut waits = vec![0u128; self.actions.len()];
        for action in &self.order[first as usize..] {
            let through = |found, before: &ActionId| found | waits[before.index()] | own[before.index()];
            waits[action.index()] = self.actions[action.index()].after.iter().fold(0, through);
        }
        let missing = asked.iter().find(|(action, _, number)| waits[*action] >> number & 1 == 0);
        missing.map(|&(action, before, _)| (action, before))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::action::Action;

    /// Whether `action` waits for `before`, step by step.
    fn waits(actions: &[Ordered], action: usize, before: usize) -> bool {
        actions[action].after.iter().any(|id| id.index() == before || waits(actions, id.index(), before))
    }

    proptest! {
        #[test]
        fn what_does_not_wait_is_found(steps in vec(vec(1usize..6, 0..3), 1..14), pairs in vec((0usize..14, 0usize..14), 1..40)) {
            let after = |(index, back): (usize, &Vec<usize>)| {
                let before = back.iter().filter_map(|back| index.checked_sub(*back));
                Ordered { action: Action::Synchronise, after: before.map(|index| ActionId(index as u32)).collect() }
            };
            let actions: Vec<Ordered> = steps.iter().enumerate().map(after).collect();
            let order: Vec<ActionId> = (0..actions.len() as u32).map(ActionId).collect();
            let pairs: Vec<_> = pairs.into_iter().filter(|(one, other)| one.max(other) < &actions.len()).collect();
            let expected = pairs.iter().find(|(action, before)| !waits(&actions, *action, *before)).copied();
            prop_assert_eq!(Waits::new(&actions, &order).missing(pairs.into_iter()), expected);
        }
    }

    #[test]
    fn many_side_by_side_are_told_apart() {
        let count = 3 * TOGETHER;
        let own = |index: usize| if index < count { Vec::new() } else { vec![ActionId((index - count) as u32)] };
        let actions: Vec<Ordered> =
            (0..2 * count).map(|index| Ordered { action: Action::Synchronise, after: own(index) }).collect();
        let order: Vec<ActionId> = (0..2 * count as u32).map(ActionId).collect();
        let waits = Waits::new(&actions, &order);
        assert_eq!(waits.missing((0..count).map(|index| (count + index, index))), None);
        let wrong = (count + 300, 301);
        assert_eq!(waits.missing((0..300).map(|index| (count + index, index)).chain([wrong])), Some(wrong));
    }
}
