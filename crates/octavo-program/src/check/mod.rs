//! Programs that cannot be.

mod error;
mod lifetimes;
mod waits;

use std::ops::Range;

use octavo_manager::Kind;

pub use self::error::{ActionFault, ProgramError};
use self::lifetimes::Lifetimes;
use crate::action::{Action, ActionId, Ordered};
use crate::buffer::ProgramBuffer;
use crate::buffer::{BufferId, Span};
use crate::host::{HostPhase, Sweep, Threads};
use crate::order::Order;

/// Checks everything that [`Program::new`](crate::program::Program::new) promises.
pub(crate) fn check(buffers: &[ProgramBuffer], actions: &[Ordered], launches: u32) -> Result<(), ProgramError> {
    check_addresses(buffers)?;
    for (index, ordered) in actions.iter().enumerate() {
        let wrong = |fault| ProgramError::Action { action: index, name: ordered.action.name(), fault };
        check_predecessors(&ordered.after, actions.len()).map_err(wrong)?;
        Checked { buffers, launches }.action(&ordered.action).map_err(wrong)?;
    }
    let order = in_order(actions)?;
    Lifetimes::new(buffers, actions, &order)?.check()
}

fn check_addresses(buffers: &[ProgramBuffer]) -> Result<(), ProgramError> {
    for pair in buffers.windows(2) {
        let [before, next] = [&pair[0].buffer, &pair[1].buffer];
        let expected = before.base + before.bytes;
        if next.base < expected {
            return Err(ProgramError::Overlap { name: next.name.clone(), base: next.base, expected });
        }
    }
    Ok(())
}

fn check_predecessors(after: &[ActionId], expected: usize) -> Result<(), ActionFault> {
    match after.iter().find(|before| before.index() >= expected) {
        Some(before) => Err(ActionFault::NoAction { found: before.0, expected }),
        None => Ok(()),
    }
}

/// The checks of actions, one by one.
struct Checked<'a> {
    buffers: &'a [ProgramBuffer],
    launches: u32,
}

impl Checked<'_> {
    fn action(&self, action: &Action) -> Result<(), ActionFault> {
        match action {
            Action::Allocate(buffer) | Action::Free(buffer) => self.buffer(*buffer).map(|_| ()),
            Action::Host(phase) => self.host(phase),
            Action::Copy { from, to } => self.copy(from, to),
            Action::Prefetch { span, .. } | Action::Advise { span, .. } => self.moving(span),
            Action::Discard(span) => match self.span(span)? {
                found if found.kind == Kind::Managed => Ok(()),
                found => Err(wrong_kind(found, "managed memory")),
            },
            Action::Launch { launch, buffers } => {
                if *launch >= self.launches {
                    return Err(ActionFault::NoLaunch { found: *launch, expected: self.launches });
                }
                buffers.iter().try_for_each(|buffer| self.buffer(*buffer).map(|_| ()))
            }
            Action::Synchronise => Ok(()),
        }
    }

    fn buffer(&self, id: BufferId) -> Result<&ProgramBuffer, ActionFault> {
        self.buffers.get(id.index()).ok_or(ActionFault::NoBuffer { found: id.0, expected: self.buffers.len() })
    }

    fn span(&self, span: &Span) -> Result<&ProgramBuffer, ActionFault> {
        let found = self.buffer(span.buffer)?;
        let Range { start, end } = span.bytes;
        if start < end && end <= found.buffer.bytes {
            return Ok(found);
        }
        let (name, bytes) = (found.buffer.name.clone(), found.buffer.bytes);
        Err(ActionFault::NoBytes { name, found: start..end, bytes })
    }

    fn moving(&self, span: &Span) -> Result<(), ActionFault> {
        let found = self.span(span)?;
        if found.kind.stays() { Err(wrong_kind(found, "managed or system memory, whose pages move")) } else { Ok(()) }
    }

    fn copy(&self, from: &Span, to: &Span) -> Result<(), ActionFault> {
        let ends = [self.span(from)?, self.span(to)?];
        if from.len() != to.len() {
            return Err(ActionFault::Unequal { from: from.len(), to: to.len() });
        }
        if ends.iter().all(|end| end.kind != Kind::Device) {
            return Err(wrong_kind(ends[1], "device memory on one side of a copy at least"));
        }
        if let Some(managed) = ends.iter().find(|end| end.kind == Kind::Managed) {
            return Err(wrong_kind(managed, "device memory, or system or pinned memory on one side of a copy"));
        }
        if from.buffer == to.buffer && from.bytes.start < to.bytes.end && to.bytes.start < from.bytes.end {
            return Err(ActionFault::OntoItself { name: ends[0].buffer.name.clone() });
        }
        Ok(())
    }

    fn host(&self, phase: &HostPhase) -> Result<(), ActionFault> {
        if phase.threads == 0 {
            return Err(ActionFault::NoThread { found: 0, threads: 0 });
        }
        phase.sweeps.iter().try_for_each(|sweep| self.sweep(sweep, phase.threads))
    }

    fn sweep(&self, sweep: &Sweep, threads: u32) -> Result<(), ActionFault> {
        let found = self.span(&sweep.span)?;
        if !found.kind.on_host() {
            return Err(wrong_kind(found, "managed, system or pinned memory, which the host can touch"));
        }
        if let Threads::One(thread) = sweep.by
            && thread >= threads
        {
            return Err(ActionFault::NoThread { found: thread, threads });
        }
        let &Sweep { width, stride, .. } = sweep;
        if width == 0 || width > stride { Err(ActionFault::Stride { width, stride }) } else { Ok(()) }
    }
}

fn wrong_kind(found: &ProgramBuffer, expected: &'static str) -> ActionFault {
    ActionFault::Kind { name: found.buffer.name.clone(), kind: found.kind, expected }
}

/// The actions, each behind those that it waits for; those never reached wait for themselves.
fn in_order(actions: &[Ordered]) -> Result<Vec<ActionId>, ProgramError> {
    let mut order = Order::new(actions);
    let mut ready: Vec<_> = order.ready().collect();
    let mut reached = vec![false; actions.len()];
    let mut all = Vec::with_capacity(actions.len());
    while let Some(action) = ready.pop() {
        reached[action.index()] = true;
        all.push(action);
        order.done(action, &mut ready);
    }
    match reached.iter().position(|reached| !reached) {
        Some(action) => Err(ProgramError::Circle { action, name: actions[action].action.name() }),
        None => Ok(all),
    }
}
