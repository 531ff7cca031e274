//! Many Fourier transforms of 512 points (SHOC FFT), forward, back and compared.
//!
//! A work-group of 64 threads, one wavefront, takes one transform: eight points a thread, 64 apart, three times eight
//! points combined in registers and exchanged through local memory between. Results go where the points were. The
//! transform back is the same with normalisation; a third kernel compares the first half of all points with the second,
//! whose transforms began with the same values, and finds no difference to store.
//!
//! Transforms belong to one GPU; the comparison has half as many work-groups, which are split differently, so that with
//! four GPUs two use three pages in four. Scale 1 is SHOC's size 3: 96 MB of single-precision complex numbers; it
//! repeats the three launches 10 times and then does the same in double precision, which is left out.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_span, parts, push_all, store_span};
use crate::scale;

/// Points of a transform.
pub const POINTS: u64 = 512;
/// Bytes of a point.
const POINT: u64 = 8;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Transforms at scale 1.
const PUBLISHED_TRANSFORMS: u64 = 96 * scale::MEGABYTE / (POINTS * POINT);

/// Options of `fft`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FftOptions {
    /// Transforms, an even number. Default: 96 MB of points times the scale (SHOC, size 3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transforms: Option<u64>,
    /// How often all are transformed, at least once. Default 2 (SHOC: 10, all alike).
    pub passes: u32,
}

impl Default for FftOptions {
    fn default() -> Self {
        Self { transforms: None, passes: 2 }
    }
}

/// Transforms of one set of points.
pub struct Fft {
    transforms: u64,
    passes: u32,
    work: Buffer,
    buffers: Vec<Buffer>,
}

impl Fft {
    /// `transforms` transforms, `passes` times forward and back.
    ///
    /// # Errors
    /// An odd number of transforms, or none; no passes.
    pub fn new(transforms: u64, passes: u32) -> Result<Self, OptionError> {
        let transforms = scale::multiple("transforms", transforms, 2)?;
        scale::given("transforms", transforms * POINTS)?;
        let passes = scale::repeated("passes", passes, 3, 0)?;
        let mut space = AddressSpace::default();
        let work = space.allocate("work", transforms * POINTS * POINT);
        space.allocate("chk", 1);
        Ok(Self { transforms, passes, work, buffers: space.buffers().to_vec() })
    }

    /// The wavefront's points of `transform`, in eight pieces.
    fn pieces(&self, transform: u64) -> impl Iterator<Item = u64> {
        (0..POINTS / LANES).map(move |piece| self.work.at(transform * POINTS + piece * LANES, POINT))
    }

    /// First part: loads and arithmetic; second: stores.
    fn transform(&self, group: u64, costs: &cost::Transform, part: u32, out: &mut OpSink<'_>) {
        if part == 0 {
            push_all(out, &cost::ENTRY);
            for (address, before) in self.pieces(group).zip(costs.before_loads) {
                before.iter().for_each(|op| out.push(*op));
                load_span(out, address, LANES * POINT);
            }
            return push_all(out, costs.combine);
        }
        for (address, before) in self.pieces(group).zip(costs.before_stores) {
            before.iter().for_each(|op| out.push(*op));
            store_span(out, address, LANES * POINT);
        }
        out.push(Op::END);
    }

    fn compare(&self, group: u64, out: &mut OpSink<'_>) {
        out.push(Op::WAIT);
        for (address, before) in self.pieces(group).zip(cost::BEFORE_FIRST_HALF) {
            before.iter().for_each(|op| out.push(*op));
            load_span(out, address, LANES * POINT);
        }
        push_all(out, &cost::BETWEEN_HALVES);
        for address in self.pieces(group + self.transforms / 2) {
            load_span(out, address, LANES * POINT);
        }
        push_all(out, &cost::COMPARE);
        out.push(Op::END);
    }
}

/// Instructions of the compiled GCN3 kernels: vector, scalar, local data, branch. Waits for local memory alone are left
/// out.
mod cost {
    use octavo_program::Op;

    pub struct Transform {
        pub before_loads: [Option<Op>; 8],
        /// Both exchanges and all that is computed before the first store.
        pub combine: &'static [Op],
        pub before_stores: [Option<Op>; 8],
    }

    const fn vector(instructions: u32) -> Option<Op> {
        Some(Op::compute(instructions))
    }

    const fn mix(vector: u32, scalar: u32) -> Option<Op> {
        Some(Op::mix(vector, scalar, 0, 0))
    }

    pub const ENTRY: [Op; 1] = [Op::WAIT];

    pub const FORWARD: Transform = Transform {
        before_loads: [mix(19, 8), None, None, None, None, None, vector(1), None],
        combine: &[
            Op::mix(12, 3, 0, 0),
            Op::wait_until(6),
            Op::compute(4),
            Op::wait_until(4),
            Op::compute(1),
            Op::WAIT,
            Op::mix(237, 0, 32, 0),
        ],
        before_stores: [None, vector(22), vector(6), vector(14), None, None, None, None],
    };

    pub const BACK: Transform = Transform {
        before_loads: [mix(18, 8), None, None, None, vector(1), None, vector(1), None],
        combine: &[
            Op::mix(12, 4, 0, 0),
            Op::wait_until(6),
            Op::compute(4),
            Op::wait_until(4),
            Op::compute(4),
            Op::wait_until(2),
            Op::compute(6),
            Op::WAIT,
            Op::mix(228, 0, 32, 0),
        ],
        before_stores: [None, vector(23), vector(8), vector(14), vector(4), vector(2), vector(2), vector(2)],
    };

    pub const BEFORE_FIRST_HALF: [Option<Op>; 8] =
        [mix(9, 4), None, vector(2), vector(2), mix(4, 1), None, mix(2, 1), mix(2, 1)];
    pub const BETWEEN_HALVES: [Op; 7] = [
        Op::mix(0, 3, 0, 0),
        Op::wait_until(6),
        Op::compute(6),
        Op::wait_until(4),
        Op::compute(8),
        Op::wait_until(2),
        Op::compute(8),
    ];
    const DIFFERENCE: Op = Op::mix(2, 2, 0, 0);
    pub const COMPARE: [Op; 11] = [
        Op::mix(0, 5, 0, 0),
        Op::wait_until(8),
        DIFFERENCE,
        Op::wait_until(6),
        DIFFERENCE,
        Op::wait_until(4),
        DIFFERENCE,
        Op::wait_until(2),
        DIFFERENCE,
        Op::WAIT,
        Op::mix(2, 3, 0, 1),
    ];
}

impl Workload for Fft {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["work", "chk"]).outputs(["work", "chk"]).build()
    }

    fn launches(&self) -> u32 {
        3 * self.passes
    }

    fn launch(&self, index: u32) -> Launch {
        let (kernel, groups) = [
            ("FFT512_device", self.transforms),
            ("IFFT512_device", self.transforms),
            ("chk512_device", self.transforms / 2),
        ][index as usize % 3];
        Launch { kernel: kernel.into(), work_groups: groups as u32, wavefronts_per_group: 1 }
    }

    fn resources(&self, index: u32) -> Resources {
        let (vector_registers, scalar_registers, local_data_bytes) =
            [(57, 9, 2304), (57, 9, 2304), (20, 18, 0)][index as usize % 3];
        Resources { vector_registers, scalar_registers, local_data_bytes }
    }

    fn waits_for_some(&self) -> bool {
        true
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, _wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let group = u64::from(group);
        parts(cursor, out, |part, out| match launch % 3 {
            0 => self.transform(group, &cost::FORWARD, part, out),
            1 => self.transform(group, &cost::BACK, part, out),
            _ => self.compare(group, out),
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "fft",
    summary: "Fourier transforms of 512 points, forward and back in place (SHOC FFT); 96 MB, streaming",
    source: "SHOC FFT, FFT512_device, IFFT512_device and chk512_device, size 3",
    schema: typed::schema::<FftOptions>,
    resolve: typed::resolve::<FftOptions>,
    build: |options, size: &Size| {
        let FftOptions { transforms, passes } = typed::parse(options)?;
        let fitting = || scale::length(PUBLISHED_TRANSFORMS, size.scale, 2);
        Ok(Box::new(Fft::new(transforms.map_or_else(fitting, Ok)?, passes)?))
    },
};
