//! Checks that a node can run a scenario.

use octavo_manager::{Kind, MAX_GPUS, ProcessorId};
use octavo_node::NodeConfig;
use octavo_program::{Action, Ordered, Program, Workload};

use crate::error::{MAX_BYTES, SimError};
use crate::gpu::units::occupancy::Lacking;
use crate::job::Job;

pub(crate) fn check_size(workload: &dyn Workload) -> Result<(), SimError> {
    let bytes = workload.address_end();
    if bytes > MAX_BYTES { Err(SimError::TooLarge { bytes }) } else { Ok(()) }
}

/// Refuses actions of whole programs that are impossible on the GPUs of their jobs.
pub(crate) fn check_programs(node: &NodeConfig, jobs: &[Job<'_>], page_bytes: u64) -> Result<(), SimError> {
    let mut wholes = jobs.iter().filter_map(|job| Some((job, job.program?)));
    wholes.try_for_each(|(job, program)| {
        check_discards(node, program)?;
        check_program(job.gpus(node).len(), program, page_bytes)
    })
}

fn check_discards(node: &NodeConfig, program: &Program) -> Result<(), SimError> {
    let discards = |ordered: &Ordered| matches!(ordered.action, Action::Discard(_));
    if node.driver.discard == Some(true) || !program.actions().iter().any(discards) {
        return Ok(());
    }
    let reason = "an action (discard) needs a driver that discards pages: expected `node.driver.discard` true, as from \
                  release 580.65 on";
    Err(SimError::Program { reason: reason.to_owned() })
}

/// Refuses actions of a whole program that are impossible on this many GPUs.
fn check_program(gpus: usize, program: &Program, page_bytes: u64) -> Result<(), SimError> {
    let refuse = |reason: String| Err(SimError::Program { reason });
    for buffer in program.buffers() {
        if usize::from(buffer.buffer.gpu) > gpus {
            let (name, gpu) = (&buffer.buffer.name, buffer.buffer.gpu - 1);
            return refuse(format!("buffer `{name}` lies on gpu{gpu} of the program, which has {gpus} GPUs"));
        }
    }
    if let Some(reason) = shared_page(program, page_bytes) {
        return refuse(reason);
    }
    let absent = (gpus..MAX_GPUS).map(ProcessorId::gpu);
    for ordered in program.actions() {
        if let Some(gpu) = absent.clone().find(|gpu| names(&ordered.action, *gpu)) {
            let what = ordered.action.name();
            return refuse(format!("an action ({what}) names {gpu}, but there are {gpus} GPUs"));
        }
    }
    let kind = |buffer: octavo_program::BufferId| program.buffers()[buffer.index()].kind;
    let device = |buffer: octavo_program::BufferId| kind(buffer) == Kind::Device;
    for ordered in program.actions() {
        if let Action::Advise { span, .. } = &ordered.action
            && kind(span.buffer) != Kind::Managed
        {
            let name = &program.buffers()[span.buffer.index()].buffer.name;
            return refuse(format!("advice about `{name}`, which is {} memory, is not simulated", kind(span.buffer)));
        }
        if let Action::Copy { from, to } = &ordered.action
            && device(from.buffer)
            && device(to.buffer)
        {
            let name = &program.buffers()[to.buffer.index()].buffer.name;
            return refuse(format!("the copy to `{name}` is between GPUs, which is not simulated"));
        }
    }
    Ok(())
}

/// Whether an action says something of a processor.
fn names(action: &Action, processor: ProcessorId) -> bool {
    match action {
        Action::Prefetch { to, .. } => *to == processor,
        Action::Advise { advice, .. } => {
            advice.preferred == Some(processor.memory()) || advice.accessed_by.contains(processor)
        }
        _ => false,
    }
}

/// Two buffers that have parts of one page, of which each page would have to be of both kinds.
fn shared_page(program: &Program, page_bytes: u64) -> Option<String> {
    let shared = program.buffers().windows(2).find(|pair| {
        let [before, next] = [&pair[0].buffer, &pair[1].buffer];
        (before.base + before.bytes).div_ceil(page_bytes) > next.base / page_bytes
    });
    shared.map(|pair| {
        let [before, next] = [&pair[0].buffer.name, &pair[1].buffer.name];
        format!("`{before}` and `{next}` share a page of {page_bytes} bytes; smaller pages would keep them apart")
    })
}

/// Checks that every launch's work-groups fit a compute unit; returns the work-groups of all launches.
pub(crate) fn check_launches(node: &NodeConfig, workload: &dyn Workload) -> Result<u64, SimError> {
    let room = node.compute.simds_per_unit * node.compute.wavefronts_per_simd;
    let mut groups = 0;
    for index in 0..workload.launches() {
        let launch = workload.launch(index);
        if launch.wavefronts_per_group == 0 {
            return Err(SimError::EmptyGroup { kernel: launch.kernel.into_owned() });
        }
        if launch.wavefronts_per_group > room {
            let (kernel, wavefronts) = (launch.kernel.into_owned(), launch.wavefronts_per_group);
            return Err(SimError::GroupTooLarge { kernel, wavefronts, room });
        }
        if let Some(lacking) = Lacking::of(&node.compute, workload.resources(index), launch.wavefronts_per_group) {
            let Lacking { key, needed, found } = lacking;
            return Err(SimError::GroupNeedsMore { kernel: launch.kernel.into_owned(), key, needed, found });
        }
        groups += u64::from(launch.work_groups);
    }
    Ok(groups)
}
