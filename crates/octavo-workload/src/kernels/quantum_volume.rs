//! Simulation of a circuit of quantum volume by its state vector: a two-qubit kernel over all amplitudes for each gate.
//!
//! The circuit follows [Qiskit's definition](crate::quantum::circuit). A first launch sets the state in which all
//! qubits are 0, a thread for each amplitude. Each gate is a launch, as a GPU back-end of Qiskit Aer does it with
//! fusion of gates switched off. A thread takes the four amplitudes whose states differ in the gate's two qubits,
//! multiplies them by the gate's matrix and stores them where they were. Which lines a wavefront touches depends on the
//! two qubits: qubits from 6 on leave its four times 64 amplitudes contiguous, lower ones interleave them. Work-groups
//! of 1024, as Aer's. The matrices, written by the host, are read by the scalar unit.
//!
//! `chunk_qubits` divides the state into chunks, as Aer does with a state that is larger than a GPU
//! (`blocking_qubits`). A gate is then a launch for each chunk, or for each two or four chunks that its qubits join.
//!
//! Left out: sampling of the final state, fusion, the reordering of qubits.
//!
//! Scale 1 is the smallest published circuit, 30 qubits: 8 GiB in single precision, as published sizes are 8 bytes
//! times 2 to the number of qubits.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, LINE_BYTES, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_lanes, load_span, parts, push_all, store_lanes, store_span};
use crate::quantum::amplitudes::group;
use crate::quantum::circuit::Circuit;
use crate::quantum::unitary::STATES;
use crate::scale;

const LANES: u64 = WAVEFRONT_LANES as u64;
/// Threads of a work-group (Qiskit Aer's `QV_CUDA_NUM_THREADS`).
const GROUP: u64 = 1024;
const PUBLISHED_QUBITS: u32 = 30;
/// More amplitudes than 2^38 could not be numbered by the lines of an [`Op`] with room for the rest of a program.
const QUBITS: std::ops::RangeInclusive<u32> = 2..=38;
const MOST_DEPTH: u32 = 1 << 16;
/// Launches of a program; more chunks than that are smaller than any memory.
const MOST_LAUNCHES: u64 = 1 << 22;

/// Options of `quantum-volume`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QuantumVolumeOptions {
    /// Qubits, 2 to 38. Default: 30 at scale 1 (the smallest published circuit), one more for each doubling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qubits: Option<u32>,
    /// Layers of the circuit, 1 to 65,536. Default: the number of qubits (Qiskit).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Qubits of a chunk, 2 to `qubits`: a launch takes one chunk, or the two or four that a gate's qubits join.
    /// Default:
    /// `qubits`, one chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_qubits: Option<u32>,
    /// Bytes of an amplitude: `single` (8) or `double` (16). Default `single`, as the published sizes are.
    pub precision: Precision,
}

/// How exact amplitudes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Two numbers of 4 bytes.
    #[default]
    Single,
    /// Two numbers of 8 bytes.
    Double,
}

impl Precision {
    /// Bytes of an amplitude.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Single => 8,
            Self::Double => 16,
        }
    }
}

/// A simulation of one circuit.
pub struct QuantumVolume {
    circuit: Circuit,
    precision: Precision,
    amplitudes: Buffer,
    /// One for each gate.
    matrices: Buffer,
    buffers: Vec<Buffer>,
    /// By step, of which the first sets the state and each other applies a gate: its first launch; one more entry than
    /// steps.
    first: Vec<u32>,
}

impl QuantumVolume {
    /// A simulation of `circuit`, which has a layer, on `QUBITS` qubits.
    #[must_use]
    pub fn new(circuit: Circuit, precision: Precision) -> Self {
        let mut space = AddressSpace::default();
        let amplitudes = space.allocate("amplitudes", precision.bytes() << circuit.qubits());
        let matrices = space.allocate("matrices", circuit.pairs().len() as u64 * matrix_bytes(precision));
        let buffers = space.buffers().to_vec();
        let first = (0..circuit.pairs().len() as u32 + 2).collect();
        Self { circuit, precision, amplitudes, matrices, buffers, first }
    }

    /// The same in chunks of this many qubits.
    ///
    /// # Errors
    /// Chunks of fewer than 2 qubits, or of more than the circuit has; more launches than a program may have.
    pub fn in_chunks(self, chunk: u32) -> Result<Self, OptionError> {
        let qubits = self.circuit.qubits();
        let refuse = |message| OptionError::new("chunk_qubits", message);
        if !(2..=qubits).contains(&chunk) {
            return Err(refuse(format!("expected 2 to {qubits}, the circuit's qubits, found {chunk}")));
        }
        let joined = |pair: &[u32; 2]| pair.iter().filter(|qubit| **qubit >= chunk).count() as u32;
        let sets = self.circuit.pairs().iter().map(|pair| 1 << (qubits - chunk - joined(pair)));
        let mut first = vec![0];
        for launches in std::iter::once(1 << (qubits - chunk)).chain(sets) {
            let next: u64 = u64::from(first[first.len() - 1]) + launches;
            if next > MOST_LAUNCHES {
                let message =
                    format!("expected more qubits: with {chunk}, there are more than {MOST_LAUNCHES} launches");
                return Err(refuse(message));
            }
            first.push(next as u32);
        }
        Ok(Self { first, ..self })
    }

    fn from_options(options: &QuantumVolumeOptions, size: &Size) -> Result<Self, OptionError> {
        let scaled = || scale::power_of_two(1 << PUBLISHED_QUBITS, size.scale, 1 << QUBITS.start());
        let qubits = options.qubits.map_or_else(|| scaled().map(u64::trailing_zeros), Ok)?;
        if !QUBITS.contains(&qubits) {
            let (least, most) = QUBITS.into_inner();
            return Err(OptionError::new("qubits", format!("expected {least} to {most}, found {qubits}")));
        }
        let depth = options.depth.unwrap_or(qubits);
        if !(1..=MOST_DEPTH).contains(&depth) {
            return Err(OptionError::new("depth", format!("expected 1 to {MOST_DEPTH}, found {depth}")));
        }
        Self::new(Circuit::quantum_volume(qubits, depth, size.seed), options.precision)
            .in_chunks(options.chunk_qubits.unwrap_or(qubits))
    }

    /// What is simulated.
    #[must_use]
    pub const fn circuit(&self) -> &Circuit {
        &self.circuit
    }

    /// The step of a launch, and its place among the launches of the step.
    fn step(&self, launch: u32) -> (usize, u32) {
        let step = self.first.partition_point(|first| *first <= launch) - 1;
        (step, launch - self.first[step])
    }

    /// Threads of each launch of a step.
    fn threads(&self, step: usize) -> u64 {
        let states = 1 << self.circuit.qubits();
        let all: u64 = if step == 0 { states } else { states / STATES as u64 };
        all / u64::from(self.first[step + 1] - self.first[step])
    }

    /// The first thread of a wavefront and how many it has. Threads are numbered through all launches of a step.
    /// Threads of one chunk, or of the chunks that a gate joins, follow each other.
    fn lanes(&self, (step, place): (usize, u32), group: u32, wavefront: u32) -> (u64, u64) {
        let first = u64::from(group) * GROUP + u64::from(wavefront) * LANES;
        let threads = self.threads(step);
        (u64::from(place) * threads + first, LANES.min(threads.saturating_sub(first)))
    }

    /// The first launch: each lane an amplitude.
    fn initialise(&self, (first, count): (u64, u64), out: &mut OpSink<'_>) {
        push_all(out, &cost::INITIALISE);
        store_span(out, self.address(first), count * self.precision.bytes());
        out.push(Op::END);
    }

    /// One of the four amplitudes of each lane is loaded; before the first, the matrix.
    fn load(&self, gate: usize, place: usize, lanes: (u64, u64), out: &mut OpSink<'_>) {
        if place == 0 {
            push_all(out, &cost::ENTRY);
            let bytes = matrix_bytes(self.precision);
            // A scalar load takes 64 bytes at most.
            let first = self.matrices.at(gate as u64, bytes) / LINE_BYTES;
            (first..first + bytes / LINE_BYTES).for_each(|line| out.push(Op::scalar_load(line, 1)));
            out.push(cost::PLACE);
        }
        match self.contiguous(gate, place, lanes) {
            Some(address) => load_span(out, address, lanes.1 * self.precision.bytes()),
            None => load_lanes(out, self.scattered(gate, place, lanes)),
        }
        if place + 1 == STATES {
            push_all(out, &cost::MULTIPLY);
        }
    }

    fn store(&self, gate: usize, place: usize, lanes: (u64, u64), out: &mut OpSink<'_>) {
        match self.contiguous(gate, place, lanes) {
            Some(address) => store_span(out, address, lanes.1 * self.precision.bytes()),
            None => store_lanes(out, self.scattered(gate, place, lanes), self.precision.bytes()),
        }
        if place + 1 == STATES {
            out.push(Op::END);
        }
    }

    /// Where the amplitudes of all lanes begin, if they lie side by side: no qubit of the gate is among the bits that
    /// number the lanes.
    fn contiguous(&self, gate: usize, place: usize, (first, _): (u64, u64)) -> Option<u64> {
        let pair = self.circuit.pairs()[gate];
        let apart = pair.iter().all(|qubit| 1 << qubit >= LANES);
        apart.then(|| self.address(group(first, pair)[place]))
    }

    fn scattered(&self, gate: usize, place: usize, (first, count): (u64, u64)) -> impl Iterator<Item = u64> {
        let pair = self.circuit.pairs()[gate];
        (first..first + count).map(move |thread| self.address(group(thread, pair)[place]))
    }

    fn address(&self, state: u64) -> u64 {
        self.amplitudes.at(state, self.precision.bytes())
    }
}

/// Bytes of a gate's matrix, whole lines.
const fn matrix_bytes(precision: Precision) -> u64 {
    (STATES * STATES) as u64 * precision.bytes()
}

/// Instructions: vector, scalar, local data, branch. Counted by hand, not from a compiled kernel: bits of a place are
/// shifted apart twice; sixteen products of complex numbers take four multiplications and additions each. Double
/// precision has the same number, and takes no longer here.
mod cost {
    use octavo_program::Op;

    pub const INITIALISE: [Op; 3] = [Op::mix(0, 2, 0, 0), Op::WAIT, Op::mix(8, 4, 0, 1)];
    pub const ENTRY: [Op; 3] = [Op::mix(0, 2, 0, 0), Op::WAIT, Op::mix(4, 6, 0, 1)];
    pub const PLACE: Op = Op::mix(18, 6, 0, 0);
    pub const MULTIPLY: [Op; 2] = [Op::WAIT, Op::mix(64, 0, 0, 0)];
}

impl Workload for QuantumVolume {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["matrices"]).scratch(["amplitudes"]).build()
    }

    fn launches(&self) -> u32 {
        self.first[self.first.len() - 1]
    }

    fn launch(&self, index: u32) -> Launch {
        let (step, _) = self.step(index);
        let threads = self.threads(step);
        let kernel = if step == 0 { "initialise" } else { "apply_matrix_4x4" };
        Launch {
            kernel: kernel.into(),
            work_groups: threads.div_ceil(GROUP) as u32,
            wavefronts_per_group: threads.min(GROUP).div_ceil(LANES) as u32,
        }
    }

    fn resources(&self, index: u32) -> Resources {
        // Four amplitudes before and after, places and what is in between; the matrix lies in scalar registers.
        let (vector_registers, scalar_registers) = match (self.step(index).0, self.precision) {
            (0, _) => (8, 16),
            (_, Precision::Single) => (28, 48),
            (_, Precision::Double) => (44, 80),
        };
        Resources { vector_registers, scalar_registers, local_data_bytes: 0 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let (step, place) = self.step(launch);
        let lanes = self.lanes((step, place), group, wavefront);
        parts(cursor, out, |part, out| match (step.checked_sub(1), part as usize) {
            (None, _) => self.initialise(lanes, out),
            (Some(gate), place @ ..STATES) => self.load(gate, place, lanes, out),
            (Some(gate), part) => self.store(gate, part - STATES, lanes, out),
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "quantum-volume",
    summary: "state vector of a quantum-volume circuit: each gate goes through all amplitudes, by fours; 8 GB at 30 qubits",
    source: "Qiskit's QuantumVolume, gates as in Qiskit Aer's GPU back-end; sizes of the Grace Hopper study (ICPP 2024)",
    schema: typed::schema::<QuantumVolumeOptions>,
    resolve: typed::resolve::<QuantumVolumeOptions>,
    build: |options, size: &Size| Ok(Box::new(QuantumVolume::from_options(&typed::parse(options)?, size)?)),
};
