//! Convolution of an image with a small mask (AMD APP SDK `simpleNonSeparableConvolution`), work-groups of one
//! wavefront.
//!
//! Thread `t` computes pixel (`t mod width`, `t / width`): the sum over the mask of mask value times the input pixel
//! that lies under it. The input is padded by mask - 1 pixels to the right and below, and as many threads are started
//! as it has pixels, so the last ones find themselves below the image and leave at once. Every mask element is one
//! load that is waited for before it is multiplied. The mask's address is uniform and read with scalar loads: the
//! `mask` buffer is part of the footprint but of no vector access, like the kernel arguments.
//!
//! Published footprint 131 MB: 4142 x 4142 pixels of four bytes, padded to 4144 x 4144.

use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_ascending, load_span, store_span};
use crate::{AddressSpace, Buffer, Cursor, LINE_BYTES, Launch, Op, OpSink, Size, Workload, WorkloadEntry, scale};

/// Bytes of a pixel.
const PIXEL: u64 = 4;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Side of the padded input at scale 1.
const PUBLISHED_SIDE: u64 = 4144;
/// Padded rows begin on a line, as in the benchmark's default size (254 + 2).
const SIDE_GRANULE: u64 = LINE_BYTES / PIXEL;

/// Vector-ALU instructions of the compiled GCN3 kernel: the division that finds the pixel, set-up, start and end of a
/// mask row, before and after the load of a mask element, and the conversion and address of the result.
const LOCATE: u32 = 25;
const SET_UP: u32 = 14;
const ROW_START: u32 = 3;
const BEFORE_LOAD: u32 = 5;
const DURING_LOAD: u32 = 11;
const AFTER_LOAD: u32 = 2;
const ROW_END: u32 = 4;
const EPILOGUE: u32 = 7;

/// Operations of one mask element at most: two computes, a wait and a load whose every lane is on a line of its own.
const ELEMENT_OPS: usize = 3 + LANES as usize;
/// Operations after the last element: compute, store, end.
const TAIL_OPS: usize = 3;

/// Options of `sc`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScOptions {
    /// Side of the square mask in pixels. Default 3 (AMD APP SDK and MGPUSim).
    pub mask: u32,
}

impl Default for ScOptions {
    fn default() -> Self {
        Self { mask: 3 }
    }
}

/// A convolution of one image.
pub struct Sc {
    width: u64,
    height: u64,
    /// Side of the mask.
    mask: u64,
    /// Pixels of a padded row.
    row: u64,
    input: Buffer,
    output: Buffer,
    buffers: Vec<Buffer>,
}

impl Sc {
    /// A convolution of `width` x `height` pixels with a mask of `mask` x `mask`, none of them zero.
    #[must_use]
    pub fn new(width: u64, height: u64, mask: u32) -> Self {
        assert!(width > 0 && height > 0 && mask > 0, "a convolution needs pixels and a mask");
        let mask = u64::from(mask);
        let row = width + mask - 1;
        let mut space = AddressSpace::default();
        let input = space.allocate("input", row * (height + mask - 1) * PIXEL);
        let output = space.allocate("output", width * height * PIXEL);
        space.allocate("mask", mask * mask * PIXEL);
        Self { width, height, mask, row, input, output, buffers: space.buffers().to_vec() }
    }

    /// Vector-ALU instructions before the load of mask element (`row`, `column`), back to the previous wait.
    #[inline]
    fn compute_before(&self, row: u64, column: u64) -> u32 {
        BEFORE_LOAD
            + match (row, column) {
                (0, 0) => LOCATE + SET_UP + ROW_START,
                (_, 0) => AFTER_LOAD + ROW_END + ROW_START,
                _ => AFTER_LOAD,
            }
    }

    /// One load by `lanes` threads from pixel (`x`, `y`) on, of the input `shift` pixels further.
    ///
    /// Addresses grow with the lane; where the wavefront goes on in the next row they jump over the padding.
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

impl Workload for Sc {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn launches(&self) -> u32 {
        1
    }

    fn launch(&self, _index: u32) -> Launch {
        let threads = self.row * (self.height + self.mask - 1);
        let work_groups = threads.div_ceil(LANES) as u32;
        Launch { kernel: "simpleNonSeparableConvolution".into(), work_groups, wavefronts_per_group: 1 }
    }

    /// The cursor holds row and column of the next mask element.
    fn fill(&self, _launch: u32, group: u32, _wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let thread = u64::from(group) * LANES;
        let pixels = self.width * self.height;
        if thread >= pixels {
            out.push(Op::compute(LOCATE));
            return out.push(Op::END);
        }
        let lanes = LANES.min(pixels - thread);
        let position = (thread % self.width, thread / self.width);
        let (mut row, mut column) = (u64::from(cursor.0[0]), u64::from(cursor.0[1]));
        while row < self.mask && out.remaining() >= ELEMENT_OPS {
            out.push(Op::compute(self.compute_before(row, column)));
            self.load_element(out, position, lanes, row * self.row + column);
            out.push(Op::compute(DURING_LOAD));
            out.push(Op::WAIT);
            column += 1;
            if column == self.mask {
                (row, column) = (row + 1, 0);
            }
        }
        cursor.0[..2].copy_from_slice(&[row as u32, column as u32]);
        if row == self.mask && out.remaining() >= TAIL_OPS {
            out.push(Op::compute(AFTER_LOAD + ROW_END + EPILOGUE));
            store_span(out, self.output.base + thread * PIXEL, lanes * PIXEL);
            out.push(Op::END);
        }
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "sc",
    summary: "simple convolution: adjacent pattern, pages nearly all private",
    source: "AMD APP SDK SimpleConvolution, as shipped with MGPUSim v4.2.0; footprint from GRIT (HPCA 2024), application table",
    schema: typed::schema::<ScOptions>,
    resolve: typed::resolve::<ScOptions>,
    build: |options, size: &Size| {
        let ScOptions { mask } = typed::parse(options)?;
        let side = scale::side(PUBLISHED_SIDE, size.scale, SIDE_GRANULE)?;
        if mask == 0 || u64::from(mask) > side {
            return Err(OptionError::new("mask", format!("expected 1 to {side} (the padded side), found {mask}")));
        }
        let inner = side + 1 - u64::from(mask);
        Ok(Box::new(Sc::new(inner, inner, mask)))
    },
};
