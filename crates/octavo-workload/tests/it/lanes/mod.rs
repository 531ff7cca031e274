//! Streams as instructions, and a naive coalescer to compare them with.

use octavo_program::{Cursor, LINE_BYTES, Op, OpKind, OpSink, Workload};

/// One vector memory instruction: the lines it touches, in lane first-touch order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub store: bool,
    pub lines: Vec<u64>,
}

/// The accesses of a lane-by-lane model of a kernel.
#[derive(Debug, Default)]
pub struct Lanes {
    pub accesses: Vec<Access>,
}

impl Lanes {
    pub fn load(&mut self, addresses: impl IntoIterator<Item = u64>) {
        self.push(false, addresses);
    }

    pub fn store(&mut self, addresses: impl IntoIterator<Item = u64>) {
        self.push(true, addresses);
    }

    fn push(&mut self, store: bool, addresses: impl IntoIterator<Item = u64>) {
        let mut lines = Vec::new();
        for line in addresses.into_iter().map(|address| address / LINE_BYTES) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        if !lines.is_empty() {
            self.accesses.push(Access { store, lines });
        }
    }
}

/// Counts over a stream; `instructions` are all, of any kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub instructions: u64,
    pub vector_memory: u64,
    pub lines: u64,
}

impl std::ops::AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.vector_memory += other.vector_memory;
        self.lines += other.lines;
    }
}

/// The operations of one wavefront, produced `capacity` at a time.
pub fn stream(workload: &dyn Workload, launch: u32, group: u32, wavefront: u32, capacity: usize) -> Vec<Op> {
    let mut chunk = vec![Op::END; capacity];
    let mut cursor = Cursor::default();
    let mut ops = Vec::new();
    loop {
        let mut sink = OpSink::new(&mut chunk);
        workload.fill(launch, group, wavefront, &mut cursor, &mut sink);
        let len = sink.len();
        assert!(len > 0, "a call produced nothing");
        assert!(!chunk[len - 1].continues(), "an instruction was cut in two");
        ops.extend_from_slice(&chunk[..len]);
        if chunk[len - 1].kind() == OpKind::End {
            return ops;
        }
    }
}

pub fn accesses(ops: &[Op]) -> Vec<Access> {
    let mut accesses: Vec<Access> = Vec::new();
    let mut continued = false;
    for op in ops.iter().filter(|op| matches!(op.kind(), OpKind::Load | OpKind::Store)) {
        let lines = op.line()..op.line() + u64::from(op.count());
        if continued {
            accesses.last_mut().unwrap().lines.extend(lines);
        } else {
            accesses.push(Access { store: op.kind() == OpKind::Store, lines: lines.collect() });
        }
        continued = op.continues();
    }
    accesses
}

pub fn totals(ops: &[Op]) -> Totals {
    let mut totals = Totals::default();
    for op in ops {
        let memory = matches!(op.kind(), OpKind::Load | OpKind::Store);
        let last = u64::from(!op.continues());
        totals.lines += if memory { u64::from(op.count()) } else { 0 };
        totals.vector_memory += if memory { last } else { 0 };
        totals.instructions += match op.kind() {
            OpKind::Load | OpKind::Store => last,
            OpKind::Compute => op.instructions().total(),
            OpKind::Fetch => 0,
            OpKind::Wait | OpKind::Barrier | OpKind::ScalarLoad | OpKind::End => 1,
        };
    }
    totals
}

/// Every wavefront of a launch.
pub fn wavefronts(workload: &dyn Workload, launch: u32) -> impl Iterator<Item = (u32, u32)> + use<> {
    let grid = workload.launch(launch);
    (0..grid.work_groups).flat_map(move |group| (0..grid.wavefronts_per_group).map(move |wave| (group, wave)))
}

pub fn launch_totals(workload: &dyn Workload, launch: u32) -> Totals {
    let mut sum = Totals::default();
    for (group, wavefront) in wavefronts(workload, launch) {
        sum += totals(&stream(workload, launch, group, wavefront, 512));
    }
    sum
}

/// Compares every wavefront of every launch with `naive`, for any size of the chunks.
pub fn assert_same(workload: &dyn Workload, naive: impl Fn(u32, u32, u32) -> Lanes) {
    for launch in 0..workload.launches() {
        for (group, wavefront) in wavefronts(workload, launch) {
            let expected = naive(launch, group, wavefront).accesses;
            let ops = stream(workload, launch, group, wavefront, OpSink::MIN_CAPACITY);
            assert_eq!(accesses(&ops), expected, "launch {launch}, group {group}, wavefront {wavefront}");
            assert_eq!(stream(workload, launch, group, wavefront, 1000), ops, "chunks change the stream");
        }
    }
}

/// Base address of the buffer called `name`.
pub fn base(workload: &dyn Workload, name: &str) -> u64 {
    workload.buffers().iter().find(|buffer| buffer.name == name).unwrap().base
}

/// Lanes of a wavefront of 8x8 threads as (x, y).
pub fn square_of_eight() -> impl Iterator<Item = (u64, u64)> {
    (0..64).map(|lane| (lane % 8, lane / 8))
}

/// Lines of `buffer` that some wavefront loads (or stores), with how often.
pub fn touched(workload: &dyn Workload, buffer: &str, store: bool) -> std::collections::BTreeMap<u64, u32> {
    let buffer = workload.buffers().iter().find(|candidate| candidate.name == buffer).unwrap();
    let lines = buffer.base / LINE_BYTES..(buffer.base + buffer.bytes).div_ceil(LINE_BYTES);
    let mut touched = std::collections::BTreeMap::new();
    for launch in 0..workload.launches() {
        for (group, wavefront) in wavefronts(workload, launch) {
            let ops = stream(workload, launch, group, wavefront, 512);
            let lines =
                accesses(&ops).into_iter().filter(|access| access.store == store).flat_map(|access| access.lines);
            for line in lines.filter(|line| self::contains(&buffer.base, buffer.bytes, *line)) {
                *touched.entry(line).or_insert(0) += 1;
            }
        }
    }
    assert!(touched.keys().all(|line| lines.contains(line)));
    touched
}

fn contains(base: &u64, bytes: u64, line: u64) -> bool {
    (base / LINE_BYTES..(base + bytes).div_ceil(LINE_BYTES)).contains(&line)
}
