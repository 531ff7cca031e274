//! A job's share of a node: GPUs, and compute units of each.

use std::ops::Range;

use octavo_manager::{PageId, PageRun, ProcessorId, ProcessorMask};
use octavo_node::NodeConfig;
use octavo_program::{Application, Workload, pages_of};

use crate::job::Job;

/// GPUs and compute units of a job.
#[derive(Clone)]
pub(crate) struct Lot {
    /// The GPUs that it runs on, ascending.
    pub gpus: Vec<usize>,
    /// By GPU: its compute units there.
    pub units: Vec<Range<usize>>,
}

impl Lot {
    pub fn new(job: &Job<'_>, units: Vec<Range<usize>>, node: &NodeConfig) -> Self {
        Self { gpus: job.gpus(node), units }
    }

    /// Its compute units on the GPU on which it has fewest.
    pub fn fewest_units(&self) -> usize {
        self.gpus.iter().map(|&gpu| self.units[gpu].len()).min().unwrap_or_default()
    }

    /// The GPUs that it runs on.
    pub fn gpu_mask(&self) -> ProcessorMask {
        self.gpus.iter().fold(ProcessorMask::EMPTY, |mask, &gpu| mask.with(ProcessorId::gpu(gpu)))
    }

    /// Its GPUs by number, and how many compute units it has on each of them.
    pub fn listed(&self) -> (Vec<u32>, Vec<u32>) {
        self.gpus.iter().map(|&gpu| (gpu as u32, self.units[gpu].len() as u32)).unzip()
    }

    /// The GPU that a program requested; the program counts its GPUs from 1 on. One recorded on more GPUs than it has
    /// now may have requested a GPU that does not exist.
    pub fn gpu_of(&self, asked: u8) -> Option<ProcessorId> {
        let number = usize::from(asked).checked_sub(1)?;
        self.gpus.get(number).copied().map(ProcessorId::gpu)
    }
}

/// The pages of each buffer of a program among others, and the GPU that it requested.
pub(crate) fn runs_of(workload: &dyn Workload, program: &Application, page_bytes: u64) -> Vec<(PageRun, u8)> {
    let buffers = workload.buffers();
    let runs = buffers.iter().zip(pages_of(buffers, page_bytes)).enumerate();
    runs.filter(|(index, (_, pages))| program.buffers.contains(index) && !pages.is_empty())
        .map(|(_, (buffer, pages))| {
            let run = PageRun { first: PageId(pages.start as u32), count: (pages.end - pages.start) as u32 };
            (run, buffer.gpu)
        })
        .collect()
}
