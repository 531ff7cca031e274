//! The recording of a process, and the profile made from it.

mod steps;
mod times;
mod touches;

use std::collections::HashMap;
use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;

use self::steps::{Step, Steps};
pub use self::times::Began;
use self::times::Times;
use self::touches::{Place, Touches};
use crate::guard::guarded;
use crate::kind::Kind;
use crate::launch::{Launch, Shape, Wait, kernel, words};
use crate::output;
use crate::patience::patiently;
use crate::site::{Frame, Sites, callers, frames};

/// The format that is written; `python/octavo/advice/recording.py` reads it.
pub const FORMAT: u32 = 2;
/// Allocations that are kept one by one; later ones are counted as lost. Chosen: some 20 MB of a profile.
const MOST: usize = 1 << 16;
/// Bytes of copies from which on their callers are recorded; our choice: finding them takes some per cent of such a copy.
const PLACED: usize = 1 << 20;

/// Calls and bytes of one sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    calls: u64,
    bytes: u64,
}

impl Traffic {
    fn add(&mut self, bytes: usize) {
        self.calls += 1;
        self.bytes = self.bytes.saturating_add(bytes as u64);
    }
}

/// One allocation.
#[derive(Clone, Debug, Serialize)]
struct Allocation {
    kind: Kind,
    call: &'static str,
    bytes: u64,
    address: u64,
    /// Number of the place that it was allocated from.
    site: usize,
    allocated_ns: u64,
    freed_ns: Option<u64>,
    /// Launches of the process before it, and before its end.
    launches_before: u64,
    launches_at_end: Option<u64>,
    copied_in: Traffic,
    copied_out: Traffic,
    copied_within: Traffic,
    filled: Traffic,
    prefetched: Traffic,
    advised: u64,
}

/// Launches of one kernel with one shape.
#[derive(Clone, Debug, Default, Serialize)]
struct Kernel {
    name: Option<String>,
    blocks: u64,
    threads_per_block: u64,
    launches: u64,
    /// Whether the driver says where its parameters are, so that the buffers that it uses are known.
    parameters_known: bool,
}

/// The state of a process.
#[derive(Default)]
struct Known {
    allocations: Vec<Allocation>,
    /// Begin, end and number of those that are alive, by address; none overlap.
    alive: Vec<(u64, u64, usize)>,
    sites: Sites,
    kernels: Vec<Kernel>,
    /// Their numbers.
    numbers: HashMap<Shape, usize>,
    steps: Steps,
    /// Streams by their numbers, which begin with 1.
    streams: Vec<usize>,
    touches: Touches,
    times: Times,
    /// Launches captured in graphs, and launches of graphs, whose kernels are not visible.
    captured: u64,
    graphs: u64,
    launches: u64,
    lost: u64,
    /// Whether anything was told.
    used: bool,
}

/// Records a process.
pub struct Recorder {
    path: PathBuf,
    process: u32,
    parent: Option<u32>,
    begun: Instant,
    known: Mutex<Known>,
}

static CURRENT: AtomicPtr<Recorder> = AtomicPtr::new(std::ptr::null_mut());

/// The profile in the form of the file.
#[derive(Serialize)]
struct Profile<'a> {
    octavo_profile: u32,
    program: Vec<String>,
    process: u32,
    forked_from: Option<u32>,
    time_ns: u64,
    launches: u64,
    lost: u64,
    sites: &'a [Vec<Frame>],
    allocations: &'a [Allocation],
    kernels: &'a [Kernel],
    /// Steps in order; `steps_lost` are those beyond the limit.
    steps: &'a [Step],
    steps_lost: u64,
    captured_launches: u64,
    graph_launches: u64,
}

impl Recorder {
    /// Records from now on, into a file.
    pub fn begin(path: PathBuf, parent: Option<u32>) {
        let new = Self { path, process: std::process::id(), parent, begun: Instant::now(), known: Mutex::default() };
        // The recorder that it replaces may still be locked by a thread that a fork left behind: it is never freed.
        CURRENT.store(Box::into_raw(Box::new(new)), Ordering::Release);
    }

    /// The recorder of this process, if any.
    pub fn current() -> Option<&'static Self> {
        // SAFETY: what was stored there is never freed.
        unsafe { CURRENT.load(Ordering::Acquire).as_ref() }
    }

    /// The process that it records.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Writes the profile, whole or not at all, if there is anything to write.
    pub fn write(&self) {
        // A thread that was stopped while it recorded lets go never.
        let Some(mut known) = patiently(&self.known).filter(|known| known.used) else { return };
        let known = &mut *known;
        known.touches.end_all(&mut known.steps);
        let profile = Profile {
            octavo_profile: FORMAT,
            program: std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect(),
            process: self.process,
            forked_from: self.parent,
            time_ns: self.now(),
            launches: known.launches,
            lost: known.lost,
            sites: &known.sites.frames,
            allocations: &known.allocations,
            kernels: &known.kernels,
            steps: &known.steps.all,
            steps_lost: known.steps.lost,
            captured_launches: known.captured,
            graph_launches: known.graphs,
        };
        output::json(&self.path, self.process, &profile);
    }

    fn now(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }
}

impl Known {
    /// The index of the live allocation that holds an address.
    fn place(&self, address: u64) -> Option<usize> {
        let after = self.alive.partition_point(|(begin, ..)| *begin <= address);
        let place = after.checked_sub(1)?;
        (address < self.alive[place].1).then_some(place)
    }

    /// The number of the live allocation that holds an address.
    fn number_at(&self, address: u64) -> Option<usize> {
        Some(self.alive[self.place(address)?].2)
    }

    fn at(&mut self, pointer: *const c_void) -> Option<&mut Allocation> {
        let number = self.number_at(pointer as u64)?;
        self.allocations.get_mut(number)
    }

    fn end(&mut self, place: usize, now: u64) {
        let (.., number) = self.alive.remove(place);
        self.touches.end(number, &mut self.steps);
        self.allocations[number].freed_ns = Some(now);
        self.allocations[number].launches_at_end = Some(self.launches);
    }

    fn add(&mut self, allocation: Allocation) {
        let begin = allocation.address;
        let end = begin.saturating_add(allocation.bytes.max(1));
        let room = self.allocations.try_reserve(1).is_ok() && self.alive.try_reserve(1).is_ok();
        if self.allocations.len() >= MOST || !room {
            self.lost += 1;
            return;
        }
        let now = allocation.allocated_ns;
        // Freed by a call that has no hook: its address could not be given out again otherwise.
        while let Some(place) = self.alive.iter().position(|(old, until, _)| *old < end && begin < *until) {
            self.end(place, now);
        }
        let place = self.alive.partition_point(|(other, ..)| *other < begin);
        self.alive.insert(place, (begin, end, self.allocations.len()));
        self.allocations.push(allocation);
    }
}

/// Gives `what` access to the record of this process, and returns its result. It must not call the loader.
fn told<T>(what: impl FnOnce(&Recorder, &mut Known) -> T) -> Option<T> {
    let recorder = Recorder::current()?;
    guarded(|| {
        let mut known = recorder.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.used = true;
        what(recorder, &mut known)
    })
}

/// The number of the place that is being called from.
fn site() -> Option<usize> {
    let callers = guarded(callers)?;
    if let Some(number) = told(|_, known| known.sites.number(&callers))? {
        return Some(number);
    }
    let frames = guarded(|| frames(&callers))?;
    told(|_, known| known.sites.add(callers, frames))
}

/// Memory was allocated.
pub fn allocated(kind: Kind, call: &'static str, pointer: *const c_void, size: usize) {
    if pointer.is_null() || Recorder::current().is_none() {
        return;
    }
    let Some(site) = site() else { return };
    told(|recorder, known| {
        known.add(Allocation {
            kind,
            call,
            bytes: size as u64,
            address: pointer as u64,
            site,
            allocated_ns: recorder.now(),
            freed_ns: None,
            launches_before: known.launches,
            launches_at_end: None,
            copied_in: Traffic::default(),
            copied_out: Traffic::default(),
            copied_within: Traffic::default(),
            filled: Traffic::default(),
            prefetched: Traffic::default(),
            advised: 0,
        });
    });
}

/// Memory is about to be freed: afterwards its address may belong to another thread's.
pub fn freed(pointer: *const c_void) {
    told(|recorder, known| {
        let place = known.place(pointer as u64).filter(|place| known.alive[*place].0 == pointer as u64);
        if let Some(place) = place {
            known.end(place, recorder.now());
        }
    });
}

/// Bytes were copied.
pub fn copied(to: *const c_void, from: *const c_void, size: usize, waited: bool) {
    let site = (size >= PLACED && Recorder::current().is_some()).then(site).flatten();
    told(|_, known| {
        let on_device = |allocation: &Allocation| allocation.kind != Kind::Pinned;
        let into = known.at(to).is_some_and(|allocation| on_device(allocation));
        let out = known.at(from).is_some_and(|allocation| on_device(allocation));
        if let Some(target) = known.at(to) {
            if out { &mut target.copied_within } else { &mut target.copied_in }.add(size);
        }
        if let Some(source) = known.at(from) {
            if into { &mut source.copied_within } else { &mut source.copied_out }.add(size);
        }
        let (to, from) = (known.number_at(to as u64), known.number_at(from as u64));
        known.steps.add(Step::Copied { to, from, bytes: size as u64, waited, site });
    });
}

/// Bytes were set.
pub fn filled(pointer: *const c_void, size: usize) {
    told(|_, known| {
        if let Some(number) = known.number_at(pointer as u64) {
            known.allocations[number].filled.add(size);
            known.steps.add(Step::Filled { allocation: number, bytes: size as u64 });
        }
    });
}

/// A prefetch was requested.
pub fn prefetched(pointer: *const c_void, size: usize) {
    told(|_, known| {
        if let Some(allocation) = known.at(pointer) {
            allocation.prefetched.add(size);
        }
    });
}

/// The driver got a hint about pages.
pub fn advised(pointer: *const c_void) {
    told(|_, known| {
        if let Some(allocation) = known.at(pointer) {
            allocation.advised += 1;
        }
    });
}

/// A graph was launched; its kernels are not visible.
pub fn graph_launched() {
    told(|_, known| known.graphs += 1);
}

/// A kernel is about to be launched: records what has touched its buffers so far. `captured` launches go into a graph.
///
/// # Safety
/// The launch has the parameters that its kernel has.
pub unsafe fn launching(launch: &Launch, captured: bool) -> Began {
    let Some(kernel) = Recorder::current().and_then(|_| kernel(launch)) else { return Began::default() };
    // SAFETY: the caller says so.
    let words = guarded(|| unsafe { words(launch, kernel) }).flatten();
    let timed = told(|_, known| {
        let number = known.kernel(launch.shape, kernel.name.as_deref(), words.is_some());
        let buffers = known.buffers(&words.unwrap_or_default());
        if captured {
            known.captured += 1;
            return None;
        }
        let stream = known.stream(launch.stream as usize);
        for number in &buffers {
            if let Some(place) = known.managed(*number) {
                known.touches.before_launch(place, stream, &mut known.steps);
            }
        }
        let step = known.steps.add(Step::Launch { kernel: number, buffers, stream, ns: None, gap_ns: None });
        step.filter(|_| known.times.has_room())
    });
    times::begin(timed.flatten(), launch.stream)
}

/// It was launched.
pub fn launched(launch: &Launch, began: Began) {
    if let Some(Some((step, pair))) = Recorder::current().map(|_| times::end(began, launch.stream)) {
        told(|_, known| known.times.add(step, pair));
    }
    told(|_, known| {
        known.launches += 1;
        if let Some(kernel) = known.numbers.get(&launch.shape).and_then(|number| known.kernels.get_mut(*number)) {
            kernel.launches += 1;
        }
    });
}

/// The host has waited: times can be read, and it may touch memory that was used.
pub fn waited(wait: Wait) {
    if Recorder::current().is_none() {
        return;
    }
    let taken = told(|_, known| known.times.take());
    let read = taken.and_then(|mut taken| guarded(|| (taken.read(), taken)));
    told(|_, known| {
        if let Some((found, left)) = read {
            found.into_iter().for_each(|(step, took, since)| known.steps.time(step, took, since));
            known.times.put_back(left);
        }
        let stream = if let Wait::Stream(stream) = wait { Some(known.stream(stream)) } else { None };
        known.steps.add(Step::Wait { stream });
        known.touches.after_wait(stream, &mut known.steps);
    });
}

impl Known {
    /// The address of an allocation, if it is managed.
    fn managed(&self, number: usize) -> Option<Place> {
        let allocation = self.allocations.get(number).filter(|one| one.kind == Kind::Managed)?;
        Some(Place { number, begin: allocation.address, bytes: allocation.bytes })
    }

    /// The number of a kernel with a shape.
    fn kernel(&mut self, shape: Shape, name: Option<&str>, parameters_known: bool) -> usize {
        *self.numbers.entry(shape).or_insert_with(|| {
            let Shape { blocks, threads, .. } = shape;
            let name = name.map(ToOwned::to_owned);
            self.kernels.push(Kernel { name, blocks, threads_per_block: threads, launches: 0, parameters_known });
            self.kernels.len() - 1
        })
    }

    fn stream(&mut self, stream: usize) -> usize {
        if stream == 0 {
            return 0;
        }
        let known = self.streams.iter().position(|known| *known == stream);
        1 + known.unwrap_or_else(|| {
            self.streams.push(stream);
            self.streams.len() - 1
        })
    }

    /// Allocations that addresses lie in, each once.
    fn buffers(&self, words: &[u64]) -> Vec<usize> {
        let mut found = Vec::new();
        for number in words.iter().filter_map(|word| self.number_at(*word)) {
            if !found.contains(&number) {
                found.push(number);
            }
        }
        found
    }
}
