//! The places where the publication's equations cannot be taken as printed, and the possible readings of each.
//!
//! Dimensions decide the first three. In the others, the printed equation has sound dimensions but cannot be meant as
//! it stands.

use serde::{Deserialize, Serialize};

/// For each place that can be read in several ways, the chosen reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Readings {
    /// Reading of the total latency L.
    pub latency: Latency,
    /// The operations that a warp has while it waits, in the concurrency C.
    pub operations: Operations,
    /// What concurrency hides.
    pub hiding: Hiding,
    /// Reading of the copy cost.
    pub copy: Copying,
    /// Reading of the fault concurrency in the fault penalty.
    pub faults: Faults,
    /// Reading of the cost that prefetching hides.
    pub prefetch: Prefetching,
    /// Reading for pages that the device touches first.
    pub first_touch: FirstTouch,
    /// Which costs belong to a placement.
    pub extent: Extent,
}

/// L, the latency of the volume V that all multiprocessors request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Latency {
    /// As printed: `V × min(βʳ, βᵉ_C)`, bytes times bytes a second, read as seconds.
    Product,
    /// `V / SMs / min(βʳ, βᵉ_C)`: seconds, but every multiprocessor has all of the interconnect.
    Alone,
    /// `V / SMs / min(βʳ, βᵉ_C / SMs)`: seconds, and they share it; but where they ask for less than the interconnect
    /// gives, this is the time of the kernel, which it takes with its data on the device, too.
    Shared,
    /// `V / βᵉ_C`: the time of the bytes on the interconnect.
    #[default]
    Interconnect,
}

/// The operations of a warp between two of its loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operations {
    /// As printed: `⌊(α − 1/|w|) / (1/|w|)⌋`, where α is operations a byte and 1/|w| a share of lanes.
    Lanes,
    /// `⌊4 B × α⌋`: instructions of a warp for each of its loads, if every lane loads a word of four bytes.
    #[default]
    Words,
}

/// What the concurrency C hides of pages that come on demand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hiding {
    /// As printed: the share of L that `C / l` is, though L is the time of bytes on the interconnect, which warps that
    /// wait for these bytes do not shorten.
    Concurrency,
    /// Nothing: all of L is exposed.
    #[default]
    Nothing,
}

/// The time of the bulk copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Copying {
    /// As printed: `size × βᵉ_C`, read as seconds.
    Product,
    /// `bytes copied / βᵉ_C`, with the bandwidth of bulk copies.
    #[default]
    Quotient,
}

/// How serving faults together changes the penalty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Faults {
    /// As printed: those in flight are subtracted from the number of faults, once in the life of the structure.
    Subtracted,
    /// They are served in groups, as large as the number in flight.
    #[default]
    Divided,
}

/// What prefetching hides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prefetching {
    /// As printed: the share of L that belongs to its pages, in addition to their faults.
    Latency,
    /// Their faults alone: the pages still cross the interconnect, whose bandwidth is in L.
    #[default]
    Faults,
}

/// Pages that the device touches first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstTouch {
    /// As printed: they cross the interconnect like all others, fault, and have a further penalty.
    Fetched,
    /// They are created where they are touched: no bytes cross at first, and the penalty is their fault.
    #[default]
    Made,
}

/// What counts as one placement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// As printed: the kernel and the copy to the device.
    Kernel,
    /// The whole program: allocation, the host's first touch, and how results come back as well.
    #[default]
    Program,
}

impl Readings {
    /// Everything as printed.
    pub const PUBLISHED: Self = Self {
        latency: Latency::Product,
        operations: Operations::Lanes,
        hiding: Hiding::Concurrency,
        copy: Copying::Product,
        faults: Faults::Subtracted,
        prefetch: Prefetching::Latency,
        first_touch: FirstTouch::Fetched,
        extent: Extent::Kernel,
    };
    /// Everything in seconds, each thing once. The default.
    pub const SOUND: Self = Self {
        latency: Latency::Interconnect,
        operations: Operations::Words,
        hiding: Hiding::Nothing,
        copy: Copying::Quotient,
        faults: Faults::Divided,
        prefetch: Prefetching::Faults,
        first_touch: FirstTouch::Made,
        extent: Extent::Program,
    };
}

impl Default for Readings {
    fn default() -> Self {
        Self::SOUND
    }
}
