//! Bitonic sort (AMD APP SDK `BitonicSort`): 4-byte keys sorted in place, one launch for each pass.
//!
//! Sorting 2^k keys takes k stages; stage `s` has passes at pair distances 2^s, 2^(s-1), ..., 1, so k(k+1)/2 launches
//! of half as many threads as keys, in work-groups of one wavefront. Thread `t` at distance `d` orders the keys at `t
//! mod d + (t / d) 2d` and `d` further. Both are loaded, and both are always stored, for any values, so the accesses do
//! not depend on the keys. Distance, direction and array address are scalar kernel arguments and left out.
//!
//! Published footprint 30 MB: the nearest power of two is 2^23 keys, 32 MB.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, LINE_BYTES, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::WAVEFRONT_LANES;
use crate::scale;

/// Bytes of a key.
const KEY: u64 = 4;
const KEYS_PER_LINE: u64 = LINE_BYTES / KEY;
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Keys at scale 1: 30 MB of them.
const PUBLISHED_KEYS: u64 = 30 * scale::MEGABYTE / KEY;

/// Instructions of the compiled GCN3 kernel (vector, scalar, local data, branch): indices and addresses up to the
/// loads, one while they are in flight, and minimum, maximum and two selections after them.
const BEFORE_LOADS: Op = Op::mix(22, 9, 0, 0);
const DURING_LOADS: Op = Op::compute(1);
const AFTER_LOADS: Op = Op::compute(4);

/// Options of `bitonicsort`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BitonicSortOptions {
    /// Keys, a power of two from 2 to 2^38. Default: the power of two nearest to a footprint of 30 MB times the scale
    /// (GRIT, table of applications).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<u64>,
}

/// Bitonic sort of a power of two of keys.
pub struct BitonicSort {
    keys: u64,
    array: Buffer,
    buffers: Vec<Buffer>,
    /// Binary logarithm of the pair distance of each launch.
    distances: Vec<u8>,
}

impl BitonicSort {
    /// A sort of 2^`log2_keys` keys; `log2_keys` from 1 to 38.
    #[must_use]
    pub fn new(log2_keys: u8) -> Self {
        assert!((1..=38).contains(&log2_keys), "2^{log2_keys} keys cannot be sorted");
        let keys = 1 << log2_keys;
        let mut space = AddressSpace::default();
        let array = space.allocate("array", keys * KEY);
        let distances = (0..log2_keys).flat_map(|stage| (0..=stage).rev()).collect();
        Self { keys, array, buffers: space.buffers().to_vec(), distances }
    }

    /// Threads of every launch.
    fn threads(&self) -> u64 {
        self.keys / 2
    }
}

impl Workload for BitonicSort {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["array"]).outputs(["array"]).build()
    }

    fn launches(&self) -> u32 {
        self.distances.len() as u32
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = self.threads().div_ceil(LANES) as u32;
        Launch { kernel: "BitonicSort".into(), work_groups, wavefronts_per_group: 1 }
    }

    fn resources(&self, _index: u32) -> Resources {
        Resources { vector_registers: 8, scalar_registers: 11, local_data_bytes: 0 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    /// At most 23 operations, so always the whole wavefront.
    fn fill(&self, launch: u32, group: u32, _wavefront: u32, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let thread = u64::from(group) * LANES;
        let lanes = LANES.min(self.threads() - thread);
        let pairs = Pairs::new(self.array.base, 1 << self.distances[launch as usize], thread, lanes);
        // For the kernel arguments.
        out.push(Op::WAIT);
        out.push(BEFORE_LOADS);
        pairs.load(out);
        out.push(DURING_LOADS);
        out.push(Op::WAIT);
        out.push(AFTER_LOADS);
        pairs.store(out);
        out.push(Op::END);
    }
}

/// The lines of the left (or right) keys of a wavefront's pairs: `segments` runs of `lines` lines, `stride` apart.
struct Pairs {
    left: u64,
    right: u64,
    segments: u64,
    lines: u32,
    stride: u64,
    filled: Filled,
}

/// Which lines of a run its keys fill.
enum Filled {
    All,
    AllButTheLast,
    None,
}

impl Pairs {
    /// The pairs of `lanes` threads from `thread` on, at pair distance `distance` in the array at `base`.
    #[inline]
    fn new(base: u64, distance: u64, thread: u64, lanes: u64) -> Self {
        let first = (thread & (distance - 1)) + (thread & !(distance - 1)) * 2;
        let line = (base + first * KEY) / LINE_BYTES;
        if distance < KEYS_PER_LINE {
            // Left and right keys alternate within every line the pairs span.
            let lines = (2 * lanes).div_ceil(KEYS_PER_LINE) as u32;
            return Self { left: line, right: line, segments: 1, lines, stride: 0, filled: Filled::None };
        }
        let run = distance.min(lanes);
        Self {
            left: line,
            right: line + distance / KEYS_PER_LINE,
            segments: lanes / run,
            lines: run.div_ceil(KEYS_PER_LINE) as u32,
            stride: 2 * distance / KEYS_PER_LINE,
            filled: if run.is_multiple_of(KEYS_PER_LINE) { Filled::All } else { Filled::AllButTheLast },
        }
    }

    #[inline]
    fn load(&self, out: &mut OpSink<'_>) {
        self.push(out, self.left, Op::load);
        self.push(out, self.right, Op::load);
    }

    #[inline]
    fn store(&self, out: &mut OpSink<'_>) {
        let store = match self.filled {
            Filled::All => Op::store,
            Filled::AllButTheLast => |line, count| Op::store(line, count).ragged(false, true),
            Filled::None => |line, count| Op::store(line, count).partial(),
        };
        self.push(out, self.left, store);
        self.push(out, self.right, store);
    }

    #[inline]
    fn push(&self, out: &mut OpSink<'_>, first: u64, op: fn(u64, u32) -> Op) {
        let last = self.segments - 1;
        for segment in 0..last {
            out.push(op(first + segment * self.stride, self.lines).continued());
        }
        out.push(op(first + last * self.stride, self.lines));
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "bitonicsort",
    summary: "bitonic sort in place: random pattern, every page written",
    source: "AMD APP SDK BitonicSort, as shipped with MGPUSim v4.2.0; footprint from GRIT (HPCA 2024), application table",
    schema: typed::schema::<BitonicSortOptions>,
    resolve: typed::resolve::<BitonicSortOptions>,
    build: |options, size: &Size| {
        let BitonicSortOptions { keys } = typed::parse(options)?;
        let keys = match keys {
            Some(keys) if keys >= 2 && keys.is_power_of_two() => scale::given("keys", keys)?,
            Some(keys) => {
                return Err(OptionError::new("keys", format!("expected a power of two from 2, found {keys}")));
            }
            None => scale::power_of_two(PUBLISHED_KEYS, size.scale, 2)?,
        };
        Ok(Box::new(BitonicSort::new(keys.ilog2() as u8)))
    },
};
