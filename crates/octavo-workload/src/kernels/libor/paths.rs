//! All paths, and where their arrays lie.

use octavo_program::{AddressSpace, Buffer};

use super::rates::{DATES, RATES, SWAPTIONS, exercised};

/// Bytes of an element.
pub(super) const WORD: u64 = 4;
/// Threads of a work-group, which is a wavefront.
pub(super) const GROUP: u64 = 64;
/// Both kernels over some paths.
pub struct Libor {
    pub(super) paths: u64,
    /// Threads, which is paths rounded up to work-groups.
    pub(super) threads: u64,
    pub(super) arrays: Arrays,
    pub(super) buffers: Vec<Buffer>,
    /// Whether each swaption is exercised.
    pub(super) exercised: [bool; SWAPTIONS],
}

/// Where the threads' arrays and the results lie.
pub(super) struct Arrays {
    /// Rates (`L`), rates of all dates (`L2`) and random numbers (`z`).
    pub rates: Buffer,
    pub history: Buffer,
    pub noise: Buffer,
    /// Bond prices and swap values (`B`, `S`), and the sensitivities to them (`B_b`, `S_b`).
    pub bonds: Buffer,
    pub swaps: Buffer,
    pub bonds_back: Buffer,
    pub swaps_back: Buffer,
    /// Value and sensitivity of each path.
    pub values: Buffer,
    pub sensitivities: Buffer,
}

impl Libor {
    /// `paths` paths, not zero.
    #[must_use]
    pub fn new(paths: u64) -> Self {
        let threads = paths.next_multiple_of(GROUP);
        let mut space = AddressSpace::default();
        let mut private = |name, elements: u32| space.allocate(name, u64::from(elements) * threads * WORD);
        let [rates, noise] = ["L", "z"].map(|name| private(name, RATES));
        let history = private("L2", RATES * (DATES + 1));
        let [bonds, swaps, bonds_back, swaps_back] = ["B", "S", "B_b", "S_b"].map(|name| private(name, DATES));
        let [values, sensitivities] = ["v", "Lb"].map(|name| space.allocate(name, paths * WORD));
        let arrays = Arrays { rates, history, noise, bonds, swaps, bonds_back, swaps_back, values, sensitivities };
        Self { paths, threads, arrays, buffers: space.buffers().to_vec(), exercised: exercised() }
    }
}
