//! Pages that are nowhere yet come to be where they are touched first: no bytes move.

use super::bench::Bench;
use super::step::Step;
use crate::driver::memory::BLOCK;
use crate::error::GpuError;
use crate::session::Session;
use crate::session::samples::Row;

const QUICK: &[u64] = &[BLOCK, 16 << 20, 64 << 20];
const FULL: &[u64] = &[BLOCK, 8 << 20, 32 << 20, 128 << 20, 512 << 20, 1 << 30];

pub(super) fn plan<'a>(bench: &'a Bench<'a>) -> Vec<Step<'a>> {
    let sizes = bench.fitting(bench.choose(QUICK, FULL));
    let gpu = sizes.iter().map(|&size| Step::new(format!("first touch by the GPU: {size} bytes"), by_gpu(bench, size)));
    let cpu = sizes.iter().map(|&size| Step::new(format!("first touch by the CPU: {size} bytes"), by_cpu(bench, size)));
    gpu.chain(cpu).collect()
}

fn by_gpu<'a>(bench: &'a Bench<'a>, size: u64) -> impl Fn(&mut Session<'_>) -> Result<(), GpuError> + 'a {
    move |session| {
        session.repeat_cold(&row("gpu", size), |session| {
            let memory = bench.fresh(size)?;
            bench.gpu_marks(session, memory.as_ref(), 0)
        })
    }
}

fn by_cpu<'a>(bench: &'a Bench<'a>, size: u64) -> impl Fn(&mut Session<'_>) -> Result<(), GpuError> + 'a {
    move |session| session.repeat_cold(&row("cpu", size), |_| bench.cpu_marks(bench.fresh(size)?.as_ref(), 0))
}

fn row(by: &str, size: u64) -> Row {
    Row::of("first_touch").word("by", by).integer("size", size).bytes(size)
}
