//! Options of `stock-driver`, with the driver's defaults.

use octavo_registry::OptionError;
use octavo_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const US: u64 = 1_000_000;

/// Which memories processors map by a fast link with atomics, unless the node's links decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LinksThere {
    /// By the node's links.
    Node,
    /// Only its own: GPUs and host are behind PCIe.
    None,
    /// GPUs each other's: `NVLink` between GPUs, PCIe to the host.
    Gpus,
    /// All: a coherent host as well.
    All,
}

/// Options of `stock-driver`.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Options {
    /// Number of moves of a page, each within the lapse after the one before, from which the page counts as thrashing;
    /// default 3, 1 to 7 (`uvm_perf_thrashing_threshold`).
    pub threshold: u8,
    /// Faults on a page that are throttled before it is pinned; default 10, 1 to 255
    /// (`uvm_perf_thrashing_pin_threshold`).
    pub pin_threshold: u8,
    /// Time within which two moves belong together; default 500us (`uvm_perf_thrashing_lapse_usec`).
    pub lapse: Time,
    /// Whether the lapse grows while moves follow one another within it: by an eighth, at most 50ms at a time, up to
    /// 500ms; default as `node.driver.release` does, or true. As compiled in the driver, it grows at once. It shrinks
    /// only from 500ms, when 32 more moves of a block of 2 MiB (our reading) were further apart than were closer
    /// together.
    pub adaptive_lapse: bool,
    /// Time for which the others wait when one processor gets a page; default 500us (`uvm_perf_thrashing_nap` 1, of the
    /// lapse).
    pub nap: Time,
    /// Time for which a page stays pinned, 0ps for ever; default 150ms (`uvm_perf_thrashing_pin` 300, of the lapse).
    pub pin: Time,
    /// Time without thrashing after which the guard forgets its knowledge about a block of 2 MiB, if none of its pages
    /// was ever pinned; default 1s (`uvm_perf_thrashing_epoch` 2000, of the lapse).
    pub epoch: Time,
    /// How often that happens to a block; default 4 (`uvm_perf_thrashing_max_resets`).
    pub max_resets: u8,
    /// Which memories processors map by a fast link with atomics. A thrashing page is pinned there at once, without
    /// throttling; default `node`: as the node's links are; the driver reads this from the hardware. The other values
    /// ignore the links: `none` (as over PCIe), `gpus` (each other's, as over `NVLink`) or `all` (the host's, too, as
    /// on a coherent node).
    pub fast_links: LinksThere,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threshold: 3,
            pin_threshold: 10,
            lapse: Time(500 * US),
            adaptive_lapse: true,
            nap: Time(500 * US),
            pin: Time(150_000 * US),
            epoch: Time(1_000_000 * US),
            max_resets: 4,
            fast_links: LinksThere::Node,
        }
    }
}

impl Options {
    /// # Errors
    /// Names the option that is out of the driver's range.
    pub fn check(&self) -> Result<(), OptionError> {
        let refuse = |key: &str, message: String| Err(OptionError::new(key, message));
        if !(1..=7).contains(&self.threshold) {
            return refuse("threshold", format!("expected 1 to 7 moves, found {}", self.threshold));
        }
        if self.pin_threshold == 0 {
            return refuse("pin_threshold", "expected 1 to 255 throttled faults, found 0".to_owned());
        }
        for (key, time) in [("lapse", self.lapse), ("nap", self.nap), ("epoch", self.epoch)] {
            if time == Time::ZERO {
                return refuse(key, format!("expected more than no time, found {time}"));
            }
        }
        Ok(())
    }
}
