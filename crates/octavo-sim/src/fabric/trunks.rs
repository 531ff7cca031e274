//! Switches between GPUs: a trunk from each towards the root and back.

use octavo_node::{NodeConfig, SwitchConfig};

use crate::fabric::direction::{Direction, LinkUse, Packet};

/// Trunks of switches, from each towards the root and back.
pub(super) struct Trunks {
    gpus_per_switch: usize,
    up: Vec<Direction>,
    down: Vec<Direction>,
    latency: u64,
}

impl Trunks {
    pub fn new(node: &NodeConfig, switches: &SwitchConfig) -> Self {
        let gpus_per_switch = switches.gpus as usize;
        let count = (node.gpus as usize).div_ceil(gpus_per_switch);
        let latency = node.clock.time_for(switches.across).0;
        Self { gpus_per_switch, up: Direction::several(count), down: Direction::several(count), latency }
    }

    /// Passes `bytes` that begin to leave the sender's link at `began` on to the receiver's; when they begin to enter
    /// it.
    pub fn cross(&mut self, now: u64, began: u64, (from, to): (usize, usize), packet: Packet) -> u64 {
        let (from, to) = (from / self.gpus_per_switch, to / self.gpus_per_switch);
        if from == to {
            return began;
        }
        let left = self.up[from].send(now, began, packet) - packet.duration;
        self.down[to].send(now, left, packet) - packet.duration + self.latency
    }

    /// Use of all of them.
    pub fn usage(&self) -> impl Iterator<Item = LinkUse> + '_ {
        let up = self.up.iter().zip(1..).map(|(trunk, switch)| trunk.usage(format!("switch{switch}->root")));
        let down = self.down.iter().zip(1..).map(|(trunk, switch)| trunk.usage(format!("root->switch{switch}")));
        up.chain(down)
    }
}
