//! Random matrices of two-qubit gates.

use std::f64::consts::TAU;
use std::ops::{Add, Mul, Sub};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

/// Rows and columns of a two-qubit gate.
pub const STATES: usize = 4;

/// A complex number: real and imaginary part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

/// The matrix of a two-qubit gate, by row and column.
pub type Matrix = [[Complex; STATES]; STATES];

/// A matrix from the Haar measure on SU(4): columns of complex normal numbers made orthonormal one after another, which
/// is uniform on U(4) (Mezzadri, 2007), divided by a fourth root of the determinant.
#[must_use]
pub fn special_unitary(generator: &mut ChaCha8Rng) -> Matrix {
    let mut columns = [[Complex::default(); STATES]; STATES];
    for column in 0..STATES {
        let mut vector = std::array::from_fn(|_| normal(generator));
        for before in &columns[..column] {
            let along = inner(before, &vector);
            vector = std::array::from_fn(|row| vector[row] - before[row] * along);
        }
        let length = inner(&vector, &vector).re.sqrt();
        columns[column] = vector.map(|entry| entry.scaled(1.0 / length));
    }
    let phase = determinant(&columns).phase() / STATES as f64;
    let turn = Complex::turned(-phase);
    std::array::from_fn(|row| std::array::from_fn(|column| columns[column][row] * turn))
}

/// A complex number whose parts are normal and independent (Box and Muller).
fn normal(generator: &mut ChaCha8Rng) -> Complex {
    let [radius, angle] = [(); 2].map(|()| uniform(generator));
    Complex::turned(TAU * angle).scaled((-2.0 * radius.ln()).sqrt())
}

/// More than 0, at most 1.
fn uniform(generator: &mut ChaCha8Rng) -> f64 {
    ((generator.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

fn inner(one: &[Complex; STATES], other: &[Complex; STATES]) -> Complex {
    one.iter().zip(other).fold(Complex::default(), |sum, (a, b)| sum + a.conjugate() * *b)
}

/// By expansion along the first row; the same for rows and columns.
fn determinant(matrix: &Matrix) -> Complex {
    let minor = |skipped: usize| {
        let [a, b, c] = [0, 1, 2].map(|index| index + usize::from(index >= skipped));
        let at = |row: usize, column: usize| matrix[row][column];
        let two = |left, right| at(2, left) * at(3, right) - at(2, right) * at(3, left);
        at(1, a) * two(b, c) - at(1, b) * two(a, c) + at(1, c) * two(a, b)
    };
    let term = |column: usize| matrix[0][column] * minor(column);
    term(0) - term(1) + term(2) - term(3)
}

impl Complex {
    /// One.
    pub const ONE: Self = Self { re: 1.0, im: 0.0 };

    /// The number of length 1 at `angle` radians.
    #[must_use]
    pub fn turned(angle: f64) -> Self {
        Self { re: angle.cos(), im: angle.sin() }
    }

    /// The same with the other sign of the imaginary part.
    #[must_use]
    pub const fn conjugate(self) -> Self {
        Self { re: self.re, im: -self.im }
    }

    /// Square of the length.
    #[must_use]
    pub fn norm(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    fn phase(self) -> f64 {
        self.im.atan2(self.re)
    }

    fn scaled(self, by: f64) -> Self {
        Self { re: self.re * by, im: self.im * by }
    }
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for Complex {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::generator;

    fn matrices(count: u64) -> impl Iterator<Item = Matrix> {
        (0..count).map(|seed| special_unitary(&mut generator(seed, 0)))
    }

    fn near(found: Complex, expected: Complex) -> bool {
        (found - expected).norm() < 1e-24
    }

    #[test]
    fn matrices_are_special_and_unitary() {
        for matrix in matrices(50) {
            assert!(near(determinant(&matrix), Complex::ONE));
            for (i, row) in matrix.iter().enumerate() {
                for (j, other) in matrix.iter().enumerate() {
                    let expected = if i == j { Complex::ONE } else { Complex::default() };
                    assert!(near(inner(row, other), expected), "rows {i} and {j} of {matrix:?}");
                }
            }
        }
    }

    /// Moments of the Haar measure: E |u|^2 = 1/4 and E |u|^4 = 2/(4·5) for each entry.
    #[test]
    fn entries_have_the_moments_of_the_haar_measure() {
        let count = 4000;
        let mut moments = [[(0.0, 0.0); STATES]; STATES];
        for matrix in matrices(count) {
            for (sums, entries) in moments.iter_mut().zip(matrix) {
                for (sum, entry) in sums.iter_mut().zip(entries) {
                    *sum = (sum.0 + entry.norm(), sum.1 + entry.norm() * entry.norm());
                }
            }
        }
        for (second, fourth) in moments.into_iter().flatten() {
            // Ten standard errors of the mean of 4000.
            assert!((second / count as f64 - 0.25).abs() < 0.03, "{second}");
            assert!((fourth / count as f64 - 0.1).abs() < 0.02, "{fourth}");
        }
    }
}
