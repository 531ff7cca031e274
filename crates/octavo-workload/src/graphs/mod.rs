//! Graphs: drawn by name and scale, or read from files.

pub mod catalogue;
pub mod choice;
pub mod edges;
pub mod files;
pub mod graph;
pub mod rmat;
