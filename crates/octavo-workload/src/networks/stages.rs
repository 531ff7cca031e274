//! A network split by layer over several GPUs (model parallelism).

use octavo_program::LINE_BYTES;

use super::replay::{LINES_AT_ONCE, OPERATIONS};
use super::step::{Operator, Role, Step};

/// By operator: the part of a network that it belongs to, of `stages` that are about as much work, in the order of
/// parameters.
///
/// An operator that touches a parameter belongs where that is, any other where the one before it belongs. Work is vector
/// instructions, as the [replay](super::replay) counts them.
#[must_use]
pub fn of_operators(step: &Step, stages: u32) -> Vec<u32> {
    let owners = owners(step);
    let mut work = vec![0u64; step.tensors.len().max(1)];
    for (operator, &owner) in step.operators.iter().zip(&owners) {
        work[owner] += instructions(operator);
    }
    let total = work.iter().sum::<u64>().max(1);
    let stage = |middle: u64| (u128::from(middle) * u128::from(stages) / u128::from(total)) as u32;
    let stages: Vec<u32> = work
        .iter()
        .scan(0, |before, &own| {
            let middle = *before + own / 2;
            *before += own;
            Some(stage(middle).min(stages - 1))
        })
        .collect();
    owners.into_iter().map(|owner| stages[owner]).collect()
}

fn instructions(operator: &Operator) -> u64 {
    let bytes: u64 = operator.reads.iter().chain(&operator.writes).map(|one| one.bytes.end - one.bytes.start).sum();
    operator.flops / OPERATIONS + bytes / (LINES_AT_ONCE * LINE_BYTES)
}

/// By operator: the parameter that it belongs to.
fn owners(step: &Step) -> Vec<usize> {
    let is_parameter = |tensor: usize| step.tensors[tensor].role == Role::Parameter;
    let first = (0..step.tensors.len()).find(|&tensor| is_parameter(tensor)).unwrap_or(0);
    let belongs = |last: &mut usize, operator: &Operator| {
        let named = operator.reads.iter().chain(&operator.writes).map(|one| one.tensor);
        *last = named.filter(|&tensor| is_parameter(tensor)).max().unwrap_or(*last);
        Some(*last)
    };
    step.operators.iter().scan(first, belongs).collect()
}
