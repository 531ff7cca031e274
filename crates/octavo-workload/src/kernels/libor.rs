//! Monte Carlo paths of interest rates (LIBOR market model, by M. Giles; `LIB` of the GPGPU-Sim benchmarks): one path
//! for each thread, with its arrays in local memory of the thread.
//!
//! A path follows 80 forward rates over 40 dates. The first kernel values a portfolio of 15 swaptions at the end of
//! each path. The second does the same, keeps the rates of all dates (41 x 80 words a thread) and walks back through
//! them for the sensitivities. The arrays are indexed by variables, so they are not registers but private memory, which
//! lies interleaved. The same element of neighbouring threads is side by side, and an access of a wavefront is four
//! lines. That memory is nearly all of the working set, so it is modelled as buffers; rates, volatilities and strikes
//! are constant memory. Work-groups of 64.
//!
//! All paths are alike, as the program's random numbers are all 0.3. The rates are computed, since which swaptions are
//! exercised decides which elements are changed.
//!
//! Scale 1 is the program's own 4096 paths, 56 MB.

mod paths;
mod rates;
mod walk;

use octavo_program::{Buffer, Cursor, HostSide, Launch, OpSink, Resources, Size, Workload, WorkloadEntry};
use octavo_registry::typed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::paths::GROUP;
pub use self::paths::Libor;
use self::walk::Walk;
use crate::scale;

/// Paths at scale 1, and at most.
const USUAL_PATHS: u64 = 4096;
const MOST_PATHS: u64 = 1 << 26;

/// Options of `lib`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LibOptions {
    /// Paths, one for each thread. Default: 4096 times the scale (the program's own number).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<u64>,
}

impl Workload for Libor {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// The private memory of threads is no buffer that the host knows of.
    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).outputs(["v", "Lb"]).scratch(["L", "z", "L2", "B", "S", "B_b", "S_b"]).build()
    }

    fn launches(&self) -> u32 {
        2
    }

    fn launch(&self, index: u32) -> Launch {
        let kernel = ["Pathcalc_Portfolio_KernelGPU2", "Pathcalc_Portfolio_KernelGPU"][index as usize];
        Launch { kernel: kernel.into(), work_groups: (self.threads / GROUP) as u32, wavefronts_per_group: 1 }
    }

    fn resources(&self, index: u32) -> Resources {
        match index {
            0 => Resources { vector_registers: 16, scalar_registers: 31, local_data_bytes: 0 },
            _ => Resources { vector_registers: 19, scalar_registers: 38, local_data_bytes: 0 },
        }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, _wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let thread = u64::from(group) * GROUP;
        Walk { libor: self, thread, lanes: GROUP.min(self.paths - thread) }.fill(launch == 1, cursor, out);
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "lib",
    summary: "Monte Carlo paths of interest rates: streams through private memory, every page private",
    source: "LIBOR market model (M. Giles), as in the GPGPU-Sim benchmarks (ISPASS 2009); one of Mosaic's applications",
    schema: typed::schema::<LibOptions>,
    resolve: typed::resolve::<LibOptions>,
    build: |options, size: &Size| {
        let LibOptions { paths } = typed::parse(options)?;
        Ok(Box::new(Libor::new(scale::chosen("paths", paths, USUAL_PATHS, size.scale, 1, MOST_PATHS)?)))
    },
};
