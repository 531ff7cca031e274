//! Which experts a step's tokens pass.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::random::generator;

/// Number of the random stream that popularities are shuffled with; tokens draw from those behind.
const STREAM: u64 = 1;

/// Popularity of the experts of each layer: of rank r as 1/r to some power (Zipf), ranks as they fall.
pub struct Experts {
    /// By layer: expert of each rank.
    ranks: Vec<Vec<u32>>,
    /// By rank: probability of it or a lower one.
    upto: Vec<f64>,
    chosen: u32,
    seed: u64,
}

impl Experts {
    /// `layers` times `experts`, of which a token passes `chosen`.
    #[must_use]
    pub fn new(layers: u32, experts: u32, chosen: u32, skew: f64, seed: u64) -> Self {
        let mut random = generator(seed, STREAM);
        let shuffled = |_| {
            let mut ranks: Vec<u32> = (0..experts).collect();
            (1..ranks.len()).for_each(|last| ranks.swap(last, random.random_range(0..=last)));
            ranks
        };
        let ranks = (0..layers).map(shuffled).collect();
        let weights = (1..=experts).map(|rank| f64::from(rank).powf(-skew));
        let total: f64 = weights.clone().sum();
        let upto = weights.scan(0.0, |sum, weight| {
            *sum += weight / total;
            Some(*sum)
        });
        Self { ranks, upto: upto.collect(), chosen, seed }
    }

    /// Experts that this many tokens pass in each layer of a step, in order.
    #[must_use]
    pub fn of_step(&self, step: u64, tokens: u32) -> Vec<Vec<u32>> {
        let mut random = generator(self.seed, STREAM + 1 + step);
        self.ranks.iter().map(|ranks| self.of_layer(ranks, tokens, &mut random)).collect()
    }

    fn of_layer(&self, ranks: &[u32], tokens: u32, random: &mut ChaCha8Rng) -> Vec<u32> {
        let mut passed = vec![false; ranks.len()];
        let mut left = ranks.len();
        for _ in 0..tokens {
            for rank in self.of_token(random) {
                left -= usize::from(!std::mem::replace(&mut passed[ranks[rank] as usize], true));
            }
            if left == 0 {
                break;
            }
        }
        (0..ranks.len() as u32).filter(|&expert| passed[expert as usize]).collect()
    }

    /// Ranks of the different experts of a token: those that it has are drawn again.
    fn of_token(&self, random: &mut ChaCha8Rng) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::with_capacity(self.chosen as usize);
        while found.len() < self.chosen as usize {
            let drawn: f64 = random.random();
            let rank = self.upto.partition_point(|&upto| upto <= drawn).min(self.upto.len() - 1);
            if !found.contains(&rank) {
                found.push(rank);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_pass_different_experts_by_popularity() {
        let experts = Experts::new(1, 16, 2, 1.0, 5);
        let mut counts = [0u32; 16];
        for step in 0..20_000 {
            let one = &experts.of_step(step, 1)[0];
            assert!(one.len() == 2 && one[0] < one[1]);
            one.iter().for_each(|&expert| counts[expert as usize] += 1);
        }
        // By hand: rank i comes first with w(i) / W, or second, behind j, with w(j) / W * w(i) / (W - w(j)).
        let weight = |rank: usize| 1.0 / (rank + 1) as f64;
        let total: f64 = (0..16).map(weight).sum();
        for rank in [0, 3, 15] {
            let behind = |other| weight(other) / total * weight(rank) / (total - weight(other));
            let second: f64 = (0..16).filter(|&other| other != rank).map(behind).sum();
            let expected = (weight(rank) / total + second) * 20_000.0;
            let found = f64::from(counts[experts.ranks[0][rank] as usize]);
            assert!((found - expected).abs() < 4.0 * expected.sqrt(), "rank {rank}: {found} for {expected}");
        }
    }

    #[test]
    fn many_tokens_pass_all_and_steps_are_their_own() {
        let experts = Experts::new(3, 8, 2, 0.0, 5);
        assert_eq!(experts.of_step(0, 1000), vec![(0..8).collect::<Vec<_>>(); 3]);
        assert_eq!(experts.of_step(4, 2), experts.of_step(4, 2));
        assert!((0..20).any(|step| experts.of_step(step, 2) != experts.of_step(step + 1, 2)));
        assert_eq!(Experts::new(2, 1, 1, 1.0, 5).of_step(0, 3), [[0], [0]], "a dense model");
    }
}
