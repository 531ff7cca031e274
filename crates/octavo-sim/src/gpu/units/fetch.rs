//! Instruction fetch: where a kernel's code has arrived, and when a wavefront can run on into the next 64 bytes.
//!
//! Only first passes through code pay for single fetches: a wavefront's buffer requests the next line as soon as the
//! one before has arrived and there is room for it. So a warm cache keeps ahead of execution, and a cold one does not.
//! Code that a branch skips, or that lies behind an end, is fetched, too, as far as the buffer reaches and time allows.
//! Each branch empties the buffer, be it taken or not. A request in progress comes first, and the line in which the
//! wavefront runs is fetched again, as a hit.

use std::collections::BTreeSet;

use octavo_node::NodeConfig;
use octavo_program::LINE_BYTES;
use octavo_units::Cycles;

use crate::gpu::caches::memory_traffic::{MemoryTraffic, PassedLine};
use crate::gpu::counts::Accesses;
use crate::gpu::translate::walker::TableShape;
use crate::gpu::units::wave::Fetcher;

/// Times at which lines of a kernel's code arrive somewhere, by line; `ABSENT` until the first request.
type Arrivals = Vec<u64>;
const ABSENT: u64 = u64::MAX;

/// Code of one kernel on all GPUs.
struct Code {
    kernel: String,
    /// Its first line, counted from that of all code.
    first: u64,
    /// At the second level, by GPU.
    at_gpu: Vec<Arrivals>,
    /// By (GPU, instruction cache).
    at_cache: Vec<Arrivals>,
    /// Pages of code whose translation the TLBs of these caches, by (GPU, instruction cache), and the second-level
    /// TLBs of these GPUs know.
    known_to_cache: BTreeSet<(usize, usize)>,
    known_to_gpu: BTreeSet<(usize, usize)>,
}

/// The requests of one fetch to the GPU beyond its instruction cache.
#[derive(Clone, Copy, Default)]
struct Asked {
    second_level: bool,
    memory: bool,
    walk: bool,
}

/// The requests of a wavefront's buffer beyond the last line that was reached, from `first` on: lines `next..end` are
/// still to be requested, the next one at `asked`, when the one before has arrived.
#[derive(Clone, Copy, Default)]
struct Ahead {
    first: u64,
    next: u64,
    end: u64,
    asked: u64,
    /// The wavefront has branched since it reached that line.
    branched: bool,
}

pub(crate) struct Fetch {
    codes: Vec<Code>,
    /// By program: the code of the running launch, an index into `codes`, and its length in lines.
    running: Vec<usize>,
    code_lines: Vec<u64>,
    /// By wavefront slot, as far as there were any: the arrival of the last line that its buffer requested.
    arrived: Vec<u64>,
    ahead: Vec<Ahead>,
    gpus: usize,
    caches: usize,
    units_per_cache: usize,
    /// Every launch finds its code in memory only.
    cold: bool,
    /// Lines that a wavefront's buffer holds.
    buffer: u64,
    /// From a line's arrival, or a branch, to its instructions.
    hit: u64,
    /// From a miss to an answer by the second level, and more from memory.
    second_level: u64,
    memory: u64,
    /// The additional time for the translation of a page: by the second-level TLB, or by a walk.
    second_level_tlb: u64,
    walk: u64,
    /// Lines of a page.
    page_lines: usize,
    memory_traffic: MemoryTraffic,
    /// The line at which all code begins in the list of those, and the end of it, counted from there.
    first_line: u64,
    code_end: u64,
}

impl Fetch {
    pub fn new(node: &NodeConfig, shape: TableShape, page_lines: usize, programs: usize) -> Self {
        let time = |cycles: u64| node.clock.time_for(Cycles(cycles)).0;
        let units_per_cache = node.fetch.units as usize;
        let walk = u64::from(shape.levels) * node.walker.level.0 + 2 * node.walker.distance.0;
        Self {
            codes: Vec::new(),
            running: vec![0; programs],
            code_lines: vec![0; programs],
            arrived: Vec::new(),
            ahead: Vec::new(),
            gpus: node.gpus as usize,
            caches: (node.compute.units as usize).div_ceil(units_per_cache),
            units_per_cache,
            cold: node.fetch.cold,
            buffer: node.fetch.buffer_lines.into(),
            hit: time(node.fetch.latency.0),
            second_level: time(node.scalar.tlb.latency.0 + 2 * node.l2.crossbar.0 + node.l2.latency.0),
            memory: time(node.dram.latency.0 + node.dram.line_cycles.0),
            second_level_tlb: time(node.l2_tlb.latency.0),
            walk: time(walk),
            page_lines,
            memory_traffic: MemoryTraffic::default(),
            first_line: 0,
            code_end: 0,
        }
    }

    /// A launch of `kernel` by a program begins, which has this many bytes of code (0: unknown).
    pub fn begin_launch(&mut self, program: usize, kernel: &str, bytes: u64) {
        self.code_lines[program] = bytes.div_ceil(LINE_BYTES);
        let known = self.codes.iter().position(|code| code.kernel == kernel);
        if known.is_none() || self.cold {
            let code = Code {
                kernel: kernel.to_owned(),
                first: known.map_or(self.code_end, |known| self.codes[known].first),
                at_gpu: vec![Vec::new(); self.gpus],
                at_cache: vec![Vec::new(); self.gpus * self.caches],
                known_to_cache: BTreeSet::new(),
                known_to_gpu: BTreeSet::new(),
            };
            match known {
                Some(known) => self.codes[known] = code,
                None => {
                    self.code_end += self.code_lines[program];
                    self.codes.push(code);
                }
            }
        }
        self.running[program] = known.unwrap_or(self.codes.len() - 1);
    }

    /// From here on, lines that come from memory are kept: as if all code lay at `first_line`.
    pub fn keep_lines(&mut self, first_line: u64) {
        self.first_line = first_line;
        self.memory_traffic.keep();
    }

    /// Lines that came from memory.
    pub fn memory_traffic(&mut self) -> &mut MemoryTraffic {
        &mut self.memory_traffic
    }

    /// All code has left all caches of a GPU; its translations remain.
    pub fn forget(&mut self, gpu: usize) {
        let caches = gpu * self.caches..(gpu + 1) * self.caches;
        for code in &mut self.codes {
            code.at_gpu[gpu].clear();
            code.at_cache[caches.clone()].iter_mut().for_each(Vec::clear);
        }
    }

    /// A wavefront begins at `time` in `slot`, which is new or had others before.
    pub fn begin_wave(&mut self, slot: usize, time: u64) {
        if slot >= self.arrived.len() {
            self.arrived.resize(slot + 1, 0);
            self.ahead.resize(slot + 1, Ahead::default());
        }
        self.arrived[slot] = time;
        self.ahead[slot] = Ahead::default();
    }

    /// The arrival of `line` of a program's kernel at the instruction cache of `unit`, requested at `time`.
    fn line(&mut self, program: usize, (gpu, unit): (usize, usize), line: usize, time: u64) -> (u64, Asked) {
        let (second_level, memory, page_lines) = (self.second_level, self.memory, self.page_lines);
        let number = gpu * self.caches + unit / self.units_per_cache;
        let code = &mut self.codes[self.running[program]];
        if let Some(there) = code.at_cache[number].get(line).copied().filter(|there| *there != ABSENT) {
            return (there, Asked::default());
        }
        let mut asked = Asked { second_level: true, ..Asked::default() };
        let mut translated = time;
        if code.known_to_cache.insert((number, line / page_lines)) {
            asked.walk = code.known_to_gpu.insert((gpu, line / page_lines));
            translated += if asked.walk { self.walk } else { self.second_level_tlb };
        }
        let there = arrival(&mut code.at_gpu[gpu], line);
        if *there == ABSENT {
            asked.memory = true;
            *there = translated + memory;
        }
        let arrived = translated.max(*there) + second_level;
        *arrival(&mut code.at_cache[number], line) = arrived;
        (arrived, asked)
    }

    /// A wavefront runs on into `count` lines of code from `line` on; returns when it has the last.
    #[inline(never)]
    pub fn run_on(&mut self, who: Fetcher, time: u64, line: u64, count: u32, accesses: &mut Accesses) -> u64 {
        self.run_ahead(who, time, accesses);
        let Fetcher { program, slot, .. } = who;
        let before = self.ahead[slot];
        let (end, runs_on) = (line + u64::from(count), line == before.first || before.first == 0);
        let mut arrived = self.arrived[slot];
        if !runs_on && before.branched {
            // The fetch that the branch waited for is this one.
            arrived = arrived.saturating_sub(self.hit);
        } else if line >= before.next {
            arrived = arrived.max(before.asked);
        }
        for line in line..end {
            arrived = self.ask(who, line, arrived, accesses);
        }
        self.arrived[slot] = arrived;
        let last = (end - 1 + self.buffer).min(self.code_lines[program]);
        // What its buffer has room for now is asked for now.
        let (next, asked) = if runs_on { (before.next.max(end), before.asked.max(time)) } else { (end, arrived) };
        self.ahead[slot] = Ahead { first: end, next, end: last, asked: asked.max(arrived), branched: false };
        accesses.code_lines += u64::from(count);
        time.max(arrived)
    }

    /// The requests of a wavefront's buffer until `time`, before it continues elsewhere or ends.
    pub fn run_ahead(&mut self, who: Fetcher, time: u64, accesses: &mut Accesses) {
        if self.code_lines[who.program] == 0 {
            // Nothing is ever asked for ahead: what is kept of the buffer need not be read.
            return;
        }
        let mut ahead = self.ahead[who.slot];
        while ahead.next < ahead.end && ahead.asked < time {
            ahead.asked = self.ask(who, ahead.next, ahead.asked, accesses);
            ahead.next += 1;
        }
        self.ahead[who.slot] = ahead;
    }

    /// One line requested at `asked`; returns its arrival in the buffer.
    fn ask(&mut self, who: Fetcher, line: u64, asked: u64, accesses: &mut Accesses) -> u64 {
        let (there, beyond) = self.line(who.program, (who.gpu, who.unit), line as usize, asked);
        accesses.l2_hits += u64::from(beyond.second_level && !beyond.memory);
        accesses.dram_reads += u64::from(beyond.memory);
        if beyond.memory && self.memory_traffic.keeps() {
            let first = self.first_line + self.codes[self.running[who.program]].first;
            self.memory_traffic.pass(PassedLine { time: asked, gpu: who.gpu, line: first + line, write: false });
        }
        accesses.walks += u64::from(beyond.walk);
        there.max(asked) + self.hit
    }

    /// A wavefront has passed `branches` at `time`, taken or not; returns when it can continue. Each empties its
    /// buffer, which is filled again, but not before its earlier requests have arrived.
    #[inline(always)]
    pub fn branched(&mut self, who: Fetcher, time: u64, branches: u32, accesses: &mut Accesses) -> u64 {
        if branches == 0 {
            return time;
        }
        let mut over = time + u64::from(branches) * self.hit;
        if self.code_lines[who.program] > 0 {
            self.run_ahead(who, time, accesses);
            let ahead = &mut self.ahead[who.slot];
            over += ahead.asked.saturating_sub(time);
            ahead.asked = over + (ahead.next - ahead.first) * self.hit;
            ahead.branched = true;
        }
        self.arrived[who.slot] = over;
        over
    }
}

fn arrival(arrivals: &mut Arrivals, line: usize) -> &mut u64 {
    if arrivals.len() <= line {
        arrivals.resize(line + 1, ABSENT);
    }
    &mut arrivals[line]
}
