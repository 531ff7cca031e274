//! A recorded step for one batch size: tensors, and the operators that touch them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Bytes of all tensors together at most: 64 TiB, chosen, far beyond what runs.
const MOST_BYTES: u64 = 1 << 46;

/// The role of a tensor in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A parameter of the model: there from the start, as the host wrote it.
    Parameter,
    /// Data that the optimizer or the model keeps from step to step; it exists from the start.
    State,
    /// Data that only the host writes: a batch of samples, constants.
    Input,
    /// Made in a step, and given back in it or in the next.
    Temporary,
}

/// A tensor's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// What it is.
    pub role: Role,
    /// Bytes that the program asks for, at least 1.
    pub bytes: u64,
}

/// Bytes of a tensor that an operator reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Which tensor.
    pub tensor: usize,
    /// Its bytes, from its start.
    pub bytes: Range<u64>,
}

/// One operator: first it gives back tensors, then it asks for new ones, then it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// As PyTorch calls it.
    pub name: String,
    /// Floating-point operations of its matrix product or convolution, a multiply-add counted as two; 0 for others.
    pub flops: u64,
    /// What it reads.
    pub reads: Vec<Operand>,
    /// What it writes.
    pub writes: Vec<Operand>,
    /// Tensors that begin with it.
    pub allocates: Vec<usize>,
    /// Tensors that are given back before it.
    pub frees: Vec<usize>,
}

impl Operator {
    /// Whether it touches anything; others only make tensors.
    #[must_use]
    pub fn runs(&self) -> bool {
        !self.reads.is_empty() || !self.writes.is_empty()
    }
}

/// A recorded step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// All tensors, in the order in which the program made them.
    pub tensors: Vec<Tensor>,
    /// All operators, in order.
    pub operators: Vec<Operator>,
}

impl Step {
    /// By tensor: the operator that it begins with, of temporary ones.
    #[must_use]
    pub fn begins(&self) -> Vec<Option<usize>> {
        self.when(|operator| &operator.allocates)
    }

    /// For each tensor, the operator before which it is given back; `None` if it stays until the step ends, or for
    /// ever.
    #[must_use]
    pub fn ends(&self) -> Vec<Option<usize>> {
        self.when(|operator| &operator.frees)
    }

    fn when(&self, which: impl Fn(&Operator) -> &Vec<usize>) -> Vec<Option<usize>> {
        let mut when = vec![None; self.tensors.len()];
        for (index, operator) in self.operators.iter().enumerate() {
            which(operator).iter().for_each(|&tensor| when[tensor] = Some(index));
        }
        when
    }

    /// Checks that every tensor that is named exists, begins and ends once, and exists when it is touched.
    ///
    /// # Errors
    /// Names the first operator that is wrong, and why.
    pub fn check(&self) -> Result<(), String> {
        if !self.operators.iter().any(Operator::runs) {
            return Err("expected operators that read or write something, found none".to_owned());
        }
        let bytes = self.tensors.iter().try_fold(0u64, |sum, tensor| sum.checked_add(tensor.bytes));
        if bytes.is_none_or(|bytes| bytes > MOST_BYTES) {
            return Err("expected tensors of at most 64 TiB together".to_owned());
        }
        self.check_names()?;
        let (begins, ends) = (self.begins(), self.ends());
        for (tensor, one) in self.tensors.iter().enumerate() {
            if (one.role == Role::Temporary) != begins[tensor].is_some() {
                return Err(format!(
                    "tensor {tensor}: expected that temporary tensors begin with an operator, and no others"
                ));
            }
            if one.role != Role::Temporary && ends[tensor].is_some() {
                return Err(format!("tensor {tensor}: expected that only temporary tensors are given back"));
            }
        }
        for (index, operator) in self.operators.iter().enumerate() {
            for operand in operator.reads.iter().chain(&operator.writes) {
                let (begin, end) = (begins[operand.tensor].unwrap_or(0), ends[operand.tensor].unwrap_or(usize::MAX));
                // One that ends before it begins is there at both ends of the step.
                let there = if begin < end { (begin..end).contains(&index) } else { index < end || index >= begin };
                if !there {
                    return Err(wrong(index, operator, &format!("tensor {} is not there", operand.tensor)));
                }
            }
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), String> {
        let count = self.tensors.len();
        let (mut begun, mut ended) = (vec![false; count], vec![false; count]);
        for (index, operator) in self.operators.iter().enumerate() {
            let operands = operator.reads.iter().chain(&operator.writes);
            let named = operands.map(|operand| operand.tensor).chain(operator.allocates.iter().copied());
            if let Some(tensor) = named.chain(operator.frees.iter().copied()).find(|tensor| *tensor >= count) {
                return Err(wrong(
                    index,
                    operator,
                    &format!("there is no tensor {tensor}, expected less than {count}"),
                ));
            }
            for (tensors, seen, what) in
                [(&operator.allocates, &mut begun, "begins"), (&operator.frees, &mut ended, "is given back")]
            {
                if let Some(tensor) = tensors.iter().find(|tensor| std::mem::replace(&mut seen[**tensor], true)) {
                    return Err(wrong(index, operator, &format!("tensor {tensor} {what} twice")));
                }
            }
            for Operand { tensor, bytes } in operator.reads.iter().chain(&operator.writes) {
                if bytes.is_empty() || bytes.end > self.tensors[*tensor].bytes {
                    let size = self.tensors[*tensor].bytes;
                    let found = format!("bytes {} to {} of tensor {tensor}", bytes.start, bytes.end);
                    return Err(wrong(index, operator, &format!("{found}, expected at least one of its {size}")));
                }
            }
        }
        Ok(())
    }
}

fn wrong(index: usize, operator: &Operator, what: &str) -> String {
    format!("operator {index} ({}): {what}", operator.name)
}
