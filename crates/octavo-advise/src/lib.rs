//! Host or device for each data structure of a program: pure functions of a machine and of its kernels' accesses.
//!
//! | module | what it answers |
//! |---|---|
//! | [`roofline`] | what a kernel can reach with its data on the host or on the device |
//! | [`penalty`] | what host placement of a structure costs beyond device placement |
//! | [`prefetch`] | which pages come without a fault of their own |
//! | [`sparsity`] | what of a graph a traversal touches |
//! | [`budget`] | which structures get a limited device memory |
//! | [`placement`] | where structures are to lie, all of this taken together |
//!
//! # The roofline with the interconnect
//!
//! On a node with a discrete GPU, a data structure is *device-placed* (copied in bulk before the kernel starts) or
//! *host-placed* (brought over the interconnect on demand). The classical roofline bounds a kernel by arithmetic and
//! by device memory; MemMap (PACT 2020) adds the interconnect: [`Roofline::host`] and [`Roofline::device`] are its
//! equations 1 to 4.
//!
//! | symbol | meaning | unit | here |
//! |---|---|---|---|
//! | α | operational intensity | operations a byte touched | [`Intensity`] |
//! | P | canonical roofline, min(peak, α·βᵉ) | operations a second | [`Roofline::canonical`] |
//! | βᵉ | effective bandwidth of device memory | bytes a second | [`Machine::device`] |
//! | βᵉ_C | effective bandwidth of the interconnect | bytes a second | [`Machine::on_demand`], [`Machine::copy`] |
//! | σ | share of the data touched at least once | (0, 1] | [`Sparsity`] |
//! | ρ | migrations over distinct pages requested | at least 1 | [`Remigration`] |
//! | γ | copy time over kernel time | 1 | [`Roofline::gamma`] |
//!
//! # Two bandwidths of one interconnect
//!
//! The publication writes βᵉ_C wherever bytes cross the interconnect. With one number for all of them, `1/P_D = 1/P +
//! 1/(α·βᵉ_C)` while `1/P_H = max(1/P, 1/(α·βᵉ_C))`: the host ceiling is above the device ceiling at every α, and the
//! published crossing cannot exist. Measured values differ: a bulk copy is faster than the same bytes on demand, fault
//! by fault. Hence [`Machine::copy`] in equations 2 and 3 and [`Machine::on_demand`] in 1 and 4.
//!
//! # What the publication states, and what follows
//!
//! | stated | follows from the equations |
//! |---|---|
//! | γ is constant in the data size | yes: bytes cancel |
//! | γ is constant in α while bandwidth-bound | yes: βᵉ/βᵉ_C |
//! | …then grows proportionally | no: γ = P/(σ·α·βᵉ_C) *falls* as 1/α once P is the peak; 1/γ grows proportionally |
//! | P100, PCIe 3: dense ceilings cross at α = 64 | with a copy at 11.69 GB/s, if on-demand bandwidth is 7.33 GB/s ([`Machine::on_demand_for_crossing`]) |
//! | host wins at every α for σ ≤ 0.25 | yes: with these, already for σ ≤ 0.64 |
//! | dense device placement wins everywhere for ρ > 4 | below α = 578 at ρ = 4; beyond it host placement comes to lie at the peak, which device placement with its copy never reaches, and wins by less than a sixth |
//!
//! `tests/it/publication.rs` holds these numbers. The copy's 11.69 GB/s is what NVIDIA's `bandwidthTest` prints for
//! pinned memory on a Tesla P100-PCIE-16GB (11 688.2 MB/s host to device; Microway, "NVIDIA Tesla P100 PCI-E 16GB GPU
//! Accelerator (Pascal GP100) Up Close"). The publication gives no bandwidth on demand: 7.33 GB/s is derived from its
//! crossing and is no measurement.
#![forbid(unsafe_code)]

pub mod budget;
pub mod penalty;
pub mod placement;
pub mod prefetch;
mod quantities;
pub mod roofline;
pub mod sparsity;

pub use penalty::{Penalty, Readings, Structure, System};
pub use placement::{Decision, Decisions, Placement, Question, Term, Undecided, decide};
pub use quantities::{Intensity, Occupancy, QuantityError, Rate, Remigration, Seconds, Sparsity};
pub use roofline::{Crossing, Machine, Roofline};
