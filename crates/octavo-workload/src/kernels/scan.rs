//! Scan (SHOC): the prefix sums of a vector, reduce-then-scan with 64 work-groups of 256 threads.
//!
//! Three launches for each iteration, over one contiguous region of the vector for each work-group (the last takes the
//! rest). In the first, each group sums its region. In the second, one group scans the 64 sums. In the third, each
//! group scans its region, 1024 elements in each turn (four for each thread), through local memory, and writes the
//! result to another buffer. So the vector is read twice and, with a contiguous range of groups for each GPU, every
//! page belongs to one GPU, except for those at the borders.
//!
//! SHOC's largest size: 64 MB of single-precision elements in and 64 MB out. It repeats the three launches 256 times
//! and then does the same in double precision, which is left out.

use std::ops::Range;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_scalar, load_span, parts, push_all, store_span};
use crate::kernels::group_sum::{self, THREADS, WAVEFRONTS};
use crate::kernels::matrix::ELEMENT_BYTES;
use crate::scale;

/// Work-groups of the first and the last launch.
pub const GROUPS: u64 = 64;
/// Elements of a float4.
pub const VECTOR: u64 = 4;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Elements at scale 1.
const PUBLISHED_ELEMENTS: u64 = 64 * scale::MEGABYTE / ELEMENT_BYTES;

/// Options of `scan`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScanOptions {
    /// Elements of the vector, a multiple of 4. Default: 64 MB of them times the scale (SHOC, size 4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<u64>,
    /// How often the vector is scanned, at least once. Default 4 (SHOC: 256, all alike).
    pub iterations: u32,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self { elements: None, iterations: 4 }
    }
}

/// Scans of one vector.
pub struct Scan {
    elements: u64,
    iterations: u32,
    input: Buffer,
    output: Buffer,
    sums: Buffer,
    buffers: Vec<Buffer>,
}

impl Scan {
    /// `iterations` scans of `elements` elements.
    ///
    /// # Errors
    /// Not a multiple of [`VECTOR`] (the kernel would leave the rest out), or no iterations.
    pub fn new(elements: u64, iterations: u32) -> Result<Self, OptionError> {
        let elements = scale::multiple("elements", elements, VECTOR)?;
        let iterations = scale::repeated("iterations", iterations, 3, 0)?;
        let mut space = AddressSpace::default();
        let mut vector = |name| space.allocate(name, elements * ELEMENT_BYTES);
        let (input, output) = (vector("idata"), vector("odata"));
        let sums = space.allocate("block_sums", GROUPS * ELEMENT_BYTES);
        Ok(Self { elements, iterations, input, output, sums, buffers: space.buffers().to_vec() })
    }

    /// The float4 of the vector that `group` scans.
    fn region(&self, group: u32) -> Range<u64> {
        let (vectors, group) = (self.elements / VECTOR, u64::from(group));
        let region = vectors / GROUPS;
        group * region..if group + 1 == GROUPS { vectors } else { (group + 1) * region }
    }

    /// The first launch: the first part is the set-up, then each 256 elements are one, then the sums are added up.
    fn reduce(&self, group: u32, wavefront: u32, part: u32, out: &mut OpSink<'_>) {
        let Range { start, end } = self.region(group);
        let turn = |index: u64| start * VECTOR + u64::from(wavefront) * LANES + index * THREADS;
        match part.checked_sub(1).map(|index| turn(index.into())) {
            None => {
                push_all(out, &cost::REDUCE_ENTRY);
                if turn(0) < end * VECTOR {
                    out.push(cost::BEFORE_TURNS);
                }
            }
            Some(first) if first < end * VECTOR => {
                push_all(out, &cost::BEFORE_ELEMENT);
                let lanes = LANES.min(end * VECTOR - first);
                load_span(out, self.input.at(first, ELEMENT_BYTES), lanes * ELEMENT_BYTES);
                push_all(out, &cost::AFTER_ELEMENT);
            }
            Some(_) => {
                if part > 1 {
                    out.push(cost::AFTER_TURNS);
                }
                out.push(cost::BEFORE_SUM);
                group_sum::finish(out, wavefront, self.sums.at(group.into(), ELEMENT_BYTES));
            }
        }
    }

    /// The second launch: one work-group, of which 64 threads have a sum.
    fn scan_sums(&self, wavefront: u32, part: u32, out: &mut OpSink<'_>) {
        let bytes = if wavefront == 0 { GROUPS * ELEMENT_BYTES } else { 0 };
        match part {
            0 => {
                push_all(out, &cost::SUMS_ENTRY);
                load_span(out, self.sums.base, bytes);
                push_all(out, &cost::AFTER_SUMS);
            }
            1 => local_scan(out),
            _ => {
                out.push(cost::BEFORE_STORING_SUMS);
                if bytes > 0 {
                    out.push(Op::WAIT);
                }
                store_span(out, self.sums.base, bytes);
                out.push(Op::END);
            }
        }
    }

    /// The third launch: the first part is the set-up, then each 256 float4 are three.
    fn scan(&self, group: u32, wavefront: u32, part: u32, out: &mut OpSink<'_>) {
        let Range { start, end } = self.region(group);
        let Some(index) = part.checked_sub(1) else { return self.seed(group, wavefront, start < end, out) };
        let window = start + u64::from(index / 3) * THREADS;
        if window >= end {
            return out.push(Op::END);
        }
        let first = window + u64::from(wavefront) * LANES;
        let bytes = LANES.min(end.saturating_sub(first)) * VECTOR * ELEMENT_BYTES;
        match index % 3 {
            0 => self.read_window(first, bytes, out),
            1 => local_scan(out),
            _ => self.write_window(first, bytes, wavefront, out),
        }
    }

    /// The first wavefront fetches the sum before the region.
    fn seed(&self, group: u32, wavefront: u32, any: bool, out: &mut OpSink<'_>) {
        out.push(cost::SCAN_ENTRY);
        if wavefront == 0 {
            push_all(out, &cost::BEFORE_SEED);
            load_scalar(out, self.sums.at(group.into(), ELEMENT_BYTES));
            push_all(out, &cost::AFTER_SEED);
        }
        push_all(out, &cost::BEFORE_WINDOWS);
        if any {
            out.push(cost::FIRST_WINDOW);
        }
    }

    fn read_window(&self, first: u64, bytes: u64, out: &mut OpSink<'_>) {
        out.push(cost::WINDOW);
        if bytes > 0 {
            push_all(out, &cost::BEFORE_VECTOR);
            load_span(out, self.input.base + first * VECTOR * ELEMENT_BYTES, bytes);
        }
        push_all(out, &cost::AFTER_VECTOR);
    }

    fn write_window(&self, first: u64, bytes: u64, wavefront: u32, out: &mut OpSink<'_>) {
        push_all(out, &cost::AFTER_SCAN);
        if bytes > 0 {
            out.push(cost::BEFORE_STORE);
            store_span(out, self.output.base + first * VECTOR * ELEMENT_BYTES, bytes);
        }
        out.push(cost::AFTER_STORE);
        if wavefront + 1 == WAVEFRONTS {
            out.push(cost::NEXT_SEED);
        }
        out.push(cost::NEXT_WINDOW);
    }
}

/// The scan of a work-group's 256 values in local memory: eight steps of a read, an addition and two barriers.
fn local_scan(out: &mut OpSink<'_>) {
    push_all(out, &cost::MEET);
    for _ in 0..THREADS.ilog2() {
        out.push(cost::READ);
        push_all(out, &cost::MEET);
        push_all(out, &cost::ADD);
        push_all(out, &cost::MEET);
    }
}

/// Instructions of the compiled GCN3 kernels: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const REDUCE_ENTRY: [Op; 2] = [Op::WAIT, Op::mix(26, 6, 0, 1)];
    pub const BEFORE_TURNS: Op = Op::mix(2, 1, 0, 0);
    pub const BEFORE_ELEMENT: [Op; 3] = [Op::mix(1, 0, 0, 0), Op::WAIT, Op::mix(3, 0, 0, 0)];
    pub const AFTER_ELEMENT: [Op; 3] = [Op::mix(2, 1, 0, 0), Op::WAIT, Op::mix(1, 1, 0, 1)];
    pub const AFTER_TURNS: Op = Op::mix(0, 1, 0, 0);
    pub const BEFORE_SUM: Op = Op::mix(2, 3, 1, 0);

    pub const SUMS_ENTRY: [Op; 3] = [Op::mix(2, 0, 0, 0), Op::WAIT, Op::mix(4, 1, 0, 1)];
    pub const AFTER_SUMS: [Op; 3] = [Op::mix(2, 2, 1, 0), Op::WAIT, Op::mix(0, 0, 1, 0)];
    pub const BEFORE_STORING_SUMS: Op = Op::mix(0, 1, 1, 1);

    pub const MEET: [Op; 3] = [Op::WAIT, Op::BARRIER, Op::WAIT];
    pub const READ: Op = Op::mix(0, 0, 1, 0);
    pub const ADD: [Op; 3] = [Op::mix(0, 0, 1, 0), Op::WAIT, Op::mix(1, 0, 1, 0)];

    pub const SCAN_ENTRY: Op = Op::mix(1, 3, 0, 1);
    pub const BEFORE_SEED: [Op; 3] = [Op::mix(1, 1, 0, 0), Op::WAIT, Op::mix(0, 2, 0, 0)];
    pub const AFTER_SEED: [Op; 2] = [Op::WAIT, Op::mix(1, 0, 1, 0)];
    pub const BEFORE_WINDOWS: [Op; 3] = [Op::mix(0, 1, 0, 0), Op::WAIT, Op::mix(23, 6, 0, 1)];
    pub const FIRST_WINDOW: Op = Op::mix(3, 3, 0, 1);
    /// At the start of each window.
    pub const WINDOW: Op = Op::mix(6, 4, 0, 1);
    pub const BEFORE_VECTOR: [Op; 3] = [Op::mix(1, 0, 0, 0), Op::WAIT, Op::mix(3, 0, 0, 0)];
    /// The sums of a thread's four elements.
    pub const AFTER_VECTOR: [Op; 3] = [Op::mix(0, 1, 0, 0), Op::WAIT, Op::mix(3, 0, 2, 0)];
    pub const AFTER_SCAN: [Op; 3] = [Op::mix(0, 0, 2, 0), Op::WAIT, Op::mix(5, 1, 0, 1)];
    pub const BEFORE_STORE: Op = Op::mix(4, 0, 0, 0);
    pub const AFTER_STORE: Op = Op::mix(0, 2, 0, 1);
    pub const NEXT_SEED: Op = Op::mix(0, 0, 1, 1);
    pub const NEXT_WINDOW: Op = Op::mix(2, 2, 0, 1);
}

impl Workload for Scan {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["idata"]).outputs(["odata"]).scratch(["block_sums"]).build()
    }

    fn launches(&self) -> u32 {
        3 * self.iterations
    }

    fn launch(&self, index: u32) -> Launch {
        let (kernel, groups) =
            [("reduce", GROUPS), ("scan_single_block", 1), ("bottom_scan", GROUPS)][index as usize % 3];
        Launch { kernel: kernel.into(), work_groups: groups as u32, wavefronts_per_group: WAVEFRONTS }
    }

    fn resources(&self, index: u32) -> Resources {
        let (vector_registers, scalar_registers, local_data_bytes) =
            [(8, 12, 1024), (5, 8, 2048), (12, 14, 2052)][index as usize % 3];
        Resources { vector_registers, scalar_registers, local_data_bytes }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        parts(cursor, out, |part, out| match launch % 3 {
            0 => self.reduce(group, wavefront, part, out),
            1 => self.scan_sums(wavefront, part, out),
            _ => self.scan(group, wavefront, part, out),
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "scan",
    summary: "prefix sums of a vector, region by region (SHOC Scan); 128 MB, streaming",
    source: "SHOC Scan, reduce, scan_single_block and bottom_scan, size 4",
    schema: typed::schema::<ScanOptions>,
    resolve: typed::resolve::<ScanOptions>,
    build: |options, size: &Size| {
        let ScanOptions { elements, iterations } = typed::parse(options)?;
        let fitting = || scale::length(PUBLISHED_ELEMENTS, size.scale, VECTOR);
        Ok(Box::new(Scan::new(elements.map_or_else(fitting, Ok)?, iterations)?))
    },
};
