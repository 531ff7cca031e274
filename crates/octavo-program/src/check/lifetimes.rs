//! When the buffers of a program exist.

use super::error::{ActionFault, ProgramError};
use super::waits::Waits;
use crate::action::{Action, ActionId, Ordered};
use crate::buffer::BufferId;
use crate::buffer::ProgramBuffer;

/// When buffers exist.
pub(super) struct Lifetimes<'a> {
    buffers: &'a [ProgramBuffer],
    actions: &'a [Ordered],
    waits: Waits<'a>,
    /// By buffer: who allocates it.
    allocated: Vec<Option<usize>>,
    /// By buffer: who frees it.
    freed: Vec<Option<usize>>,
    /// By buffer: who uses it.
    users: Vec<Vec<usize>>,
}

impl<'a> Lifetimes<'a> {
    pub fn new(
        buffers: &'a [ProgramBuffer],
        actions: &'a [Ordered],
        order: &'a [ActionId],
    ) -> Result<Self, ProgramError> {
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
        Ok(Self { buffers, actions, waits: Waits::new(actions, order), allocated, freed, users })
    }

    /// Each buffer is allocated, if it is, before it is used, and freed after. Only allocated buffers are freed.
    pub fn check(&self) -> Result<(), ProgramError> {
        let never =
            (0..self.buffers.len()).find(|&buffer| self.allocated[buffer].is_none() && self.freed[buffer].is_some());
        let known = 0..never.unwrap_or(self.buffers.len());
        if let Some((action, before)) = self.waits.missing(known.flat_map(|buffer| self.pairs(buffer))) {
            return Err(self.disordered(action, before));
        }
        match never.and_then(|buffer| Some((buffer, self.freed[buffer]?))) {
            Some((buffer, free)) => Err(self.wrong(free, ActionFault::NotAllocated { name: self.name(buffer) })),
            None => Ok(()),
        }
    }

    /// Actions about a buffer and those that they have to wait for.
    fn pairs(&self, buffer: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let (users, freed) = (&self.users[buffer], self.freed[buffer]);
        let begun = self.allocated[buffer].into_iter();
        let begun =
            begun.flat_map(move |before| users.iter().copied().chain(freed).map(move |action| (action, before)));
        begun.chain(freed.into_iter().flat_map(move |free| users.iter().map(move |&user| (free, user))))
    }

    /// The problem if `action` does not wait for `before`, as it must.
    fn disordered(&self, action: usize, before: usize) -> ProgramError {
        match (&self.actions[action].action, &self.actions[before].action) {
            (_, Action::Allocate(id)) => self.wrong(action, ActionFault::NotAllocated { name: self.name(id.index()) }),
            (Action::Free(id), _) => {
                self.wrong(before, ActionFault::UsedAfterFree { name: self.name(id.index()), free: action })
            }
            _ => unreachable!("only allocations and frees order other actions"),
        }
    }

    fn name(&self, buffer: usize) -> String {
        self.buffers[buffer].buffer.name.clone()
    }

    fn wrong(&self, action: usize, fault: ActionFault) -> ProgramError {
        ProgramError::Action { action, name: self.actions[action].action.name(), fault }
    }
}
