//! The placement that is applied to a process, and its state.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::apply::behind::Behind;
use crate::apply::log::{Log, Of};
use crate::apply::movables::Movables;
use crate::apply::placement::{Buffer, Hint, Moves, Placement};
use crate::apply::substitutes::Moved;
use crate::apply::trial::Trial;
use crate::apply::turns::Turns;
use crate::guard::guarded;
use crate::kind::Kind;
use crate::patience::patiently;
use crate::site::{Sites, callers, frames};

/// The state of a process.
#[derive(Default)]
pub struct Known {
    /// Memory that has another kind.
    pub moved: Moved,
    /// What moves when.
    pub movables: Movables,
    /// What was done.
    pub log: Log,
    sites: Sites,
    /// For each place and size, by the first of the buffers that share them.
    turns: BTreeMap<usize, Turns>,
}

/// Applies a placement file to a process.
pub struct Applied {
    of: Of,
    read: &'static Result<Placement, String>,
    /// The functions that make and free memory.
    pub behind: Behind,
    known: Mutex<Known>,
}

static CURRENT: AtomicPtr<Applied> = AtomicPtr::new(std::ptr::null_mut());

/// The file's wishes for one allocation.
#[derive(Clone, Copy, Default)]
pub struct Plan {
    /// The buffer that means it, if any.
    pub number: Option<usize>,
    /// The first buffer of its place and size, and which of these allocations it is.
    turn: Option<(usize, u64)>,
}

impl Applied {
    /// Applies a file from now on.
    pub fn begin(placement: PathBuf, log: PathBuf, behind: Behind) {
        // Children read it, too.
        let read = Box::leak(Box::new(Placement::read(&placement)));
        Self {
            of: Of { path: log, placement, process: std::process::id(), parent: None },
            read,
            behind,
            known: Mutex::default(),
        }
        .store();
    }

    /// Applies the file in a child from now on, as its parent read it.
    pub fn go_on(&self, log: PathBuf) {
        let of = Of {
            path: log,
            placement: self.of.placement.clone(),
            process: std::process::id(),
            parent: Some(self.process()),
        };
        Self { of, read: self.read, behind: self.behind, known: Mutex::default() }.store();
    }

    fn store(mut self) {
        let buffers = self.read.as_ref().map_or(0, |placement| placement.buffers.len());
        self.known = Mutex::new(Known { log: Log::of(buffers), ..Known::default() });
        // A thread that a fork left behind may still hold the lock of the previous value, so that value is never freed.
        CURRENT.store(Box::into_raw(Box::new(self)), Ordering::Release);
    }

    /// The placement of this process, if there is one.
    pub fn current() -> Option<&'static Self> {
        // SAFETY: what was stored there is never freed.
        unsafe { CURRENT.load(Ordering::Acquire).as_ref() }
    }

    /// The process that it was begun in.
    pub fn process(&self) -> u32 {
        self.of.process
    }

    /// Writes that the file was refused, if it was.
    pub fn write_refusal(&self) {
        if self.read.is_err() {
            self.of.write(&Log::default(), &Trial::default(), self.read);
        }
    }

    /// Writes the log, if anything was called.
    pub fn write(&self) {
        if let Some(known) = patiently(&self.known).filter(|known| known.log.used) {
            self.of.write(&known.log, &known.movables.trial, self.read);
        }
    }

    /// Gives `what` access to the state, and returns its result. It must not call the loader or CUDA.
    pub fn told<T>(&self, what: impl FnOnce(&mut Known) -> T) -> Option<T> {
        guarded(|| {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.log.used = true;
            what(&mut known)
        })
    }

    /// The file, if it moves anything.
    pub fn moves(&self) -> Option<&'static Placement> {
        let placement = self.read.as_ref().ok()?;
        placement.moves().then_some(placement)
    }

    /// When the memory of a plan moves, and whether the host's touches leave it on the device.
    pub fn moves_of(&self, plan: Plan) -> Option<(usize, &'static Moves, bool)> {
        let number = plan.number?;
        let buffer = &self.read.as_ref().ok()?.buffers[number];
        Some((number, buffer.moves.as_ref()?, buffer.hints.contains(&Hint::ReadMostly)))
    }

    /// The file's wishes for an allocation that begins.
    pub fn plan(&self, call: &'static str, bytes: usize) -> Plan {
        let Ok(placement) = self.read else { return Plan::default() };
        if !placement.may_mean(call, bytes as u64) {
            return Plan::default();
        }
        let means = self.meant(placement, call, bytes).unwrap_or_default();
        self.told(|known| known.next(&means, placement)).unwrap_or_default()
    }

    /// The buffer that wants something other than an allocation of this kind. It lives as long as the file, which is
    /// never freed.
    pub fn otherwise(&self, plan: Plan, made: Kind) -> Option<&'static Buffer> {
        let buffer = &self.read.as_ref().ok()?.buffers[plan.number?];
        (buffer.placement != made || !buffer.hints.is_empty()).then_some(buffer)
    }

    /// The buffers whose callers are on the stack now.
    fn meant(&self, placement: &Placement, call: &'static str, bytes: usize) -> Option<Vec<usize>> {
        let addresses = guarded(callers)?;
        let at = |known: &Known, site: usize| placement.at(call, bytes as u64, &known.sites.frames[site]);
        if let Some(found) = self.told(|known| known.sites.number(&addresses).map(|site| at(known, site)))? {
            return Some(found);
        }
        // The loader is asked without a lock.
        let frames = guarded(|| frames(&addresses))?;
        self.told(|known| {
            let site = known.sites.add(addresses, frames);
            at(known, site)
        })
    }
}

impl Known {
    /// The buffer that means the next allocation of a place and size.
    fn next(&mut self, means: &[usize], placement: &Placement) -> Plan {
        let Some(&place) = means.first() else { return Plan::default() };
        let order = self.turns.entry(place).or_default().take();
        let is_meant = |number: &usize| {
            let orders = &placement.buffers[*number].order;
            orders.as_ref().is_none_or(|orders| orders.contains(&order))
        };
        Plan { number: means.iter().copied().find(is_meant), turn: Some((place, order)) }
    }

    /// The allocation failed.
    pub fn give_back(&mut self, plan: Plan) {
        if let Some((place, order)) = plan.turn {
            self.turns.entry(place).or_default().give_back(order);
        }
    }
}
