//! Several programs side by side, each in its own part of the address space.

use std::ops::Range;

use crate::buffer::{BUFFER_ALIGNMENT, Buffer};
use crate::host_side::HostSide;
use crate::launches::{Application, Cursor, Launch, Resources, Workload};
use crate::lives::{ALWAYS, life};
use crate::op::{LINE_BYTES, OpSink};

/// Programs that run at the same time. Buffers and launches are listed program by program; names of both begin with the
/// name of the program.
pub struct Mix<'a> {
    parts: Vec<Part<'a>>,
    applications: Vec<Application>,
    buffers: Vec<Buffer>,
    lives: Vec<Range<u32>>,
}

struct Part<'a> {
    workload: &'a dyn Workload,
    first_launch: u32,
    /// Lines before its part of the address space.
    lines: u64,
}

impl<'a> Mix<'a> {
    /// Combines programs, whose names differ.
    #[must_use]
    pub fn new(programs: impl IntoIterator<Item = (String, &'a dyn Workload)>) -> Self {
        let mut mix = Self { parts: Vec::new(), applications: Vec::new(), buffers: Vec::new(), lives: Vec::new() };
        programs.into_iter().for_each(|(name, workload)| mix.push(name, workload));
        mix
    }

    /// The place of a program: its first address, and the number of its first launch.
    #[must_use]
    pub fn place(&self, program: usize) -> (u64, u32) {
        let part = &self.parts[program];
        (part.lines * LINE_BYTES, part.first_launch)
    }

    fn push(&mut self, name: String, workload: &'a dyn Workload) {
        let base = self.address_end().next_multiple_of(BUFFER_ALIGNMENT);
        let first_launch = self.launches();
        let first_buffer = self.buffers.len();
        let moved = workload.buffers().iter().map(|buffer| Buffer {
            name: format!("{name}/{}", buffer.name),
            base: base + buffer.base,
            ..buffer.clone()
        });
        self.buffers.extend(moved);
        let later = |life: Range<u32>| life.start + first_launch..life.end.saturating_add(first_launch);
        let lives = (0..workload.buffers().len()).map(|buffer| life(workload.lives(), buffer));
        self.lives.extend(lives.map(|life| if life == ALWAYS { life } else { later(life) }));
        self.applications.push(Application {
            name,
            launches: first_launch..first_launch + workload.launches(),
            buffers: first_buffer..self.buffers.len(),
        });
        self.parts.push(Part { workload, first_launch, lines: base / LINE_BYTES });
    }

    /// The program that a launch belongs to, and the launch's number there.
    fn part(&self, launch: u32) -> (usize, u32) {
        let index = self.applications.partition_point(|application| application.launches.end <= launch);
        (index, launch - self.parts[index].first_launch)
    }
}

impl Workload for Mix<'_> {
    fn applications(&self) -> Vec<Application> {
        self.applications.clone()
    }

    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn lives(&self) -> &[Range<u32>] {
        &self.lives
    }

    /// Programs run side by side: each may have most at the same time.
    fn footprint(&self) -> u64 {
        self.parts.iter().map(|part| part.workload.footprint()).sum()
    }

    fn held_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.workload.held_bytes()).sum()
    }

    fn launches(&self) -> u32 {
        self.applications.last().map_or(0, |last| last.launches.end)
    }

    fn launch(&self, index: u32) -> Launch {
        let (part, own) = self.part(index);
        let launch = self.parts[part].workload.launch(own);
        Launch { kernel: format!("{}/{}", self.applications[part].name, launch.kernel).into(), ..launch }
    }

    fn resources(&self, index: u32) -> Resources {
        let (part, own) = self.part(index);
        self.parts[part].workload.resources(own)
    }

    fn flushed_before(&self, index: u32) -> bool {
        let (part, own) = self.part(index);
        self.parts[part].workload.flushed_before(own)
    }

    fn code_bytes(&self, index: u32) -> u64 {
        let (part, own) = self.part(index);
        self.parts[part].workload.code_bytes(own)
    }

    fn waits_for_some(&self) -> bool {
        self.parts.iter().any(|part| part.workload.waits_for_some())
    }

    fn tells_dependences(&self) -> bool {
        self.parts.iter().all(|part| part.workload.tells_dependences())
    }

    fn host_side(&self) -> HostSide {
        let mut all = HostSide::none(0);
        for part in &self.parts {
            all.append(&part.workload.host_side(), part.first_launch);
        }
        all
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let (index, own) = self.part(launch);
        let part = &self.parts[index];
        part.workload.fill(own, group, wavefront, cursor, out);
        out.relocate(part.lines);
    }

    fn failure(&self) -> Option<String> {
        let failures = self.parts.iter().zip(&self.applications);
        failures
            .filter_map(|(part, application)| Some((part.workload.failure()?, &application.name)))
            .next()
            .map(|(reason, name)| format!("{name}: {reason}"))
    }
}
