//! The context of a program on its GPUs: the first call that needs one creates it, and takes the longer for it.

use octavo_manager::Kind;
use octavo_program::{Action, ProgramBuffer};

use crate::machine::node::Node;
use crate::machine::occurrence::{Happening, Listen};
use crate::machine::phase::{Doing, Phase};
use crate::machine::program::Context;

/// Its name in tables.
const NAME: &str = "context";

impl<L: Listen> Node<'_, L> {
    /// The time when an action can begin that has to wait for its program's context. The first action that needs one
    /// creates it.
    pub(super) fn context_awaited(&mut self, (job, id): Doing) -> Option<u64> {
        let (cost, now) = (self.hardware.config.host.costs.context.0, self.hardware.clock.now());
        let whole = self.programs.of(job);
        if cost == 0 || !needs_gpu(&whole.program.actions()[id.index()].action, whole.program.buffers()) {
            return None;
        }
        match whole.context {
            Context::Ready => None,
            Context::None => {
                whole.context = Context::Created { began: now, ready: now + cost };
                Some(now + cost)
            }
            Context::Created { ready, .. } if now < ready => Some(ready),
            Context::Created { began, .. } => {
                whole.context = Context::Ready;
                let phase = Phase::Context;
                self.hardware.say(Happening::Phase { job, action: id.0, phase, name: NAME, began, ended: now });
                None
            }
        }
    }
}

/// Whether an action is a call of the GPU's runtime; `malloc` and the host's computing do not count.
fn needs_gpu(action: &Action, buffers: &[ProgramBuffer]) -> bool {
    match action {
        Action::Allocate(buffer) | Action::Free(buffer) => buffers[buffer.index()].kind != Kind::System,
        Action::Host(_) => false,
        Action::Copy { .. }
        | Action::Prefetch { .. }
        | Action::Discard(_)
        | Action::Advise { .. }
        | Action::Launch { .. }
        | Action::Synchronise => true,
    }
}
