//! Convolution of an image with a small mask (AMD APP SDK `simpleNonSeparableConvolution`), work-groups of one
//! wavefront.
//!
//! Thread `t` computes pixel (`t mod width`, `t / width`): the sum over the mask of mask value times the input pixel
//! that lies under it. The input is padded by mask - 1 pixels to the right and below. It has a thread for each of its
//! pixels. The last ones lie below the image and leave at once. Every mask element is one load that is waited for
//! before it is multiplied. The mask's address is uniform and read with scalar loads. Kernel arguments are left out.
//!
//! Published footprint 131 MB: 4142 x 4142 pixels of four bytes, padded to 4144 x 4144.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, LINE_BYTES, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_ascending, load_scalar, load_span, store_span};
use crate::scale;

/// Bytes of a pixel.
const PIXEL: u64 = 4;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Side of the padded input at scale 1.
const PUBLISHED_SIDE: u64 = 4144;
/// Pixels along one side of an image at most.
const LARGEST_SIDE: u64 = 1 << 18;
/// Padded rows begin on a line, as in the benchmark's default size (254 + 2).
const SIDE_GRANULE: u64 = LINE_BYTES / PIXEL;

/// Instructions of the compiled GCN3 kernel (vector, scalar, local data, branch). First the division that finds the
/// pixel, alone and with the set-up of threads that have one. Then instructions before the very first load, before the
/// first load of a row, and before other loads. Then up to the mask element, up to the wait, and after the last row.
/// Last the conversion of the result.
const LOCATE: Op = Op::mix(25, 4, 0, 1);
const SET_UP: Op = Op::mix(31, 5, 0, 2);
const BEFORE_FIRST_LOAD: Op = Op::mix(16, 2, 0, 1);
const BEFORE_ROW: Op = Op::mix(14, 3, 0, 3);
const BEFORE_LOAD: Op = Op::mix(7, 0, 0, 1);
const BEFORE_MASK: Op = Op::mix(9, 0, 0, 0);
const BEFORE_WAIT: Op = Op::mix(2, 1, 0, 0);
const AFTER_ROWS: Op = Op::mix(10, 3, 0, 2);
const EPILOGUE: Op = Op::mix(3, 0, 0, 0);

/// Operations of one mask element at most: three of the set-up, three computes, a mask element, a wait and a load whose
/// every lane is on a line of its own.
const ELEMENT_OPS: usize = 8 + LANES as usize;
/// Operations after the last element: two computes, a wait, store, end.
const TAIL_OPS: usize = 5;

/// Options of `simpleconvolution`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SimpleConvolutionOptions {
    /// Side of the square mask in pixels. Default 3 (AMD APP SDK and MGPUSim).
    pub mask: u32,
    /// Width of the image in pixels. Default: the side of a square image of 131 MB in all times the scale (GRIT, table
    /// of applications); 4142 at scale 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
    /// Height of the image in pixels. Default: as for `width`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u64>,
}

impl Default for SimpleConvolutionOptions {
    fn default() -> Self {
        Self { mask: 3, width: None, height: None }
    }
}

impl SimpleConvolutionOptions {
    fn build(&self, size: &Size) -> Result<SimpleConvolution, OptionError> {
        let mask = u64::from(self.mask);
        let default = || {
            let side = scale::side(PUBLISHED_SIDE, size.scale, SIDE_GRANULE)?;
            if mask == 0 || mask > side {
                return Err(OptionError::new("mask", format!("expected 1 to {side} (the padded side), found {mask}")));
            }
            Ok(side + 1 - mask)
        };
        let side = |key, given: Option<u64>| match given {
            Some(pixels) if (1..=LARGEST_SIDE).contains(&pixels) => Ok(pixels),
            Some(pixels) => Err(OptionError::new(key, format!("expected 1 to {LARGEST_SIDE} pixels, found {pixels}"))),
            None => default(),
        };
        let (width, height) = (side("width", self.width)?, side("height", self.height)?);
        if mask == 0 || mask > LARGEST_SIDE {
            return Err(OptionError::new("mask", format!("expected 1 to {LARGEST_SIDE}, found {mask}")));
        }
        Ok(SimpleConvolution::new(width, height, self.mask))
    }
}

/// A convolution of one image.
pub struct SimpleConvolution {
    width: u64,
    height: u64,
    /// Side of the mask.
    mask: u64,
    /// Pixels of a padded row.
    row: u64,
    input: Buffer,
    output: Buffer,
    mask_values: Buffer,
    buffers: Vec<Buffer>,
}

impl SimpleConvolution {
    /// A convolution of `width` x `height` pixels with a mask of `mask` x `mask`, none of them zero.
    #[must_use]
    pub fn new(width: u64, height: u64, mask: u32) -> Self {
        assert!(width > 0 && height > 0 && mask > 0, "a convolution needs pixels and a mask");
        let mask = u64::from(mask);
        let row = width + mask - 1;
        let mut space = AddressSpace::default();
        let input = space.allocate("input", row * (height + mask - 1) * PIXEL);
        let output = space.allocate("output", width * height * PIXEL);
        let mask_values = space.allocate("mask", mask * mask * PIXEL);
        Self { width, height, mask, row, input, output, mask_values, buffers: space.buffers().to_vec() }
    }

    /// Instructions before the load of mask element (`row`, `column`), back to the previous wait.
    #[inline]
    fn before_load(out: &mut OpSink<'_>, row: u64, column: u64) {
        if (row, column) == (0, 0) {
            // For the kernel arguments, those that decide whether there is a pixel and the others.
            out.push(Op::WAIT);
            out.push(SET_UP);
            out.push(Op::WAIT);
        }
        out.push(match (row, column) {
            (0, 0) => BEFORE_FIRST_LOAD,
            (_, 0) => BEFORE_ROW,
            _ => BEFORE_LOAD,
        });
    }

    /// One load by `lanes` threads from pixel (`x`, `y`) on, from the input shifted by `shift` pixels.
    ///
    /// Addresses grow with the lane; where the wavefront continues in the next row they skip the padding.
    #[inline]
    fn load_element(&self, out: &mut OpSink<'_>, (x, y): (u64, u64), lanes: u64, shift: u64) {
        let address = |x, y| self.input.base + (y * self.row + x + shift) * PIXEL;
        let in_row = lanes.min(self.width - x);
        let first = (address(x, y), in_row * PIXEL);
        if in_row == lanes {
            return load_span(out, first.0, first.1);
        }
        let rest = (in_row..lanes).step_by(self.width as usize).zip(y + 1..);
        let rest = rest.map(|(done, y)| (address(0, y), (lanes - done).min(self.width) * PIXEL));
        load_ascending(out, std::iter::once(first).chain(rest));
    }
}

impl Workload for SimpleConvolution {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["input", "mask"]).outputs(["output"]).build()
    }

    fn launches(&self) -> u32 {
        1
    }

    fn launch(&self, _index: u32) -> Launch {
        let threads = self.row * (self.height + self.mask - 1);
        let work_groups = threads.div_ceil(LANES) as u32;
        Launch { kernel: "simpleNonSeparableConvolution".into(), work_groups, wavefronts_per_group: 1 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 13, scalar_registers: 24, local_data_bytes: 0 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    /// The cursor holds row and column of the next mask element.
    fn fill(&self, _launch: u32, group: u32, _wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let thread = u64::from(group) * LANES;
        let pixels = self.width * self.height;
        if thread >= pixels {
            out.push(Op::WAIT);
            out.push(LOCATE);
            return out.push(Op::END);
        }
        let lanes = LANES.min(pixels - thread);
        let position = (thread % self.width, thread / self.width);
        let (mut row, mut column) = (u64::from(cursor.0[0]), u64::from(cursor.0[1]));
        while row < self.mask && out.remaining() >= ELEMENT_OPS {
            Self::before_load(out, row, column);
            self.load_element(out, position, lanes, row * self.row + column);
            out.push(BEFORE_MASK);
            load_scalar(out, self.mask_values.at(row * self.mask + column, PIXEL));
            out.push(BEFORE_WAIT);
            out.push(Op::WAIT);
            column += 1;
            if column == self.mask {
                (row, column) = (row + 1, 0);
            }
        }
        cursor.0[..2].copy_from_slice(&[row as u32, column as u32]);
        if row == self.mask && out.remaining() >= TAIL_OPS {
            out.push(AFTER_ROWS);
            out.push(Op::WAIT);
            out.push(EPILOGUE);
            store_span(out, self.output.base + thread * PIXEL, lanes * PIXEL);
            out.push(Op::END);
        }
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "simpleconvolution",
    summary: "simple convolution: adjacent pattern, pages nearly all private",
    source: "AMD APP SDK SimpleConvolution, as shipped with MGPUSim v4.2.0; footprint from GRIT (HPCA 2024), application table",
    schema: typed::schema::<SimpleConvolutionOptions>,
    resolve: typed::resolve::<SimpleConvolutionOptions>,
    build: |options, size: &Size| {
        let options: SimpleConvolutionOptions = typed::parse(options)?;
        Ok(Box::new(options.build(size)?))
    },
};
