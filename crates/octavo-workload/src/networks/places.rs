//! The places of a step's tensors, iteration after iteration.

use super::allocator::{Allocator, Place, Pool};
use super::step::{Role, Step};

/// Places of all tensors in all iterations.
#[derive(Clone, Debug)]
pub struct Places {
    /// Before the first iteration, then of each: by tensor, where it was put last.
    rounds: Vec<Vec<Option<Place>>>,
    /// By tensor: the operator that it begins with.
    begins: Vec<Option<usize>>,
    /// By tensor: the GPU whose allocator it comes from.
    homes: Vec<u32>,
    /// By GPU: bytes of the segments of each pool in the end.
    reserved: Vec<[u64; 2]>,
}

impl Places {
    /// Runs the allocators of all GPUs through this many iterations of `step`, one after another. `homes`: by tensor,
    /// the GPU that it lies on.
    ///
    /// Tensors that a step keeps exist from the start, in the order in which the program made them. A tensor that ends
    /// before it begins exists as well: the previous step made it.
    #[must_use]
    pub fn new(step: &Step, iterations: u32, homes: Vec<u32>) -> Self {
        let (begins, ends) = (step.begins(), step.ends());
        let gpus = homes.iter().max().map_or(1, |&last| last as usize + 1);
        let mut allocators = vec![Allocator::default(); gpus];
        let carried = |tensor: usize| begins[tensor].zip(ends[tensor]).is_some_and(|(begin, end)| end <= begin);
        let first = |(tensor, one): (usize, &super::step::Tensor)| {
            let there = one.role != Role::Temporary || carried(tensor);
            there.then(|| allocators[homes[tensor] as usize].allocate(one.bytes))
        };
        let mut rounds = vec![step.tensors.iter().enumerate().map(first).collect::<Vec<_>>()];
        for _ in 0..iterations {
            let mut now = rounds.last().cloned().unwrap_or_default();
            for operator in &step.operators {
                for &tensor in &operator.frees {
                    allocators[homes[tensor] as usize].free(now[tensor].expect("what ends was there"));
                }
                for &tensor in &operator.allocates {
                    now[tensor] = Some(allocators[homes[tensor] as usize].allocate(step.tensors[tensor].bytes));
                }
            }
            // Tensors without an end are freed at the end of the step.
            let placed = now.clone();
            for tensor in (0..now.len()).filter(|&tensor| begins[tensor].is_some() && ends[tensor].is_none()) {
                allocators[homes[tensor] as usize].free(now[tensor].expect("it has begun"));
            }
            rounds.push(placed);
        }
        let reserved = allocators.iter().map(|own| [Pool::Small, Pool::Large].map(|pool| own.reserved(pool))).collect();
        Self { rounds, begins, homes, reserved }
    }

    /// By GPU: bytes of the segments of each pool in the end.
    #[must_use]
    pub fn reserved(&self) -> &[[u64; 2]] {
        &self.reserved
    }

    /// The GPU whose allocator `tensor` comes from.
    #[must_use]
    pub fn home(&self, tensor: usize) -> usize {
        self.homes[tensor] as usize
    }

    /// The place of `tensor` for an operator of an iteration, from 0.
    ///
    /// # Panics
    /// When it is not there, which [`Step::check`] excludes.
    #[must_use]
    pub fn at(&self, iteration: u32, operator: usize, tensor: usize) -> Place {
        let earlier = self.begins[tensor].is_some_and(|begin| operator < begin);
        let round = iteration as usize + usize::from(!earlier);
        self.rounds[round][tensor].expect("a tensor that is touched is there")
    }

    /// The place of `tensor` before the first iteration, if it exists.
    #[must_use]
    pub fn before(&self, tensor: usize) -> Option<Place> {
        self.rounds[0][tensor]
    }
}
