//! When the buffers of a program exist.

use super::error::{ActionFault, ProgramError};
use crate::action::{Action, ActionId, BufferId, Ordered};
use crate::order::Order;
use crate::program::ProgramBuffer;

/// When buffers exist.
pub(super) struct Lifetimes<'a> {
    buffers: &'a [ProgramBuffer],
    actions: &'a [Ordered],
    order: &'a Order,
    /// By buffer: who allocates it.
    allocated: Vec<Option<usize>>,
    /// By buffer: who frees it.
    freed: Vec<Option<usize>>,
    /// By buffer: who uses it.
    users: Vec<Vec<usize>>,
}

impl<'a> Lifetimes<'a> {
    pub fn new(buffers: &'a [ProgramBuffer], actions: &'a [Ordered], order: &'a Order) -> Result<Self, ProgramError> {
        let (mut allocated, mut freed) = (vec![None; buffers.len()], vec![None; buffers.len()]);
        let mut users = vec![Vec::new(); buffers.len()];
        for (index, ordered) in actions.iter().enumerate() {
            let name = |id: BufferId| buffers[id.index()].buffer.name.clone();
            let twice = match ordered.action {
                Action::Allocate(id) => allocated[id.index()]
                    .replace(index)
                    .map(|first| ActionFault::AllocatedTwice { name: name(id), first }),
                Action::Free(id) => {
                    freed[id.index()].replace(index).map(|first| ActionFault::FreedTwice { name: name(id), first })
                }
                _ => None,
            };
            if let Some(fault) = twice {
                return Err(ProgramError::Action { action: index, name: ordered.action.name(), fault });
            }
            ordered.action.uses(|id| users[id.index()].push(index));
        }
        Ok(Self { buffers, actions, order, allocated, freed, users })
    }

    /// Each buffer is allocated, if it is, before it is used, and freed after. Only what is allocated is freed.
    pub fn check(&self) -> Result<(), ProgramError> {
        (0..self.buffers.len()).try_for_each(|buffer| {
            let name = || self.buffers[buffer].buffer.name.clone();
            let early = match self.allocated[buffer] {
                Some(allocation) => {
                    let reached = self.reach(allocation);
                    let mut users = self.users[buffer].iter().chain(&self.freed[buffer]);
                    users.find(|user| !reached[**user]).copied()
                }
                None => self.freed[buffer],
            };
            if let Some(user) = early {
                return Err(self.wrong(user, ActionFault::NotAllocated { name: name() }));
            }
            let Some(free) = self.freed[buffer] else { return Ok(()) };
            let waited_for = self.waited_for(free);
            match self.users[buffer].iter().find(|user| !waited_for[**user]) {
                Some(&user) => Err(self.wrong(user, ActionFault::UsedAfterFree { name: name(), free })),
                None => Ok(()),
            }
        })
    }

    fn wrong(&self, action: usize, fault: ActionFault) -> ProgramError {
        ProgramError::Action { action, name: self.actions[action].action.name(), fault }
    }

    /// By action: whether it waits for `from`, directly or through others.
    fn reach(&self, from: usize) -> Vec<bool> {
        spread(self.actions.len(), from, |action| self.order.followers(action))
    }

    /// By action: whether `from` waits for it, directly or through others.
    fn waited_for(&self, from: usize) -> Vec<bool> {
        spread(self.actions.len(), from, |action| &self.actions[action.index()].after)
    }
}

/// By action: whether a step of `next`, or several, lead there from `from`.
fn spread<'a>(actions: usize, from: usize, next: impl Fn(ActionId) -> &'a [ActionId]) -> Vec<bool> {
    let mut reached = vec![false; actions];
    let mut open = vec![ActionId(from as u32)];
    while let Some(action) = open.pop() {
        for &found in next(action) {
            if !std::mem::replace(&mut reached[found.index()], true) {
                open.push(found);
            }
        }
    }
    reached
}
