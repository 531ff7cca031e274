//! Jacobi iteration for the Laplace equation in three dimensions (Giles's laplace3d, LPS of the GPGPU-Sim suite).
//!
//! A work-group of 32 x 4 threads takes the same number of columns and walks up through the planes, three of them in
//! local memory, halo included. The first 76 threads also load one halo element of each plane: the rows in front and
//! behind, then the columns at both sides with the corners, two for each row. Nodes on the surface are copied. The two
//! arrays, whose rows are padded as `cudaMallocPitch` does, swap from launch to launch.
//!
//! Groups are numbered along x, then y: with a contiguous range of groups for each GPU every plane is cut into bands.
//! Scale 1 is 256^3 nodes, chosen inside the published range of working sets: the suite's own 100^3 lies below it.
//! Other scales leave the rows as they are, since padding would spoil the footprint of shorter ones.

use std::ops::Range;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{load_ascending, load_lanes, parts, push_all};
use crate::kernels::last_written;
use crate::kernels::matrix::{ELEMENT_BYTES, Matrix, Rows, checked_side, overlap, scaled_side};
use crate::scale;

/// Threads along x and y of a work-group.
const THREADS: (i64, i64) = (32, 4);
/// Rows of a wavefront.
const WAVEFRONT_ROWS: i64 = 2;
/// Bytes to a multiple of which `cudaMallocPitch` pads rows (`textureAlignment` of NVIDIA's GPUs since compute
/// capability 2.0).
const PITCH_GRANULE: u64 = 512;
const CHOSEN_EDGE: u64 = 256;

/// Options of `lps`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LpsOptions {
    /// Nodes along x. Default 256 (this project's choice; the suite has 100).
    pub width: u64,
    /// Nodes along y. Default: 256 at scale 1 (as `width`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u64>,
    /// Nodes along z. Default: as for `height`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u64>,
    /// Iterations, one launch each, at least 1. Default 2 (laplace3d: 10; the suite: 1).
    pub iterations: u32,
}

impl Default for LpsOptions {
    fn default() -> Self {
        Self { width: CHOSEN_EDGE, height: None, depth: None, iterations: 2 }
    }
}

/// Iterations over one volume.
pub struct Lps {
    space: AddressSpace,
    /// Read by even launches and written by odd ones, and the other way round; planes follow one another.
    volumes: [Matrix; 2],
    width: i64,
    height: i64,
    depth: i64,
    iterations: u32,
}

impl Lps {
    /// `iterations` over `width` x `height` x `depth` nodes.
    ///
    /// # Errors
    /// No nodes, or too many; no iterations.
    pub fn new(width: u64, height: u64, depth: u64, iterations: u32) -> Result<Self, OptionError> {
        let width = checked_side("width", width, 1)?;
        let height = checked_side("height", height, 1)?;
        let depth = checked_side("depth", depth, 1)?;
        let pitch = (width * ELEMENT_BYTES).next_multiple_of(PITCH_GRANULE) / ELEMENT_BYTES;
        scale::given("depth", (pitch * height).saturating_mul(depth))?;
        let iterations = scale::at_least_one("iterations", iterations)?;
        let mut space = AddressSpace::default();
        let volumes = ["u1", "u2"].map(|name| Matrix::allocate(&mut space, name, height * depth, pitch));
        Ok(Self { space, volumes, width: width as i64, height: height as i64, depth: depth as i64, iterations })
    }

    fn from_options(options: &LpsOptions, scale: f64) -> Result<Self, OptionError> {
        let side = |given: Option<u64>| given.map_or_else(|| scaled_side(CHOSEN_EDGE, scale, 1), Ok);
        Self::new(options.width, side(options.height)?, side(options.depth)?, options.iterations)
    }

    fn groups(&self) -> (u32, u32) {
        let along = |nodes: i64, threads: i64| (nodes as u64).div_ceil(threads as u64) as u32;
        (along(self.width, THREADS.0), along(self.height, THREADS.1))
    }

    fn patch(&self, group: u32, wavefront: u32) -> Patch {
        let (x, y) = (i64::from(group % self.groups().0), i64::from(group / self.groups().0));
        let (left, top) = (x * THREADS.0, y * THREADS.1);
        let row = top + i64::from(wavefront) * WAVEFRONT_ROWS;
        let (x_nodes, y_nodes) = (0..self.width, 0..self.height);
        let rows = overlap(&(row..row + WAVEFRONT_ROWS), &y_nodes);
        let columns = overlap(&(left..left + THREADS.0), &x_nodes);
        let block = Rows::block(&rows, &columns);
        let (inner_rows, inner_columns) = (1..self.height - 1, 1..self.width - 1);
        let inside = Rows::block(&overlap(&rows, &inner_rows), &overlap(&columns, &inner_columns));
        let nodes_of = |rows: Option<Rows>| rows.map_or(0, |rows| u64::from(rows.count) * rows.columns);
        let halo = if wavefront == 0 {
            Halo::Rows([top - 1, top + THREADS.1].map(|row| Rows::block(&overlap(&(row..row + 1), &y_nodes), &columns)))
        } else {
            let rows = overlap(&(top - 1..top + THREADS.1 + 1), &y_nodes);
            Halo::Sides {
                rows,
                columns: [left - 1, left + THREADS.0].map(|column| x_nodes.contains(&column).then_some(column)),
            }
        };
        Patch { block, halo, any_inside: inside.is_some(), any_surface: nodes_of(inside) < nodes_of(block) }
    }

    /// First part: the lowest plane.
    fn enter(&self, from: &Matrix, patch: &Patch, out: &mut OpSink<'_>) {
        push_all(out, &cost::ENTRY);
        if let Some(block) = patch.block {
            out.push(cost::BEFORE_LOAD);
            from.load(out, block);
            push_all(out, &cost::TO_LOCAL);
        }
        out.push(cost::HALO_BRANCH);
        if patch.halo.any() {
            out.push(cost::BEFORE_LOAD);
            patch.halo.load(from, 0, out);
            push_all(out, &cost::TO_LOCAL);
        }
        push_all(out, &cost::BEFORE_PLANES);
    }

    /// Second part and every other one: the plane above plane `z` to local memory.
    fn load_above(&self, z: i64, from: &Matrix, patch: &Patch, out: &mut OpSink<'_>) {
        let above = (z + 1 < self.depth).then_some((z + 1) as u64 * self.height as u64);
        out.push(cost::PLANE_BRANCH);
        if let Some(block) = patch.block {
            push_all(out, &cost::MOVE_DOWN);
            if let Some(above) = above {
                out.push(cost::BEFORE_LOAD);
                from.load(out, block.down(above));
                push_all(out, &cost::TO_LOCAL);
            }
            out.push(cost::AFTER_ABOVE);
        }
        out.push(cost::HALO_PLANE_BRANCH);
        if patch.halo.any() {
            push_all(out, &cost::MOVE_HALO_DOWN);
            if let Some(above) = above {
                out.push(cost::BEFORE_LOAD);
                patch.halo.load(from, above, out);
                push_all(out, &cost::TO_LOCAL);
            }
        }
        push_all(out, &cost::MEET);
    }

    /// The parts between: plane `z` is computed.
    fn compute(&self, z: i64, to: &Matrix, patch: &Patch, out: &mut OpSink<'_>) {
        let surface = z == 0 || z + 1 == self.depth;
        out.push(cost::ACTIVE_BRANCH);
        if let Some(block) = patch.block {
            push_all(out, &cost::SURFACE_BRANCHES);
            if patch.any_inside && !surface {
                push_all(out, &cost::COMBINE);
            }
            push_all(out, &cost::AFTER_COMBINING);
            if patch.any_surface || surface {
                out.push(cost::COPY);
            }
            push_all(out, &cost::BEFORE_STORE);
            to.store(out, block.down(z as u64 * self.height as u64));
        }
        push_all(out, &cost::NEXT_PLANE);
    }
}

/// A wavefront's part of a plane.
struct Patch {
    block: Option<Rows>,
    halo: Halo,
    any_inside: bool,
    any_surface: bool,
}

/// A wavefront's loads of its group's halo.
enum Halo {
    /// The first: the rows in front and behind, where there are such.
    Rows([Option<Rows>; 2]),
    /// The second: the columns at both sides, where there are such, in each of these rows.
    Sides { rows: Range<i64>, columns: [Option<i64>; 2] },
}

impl Halo {
    fn any(&self) -> bool {
        match self {
            Self::Rows(rows) => rows.iter().any(Option::is_some),
            // A group has a row of nodes.
            Self::Sides { columns, .. } => columns.iter().any(Option::is_some),
        }
    }

    /// Loads it, `down` rows further down the volume.
    fn load(&self, from: &Matrix, down: u64, out: &mut OpSink<'_>) {
        match self {
            Self::Rows(rows) => {
                let span = |rows: &Rows| (from.at(rows.row + down, rows.column), rows.columns * ELEMENT_BYTES);
                load_ascending(out, rows.iter().flatten().map(span));
            }
            Self::Sides { rows, columns } => {
                let places = rows.clone().flat_map(|row| columns.iter().flatten().map(move |column| (row, *column)));
                load_lanes(out, places.map(|(row, column)| from.at(row as u64 + down, column as u64)));
            }
        }
    }
}

/// Instructions of the compiled GCN3 kernel: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const ENTRY: [Op; 7] = [
        Op::mix(7, 8, 0, 1),
        Op::mix(9, 6, 0, 0),
        Op::WAIT,
        Op::mix(11, 5, 0, 0),
        Op::mix(2, 1, 0, 0),
        Op::WAIT,
        Op::mix(7, 3, 0, 1),
    ];
    pub const BEFORE_LOAD: Op = Op::mix(5, 0, 0, 0);
    pub const TO_LOCAL: [Op; 2] = [Op::WAIT, Op::mix(0, 0, 1, 0)];
    pub const HALO_BRANCH: Op = Op::mix(1, 2, 0, 1);
    pub const BEFORE_PLANES: [Op; 2] = [Op::mix(0, 2, 0, 1), Op::mix(8, 9, 0, 1)];
    pub const PLANE_BRANCH: Op = Op::mix(1, 2, 0, 1);
    pub const MOVE_DOWN: [Op; 3] = [Op::mix(1, 1, 1, 0), Op::WAIT, Op::mix(0, 0, 1, 1)];
    pub const AFTER_ABOVE: Op = Op::mix(1, 0, 0, 0);
    pub const HALO_PLANE_BRANCH: Op = Op::mix(0, 3, 0, 1);
    pub const MOVE_HALO_DOWN: [Op; 3] = [Op::mix(1, 1, 1, 0), Op::WAIT, Op::mix(0, 0, 2, 1)];
    pub const MEET: [Op; 4] = [Op::mix(0, 1, 0, 0), Op::WAIT, Op::BARRIER, Op::WAIT];
    pub const ACTIVE_BRANCH: Op = Op::mix(0, 1, 0, 1);
    pub const SURFACE_BRANCHES: [Op; 2] = [Op::mix(0, 2, 0, 1), Op::mix(0, 8, 0, 1)];
    pub const COMBINE: [Op; 7] = [
        Op::mix(0, 0, 3, 0),
        Op::WAIT,
        Op::mix(1, 0, 0, 0),
        Op::WAIT,
        Op::mix(1, 0, 0, 0),
        Op::WAIT,
        Op::mix(4, 0, 0, 0),
    ];
    pub const AFTER_COMBINING: [Op; 2] = [Op::mix(0, 2, 0, 0), Op::mix(0, 2, 0, 1)];
    pub const COPY: Op = Op::mix(0, 0, 1, 1);
    pub const BEFORE_STORE: [Op; 2] = [Op::mix(5, 1, 0, 0), Op::WAIT];
    pub const NEXT_PLANE: [Op; 5] = [Op::mix(1, 3, 0, 0), Op::WAIT, Op::BARRIER, Op::WAIT, Op::mix(0, 0, 0, 1)];
}

impl Workload for Lps {
    fn buffers(&self) -> &[Buffer] {
        self.space.buffers()
    }

    fn host_side(&self) -> HostSide {
        let result = last_written(["u1", "u2"], self.launches());
        HostSide::of(self.buffers()).inputs(["u1"]).scratch(["u2"]).outputs([result]).build()
    }

    fn launches(&self) -> u32 {
        self.iterations
    }

    fn launch(&self, _index: u32) -> Launch {
        let (x, y) = self.groups();
        let wavefronts_per_group = (THREADS.1 / WAVEFRONT_ROWS) as u32;
        Launch { kernel: "GPU_laplace3d".into(), work_groups: x * y, wavefronts_per_group }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 17, scalar_registers: 28, local_data_bytes: 2448 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let patch = self.patch(group, wavefront);
        let from = launch as usize % 2;
        let [from, to] = [&self.volumes[from], &self.volumes[1 - from]];
        parts(cursor, out, |part, out| match part.checked_sub(1).map(|part| (i64::from(part / 2), part % 2)) {
            None => self.enter(from, &patch, out),
            Some((z, _)) if z == self.depth => out.push(Op::END),
            Some((z, 0)) => self.load_above(z, from, &patch, out),
            Some((z, _)) => self.compute(z, to, &patch, out),
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "lps",
    summary: "Jacobi iteration of the Laplace equation in a cube (laplace3d); 128 MB, stencil, strided",
    source: "laplace3d as in the GPGPU-Sim (ISPASS 2009) suite, GPU_laplace3d; 256^3 chosen",
    schema: typed::schema::<LpsOptions>,
    resolve: typed::resolve::<LpsOptions>,
    build: |options, size: &Size| Ok(Box::new(Lps::from_options(&typed::parse(options)?, size.scale)?)),
};
