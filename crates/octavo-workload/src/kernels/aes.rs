//! Encryption with AES-256, a block of 16 bytes for each thread, in place (as Hetero-Mark's `aes`).
//!
//! The host expands the key and lays the substitution table next to it. A thread loads its block, then looks up each
//! byte of its state in the table in each of 14 rounds, 64 lanes at 64 places of 256 bytes. The round's key is the same
//! for all and comes by a scalar load. The blocks are drawn, and really encrypted: which lines a lookup touches follows
//! from the state.
//!
//! Many operations for each byte that crosses to the device. Scale 1 is a text of 32 MB, this project's choice.

mod cipher;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::typed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::cipher::Cipher;
use self::cipher::{BLOCK, ROUNDS, State};
use crate::emit::{WAVEFRONT_LANES, load_lanes, load_scalar, load_span, push_all, steps, store_span};
use crate::random;
use crate::scale;

const LANES: u64 = WAVEFRONT_LANES as u64;
/// Threads of a work-group.
const GROUP: u64 = 256;
const BLOCK_BYTES: u64 = BLOCK as u64;
/// Bytes of the table of substitutes.
const TABLE: u64 = 256;
/// Blocks at scale 1, and at most.
const USUAL_BLOCKS: u64 = 32 * scale::MEGABYTE / BLOCK_BYTES;
const MOST_BLOCKS: u64 = 1 << 32;

/// Instructions between memory accesses, counted by hand from the algorithm, not from a compiled kernel: vector,
/// scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const LOCATE: Op = Op::mix(3, 2, 0, 1);
    /// The first round key.
    pub const START: Op = Op::mix(4, 1, 0, 0);
    /// A byte of the state and its place in the table.
    pub const BEFORE_LOOKUP: Op = Op::mix(3, 0, 0, 0);
    /// Bytes to words, 12; columns by doubling, turning and adding words, 10 each; the round key, 4.
    pub const MIX: Op = Op::mix(56, 2, 0, 1);
    /// The last round does not mix.
    pub const LAST: Op = Op::mix(16, 1, 0, 0);
}

/// Options of `aes`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AesOptions {
    /// Blocks of 16 bytes. Default: enough for a text of 32 MB times the scale (this project's choice).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
}

/// The encryption of one text.
pub struct Aes {
    blocks: u64,
    seed: u64,
    cipher: Cipher,
    text: Buffer,
    keys: Buffer,
    table: Buffer,
    buffers: Vec<Buffer>,
}

impl Aes {
    /// A text of `blocks` blocks, not zero, and its key, both drawn from `seed`.
    #[must_use]
    pub fn new(blocks: u64, seed: u64) -> Self {
        let mut space = AddressSpace::default();
        let text = space.allocate("text", blocks * BLOCK_BYTES);
        let keys = space.allocate("expanded_key", (ROUNDS as u64 + 1) * BLOCK_BYTES);
        let table = space.allocate("s_box", TABLE);
        let buffers = space.buffers().to_vec();
        Self { blocks, seed, cipher: Cipher::new(&key(seed)), text, keys, table, buffers }
    }

    /// A block of the text.
    #[must_use]
    pub fn block(&self, number: u64) -> State {
        let half = |which| random::mixed(random::mixed(self.seed).wrapping_add(2 * number + which)).to_le_bytes();
        let (low, high) = (half(0), half(1));
        std::array::from_fn(|at| if at < 8 { low[at] } else { high[at - 8] })
    }

    /// The key that it is encrypted with.
    #[must_use]
    pub fn key(&self) -> [u8; 32] {
        key(self.seed)
    }
}

fn key(seed: u64) -> [u8; 32] {
    std::array::from_fn(|at| random::mixed(!seed).wrapping_add(random::mixed(at as u64 / 8)).to_le_bytes()[at % 8])
}

/// A wavefront: some blocks, and how far they are.
struct Lanes<'a> {
    all: &'a Aes,
    first: u64,
    count: u64,
    states: [State; WAVEFRONT_LANES as usize],
}

impl<'a> Lanes<'a> {
    /// Blocks from `first` on before a step of their wavefront: a round each, except for the first and the last.
    fn at(all: &'a Aes, first: u64, step: u32) -> Self {
        let count = LANES.min(all.blocks - first);
        let rounds = (step.saturating_sub(1) as usize).min(ROUNDS);
        let state = |lane: usize| {
            let state = all.cipher.started(all.block(first + lane as u64));
            (1..=rounds).fold(state, |state, round| all.cipher.round(state, round))
        };
        Self { all, first, count, states: std::array::from_fn(state) }
    }

    fn span(&self) -> (u64, u64) {
        (self.all.text.at(self.first, BLOCK_BYTES), self.count * BLOCK_BYTES)
    }

    fn start(&self, out: &mut OpSink<'_>) {
        push_all(out, &[Op::WAIT, cost::LOCATE]);
        let (address, bytes) = self.span();
        load_span(out, address, bytes);
        load_scalar(out, self.all.keys.base);
        push_all(out, &[Op::WAIT, cost::START]);
    }

    /// Each byte of the states, at most four lines, and what the round makes of them: at most 83 operations.
    fn round(&mut self, round: usize, out: &mut OpSink<'_>) {
        let states = &mut self.states[..self.count as usize];
        for byte in 0..BLOCK {
            out.push(cost::BEFORE_LOOKUP);
            load_lanes(out, states.iter().map(|state| self.all.table.base + u64::from(state[byte])));
        }
        load_scalar(out, self.all.keys.at(round as u64, BLOCK_BYTES));
        push_all(out, &[Op::WAIT, if round == ROUNDS { cost::LAST } else { cost::MIX }]);
        for state in states {
            *state = self.all.cipher.round(*state, round);
        }
    }

    fn store(&self, out: &mut OpSink<'_>) {
        let (address, bytes) = self.span();
        store_span(out, address, bytes);
    }
}

impl Workload for Aes {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        HostSide::of(self.buffers()).inputs(["text", "expanded_key", "s_box"]).outputs(["text"]).build()
    }

    fn launches(&self) -> u32 {
        1
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = self.blocks.div_ceil(GROUP) as u32;
        Launch { kernel: "Encrypt".into(), work_groups, wavefronts_per_group: (GROUP / LANES) as u32 }
    }

    fn resources(&self, _index: u32) -> Resources {
        // By hand: the state as bytes and as words, addresses.
        Resources { vector_registers: 28, scalar_registers: 20, local_data_bytes: 0 }
    }

    /// Steps: the block; each round; the result.
    fn fill(&self, _launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let first = u64::from(group) * GROUP + u64::from(wavefront) * LANES;
        if first >= self.blocks {
            return push_all(out, &[Op::WAIT, cost::LOCATE, Op::END]);
        }
        let mut lanes = Lanes::at(self, first, cursor.0[0]);
        steps(cursor, out, ROUNDS as u32 + 2, |step, out| match step as usize {
            0 => lanes.start(out),
            round if round <= ROUNDS => lanes.round(round, out),
            _ => lanes.store(out),
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "aes",
    summary: "AES-256 encryption in place: every line of the text once, many lookups in a small table",
    source: "FIPS 197; one of MemMap's applications (PACT 2020), size of this project's choice",
    schema: typed::schema::<AesOptions>,
    resolve: typed::resolve::<AesOptions>,
    build: |options, size: &Size| {
        let AesOptions { blocks } = typed::parse(options)?;
        let blocks = scale::chosen("blocks", blocks, USUAL_BLOCKS, size.scale, 1, MOST_BLOCKS)?;
        Ok(Box::new(Aes::new(blocks, size.seed)))
    },
};
