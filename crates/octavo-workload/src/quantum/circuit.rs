//! Circuits of quantum volume, as Qiskit's class of that name defines them. They consist of layers, each with a random
//! order of the qubits. In that order the first and second, third and fourth and so on are a pair, and a random SU(4)
//! acts on each pair.

use rand::Rng;

use super::unitary::{Matrix, special_unitary};
use crate::random::generator;

/// Purposes of random numbers.
const ORDERS: u64 = 0;
/// The matrices follow: one for each gate.
const MATRICES: u64 = 1;

/// A circuit of quantum volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    qubits: u32,
    depth: u32,
    seed: u64,
    /// The two qubits of each gate, layer by layer. The first is the lower bit of a row or column of the gate's matrix.
    pairs: Vec<[u32; 2]>,
}

impl Circuit {
    /// `depth` layers on `qubits` qubits, at least two.
    #[must_use]
    pub fn quantum_volume(qubits: u32, depth: u32, seed: u64) -> Self {
        let mut random = generator(seed, ORDERS);
        let mut order: Vec<u32> = (0..qubits).collect();
        let mut pairs = Vec::with_capacity((depth * (qubits / 2)) as usize);
        for _ in 0..depth {
            for last in (1..order.len()).rev() {
                order.swap(last, random.random_range(0..=last));
            }
            pairs.extend(order.chunks_exact(2).map(|pair| [pair[0], pair[1]]));
        }
        Self { qubits, depth, seed, pairs }
    }

    /// The number of qubits.
    #[must_use]
    pub const fn qubits(&self) -> u32 {
        self.qubits
    }

    /// How many layers.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// The two qubits of each gate, in order.
    #[must_use]
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// The matrix of gate `index`.
    #[must_use]
    pub fn matrix(&self, index: usize) -> Matrix {
        special_unitary(&mut generator(self.seed, MATRICES + index as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layer_has_each_qubit_once_but_for_one_that_is_left() {
        for qubits in 2..12 {
            let circuit = Circuit::quantum_volume(qubits, 5, 3);
            assert_eq!(circuit.pairs().len() as u32, 5 * (qubits / 2));
            for layer in circuit.pairs().chunks((qubits / 2) as usize) {
                let mut found: Vec<u32> = layer.iter().flatten().copied().collect();
                found.sort_unstable();
                found.dedup();
                assert_eq!(found.len() as u32, qubits / 2 * 2);
                assert!(found.iter().all(|qubit| *qubit < qubits));
            }
        }
    }

    #[test]
    fn layers_differ_and_seeds_decide() {
        let circuit = |seed| Circuit::quantum_volume(10, 10, seed);
        assert_eq!(circuit(1), circuit(1));
        assert_ne!(circuit(1).pairs(), circuit(2).pairs());
        assert_ne!(circuit(1).matrix(0), circuit(2).matrix(0));
        assert_ne!(circuit(1).matrix(0), circuit(1).matrix(1));
        let layers: Vec<_> = circuit(1).pairs().chunks(5).map(<[_]>::to_vec).collect();
        assert!(layers.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
