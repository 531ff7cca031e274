//! A recorded step as a workload: every operator a launch whose wavefronts stream what it reads and writes.
//!
//! Each operand is touched once, in equal contiguous shares of the wavefronts, a few lines at a time: loads of all that is
//! read, arithmetic, stores of all that is written. Caches and registers inside an operator are taken to be perfect:
//! nothing is read twice.
//!
//! Replicas (data parallelism) are the same step over memory of their own, one behind another in addresses and in the
//! work-groups of each launch: split evenly over as many GPUs, each GPU runs one. They exchange nothing.

use std::ops::Range;

use octavo_program::{AddressSpace, Buffer, Cursor, HostSide, LINE_BYTES, Launch, Op, OpSink, Workload};
use octavo_registry::OptionError;

use super::allocator::Pool;
use super::places::Places;
use super::shrink::Shrink;
use super::step::{Operand, Operator, Role, Step};
use crate::emit::{WAVEFRONT_LANES, steps};

/// Wavefronts of a work-group: 256 threads, as most of `PyTorch`'s kernels have (chosen).
const WAVEFRONTS: u32 = 4;
/// Lines of all operands that a wavefront has, where there are enough: 4 KiB, 16 elements of 4 bytes a thread (chosen).
const LINES_EACH: u64 = 64;
/// Lines of an operand that one instruction touches: 64 lanes with 4 bytes each.
const LINES_AT_ONCE: u64 = WAVEFRONT_LANES as u64 * 4 / LINE_BYTES;
/// Operations of one vector instruction: a multiply-add of each lane.
const OPERATIONS: u64 = 2 * WAVEFRONT_LANES as u64;
/// Most lines of all buffers together.
const MOST_LINES: f64 = (1u64 << Op::LINE_BITS) as f64;
/// Smallest scale: a segment of 2 MiB has two lines left.
const LEAST_SCALE: f64 = 1e-4;

/// How much of a step is replayed.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Steps, one after another; at least one.
    pub iterations: u32,
    /// Copies of the network, side by side; at least one.
    pub replicas: u32,
    /// Size of everything relative to the recorded one.
    pub scale: f64,
}

/// A step, so many times.
pub struct Replay {
    buffers: Vec<Buffer>,
    replicas: u32,
    /// Lines from the memory of one replica to that of the next.
    apart: u64,
    side: HostSide,
    launches: Vec<Planned>,
}

/// A launch, ready to be streamed.
struct Planned {
    kernel: String,
    /// Work-groups of each replica.
    groups: u32,
    /// How often each wavefront loads, computes and stores.
    steps: u32,
    /// Vector instructions of all wavefronts.
    instructions: u64,
    /// Lines that are read, then lines that are written.
    spans: Vec<Range<u64>>,
    reads: usize,
}

impl Replay {
    /// `step`, as often and as large as `extent` says.
    ///
    /// # Errors
    /// A scale that leaves nothing, or too much.
    pub fn new(step: &Step, extent: Extent) -> Result<Self, OptionError> {
        let Extent { iterations, replicas, scale } = extent;
        let scale = crate::scale::checked(scale)?;
        let places = Places::new(step, iterations);
        let reserved = [Pool::Small, Pool::Large].map(|pool| places.reserved(pool));
        let lines = reserved.iter().sum::<u64>() as f64 * f64::from(replicas) * scale / LINE_BYTES as f64;
        if scale < LEAST_SCALE || lines >= MOST_LINES {
            let message = format!("expected {LEAST_SCALE} to what makes it 64 TiB, found {scale}");
            return Err(OptionError::new("scale", message));
        }
        let map = Map::new(&places, Shrink::new(scale), reserved, replicas);
        let launches = (0..iterations).flat_map(|iteration| map.iteration(step, iteration).collect::<Vec<_>>());
        let launches = launches.collect::<Result<Vec<_>, _>>()?;
        let side = map.host_side(step, iterations, launches.len() as u32 / iterations);
        Ok(Self { buffers: map.buffers, replicas, apart: map.apart, side, launches })
    }
}

/// Where bytes of the allocator's pools lie in the program's buffers.
struct Map<'a> {
    places: &'a Places,
    shrink: Shrink,
    reserved: [u64; 2],
    /// By pool: its buffer, if it has one.
    of_pool: [Option<usize>; 2],
    /// Of all replicas, one after another.
    buffers: Vec<Buffer>,
    replicas: u32,
    apart: u64,
}

impl<'a> Map<'a> {
    fn new(places: &'a Places, shrink: Shrink, reserved: [u64; 2], replicas: u32) -> Self {
        let mut space = AddressSpace::default();
        let mut of_pool = [None; 2];
        let mut apart = 0;
        for replica in 0..replicas {
            for (pool, name) in ["small-segments", "large-segments"].into_iter().enumerate() {
                if reserved[pool] > 0 {
                    of_pool[pool].get_or_insert(space.buffers().len());
                    let name = if replicas == 1 { name.to_owned() } else { format!("{name}-{replica}") };
                    space.allocate(&name, shrink.lines(reserved[pool]) * LINE_BYTES);
                }
            }
            apart = if replica == 0 { space.end() / LINE_BYTES } else { apart };
        }
        Self { places, shrink, reserved, of_pool, buffers: space.buffers().to_vec(), replicas, apart }
    }

    /// The buffer of the first replica, and the lines from its first, of bytes of a place.
    fn span(&self, place: super::allocator::Place, bytes: &Range<u64>) -> (usize, Range<u64>) {
        let pool = place.pool as usize;
        let bytes = place.address + bytes.start..place.address + bytes.end;
        let buffer = self.of_pool[pool].expect("a pool with places has a buffer");
        (buffer, self.shrink.span(bytes, self.reserved[pool]))
    }

    fn iteration(&self, step: &'a Step, iteration: u32) -> impl Iterator<Item = Result<Planned, OptionError>> {
        let running = step.operators.iter().enumerate().filter(|(_, operator)| operator.runs());
        running.map(move |(index, operator)| self.planned(operator, index, iteration))
    }

    fn planned(&self, operator: &Operator, index: usize, iteration: u32) -> Result<Planned, OptionError> {
        let span = |operand: &Operand| {
            let (buffer, lines) = self.span(self.places.at(iteration, index, operand.tensor), &operand.bytes);
            let first = self.buffers[buffer].base / LINE_BYTES;
            first + lines.start..first + lines.end
        };
        let spans: Vec<_> = operator.reads.iter().chain(&operator.writes).map(span).collect();
        let lengths = || spans.iter().map(|lines| lines.end - lines.start);
        let total: u64 = lengths().sum();
        let groups = total.div_ceil(LINES_EACH * u64::from(WAVEFRONTS));
        let wavefronts = groups * u64::from(WAVEFRONTS);
        // Besides its products, an operator handles each element once.
        let instructions = self.shrink.amount(operator.flops).div_ceil(OPERATIONS) + total.div_ceil(LINES_AT_ONCE);
        let share = |amount: u64, most: u64| amount.div_ceil(wavefronts).div_ceil(most);
        let longest = lengths().max().unwrap_or(0);
        let steps = share(longest, LINES_AT_ONCE).max(share(instructions, u64::from(Op::MAX_COUNT)));
        let parts = steps.saturating_mul(spans.len() as u64 + 1);
        if groups.saturating_mul(u64::from(self.replicas)).max(parts) > u64::from(u32::MAX) {
            let message = format!("operator {index} ({}): too large for one launch", operator.name);
            return Err(OptionError::new("scale", message));
        }
        Ok(Planned {
            kernel: operator.name.clone(),
            groups: groups as u32,
            steps: steps as u32,
            instructions,
            spans,
            reads: operator.reads.len(),
        })
    }

    /// The host writes parameters and constants before the first launch, samples before each iteration.
    fn host_side(&self, step: &Step, iterations: u32, launches: u32) -> HostSide {
        let mut side = HostSide::of(&self.buffers).scratch(self.buffers.iter().map(|buffer| buffer.name.as_str()));
        let each = self.buffers.len() / self.replicas as usize;
        for iteration in 0..iterations {
            let written = |role| role == Role::Input || role == Role::Parameter && iteration == 0;
            for (buffer, lines) in self.written(step, written) {
                let bytes = lines.start * LINE_BYTES..lines.end * LINE_BYTES;
                for of_replica in self.buffers[buffer..].iter().step_by(each) {
                    side = side.writes_bytes_before(iteration * launches, &of_replica.name, bytes.clone());
                }
            }
        }
        side.build()
    }

    /// Lines of tensors with such roles, neighbours together, by buffer.
    fn written(&self, step: &Step, role: impl Fn(Role) -> bool) -> Vec<(usize, Range<u64>)> {
        let chosen = step.tensors.iter().enumerate().filter(|(_, one)| role(one.role));
        let placed = chosen.filter_map(|(tensor, one)| Some((self.places.before(tensor)?, one)));
        let mut spans: Vec<_> = placed.map(|(place, one)| self.span(place, &(0..one.bytes))).collect();
        spans.sort_unstable_by_key(|(buffer, lines)| (*buffer, lines.start));
        let mut joined: Vec<(usize, Range<u64>)> = Vec::new();
        // Blocks begin at multiples of 512 bytes: less than that between two is nobody's.
        let apart = LINES_AT_ONCE * 2;
        for (buffer, lines) in spans {
            match joined.last_mut() {
                Some((of, last)) if *of == buffer && lines.start < last.end + apart => {
                    last.end = last.end.max(lines.end);
                }
                _ => joined.push((buffer, lines)),
            }
        }
        joined
    }
}

impl Planned {
    /// What is pushed as part `number` of a wavefront of a replica whose memory lies `behind` lines further on: loads and
    /// stores of one operand each, with arithmetic between.
    fn part(&self, wavefront: u64, behind: u64, number: u32, out: &mut OpSink<'_>) {
        let parts = self.spans.len() as u32 + 1;
        let (step, part) = (u64::from(number / parts), (number % parts) as usize);
        let shares = u64::from(self.groups) * u64::from(WAVEFRONTS) * u64::from(self.steps);
        let share = |amount: u64| share(amount, wavefront * u64::from(self.steps) + step, shares);
        if part == self.reads {
            let instructions = share(self.instructions);
            if self.reads > 0 {
                out.push(Op::WAIT);
            }
            if !instructions.is_empty() {
                out.push(Op::compute((instructions.end - instructions.start) as u32));
            }
            return;
        }
        let span = &self.spans[part - usize::from(part > self.reads)];
        let lines = share(span.end - span.start);
        if !lines.is_empty() {
            let (first, count) = (behind + span.start + lines.start, (lines.end - lines.start) as u32);
            out.push(if part < self.reads { Op::load(first, count) } else { Op::store(first, count) });
        }
    }
}

/// Share `index` of `of` equal contiguous shares of `amount`.
fn share(amount: u64, index: u64, of: u64) -> Range<u64> {
    let edge = |index: u64| (u128::from(amount) * u128::from(index) / u128::from(of)) as u64;
    edge(index)..edge(index + 1)
}

impl Workload for Replay {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        self.side.clone()
    }

    fn launches(&self) -> u32 {
        self.launches.len() as u32
    }

    fn launch(&self, index: u32) -> Launch {
        let Planned { kernel, groups, .. } = &self.launches[index as usize];
        Launch { kernel: kernel.clone().into(), work_groups: groups * self.replicas, wavefronts_per_group: WAVEFRONTS }
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let planned = &self.launches[launch as usize];
        let (replica, group) = (u64::from(group / planned.groups), u64::from(group % planned.groups));
        let wavefront = group * u64::from(WAVEFRONTS) + u64::from(wavefront);
        let parts = planned.steps * (planned.spans.len() as u32 + 1);
        steps(cursor, out, parts, |number, out| planned.part(wavefront, replica * self.apart, number, out));
    }
}
