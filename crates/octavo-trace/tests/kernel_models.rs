//! Kernel models, compared with recordings of the real kernels.
//!
//! `cargo test -p octavo-trace --test kernel_models -- --nocapture` prints all that is compared. Loads of kernel
//! arguments and of the launch packet are left out on both sides, as models have neither; the instructions and waits
//! around them are compared. Instruction fetch is not compared: models have no code.

mod models;

use std::path::Path;

use models::compare::{Comparison, Tolerance};
use models::profile::Profile;
use octavo_program::{Buffer, Cursor, HostSide, Launch, OpSink, Resources, Size, Workload};
use octavo_registry::Choice;
use octavo_trace::{Layout, TraceWorkload};
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::bfs_shoc::{BfsShoc, Graph};
use octavo_workload::kernels::matrixmultiplication::MatrixMultiplication;
use octavo_workload::kernels::nw::Nw;
use octavo_workload::kernels::spmv::{SparseMatrix, Spmv};

/// A model and the recording that it must agree with.
struct Case<'a> {
    /// Folder in `traces`, without its `.trace`.
    trace: &'a str,
    /// Names of the model's buffers and of the same ones in the trace.
    buffers: &'a [(&'a str, &'a str)],
    /// Buffers that the recorded program allocates and never touches.
    untouched: &'a [&'a str],
    tolerance: Tolerance,
}

impl Case<'_> {
    fn check(&self, model: &dyn Workload) {
        let trace = self.recorded();
        let model = Profile::of(model, |buffer| Some(buffer.name.clone()));
        let comparison = Comparison::of(self.trace, &model, &trace, self.tolerance);
        comparison.print();
        assert!(comparison.failures.is_empty(), "{}: {:#?}", self.trace, comparison.failures);
    }

    fn recorded(&self) -> Profile {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces").join(format!("{}.trace", self.trace));
        let recorded = TraceWorkload::open(&path, Layout::Recorded).unwrap();
        Profile::of(&recorded, |buffer| self.name_in_model(buffer))
    }

    /// Buffers of neither table show up as a difference.
    fn name_in_model(&self, buffer: &Buffer) -> Option<String> {
        let name = buffer.name.as_str();
        let launch = ["code ", "kernarg ", "packet "].iter().any(|of_launch| name.starts_with(of_launch));
        if launch || self.untouched.contains(&name) {
            return None;
        }
        let same = self.buffers.iter().find(|(_, in_trace)| *in_trace == name);
        Some(same.map_or(name, |(in_model, _)| *in_model).to_owned())
    }
}

/// One launch of a workload, and the buffers that it uses.
struct OneLaunch<'a> {
    of: &'a dyn Workload,
    launch: u32,
    buffers: Vec<Buffer>,
}

impl Workload for OneLaunch<'_> {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn launches(&self) -> u32 {
        1
    }

    fn launch(&self, _index: u32) -> Launch {
        self.of.launch(self.launch)
    }

    fn resources(&self, _index: u32) -> Resources {
        self.of.resources(self.launch)
    }

    fn host_side(&self) -> HostSide {
        HostSide::of_launches(self)
    }

    fn fill(&self, _launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        self.of.fill(self.launch, group, wavefront, cursor, out);
    }
}

/// A registered workload with `options`.
fn model(name: &str, options: &[(&str, u64)]) -> Box<dyn Workload> {
    let mut choice = Choice::named(name);
    choice.options.extend(options.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())));
    WORKLOADS.build(&choice, &Size { scale: 1.0, seed: 0 }).unwrap()
}

#[test]
fn fir() {
    Case { trace: "fir-length-16384", buffers: &[], untouched: &[], tolerance: Tolerance::EXACT }
        .check(&*model("fir", &[("samples", 16_384), ("taps", 16)]));
}

#[test]
fn bitonic_sort() {
    let buffers = &[("array", "data")];
    Case { trace: "bitonicsort-length-4096", buffers, untouched: &[], tolerance: Tolerance::EXACT }
        .check(&*model("bitonicsort", &[("keys", 4096)]));
}

#[test]
fn simple_convolution() {
    Case { trace: "simpleconvolution-width-126-height-126", buffers: &[], untouched: &[], tolerance: Tolerance::EXACT }
        .check(&*model("simpleconvolution", &[("width", 126), ("height", 126), ("mask", 3)]));
}

/// The recorded kernel takes the row of A from the local id: so does this variant of the model, which no user can
/// name.
#[test]
fn matrix_multiplication_with_the_defect_of_the_recorded_one() {
    let buffers = &[("A", "a"), ("B", "b"), ("C", "c")];
    Case { trace: "matrixmultiplication-x-128-y-128-z-128", buffers, untouched: &[], tolerance: Tolerance::EXACT }
        .check(&MatrixMultiplication::new(128, 128, 128).unwrap().with_local_rows_of_a());
}

/// The correct kernel differs from the recorded one in which lines of A it reads, and in nothing else.
#[test]
fn matrix_multiplication() {
    let buffers = &[("A", "a"), ("B", "b"), ("C", "c")];
    // Three quarters of A are never read by the recorded kernel, and the others four times as often.
    let tolerance = Tolerance { totals: 0.0, pages: f64::INFINITY, sharing: 0.5, wavefronts: 0.75 };
    let model = model("matrixmultiplication", &[("rows", 128), ("inner", 128), ("columns", 128)]);
    Case { trace: "matrixmultiplication-x-128-y-128-z-128", buffers, untouched: &[], tolerance }.check(&*model);
}

#[test]
fn stencil() {
    let buffers = &[("data1", "data 1"), ("data2", "data 2")];
    Case { trace: "stencil2d-row-128-col-128-iter-2", buffers, untouched: &[], tolerance: Tolerance::EXACT }
        .check(&*model("stencil2d", &[("rows", 128), ("columns", 128), ("iterations", 2)]));
}

#[test]
fn convolution_layer() {
    let buffers = &[
        ("input_clone", "input copy"),
        ("im2col", "columns"),
        ("biases", "bias repeated"),
        ("biases_transposed", "bias transposed"),
        ("transpose1.order", "transpose order"),
        ("transpose1.input_size", "transpose input size"),
        ("transpose1.output_size", "transpose output size"),
        ("transpose1.input_index", "transpose input index"),
        ("transpose1.output_index", "transpose output index"),
        ("transpose2.order", "transpose order (2)"),
        ("transpose2.input_size", "transpose input size (2)"),
        ("transpose2.output_size", "transpose output size (2)"),
        ("transpose2.input_index", "transpose input index (2)"),
        ("transpose2.output_index", "transpose output index (2)"),
    ];
    Case { trace: "conv2d-C-3", buffers, untouched: &["gradients"], tolerance: Tolerance::EXACT }
        .check(&*model("c2d", &[("channels", 3), ("side", 28)]));
}

/// The unrolling alone is the second launch of the layer.
#[test]
fn unrolling() {
    let layer = model("c2d", &[("channels", 3), ("side", 28)]);
    let buffers = layer.buffers().iter().filter(|buffer| ["input", "im2col"].contains(&buffer.name.as_str()));
    let part = OneLaunch { of: &*layer, launch: 1, buffers: buffers.cloned().collect() };
    let names = &[("im2col", "output")];
    Case { trace: "im2col-C-3", buffers: names, untouched: &[], tolerance: Tolerance::EXACT }.check(&part);
}

#[test]
fn relu() {
    Case { trace: "relu-length-65536", buffers: &[], untouched: &[], tolerance: Tolerance::EXACT }
        .check(&*model("relu", &[("elements", 65_536)]));
}

#[test]
fn transposition() {
    Case { trace: "matrixtranspose-width-256", buffers: &[], untouched: &[], tolerance: Tolerance::EXACT }
        .check(&*model("transpose", &[("width", 256)]));
}

#[test]
fn vector_addition() {
    Case { trace: "vectoradd-width-256-height-256", buffers: &[], untouched: &[], tolerance: Tolerance::EXACT }
        .check(&*model("vectoradd", &[("elements", 65_536)]));
}

/// The recorded host program runs the second kernel on growing antidiagonals: so does this variant of the model, which
/// no user can name.
#[test]
fn alignment_with_the_launches_of_the_recorded_one() {
    let buffers = &[("input_itemsets", "input items"), ("output_itemsets", "output items")];
    Case { trace: "nw-length-128", buffers, untouched: &[], tolerance: Tolerance::EXACT }
        .check(&Nw::new(128, 64).unwrap().with_growing_second_half());
}

/// Another matrix of the same distribution as the recorded one, with the same number of non-zeros.
#[test]
fn sparse_product_of_another_matrix() {
    let buffers = &[("row_offsets", "row offsets")];
    let tolerance = Tolerance { totals: 0.05, pages: 0.1, sharing: 1.0, wavefronts: 1.0 };
    Case { trace: "spmv-dim-1024", buffers, untouched: &[], tolerance }
        .check(&Spmv::new(SparseMatrix::uniform(1024, 10_485, 0), 1));
}

/// SHOC's transform in OpenCL: its sines and cosines differ, and so do its instructions, but not its accesses.
#[test]
fn fourier_transforms() {
    let fft = model("fft", &[("transforms", 64), ("passes", 1)]);
    let points = fft.buffers().iter().filter(|buffer| buffer.name == "work").cloned().collect();
    let forward = OneLaunch { of: &*fft, launch: 0, buffers: points };
    let case =
        Case { trace: "fft-bytes-262144", buffers: &[("work", "data")], untouched: &[], tolerance: Tolerance::EXACT };
    let [model, trace] = [Profile::of(&forward, |buffer| Some(buffer.name.clone())), case.recorded()];
    assert_eq!((model.buffers, model.pages), (trace.buffers, trace.pages));
}

/// The recorded search's own graph: which wavefront wins a race for a node is the same too, as both take wavefronts
/// in the order of their ids.
#[test]
fn breadth_first_search() {
    let buffers = &[("edge_offsets", "edge offsets")];
    Case { trace: "bfs-node-1024-degree-3", buffers, untouched: &[], tolerance: Tolerance::EXACT }
        .check(&BfsShoc::new(recorded_graph()));
}

/// Another graph of the same distribution: the one that a user gets with these options.
#[test]
fn breadth_first_search_of_another_graph() {
    let buffers = &[("edge_offsets", "edge offsets")];
    // Nodes lie on other levels: how many turns store anything, on which pages and by which work-groups is the
    // graph's own. All other totals are within 1 %.
    let tolerance = Tolerance { totals: 0.04, pages: 0.05, sharing: 1.0, wavefronts: 1.0 };
    Case { trace: "bfs-node-1024-degree-3", buffers, untouched: &[], tolerance }
        .check(&*model("bfs-shoc", &[("nodes", 1024), ("degree", 3)]));
}

/// MGPUSim's graph of 1024 nodes with 1536 edges: its edges in the order in which they were drawn, with the
/// seed 42 of its benchmark: three hexadecimal digits for each end. Data, not code: the sequence of Go's random source is
/// not ours to reproduce.
fn recorded_graph() -> Graph {
    let digits: String = include_str!("data/bfs/graph-1024-3.txt").lines().collect();
    let number = |place: usize| u32::from_str_radix(&digits[place..place + 3], 16).unwrap();
    let pairs: Vec<_> = (0..digits.len()).step_by(6).map(|place| (number(place), number(place + 3))).collect();
    Graph::from_pairs(1024, &pairs)
}
