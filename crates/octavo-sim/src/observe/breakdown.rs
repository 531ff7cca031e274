//! The causes of the accesses' time.

use octavo_driver::Outstanding;
use octavo_manager::Cause;
use schemars::JsonSchema;
use serde::Serialize;

use crate::machine::occurrence::{Happening, Listen, Spent};

/// Latency of line accesses by its cause, summed over all accesses; picoseconds. Accesses overlap, so the sum exceeds
/// the run time; publications plot shares of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Breakdown {
    /// Served by the own GPU's caches and memory.
    pub local_ps: u64,
    /// Fault messages, host page-table walks, queueing for and service by the driver.
    pub host_ps: u64,
    /// Drains, shootdowns and copies of pages that move.
    pub migration_ps: u64,
    /// Lines fetched from or stored to another processor's memory.
    pub remote_access_ps: u64,
    /// Copies of pages that are replicated.
    pub duplication_ps: u64,
    /// Removal of replicas because of a write.
    pub write_collapse_ps: u64,
    /// Making room.
    pub eviction_ps: u64,
    /// Waiting for prefetched pages.
    pub prefetch_ps: u64,
    /// Address translation: TLBs, walker queues and page-table walks on the GPU.
    pub walk_ps: u64,
}

impl Listen for Breakdown {
    #[inline(always)]
    fn hear(&mut self, now: u64, what: Happening<'_>) {
        match what {
            Happening::Spent(Spent::Local, time) => self.local_ps += time,
            Happening::Spent(Spent::Remote, time) => self.remote_access_ps += time,
            Happening::Spent(Spent::Walk, time) => self.walk_ps += time,
            Happening::Spent(Spent::Duplication, time) => self.duplication_ps += time,
            Happening::Waited { fault, since, walked, lines } => self.fault(fault, (since, walked, now), lines),
            _ => {}
        }
    }
}

impl Breakdown {
    /// Books the time from `since` to `now` that `lines` lines waited for a fault, whose GPU had walked at `walked`:
    /// GPU walk, host and driver, then what resolved the fault.
    fn fault(&mut self, fault: &Outstanding, (since, walked, now): (u64, u64, u64), lines: u64) {
        // An access issued ahead of the clock may join a fault that is resolved before its own time.
        let since = since.min(now);
        let walked = walked.clamp(since, now);
        let served = fault.served_at.0.clamp(walked, now);
        let resolving = now - served;
        let evicting = fault.evicting.0.min(resolving);
        self.walk_ps += (walked - since) * lines;
        self.host_ps += (served - walked) * lines;
        self.eviction_ps += evicting * lines;
        *match fault.cause {
            Cause::Migration => &mut self.migration_ps,
            Cause::RemoteMap => &mut self.remote_access_ps,
            Cause::Duplication => &mut self.duplication_ps,
            Cause::WriteCollapse => &mut self.write_collapse_ps,
            Cause::Eviction | Cause::WriteBack => &mut self.eviction_ps,
            Cause::Prefetch | Cause::Staging => &mut self.prefetch_ps,
        } += (resolving - evicting) * lines;
    }
}
