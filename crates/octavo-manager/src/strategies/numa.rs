//! The NUMA node on which a page of the operating system's memory is created: the policy of its mapping.

use octavo_registry::nearest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::error::ConfigError;
use crate::contract::ids::{MemoryId, PageId, ProcessorId};
use crate::contract::topology::{SystemTable, Topology};

/// A policy, as `mbind` gives a mapping one and `numactl` a program's host side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NumaPolicy {
    /// Where the page is touched first, or where the placement has it (`numactl --localalloc`).
    #[default]
    Local,
    /// On one of `nodes` while any of these has room (`--preferred`, `--preferred-many`).
    Preferred,
    /// On `nodes` in turn, by the page's number (`--interleave`). The production driver ignores this policy: memory
    /// that a GPU touches first is on that GPU (`uvm-driver.md` section 7).
    Interleave,
    /// Only on `nodes`: when these are full, memory is out (`--membind`). Pages that a GPU evicts go to the host's
    /// memories among them, and to its others when these are full.
    Bind,
}

/// The policy of the operating system's memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NumaConfig {
    /// Which policy; default `local`.
    pub policy: NumaPolicy,
    /// Its nodes under their names in tables: `host`, the host's other memories `host1` and so on, and on coherent
    /// nodes whose GPU memory is the operating system's `gpu0` and so on. None for `local`.
    pub nodes: Vec<String>,
}

impl NumaConfig {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Checks that need no node.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        match (self.policy, self.nodes.is_empty()) {
            (NumaPolicy::Local, false) => Err(refused(format!("expected none beside `local`, found {}", self.said()))),
            (NumaPolicy::Local, true) | (_, false) => Ok(()),
            (_, true) => Err(refused("expected at least one node for this policy, found none".to_owned())),
        }
    }

    fn said(&self) -> String {
        self.nodes.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }

    /// The same on a node.
    ///
    /// # Errors
    /// Names what is no NUMA node there, and those that are.
    pub fn on(&self, topology: &Topology) -> Result<Numa, ConfigError> {
        self.validate()?;
        let gpus_too = topology.system == SystemTable::Shared { on_gpus: true };
        let (mut known, gpus): (Vec<MemoryId>, Vec<MemoryId>) =
            topology.memories.iter().map(|memory| memory.id).partition(|memory| memory.on_host());
        known.extend(gpus.into_iter().filter(|_| gpus_too));
        let names: Vec<String> = known.iter().map(ToString::to_string).collect();
        if let Some(unknown) = self.nodes.iter().find(|name| !names.contains(name)) {
            let hint =
                nearest(unknown, names.iter().map(String::as_str)).map(|name| format!("; did you mean `{name}`?"));
            let message = format!("expected NUMA nodes of this node, {}, found `{unknown}`", names.join(", "));
            return Err(refused(message + &hint.unwrap_or_default()));
        }
        let nodes = known.into_iter().filter(|memory| self.nodes.contains(&memory.to_string())).collect();
        Ok(Numa { policy: self.policy, nodes })
    }
}

fn refused(message: String) -> ConfigError {
    ConfigError::new("system.numa.nodes", message)
}

/// A policy on a node.
#[derive(Clone, Debug, Default)]
pub struct Numa {
    policy: NumaPolicy,
    /// The host's first, the nearest to its cores before the others, as the kernel orders them; then the GPUs'.
    nodes: Vec<MemoryId>,
}

/// The decision of a policy about pages that come to the host.
pub(crate) enum OnHost<'a> {
    /// Nothing.
    Anywhere,
    /// The first page goes there, if there is room.
    Turn(MemoryId),
    /// The pages go to the first of these with room.
    Among(&'a [MemoryId]),
}

impl Numa {
    /// Whether it says nothing.
    pub(crate) fn is_local(&self) -> bool {
        self.policy == NumaPolicy::Local
    }

    /// Where a page is created that would come to `wish` without a policy. If several nodes have room, the toucher's
    /// own is taken, otherwise the nearest to the host's cores, as in the driver (`uvm-driver.md` section 7).
    pub(crate) fn first_touch(
        &self,
        page: PageId,
        toucher: ProcessorId,
        wish: MemoryId,
        has_room: impl Fn(MemoryId) -> bool,
    ) -> MemoryId {
        match self.policy {
            NumaPolicy::Local => wish,
            NumaPolicy::Interleave if toucher.gpu_index().is_some() => wish,
            NumaPolicy::Interleave => self.turn(page),
            NumaPolicy::Preferred | NumaPolicy::Bind => {
                let own = self.nodes.iter().find(|&&node| node == toucher.memory());
                let found = own.into_iter().chain(&self.nodes).copied().find(|&node| has_room(node));
                found.unwrap_or(self.nodes[0])
            }
        }
    }

    /// The memory that is next for this page.
    fn turn(&self, page: PageId) -> MemoryId {
        self.nodes[page.index() % self.nodes.len()]
    }

    pub(crate) fn on_host(&self, page: PageId) -> OnHost<'_> {
        match self.policy {
            NumaPolicy::Local => OnHost::Anywhere,
            NumaPolicy::Interleave => OnHost::Turn(self.turn(page)),
            NumaPolicy::Preferred | NumaPolicy::Bind => {
                OnHost::Among(&self.nodes[..self.nodes.partition_point(|node| node.on_host())])
            }
        }
    }

    /// The only nodes that pages may be on; `None` if they may be on all.
    pub(crate) fn bound(&self) -> Option<&[MemoryId]> {
        (self.policy == NumaPolicy::Bind).then_some(&self.nodes)
    }

    /// Whether access counters may bring pages there: not past a policy that names other nodes (`uvm-driver.md`
    /// section 7: the driver chooses the destination as for a fault).
    pub(crate) fn lets_move(&self, to: MemoryId) -> bool {
        match self.policy {
            NumaPolicy::Local | NumaPolicy::Interleave => true,
            NumaPolicy::Preferred | NumaPolicy::Bind => self.nodes.contains(&to),
        }
    }
}
