//! The fate of the creatures.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

use crate::random;

/// Parameters of a creature (Hetero-Mark).
pub const PARAMETERS: usize = 500;
/// Every this many creatures, one is mutated; offspring has one parent among this many of the best (Hetero-Mark).
pub const MUTATED: usize = 7;
const BEST: u32 = 10;

/// The parameters of its creatures.
pub type Island = Vec<Vec<f64>>;

/// Two islands between generations.
pub struct Evolution {
    /// The weights of powers of parameters.
    pub coefficients: Vec<f64>,
    /// The creatures.
    pub islands: [Island; 2],
    random: ChaCha8Rng,
}

impl Evolution {
    /// This many drawn creatures on each island.
    #[must_use]
    pub fn new(creatures: usize, seed: u64) -> Self {
        let mut random = random::generator(seed, 0);
        let mut draw = |count: usize| (0..count).map(|_| f64::from(random.next_u32()) / f64::from(u32::MAX)).collect();
        let coefficients = draw(PARAMETERS);
        let islands = [(); 2].map(|()| (0..creatures).map(|_| draw(PARAMETERS)).collect());
        Self { coefficients, islands, random }
    }

    /// One generation of both islands; returns the best fitness of each.
    pub fn generation(&mut self) -> [f64; 2] {
        [0, 1].map(|number| {
            let ranked = self.select(number);
            let best = self.fitness(&ranked[0]);
            self.islands[number] = self.cross(&ranked);
            mutate(&mut self.islands[number]);
            best
        })
    }

    /// The fitness, with the kernel's order of operations.
    #[must_use]
    pub fn fitness(&self, creature: &[f64]) -> f64 {
        let term = |(number, (parameter, coefficient)): (usize, (&f64, &f64))| {
            (0..=number).fold(1.0, |power, _| power * parameter) * coefficient
        };
        creature.iter().zip(&self.coefficients).enumerate().map(term).sum()
    }

    /// The creatures of an island, the fittest first.
    fn select(&mut self, number: usize) -> Island {
        let island = std::mem::take(&mut self.islands[number]);
        let mut ranked: Vec<_> = island.into_iter().map(|creature| (self.fitness(&creature), creature)).collect();
        ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        ranked.into_iter().map(|(_, creature)| creature).collect()
    }

    /// Each creature with one of the best: a parameter of either.
    fn cross(&mut self, ranked: &[Vec<f64>]) -> Island {
        let offspring = |creature: &Vec<f64>| {
            let best = &ranked[(self.random.next_u32() % BEST) as usize % ranked.len()];
            let mut either = |(own, other): (&f64, &f64)| if self.random.next_u32() & 1 == 0 { *other } else { *own };
            creature.iter().zip(best).map(&mut either).collect()
        };
        ranked.iter().map(offspring).collect()
    }
}

fn mutate(island: &mut Island) {
    for (number, creature) in island.iter_mut().enumerate().step_by(MUTATED) {
        creature[number % PARAMETERS] *= 0.5;
    }
}
