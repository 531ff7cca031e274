//! Effects of a workload on its pages: footprint, traffic and sharing.
//!
//! The whole program is streamed once; nothing but a few counters for each page is kept. Accesses are counted as line
//! transactions before any cache. The time they come at plays no part: a page that two GPUs use one after the other is
//! as shared as one they use together. Only launches are distinguished: whether GPUs use a page in the same launch or
//! in turn, and whether all launches that use it write it.

mod pages;

use octavo_manager::MAX_GPUS;
use octavo_registry::OptionError;
use serde::Serialize;

use self::pages::Pages;
pub use self::pages::{PageClass, Traffic};
use crate::buffer::{BUFFER_ALIGNMENT, pages_of};
use crate::dispatch::Dispatch;
use crate::launches::{Cursor, Launch, Resources, Workload};
use crate::op::{InstructionMix, LINE_BYTES, Op, OpKind, OpSink};

/// How the program is spread and what a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// GPUs, 1 to 72.
    pub gpus: u32,
    /// Compute units of each GPU.
    pub compute_units_per_gpu: u32,
    /// Which work-groups run where.
    pub dispatch: Dispatch,
    /// Bytes of a page: a power of two from a line to the alignment of buffers (2 MiB).
    pub page_bytes: u64,
}

impl Default for Setting {
    /// The published test bed: 4 GPUs of 64 compute units, 4 KiB pages.
    fn default() -> Self {
        Self { gpus: 4, compute_units_per_gpu: 64, dispatch: Dispatch::default(), page_bytes: 4096 }
    }
}

/// A workload in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Characteristics {
    /// The setting of the measurement.
    pub setting: Setting,
    /// Sum of the buffers' sizes in bytes.
    pub footprint_bytes: u64,
    /// Kernel launches.
    pub launches: u64,
    /// Work-groups, all launches together.
    pub work_groups: u64,
    /// Wavefronts, all launches together.
    pub wavefronts: u64,
    /// Instructions of wavefronts, all launches together.
    pub instructions: Instructions,
    /// All buffers together.
    pub total: Traffic,
    /// Each buffer, in address order.
    pub buffers: Vec<BufferCharacteristics>,
}

/// How many instructions wavefronts issue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Instructions {
    /// Vector-ALU instructions.
    pub compute: u64,
    /// Scalar-ALU instructions.
    pub scalar: u64,
    /// Local-data-share instructions.
    pub local_data: u64,
    /// Branches.
    pub branches: u64,
    /// Loads by the scalar unit.
    pub scalar_loads: u64,
    /// Waits for memory.
    pub waits: u64,
    /// Vector loads.
    pub loads: u64,
    /// Vector stores.
    pub stores: u64,
    /// Work-group barriers.
    pub barriers: u64,
}

impl Instructions {
    fn add(&mut self, mix: InstructionMix) {
        self.compute += u64::from(mix.vector);
        self.scalar += u64::from(mix.scalar);
        self.local_data += u64::from(mix.local_data);
        self.branches += u64::from(mix.branch);
    }
}

/// One buffer in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BufferCharacteristics {
    /// Its name in the program.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// What happens to it.
    #[serde(flatten)]
    pub traffic: Traffic,
}

/// How many work-groups of a launch a compute unit holds at once; at least 1.
pub type Room<'a> = &'a dyn Fn(&Launch, Resources) -> u32;

/// Streams all of `workload` and counts.
///
/// # Errors
/// Only a run decides the dispatch. There are no GPUs, too many, or no compute units. The page size is no power of two
/// from a line to 2 MiB. The workload failed.
pub fn characterise(workload: &dyn Workload, setting: &Setting) -> Result<Characteristics, OptionError> {
    if setting.dispatch == Dispatch::FillFirst {
        let message = "`fill-first` is decided while running; expected a dispatch that is decided ahead";
        return Err(OptionError::new("dispatch", message));
    }
    characterise_filled(workload, setting, &|_, _| 1)
}

/// Like [`characterise`], but a dispatch that only a run decides counts as if all work-groups of a launch took equally
/// long, with `room` for this many at once ([`Dispatch::expected_shares`]).
///
/// # Errors
/// As for [`characterise`], the dispatch aside.
pub fn characterise_filled(
    workload: &dyn Workload,
    setting: &Setting,
    room: Room<'_>,
) -> Result<Characteristics, OptionError> {
    check(setting)?;
    let mut tally = Tally::new(workload, setting);
    for launch in 0..workload.launches() {
        tally.launch(workload, setting, room, launch);
    }
    match workload.failure() {
        Some(reason) => Err(OptionError::new("", reason)),
        None => Ok(tally.finish(workload, *setting)),
    }
}

fn check(setting: &Setting) -> Result<(), OptionError> {
    let Setting { gpus, compute_units_per_gpu, page_bytes, dispatch: _ } = *setting;
    if !(1..=MOST_GPUS).contains(&gpus) {
        return Err(OptionError::new("gpus", format!("expected 1 to {MOST_GPUS}, found {gpus}")));
    }
    if compute_units_per_gpu == 0 {
        return Err(OptionError::new("compute_units_per_gpu", "expected at least 1, found 0"));
    }
    if !page_bytes.is_power_of_two() || !(LINE_BYTES..=BUFFER_ALIGNMENT).contains(&page_bytes) {
        let message = format!("expected a power of two from {LINE_BYTES} B to 2 MiB, found {page_bytes} B");
        return Err(OptionError::new("page_bytes", message));
    }
    Ok(())
}

/// As many as a node can have.
const MOST_GPUS: u32 = MAX_GPUS as u32;

/// Operations produced at a time: enough to make calls cheap, few enough to stay in the closest cache.
const CHUNK: usize = 1024;

/// Everything counted so far.
struct Tally {
    pages: Pages,
    instructions: Instructions,
    work_groups: u64,
    wavefronts: u64,
    chunk: Vec<Op>,
}

impl Tally {
    fn new(workload: &dyn Workload, setting: &Setting) -> Self {
        Self {
            pages: Pages::new(workload.address_end(), setting.page_bytes),
            instructions: Instructions::default(),
            work_groups: 0,
            wavefronts: 0,
            chunk: vec![Op::END; CHUNK],
        }
    }

    fn launch(&mut self, workload: &dyn Workload, setting: &Setting, room: Room<'_>, index: u32) {
        let (launch, units) = (workload.launch(index), setting.compute_units_per_gpu);
        let at_once = room(&launch, workload.resources(index)).saturating_mul(units);
        let shares = setting.dispatch.expected_shares(launch.work_groups, setting.gpus, units, at_once);
        self.pages.begin_launch();
        for (gpu, groups) in shares.into_iter().enumerate() {
            for group in groups {
                for wavefront in 0..launch.wavefronts_per_group {
                    self.wavefront(workload, gpu as u32, [index, group, wavefront]);
                }
            }
        }
        self.work_groups += u64::from(launch.work_groups);
        self.wavefronts += u64::from(launch.work_groups) * u64::from(launch.wavefronts_per_group);
    }

    fn wavefront(&mut self, workload: &dyn Workload, gpu: u32, [launch, group, wavefront]: [u32; 3]) {
        let mut cursor = Cursor::default();
        loop {
            let mut sink = OpSink::new(&mut self.chunk);
            workload.fill(launch, group, wavefront, &mut cursor, &mut sink);
            let len = sink.len();
            for index in 0..len {
                if !self.op(gpu, self.chunk[index]) {
                    return;
                }
            }
        }
    }

    /// Counts one operation; false at the end of the wavefront.
    #[inline]
    fn op(&mut self, gpu: u32, op: Op) -> bool {
        match op.kind() {
            OpKind::Load => {
                self.instructions.loads += u64::from(!op.continues());
                self.pages.load(gpu, op.line(), op.count());
            }
            OpKind::Store => {
                self.instructions.stores += u64::from(!op.continues());
                self.pages.store(gpu, op.line(), op.count());
            }
            OpKind::Compute => self.instructions.add(op.instructions()),
            OpKind::Barrier => self.instructions.barriers += 1,
            OpKind::Wait => self.instructions.waits += 1,
            OpKind::ScalarLoad => {
                self.instructions.scalar_loads += 1;
                self.pages.load(gpu, op.line(), op.count());
            }
            OpKind::Fetch => {}
            OpKind::End => return false,
        }
        true
    }

    fn finish(self, workload: &dyn Workload, setting: Setting) -> Characteristics {
        let (lines, pages) =
            (pages_of(workload.buffers(), LINE_BYTES), pages_of(workload.buffers(), setting.page_bytes));
        let buffers: Vec<_> = workload
            .buffers()
            .iter()
            .zip(lines.zip(pages))
            .map(|(buffer, (lines, pages))| BufferCharacteristics {
                name: buffer.name.clone(),
                bytes: buffer.bytes,
                traffic: self.pages.traffic(lines, pages, setting.gpus),
            })
            .collect();
        Characteristics {
            setting,
            footprint_bytes: workload.footprint(),
            launches: u64::from(workload.launches()),
            work_groups: self.work_groups,
            wavefronts: self.wavefronts,
            instructions: self.instructions,
            total: Traffic::sum(buffers.iter().map(|buffer| &buffer.traffic), setting.gpus),
            buffers,
        }
    }
}
