//! The host: its cores, its memory, and its walks for far faults.

pub(crate) mod cores;
pub(crate) mod first_memory;
pub(crate) mod frames;
pub(crate) mod system_table;
pub(crate) mod thread;
mod tlb;
pub(crate) mod walkers;
