//! Links from GPU to GPU: all linked, through ports that peers share or pair by pair, or those linked that the node lists.

use octavo_manager::ProcessorId;
use octavo_node::{LinkSharing, NodeConfig};

use crate::engine::rate::Rate;
use crate::fabric::direction::{Direction, LinkUse, Packet};
use crate::fabric::pairs::Pairs;
use crate::fabric::traffic::Traffic;
use crate::fabric::trunks::Trunks;

pub(super) struct Peers {
    gpus: usize,
    /// Out of each GPU (shared by its peers), or of each ordered pair.
    out: Vec<Direction>,
    /// Into each GPU; unused when pairs have their own links.
    into: Vec<Direction>,
    per_pair: bool,
    /// The links that the node lists, if it does.
    pairs: Option<Pairs>,
    trunks: Option<Trunks>,
    rate: Rate,
    latency: u64,
}

impl Peers {
    pub fn new(node: &NodeConfig) -> Self {
        let gpus = node.gpus as usize;
        let per_pair = node.gpu_link.sharing == LinkSharing::PerPair;
        let (out, into) = match (&node.links, per_pair) {
            (Some(_), _) => (0, 0),
            (None, true) => (gpus * gpus, 0),
            (None, false) => (gpus, gpus),
        };
        let in_order = node.switches.as_ref().is_some_and(|switches| switches.in_order);
        Self {
            gpus,
            out: Direction::several_as(out, in_order),
            into: Direction::several_as(into, in_order),
            per_pair,
            pairs: node.links.as_ref().map(|pairs| Pairs::new(node, pairs)),
            trunks: node.switches.as_ref().map(|switches| Trunks::new(node, switches)),
            rate: Rate::new(node.gpu_link.bandwidth),
            latency: node.clock.time_for(node.gpu_link.latency).0,
        }
    }

    /// Sends `bytes` at `time`; returns when the last of them has arrived, or `None` if the two have no link.
    #[inline(always)]
    pub fn send(&mut self, now: u64, time: u64, path: (usize, usize), bytes: u64, traffic: Traffic) -> Option<u64> {
        if !self.per_pair {
            return Some(self.send_through_ports(now, time, path, self.rate.packet(bytes, traffic)) + self.latency);
        }
        let left = match &mut self.pairs {
            Some(pairs) => pairs.send(now, time, path, bytes, traffic)?,
            None => self.out[path.0 * self.gpus + path.1].send(now, time, self.rate.packet(bytes, traffic)),
        };
        Some(left + self.latency)
    }

    #[inline(always)]
    fn send_through_ports(&mut self, now: u64, time: u64, (from, to): (usize, usize), packet: Packet) -> u64 {
        // The head of the packet reaches the destination's port while its tail is still leaving the source's.
        let began = self.out[from].send(now, time, packet) - packet.duration;
        let into = &mut self.into[to];
        match &mut self.trunks {
            Some(trunks) => trunks.cross(now, began, (from, to), packet, into) + packet.duration,
            None => into.send(now, began, packet),
        }
    }

    /// The time of `bytes` on idle links; `None` if the two have none.
    pub fn idle(&self, (from, to): (usize, usize), bytes: u64) -> Option<u64> {
        let rate = match &self.pairs {
            Some(pairs) => pairs.rate((from, to))?,
            None => self.rate,
        };
        let across = self.trunks.as_ref().map_or(0, |trunks| trunks.across((from, to)));
        Some(rate.time_for(bytes).max(1) + self.latency + across)
    }

    /// Use of every direction of every link.
    pub fn usage(&self) -> Vec<LinkUse> {
        let mut rows = Vec::new();
        for (index, direction) in self.out.iter().enumerate() {
            if !self.per_pair {
                rows.push(direction.usage(format!("{}->peers", ProcessorId::gpu(index))));
            } else if index / self.gpus != index % self.gpus {
                let (from, to) = (ProcessorId::gpu(index / self.gpus), ProcessorId::gpu(index % self.gpus));
                rows.push(direction.usage(format!("{from}->{to}")));
            }
        }
        for (gpu, direction) in self.into.iter().enumerate() {
            rows.push(direction.usage(format!("peers->{}", ProcessorId::gpu(gpu))));
        }
        rows.extend(self.pairs.iter().flat_map(Pairs::usage));
        rows.extend(self.trunks.iter().flat_map(Trunks::usage));
        rows
    }
}
