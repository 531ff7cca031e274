//! Instruction fetch: where a kernel's code has arrived, and when a wavefront can run on into the next 64 bytes.
//!
//! Only first passes through code cost fetches one by one: a wavefront's buffer asks for the next line as soon as the
//! one before has come, so that a warm cache keeps ahead of execution and a cold one does not. Later passes through a
//! loop pay the latency of a hit at each branch, which empties the buffer.

use octavo_units::Cycles;

use super::Node;
use crate::config::NodeConfig;
use crate::translate::TableShape;

/// Times at which lines of a kernel's code arrive somewhere, by line; `ABSENT` when nobody has asked yet.
type Arrivals = Vec<u64>;
const ABSENT: u64 = u64::MAX;

/// Code of one kernel on all GPUs.
struct Code {
    kernel: String,
    /// At the second level, by GPU.
    at_gpu: Vec<Arrivals>,
    /// By (GPU, instruction cache).
    at_cache: Vec<Arrivals>,
    /// Whether the cache's TLB knows the code, by (GPU, instruction cache).
    translated: Vec<bool>,
}

pub(crate) struct Fetch {
    codes: Vec<Code>,
    /// The code of the running launch, an index into `codes`.
    running: usize,
    /// By wavefront slot: when the last line that its buffer asked for arrives.
    arrived: Vec<u64>,
    gpus: usize,
    caches: usize,
    units_per_cache: usize,
    /// Every launch finds its code in memory only.
    cold: bool,
    /// From a miss to an answer by the second level, more from memory, and more for the first line's translation.
    second_level: u64,
    memory: u64,
    walk: u64,
}

impl Fetch {
    pub fn new(node: &NodeConfig, shape: TableShape, slots: usize) -> Self {
        let time = |cycles: u64| node.clock.time_for(Cycles(cycles)).0;
        let units_per_cache = node.fetch.units as usize;
        let walk = u64::from(shape.levels) * node.walker.level.0 + 2 * node.walker.distance.0;
        Self {
            codes: Vec::new(),
            running: 0,
            arrived: vec![0; slots],
            gpus: node.gpus as usize,
            caches: (node.compute.units as usize).div_ceil(units_per_cache),
            units_per_cache,
            cold: node.fetch.cold,
            second_level: time(node.scalar.tlb.latency.0 + 2 * node.l2.crossbar.0 + node.l2.latency.0),
            memory: time(node.dram.latency.0 + node.dram.line_cycles.0),
            walk: time(walk),
        }
    }

    /// A launch of `kernel` begins.
    pub fn begin_launch(&mut self, kernel: &str) {
        if self.cold {
            self.codes.clear();
        }
        let known = self.codes.iter().position(|code| code.kernel == kernel);
        self.running = known.unwrap_or_else(|| {
            self.codes.push(Code {
                kernel: kernel.to_owned(),
                at_gpu: vec![Vec::new(); self.gpus],
                at_cache: vec![Vec::new(); self.gpus * self.caches],
                translated: vec![false; self.gpus * self.caches],
            });
            self.codes.len() - 1
        });
    }

    /// All code has left all caches; its translations are still there.
    pub fn forget(&mut self) {
        for code in &mut self.codes {
            code.at_gpu.iter_mut().chain(&mut code.at_cache).for_each(Vec::clear);
        }
    }

    /// A wavefront begins in `slot` at `time`.
    pub fn begin_wave(&mut self, slot: usize, time: u64) {
        self.arrived[slot] = time;
    }

    /// When `line` is at the instruction cache of `unit`, asked for at `time`.
    fn line(&mut self, gpu: usize, unit: usize, line: usize, time: u64) -> u64 {
        let (second_level, memory, walk) = (self.second_level, self.memory, self.walk);
        let code = &mut self.codes[self.running];
        let number = gpu * self.caches + unit / self.units_per_cache;
        let cache = arrival(&mut code.at_cache[number], line);
        if *cache == ABSENT {
            let known = std::mem::replace(&mut code.translated[number], true);
            let translated = if known { 0 } else { walk };
            let there = arrival(&mut code.at_gpu[gpu], line);
            if *there == ABSENT {
                *there = time + translated + memory;
            }
            *cache = time.max(*there) + second_level;
        }
        *cache
    }
}

fn arrival(arrivals: &mut Arrivals, line: usize) -> &mut u64 {
    if arrivals.len() <= line {
        arrivals.resize(line + 1, ABSENT);
    }
    &mut arrivals[line]
}

impl Node<'_> {
    /// The wavefront in `slot` runs on into `count` lines of code; returns when it has the last.
    pub fn fetch_code(&mut self, (gpu, unit): (usize, usize), slot: usize, time: u64, line: u64, count: u32) -> u64 {
        for line in line..line + u64::from(count) {
            let asked = self.fetch.arrived[slot];
            let there = self.fetch.line(gpu, unit, line as usize, asked);
            self.fetch.arrived[slot] = there.max(asked) + self.costs.fetch;
        }
        self.accesses.code_lines += u64::from(count);
        time.max(self.fetch.arrived[slot])
    }

    /// The wavefront has branched at `time`: its buffer is empty and fills anew.
    pub fn refetch_code(&mut self, slot: usize, time: u64, branches: u32) -> u64 {
        let over = time + u64::from(branches) * self.costs.fetch;
        self.fetch.arrived[slot] = over;
        over
    }
}
