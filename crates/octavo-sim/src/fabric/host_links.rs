//! Links between the host and GPUs, and the switches on their way.

use octavo_manager::{HOST, ProcessorId};
use octavo_node::NodeConfig;

use crate::engine::rate::Rate;
use crate::fabric::direction::{Direction, LinkUse};
use crate::fabric::traffic::Traffic;

/// A link for each GPU.
pub(super) struct HostLinks {
    /// Towards the host.
    up: Vec<Direction>,
    /// From the host.
    down: Vec<Direction>,
    switches: Option<Switches>,
    /// Towards the host, and from it.
    up_rate: Rate,
    down_rate: Rate,
    latency: u64,
}

/// Links of switches to the host, each shared by the GPUs below.
struct Switches {
    gpus_per_switch: usize,
    up: Vec<Direction>,
    down: Vec<Direction>,
}

impl HostLinks {
    pub fn new(node: &NodeConfig) -> Self {
        let gpus = node.gpus as usize;
        let gpus_per_switch = node.host_switches.as_ref().map_or(1, |switches| switches.gpus as usize);
        let several = || Direction::several(gpus.div_ceil(gpus_per_switch));
        let switches = (gpus_per_switch > 1).then(|| Switches { gpus_per_switch, up: several(), down: several() });
        Self {
            up: Direction::several(gpus),
            down: Direction::several(gpus),
            switches,
            up_rate: Rate::new(node.host_link.to_host.unwrap_or(node.host_link.bandwidth)),
            down_rate: Rate::new(node.host_link.bandwidth),
            latency: node.clock.time_for(node.host_link.latency).0,
        }
    }

    /// Sends `bytes` of a GPU to the host at `time`; returns when the last of them has arrived.
    #[inline(always)]
    pub fn send_up(&mut self, now: u64, time: u64, gpu: usize, bytes: u64, traffic: Traffic) -> u64 {
        let packet = self.up_rate.packet(bytes, traffic);
        let mut left = self.up[gpu].send(now, time, packet);
        if let Some(Switches { gpus_per_switch, up, .. }) = &mut self.switches {
            // Both links are booked from the same time on. Behind all that waits for the first, the time would be too
            // far ahead for the second to book.
            left = left.max(up[gpu / *gpus_per_switch].send(now, time, packet));
        }
        left + self.latency
    }

    /// Sends `bytes` of the host to a GPU at `time`; returns when the last of them has arrived.
    #[inline(always)]
    pub fn send_down(&mut self, now: u64, time: u64, gpu: usize, bytes: u64, traffic: Traffic) -> u64 {
        let packet = self.down_rate.packet(bytes, traffic);
        let mut left = self.down[gpu].send(now, time, packet);
        if let Some(Switches { gpus_per_switch, down, .. }) = &mut self.switches {
            left = left.max(down[gpu / *gpus_per_switch].send(now, time, packet));
        }
        left + self.latency
    }

    /// Sends `bytes` from one GPU to another that it has no link to: up to a switch above both, or through the host.
    pub fn send_between(
        &mut self,
        now: u64,
        time: u64,
        (from, to): (usize, usize),
        bytes: u64,
        traffic: Traffic,
    ) -> u64 {
        let below_one = self
            .switches
            .as_ref()
            .is_some_and(|Switches { gpus_per_switch, .. }| from / gpus_per_switch == to / gpus_per_switch);
        if below_one {
            let left = self.up[from].send(now, time, self.up_rate.packet(bytes, traffic));
            return left.max(self.down[to].send(now, time, self.down_rate.packet(bytes, traffic))) + self.latency;
        }
        let up = self.send_up(now, time, from, bytes, traffic);
        up.max(self.send_down(now, time, to, bytes, traffic)) + self.latency
    }

    /// The time of `bytes` on an idle link to the host, or from it.
    pub fn idle(&self, up: bool, bytes: u64) -> u64 {
        let rate = if up { self.up_rate } else { self.down_rate };
        rate.time_for(bytes).max(1) + self.latency
    }

    /// Bytes so far, by their purpose: from the host, and to it.
    pub fn bytes(&self) -> ([u64; Traffic::COUNT], [u64; Traffic::COUNT]) {
        (sum(&self.down), sum(&self.up))
    }

    /// Use of every GPU's own.
    pub fn usage(&self) -> impl Iterator<Item = LinkUse> + '_ {
        self.up.iter().zip(&self.down).enumerate().flat_map(|(gpu, (up, down))| {
            let name = ProcessorId::gpu(gpu);
            [up.usage(format!("{name}->{HOST}")), down.usage(format!("{HOST}->{name}"))]
        })
    }

    /// Use of those that GPUs share.
    pub fn shared_usage(&self) -> impl Iterator<Item = LinkUse> + '_ {
        self.switches.iter().flat_map(|switches| {
            switches.up.iter().zip(&switches.down).zip(1..).flat_map(|((up, down), number)| {
                let [up_name, down_name] =
                    [format!("host-switch{number}->{HOST}"), format!("{HOST}->host-switch{number}")];
                [up.usage(up_name), down.usage(down_name)]
            })
        })
    }
}

fn sum(directions: &[Direction]) -> [u64; Traffic::COUNT] {
    directions
        .iter()
        .fold([0; Traffic::COUNT], |sums, direction| std::array::from_fn(|kind| sums[kind] + direction.bytes()[kind]))
}
