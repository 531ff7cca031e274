//! The effect of a circuit on a state, computed plainly: for small circuits.

use super::circuit::Circuit;
use super::unitary::{Complex, Matrix, STATES};

/// Amplitudes after `circuit` has been applied to the state in which all qubits are 0, by state: bit `q` of an index is
/// qubit `q`. There are 2 to the number of qubits of them.
#[must_use]
pub fn after(circuit: &Circuit) -> Vec<Complex> {
    let mut state = vec![Complex::default(); 1 << circuit.qubits()];
    state[0] = Complex::ONE;
    for (index, pair) in circuit.pairs().iter().enumerate() {
        apply(&mut state, *pair, &circuit.matrix(index));
    }
    state
}

/// Multiplies each group of four amplitudes, whose states differ in the two qubits of `pair`, by `matrix`.
fn apply(state: &mut [Complex], pair: [u32; 2], matrix: &Matrix) {
    for thread in 0..state.len() / STATES {
        let group = group(thread as u64, pair).map(|index| index as usize);
        let before = group.map(|index| state[index]);
        for (row, index) in matrix.iter().zip(group) {
            state[index] = row.iter().zip(before).fold(Complex::default(), |sum, (entry, one)| sum + *entry * one);
        }
    }
}

/// The four states that thread `thread` of a gate's kernel works on: they differ in the two qubits of `pair`, and have
/// the bits of `thread` elsewhere. Bit 0 of the place in the group is the first qubit, bit 1 the second.
#[must_use]
#[inline]
pub fn group(thread: u64, pair: [u32; 2]) -> [u64; STATES] {
    let [first, second] = pair.map(|qubit| 1 << qubit);
    let base = spread(spread(thread, pair[0].min(pair[1])), pair[0].max(pair[1]));
    [base, base | first, base | second, base | first | second]
}

/// `bits` with a 0 inserted at `place`: the bits there and above move up.
#[inline]
fn spread(bits: u64, place: u32) -> u64 {
    let below = (1 << place) - 1;
    (bits & !below) << 1 | bits & below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_all_states_once() {
        for pair in [[0, 1], [1, 0], [0, 4], [4, 2], [3, 4]] {
            let mut found: Vec<u64> = (0..8).flat_map(|thread| group(thread, pair)).collect();
            assert!((0..8).all(|thread| group(thread, pair)[2] == group(thread, pair)[0] | 1 << pair[1]));
            found.sort_unstable();
            assert_eq!(found, (0..32).collect::<Vec<_>>(), "{pair:?}");
        }
    }

    /// Gates do the same as their whole matrix on all qubits, entry by entry.
    #[test]
    fn gates_do_what_their_matrix_on_all_qubits_does() {
        for qubits in 4..=8 {
            let circuit = Circuit::quantum_volume(qubits, qubits, 17);
            let mut state = vec![Complex::default(); 1 << qubits];
            state[0] = Complex::ONE;
            for (index, [first, second]) in circuit.pairs().iter().enumerate() {
                let matrix = circuit.matrix(index);
                let place = |state: usize| (state >> first & 1) | (state >> second & 1) << 1;
                let others = |state: usize| state & !(1 << first | 1 << second);
                let row = |to: usize| {
                    let from = (0..state.len()).filter(|from| others(*from) == others(to));
                    from.fold(Complex::default(), |sum, from| sum + matrix[place(to)][place(from)] * state[from])
                };
                state = (0..state.len()).map(row).collect();
            }
            let found = after(&circuit);
            assert!(found.iter().zip(&state).all(|(one, other)| (*one - *other).norm() < 1e-24));
            let norm: f64 = found.iter().map(|one| one.norm()).sum();
            assert!((norm - 1.0).abs() < 1e-12, "{qubits} qubits have norm {norm}");
            assert!(found.iter().filter(|one| one.norm() > 1e-12).count() > 1 << (qubits - 1), "nothing was applied");
        }
    }
}
