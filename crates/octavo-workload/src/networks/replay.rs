//! A recorded step as a workload: every operator is a launch whose wavefronts stream its reads and writes.
//!
//! Each operand is touched once, in equal contiguous shares of the wavefronts, a few lines at a time: loads of all that
//! is read, arithmetic, stores of all that is written. Caches and registers inside an operator are taken to be perfect:
//! nothing is read twice.
//!
//! Replicas (data parallelism) are the same step over memory of their own, one after another in addresses and in the
//! work-groups of each launch: split evenly over the same number of GPUs, each GPU runs one. Their gradients may be
//! summed by a [ring of transfers](super::ring) before the optimizer uses them. A network split by layer has that many
//! shares of work-groups in each launch, all but one of which have nothing to do, and each of its GPUs has an allocator
//! of its own.

use std::ops::Range;
use std::sync::Arc;

use octavo_program::{Buffer, Cursor, HostSide, LINE_BYTES, Launch, Op, OpSink, Workload};
use octavo_registry::OptionError;

use super::exchange::Exchange;
use super::grain::{LINES_AT_ONCE, LINES_EACH, OPERATIONS, WAVEFRONTS};
use super::layout::Layout;
use super::places::Places;
use super::ring::{self, Spans};
use super::shrink::Shrink;
use super::stages::{self, Cut};
use super::step::{Operand, Operator, Step};
use crate::emit::{share, steps};

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
    /// The quantity that is balanced between these.
    pub cut: Cut,
    /// Size of everything relative to the recorded one.
    pub scale: f64,
}

/// A step, this many times.
pub struct Replay {
    buffers: Vec<Buffer>,
    replicas: u32,
    stages: u32,
    /// Lines from the memory of one replica to the memory of the next.
    apart: u64,
    side: HostSide,
    launches: Vec<Planned>,
}

/// A launch, ready to be streamed.
enum Planned {
    /// Each replica's accesses to its own memory.
    Operator(Streamed),
    /// A turn of the ring.
    Turn(Exchange),
}

/// An operator as a launch.
struct Streamed {
    kernel: String,
    /// Work-groups of each replica.
    groups: u32,
    /// How many times each wavefront loads, computes and stores.
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
        let Extent { iterations, replicas, all_reduce, stages, cut, scale } = extent;
        let scale = crate::scale::checked(scale)?;
        let stage = stages::of_operators(step, stages, cut);
        let places = Places::new(step, iterations, stages::of_tensors(step, &stage));
        let lines =
            places.reserved().iter().flatten().sum::<u64>() as f64 * f64::from(replicas) * scale / LINE_BYTES as f64;
        if scale < LEAST_SCALE || lines >= MOST_LINES {
            let message = format!("expected {LEAST_SCALE} to what makes it 64 TiB, found {scale}");
            return Err(OptionError::new("scale", message));
        }
        let shrink = Shrink::new(scale);
        let mut planner = Planner { step, layout: Layout::new(&places, shrink, replicas), shrink, stage, stages };
        let ring = if all_reduce { planner.ring()? } else { None };
        let mut launches = Vec::new();
        for iteration in 0..iterations {
            planner.iteration(iteration, ring.as_ref(), &mut launches)?;
        }
        let layout = planner.layout;
        let side = layout.host_side(step, iterations, launches.len() as u32 / iterations);
        Ok(Self { buffers: layout.buffers, replicas, stages, apart: layout.apart, side, launches })
    }
}

/// Turns operators into launches over a layout.
struct Planner<'a> {
    step: &'a Step,
    layout: Layout<'a>,
    shrink: Shrink,
    /// For each operator, the GPU that it runs on, among those over which each replica is split.
    stage: Vec<u32>,
    stages: u32,
}

impl Planner<'_> {
    /// Appends the launches of an iteration.
    fn iteration(&self, iteration: u32, ring: Option<&Ring>, launches: &mut Vec<Planned>) -> Result<(), OptionError> {
        for (index, operator) in self.step.operators.iter().enumerate() {
            if let Some(ring) = ring.filter(|ring| ring.before == index) {
                launches.extend(self.turns(ring, iteration).map(Planned::Turn));
            }
            if operator.runs() {
                launches.push(Planned::Operator(self.planned(operator, index, iteration)?));
            }
        }
        Ok(())
    }

    /// Gives each replica memory for incoming data, if there is any.
    fn ring(&mut self) -> Result<Option<Ring>, OptionError> {
        let Some((gradients, before)) = ring::gradients(self.step) else {
            let message = "expected a training step that leaves gradients for the next one, found one without any";
            return Err(OptionError::new("all_reduce", message));
        };
        let slot = self.shrink.lines(ring::SLOT).max(LINES_AT_ONCE);
        let received = self.layout.add_received(2 * slot);
        Ok(Some(Ring { gradients, before, slot, received }))
    }

    fn turns(&self, ring: &Ring, iteration: u32) -> impl Iterator<Item = Exchange> {
        let lines = |&tensor: &usize| {
            let bytes = 0..self.step.tensors[tensor].bytes;
            self.layout.lines((iteration, ring.before), tensor, &bytes)
        };
        let spans = Arc::new(Spans::new(ring.gradients.iter().map(lines).collect()));
        let (replicas, apart, slot) = (self.layout.replicas, self.layout.apart, ring.slot);
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

    fn planned(&self, operator: &Operator, index: usize, iteration: u32) -> Result<Streamed, OptionError> {
        let span = |operand: &Operand| self.layout.lines((iteration, index), operand.tensor, &operand.bytes);
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
        let all_groups = groups.saturating_mul(u64::from(self.layout.replicas)).saturating_mul(u64::from(self.stages));
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
            stage: self.stage[index],
        })
    }
}

impl Streamed {
    /// The operations of part `number` of a wavefront of a replica whose memory lies `behind` lines further on: loads
    /// and stores of one operand each, with arithmetic between.
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

/// The transfers of a ring: from which replica to which, and what.
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

    fn tells_dependences(&self) -> bool {
        true
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
