//! Instructions between accesses: vector, scalar, local data, branch. Chosen: what the source of such kernels asks for,
//! address arithmetic counted; on real GPUs it hides behind the accesses.

use octavo_program::Op;

/// One step of a search for the beginning of a part.
pub const SEARCH: Op = Op::mix(6, 2, 0, 1);
/// Before rows and edges are loaded.
pub const SET_UP: Op = Op::mix(8, 4, 0, 1);
/// An edge's target becomes an address.
pub const ADDRESS: Op = Op::mix(3, 0, 0, 0);
/// An edge's value joins its row's, through local memory.
pub const REDUCE: Op = Op::mix(6, 1, 4, 1);
/// Before results of rows are stored.
pub const CLOSE: Op = Op::mix(4, 1, 2, 1);
/// A value of a vertex from others of it.
pub const VERTEX: Op = Op::mix(8, 1, 0, 1);
/// A sum over a wavefront.
pub const SUM: Op = Op::mix(12, 2, 6, 1);
