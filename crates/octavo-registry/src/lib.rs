//! Things a user chooses by name and configures with typed options: placement strategies, prefetchers, workloads.
//!
//! Each implementation is one file that ends in one [`Entry`]; a [`Registry`] is the list of them, and the only place
//! that knows them all. Strategies that a user wrote elsewhere are found through [`Outside`].
#![forbid(unsafe_code)]

mod choice;
mod entry;
mod known;
mod nearest;
mod outside;
mod registry;
mod words;

pub use choice::{Choice, Options};
pub use entry::{Entry, OptionError, typed};
pub use known::one_of;
pub use nearest::nearest;
pub use outside::{DIGEST, Outside, is_place};
pub use registry::{Registry, UnknownName};
pub use words::in_words;
