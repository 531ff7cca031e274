//! A trace as a workload.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use octavo_program::{Buffer, Cursor, HostSide, Launch, Op, OpSink, Program, ProgramBuffer, Resources, Workload};

use super::cache::Cache;
use super::layout::{Layout, Placement};
use super::order::InstructionOrder;
use super::row_group::{Decoded, Wavefront, wavefront};
use crate::actions::Named;
use crate::{Key, LaunchRow, TraceError, TraceReader};

/// Memory for decoded row groups. Ten million rows of common kernels take about this much, and a launch rarely has
/// wavefronts in flight that lie further apart: below it nothing is decoded twice.
const CACHE_BYTES: usize = 256 << 20;

/// Replays a trace: any wavefront of it, at any time, in any order.
///
/// Row groups are decoded when a wavefront first needs them. A damaged one ends all streams: [`Workload::failure`] then
/// says why.
pub struct TraceWorkload {
    reader: TraceReader,
    placement: Placement,
    order: InstructionOrder,
    /// The memory that launches may touch: the buffers of the launches alone.
    buffers: Vec<Buffer>,
    named: Named,
    /// The program around the launches, if it was recorded.
    program: Option<Program>,
    /// First wavefront of each row group that has rows, and its number; ascending.
    index: Vec<(Wavefront, u32)>,
    state: Mutex<State>,
}

struct State {
    cache: Cache,
    failure: Option<TraceError>,
}

impl TraceWorkload {
    /// Opens the trace folder `path`.
    ///
    /// # Errors
    /// As for [`TraceReader::open`], or the trace is too large to be simulated, or its row groups are not sorted.
    pub fn open(path: &Path, layout: Layout) -> Result<Self, TraceError> {
        Self::with_budget(path, layout, CACHE_BYTES)
    }

    /// Like [`TraceWorkload::open`], with this many bytes for decoded row groups.
    ///
    /// # Errors
    /// As for [`TraceWorkload::open`].
    pub fn with_budget(path: &Path, layout: Layout, budget: usize) -> Result<Self, TraceError> {
        let reader = TraceReader::open(path)?;
        let placement = Placement::new(reader.allocations(), layout).map_err(|reason| TraceError::new(path, reason))?;
        let index = index(&reader)?;
        let state = State { cache: Cache::new(reader.row_groups(), budget), failure: None };
        let named = Named::new(reader.program(), reader.launches().len());
        let touched = placement.buffers.iter().zip(named.by_any(placement.buffers.len()));
        let buffers = touched.filter(|(_, named)| *named).map(|(buffer, _)| buffer.clone()).collect();
        let program = reader.program().map(|program| placed(program, &placement, reader.launches().len() as u32));
        Ok(Self {
            reader,
            placement,
            order: InstructionOrder::default(),
            buffers,
            named,
            program,
            index,
            state: Mutex::new(state),
        })
    }

    /// Replays instructions in this order.
    #[must_use]
    pub const fn in_order(mut self, order: InstructionOrder) -> Self {
        self.order = order;
        self
    }

    /// Memory that decoded row groups take now.
    #[must_use]
    pub fn cached_bytes(&self) -> usize {
        self.state().cache.bytes()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn row(&self, index: u32) -> Option<&LaunchRow> {
        self.reader.launches().get(index as usize)
    }

    /// The row group at a position of the index, decoded if it is not there.
    #[inline]
    fn group<'a>(&self, state: &'a mut State, position: usize) -> Result<&'a Decoded, TraceError> {
        let group = self.index[position].1 as usize;
        if !state.cache.holds(group) {
            let decoded = Decoded::new(&self.reader, group, (&self.placement, &self.named), self.order)?;
            state.cache.insert(group, decoded);
        }
        state.cache.get(group).ok_or_else(|| TraceError::new(self.reader.path(), "a row group has gone".to_owned()))
    }

    /// Position in the index and first operation of a wavefront.
    fn find(&self, state: &mut State, wanted: Wavefront) -> Result<(usize, usize), TraceError> {
        // A wavefront that begins a row group may have begun in the one before.
        let after = self.index.partition_point(|(first, _)| *first < wanted);
        for position in after.saturating_sub(1)..(after + 1).min(self.index.len()) {
            if let Some(start) = self.group(state, position)?.start(wanted) {
                return Ok((position, start as usize));
            }
        }
        let (launch, group, wavefront) = wanted;
        let reason = format!("there are no rows of wavefront {wavefront} of group {group} of launch {launch}");
        Err(TraceError::new(self.reader.instructions_path(), reason))
    }

    /// Goes on with a wavefront from `cursor`.
    fn produce(
        &self,
        state: &mut State,
        wanted: Wavefront,
        cursor: &mut Cursor,
        out: &mut OpSink<'_>,
    ) -> Result<(), TraceError> {
        let [begun, position, start, _] = cursor.0;
        let (mut position, mut start) =
            if begun == 0 { self.find(state, wanted)? } else { (position as usize, start as usize) };
        loop {
            let decoded = self.group(state, position)?;
            let (copied, ended) = copy(&decoded.ops[start..], out);
            start += copied;
            if !ended && start == decoded.ops.len() {
                let last = decoded.last;
                self.continues(state, wanted, position, last)?;
                (position, start) = (position + 1, 0);
                if out.remaining() > 0 {
                    continue;
                }
            }
            cursor.0 = [1, position as u32, start as u32, 0];
            return Ok(());
        }
    }

    /// Checks that the row group after the one at `position` continues `wanted`, whose `last` row here has not ended
    /// it.
    fn continues(&self, state: &mut State, wanted: Wavefront, position: usize, last: Key) -> Result<(), TraceError> {
        let next = match self.index.get(position + 1) {
            Some(_) => Some(self.group(state, position + 1)?.first),
            None => None,
        };
        if next.is_some_and(|next| wavefront(next) == wanted && last.sequence.checked_add(1) == Some(next.sequence)) {
            return Ok(());
        }
        let row = self.reader.first_row(self.index[position].1 as usize + 1);
        let (launch, group, wavefront) = wanted;
        let reason = format!(
            "wavefront {wavefront} of group {group} of launch {launch} does not go on here, though it has not ended"
        );
        Err(TraceError::at(self.reader.instructions_path(), row, reason))
    }
}

/// Copies whole instructions up to the end of the wavefront; returns how many operations, and whether it ended.
fn copy(ops: &[Op], out: &mut OpSink<'_>) -> (usize, bool) {
    let room = out.remaining();
    let mut count = 0;
    let mut whole = 0;
    for op in ops.iter().take(room) {
        count += 1;
        if !op.continues() {
            whole = count;
            if *op == Op::END {
                break;
            }
        }
    }
    ops[..whole].iter().for_each(|op| out.push(*op));
    (whole, whole > 0 && ops[whole - 1] == Op::END)
}

/// The first wavefront of each row group.
fn index(reader: &TraceReader) -> Result<Vec<(Wavefront, u32)>, TraceError> {
    let mut index: Vec<(Wavefront, u32)> = Vec::new();
    for group in 0..reader.row_groups() {
        let Some(key) = reader.first_key(group)? else { continue };
        let first = wavefront(key);
        if index.last().is_some_and(|(before, _)| *before > first) {
            let reason = format!("not sorted: row group {group} begins with a wavefront of before");
            return Err(TraceError::at(reader.instructions_path(), reader.first_row(group), reason));
        }
        index.push((first, group as u32));
    }
    Ok(index)
}

/// A recorded program whose buffers are at their replayed places.
fn placed(program: &Program, placement: &Placement, launches: u32) -> Program {
    let moved =
        |(recorded, buffer): (&ProgramBuffer, &Buffer)| ProgramBuffer { buffer: buffer.clone(), ..recorded.clone() };
    let buffers = program.buffers().iter().zip(&placement.buffers).map(moved).collect();
    Program::new(buffers, program.actions().to_vec(), launches).expect("buffers that move apart stay in order")
}

impl Workload for TraceWorkload {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// It was not recorded: only what the launches show.
    fn host_side(&self) -> HostSide {
        HostSide::of_launches(self)
    }

    fn program(&self) -> Option<&Program> {
        self.program.as_ref()
    }

    fn launches(&self) -> u32 {
        self.reader.launches().len() as u32
    }

    fn launch(&self, index: u32) -> Launch {
        let Some(row) = self.row(index) else {
            return Launch { kernel: "".into(), work_groups: 0, wavefronts_per_group: 0 };
        };
        Launch {
            kernel: row.kernel.clone().into(),
            work_groups: row.work_groups().unwrap_or(0),
            wavefronts_per_group: row.wavefronts_per_group.into(),
        }
    }

    fn resources(&self, index: u32) -> Resources {
        self.row(index).map_or_else(Resources::default, |row| Resources {
            vector_registers: row.vector_registers.into(),
            scalar_registers: row.scalar_registers.into(),
            local_data_bytes: row.local_data_bytes,
        })
    }

    fn code_bytes(&self, index: u32) -> u64 {
        self.row(index).map_or(0, |row| row.code_bytes.into())
    }

    fn flushed_before(&self, index: u32) -> bool {
        self.row(index).is_some_and(|row| row.flushed)
    }

    fn waits_for_some(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let mut state = self.state();
        if state.failure.is_none() {
            let wanted = (launch, group, wavefront as u16);
            match self.produce(&mut state, wanted, cursor, out) {
                Ok(()) => return,
                Err(error) => state.failure = Some(error),
            }
        }
        // The operations so far may fill the sink; the end follows now or next time, when there is room.
        if out.remaining() > 0 {
            out.push(Op::END);
        }
    }

    fn failure(&self) -> Option<String> {
        self.state().failure.as_ref().map(ToString::to_string)
    }
}
