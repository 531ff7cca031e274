//! Combinations of links that no node can have.

use octavo_manager::MAX_GPUS;

use crate::error::{NodeError, error, in_range};
use crate::fabric::{LinkSharing, PairConfig};
use crate::node::NodeConfig;

/// Most links between two GPUs.
const MOST_LINKS: u32 = 64;

impl NodeConfig {
    /// Checks which processors are linked.
    pub(crate) fn validate_links(&self) -> Result<(), NodeError> {
        for (key, link) in [("gpu_link", &self.gpu_link), ("host_link", &self.host_link)] {
            if link.bandwidth.0 < 1_000_000 {
                return Err(error(
                    &format!("{key}.bandwidth"),
                    format!("expected at least 1MB/s, found {}", link.bandwidth),
                ));
            }
        }
        if let Some(to_host) = self.gpu_link.to_host {
            let message =
                format!("expected only `bandwidth`, which links of GPUs have in both directions, found {to_host}");
            return Err(error("gpu_link.to_host", message));
        }
        if let Some(to_host) = self.host_link.to_host.filter(|rate| rate.0 < 1_000_000) {
            return Err(error("host_link.to_host", format!("expected at least 1MB/s, found {to_host}")));
        }
        if self.host_link.sharing == LinkSharing::PerPair {
            return Err(error(
                "host_link.sharing",
                "expected per-gpu: each GPU has one link to the host, found per-pair",
            ));
        }
        if let Some(switches) = &self.switches {
            in_range("switches.gpus", switches.gpus, 1, MAX_GPUS as u32)?;
            if self.gpu_link.sharing == LinkSharing::PerPair {
                return Err(error(
                    "gpu_link.sharing",
                    "expected per-gpu where links go through switches, found per-pair",
                ));
            }
        }
        if let Some(switches) = &self.host_switches {
            in_range("host_switches.gpus", switches.gpus, 1, MAX_GPUS as u32)?;
        }
        self.validate_pairs()?;
        in_range("remote.lines_in_flight", self.remote.lines_in_flight, 0, 1 << 16)?;
        in_range("remote.write_queue", self.remote.write_queue, 1, 1 << 16)
    }

    fn validate_pairs(&self) -> Result<(), NodeError> {
        let Some(pairs) = &self.links else { return Ok(()) };
        if self.gpu_link.sharing == LinkSharing::PerGpu || self.switches.is_some() {
            let expected = "expected per-pair and no `switches` where `links` says which GPUs are linked";
            return Err(error("gpu_link.sharing", expected));
        }
        (0..pairs.len()).try_for_each(|index| validate_pair(index, pairs))
    }
}

fn validate_pair(index: usize, pairs: &[PairConfig]) -> Result<(), NodeError> {
    let key = |name: &str| format!("links[{index}].{name}");
    let PairConfig { gpus: [one, other], count } = pairs[index];
    in_range(&key("gpus"), one.max(other), 0, MAX_GPUS as u32 - 1)?;
    in_range(&key("count"), count, 1, MOST_LINKS)?;
    if one == other {
        return Err(error(&key("gpus"), format!("expected two GPUs, found {one} twice")));
    }
    let same = |pair: &PairConfig| pair.gpus == [one, other] || pair.gpus == [other, one];
    if let Some(before) = pairs[..index].iter().position(same) {
        return Err(error(
            &key("gpus"),
            format!("expected each pair once, found {one} and {other} in links[{before}] too"),
        ));
    }
    Ok(())
}
