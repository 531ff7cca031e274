//! Training of a layered network (Rodinia `backprop`): one step forward and one back between a wide input layer and 16
//! hidden units.
//!
//! A work-group of 16 x 16 threads has 16 inputs and all hidden units. A wavefront has four rows of the matrix of
//! weights, each a line's length but one element further than the row before, so that rows straddle lines. Forward, the
//! group multiplies its weights with its inputs in local memory, adds them up over the inputs, writes the products back
//! over the weights (as the program does) and stores 16 sums. Back, each weight and its last change are updated from
//! the hidden units' errors and the inputs; the first group does the same for the bias. The host computes in between.
//!
//! Rodinia's own input of 65,536 units is 9 MB; scale 1 is 262,144 units, 36 MB, this project's choice.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::typed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{load_ascending, load_span, push_all, store_lanes, store_span};
use crate::scale;

/// Bytes of an element.
const ELEMENT: u64 = 4;
/// Hidden units, inputs of a work-group, and threads along each of its sides.
const SIDE: u64 = 16;
/// Weights of an input: one for each hidden unit and one that is never used.
const PITCH: u64 = SIDE + 1;
/// Wavefronts of a work-group, and inputs of each.
const WAVEFRONTS: u32 = 4;
const ROWS: u64 = SIDE / WAVEFRONTS as u64;
/// Inputs at scale 1, and at most.
const USUAL_INPUTS: u64 = 1 << 18;
const MOST_INPUTS: u64 = 1 << 30;

/// Instructions of the kernels, compiled for GCN3: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const LOCATE: Op = Op::mix(4, 3, 0, 1);
    pub const BEFORE_INPUT: [Op; 2] = [Op::mix(3, 0, 0, 0), Op::mix(3, 0, 0, 0)];
    pub const KEEP_INPUT: Op = Op::mix(0, 0, 1, 0);
    pub const BEFORE_WEIGHTS: Op = Op::mix(9, 2, 0, 0);
    pub const DURING_WEIGHTS: Op = Op::mix(3, 1, 0, 0);
    pub const KEEP_WEIGHTS: Op = Op::mix(0, 1, 1, 0);
    pub const MULTIPLY: [Op; 2] = [Op::mix(0, 0, 2, 0), Op::mix(1, 0, 1, 0)];
    pub const BEFORE_SUM: Op = Op::mix(0, 0, 0, 1);
    pub const SELECT: Op = Op::mix(2, 2, 0, 1);
    pub const ADD: [Op; 2] = [Op::mix(1, 3, 2, 0), Op::mix(1, 0, 1, 1)];
    pub const BEFORE_MEETING: Op = Op::mix(0, 3, 0, 0);
    pub const AFTER_MEETING: Op = Op::mix(0, 0, 0, 1);
    pub const BEFORE_STORE: Op = Op::mix(0, 0, 1, 0);
    pub const TEST: Op = Op::mix(0, 1, 0, 1);
    pub const BEFORE_SUMS: Op = Op::mix(7, 1, 1, 0);

    pub const BEFORE_ARGUMENTS: Op = Op::mix(0, 1, 0, 0);
    pub const BEFORE_DELTA: Op = Op::mix(20, 1, 0, 0);
    pub const BEFORE_INPUTS: Op = Op::mix(2, 0, 0, 0);
    pub const DURING_INPUTS: Op = Op::mix(1, 0, 0, 0);
    pub const DURING_LOADS: Op = Op::mix(2, 1, 0, 0);
    pub const CHANGE: Op = Op::mix(4, 0, 0, 0);
    pub const BEFORE_BIAS: Op = Op::mix(4, 0, 0, 0);
    pub const CHANGE_BIAS: [Op; 2] = [Op::mix(3, 0, 0, 0), Op::mix(2, 0, 0, 0)];
}

/// For local data, around a barrier.
const MEET: [Op; 3] = [Op::WAIT, Op::BARRIER, Op::WAIT];

/// Options of `bp`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BpOptions {
    /// Units of the input layer, a multiple of 16. Default: 262144 times the scale (this project's choice; Rodinia's
    /// own input has 65536).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<u64>,
}

/// One step of training.
pub struct Bp {
    inputs: u64,
    units: Buffer,
    weights: Buffer,
    changes: Buffer,
    sums: Buffer,
    errors: Buffer,
    buffers: Vec<Buffer>,
}

impl Bp {
    /// A step with `inputs` input units, some multiple of 16.
    #[must_use]
    pub fn new(inputs: u64) -> Self {
        assert!(inputs > 0 && inputs.is_multiple_of(SIDE), "work-groups have 16 inputs");
        let mut space = AddressSpace::default();
        let units = space.allocate("input", (inputs + 1) * ELEMENT);
        let [weights, changes] =
            ["input_hidden", "input_prev_weights"].map(|name| space.allocate(name, (inputs + 1) * PITCH * ELEMENT));
        let sums = space.allocate("hidden_partial_sum", inputs * ELEMENT);
        let errors = space.allocate("hidden_delta", PITCH * ELEMENT);
        Self { inputs, units, weights, changes, sums, errors, buffers: space.buffers().to_vec() }
    }
}

/// Four inputs of a network, and their weights: what a wavefront works on.
struct Rows<'a> {
    bp: &'a Bp,
    /// The first input, counted without the bias.
    first: u64,
}

impl Rows<'_> {
    /// Addresses of the weights in one of the two matrices. The bias has the first row and column.
    fn weights(&self, matrix: &Buffer) -> impl Iterator<Item = u64> {
        let base = matrix.base + ((self.first + 1) * PITCH + 1) * ELEMENT;
        (0..ROWS * SIDE).map(move |lane| base + (lane / SIDE * PITCH + lane % SIDE) * ELEMENT)
    }

    /// One load of the weights, row by row.
    fn load_weights(&self, matrix: &Buffer, out: &mut OpSink<'_>) {
        let row = |row: u64| (matrix.base + ((self.first + 1 + row) * PITCH + 1) * ELEMENT, SIDE * ELEMENT);
        load_ascending(out, (0..ROWS).map(row));
    }

    fn load_units(&self, out: &mut OpSink<'_>) {
        load_span(out, self.bp.units.at(self.first + 1, ELEMENT), ROWS * ELEMENT);
    }

    fn load_errors(&self, out: &mut OpSink<'_>) {
        load_span(out, self.bp.errors.at(1, ELEMENT), SIDE * ELEMENT);
    }

    fn forward(&self, out: &mut OpSink<'_>) {
        // The first column of threads loads the inputs.
        push_all(out, &[cost::LOCATE, cost::BEFORE_INPUT[0], Op::WAIT, cost::BEFORE_INPUT[1]]);
        self.load_units(out);
        push_all(out, &[Op::WAIT, cost::KEEP_INPUT, cost::BEFORE_WEIGHTS]);
        push_all(out, &MEET);
        self.load_weights(&self.bp.weights, out);
        push_all(out, &[cost::DURING_WEIGHTS, Op::WAIT, cost::KEEP_WEIGHTS]);
        push_all(out, &MEET);
        push_all(out, &[cost::MULTIPLY[0], Op::WAIT, cost::MULTIPLY[1]]);
        push_all(out, &MEET);
        self.add_up(out);
        push_all(out, &[cost::BEFORE_STORE, Op::WAIT]);
        store_lanes(out, self.weights(&self.bp.weights), ELEMENT);
        push_all(out, &MEET);
        // The first column of threads stores the sums of the hidden units as many as it has rows.
        push_all(out, &[cost::TEST, cost::BEFORE_SUMS, Op::WAIT]);
        store_span(out, self.bp.sums.at(self.first, ELEMENT), ROWS * ELEMENT);
    }

    /// Four halvings of the group's rows; a wavefront adds where one of its rows is left.
    fn add_up(&self, out: &mut OpSink<'_>) {
        out.push(cost::BEFORE_SUM);
        let row = self.first % SIDE;
        for halving in 1..=SIDE.ilog2() {
            out.push(cost::SELECT);
            if row.next_multiple_of(1 << halving) < row + ROWS {
                push_all(out, &[cost::ADD[0], Op::WAIT, cost::ADD[1]]);
            }
            out.push(cost::BEFORE_MEETING);
            push_all(out, &MEET);
            out.push(cost::AFTER_MEETING);
        }
    }

    fn back(&self, out: &mut OpSink<'_>) {
        let Bp { weights, changes, .. } = self.bp;
        push_all(out, &[cost::BEFORE_ARGUMENTS, Op::WAIT, cost::BEFORE_DELTA]);
        self.load_errors(out);
        self.load_weights(changes, out);
        out.push(cost::BEFORE_INPUTS);
        self.load_units(out);
        out.push(cost::DURING_INPUTS);
        self.load_weights(weights, out);
        push_all(out, &[cost::DURING_LOADS, Op::WAIT, cost::CHANGE]);
        store_lanes(out, self.weights(weights), ELEMENT);
        // The store may have changed them, as far as the compiler knows.
        self.load_errors(out);
        self.load_weights(changes, out);
        self.load_units(out);
        push_all(out, &[Op::WAIT, cost::CHANGE]);
        store_lanes(out, self.weights(changes), ELEMENT);
        push_all(out, &MEET);
        out.push(cost::TEST);
        if self.first == 0 {
            self.back_to_bias(out);
        }
    }

    /// The first row of threads of the first group changes the bias's weights.
    fn back_to_bias(&self, out: &mut OpSink<'_>) {
        let [weights, changes] = [&self.bp.weights, &self.bp.changes].map(|matrix| matrix.at(1, ELEMENT));
        out.push(cost::BEFORE_BIAS);
        load_span(out, changes, SIDE * ELEMENT);
        out.push(cost::BEFORE_INPUTS);
        self.load_errors(out);
        out.push(cost::DURING_INPUTS);
        load_span(out, weights, SIDE * ELEMENT);
        push_all(out, &[Op::WAIT, cost::CHANGE_BIAS[0]]);
        store_span(out, weights, SIDE * ELEMENT);
        load_span(out, changes, SIDE * ELEMENT);
        self.load_errors(out);
        push_all(out, &[Op::WAIT, cost::CHANGE_BIAS[1]]);
        store_span(out, changes, SIDE * ELEMENT);
    }
}

impl Workload for Bp {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// Between the two launches the host sums up, finds the errors of the hidden units, and writes the weights again,
    /// which the first launch overwrote with products.
    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers())
            .inputs(["input", "input_hidden"])
            .outputs(["input_hidden"])
            .scratch(["input_prev_weights", "hidden_partial_sum", "hidden_delta"])
            .reads_before(1, ["hidden_partial_sum"])
            .writes_before(1, ["hidden_delta", "input_prev_weights", "input_hidden"])
            .build()
    }

    fn launches(&self) -> u32 {
        2
    }

    fn launch(&self, index: u32) -> Launch {
        let kernel = ["bpnn_layerforward", "bpnn_adjust_weights"][index as usize];
        Launch { kernel: kernel.into(), work_groups: (self.inputs / SIDE) as u32, wavefronts_per_group: WAVEFRONTS }
    }

    fn resources(&self, index: u32) -> Resources {
        match index {
            0 => Resources { vector_registers: 7, scalar_registers: 14, local_data_bytes: 1088 },
            _ => Resources { vector_registers: 14, scalar_registers: 14, local_data_bytes: 0 },
        }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let rows = Rows { bp: self, first: u64::from(group) * SIDE + u64::from(wavefront) * ROWS };
        if launch == 0 {
            rows.forward(out)
        } else {
            rows.back(out)
        }
        out.push(Op::END);
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "bp",
    summary: "training step of a layered network: rows of weights that straddle lines, read and written twice",
    source: "Rodinia backprop; one of Mosaic's applications (MICRO 2017), size of this project's choice",
    schema: typed::schema::<BpOptions>,
    resolve: typed::resolve::<BpOptions>,
    build: |options, size: &Size| {
        let BpOptions { inputs } = typed::parse(options)?;
        Ok(Box::new(Bp::new(scale::chosen("inputs", inputs, USUAL_INPUTS, size.scale, SIDE, MOST_INPUTS)?)))
    },
};
