//! A tier in user space: memory of several GPUs and of the host behind addresses that stay, on CUDA's virtual memory
//! management.
//!
//! A buffer of a [`Tier`] is cut into pieces of 2 to 32 MiB. Each piece is in the memory of its device, of a neighbour
//! that has idle memory, or on the host, and moves between launches: [`Tier::before_launch`] brings what the next launch
//! uses, and what was used longest ago makes room. There are no faults in such memory. The decisions are those of the
//! [manager](octavo_manager) that simulations run: a launch's buffers are handed to its driver as faults, and the
//! [`Mover`] carries the plans out. [`Tier::yield_memory`] gives a device's memory back to others at once.
//!
//! ```
//! use octavo_tier::{Settings, Tier};
//! use octavo_units::Bytes;
//!
//! let settings = Settings::read("devices=0,1 memory=4MiB,2MiB host=16MiB stand-in=yes")?;
//! let mut tier = Tier::open(&settings)?;
//! let [weights, input, output] = ["weights", "input", "output"].map(|name| tier.allocate(2 << 20, 0, name).unwrap());
//! tier.before_launch(0, &[weights, input])?;
//! tier.before_launch(0, &[weights, output])?;
//! assert_eq!(tier.status().buffers[input as usize].pieces["device 1"], 1); // the neighbour keeps it
//! assert_eq!(tier.yield_memory(1, Bytes(0))?, Bytes(2 << 20));
//! assert_eq!(tier.status().buffers[input as usize].pieces["host"], 1);
//! # Ok::<(), octavo_tier::TierError>(())
//! ```

mod bringing;
mod c;
mod error;
mod frames;
mod mover;
mod numbers;
mod settings;
mod stand_in;
mod status;
mod tally;
mod tier;
mod vmm;

pub use c::{ALLOCATOR, serve};
pub use error::TierError;
pub use mover::{Entry, Mover};
pub use settings::Settings;
pub use stand_in::{Failing, Held, StandIn};
pub use status::{BufferStatus, Counts, DeviceStatus, HostStatus, Status};
pub use tally::{Cost, Costs};
pub use tier::{Buffer, Tier};
pub use vmm::{Cuda, Vmm};
