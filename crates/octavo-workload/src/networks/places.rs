//! Where the tensors of a step lie, iteration after iteration.

use super::allocator::{Allocator, Place, Pool};
use super::step::{Role, Step};

/// Places of all tensors in all iterations.
#[derive(Clone, Debug)]
pub struct Places {
    /// Before the first iteration, then of each: by tensor, where it was put last.
    rounds: Vec<Vec<Option<Place>>>,
    /// By tensor: the operator that it begins with.
    begins: Vec<Option<usize>>,
    small: u64,
    large: u64,
}

impl Places {
    /// Runs the allocator through so many iterations of `step`, one after another.
    ///
    /// What a step keeps is there from the start, in the order in which the program made it. A tensor that ends before it
    /// begins is there as well: the one that the step before has made.
    #[must_use]
    pub fn new(step: &Step, iterations: u32) -> Self {
        let (begins, ends) = (step.begins(), step.ends());
        let mut allocator = Allocator::default();
        let carried = |tensor: usize| begins[tensor].zip(ends[tensor]).is_some_and(|(begin, end)| end <= begin);
        let first = |(tensor, one): (usize, &super::step::Tensor)| {
            let there = one.role != Role::Temporary || carried(tensor);
            there.then(|| allocator.allocate(one.bytes))
        };
        let mut rounds = vec![step.tensors.iter().enumerate().map(first).collect::<Vec<_>>()];
        for _ in 0..iterations {
            let mut now = rounds.last().cloned().unwrap_or_default();
            for operator in &step.operators {
                for &tensor in &operator.frees {
                    allocator.free(now[tensor].expect("what ends was there"));
                }
                for &tensor in &operator.allocates {
                    now[tensor] = Some(allocator.allocate(step.tensors[tensor].bytes));
                }
            }
            // What the step leaves without an end is over with it.
            let placed = now.clone();
            for tensor in (0..now.len()).filter(|&tensor| begins[tensor].is_some() && ends[tensor].is_none()) {
                allocator.free(now[tensor].expect("it has begun"));
            }
            rounds.push(placed);
        }
        Self { rounds, begins, small: allocator.reserved(Pool::Small), large: allocator.reserved(Pool::Large) }
    }

    /// Bytes of a pool's segments in the end.
    #[must_use]
    pub fn reserved(&self, pool: Pool) -> u64 {
        match pool {
            Pool::Small => self.small,
            Pool::Large => self.large,
        }
    }

    /// Where `tensor` lies for an operator of an iteration, from 0.
    ///
    /// # Panics
    /// When it is not there, which [`Step::check`] excludes.
    #[must_use]
    pub fn at(&self, iteration: u32, operator: usize, tensor: usize) -> Place {
        let earlier = self.begins[tensor].is_some_and(|begin| operator < begin);
        let round = iteration as usize + usize::from(!earlier);
        self.rounds[round][tensor].expect("a tensor that is touched is there")
    }

    /// Where `tensor` lies before the first iteration, if it is there.
    #[must_use]
    pub fn before(&self, tensor: usize) -> Option<Place> {
        self.rounds[0][tensor]
    }
}
