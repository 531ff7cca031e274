//! The requests, and their times.

use super::traces::Trace;
use crate::random::generator;

/// Number of the random stream that requests are drawn from.
const STREAM: u64 = 0;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The first step that can serve it.
    pub arrives: u64,
    /// Tokens of its prompt, at least one.
    pub prompt: u32,
    /// Tokens of its reply, at least one.
    pub reply: u32,
}

/// Endless requests, in the order in which they arrive.
///
/// Time is counted in steps of the server: what each takes is for the simulation to say. `load` is the average number
/// of requests in progress if each got a token every step (Little's law: this many arrive in the steps that a mean
/// reply takes).
pub fn requests(trace: Trace, load: f64, seed: u64) -> impl Iterator<Item = Request> {
    let mut random = generator(seed, STREAM);
    let apart = trace.mean_reply() / load;
    let mut time = 0.0;
    std::iter::repeat_with(move || {
        time += apart * trace.gap(&mut random);
        let (prompt, reply) = trace.lengths(&mut random);
        Request { arrives: time as u64, prompt, reply }
    })
}
