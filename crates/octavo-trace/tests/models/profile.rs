//! The work of a program, in numbers by which two ways of producing it can be compared.

use std::collections::{BTreeMap, BTreeSet};

use octavo_program::{Buffer, Cursor, InstructionMix, LINE_BYTES, Op, OpKind, OpSink, Workload};

/// Lines of the pages that are compared: 4 KiB.
const PAGE_LINES: u64 = 4096 / LINE_BYTES;

/// A program in numbers. Lines and pages are counted from the start of their buffer, as buffers lie elsewhere.
#[derive(Default)]
pub struct Profile {
    pub launches: Vec<LaunchProfile>,
    pub buffers: BTreeMap<String, u64>,
    pub pages: BTreeMap<(String, u64), PageProfile>,
    /// The operations of each wavefront, in order.
    pub streams: Vec<Vec<Event>>,
}

/// One launch.
#[derive(Default)]
pub struct LaunchProfile {
    pub grid: String,
    pub counts: Counts,
}

/// Instructions, and lines that they touch.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    pub instructions: InstructionMix,
    pub loads: u64,
    pub stores: u64,
    pub scalar_loads: u64,
    pub waits: u64,
    pub barriers: u64,
    pub lines_read: u64,
    pub lines_written: u64,
    pub lines_read_by_scalar_unit: u64,
}

impl Counts {
    /// Each with its name.
    pub fn named(&self) -> [(&'static str, u64); 12] {
        let InstructionMix { vector, scalar, local_data, branch } = self.instructions;
        [
            ("vector ALU", vector.into()),
            ("scalar ALU", scalar.into()),
            ("local data", local_data.into()),
            ("branches", branch.into()),
            ("vector loads", self.loads),
            ("vector stores", self.stores),
            ("scalar loads", self.scalar_loads),
            ("waits", self.waits),
            ("barriers", self.barriers),
            ("lines read", self.lines_read),
            ("lines written", self.lines_written),
            ("lines read, scalar", self.lines_read_by_scalar_unit),
        ]
    }
}

/// One page of 4 KiB: lines of it that were read (by vector or scalar unit) and written, and the work-groups, with
/// their launch, that did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PageProfile {
    pub read: u64,
    pub written: u64,
    pub readers: BTreeSet<(u32, u32)>,
    pub writers: BTreeSet<(u32, u32)>,
}

/// One memory instruction, wait, barrier or end, and how many other instructions lie between it and the one before.
#[derive(Debug, PartialEq, Eq)]
pub struct Event {
    pub before: InstructionMix,
    pub what: OpKind,
    /// The number that a wait leaves outstanding.
    pub outstanding: u32,
    pub lines: Vec<(String, u64)>,
    /// Which of them a store leaves partly unchanged.
    pub partial: Vec<usize>,
}

impl Profile {
    /// All of `workload`. `names` gives the buffers that are compared their names; accesses to others are left out,
    /// the instructions between them are not.
    pub fn of(workload: &dyn Workload, names: impl Fn(&Buffer) -> Option<String>) -> Self {
        let mut profile = Self::default();
        let buffers: Vec<_> = workload.buffers().iter().map(|buffer| (buffer, names(buffer))).collect();
        for (buffer, name) in &buffers {
            profile.buffers.extend(name.clone().map(|name| (name, buffer.bytes)));
        }
        for index in 0..workload.launches() {
            let launch = workload.launch(index);
            let grid = format!(
                "{}, {} groups of {}, {:?}",
                launch.kernel,
                launch.work_groups,
                launch.wavefronts_per_group,
                workload.resources(index)
            );
            profile.launches.push(LaunchProfile { grid, counts: Counts::default() });
            for group in 0..launch.work_groups {
                for wavefront in 0..launch.wavefronts_per_group {
                    let events = Events { buffers: &buffers, before: InstructionMix::default(), events: Vec::new() }
                        .of(workload, [index, group, wavefront]);
                    profile.count(index, group, &events);
                    profile.streams.push(events);
                }
            }
        }
        assert_eq!(workload.failure(), None);
        profile
    }

    fn count(&mut self, launch: u32, group: u32, events: &[Event]) {
        let counts = &mut self.launches[launch as usize].counts;
        for event in events {
            add(&mut counts.instructions, event.before);
            let lines = event.lines.len() as u64;
            match event.what {
                OpKind::Load => (counts.loads, counts.lines_read) = (counts.loads + 1, counts.lines_read + lines),
                OpKind::Store => {
                    (counts.stores, counts.lines_written) = (counts.stores + 1, counts.lines_written + lines);
                }
                OpKind::ScalarLoad => {
                    counts.scalar_loads += 1;
                    counts.lines_read_by_scalar_unit += lines;
                }
                OpKind::Wait => counts.waits += 1,
                OpKind::Barrier => counts.barriers += 1,
                OpKind::End | OpKind::Compute | OpKind::Fetch => {}
            }
            for (buffer, line) in &event.lines {
                let page = self.pages.entry((buffer.clone(), line / PAGE_LINES)).or_default();
                if event.what == OpKind::Store {
                    page.written += 1;
                    page.writers.insert((launch, group));
                } else {
                    page.read += 1;
                    page.readers.insert((launch, group));
                }
            }
        }
    }

    /// All launches together.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for LaunchProfile { counts, .. } in &self.launches {
            add(&mut total.instructions, counts.instructions);
            total.loads += counts.loads;
            total.stores += counts.stores;
            total.scalar_loads += counts.scalar_loads;
            total.waits += counts.waits;
            total.barriers += counts.barriers;
            total.lines_read += counts.lines_read;
            total.lines_written += counts.lines_written;
            total.lines_read_by_scalar_unit += counts.lines_read_by_scalar_unit;
        }
        total
    }
}

fn add(sum: &mut InstructionMix, more: InstructionMix) {
    sum.vector += more.vector;
    sum.scalar += more.scalar;
    sum.local_data += more.local_data;
    sum.branch += more.branch;
}

/// The events of one wavefront under construction.
struct Events<'a> {
    buffers: &'a [(&'a Buffer, Option<String>)],
    /// Instructions since the last event.
    before: InstructionMix,
    events: Vec<Event>,
}

impl Events<'_> {
    fn of(mut self, workload: &dyn Workload, [launch, group, wavefront]: [u32; 3]) -> Vec<Event> {
        let mut chunk = vec![Op::END; 1024];
        let mut cursor = Cursor::default();
        loop {
            let mut sink = OpSink::new(&mut chunk);
            workload.fill(launch, group, wavefront, &mut cursor, &mut sink);
            let mut continued = false;
            for op in sink.as_slice().iter().copied() {
                for part in op.uniform() {
                    self.push(part, continued);
                    continued = true;
                }
                continued = op.continues();
                if op.kind() == OpKind::End {
                    return self.events;
                }
            }
        }
    }

    fn push(&mut self, op: Op, continued: bool) {
        let lines = match op.kind() {
            OpKind::Compute => return add(&mut self.before, op.instructions()),
            OpKind::Fetch => return,
            OpKind::Load | OpKind::Store | OpKind::ScalarLoad => match self.lines(op) {
                Some(lines) => lines,
                None => return,
            },
            OpKind::Wait | OpKind::Barrier | OpKind::End => Vec::new(),
        };
        if !continued || self.events.is_empty() {
            let outstanding = if op.kind() == OpKind::Wait { op.count() } else { 0 };
            let (before, what) = (std::mem::take(&mut self.before), op.kind());
            self.events.push(Event { before, what, outstanding, lines: Vec::new(), partial: Vec::new() });
        }
        let Some(event) = self.events.last_mut() else { return };
        if op.is_partial() {
            event.partial.extend(event.lines.len()..event.lines.len() + lines.len());
        }
        event.lines.extend(lines);
    }

    /// `None` if they belong to a buffer that is not compared.
    fn lines(&self, op: Op) -> Option<Vec<(String, u64)>> {
        let buffers = self.buffers.iter().map(|(buffer, name)| (buffer.base / LINE_BYTES, buffer, name));
        let (first, buffer, name) = buffers.rev().find(|(first, ..)| *first <= op.line())?;
        let last = op.line() + u64::from(op.count()) - 1;
        assert!(last < (buffer.base + buffer.bytes).div_ceil(LINE_BYTES), "{op:?} leaves {}", buffer.name);
        let name = name.clone()?;
        Some((op.line() - first..=last - first).map(|line| (name.clone(), line)).collect())
    }
}
