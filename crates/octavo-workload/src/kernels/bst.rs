//! Insertion into a binary search tree (Hetero-Mark `bst`): host and GPU insert into one tree, batch after batch.
//!
//! The host makes the keys of a batch, inserts three of ten itself, and launches the kernel for the others. A thread a
//! key walks down from the root, node by node, until there is no child. Then it locks that node, looks again, hangs its
//! own node there and unlocks it. The host reads behind each batch how deep its keys have come. Nodes are 48 bytes, as
//! Hetero-Mark's; work-groups of 64.
//!
//! Keys are drawn, and the tree is the real one. Here threads insert in the order of their numbers, one of the possible
//! orders. So no thread has to search again, and no stream depends on another. The host reads and writes all nodes that
//! the tree has so far, as its keys fall everywhere and a program with a copy on the device has to move them all.
//! Hetero-Mark's host and GPU insert at the same time; here they take turns, in batches.

mod tree;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::tree::{NONE, Tree};
use crate::emit::{WAVEFRONT_LANES, load_lanes, load_span, push_all, steps, store_lanes, store_span};
use crate::scale;

/// Bytes of a key, a link, a depth and a whole node, and the offsets of links and lock in a node.
const KEY: u64 = 8;
const LINK: u64 = 8;
const DEPTH: u64 = 4;
const NODE: u64 = 48;
const LEFT: u64 = 8;
const RIGHT: u64 = 16;
const LOCK: u64 = 32;
const LOCK_BYTES: u64 = 4;
/// Threads of a work-group, which is one wavefront.
const LANES: u32 = WAVEFRONT_LANES;
/// The host's keys among a hundred keys of a batch (Hetero-Mark).
const HOST_PERCENT: u32 = 30;
/// Keys at scale 1: nodes, keys and depths of 40 MB. At most.
const USUAL_KEYS: u64 = 40 * scale::MEGABYTE / (NODE + KEY + DEPTH);
const MOST_KEYS: u64 = 1 << 26;

/// Instructions between memory accesses, counted by hand from the algorithm, not from a compiled kernel: vector,
/// scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const LOCATE: Op = Op::mix(4, 2, 0, 1);
    /// Left or right.
    pub const COMPARE: Op = Op::mix(5, 0, 0, 0);
    pub const NEXT: Op = Op::mix(3, 2, 0, 1);
    pub const LOCKED: Op = Op::mix(3, 1, 0, 1);
    pub const HANG: Op = Op::mix(5, 1, 0, 1);
}

/// Options of `bst`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BstOptions {
    /// Keys. Default: enough for nodes, keys and depths of 40 MB times the scale (this project's choice; Hetero-Mark
    /// 200).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<u64>,
    /// Batches, 1 to 1000, at most one for each key. Default 8 (this project's choice; Hetero-Mark has one).
    pub batches: u32,
}

impl Default for BstOptions {
    fn default() -> Self {
        Self { keys: None, batches: 8 }
    }
}

/// Insertions into one tree.
pub struct Bst {
    tree: Tree,
    batches: u32,
    keys: Buffer,
    nodes: Buffer,
    depths: Buffer,
    buffers: Vec<Buffer>,
}

impl Bst {
    /// `keys` in the order of their insertion, at least one, in this many batches, not more than there are keys.
    #[must_use]
    pub fn new(keys: Vec<u64>, batches: u32) -> Self {
        let count = keys.len() as u64;
        let mut space = AddressSpace::default();
        let [keys_at, nodes, depths] =
            [("keys", KEY), ("tree", NODE), ("depths", DEPTH)].map(|(name, bytes)| space.allocate(name, count * bytes));
        let buffers = space.buffers().to_vec();
        Self { tree: Tree::of(keys), batches, keys: keys_at, nodes, depths, buffers }
    }

    /// The parent of each key: the number of the key above it, none for the first.
    #[must_use]
    pub fn parents(&self) -> &[u32] {
        &self.tree.parents
    }

    /// Keys before a batch. In a batch, the host's keys come first.
    fn before(&self, batch: u32) -> u32 {
        (self.tree.keys.len() as u64 * u64::from(batch) / u64::from(self.batches)) as u32
    }

    /// The first key of a batch that the GPU inserts. The host begins the tree.
    fn first_of_gpu(&self, batch: u32) -> u32 {
        let [first, end] = [self.before(batch), self.before(batch + 1)];
        first + ((u64::from(end - first) * u64::from(HOST_PERCENT)).div_ceil(100)) as u32
    }

    fn node(&self, number: u32, offset: u64) -> u64 {
        self.nodes.at(number.into(), NODE) + offset
    }

    /// The link that `number`'s walk follows, or hangs its node on, below `above`.
    fn link(&self, above: u32, number: u32) -> u64 {
        self.node(above, if self.tree.keys[number as usize] < self.tree.keys[above as usize] { LEFT } else { RIGHT })
    }
}

/// A wavefront: its keys, and the nodes above each from the root on.
struct Walks<'a> {
    all: &'a Bst,
    first: u32,
    paths: Vec<Vec<u32>>,
}

impl<'a> Walks<'a> {
    fn new(all: &'a Bst, first: u32, end: u32) -> Self {
        Self { all, first, paths: (first..end).map(|number| all.tree.above(number)).collect() }
    }

    /// How deep the deepest hangs.
    fn depth(&self) -> usize {
        self.paths.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Lanes that are still walking after this many nodes: where they are, and their own number.
    fn at(&self, depth: usize) -> impl Iterator<Item = (u32, u32)> {
        let own = self.paths.iter().zip(self.first..);
        own.filter_map(move |(path, number)| Some((*path.get(depth)?, number)))
    }

    /// Lanes of every depth: the last node of their walk, and their own number.
    fn last(&self) -> impl Iterator<Item = (u32, u32)> {
        self.paths.iter().zip(self.first..).filter_map(|(path, number)| Some((*path.last()?, number)))
    }

    /// One node further down: its key, then the child to visit.
    fn down(&self, depth: usize, part: u32, out: &mut OpSink<'_>) {
        if part == 0 {
            load_lanes(out, self.at(depth).map(|(above, _)| self.all.node(above, 0)));
            return push_all(out, &[Op::WAIT, cost::COMPARE]);
        }
        load_lanes(out, self.at(depth).map(|(above, number)| self.all.link(above, number)));
        push_all(out, &[Op::WAIT, cost::NEXT]);
    }

    /// Lock, look again, hang, unlock; then what the host reads.
    fn hang(&self, part: u32, out: &mut OpSink<'_>) {
        let locks = || self.last().map(|(above, _)| self.all.node(above, LOCK));
        let links = || self.last().map(|(above, number)| self.all.link(above, number));
        let count = self.paths.len() as u64;
        match part {
            0 => store_lanes(out, locks(), LOCK_BYTES),
            1 => {
                push_all(out, &[Op::WAIT, cost::LOCKED]);
                load_lanes(out, links());
                push_all(out, &[Op::WAIT, cost::HANG]);
            }
            2 => store_lanes(out, links(), LINK),
            3 => store_lanes(out, locks(), LOCK_BYTES),
            _ => {
                store_span(out, self.all.node(self.first, 0), count * NODE);
                store_span(out, self.all.depths.at(self.first.into(), DEPTH), count * DEPTH);
            }
        }
    }
}

impl Workload for Bst {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn held_bytes(&self) -> u64 {
        self.nodes.bytes
    }

    /// For each batch the host writes keys, then reads the nodes of the tree so far and writes them, its own among
    /// them; behind it, it reads depths. All of the tree in the end.
    fn host_side(&self) -> HostSide {
        let mut side = HostSide::of(self.buffers()).scratch(["keys", "depths"]).outputs(["tree"]);
        for batch in 0..self.batches {
            let [first, gpu, end] =
                [self.before(batch), self.first_of_gpu(batch), self.before(batch + 1)].map(u64::from);
            side = side.writes_bytes_before(batch, "keys", first * KEY..end * KEY);
            if first > 0 {
                side = side.reads_part_before(batch, "tree", first * NODE);
            }
            side = side.writes_part_before(batch, "tree", gpu * NODE);
            if gpu < end {
                side = side.reads_bytes_before(batch + 1, "depths", gpu * DEPTH..end * DEPTH);
            }
        }
        side.build()
    }

    fn launches(&self) -> u32 {
        self.batches
    }

    fn launch(&self, index: u32) -> Launch {
        let keys = self.before(index + 1) - self.first_of_gpu(index);
        // A batch that the host has alone is still launched.
        Launch { kernel: "bst".into(), work_groups: keys.div_ceil(LANES).max(1), wavefronts_per_group: 1 }
    }

    fn resources(&self, _index: u32) -> Resources {
        // By hand: the key, the node, its parent, addresses.
        Resources { vector_registers: 20, scalar_registers: 20, local_data_bytes: 0 }
    }

    /// Steps: the keys; two for each node of the longest walk; five to hang the nodes.
    fn fill(&self, launch: u32, group: u32, _wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let (begin, end) = (self.first_of_gpu(launch), self.before(launch + 1));
        let first = begin + group * LANES;
        if first >= end {
            return push_all(out, &[Op::WAIT, cost::LOCATE, Op::END]);
        }
        let walks = Walks::new(self, first, end.min(first + LANES));
        let down = 2 * walks.depth() as u32;
        steps(cursor, out, 1 + down + 5, |step, out| match step.checked_sub(1) {
            None => {
                push_all(out, &[Op::WAIT, cost::LOCATE]);
                load_span(out, self.keys.at(first.into(), KEY), walks.paths.len() as u64 * KEY);
                out.push(Op::WAIT);
            }
            Some(step) if step < down => walks.down(step as usize / 2, step % 2, out),
            Some(step) => walks.hang(step - down, out),
        });
    }

    fn result(&self) -> Vec<(&'static str, Vec<f64>)> {
        let number = |&number: &u32| if number == NONE { f64::INFINITY } else { number.into() };
        vec![
            ("parents", self.tree.parents.iter().map(number).collect()),
            ("keys", self.tree.keys.iter().map(|&key| key as f64).collect()),
        ]
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "bst",
    summary: "insertion into a binary search tree by host and GPU: walks from the root, each lane its own",
    source: "Hetero-Mark bst; one of MemMap's applications (PACT 2020), size of this project's choice",
    schema: typed::schema::<BstOptions>,
    resolve: typed::resolve::<BstOptions>,
    build: |options, size: &Size| {
        let BstOptions { keys, batches } = typed::parse(options)?;
        let keys = scale::chosen("keys", keys, USUAL_KEYS, size.scale, 1, MOST_KEYS)?;
        if !(1..=1000.min(keys)).contains(&batches.into()) {
            return Err(OptionError::new("batches", format!("expected 1 to {}, found {batches}", 1000.min(keys))));
        }
        Ok(Box::new(Bst::new(tree::drawn(keys, size.seed), batches)))
    },
};
