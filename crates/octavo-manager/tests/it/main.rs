//! Tests of the manager through the public interface. They are one program: programs of one file each would all
//! compile the helpers and be linked.

mod access_counter;
mod advice;
mod classes;
mod common;
mod conformance;
mod demotion;
mod differential;
mod eviction_golden;
mod executor;
mod footprint;
mod found;
mod gps;
mod griffin;
mod grit;
mod grit_rules;
mod guard;
mod harness;
mod host_memories;
mod kinds;
mod lru_rules;
mod mosaic;
mod options;
mod populate;
mod prefetch;
mod reach;
mod reference;
mod refusals;
mod sharing;
mod soak;
mod spare;
mod statistics;
mod time;
mod tree_golden;
mod uniform;
mod uvmsmart;
