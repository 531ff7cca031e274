//! A whole program: buffers with kinds, and actions in a partial order.

use std::ops::Range;

use octavo_manager::{Kind, Spread};

use crate::action::{Action, ActionId, Ordered};
use crate::buffer::{BUFFER_ALIGNMENT, Buffer, BufferId, ProgramBuffer, Span};
use crate::check::{ProgramError, check};
use crate::order::Order;
use crate::padding::padded;

/// A program from its first allocation to its last free. Callers may rely on the checks of [`Program::new`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    buffers: Vec<ProgramBuffer>,
    actions: Vec<Ordered>,
}

impl Program {
    /// A program over a workload of this many launches. Actions may be listed in any order.
    ///
    /// # Errors
    /// The first contradiction:
    ///
    /// - buffers that overlap or are not in address order,
    /// - an action on a buffer that does not exist, is too small, does not exist at that time or has the wrong kind,
    /// - a buffer that is allocated or freed twice,
    /// - actions that wait for one that does not exist, or for each other.
    pub fn new(buffers: Vec<ProgramBuffer>, actions: Vec<Ordered>, launches: u32) -> Result<Self, ProgramError> {
        check(&buffers, &actions, launches)?;
        Ok(Self { buffers, actions })
    }

    /// The buffers in address order; a [`BufferId`] is an index.
    #[must_use]
    pub fn buffers(&self) -> &[ProgramBuffer] {
        &self.buffers
    }

    /// The actions; an [`ActionId`] is an index.
    #[must_use]
    pub fn actions(&self) -> &[Ordered] {
        &self.actions
    }

    /// The same with its buffers this many bytes and its launches this many numbers further on, where they are as part
    /// of a [`Mix`](crate::Mix).
    #[must_use]
    pub fn moved(&self, bytes: u64, launches: u32) -> Self {
        let mut moved = self.clone();
        moved.buffers.iter_mut().for_each(|buffer| buffer.buffer.base += bytes);
        for ordered in &mut moved.actions {
            if let Action::Launch { launch, .. } = &mut ordered.action {
                *launch += launches;
            }
        }
        moved
    }

    /// The same with managed buffers rounded up to whole prefetch trees, as far as no other one lies there. Nothing
    /// accesses the additional part.
    #[must_use]
    pub fn padded(&self) -> Self {
        let which = self.buffers.iter().map(|buffer| (&buffer.buffer, buffer.kind == Kind::Managed));
        let buffers = padded(which).into_iter().zip(&self.buffers);
        let buffers = buffers.map(|(buffer, old)| ProgramBuffer { buffer, ..old.clone() }).collect();
        Self { buffers, actions: self.actions.clone() }
    }

    /// First byte and end of the pages that lie in `span` as a whole; what lies behind a buffer's end is nobody's.
    #[must_use]
    pub fn whole_pages(&self, span: &Span, page_bytes: u64) -> Range<u64> {
        let Buffer { base, bytes, .. } = self.buffers[span.buffer.index()].buffer;
        let (start, end) = (base + span.bytes.start, base + span.bytes.end);
        let last =
            if span.bytes.end == bytes { end.next_multiple_of(page_bytes) } else { end / page_bytes * page_bytes };
        start.next_multiple_of(page_bytes)..last
    }

    /// The buffers that are used but that no action allocates: they exist when the program begins, such as global
    /// variables and code.
    pub fn loaded(&self) -> impl Iterator<Item = &ProgramBuffer> {
        let mut loaded = vec![false; self.buffers.len()];
        self.actions.iter().for_each(|ordered| ordered.action.uses(|id| loaded[id.index()] = true));
        for ordered in &self.actions {
            if let Action::Allocate(id) = ordered.action {
                loaded[id.index()] = false;
            }
        }
        self.those(loaded)
    }

    /// The buffers that exist when all actions are done.
    pub fn kept(&self) -> impl Iterator<Item = &ProgramBuffer> {
        let mut kept = vec![false; self.buffers.len()];
        for ordered in &self.actions {
            match ordered.action {
                Action::Allocate(id) => kept[id.index()] = true,
                _ => ordered.action.uses(|id| kept[id.index()] = true),
            }
        }
        for ordered in &self.actions {
            if let Action::Free(id) = ordered.action {
                kept[id.index()] = false;
            }
        }
        self.those(kept)
    }

    fn those(&self, chosen: Vec<bool>) -> impl Iterator<Item = &ProgramBuffer> {
        self.buffers.iter().zip(chosen).filter_map(|(buffer, chosen)| chosen.then_some(buffer))
    }

    /// The order of the actions, none of which is done.
    #[must_use]
    pub fn order(&self) -> Order {
        Order::new(&self.actions)
    }
}

/// A program under construction. Actions form a chain unless their predecessors are given.
#[derive(Clone, Debug, Default)]
pub struct ProgramBuilder {
    buffers: Vec<ProgramBuffer>,
    actions: Vec<Ordered>,
}

impl ProgramBuilder {
    /// Adds a buffer, which lies behind those before it.
    pub fn buffer(&mut self, buffer: Buffer, kind: Kind, spread: Spread) -> BufferId {
        self.buffers.push(ProgramBuffer { buffer, kind, spread });
        BufferId(self.buffers.len() as u32 - 1)
    }

    /// Size of a buffer that was added.
    #[must_use]
    pub fn bytes(&self, buffer: BufferId) -> u64 {
        self.buffers[buffer.index()].buffer.bytes
    }

    /// The next address for a buffer behind those that were added.
    #[must_use]
    pub fn end(&self) -> u64 {
        let last = self.buffers.last().map_or(0, |last| last.buffer.base + last.buffer.bytes);
        last.next_multiple_of(BUFFER_ALIGNMENT)
    }

    /// Adds an action that waits for the one added last, if there is one.
    pub fn then(&mut self, action: Action) -> ActionId {
        let last = self.actions.len().checked_sub(1).map(|index| ActionId(index as u32));
        self.after(last.as_slice(), action)
    }

    /// Adds an action that waits for those alone.
    pub fn after(&mut self, before: &[ActionId], action: Action) -> ActionId {
        self.actions.push(Ordered { action, after: before.to_vec() });
        ActionId(self.actions.len() as u32 - 1)
    }

    /// The program, over a workload of this many launches.
    ///
    /// # Errors
    /// As for [`Program::new`].
    pub fn build(self, launches: u32) -> Result<Program, ProgramError> {
        Program::new(self.buffers, self.actions, launches)
    }
}
