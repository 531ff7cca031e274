//! Tests of the node through the public interface. They are one program: programs of one file each would all
//! compile the helpers and be linked.

mod barrier;
mod batch;
mod breakdown;
mod capacity;
mod chunks;
mod coherent;
mod conformance;
mod counters;
mod deadlines;
mod drain;
mod failure;
mod fidelity;
mod functional;
mod functional_jobs;
mod gps;
mod host_frames;
mod host_memories;
mod instructions;
mod jobs;
mod l1;
mod large_pages;
mod latency;
mod line_sizes;
mod metadata;
mod placed;
mod refused;
mod remote;
mod scarce;
mod support;
mod timeline;
mod trans_fw;
mod translation;
mod waits;
mod whole;
mod workloads;
