//! Which memory system the model plays, and the manager's configuration for the same one.

use octavo_manager::{MemoryConfig, MemoryId, MemorySpec, Topology};
use octavo_registry::Choice;
use octavo_units::Bytes;
use serde_json::{Value, json};

/// A node and its memory system.
#[derive(Clone, Debug)]
pub struct Rules {
    pub page_size: u64,
    /// Pages each GPU's memory holds.
    pub capacity: Vec<u32>,
    /// Pages each memory of the host holds, the nearest first; empty for one without a limit.
    pub hosts: Vec<u32>,
    /// Pages of each GPU's memory that are kept free.
    pub reserve: u32,
    pub placement: Placement,
    /// Per cent of a subtree that must be there for the rest to come; `None` without prefetching.
    pub tree: Option<u32>,
    pub evicts_blocks: bool,
}

/// A placement strategy with the options the model knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    OnTouch,
    FirstTouch,
    AccessCounter(Remote),
    Duplication,
    Ideal,
    Grit(Grit),
}

/// How the access-counter scheme treats its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Pages on the host are mapped over the host link, not migrated at a touch.
    pub map_host: bool,
    /// A counter moves its whole 64 KiB group, not only the touched page.
    pub moves_group: bool,
}

/// GRIT and which of its components are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grit {
    pub threshold: u32,
    pub cached: bool,
    pub prediction: bool,
    pub remote: Remote,
}

impl Default for Grit {
    fn default() -> Self {
        let remote = Remote { map_host: false, moves_group: false };
        Self { threshold: 4, cached: true, prediction: true, remote }
    }
}

impl Rules {
    /// A node with this many GPUs and no limit to their memory.
    pub fn unlimited(gpus: usize, placement: Placement) -> Self {
        let capacity = vec![u32::MAX; gpus];
        Self {
            page_size: 4 << 10,
            capacity,
            hosts: Vec::new(),
            reserve: 0,
            placement,
            tree: None,
            evicts_blocks: false,
        }
    }

    pub fn gpus(&self) -> usize {
        self.capacity.len()
    }

    pub fn block_pages(&self) -> u32 {
        ((2 << 20) / self.page_size) as u32
    }

    pub fn big_page(&self) -> u32 {
        ((64 << 10) / self.page_size).max(1) as u32
    }

    pub fn topology(&self) -> Topology {
        let mut topology = Topology::of(self.capacity.clone());
        for (index, &capacity_pages) in self.hosts.iter().enumerate() {
            match index {
                0 => topology.memories[0].capacity_pages = capacity_pages,
                _ => topology.memories.push(MemorySpec { id: MemoryId::host(index), capacity_pages }),
            }
        }
        topology
    }

    pub fn config(&self) -> MemoryConfig {
        let prefetch = self
            .tree
            .map_or_else(|| choice("none", json!({})), |threshold| choice("tree", json!({ "threshold": threshold })));
        let eviction = choice(if self.evicts_blocks { "lru-block" } else { "lru-page" }, json!({}));
        let free = format!("{}B", u64::from(self.reserve) * self.page_size);
        let demotion =
            if self.reserve > 0 { choice("reserve", json!({ "free": free })) } else { choice("host", json!({})) };
        MemoryConfig {
            demotion,
            page_size: Bytes(self.page_size),
            placement: self.placement.choice(),
            prefetch,
            eviction,
            ..MemoryConfig::default()
        }
    }
}

impl Placement {
    fn choice(self) -> Choice {
        match self {
            Self::OnTouch => choice("on-touch", json!({})),
            Self::FirstTouch => choice("first-touch", json!({})),
            Self::Duplication => choice("duplication", json!({})),
            Self::Ideal => choice("ideal", json!({})),
            Self::AccessCounter(remote) => choice("access-counter", remote.options("moves")),
            Self::Grit(grit) => {
                let mut options = grit.remote.options("counter_moves");
                options["fault_threshold"] = json!(grit.threshold);
                options["pa_cache"] = json!(grit.cached);
                options["prediction"] = json!(grit.prediction);
                choice("grit", options)
            }
        }
    }
}

impl Remote {
    fn options(self, moves: &str) -> Value {
        json!({
            "host_pages": if self.map_host { "map" } else { "migrate" },
            moves: if self.moves_group { "group" } else { "page" },
        })
    }
}

fn choice(name: &str, options: Value) -> Choice {
    let Value::Object(options) = options else { unreachable!("options are a table") };
    Choice { name: name.to_owned(), options }
}
