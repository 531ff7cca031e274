//! Seven-point stencil in three dimensions (Parboil stencil), the kernel that keeps two columns of blocks a group.
//!
//! A work-group of 32 x 4 threads takes 64 x 4 columns, two for each thread, and walks up through the planes. It keeps
//! the plane it works on in local memory and the planes above and below in registers. Neighbours that belong to other
//! groups are read from global memory, one element at a time at either side, 32 in front and behind. The surface of the
//! volume is read, never written. Arrays swap from launch to launch.
//!
//! Groups are numbered along x, then y: with a contiguous range of groups for each GPU every plane is cut into bands,
//! whose border rows alone are read by two. Scale 1 is Parboil's larger input, 512 x 512 x 64; it takes 100 iterations.

use std::ops::Range;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{parts, push_all};
use crate::kernels::last_written;
use crate::kernels::matrix::{Matrix, Rows, checked_side, overlap, scaled_side};
use crate::scale;

/// Threads along x and y of a work-group.
const THREADS: (i64, i64) = (32, 4);
/// Columns of blocks of a work-group.
const HALVES: i64 = 2;
/// Rows of a wavefront.
const WAVEFRONT_ROWS: i64 = 2;
/// Widths are multiples of it, so that rows begin on lines.
const WIDTH_GRANULE: u64 = 16;
const PUBLISHED_SIDE: u64 = 512;
/// Planes at every scale.
const PLANES: u64 = 64;

/// Options of `3ds`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stencil3dOptions {
    /// Elements along x, a multiple of 16. Default: 512 at scale 1 (Parboil).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
    /// Elements along y. Default: as for `width`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u64>,
    /// Planes, at least 3. Default 64 (Parboil).
    pub depth: u64,
    /// Iterations, one launch each, at least 1. Default 4 (Parboil: 100, all alike).
    pub iterations: u32,
}

impl Default for Stencil3dOptions {
    fn default() -> Self {
        Self { width: None, height: None, depth: PLANES, iterations: 4 }
    }
}

/// Iterations over one volume.
pub struct Stencil3d {
    space: AddressSpace,
    /// Read by even launches and written by odd ones, and the other way round; planes follow one another.
    volumes: [Matrix; 2],
    width: i64,
    height: i64,
    depth: u64,
    iterations: u32,
}

impl Stencil3d {
    /// `iterations` over `width` x `height` x `depth` elements.
    ///
    /// # Errors
    /// A width that is not a multiple of 16, sizes of nothing, fewer than three planes, no iterations.
    pub fn new(width: u64, height: u64, depth: u64, iterations: u32) -> Result<Self, OptionError> {
        let width = checked_side("width", width, WIDTH_GRANULE)?;
        let height = checked_side("height", height, 1)?;
        let depth = checked_side("depth", depth, 1)?;
        if depth < 3 {
            return Err(OptionError::new("depth", format!("expected at least 3, found {depth}")));
        }
        scale::given("depth", width.saturating_mul(height).saturating_mul(depth))?;
        let iterations = scale::at_least_one("iterations", iterations)?;
        let mut space = AddressSpace::default();
        let volumes = ["A0", "Anext"].map(|name| Matrix::allocate(&mut space, name, height * depth, width));
        Ok(Self { space, volumes, width: width as i64, height: height as i64, depth, iterations })
    }

    fn from_options(options: &Stencil3dOptions, scale: f64) -> Result<Self, OptionError> {
        let side = |given: Option<u64>| given.map_or_else(|| scaled_side(PUBLISHED_SIDE, scale, WIDTH_GRANULE), Ok);
        Self::new(side(options.width)?, side(options.height)?, options.depth, options.iterations)
    }

    fn groups_x(&self) -> u32 {
        (self.width as u64).div_ceil((HALVES * THREADS.0) as u64) as u32
    }

    fn column(&self, group: u32, wavefront: u32, half: i64) -> Column {
        let (x, y) = (i64::from(group % self.groups_x()), i64::from(group / self.groups_x()));
        let first = (x * HALVES + half) * THREADS.0;
        let row = y * THREADS.1 + i64::from(wavefront) * WAVEFRONT_ROWS;
        let columns = overlap(&(first..first + THREADS.0), &(0..self.width));
        let rows = overlap(&(row..row + WAVEFRONT_ROWS), &(0..self.height));
        Column {
            inner: (overlap(&rows, &(1..self.height - 1)), overlap(&columns, &(1..self.width - 1))),
            all: Rows::block(&rows, &columns),
            // The element at the side that the other half does not have, and its neighbour.
            edge: if half == 0 { (first, first - 1) } else { (first + THREADS.0 - 1, first + THREADS.0) },
            // The row at the front or the back of the group, and its neighbour.
            border: if wavefront == 0 { (row, row - 1) } else { (row + 1, row + 2) },
            front: wavefront == 0,
        }
    }

    /// First part: both lowest planes of both halves.
    fn enter(&self, from: &Matrix, halves: &[Column; 2], out: &mut OpSink<'_>) {
        push_all(out, &cost::ENTRY);
        for (half, between) in halves.iter().zip(cost::AFTER_FIRST_PLANES) {
            if let Some(all) = half.all {
                out.push(cost::BEFORE_FIRST_PLANES);
                from.load(out, all.down(self.height as u64));
                from.load(out, all);
                push_all(out, &cost::TO_LOCAL);
            }
            out.push(between);
        }
        push_all(out, &cost::BEFORE_PLANES);
    }

    /// One part for each plane.
    fn plane(&self, z: u64, [from, to]: [&Matrix; 2], halves: &[Column; 2], out: &mut OpSink<'_>) {
        let plane = z * self.height as u64;
        for (half, costs) in halves.iter().zip(&cost::HALVES) {
            out.push(costs.entry);
            if let Some(all) = half.all {
                out.push(costs.before_above);
                from.load(out, all.down(plane + self.height as u64));
            }
            out.push(cost::INNER_BRANCH);
            if let Some(inner) = Rows::block(&half.inner.0, &half.inner.1) {
                half.neighbours(plane, from, costs, out);
                push_all(out, &cost::COMBINE);
                to.store(out, inner.down(plane));
            }
        }
        push_all(out, &cost::NEXT_PLANE);
    }
}

/// A wavefront's part of one of its group's two columns of blocks.
struct Column {
    /// Rows and columns that are not on the surface of the volume.
    inner: (Range<i64>, Range<i64>),
    all: Option<Rows>,
    /// Column whose neighbour is not in local memory, and that neighbour.
    edge: (i64, i64),
    /// Row whose neighbour is not in local memory, and that neighbour.
    border: (i64, i64),
    /// Whether that row is the group's first.
    front: bool,
}

impl Column {
    /// The three kinds of neighbours in the plane: at the side, in front, behind; from local memory for some threads,
    /// from global memory for the others.
    fn neighbours(&self, plane: u64, from: &Matrix, costs: &cost::Half, out: &mut OpSink<'_>) {
        let (rows, columns) = &self.inner;
        let side = columns.contains(&self.edge.0).then(|| Rows::block(rows, &(self.edge.1..self.edge.1 + 1))).flatten();
        let inside = columns.end - columns.start > i64::from(side.is_some());
        neighbour(side, inside, plane, from, costs.side, out);
        let border = rows.contains(&self.border.0);
        let row = border.then(|| Rows::block(&(self.border.1..self.border.1 + 1), columns)).flatten();
        let inside = rows.end - rows.start > i64::from(border);
        let (front, behind) = if self.front { (row, None) } else { (None, row) };
        neighbour(front, inside || !self.front, plane, from, costs.front, out);
        neighbour(behind, inside || self.front, plane, from, costs.behind, out);
        if behind.is_some() {
            out.push(costs.after_behind);
        }
    }
}

/// One kind of neighbour: `outside` from global memory; `inside` tells whether any thread has it in local memory.
fn neighbour(
    outside: Option<Rows>,
    inside: bool,
    plane: u64,
    from: &Matrix,
    costs: cost::Neighbour,
    out: &mut OpSink<'_>,
) {
    out.push(costs.local_branch);
    if inside {
        out.push(cost::FROM_LOCAL);
    }
    out.push(costs.global_branch);
    if let Some(rows) = outside {
        push_all(out, &[Op::WAIT, costs.before_load]);
        from.load(out, rows.down(plane));
    }
}

/// Instructions of the compiled GCN3 kernel: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const ENTRY: [Op; 7] =
        [Op::mix(0, 1, 0, 0), Op::WAIT, Op::mix(8, 3, 1, 0), Op::WAIT, Op::BARRIER, Op::WAIT, Op::mix(0, 1, 0, 1)];
    pub const BEFORE_FIRST_PLANES: Op = Op::mix(14, 0, 0, 0);
    pub const TO_LOCAL: [Op; 2] = [Op::wait_until(1), Op::mix(0, 0, 1, 0)];
    pub const AFTER_FIRST_PLANES: [Op; 2] = [Op::mix(3, 3, 0, 1), Op::mix(0, 2, 0, 0)];
    pub const BEFORE_PLANES: [Op; 5] = [Op::WAIT, Op::BARRIER, Op::WAIT, Op::mix(0, 0, 0, 1), Op::mix(26, 15, 0, 1)];

    /// The differences between the two columns of blocks.
    pub struct Half {
        pub entry: Op,
        pub before_above: Op,
        pub side: Neighbour,
        pub front: Neighbour,
        pub behind: Neighbour,
        pub after_behind: Op,
    }

    #[derive(Clone, Copy)]
    pub struct Neighbour {
        pub local_branch: Op,
        pub global_branch: Op,
        pub before_load: Op,
    }

    const BRANCH: Op = Op::mix(0, 2, 0, 1);
    const NEXT_BRANCH: Op = Op::mix(0, 3, 0, 1);

    const fn neighbour(local_branch: Op, global_branch: Op, vector: u32) -> Neighbour {
        Neighbour { local_branch, global_branch, before_load: Op::mix(vector, 0, 0, 0) }
    }

    const fn half(entry: Op, vector: [u32; 4], after_behind: Op) -> Half {
        let [above, side, front, behind] = vector;
        Half {
            entry,
            before_above: Op::mix(above, 0, 0, 0),
            side: neighbour(BRANCH, BRANCH, side),
            front: neighbour(NEXT_BRANCH, BRANCH, front),
            behind: neighbour(NEXT_BRANCH, Op::mix(1, 2, 0, 1), behind),
            after_behind,
        }
    }

    pub const HALVES: [Half; 2] =
        [half(Op::mix(0, 1, 0, 1), [6, 7, 6, 6], Op::mix(1, 1, 0, 0)), half(BRANCH, [7, 7, 7, 7], Op::mix(1, 1, 0, 1))];
    pub const INNER_BRANCH: Op = BRANCH;
    pub const FROM_LOCAL: Op = Op::mix(0, 0, 1, 0);
    pub const COMBINE: [Op; 3] = [Op::mix(2, 1, 1, 0), Op::WAIT, Op::mix(13, 0, 0, 0)];
    pub const NEXT_PLANE: [Op; 9] = [
        Op::mix(0, 1, 0, 0),
        Op::WAIT,
        Op::BARRIER,
        Op::WAIT,
        Op::mix(4, 4, 2, 0),
        Op::WAIT,
        Op::BARRIER,
        Op::WAIT,
        Op::mix(0, 0, 0, 1),
    ];
}

impl Workload for Stencil3d {
    fn buffers(&self) -> &[Buffer] {
        self.space.buffers()
    }

    /// The surface is read from both arrays and never written. Parboil fills the second one from the first, on the GPU;
    /// here the host does.
    fn host_side(&self) -> HostSide {
        let result = last_written(["A0", "Anext"], self.launches());
        HostSide::of(self.buffers()).inputs(["A0", "Anext"]).outputs([result]).build()
    }

    fn launches(&self) -> u32 {
        self.iterations
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = self.groups_x() * (self.height as u64).div_ceil(THREADS.1 as u64) as u32;
        let wavefronts_per_group = (THREADS.1 / WAVEFRONT_ROWS) as u32;
        Launch { kernel: "block2D_hybrid_coarsen_x".into(), work_groups, wavefronts_per_group }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 21, scalar_registers: 36, local_data_bytes: 1024 }
    }

    fn waits_for_some(&self) -> bool {
        true
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let halves = [0, 1].map(|half| self.column(group, wavefront, half));
        let from = launch as usize % 2;
        let [from, to] = [&self.volumes[from], &self.volumes[1 - from]];
        parts(cursor, out, |part, out| match u64::from(part) {
            0 => self.enter(from, &halves, out),
            z if z + 1 < self.depth => self.plane(z, [from, to], &halves, out),
            _ => out.push(Op::END),
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "3ds",
    summary: "seven-point stencil of a volume, plane by plane (Parboil stencil); 128 MB, stencil, strided",
    source: "Parboil stencil, block2D_hybrid_coarsen_x, 512 x 512 x 64",
    schema: typed::schema::<Stencil3dOptions>,
    resolve: typed::resolve::<Stencil3dOptions>,
    build: |options, size: &Size| Ok(Box::new(Stencil3d::from_options(&typed::parse(options)?, size.scale)?)),
};
