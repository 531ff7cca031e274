//! Decides whether stored samples can replace a new measurement.

use octavo_gpu::{Description, Effort, Probe};
use serde::{Deserialize, Serialize};

/// Equal origins are the same measurement. `octavo calibrate` writes and reads the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Name of the GPU, such as `NVIDIA H200`.
    gpu: String,
    uuid: String,
    driver: String,
    /// `quick` or `full`.
    effort: String,
    /// Digest of the probe's sources.
    digest: String,
    /// GPUs in the machine.
    gpus: u64,
}

impl Origin {
    pub fn new(probe: &dyn Probe, description: &Description, gpus: usize, effort: Effort) -> Self {
        let Description { name, uuid, driver, cuda, .. } = description;
        let effort = if effort == Effort::Quick { "quick" } else { "full" };
        Self {
            gpu: name.clone(),
            uuid: uuid.clone(),
            driver: driver.clone().unwrap_or_else(|| format!("for CUDA {cuda}")),
            effort: effort.to_owned(),
            digest: probe.digest(),
            gpus: gpus as u64,
        }
    }

    /// The first thing that differs, in words.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let pairs = [
            ("gpu", self.gpu.clone(), other.gpu.clone()),
            ("GPU", self.uuid.clone(), other.uuid.clone()),
            ("driver", self.driver.clone(), other.driver.clone()),
            ("effort", self.effort.clone(), other.effort.clone()),
            ("version of the probe", self.digest.clone(), other.digest.clone()),
            ("number of GPUs", self.gpus.to_string(), other.gpus.to_string()),
        ];
        let differs = pairs.into_iter().find(|(_, mine, theirs)| mine != theirs);
        differs.map(|(name, mine, theirs)| format!("{name} `{mine}`, not `{theirs}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::Origin;

    #[test]
    fn the_first_difference_is_named() {
        let origin = |uuid: &str, effort: &str| Origin {
            gpu: "GPU".to_owned(),
            uuid: uuid.to_owned(),
            driver: "1".to_owned(),
            effort: effort.to_owned(),
            digest: "d".to_owned(),
            gpus: 1,
        };
        assert_eq!(origin("a", "quick").difference(&origin("a", "quick")), None);
        assert_eq!(origin("a", "quick").difference(&origin("b", "full")).unwrap(), "GPU `a`, not `b`");
        assert_eq!(origin("a", "quick").difference(&origin("a", "full")).unwrap(), "effort `quick`, not `full`");
    }
}
