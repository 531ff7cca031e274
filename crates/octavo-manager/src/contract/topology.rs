//! The node that is managed.

use crate::contract::error::ConfigError;
use crate::contract::ids::MAX_PROCESSORS;

/// The part of a node that the manager has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// GPUs in the node, 1 to 16.
    pub gpus: usize,
    /// Pages that fit into each GPU's memory; `u32::MAX` for no limit. The host's memory has none.
    pub capacity_pages: Vec<u32>,
}

impl Topology {
    /// A node whose GPUs hold as much as is asked of them.
    #[must_use]
    pub fn unlimited(gpus: usize) -> Self {
        Self { gpus, capacity_pages: vec![u32::MAX; gpus] }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let refuse = |key: &str, message: String| Err(ConfigError { key: key.to_owned(), message });
        if self.gpus == 0 || self.gpus >= MAX_PROCESSORS {
            return refuse("gpus", format!("expected 1 to {}, found {}", MAX_PROCESSORS - 1, self.gpus));
        }
        if self.capacity_pages.len() != self.gpus {
            let found = self.capacity_pages.len();
            return refuse("capacity_pages", format!("expected one for each of {} GPUs, found {found}", self.gpus));
        }
        if let Some(gpu) = self.capacity_pages.iter().position(|&pages| pages == 0) {
            return refuse("capacity_pages", format!("gpu{gpu} has no room for a single page"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_without_memory_is_refused() {
        let topology = Topology { gpus: 2, capacity_pages: vec![4, 0] };
        assert_eq!(topology.validate().unwrap_err().key, "capacity_pages");
        assert!(Topology::unlimited(17).validate().is_err());
    }
}
