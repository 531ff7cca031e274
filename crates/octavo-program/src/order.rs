//! The order of a program's actions, followed while it runs.

use crate::action::{ActionId, Ordered};

/// Which actions still wait for how many others.
#[derive(Clone, Debug)]
pub struct Order {
    /// By action: the actions that it waits for and that are not done.
    waiting_for: Vec<u32>,
    /// By action: where its followers begin in `followers`; one more entry than actions.
    first_follower: Vec<u32>,
    followers: Vec<ActionId>,
}

impl Order {
    /// None of `actions` is done; all the actions that they wait for are among them.
    #[must_use]
    pub fn new(actions: &[Ordered]) -> Self {
        let mut first_follower = vec![0; actions.len() + 1];
        for before in actions.iter().flat_map(|ordered| &ordered.after) {
            first_follower[before.index() + 1] += 1;
        }
        for index in 0..actions.len() {
            first_follower[index + 1] += first_follower[index];
        }
        let mut next = first_follower.clone();
        let mut followers = vec![ActionId(0); first_follower[actions.len()] as usize];
        for (index, ordered) in actions.iter().enumerate() {
            for before in &ordered.after {
                followers[next[before.index()] as usize] = ActionId(index as u32);
                next[before.index()] += 1;
            }
        }
        let waiting_for = actions.iter().map(|ordered| ordered.after.len() as u32).collect();
        Self { waiting_for, first_follower, followers }
    }

    /// The actions that wait for none, in ascending order; called before any is done, they are the first to begin.
    pub fn ready(&self) -> impl Iterator<Item = ActionId> {
        let free = self.waiting_for.iter().enumerate().filter(|(_, count)| **count == 0);
        free.map(|(index, _)| ActionId(index as u32))
    }

    /// `action` is done, for the first time. Appends those that waited for it last of all, in ascending order.
    pub fn done(&mut self, action: ActionId, ready: &mut Vec<ActionId>) {
        for index in self.first_follower[action.index()]..self.first_follower[action.index() + 1] {
            let follower = self.followers[index as usize];
            let waiting = &mut self.waiting_for[follower.index()];
            *waiting -= 1;
            if *waiting == 0 {
                ready.push(follower);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::Action;

    #[test]
    fn an_action_is_ready_when_all_before_it_are_done() {
        let action = |after: &[u32]| Ordered {
            action: Action::Synchronise,
            after: after.iter().copied().map(ActionId).collect(),
        };
        let mut order = Order::new(&[action(&[]), action(&[]), action(&[0, 1]), action(&[0])]);
        assert_eq!(order.ready().collect::<Vec<_>>(), [ActionId(0), ActionId(1)]);
        let mut ready = Vec::new();
        order.done(ActionId(0), &mut ready);
        assert_eq!(ready, [ActionId(3)]);
        order.done(ActionId(1), &mut ready);
        assert_eq!(ready, [ActionId(3), ActionId(2)]);
    }
}
