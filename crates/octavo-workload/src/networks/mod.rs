//! Networks: steps of PyTorch programs that were recorded operator by operator, replayed as launches.
//!
//! A [file](mod@file) says which tensors a step has, how long each lives and which operators read and write them. It
//! does not say where they lie. [Caching allocators](allocator), one for each GPU, give them [places],
//! iteration after iteration. A layout puts the places into buffers. The [replay] makes each operator a launch
//! that streams the data it touches. `docs/own-workload.md` describes all of it.

pub mod allocator;
mod digest;
pub mod entries;
mod exchange;
pub mod file;
mod grain;
mod layout;
pub mod memory;
pub mod places;
pub mod replay;
pub mod ring;
mod shrink;
pub mod stages;
pub mod step;
