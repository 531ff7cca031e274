//! From a workload to a whole program, for each kind of memory.

mod chain;
mod lowering;

use octavo_manager::Kind;

use self::chain::Chain;
pub use self::lowering::{Before, Bring, Exception, Lowering, ProgramKind, Rewriter};
use crate::buffer::{BUFFER_ALIGNMENT, Buffer, BufferId};
use crate::check::ProgramError;
use crate::host_side::HostSide;
use crate::launches::Workload;
use crate::program::{Program, ProgramBuilder};
use crate::strips::{Look, Strips, StripsRefused};

/// The whole program: allocate, write inputs, launch, read outputs, free, as the workload's [host
/// side](Workload::host_side) says. The workload's buffers come first. Host memory, through which the host sees device
/// buffers, comes after them.
///
/// Each application of a mix is a chain of actions; they do not wait for each other.
///
/// # Errors The host's side is impossible (bytes beyond the end of a buffer, a host without threads), or an option
/// concerns a buffer that does not move.
pub fn lower(workload: &dyn Workload, lowering: &Lowering) -> Result<Program, ProgramError> {
    let side = workload.host_side();
    let mut program = ProgramBuilder::default();
    let views = views(&mut program, workload.buffers(), &side, lowering);
    for application in workload.applications() {
        let chain = Chain::new(&mut program, &views, &side, lowering, application.buffers, workload.lives());
        chain.push(application.launches, &[], Chain::launch);
    }
    program.build(workload.launches())
}

/// The whole program of a workload alone whose buffers do not fit `room` bytes of GPU memory, in [`Strips`]; each strip
/// is a launch of the program.
///
/// Staged buffers lie in host memory; a buffer on the GPU holds one strip at a time.
///
/// # Errors
/// As for [`lower`]; or the launches cannot be cut into strips that fit, or not in reasonable time.
pub fn lower_in_strips(
    workload: &dyn Workload,
    lowering: &Lowering,
    room: u64,
    look: &mut Look<'_>,
) -> Result<(Strips, Program), StripsRefused> {
    let side = workload.host_side();
    let strips = Strips::new(workload, &side, |buffer| lowering.is_device(buffer), room, look)?;
    let staged = lowering.with_staged(&strips);
    let mut program = ProgramBuilder::default();
    let views = views(&mut program, workload.buffers(), &side, &staged);
    let arena = strips.arena(program.end());
    let arena = program.buffer(arena, Kind::Device, lowering.spread);
    // Pieces of staged buffers come and go anyway: all buffers exist throughout.
    let chain = Chain::new(&mut program, &views, &side, &staged, 0..workload.buffers().len(), &[]);
    chain.push(0..workload.launches(), &[arena], |chain, launch| chain.launch_strips(&strips, arena, launch));
    let program = program.build(strips.len())?;
    Ok((strips, program))
}

/// Adds all buffers; returns, for each of the workload's, that through which the host sees it, if it does.
fn views(
    program: &mut ProgramBuilder,
    buffers: &[Buffer],
    side: &HostSide,
    lowering: &Lowering,
) -> Vec<Option<BufferId>> {
    for (index, buffer) in buffers.iter().enumerate() {
        program.buffer(buffer.clone(), lowering.kind_of(index), lowering.spread);
    }
    let mut base = buffers.last().map_or(0, |last| (last.base + last.bytes).next_multiple_of(BUFFER_ALIGNMENT));
    let mut seen: Vec<bool> = side.roles().iter().map(|role| role.input || role.output).collect();
    side.exchanges().iter().for_each(|exchange| seen[exchange.buffer] = true);
    let view = |(index, buffer): (usize, &Buffer)| {
        if !seen[index] || !lowering.is_device(index) {
            return seen[index].then_some(BufferId(index as u32));
        }
        let on_host = Buffer { name: format!("{}@host", buffer.name), base, bytes: buffer.bytes, gpu: 0 };
        base = (base + buffer.bytes).next_multiple_of(BUFFER_ALIGNMENT);
        Some(program.buffer(on_host, Kind::System, lowering.spread))
    };
    buffers.iter().enumerate().map(view).collect()
}
