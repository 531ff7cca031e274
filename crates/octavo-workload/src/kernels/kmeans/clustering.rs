//! Points, and Lloyd's algorithm on them, as kernel and host share it.

use rand_chacha::rand_core::RngCore;

use crate::random;

/// Points of some features each.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    features: usize,
    /// One point after another.
    values: Vec<f32>,
}

impl Points {
    /// Points of `features` features, one after another.
    ///
    /// # Panics
    /// When there is none, or a part of one.
    #[must_use]
    pub fn new(features: usize, values: Vec<f32>) -> Self {
        assert!(!values.is_empty() && values.len().is_multiple_of(features), "whole points");
        Self { features, values }
    }

    /// `count` points of `features` features, around `places` places drawn from 0 to 1, up to 0.4 away in each feature:
    /// wide enough that clusters overlap and need several rounds to separate (this project's choice).
    #[must_use]
    pub fn around((count, features): (usize, usize), places: u32, seed: u64) -> Self {
        let mut random = random::generator(seed, 0);
        let mut unit = || (random.next_u32() >> 8) as f32 / (1u32 << 24) as f32;
        let places: Vec<Vec<f32>> = (0..places).map(|_| (0..features).map(|_| unit()).collect()).collect();
        let mut values = Vec::with_capacity(count * features);
        for _ in 0..count {
            let place = &places[(unit() * places.len() as f32) as usize];
            values.extend(place.iter().map(|value| value + 0.8 * (unit() - 0.5)));
        }
        Self { features, values }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.values.len() / self.features
    }

    /// Features of each.
    #[must_use]
    pub fn features(&self) -> usize {
        self.features
    }

    /// All values, one after another.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    fn each(&self) -> std::slice::ChunksExact<'_, f32> {
        self.values.chunks_exact(self.features)
    }
}

/// The result of a clustering.
pub struct Clustering {
    /// The cluster of each point.
    pub membership: Vec<u32>,
    /// The centres that they were measured from.
    pub centres: Vec<f32>,
    /// How often they were measured.
    pub rounds: u32,
}

impl Clustering {
    /// Clusters `points` into `clusters` clusters that start at the first points, until no point changes or after
    /// `most` rounds.
    pub fn of(points: &Points, clusters: usize, most: u32) -> Self {
        let mut centres: Vec<f32> = points.each().cycle().take(clusters).flatten().copied().collect();
        let mut membership = vec![u32::MAX; points.count()];
        for rounds in 1.. {
            let next: Vec<u32> = points.each().map(|point| nearest(point, &centres)).collect();
            let is_over = next == membership || rounds == most;
            membership = next;
            if is_over {
                return Self { membership, centres, rounds };
            }
            move_to_means(&mut centres, points, &membership);
        }
        unreachable!("it ends with the last round")
    }
}

/// The nearest centre, the first of several, as the kernel adds distances up.
fn nearest(point: &[f32], centres: &[f32]) -> u32 {
    let (mut least, mut index) = (f32::MAX, 0);
    for (cluster, centre) in centres.chunks_exact(point.len()).enumerate() {
        let add = |sum, (one, other): (&f32, &f32)| sum + (one - other) * (one - other);
        let distance = point.iter().zip(centre).fold(0.0, add);
        if distance < least {
            (least, index) = (distance, cluster as u32);
        }
    }
    index
}

/// Each centre becomes the mean of its points, if it has some.
fn move_to_means(centres: &mut [f32], points: &Points, membership: &[u32]) {
    let features = points.features;
    let mut sums = vec![0.0f64; centres.len()];
    let mut counts = vec![0u32; centres.len() / features];
    for (point, &cluster) in points.each().zip(membership) {
        counts[cluster as usize] += 1;
        let sum = &mut sums[cluster as usize * features..][..features];
        sum.iter_mut().zip(point).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    for (at, centre) in centres.iter_mut().enumerate().filter(|(at, _)| counts[at / features] > 0) {
        *centre = (sums[at] / f64::from(counts[at / features])) as f32;
    }
}
