//! Things a user chooses by name and configures with typed options: placement strategies, prefetchers, workloads.
//!
//! Each implementation is one file that ends in one [`Entry`]; a [`Registry`] is the list of them, and the only place
//! that knows them all. Strategies that a user wrote elsewhere are found through [`Outside`].
#![forbid(unsafe_code)]

mod choice;
mod entry;
mod expectation;
mod outside;
mod registry;
mod suggestion;
mod words;

pub use choice::{Choice, Options};
pub use entry::{Entry, OptionError, typed};
pub use expectation::one_of;
pub use outside::{DIGEST, Outside, is_place};
pub use registry::{Registry, UnknownName};
pub use suggestion::nearest;
pub use words::in_words;
