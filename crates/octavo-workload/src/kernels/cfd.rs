//! Flow around a body (Rodinia `cfd`, `euler3d`): a finite-volume solver on an unstructured mesh of tetrahedra, an
//! element for each thread.
//!
//! Each array has a row for each of the five variables (and for each neighbour and coordinate of a normal), so that the
//! elements of a wavefront are side by side. Only the neighbours' variables are gathered. An iteration copies the
//! variables, finds a time step for each element, and three times computes fluxes and moves on. A lane whose neighbour
//! is a boundary reads none of its variables. Work-groups of 192 threads; the last element's place is filled up.
//!
//! The mesh is made, not read: a cube of small cubes, each of six tetrahedra. The bottom is a wing, and the other sides
//! are far away. Elements are shuffled within windows, as meshes of real bodies have neighbours near in number but not
//! next to each other. Normals and flows are not computed: addresses and control flow depend on neighbours alone.
//!
//! Rodinia's largest mesh has 232,536 elements; scale 1 is 34^3 cubes, 235,824 elements. Rodinia iterates 2000 times;
//! here twice is the default.

mod mesh;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::mesh::{FAR_FIELD, Mesh, NEIGHBOURS, WING};
use crate::emit::{WAVEFRONT_LANES, load_lanes, load_span, push_all, steps, store_span};
use crate::scale;

/// Bytes of an element of any array.
const WORD: u64 = 4;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Threads of a work-group.
const GROUP: u64 = 192;
/// Density, momentum in three dimensions, energy: rows of an array in the order in which they are loaded and stored.
const VARIABLES: u32 = 5;
const DIMENSIONS: u32 = 3;
/// Launches before the first iteration: initial values of three arrays. Steps of Runge and Kutta of an iteration.
const INITIAL: u32 = 3;
const STAGES: u32 = 3;
const OF_ITERATION: u32 = 2 + 2 * STAGES;
/// Small cubes at scale 1, tetrahedra of each, and cubes along a side at most.
const USUAL_CUBES: u64 = 34 * 34 * 34;
const MOST_SIDE: u64 = 400;

/// Instructions of the kernels, compiled for GCN3: vector, scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const SET_UP: [Op; 2] = [Op::mix(2, 1, 0, 0), Op::mix(4, 1, 0, 0)];
    pub const SET: [Op; 5] =
        [Op::mix(1, 1, 0, 0), Op::mix(5, 1, 0, 0), Op::mix(7, 0, 0, 0), Op::mix(7, 0, 0, 0), Op::mix(6, 0, 0, 0)];
    /// A copy of one word a thread.
    pub const COPY: [Op; 2] = [Op::mix(3, 1, 0, 0), Op::mix(6, 0, 0, 0)];

    pub const LOCATE: Op = Op::mix(3, 1, 0, 0);
    pub const BEFORE_FIRST: Op = Op::mix(3, 2, 0, 0);
    pub const BEFORE_MOMENTUM: [Op; 2] = [Op::mix(14, 1, 0, 0), Op::mix(17, 1, 0, 0)];
    pub const BEFORE_ENERGY: [Op; 2] = [Op::mix(6, 0, 0, 0), Op::mix(4, 0, 0, 0)];
    pub const BEFORE_AREA: Op = Op::mix(3, 0, 0, 0);
    pub const DURING_AREA: Op = Op::mix(1, 1, 0, 0);
    pub const STEP_FACTOR: Op = Op::mix(33, 0, 0, 0);

    pub const DURING_OWN: Op = Op::mix(5, 10, 0, 0);
    pub const OWN_FLUX: Op = Op::mix(37, 0, 0, 1);
    pub const BEFORE_NEIGHBOUR: Op = Op::mix(7, 0, 0, 0);
    pub const BEFORE_NORMAL: Op = Op::mix(11, 0, 0, 0);
    pub const TEST: Op = Op::mix(1, 2, 0, 1);
    pub const AT_BOUNDARY: Op = Op::mix(1, 2, 0, 1);
    pub const WING: Op = Op::mix(3, 0, 0, 0);
    pub const BEFORE_FAR: Op = Op::mix(0, 2, 0, 1);
    pub const FAR: Op = Op::mix(34, 4, 0, 1);
    pub const AFTER_BOUNDARY: Op = Op::mix(0, 2, 0, 0);
    pub const OTHERS: Op = Op::mix(0, 2, 0, 1);
    pub const BEFORE_VARIABLES: Op = Op::mix(17, 0, 0, 0);
    pub const BEFORE_LAST_TWO: Op = Op::mix(8, 0, 0, 0);
    pub const FLUX: Op = Op::mix(75, 0, 0, 1);
    pub const NEXT: Op = Op::mix(1, 3, 0, 1);
    pub const BEFORE_STORES: Op = Op::mix(4, 0, 0, 0);
    pub const BETWEEN_STORES: Op = Op::mix(3, 0, 0, 0);

    pub const BEFORE_FACTOR: Op = Op::mix(3, 0, 0, 0);
    pub const BEFORE_OLD: Op = Op::mix(6, 0, 0, 0);
    /// After the loads of each variable in turn.
    pub const MOVE: [Op; 5] =
        [Op::mix(18, 9, 0, 0), Op::mix(7, 0, 0, 0), Op::mix(12, 0, 0, 0), Op::mix(14, 0, 0, 0), Op::mix(3, 0, 0, 0)];
    /// Density, energy, then momentum.
    pub const ORDER: [u32; 5] = [0, 4, 1, 2, 3];
}

/// Options of `cfd`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CfdOptions {
    /// Small cubes along a side of the mesh, six elements each, 1 to 400. Default: enough for 235824 elements times the
    /// scale (near Rodinia's largest mesh).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<u64>,
    /// Elements within which the mesh is shuffled, at least 1. Default 1024 (this project's choice).
    pub window: u32,
    /// Iterations, 1 to 10000. Default 2 (this project's choice; Rodinia: 2000).
    pub iterations: u32,
}

impl Default for CfdOptions {
    fn default() -> Self {
        Self { side: None, window: 1024, iterations: 2 }
    }
}

impl CfdOptions {
    fn build(&self, size: &Size) -> Result<Cfd, OptionError> {
        let Self { side, window, iterations } = *self;
        let fitting = || {
            let cubes = scale::length(USUAL_CUBES, size.scale, 1)?;
            scale::at_most(MOST_SIDE, (cubes as f64).cbrt().round() as u64, size.scale)
        };
        let side = side.map_or_else(fitting, Ok)?;
        let wrong = |key: &str, expected: &str, found: u64| {
            Err(OptionError::new(key, format!("expected {expected}, found {found}")))
        };
        if !(1..=MOST_SIDE).contains(&side) {
            return wrong("side", "1 to 400", side);
        }
        if window == 0 {
            return wrong("window", "at least 1", 0);
        }
        if !(1..=10_000).contains(&iterations) {
            return wrong("iterations", "1 to 10000", iterations.into());
        }
        Ok(Cfd::new(Mesh::cubes(side as u32, window, size.seed), iterations))
    }
}

/// A flow over one mesh.
pub struct Cfd {
    mesh: Mesh,
    iterations: u32,
    /// Elements, filled up to whole work-groups.
    elements: u64,
    areas: Buffer,
    surrounding: Buffer,
    normals: Buffer,
    variables: Buffer,
    old_variables: Buffer,
    fluxes: Buffer,
    step_factors: Buffer,
    buffers: Vec<Buffer>,
}

impl Cfd {
    /// `iterations` iterations over `mesh`, neither empty.
    #[must_use]
    pub fn new(mesh: Mesh, iterations: u32) -> Self {
        let elements = (mesh.neighbours.len() as u64).next_multiple_of(GROUP);
        let mut space = AddressSpace::default();
        let mut rows = |name, count: u32| space.allocate(name, elements * u64::from(count) * WORD);
        let areas = rows("areas", 1);
        let surrounding = rows("elements_surrounding_elements", NEIGHBOURS as u32);
        let normals = rows("normals", NEIGHBOURS as u32 * DIMENSIONS);
        let [variables, old_variables, fluxes] =
            ["variables", "old_variables", "fluxes"].map(|name| rows(name, VARIABLES));
        let step_factors = rows("step_factors", 1);
        let buffers = space.buffers().to_vec();
        Self {
            mesh,
            iterations,
            elements,
            areas,
            surrounding,
            normals,
            variables,
            old_variables,
            fluxes,
            step_factors,
            buffers,
        }
    }

    fn kernel(&self, launch: u32) -> Kernel {
        match launch.checked_sub(INITIAL).map(|launch| launch % OF_ITERATION) {
            None => Kernel::Initialise(launch),
            Some(0) => Kernel::Copy,
            Some(1) => Kernel::StepFactor,
            Some(launch) if launch % 2 == 0 => Kernel::Flux,
            Some(_) => Kernel::TimeStep,
        }
    }

    /// One load of a row of an array by the lanes from `first` on.
    fn load(&self, array: &Buffer, row: u32, first: u64, out: &mut OpSink<'_>) {
        load_span(out, array.at(u64::from(row) * self.elements + first, WORD), LANES * WORD);
    }

    fn store(&self, array: &Buffer, row: u32, first: u64, out: &mut OpSink<'_>) {
        store_span(out, array.at(u64::from(row) * self.elements + first, WORD), LANES * WORD);
    }

    fn initialise(&self, array: &Buffer, first: u64, out: &mut OpSink<'_>) {
        push_all(out, &[cost::SET_UP[0], Op::WAIT, cost::SET_UP[1], Op::WAIT]);
        for (row, before) in cost::SET.into_iter().enumerate() {
            out.push(before);
            self.store(array, row as u32, first, out);
        }
    }

    fn copy(&self, first: u64, out: &mut OpSink<'_>) {
        push_all(out, &[cost::COPY[0], Op::WAIT, cost::COPY[1]]);
        self.load(&self.variables, 0, first, out);
        out.push(Op::WAIT);
        self.store(&self.old_variables, 0, first, out);
    }

    /// The five variables of the lanes' own elements; costs are for the step factor or for the flux.
    fn load_own(&self, kernel: usize, first: u64, out: &mut OpSink<'_>) {
        push_all(out, &[cost::LOCATE, Op::WAIT, cost::BEFORE_FIRST]);
        self.load(&self.variables, 0, first, out);
        out.push(cost::BEFORE_MOMENTUM[kernel]);
        (1..=DIMENSIONS).for_each(|row| self.load(&self.variables, row, first, out));
        out.push(cost::BEFORE_ENERGY[kernel]);
        self.load(&self.variables, VARIABLES - 1, first, out);
    }

    fn step_factor(&self, first: u64, out: &mut OpSink<'_>) {
        self.load_own(0, first, out);
        out.push(cost::BEFORE_AREA);
        self.load(&self.areas, 0, first, out);
        push_all(out, &[cost::DURING_AREA, Op::WAIT, cost::STEP_FACTOR]);
        self.store(&self.step_factors, 0, first, out);
    }

    /// Steps of the flux: the lanes' own variables; for each neighbour its place and normal, then its variables, one
    /// each; the fluxes.
    fn flux(&self, first: u64, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let of_neighbour = 1 + VARIABLES;
        let neighbours = NEIGHBOURS as u32 * of_neighbour;
        steps(cursor, out, neighbours + 2, |step, out| {
            if step == 0 {
                self.load_own(1, first, out);
                push_all(out, &[cost::DURING_OWN, Op::WAIT, cost::OWN_FLUX]);
            } else if step <= neighbours {
                let (neighbour, part) = ((step - 1) / of_neighbour, (step - 1) % of_neighbour);
                match part.checked_sub(1) {
                    None => self.look(neighbour, first, out),
                    Some(row) => self.gather(neighbour, row, first, out),
                }
            } else {
                for row in 0..VARIABLES {
                    out.push(if row == 0 { cost::BEFORE_STORES } else { cost::BETWEEN_STORES });
                    self.store(&self.fluxes, row, first, out);
                }
            }
        });
    }

    /// The neighbours, the normals between them, and the work of lanes at a boundary.
    fn look(&self, neighbour: u32, first: u64, out: &mut OpSink<'_>) {
        out.push(cost::BEFORE_NEIGHBOUR);
        self.load(&self.surrounding, neighbour, first, out);
        out.push(cost::BEFORE_NORMAL);
        (0..DIMENSIONS).for_each(|axis| self.load(&self.normals, neighbour + axis * NEIGHBOURS as u32, first, out));
        push_all(out, &[Op::WAIT, cost::TEST]);
        let any = |boundary: i32| self.neighbours(neighbour, first).any(|other| other == boundary);
        if any(WING) || any(FAR_FIELD) {
            out.push(cost::AT_BOUNDARY);
            if any(WING) {
                out.push(cost::WING);
            }
            out.push(cost::BEFORE_FAR);
            if any(FAR_FIELD) {
                out.push(cost::FAR);
            }
            out.push(cost::AFTER_BOUNDARY);
        }
        out.push(cost::OTHERS);
    }

    /// One variable of the neighbours.
    fn gather(&self, neighbour: u32, row: u32, first: u64, out: &mut OpSink<'_>) {
        let elements = self.neighbours(neighbour, first).filter_map(|other| u64::try_from(other).ok());
        let addresses = elements.map(|other| self.variables.at(u64::from(row) * self.elements + other, WORD));
        if self.neighbours(neighbour, first).any(|other| other >= 0) {
            match row {
                0 => out.push(cost::BEFORE_VARIABLES),
                3 => out.push(cost::BEFORE_LAST_TWO),
                _ => {}
            }
            load_lanes(out, addresses);
            if row == VARIABLES - 1 {
                push_all(out, &[Op::WAIT, cost::FLUX]);
            }
        }
        if row == VARIABLES - 1 {
            out.push(cost::NEXT);
        }
    }

    /// The `neighbour`-th neighbours of the lanes' elements; those after the last are like the last.
    fn neighbours(&self, neighbour: u32, first: u64) -> impl Iterator<Item = i32> {
        let last = self.mesh.neighbours.len() - 1;
        (first..first + LANES).map(move |lane| self.mesh.neighbours[last.min(lane as usize)][neighbour as usize])
    }

    fn time_step(&self, first: u64, out: &mut OpSink<'_>) {
        push_all(out, &[cost::LOCATE, Op::WAIT, cost::BEFORE_FACTOR]);
        self.load(&self.step_factors, 0, first, out);
        out.push(cost::BEFORE_OLD);
        for (row, after) in cost::ORDER.into_iter().zip(cost::MOVE) {
            self.load(&self.old_variables, row, first, out);
            self.load(&self.fluxes, row, first, out);
            push_all(out, &[Op::WAIT, after]);
            self.store(&self.variables, row, first, out);
        }
    }
}

/// What a launch runs.
#[derive(Clone, Copy)]
enum Kernel {
    /// Initial values of one of three arrays.
    Initialise(u32),
    /// The copy of the variables, a launch of the driver's.
    Copy,
    StepFactor,
    Flux,
    TimeStep,
}

impl Workload for Cfd {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn held_bytes(&self) -> u64 {
        self.surrounding.bytes
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers())
            .inputs(["areas", "elements_surrounding_elements", "normals"])
            .outputs(["variables"])
            .scratch(["old_variables", "fluxes", "step_factors"])
            .build()
    }

    fn launches(&self) -> u32 {
        INITIAL + self.iterations * OF_ITERATION
    }

    fn launch(&self, index: u32) -> Launch {
        let groups = (self.elements / GROUP) as u32;
        let (kernel, work_groups) = match self.kernel(index) {
            Kernel::Initialise(_) => ("cuda_initialize_variables", groups),
            Kernel::Copy => ("copy", groups * VARIABLES),
            Kernel::StepFactor => ("cuda_compute_step_factor", groups),
            Kernel::Flux => ("cuda_compute_flux", groups),
            Kernel::TimeStep => ("cuda_time_step", groups),
        };
        Launch { kernel: kernel.into(), work_groups, wavefronts_per_group: (GROUP / LANES) as u32 }
    }

    fn resources(&self, index: u32) -> Resources {
        let (vector_registers, scalar_registers) = match self.kernel(index) {
            Kernel::Initialise(_) | Kernel::Copy => (6, 13),
            Kernel::StepFactor => (13, 11),
            Kernel::Flux => (57, 46),
            Kernel::TimeStep => (16, 18),
        };
        Resources { vector_registers, scalar_registers, local_data_bytes: 0 }
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let first = u64::from(group) * GROUP + u64::from(wavefront) * LANES;
        match self.kernel(launch) {
            Kernel::Initialise(array) => {
                let arrays = [&self.variables, &self.old_variables, &self.fluxes];
                self.initialise(arrays[array as usize], first, out);
            }
            Kernel::Copy => self.copy(first, out),
            Kernel::StepFactor => self.step_factor(first, out),
            Kernel::Flux => return self.flux(first, cursor, out),
            Kernel::TimeStep => self.time_step(first, out),
        }
        out.push(Op::END);
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "cfd",
    summary: "flow on an unstructured mesh: rows of variables are streamed, the neighbours' gathered",
    source: "Rodinia cfd (euler3d); one of Mosaic's applications (MICRO 2017), mesh made to Rodinia's largest size",
    schema: typed::schema::<CfdOptions>,
    resolve: typed::resolve::<CfdOptions>,
    build: |options, size: &Size| Ok(Box::new(typed::parse::<CfdOptions>(options)?.build(size)?)),
};
