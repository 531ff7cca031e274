//! A recorded step as a workload: every operator a launch whose wavefronts stream what it reads and writes.
//!
//! Each operand is touched once, in equal contiguous shares of the wavefronts, a few lines at a time: loads of all that is
//! read, arithmetic, stores of all that is written. Caches and registers inside an operator are taken to be perfect:
//! nothing is read twice.
//!
//! Replicas (data parallelism) are the same step over memory of their own, one behind another in addresses and in the
//! work-groups of each launch: split evenly over as many GPUs, each GPU runs one. Their gradients may be summed by a
//! [ring](super::ring) before the optimizer uses them. A network split by layer has as many shares of work-groups in each
//! launch, all but one of which have nothing to do.

use std::ops::Range;
use std::sync::Arc;

use octavo_program::{AddressSpace, Buffer, Cursor, HostSide, LINE_BYTES, Launch, Op, OpSink, Workload};
use octavo_registry::OptionError;

use super::allocator::Pool;
use super::exchange::Exchange;
use super::places::Places;
use super::ring::{self, Spans};
use super::shrink::Shrink;
use super::stages;
use super::step::{Operand, Operator, Role, Step};
use crate::emit::{WAVEFRONT_LANES, share, steps};

/// Wavefronts of a work-group: 256 threads, as most of `PyTorch`'s kernels have (chosen).
pub(super) const WAVEFRONTS: u32 = 4;
/// Lines of all operands that a wavefront has, where there are enough: 4 KiB, 16 elements of 4 bytes a thread (chosen).
pub(super) const LINES_EACH: u64 = 64;
/// Lines of an operand that one instruction touches: 64 lanes with 4 bytes each.
pub(super) const LINES_AT_ONCE: u64 = WAVEFRONT_LANES as u64 * 4 / LINE_BYTES;
/// Operations of one vector instruction: a multiply-add of each lane.
pub(super) const OPERATIONS: u64 = 2 * WAVEFRONT_LANES as u64;
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
    /// Whether they sum their gradients.
    pub all_reduce: bool,
    /// GPUs that the network is split over by layer; at least one, and one if there are several replicas.
    pub stages: u32,
    /// Size of everything relative to the recorded one.
    pub scale: f64,
}

/// A step, so many times.
pub struct Replay {
    buffers: Vec<Buffer>,
    replicas: u32,
    stages: u32,
    /// Lines from the memory of one replica to that of the next.
    apart: u64,
    side: HostSide,
    launches: Vec<Planned>,
}

/// A launch, ready to be streamed.
enum Planned {
    /// What each replica does with memory of its own.
    Operator(Streamed),
    /// A turn of the ring.
    Turn(Exchange),
}

/// An operator as a launch.
struct Streamed {
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
    /// The GPU that it runs on, of those that the network is split over.
    stage: u32,
}

impl Replay {
    /// `step`, as often and as large as `extent` says.
    ///
    /// # Errors
    /// A scale that leaves nothing, or too much.
    pub fn new(step: &Step, extent: Extent) -> Result<Self, OptionError> {
        let Extent { iterations, replicas, all_reduce, stages, scale } = extent;
        let scale = crate::scale::checked(scale)?;
        let places = Places::new(step, iterations);
        let reserved = [Pool::Small, Pool::Large].map(|pool| places.reserved(pool));
        let lines = reserved.iter().sum::<u64>() as f64 * f64::from(replicas) * scale / LINE_BYTES as f64;
        if scale < LEAST_SCALE || lines >= MOST_LINES {
            let message = format!("expected {LEAST_SCALE} to what makes it 64 TiB, found {scale}");
            return Err(OptionError::new("scale", message));
        }
        let mut map = Map::new(&places, Shrink::new(scale), reserved, replicas, stages);
        let ring = if all_reduce { map.ring(step)? } else { None };
        let stage = stages::of_operators(step, stages);
        let mut launches = Vec::new();
        for iteration in 0..iterations {
            map.iteration(step, iteration, &stage, ring.as_ref(), &mut launches)?;
        }
        let side = map.host_side(step, iterations, launches.len() as u32 / iterations);
        Ok(Self { buffers: map.buffers, replicas, stages, apart: map.apart, side, launches })
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
    /// Buffers of each replica.
    each: usize,
    replicas: u32,
    /// GPUs that the operators of each replica are split over.
    stages: u32,
    apart: u64,
}

impl<'a> Map<'a> {
    fn new(places: &'a Places, shrink: Shrink, reserved: [u64; 2], replicas: u32, stages: u32) -> Self {
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
        let buffers = space.buffers().to_vec();
        let each = buffers.len() / replicas as usize;
        Self { places, shrink, reserved, of_pool, buffers, each, replicas, stages, apart }
    }

    /// The buffer of the first replica, and the lines from its first, of bytes of a place.
    fn span(&self, place: super::allocator::Place, bytes: &Range<u64>) -> (usize, Range<u64>) {
        let pool = place.pool as usize;
        let bytes = place.address + bytes.start..place.address + bytes.end;
        let buffer = self.of_pool[pool].expect("a pool with places has a buffer");
        (buffer, self.shrink.span(bytes, self.reserved[pool]))
    }

    /// Appends the launches of an iteration.
    fn iteration(
        &self,
        step: &Step,
        iteration: u32,
        stage: &[u32],
        ring: Option<&Ring>,
        launches: &mut Vec<Planned>,
    ) -> Result<(), OptionError> {
        for (index, operator) in step.operators.iter().enumerate() {
            if let Some(ring) = ring.filter(|ring| ring.before == index) {
                launches.extend(self.turns(ring, step, iteration).map(Planned::Turn));
            }
            if operator.runs() {
                launches.push(Planned::Operator(self.planned(operator, index, iteration, stage[index])?));
            }
        }
        Ok(())
    }

    /// Gives each replica memory for what it is sent, unless there is nothing to send.
    fn ring(&mut self, step: &Step) -> Result<Option<Ring>, OptionError> {
        let Some((gradients, before)) = ring::gradients(step) else {
            let message = "expected a training step that leaves gradients for the next one, found one without any";
            return Err(OptionError::new("all_reduce", message));
        };
        let slot = self.shrink.lines(ring::SLOT).max(LINES_AT_ONCE);
        let mut space = AddressSpace::default();
        std::mem::take(&mut self.buffers).iter().for_each(|buffer| drop(space.allocate(&buffer.name, buffer.bytes)));
        let received = (0..self.replicas)
            .map(|replica| space.allocate(&format!("received-{replica}"), 2 * slot * LINE_BYTES).base / LINE_BYTES);
        let received = received.collect();
        self.buffers = space.buffers().to_vec();
        for (buffer, gpu) in self.buffers[self.each * self.replicas as usize..].iter_mut().zip(1..) {
            buffer.gpu = gpu;
        }
        Ok(Some(Ring { gradients, before, slot, received }))
    }

    fn turns(&self, ring: &Ring, step: &Step, iteration: u32) -> impl Iterator<Item = Exchange> {
        let lines = |&tensor: &usize| {
            let bytes = 0..step.tensors[tensor].bytes;
            self.lines(self.places.at(iteration, ring.before, tensor), &bytes)
        };
        let spans = Arc::new(Spans::new(ring.gradients.iter().map(lines).collect()));
        let (replicas, apart, slot) = (self.replicas, self.apart, ring.slot);
        let received: Arc<[u64]> = ring.received.as_slice().into();
        (0..ring::turns(replicas)).map(move |turn| Exchange {
            turn,
            replicas,
            apart,
            slot,
            spans: Arc::clone(&spans),
            received: Arc::clone(&received),
        })
    }

    /// The lines, in the first replica, of bytes of a place.
    fn lines(&self, place: super::allocator::Place, bytes: &Range<u64>) -> Range<u64> {
        let (buffer, lines) = self.span(place, bytes);
        let first = self.buffers[buffer].base / LINE_BYTES;
        first + lines.start..first + lines.end
    }

    fn planned(&self, operator: &Operator, index: usize, iteration: u32, stage: u32) -> Result<Streamed, OptionError> {
        let span = |operand: &Operand| self.lines(self.places.at(iteration, index, operand.tensor), &operand.bytes);
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
        let all_groups = groups.saturating_mul(u64::from(self.replicas)).saturating_mul(u64::from(self.stages));
        if all_groups.max(parts) > u64::from(u32::MAX) {
            let message = format!("operator {index} ({}): too large for one launch", operator.name);
            return Err(OptionError::new("scale", message));
        }
        Ok(Streamed {
            kernel: operator.name.clone(),
            groups: groups as u32,
            steps: steps as u32,
            instructions,
            spans,
            reads: operator.reads.len(),
            stage,
        })
    }

    /// The host writes parameters and constants before the first launch, samples before each iteration.
    fn host_side(&self, step: &Step, iterations: u32, launches: u32) -> HostSide {
        let mut side = HostSide::of(&self.buffers).scratch(self.buffers.iter().map(|buffer| buffer.name.as_str()));
        let of_replicas = self.each * self.replicas as usize;
        for iteration in 0..iterations {
            let written = |role| role == Role::Input || role == Role::Parameter && iteration == 0;
            for (buffer, lines) in self.written(step, written) {
                let bytes = lines.start * LINE_BYTES..lines.end * LINE_BYTES;
                for of_replica in self.buffers[buffer..of_replicas].iter().step_by(self.each) {
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

impl Streamed {
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

/// Who sends what where.
struct Ring {
    /// Tensors.
    gradients: Vec<usize>,
    /// The operator that comes next.
    before: usize,
    /// Lines of a slot.
    slot: u64,
    /// By replica: first line of its two slots.
    received: Vec<u64>,
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
        let (kernel, groups) = match &self.launches[index as usize] {
            Planned::Operator(Streamed { kernel, groups, .. }) => {
                (kernel.clone().into(), groups * self.replicas * self.stages)
            }
            Planned::Turn(exchange) => ("all-reduce".into(), exchange.groups() * self.replicas),
        };
        Launch { kernel, work_groups: groups, wavefronts_per_group: WAVEFRONTS }
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let share = |groups: u32| (group / groups, u64::from(group % groups * WAVEFRONTS + wavefront));
        match &self.launches[launch as usize] {
            Planned::Operator(planned) => {
                let (replica, wavefront) = share(planned.groups);
                if self.stages > 1 && replica != planned.stage {
                    return out.push(Op::END);
                }
                let behind = if self.stages > 1 { 0 } else { u64::from(replica) * self.apart };
                let parts = planned.steps * (planned.spans.len() as u32 + 1);
                steps(cursor, out, parts, |number, out| planned.part(wavefront, behind, number, out));
            }
            Planned::Turn(exchange) => {
                let (replica, wavefront) = share(exchange.groups());
                steps(cursor, out, exchange.steps(), |number, out| exchange.part(replica, wavefront, number, out));
            }
        }
    }
}
