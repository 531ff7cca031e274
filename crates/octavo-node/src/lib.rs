//! A node is data: processors, memories, links, translation, compute units and a driver model.
//!
//! Every value carries its unit in its type. Values and their sources live in the preset files of `octavo-scenario`, so
//! that no number hides in code. An optional value that is left out means absent, unlimited, free or the plainest of
//! its kind. Only the values that stand for caches at fidelity `page` have other defaults, with their sources next to
//! them. Cycles are cycles of the GPU clock.
#![forbid(unsafe_code)]

mod about;
mod coherence;
mod driver;
mod durations;
mod error;
mod fabric;
mod fidelity;
mod gpu;
mod host;
mod memory;
mod node;
mod release;
mod shares;
mod topology;
mod validate;
mod wiring;

pub use about::AboutConfig;
pub use coherence::{CoherenceConfig, GpuMemory, SystemMemory};
pub use driver::{DrainScope, DriverConfig, TransFwConfig};
pub use error::NodeError;
pub use fabric::{
    CopyEngineConfig, HostSwitchConfig, LinkConfig, LinkSharing, OccupiedConfig, PairConfig, RemoteConfig, SwitchConfig,
};
pub use fidelity::{Fidelity, SettledConfig};
pub use gpu::{
    CacheConfig, ComputeConfig, DramConfig, FaultBufferConfig, FetchConfig, InstructionConfig, L2Config,
    LargeTlbConfig, LineSize, MissPolicy, ScalarCacheConfig, ScalarConfig, ScalarTlbConfig, SetIndex, TlbConfig,
    WalkerConfig, WalkerScope,
};
pub use host::{
    AllocationCosts, CallCost, CpuConfig, CpuTlbConfig, FirstMemoryConfig, FurtherMemoryConfig, FurtherMemoryKind,
    HostConfig, HostCosts, PageCacheConfig, StagingConfig,
};
pub use memory::{CapacityChange, CapacityConfig, CapacityScope};
pub use node::{LaunchDiscards, NodeConfig};
pub use release::Release;
pub use shares::{ShareError, divide_units};
pub use topology::{CapacityAt, CapacityError};
