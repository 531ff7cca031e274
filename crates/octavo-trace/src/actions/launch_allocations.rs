//! Which allocations a launch of a whole program may touch.

use std::sync::Arc;

use octavo_program::{Action, BufferId, Program};

/// The allocations that each launch names; launches alone may touch any.
#[derive(Clone, Debug)]
pub(crate) struct Named(Option<Vec<Arc<[BufferId]>>>);

impl Named {
    /// For a program that runs each of this many launches once.
    pub fn new(program: Option<&Program>, launches: usize) -> Self {
        let of = |program: &Program| {
            let none: Arc<[BufferId]> = Arc::new([]);
            let mut named = vec![none; launches];
            for ordered in program.actions() {
                if let Action::Launch { launch, buffers } = &ordered.action {
                    named[*launch as usize] = Arc::clone(buffers);
                }
            }
            named
        };
        Self(program.map(of))
    }

    /// By allocation, of this many: whether any launch may touch it.
    pub fn by_any(&self, allocations: usize) -> Vec<bool> {
        let Some(named) = &self.0 else { return vec![true; allocations] };
        let mut any = vec![false; allocations];
        named.iter().flat_map(|buffers| buffers.iter()).for_each(|id| any[id.index()] = true);
        any
    }
}

/// The allocations that one launch names, looked up for one row after another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    launch: Option<u32>,
    /// By allocation, if any is named; launches alone name none.
    named: Vec<bool>,
    any: bool,
}

impl Turn {
    /// The next row is of `launch`.
    #[inline]
    pub fn enter(&mut self, launch: u32, of: &Named) {
        if self.launch != Some(launch) {
            self.change(launch, of);
        }
    }

    fn change(&mut self, launch: u32, of: &Named) {
        self.launch = Some(launch);
        self.named.clear();
        let Some(named) = &of.0 else {
            self.any = true;
            return;
        };
        for id in named.get(launch as usize).iter().flat_map(|buffers| buffers.iter()) {
            self.named.resize(self.named.len().max(id.index() + 1), false);
            self.named[id.index()] = true;
        }
    }

    /// Whether the launch may touch an allocation.
    #[inline]
    pub fn names(&self, allocation: usize) -> bool {
        self.any || self.named.get(allocation).is_some_and(|named| *named)
    }
}

/// The message about a line in an allocation that its launch does not name.
pub(crate) fn unnamed(line: u64) -> String {
    format!("line {line} is in an allocation that the action of its launch does not name")
}
