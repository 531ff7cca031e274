//! Every hint of `cuMemAdvise`, given to memory that the processor wrote: the cost of reading and writing everything
//! from either side after it, one after another on the same memory.

use cudarc::driver::sys::CUmem_advise;

use super::bench::Bench;
use super::step::Step;
use crate::driver::memory::Moving;
use crate::driver::place::Place;
use crate::error::GpuError;
use crate::session::Session;
use crate::session::samples::Row;

const QUICK: &[u64] = &[32 << 20];
const FULL: &[u64] = &[8 << 20, 64 << 20];

/// Whom a hint names.
#[derive(Clone, Copy, Debug)]
enum Whom {
    Gpu,
    Host,
}

/// A hint by its name in the samples; nothing is advised for the first.
type Hint = (&'static str, Option<(CUmem_advise, Whom)>);

const HINTS: &[Hint] = &[
    ("none", None),
    ("read_mostly", Some((CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY, Whom::Gpu))),
    ("preferred_host", Some((CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION, Whom::Host))),
    ("preferred_gpu", Some((CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION, Whom::Gpu))),
    ("accessed_by_gpu", Some((CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY, Whom::Gpu))),
    ("accessed_by_host", Some((CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY, Whom::Host))),
];

pub(super) fn plan<'a>(bench: &'a Bench<'a>) -> Vec<Step<'a>> {
    let sizes = bench.fitting(bench.choose(QUICK, FULL));
    let points = sizes.into_iter().flat_map(|size| HINTS.iter().map(move |hint| (hint, size)));
    let step = |(hint, size): (&'static Hint, u64)| {
        let what = format!("hint {}: {size} bytes", hint.0);
        Step::new(what, move |session| measure(bench, session, *hint, size))
    };
    points.map(step).collect()
}

/// All of it once, untimed: for recording.
pub(super) fn once(bench: &Bench<'_>, session: &Session<'_>, size: u64) -> Result<(), GpuError> {
    for &hint in HINTS {
        if bench.allowed("advise", hint.0, |memory| give(bench, memory, hint))? {
            let memory = bench.of_host(size)?;
            give(bench, memory.as_ref(), hint)?;
            phases(bench, session, memory.as_ref())?;
        }
    }
    Ok(())
}

fn measure(bench: &Bench<'_>, session: &mut Session<'_>, hint: Hint, size: u64) -> Result<(), GpuError> {
    if !bench.allowed("advise", hint.0, |memory| give(bench, memory, hint))? {
        return Ok(());
    }
    session.repeat_rows(|session| {
        let memory = bench.of_host(size)?;
        give(bench, memory.as_ref(), hint)?;
        let phases = phases(bench, session, memory.as_ref())?;
        Ok(phases.into_iter().map(|(phase, seconds)| (row(hint.0, phase, size), seconds)).collect())
    })
}

fn give(bench: &Bench<'_>, memory: &dyn Moving, hint: Hint) -> Result<(), GpuError> {
    let Some((advice, whom)) = hint.1 else { return Ok(()) };
    let place = match whom {
        Whom::Gpu => bench.here(),
        Whom::Host => Place::Host,
    };
    memory.advise(advice, place)
}

fn phases(bench: &Bench<'_>, session: &Session<'_>, memory: &dyn Moving) -> Result<[(&'static str, f64); 5], GpuError> {
    Ok([
        ("gpu_read", bench.gpu_reads(session, memory)?),
        ("gpu_read_again", bench.gpu_reads(session, memory)?),
        ("cpu_read", bench.cpu_reads(memory)?),
        ("gpu_write", bench.gpu_writes(session, memory, 1)?),
        ("cpu_write", bench.cpu_writes(memory)?),
    ])
}

fn row(hint: &str, phase: &str, size: u64) -> Row {
    Row::of("advise").word("hint", hint).word("phase", phase).integer("size", size).bytes(size)
}
