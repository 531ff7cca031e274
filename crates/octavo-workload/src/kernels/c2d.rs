//! The forward pass of a 2-D convolution layer as DNN-Mark has it and MGPUSim's conv2d runs it: unroll the images
//! (im2col), multiply by the weights, add the biases, reorder the axes. Seven launches:
//!
//! 1. `copyKernel`: the input is kept for a backward pass;
//! 2. `im2col_2d`: the unrolled matrix, a row for each element under the convolution kernel, a column for each pixel;
//! 3. `copyKernel`: the weights become a matrix;
//! 4. `repeat`: the biases, once for each output pixel;
//! 5. `transpose_tensor`: ... and a row for each output channel;
//! 6. `gemm_old`: weights x unrolled matrix + biases;
//! 7. `transpose_tensor`: channel, image, y, x becomes image, channel, y, x.
//!
//! The phases split the same pages differently. With contiguous ranges of groups a GPU writes a band of *rows* of the
//! unrolled matrix and of the biases, and later reads a band of its *columns*. So pages are mostly used by two GPUs,
//! one after the other. The index buffers of the transposes are private.
//!
//! Instructions and waits come from the compiled GCN3 kernels. Scalar loads of kernel arguments are left out. So are
//! the gradients, which are allocated but not touched by a forward pass.

mod elementwise;
mod im2col;
mod layer;
mod product;
mod step;
mod tensors;
mod transpose;

use octavo_program::{AddressSpace, Buffer, Cursor, HostSide, Launch, OpSink, Resources, Workload, WorkloadEntry};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use layer::Layer;

use self::step::Step;
use self::tensors::Tensors;
use crate::scale;

/// Published footprint in bytes.
const PUBLISHED_BYTES: f64 = (94u64 << 20) as f64;

/// So many passes can be numbered as launches.
const MOST_ITERATIONS: u32 = 1 << 28;

/// Options of the convolution layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct C2dOptions {
    /// Images in a batch. Default: 1 (MGPUSim, samples/conv2d).
    pub batch: u64,
    /// Channels of an input image. Default: 3, a colour image.
    pub channels: u64,
    /// Channels of an output image. Default: 3 (MGPUSim, samples/conv2d).
    pub output_channels: u64,
    /// Side of the convolution kernel in pixels. Default: 3 (MGPUSim, samples/conv2d).
    pub kernel: u64,
    /// Rows and columns of zeros around an image, in pixels. Default: 0 (MGPUSim, samples/conv2d).
    pub padding: u64,
    /// Pixels from one application of the kernel to the next. Default: 1 (MGPUSim, samples/conv2d).
    pub stride: u64,
    /// Side of a square input image in pixels. Default: the largest at which the layer's footprint is at most 94 MB
    /// times the scale (GRIT, table of applications); 553 at scale 1 with the other defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<u64>,
    /// Forward passes one after another, at least 1, each over the same buffers. Default: 1 (MGPUSim,
    /// samples/conv2d).
    pub iterations: u32,
}

impl Default for C2dOptions {
    fn default() -> Self {
        Self { batch: 1, channels: 3, output_channels: 3, kernel: 3, padding: 0, stride: 1, side: None, iterations: 1 }
    }
}

/// The convolution layer.
#[derive(Debug)]
pub struct C2d {
    space: AddressSpace,
    /// The launches of one pass.
    steps: Vec<Box<dyn Step>>,
    iterations: u32,
}

impl C2d {
    /// The forward pass of `layer`.
    ///
    /// # Errors
    /// As for [`Layer::checked`].
    pub fn new(layer: Layer) -> Result<Self, OptionError> {
        let layer = layer.checked()?;
        let mut space = AddressSpace::default();
        let tensors = Tensors::allocate(&mut space, &layer);
        let steps = tensors.steps(&mut space, layer);
        Ok(Self { space, steps, iterations: 1 })
    }

    /// The step of a launch.
    fn step(&self, launch: u32) -> &dyn Step {
        &*self.steps[launch as usize % self.steps.len()]
    }

    fn from_options(options: &C2dOptions, scale: f64) -> Result<Self, OptionError> {
        let C2dOptions { batch, channels, output_channels, kernel, padding, stride, side, iterations } = *options;
        if !(1..=MOST_ITERATIONS).contains(&iterations) {
            let message = format!("expected 1 to {MOST_ITERATIONS}, found {iterations}");
            return Err(OptionError::new("iterations", message));
        }
        let layer = Layer { batch, channels, output_channels, side: side.unwrap_or(kernel), kernel, padding, stride }
            .checked()?;
        let fitting = if side.is_some() { layer } else { layer.fitting(PUBLISHED_BYTES * scale::checked(scale)?)? };
        Ok(Self { iterations, ..Self::new(fitting)? })
    }
}

impl Workload for C2d {
    fn buffers(&self) -> &[Buffer] {
        self.space.buffers()
    }

    /// Buffers for a backward pass stay on the GPU.
    fn host_side(&self) -> HostSide {
        let shapes = ["transpose1", "transpose2"]
            .map(|step| ["order", "input_size", "output_size"].map(|part| format!("{step}.{part}")));
        let indices = ["transpose1", "transpose2"]
            .map(|step| ["input_index", "output_index"].map(|part| format!("{step}.{part}")));
        HostSide::of(self.buffers())
            .inputs(["input", "parameters"])
            .inputs(shapes.as_flattened().iter().map(String::as_str))
            .outputs(["output"])
            .scratch(["input_clone", "im2col", "weights", "biases", "biases_transposed", "product"])
            .scratch(indices.as_flattened().iter().map(String::as_str))
            .build()
    }

    fn launches(&self) -> u32 {
        self.steps.len() as u32 * self.iterations
    }

    fn launch(&self, index: u32) -> Launch {
        self.step(index).launch()
    }

    fn resources(&self, index: u32) -> Resources {
        self.step(index).resources()
    }

    fn waits_for_some(&self) -> bool {
        true
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        self.step(launch).fill(u64::from(group), u64::from(wavefront), cursor, out);
    }
}

/// The convolution layer of DNN-Mark.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "c2d",
    summary: "2-D convolution layer: im2col, matrix product, transposes (DNN-Mark); 94 MB, adjacent, in phases",
    source: "DNN-Mark convolution layer, as in MGPUSim v4.2.0 conv2d; footprint from GRIT (HPCA 2024)",
    schema: typed::schema::<C2dOptions>,
    resolve: typed::resolve::<C2dOptions>,
    build: |options, size| Ok(Box::new(C2d::from_options(&typed::parse(options)?, size.scale)?)),
};
