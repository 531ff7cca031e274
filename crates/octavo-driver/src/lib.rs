//! The driver: faults come in, are merged, batched and handed to the manager; the manager's plans go to an [`Executor`]
//! step by step; who waited is woken. Pure state like the manager: no clock, no I/O, no threads.
//!
//! One driver, many executors: a simulated node (what steps cost), [`Instant`] (every step at once), real memory. The
//! manager decides, the driver orders events, and the executor defines what a step *is*.
//!
//! # The way of a fault
//!
//! 1. An access finds no usable mapping. [`Driver::open_fault`] opens a fault, or the access joins its processor's open
//!    fault on this page. The caller keeps track of the accesses that wait for a [`FaultId`].
//! 2. The fault travels to the driver, which may take time outside; then [`Driver::fault_arrives`]. Where there is no
//!    way between them, [`Driver::faults`] does both.
//! 3. It is served as the [`Service`] says: at once, by a server of a pool, or in a batch. Then the manager has it, and
//!    a store can no longer join a load.
//! 4. Each plan that the manager makes gets a slot. [`Executor::admit`] gives the time at which its first step can
//!    start; [`Executor::begin`] is called for the steps in order, each when the one before is done: `Done` (continue),
//!    `At` (continue at that time), `Later` (the executor will report the end). Time that the first
//!    [`room_steps`](octavo_manager::Plan::room_steps) take is kept as time for making room.
//! 5. A wake step closes the faults that it names: cause and time for making room are noted in them, and
//!    [`Executor::wake`] is called for each. With batched service the wakes leave when the batch ends, that is when
//!    the steps of all plans that wake faults of its GPUs are over; otherwise at once.
//! 6. When a wake-up has arrived, [`Driver::wake_arrives`] returns the fault's record, and every waiting access is
//!    retried. The wake-up ends when every access was served or has faulted again, however late it is retried; then
//!    [`Driver::replayed`]. [`Driver::woken`] does both for executors whose waiters continue by themselves.
//! 7. A plan is acknowledged when its last step and its last wake-up are done, including a wake-up that a batch kept.
//!    Until then its pages are busy. So every transfer of a page that a fault requested serves an access: accesses are
//!    finite, and so are transfers. Then work that waited for its pages continues.
//!
//! # Alarms
//!
//! Whenever the driver knows when it can continue (a server is done, a step is done), it asks the executor to
//! [`remind`](Executor::remind) it. A simulator puts the [`Alarm`] into its own calendar, answers `true`, and calls
//! [`Driver::alarm`] at its time. So alarms keep their place among all other events of that time, in the order in which
//! they were set. An executor that answers `false` must ask [`Driver::deadline`] and call [`Driver::tick`].
//!
//! Strategies of the manager can request a call at a certain time; there is one alarm for the first of these times, and
//! none if no strategy requests one.
//!
//! # Refusals
//!
//! An executor can refuse to continue a plan ([`Begun::Refused`], or `Err` in [`Driver::finished`]). Finished steps
//! stay done, page by page. The manager cleans up the half-done plan, and its faults are woken. An access that tries
//! again faults again, and that fault is served alone, without prefetched pages. [`Executor::kill`] ends faults that
//! can never be served, and those whose plans were refused a thousand times in a row. Plans that no fault waits for are
//! then left until something else happens; a refused plan whose end is also refused that often [halts the
//! driver](Driver::refused_for_good). A fault on a page that is believed to be mapped, and that no plan holds, is
//! answered by mapping it again.
//!
//! # What else comes in
//!
//! Counter notifications are requests like faults ([`Driver::counter`]). Allocations, reports, ends of kernels and
//! capacities go straight to the manager. [`Driver::free`] waits until no plan holds the pages, informs the executor
//! with [`Executor::free`], and wakes accesses that still wait for one of these pages. Meanwhile the manager does
//! nothing [ahead of need](octavo_manager::Manager::work_ahead), which would hold pages again. Faults that cost nothing
//! ([`Needs::free_faults`](octavo_manager::Needs)) go through [`Driver::resolve_at_once`] and [`Driver::go_on`].
//!
//! # Records
//!
//! [`Executor::hear`] gets reports for callers that keep a record: when servers and batches work, and when plans start
//! and end. Everything here is monomorphised over the executor: default methods cost nothing, and no step allocates.
//!
//! # Example
//!
//! ```
//! use octavo_driver::{Driver, Instant, Service};
//! use octavo_manager::{Access, Fault, Manager, MemoryConfig, PageId, PageRun, ProcessorId, Topology};
//! use octavo_units::Time;
//!
//! let manager = Manager::new(&MemoryConfig::default(), &Topology::unlimited(2))?;
//! let (mut driver, mut node) = (Driver::new(manager, Service::at_once()), Instant::new(2));
//! let (now, gpu, page) = (Time::ZERO, ProcessorId::gpu(1), PageId(3));
//!
//! let run = PageRun { first: PageId(0), count: 16 };
//! node.allocate(&run.into());
//! driver.allocate(now, run.into(), &mut node);
//!
//! let fault = Fault { processor: gpu, page, access: Access::Write };
//! assert!(!node.entry(gpu, page).allows(fault.access));
//! driver.faults(now, &[fault], &mut node);
//! assert_eq!(node.take_woken(), Some(fault));
//! assert!(node.entry(gpu, page).allows(fault.access));
//! # Ok::<(), octavo_manager::ConfigError>(())
//! ```
#![forbid(unsafe_code)]
#![deny(clippy::disallowed_types, clippy::disallowed_methods)]

mod alarm;
mod batch;
pub mod config;
#[cfg(feature = "conformance")]
pub mod conformance;
mod copies;
mod deadline;
mod driver;
mod execution;
mod executor;
mod faults;
mod frees;
mod instant;
mod plans;
mod pool;
mod ready;
mod refusal;
mod release;
mod serve;
mod service;
pub mod slab;
mod trials;

pub use alarm::Alarm;
pub use batch::Request;
pub use driver::Driver;
pub use executor::{Begun, Executor, Happening, Ticket, Wake};
pub use faults::{FaultId, Faults, Opened, Outstanding};
pub use instant::{Entry, Instant};
pub use service::Service;
