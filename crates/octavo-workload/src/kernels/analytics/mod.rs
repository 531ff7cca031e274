//! Graph analytics on compressed rows, edge-balanced as libraries for GPUs do it.
//!
//! A launch goes through rows and their edges. Both together are cut into equal parts, one for each wavefront
//! (`balanced`). So thousands of wavefronts share a vertex with a million edges, as they share a million vertices with
//! one edge each. This is merge-based, as Merrill and Garland's product of a sparse matrix and a vector (SC 2016).
//! Instructions between accesses are chosen (`cost`): no compiled kernel was counted.

mod afforest;
mod balance;
pub mod bfs;
mod cost;
mod labels;
pub mod louvain;
pub mod mst;
pub mod pagerank;
mod result;
mod source;
pub mod sssp;
mod sweep;
mod walk;
pub mod wcc;
