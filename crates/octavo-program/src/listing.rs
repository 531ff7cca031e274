//! A program as data that people and other programs read: names instead of numbers, one line for each action.

use octavo_manager::{Access, Advice, Kind, Spread};
use serde::Serialize;

use crate::action::{Action, ActionId};
use crate::buffer::ProgramBuffer;
use crate::buffer::Span;
use crate::host::HostPhase;
use crate::launches::Workload;
use crate::program::Program;

/// A whole program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listing {
    /// Its buffers, in address order.
    pub buffers: Vec<ListedBuffer>,
    /// Its actions, by number.
    pub actions: Vec<ListedAction>,
}

/// A buffer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedBuffer {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// What it is.
    pub kind: Kind,
    /// The distribution of device memory over several GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// The GPU, from 0, whose memory the program requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<u8>,
}

/// An action.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedAction {
    /// What it does.
    pub action: &'static str,
    /// Name of the phase or of the kernel, and the number of the launch; the advice given, or the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Bytes that it allocates, touches, copies, prefetches, discards or frees.
    pub bytes: u64,
    /// The buffers that it names: of a copy, source and destination.
    pub buffers: Vec<String>,
    /// The actions it waits for.
    pub after: Vec<u32>,
}

impl Listing {
    /// `program`, which is one over `workload`.
    #[must_use]
    pub fn new(program: &Program, workload: &dyn Workload) -> Self {
        let buffers = program.buffers().iter().map(ListedBuffer::new).collect();
        let names = Names { buffers: program.buffers(), workload };
        let actions = program.actions().iter().map(|ordered| names.action(&ordered.action, &ordered.after));
        Self { buffers, actions: actions.collect() }
    }
}

impl ListedBuffer {
    fn new(found: &ProgramBuffer) -> Self {
        let device = found.kind == Kind::Device;
        Self {
            name: found.buffer.name.clone(),
            bytes: found.buffer.bytes,
            kind: found.kind,
            spread: (device && found.buffer.gpu == 0).then_some(found.spread),
            gpu: found.buffer.gpu.checked_sub(1).filter(|_| device),
        }
    }
}

/// What numbers stand for.
struct Names<'a> {
    buffers: &'a [ProgramBuffer],
    workload: &'a dyn Workload,
}

impl Names<'_> {
    fn action(&self, action: &Action, after: &[ActionId]) -> ListedAction {
        let (what, bytes, buffers) = match action {
            Action::Allocate(buffer) | Action::Free(buffer) => {
                let found = &self.buffers[buffer.index()].buffer;
                (None, found.bytes, vec![found.name.clone()])
            }
            Action::Host(phase) => self.host(phase),
            Action::Copy { from, to } => (None, from.len(), vec![self.name(from), self.name(to)]),
            Action::Prefetch { span, to } => (Some(to.to_string()), span.len(), vec![self.name(span)]),
            Action::Discard(span) => (None, span.len(), vec![self.name(span)]),
            Action::Advise { span, advice } => (Some(advised(*advice)), span.len(), vec![self.name(span)]),
            Action::Launch { launch, .. } => {
                (Some(format!("{} {launch}", self.workload.launch(*launch).kernel)), 0, Vec::new())
            }
            Action::Synchronise => (None, 0, Vec::new()),
        };
        ListedAction { action: action.name(), what, bytes, buffers, after: after.iter().map(|id| id.0).collect() }
    }

    fn host(&self, phase: &HostPhase) -> (Option<String>, u64, Vec<String>) {
        let reads = phase.sweeps.iter().all(|sweep| sweep.access == Access::Read);
        let bytes = phase.sweeps.iter().map(|sweep| sweep.span.len()).sum();
        let buffers = phase.sweeps.iter().map(|sweep| self.name(&sweep.span)).collect();
        let what = format!("{} ({})", phase.name, if reads { "reads" } else { "writes" });
        (Some(what), bytes, buffers)
    }

    fn name(&self, span: &Span) -> String {
        self.buffers[span.buffer.index()].buffer.name.clone()
    }
}

fn advised(advice: Advice) -> String {
    let preferred = advice.preferred.map(|processor| format!("preferred location {processor}"));
    let names: Vec<_> = advice.accessed_by.iter().map(|processor| processor.to_string()).collect();
    let accessed = (!names.is_empty()).then(|| format!("accessed by {}", names.join(" and ")));
    let read = advice.read_mostly.then(|| "read mostly".to_owned());
    let said: Vec<_> = [preferred, accessed, read].into_iter().flatten().collect();
    if said.is_empty() { "nothing".to_owned() } else { said.join(", ") }
}
