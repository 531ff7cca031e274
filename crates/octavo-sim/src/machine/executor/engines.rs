//! The times when the engines that copy pages between the host and GPUs are free.

use octavo_node::NodeConfig;
use octavo_units::{Bandwidth, Time};

/// An engine for each GPU and direction, which does one copy after another.
pub(crate) struct CopyEngines {
    to_gpus: Vec<Engine>,
    to_host: Vec<Engine>,
}

/// The GPU that a copy comes from and the one that it goes to; nothing for the host.
type Ends = (Option<usize>, Option<usize>);

/// The time for which a copy occupies an engine, and the end of present copies.
#[derive(Clone)]
struct Engine {
    occupied: Time,
    bandwidth: Bandwidth,
    free: u64,
}

impl CopyEngines {
    /// `None` where a copy occupies its engine only for its bytes, which the link accounts for.
    pub fn of(node: &NodeConfig) -> Option<Self> {
        let occupied = node.copy_engines.as_ref()?.occupied.as_ref()?;
        if occupied.to_gpu.0 + occupied.to_host.0 == 0 {
            return None;
        }
        let back = node.host_link.to_host.unwrap_or(node.host_link.bandwidth);
        let engines = |occupied, bandwidth| vec![Engine { occupied, bandwidth, free: 0 }; node.gpus as usize];
        let to_gpus = engines(occupied.to_gpu, node.host_link.bandwidth);
        Some(Self { to_gpus, to_host: engines(occupied.to_host, back) })
    }

    /// The beginning of a copy that is ready at `time`.
    pub fn begins(&mut self, ends: Ends, time: u64) -> u64 {
        self.engine(ends).map_or(time, |engine| time.max(engine.free))
    }

    /// The end of a copy that began at `begun` and arrived at `arrived`.
    pub fn ends(&mut self, ends: Ends, bytes: u64, (begun, arrived): (u64, u64)) -> u64 {
        let Some(engine) = self.engine(ends) else { return arrived };
        engine.free = arrived.max(begun + engine.occupied.0 + engine.bandwidth.time_for(bytes).0);
        engine.free
    }

    /// Copies between GPUs occupy none of these.
    fn engine(&mut self, ends: Ends) -> Option<&mut Engine> {
        match ends {
            (None, Some(gpu)) => Some(&mut self.to_gpus[gpu]),
            (Some(gpu), None) => Some(&mut self.to_host[gpu]),
            _ => None,
        }
    }
}
