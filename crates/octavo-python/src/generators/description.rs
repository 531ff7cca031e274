//! What a generated workload has, as the package says it.

use std::borrow::Cow;
use std::ops::Range;

use octavo_program::{ALWAYS, AddressSpace, Buffer, HostSide, Launch, Resources};
use serde::Deserialize;

/// All but what wavefronts do.
#[derive(Debug, Deserialize)]
pub struct Described {
    buffers: Vec<DescribedBuffer>,
    launches: Vec<DescribedLaunch>,
    exchanges: Vec<DescribedExchange>,
}

#[derive(Debug, Deserialize)]
struct DescribedBuffer {
    name: String,
    bytes: u64,
    input: bool,
    output: bool,
    /// The launches between which it exists; always if nothing is said.
    first: u32,
    end: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct DescribedLaunch {
    kernel: String,
    groups: u32,
    wavefronts: u32,
    vector_registers: u32,
    scalar_registers: u32,
    local_data_bytes: u32,
}

#[derive(Debug, Deserialize)]
struct DescribedExchange {
    before: u32,
    buffer: String,
    first: u64,
    end: u64,
    writes: bool,
}

impl Described {
    /// Where the buffers lie.
    pub fn buffers(&self) -> Vec<Buffer> {
        let mut space = AddressSpace::default();
        self.buffers.iter().map(|buffer| space.allocate(&buffer.name, buffer.bytes)).collect()
    }

    /// When they exist; empty if all do always.
    pub fn lives(&self) -> Vec<Range<u32>> {
        let life = |buffer: &DescribedBuffer| buffer.first..buffer.end.unwrap_or(ALWAYS.end);
        let lives: Vec<_> = self.buffers.iter().map(life).collect();
        if lives.iter().all(|life| *life == ALWAYS) { Vec::new() } else { lives }
    }

    /// Each launch, and what it uses of a compute unit.
    pub fn launches(&self) -> Vec<(Launch, Resources)> {
        let launch = |launch: &DescribedLaunch| {
            let kernel = Cow::Owned(launch.kernel.clone());
            let (work_groups, wavefronts_per_group) = (launch.groups, launch.wavefronts);
            let resources = Resources {
                vector_registers: launch.vector_registers,
                scalar_registers: launch.scalar_registers,
                local_data_bytes: launch.local_data_bytes,
            };
            (Launch { kernel, work_groups, wavefronts_per_group }, resources)
        };
        self.launches.iter().map(launch).collect()
    }

    /// What the host does; `buffers` are those of the workload.
    pub fn host_side(&self, buffers: &[Buffer]) -> HostSide {
        let named = |is: fn(&DescribedBuffer) -> bool| {
            self.buffers.iter().filter(move |buffer| is(buffer)).map(|buffer| buffer.name.as_str())
        };
        let side = HostSide::of(buffers)
            .scratch(named(|_| true))
            .inputs(named(|buffer| buffer.input))
            .outputs(named(|buffer| buffer.output));
        let exchanged = self.exchanges.iter().fold(side, |side, exchange| {
            let DescribedExchange { before, buffer, first, end, writes } = exchange;
            let bytes = *first..*end;
            if *writes {
                side.writes_bytes_before(*before, buffer, bytes)
            } else {
                side.reads_bytes_before(*before, buffer, bytes)
            }
        });
        exchanged.build()
    }
}
