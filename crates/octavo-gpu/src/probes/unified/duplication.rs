//! Read duplication: memory that the processor wrote and that is mostly read gets a copy for each reader, which a write
//! takes away again.

use cudarc::driver::sys::CUmem_advise;

use super::bench::Bench;
use super::step::Step;
use crate::driver::memory::Moving;
use crate::error::GpuError;
use crate::session::Session;
use crate::session::samples::Row;

const QUICK: &[u64] = &[32 << 20];
const FULL: &[u64] = &[8 << 20, 64 << 20];

pub(super) fn plan<'a>(bench: &'a Bench<'a>) -> Vec<Step<'a>> {
    let step = |size| {
        Step::new(format!("duplication: {size} bytes"), move |session: &mut Session<'_>| measure(bench, session, size))
    };
    bench.fitting(bench.choose(QUICK, FULL)).into_iter().map(step).collect()
}

fn measure(bench: &Bench<'_>, session: &mut Session<'_>, size: u64) -> Result<(), GpuError> {
    if !bench.allowed("duplication", "", |memory| read_mostly(bench, memory))? {
        return Ok(());
    }
    session.repeat_rows(|session| {
        let memory = bench.of_host(size)?;
        read_mostly(bench, memory.as_ref())?;
        let phases = phases(bench, session, memory.as_ref())?;
        Ok(phases.into_iter().map(|(phase, seconds)| (row(phase, size), seconds)).collect())
    })
}

fn read_mostly(bench: &Bench<'_>, memory: &dyn Moving) -> Result<(), GpuError> {
    memory.advise(CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY, bench.here())
}

fn phases(bench: &Bench<'_>, session: &Session<'_>, memory: &dyn Moving) -> Result<[(&'static str, f64); 5], GpuError> {
    Ok([
        ("gpu_read", bench.gpu_reads(session, memory)?),
        ("cpu_read", bench.cpu_reads(memory)?),
        ("gpu_read_again", bench.gpu_reads(session, memory)?),
        ("cpu_write", bench.cpu_writes(memory)?),
        ("gpu_read_after_write", bench.gpu_reads(session, memory)?),
    ])
}

fn row(phase: &str, size: u64) -> Row {
    Row::of("duplication").word("phase", phase).integer("size", size).bytes(size)
}
