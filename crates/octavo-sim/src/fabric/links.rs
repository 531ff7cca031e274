//! Links between processors: bandwidth in each direction as reservations, latency, and the purpose of the bytes.

use octavo_manager::ProcessorId;
use octavo_node::NodeConfig;

pub(crate) use crate::fabric::direction::LinkUse;
use crate::fabric::host_links::HostLinks;
use crate::fabric::memories::FurtherMemories;
use crate::fabric::peers::Peers;
pub(crate) use crate::fabric::traffic::Traffic;

pub(crate) struct Links {
    host: HostLinks,
    peers: Peers,
    /// The host's memories beyond its first, which have ends of their own.
    pub memories: FurtherMemories,
}

impl Links {
    pub fn new(node: &NodeConfig) -> Self {
        Self { host: HostLinks::new(node), peers: Peers::new(node), memories: FurtherMemories::new(node) }
    }

    /// Sends `bytes` at `time`; returns when the last of them has arrived.
    #[inline(never)]
    pub fn send(&mut self, now: u64, time: u64, path: (ProcessorId, ProcessorId), bytes: u64, traffic: Traffic) -> u64 {
        let (from, to) = path;
        match (from.gpu_index(), to.gpu_index()) {
            (Some(from), Some(to)) => match self.peers.send(now, time, (from, to), bytes, traffic) {
                Some(arrived) => arrived,
                None => self.host.send_between(now, time, (from, to), bytes, traffic),
            },
            (Some(gpu), None) => self.host.send_up(now, time, gpu, bytes, traffic),
            (None, Some(gpu)) => self.host.send_down(now, time, gpu, bytes, traffic),
            (None, None) => time,
        }
    }

    /// The time that `bytes` take where they wait for no others.
    #[inline]
    pub fn idle(&self, path: (ProcessorId, ProcessorId), bytes: u64) -> u64 {
        let (from, to) = path;
        match (from.gpu_index(), to.gpu_index()) {
            (Some(from), Some(to)) => self
                .peers
                .idle((from, to), bytes)
                .unwrap_or_else(|| self.host.idle(true, bytes) + self.host.idle(false, bytes)),
            (Some(_), None) => self.host.idle(true, bytes),
            (None, Some(_)) => self.host.idle(false, bytes),
            (None, None) => 0,
        }
    }

    /// Bytes of all links between the host and GPUs so far, by their purpose: from the host, and to it.
    pub fn host_bytes(&self) -> ([u64; Traffic::COUNT], [u64; Traffic::COUNT]) {
        self.host.bytes()
    }

    /// Use of every direction of every link, and of the host's memories beyond its first.
    pub fn usage(&self) -> Vec<LinkUse> {
        let mut rows: Vec<LinkUse> = self.host.usage().collect();
        rows.extend(self.peers.usage());
        rows.extend(self.host.shared_usage());
        rows.extend(self.memories.usage());
        rows
    }
}
