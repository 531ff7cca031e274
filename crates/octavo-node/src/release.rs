//! The release of NVIDIA's driver, and what changed with it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const EXPECTED: &str = "expected a release such as 615 or 580.159.04, or none for a driver that is not NVIDIA's";
const NONE: &str = "none";
/// The first release that discards pages on request: `UVM_DISCARD` (NVIDIA's open kernel modules).
const DISCARDS: (u32, u32) = (580, 65);
/// The first release whose thrashing lapse adapts: `uvm_perf_lapse_vote_threshold` (NVIDIA's open kernel modules).
const ADAPTS: u32 = 590;
/// The first release that manages GPU memory alone (CDMM) by default (CUDA 13.4).
const MANAGES_ALONE: u32 = 615;

/// A release of NVIDIA's driver, or `none`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = r"^([1-9][0-9]{2}(\.[0-9]+){0,2}|none)$"))]
pub struct Release(String);

impl Release {
    /// The number of its branch, the first of a release; `None` for a driver that is not NVIDIA's.
    #[must_use]
    pub fn branch(&self) -> Option<u32> {
        self.0.split('.').next()?.parse().ok()
    }

    /// Whether programs can discard what is in managed memory, if the driver is NVIDIA's. A branch alone is its newest
    /// release.
    #[must_use]
    pub fn discards(&self) -> Option<bool> {
        let minor = self.0.split('.').nth(1).and_then(|number| number.parse().ok());
        Some((self.branch()?, minor.unwrap_or(u32::MAX)) >= DISCARDS)
    }

    /// Whether the guard's lapse grows while pages thrash, if the driver is NVIDIA's.
    #[must_use]
    pub fn adapts_lapse(&self) -> Option<bool> {
        Some(self.branch()? >= ADAPTS)
    }

    /// Whether GPU memory of a coherent node is by default no NUMA node, if the driver is NVIDIA's.
    #[must_use]
    pub fn manages_alone(&self) -> Option<bool> {
        Some(self.branch()? >= MANAGES_ALONE)
    }
}

impl TryFrom<String> for Release {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let numbers: Vec<&str> = text.split('.').collect();
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let is_branch = numbers[0].len() == 3 && !numbers[0].starts_with('0');
        if text == NONE || (is_branch && numbers.len() <= 3 && numbers.iter().all(is_number)) {
            return Ok(Self(text));
        }
        Err(format!("{EXPECTED}, found {text}"))
    }
}

impl From<Release> for String {
    fn from(Release(text): Release) -> Self {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(text: &str) -> Result<Release, String> {
        Release::try_from(text.to_owned())
    }

    #[test]
    fn a_release_is_numbers_or_none() {
        for text in ["615", "580.65", "580.159.04", "none"] {
            assert_eq!(String::from(release(text).unwrap()), text);
        }
        for text in ["", "R615", "61", "0615", "580.", "580.1.2.3", "580.x", "None"] {
            assert!(release(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_changed_changed_with_its_branch() {
        let changes = |found: Release| [found.discards(), found.adapts_lapse(), found.manages_alone()];
        let found = |text| release(text).map(changes).unwrap();
        for (text, expected) in [
            ("575", [false, false, false]),
            ("580.64.9", [false, false, false]),
            ("580.65.06", [true, false, false]),
            ("580", [true, false, false]),
            ("590.44", [true, true, false]),
            ("615", [true, true, true]),
        ] {
            assert_eq!(found(text), expected.map(Some), "{text}");
        }
        assert_eq!(found("none"), [None; 3]);
    }
}
