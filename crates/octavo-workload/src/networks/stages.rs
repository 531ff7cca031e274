//! A network split by layer over several GPUs (model parallelism).

use octavo_program::LINE_BYTES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grain::{LINES_AT_ONCE, OPERATIONS};
use super::ring;
use super::step::{Operator, Role, Step};

/// The quantity that is balanced between parts of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// Work.
    #[default]
    Work,
    /// Tensors of parameters by number, regardless of their size: a layer's weights are one, and so is its bias.
    Layers,
}

/// By operator: the part of a network that it belongs to, of `stages` that have about as much of something, in the
/// order of parameters.
///
/// An operator that touches a parameter belongs to the parameter's part, any other to the part of the operator before
/// it. Once gradients are complete, it belongs to the part of the operator after it: optimizers update each parameter
/// last. Work is vector instructions, as the [replay](super::replay) counts them.
#[must_use]
pub fn of_operators(step: &Step, stages: u32, cut: Cut) -> Vec<u32> {
    let owners = owners(step);
    let mut amount = vec![0u64; step.tensors.len().max(1)];
    for (operator, &owner) in step.operators.iter().zip(&owners) {
        amount[owner] = match cut {
            Cut::Work => amount[owner] + instructions(operator),
            Cut::Layers => 1,
        };
    }
    let total = amount.iter().sum::<u64>().max(1);
    let stage = |middle: u64| (u128::from(middle) * u128::from(stages) / u128::from(total)) as u32;
    let stages: Vec<u32> = amount
        .iter()
        .scan(0, |before, &own| {
            let middle = *before + own / 2;
            *before += own;
            Some(stage(middle).min(stages - 1))
        })
        .collect();
    owners.into_iter().map(|owner| stages[owner]).collect()
}

/// By tensor: the part of the network on whose GPU it lies, if operators belong to parts. A tensor lies where it is
/// made; one that exists from the start lies where it is touched last (parameters: by their optimizer).
#[must_use]
pub fn of_tensors(step: &Step, stages: &[u32]) -> Vec<u32> {
    let mut homes = vec![0; step.tensors.len()];
    for (operator, &stage) in step.operators.iter().zip(stages) {
        let touched = operator.reads.iter().chain(&operator.writes).map(|one| one.tensor);
        let stays = touched.filter(|&tensor| step.tensors[tensor].role != Role::Temporary);
        stays.chain(operator.allocates.iter().copied()).for_each(|tensor| homes[tensor] = stage);
    }
    homes
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
    let (before, optimizer) = step.operators.split_at(optimizer(step));
    let mut owners: Vec<usize> = before.iter().scan(first, belongs).collect();
    let last = owners.last().copied().unwrap_or(first);
    let mut behind: Vec<usize> = optimizer.iter().rev().scan(last, belongs).collect();
    behind.reverse();
    owners.extend(behind);
    owners
}

/// The first operator after the gradients are complete; the end of a step without gradients.
fn optimizer(step: &Step) -> usize {
    ring::gradients(step).map_or(step.operators.len(), |(gradients, _)| {
        let begins = step.begins();
        gradients.iter().filter_map(|&tensor| begins[tensor]).max().map_or(step.operators.len(), |last| last + 1)
    })
}
