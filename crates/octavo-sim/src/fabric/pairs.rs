//! Pairs of GPUs with links of their own, as many for each pair as the node says.

use octavo_manager::ProcessorId;
use octavo_node::{NodeConfig, PairConfig};
use octavo_units::Bandwidth;

use crate::engine::rate::Rate;
use crate::fabric::direction::{Direction, LinkUse};
use crate::fabric::traffic::Traffic;

/// By ordered pair.
pub(super) struct Pairs {
    gpus: usize,
    wires: Vec<Option<Wire>>,
}

/// All links from one GPU to another, which share their traffic evenly.
struct Wire {
    direction: Direction,
    rate: Rate,
}

impl Pairs {
    /// The links among the node's GPUs.
    pub fn new(node: &NodeConfig, pairs: &[PairConfig]) -> Self {
        let gpus = node.gpus as usize;
        let mut wires: Vec<Option<Wire>> = (0..gpus * gpus).map(|_| None).collect();
        for &PairConfig { gpus: pair, count } in
            pairs.iter().filter(|pair| pair.gpus.iter().all(|&gpu| gpu < node.gpus))
        {
            let rate = Rate::new(Bandwidth(node.gpu_link.bandwidth.0.saturating_mul(u64::from(count))));
            let [one, other] = pair.map(|gpu| gpu as usize);
            for place in [one * gpus + other, other * gpus + one] {
                wires[place] = Some(Wire { direction: Direction::new(), rate });
            }
        }
        Self { gpus, wires }
    }

    /// Sends `bytes` at `time`; returns when the last of them has left, or `None` if the two have no link.
    pub fn send(
        &mut self,
        now: u64,
        time: u64,
        (from, to): (usize, usize),
        bytes: u64,
        traffic: Traffic,
    ) -> Option<u64> {
        let Wire { direction, rate } = self.wires[from * self.gpus + to].as_mut()?;
        Some(direction.send(now, time, rate.packet(bytes, traffic)))
    }

    /// The rate of a pair's links, if it has any.
    pub fn rate(&self, (from, to): (usize, usize)) -> Option<Rate> {
        Some(self.wires[from * self.gpus + to].as_ref()?.rate)
    }

    /// Use of both directions of every pair.
    pub fn usage(&self) -> impl Iterator<Item = LinkUse> + '_ {
        self.wires.iter().enumerate().filter_map(|(place, wire)| {
            let [from, to] = [place / self.gpus, place % self.gpus].map(ProcessorId::gpu);
            wire.as_ref().map(|wire| wire.direction.usage(format!("{from}->{to}")))
        })
    }
}
