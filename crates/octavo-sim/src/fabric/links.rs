//! Links between processors: bandwidth each way as reservations, latency, and what the bytes were for.

use octavo_manager::{Cause, HOST, ProcessorId};
use octavo_node::{LinkConfig, LinkSharing, NodeConfig, SwitchConfig};

use crate::engine::lane::Lane;
use crate::fabric::memories::FurtherMemories;

/// Links are booked in buckets of 65.5 ns.
const BUCKET_SHIFT: u32 = 16;

/// What bytes on a link are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Traffic {
    /// Cache lines read or written remotely, with their requests.
    Lines,
    /// Pages that move.
    Migration,
    /// Pages that are replicated, and stores broadcast to replicas.
    Duplication,
    /// Pages that move because a write removed their replicas.
    WriteCollapse,
    /// Pages written back to make room.
    Eviction,
    /// Pages brought ahead of need.
    Prefetch,
    /// Faults, notifications, reports and their answers.
    Control,
    /// Copies that a program asks for.
    Copies,
}

impl Traffic {
    pub const COUNT: usize = 8;
    pub const NAMES: [&str; Self::COUNT] =
        ["lines", "migration", "duplication", "write_collapse", "eviction", "prefetch", "control", "copies"];

    pub const fn of(cause: Cause) -> Self {
        match cause {
            Cause::Migration | Cause::RemoteMap => Self::Migration,
            Cause::Duplication => Self::Duplication,
            Cause::WriteCollapse => Self::WriteCollapse,
            Cause::Eviction => Self::Eviction,
            Cause::Prefetch => Self::Prefetch,
        }
    }
}

/// One direction of one link.
struct Direction {
    lane: Lane,
    bytes: [u64; Traffic::COUNT],
}

impl Direction {
    fn new() -> Self {
        Self { lane: Lane::new(BUCKET_SHIFT), bytes: [0; Traffic::COUNT] }
    }

    /// Sends a packet from `time` on; returns when its end has left.
    #[inline(always)]
    fn send(&mut self, now: u64, time: u64, packet: Packet) -> u64 {
        self.bytes[packet.traffic as usize] += packet.bytes;
        self.lane.reserve(now, time, packet.duration)
    }
}

/// Duration of a byte in 2⁻¹⁶ picoseconds, so that small packets are not rounded up to whole picoseconds a byte.
#[derive(Clone, Copy)]
struct Rate(u64);

impl Rate {
    fn new(link: &LinkConfig) -> Self {
        let per_byte = (1_000_000_000_000u128 << 16) / u128::from(link.bandwidth.0);
        Self(u64::try_from(per_byte).unwrap_or(u64::MAX))
    }

    #[inline]
    fn time_for(self, bytes: u64) -> u64 {
        ((bytes * self.0) >> 16).max(1)
    }
}

/// Trunks of switches, from each towards the root and back.
struct Trunks {
    gpus_per_switch: usize,
    up: Vec<Direction>,
    down: Vec<Direction>,
    latency: u64,
}

impl Trunks {
    fn new(node: &NodeConfig, switches: &SwitchConfig) -> Self {
        let gpus_per_switch = switches.gpus as usize;
        let count = (node.gpus as usize).div_ceil(gpus_per_switch);
        let directions = || (0..count).map(|_| Direction::new()).collect();
        Self { gpus_per_switch, up: directions(), down: directions(), latency: node.clock.time_for(switches.across).0 }
    }

    /// Passes `bytes` that begin to leave the sender's link at `began` on to the receiver's; when they begin to enter
    /// it.
    fn cross(&mut self, now: u64, began: u64, (from, to): (usize, usize), packet: Packet) -> u64 {
        let (from, to) = (from / self.gpus_per_switch, to / self.gpus_per_switch);
        if from == to {
            return began;
        }
        let left = self.up[from].send(now, began, packet) - packet.duration;
        self.down[to].send(now, left, packet) - packet.duration + self.latency
    }
}

/// What travels, and how long it takes to pass a point of the link.
#[derive(Clone, Copy)]
struct Packet {
    bytes: u64,
    duration: u64,
    traffic: Traffic,
}

pub(crate) struct Links {
    gpus: usize,
    /// Host link of each GPU, towards the host.
    up: Vec<Direction>,
    /// Host link of each GPU, from the host.
    down: Vec<Direction>,
    /// Out of each GPU (shared by its peers), or of each ordered pair.
    out: Vec<Direction>,
    /// Into each GPU; unused when pairs have their own links.
    into: Vec<Direction>,
    per_pair: bool,
    trunks: Option<Trunks>,
    /// The host's memories beyond its first, which have ends of their own.
    pub memories: FurtherMemories,
    host_rate: Rate,
    peer_rate: Rate,
    host_latency: u64,
    peer_latency: u64,
}

/// Use of one direction of a link, for reports.
pub(crate) struct LinkUse {
    pub name: String,
    pub bytes: [u64; Traffic::COUNT],
    pub busy: u64,
}

impl Links {
    pub fn new(node: &NodeConfig) -> Self {
        let gpus = node.gpus as usize;
        let per_pair = node.gpu_link.sharing == LinkSharing::PerPair;
        let directions = |count: usize| (0..count).map(|_| Direction::new()).collect();
        Self {
            gpus,
            up: directions(gpus),
            down: directions(gpus),
            out: directions(if per_pair { gpus * gpus } else { gpus }),
            into: directions(if per_pair { 0 } else { gpus }),
            per_pair,
            trunks: node.switches.as_ref().map(|switches| Trunks::new(node, switches)),
            memories: FurtherMemories::new(node),
            host_rate: Rate::new(&node.host_link),
            peer_rate: Rate::new(&node.gpu_link),
            host_latency: node.clock.time_for(node.host_link.latency).0,
            peer_latency: node.clock.time_for(node.gpu_link.latency).0,
        }
    }

    /// Sends `bytes` at `time`; returns when the last of them has arrived.
    #[inline(never)]
    pub fn send(&mut self, now: u64, time: u64, path: (ProcessorId, ProcessorId), bytes: u64, traffic: Traffic) -> u64 {
        let (from, to) = path;
        let packet = |rate: Rate| Packet { bytes, duration: rate.time_for(bytes), traffic };
        match (from.gpu_index(), to.gpu_index()) {
            (Some(from), Some(to)) => self.send_to_peer(now, time, (from, to), packet(self.peer_rate)),
            (Some(gpu), None) => self.up[gpu].send(now, time, packet(self.host_rate)) + self.host_latency,
            (None, Some(gpu)) => self.down[gpu].send(now, time, packet(self.host_rate)) + self.host_latency,
            (None, None) => time,
        }
    }

    #[inline(always)]
    fn send_to_peer(&mut self, now: u64, time: u64, (from, to): (usize, usize), packet: Packet) -> u64 {
        if self.per_pair {
            return self.out[from * self.gpus + to].send(now, time, packet) + self.peer_latency;
        }
        // The head of the packet reaches the destination's port while its tail is still leaving the source's.
        let mut began = self.out[from].send(now, time, packet) - packet.duration;
        if let Some(trunks) = &mut self.trunks {
            began = trunks.cross(now, began, (from, to), packet);
        }
        self.into[to].send(now, began.max(time), packet) + self.peer_latency
    }

    /// Use of every direction of every link, and of the host's memories beyond its first.
    pub fn usage(&self) -> Vec<LinkUse> {
        let row =
            |name: String, direction: &Direction| LinkUse { name, bytes: direction.bytes, busy: direction.lane.busy() };
        let mut rows = Vec::new();
        for gpu in 0..self.gpus {
            let name = ProcessorId::gpu(gpu);
            rows.push(row(format!("{name}->{HOST}"), &self.up[gpu]));
            rows.push(row(format!("{HOST}->{name}"), &self.down[gpu]));
        }
        for (index, direction) in self.out.iter().enumerate() {
            if !self.per_pair {
                rows.push(row(format!("{}->peers", ProcessorId::gpu(index)), direction));
            } else if index / self.gpus != index % self.gpus {
                let (from, to) = (ProcessorId::gpu(index / self.gpus), ProcessorId::gpu(index % self.gpus));
                rows.push(row(format!("{from}->{to}"), direction));
            }
        }
        for (gpu, direction) in self.into.iter().enumerate() {
            rows.push(row(format!("peers->{}", ProcessorId::gpu(gpu)), direction));
        }
        if let Some(trunks) = &self.trunks {
            for (switch, direction) in trunks.up.iter().enumerate() {
                rows.push(row(format!("switch{}->root", switch + 1), direction));
            }
            for (switch, direction) in trunks.down.iter().enumerate() {
                rows.push(row(format!("root->switch{}", switch + 1), direction));
            }
        }
        rows.extend(self.memories.usage());
        rows
    }
}
