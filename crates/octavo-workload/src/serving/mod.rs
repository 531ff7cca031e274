//! Language models that serve requests: decoding with a paged cache of keys and values, and mixtures of experts.
//!
//! [Requests](requests) arrive by the statistics of public [traces] or as a [file](recorded) has them; a [schedule]
//! batches them and gives their tokens blocks of the cache. For each step, the [replay](decode) streams the blocks and
//! the weights of a [model](models), all of them or only the chosen [experts]'. `docs/workloads.md` describes all of
//! it.

pub mod decode;
pub mod entries;
pub mod experts;
pub mod models;
pub mod request_files;
pub mod requests;
pub mod schedule;
pub mod traces;
