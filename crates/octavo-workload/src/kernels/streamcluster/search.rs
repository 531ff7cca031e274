//! The search for centres itself, as the host program makes it: which points each trial's candidate would win.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

use crate::random::generator;

/// Centres at least and at most (Rodinia's arguments).
const LEAST_CENTRES: usize = 10;

/// Points of weight 1 in some dimensions.
pub struct Points {
    /// How many there are.
    pub count: usize,
    /// Coordinates of each.
    pub dimensions: usize,
    /// All first coordinates, then all second ones, and so on.
    coordinates: Vec<f32>,
}

impl Points {
    /// `count` points with coordinates between 0 and 1, as the program draws them.
    #[must_use]
    pub fn random(count: usize, dimensions: usize, seed: u64) -> Self {
        let mut random = generator(seed, 0);
        let coordinates = (0..count * dimensions).map(|_| unit(&mut random)).collect();
        Self { count, dimensions, coordinates }
    }

    /// Squared distance of every point from `point`, added up dimension by dimension.
    #[must_use]
    pub fn distances(&self, point: usize) -> Vec<f32> {
        let mut distances = vec![0.0; self.count];
        for row in self.coordinates.chunks_exact(self.count) {
            let own = row[point];
            for (distance, other) in distances.iter_mut().zip(row) {
                *distance += (other - own) * (other - own);
            }
        }
        distances
    }
}

/// One candidate, and the state of the points when it was tried.
pub struct Trial {
    /// The point that might become a centre.
    pub candidate: u32,
    /// The number of centres.
    pub centres: u32,
    /// Centre of each point.
    pub assigned: Vec<u32>,
    /// Number of each centre, at the centre's place; elsewhere nothing that is used.
    pub table: Vec<u32>,
    /// Whether each point would be better off with the candidate.
    switching: Vec<bool>,
}

impl Trial {
    /// Whether `point` would be better off with the candidate.
    #[must_use]
    pub fn switches(&self, point: usize) -> bool {
        self.switching[point]
    }
}

/// Where the search stands.
pub(super) struct Search<'a> {
    points: &'a Points,
    random: ChaCha8Rng,
    /// Price of a centre.
    price: f32,
    assigned: Vec<u32>,
    costs: Vec<f32>,
    is_centre: Vec<bool>,
}

impl<'a> Search<'a> {
    /// First centres: a point becomes one with its cost over the price as probability. The price is halved until there
    /// are enough, or until every point is one.
    pub fn start(points: &'a Points, seed: u64) -> Self {
        let total: f32 = points.distances(0).iter().sum();
        let (assigned, costs) = (vec![0; points.count], vec![]);
        let is_centre = vec![false; points.count];
        let mut search = Self { points, random: generator(seed, 1), price: total / 2.0, assigned, costs, is_centre };
        while search.sample() < LEAST_CENTRES.min(points.count) && search.price > 0.0 {
            search.price /= 2.0;
        }
        for point in 0..points.count {
            search.is_centre[search.assigned[point] as usize] = true;
        }
        search
    }

    /// Samples centres again; returns how many there are.
    fn sample(&mut self) -> usize {
        self.assigned.fill(0);
        self.costs = self.points.distances(0);
        let mut centres = 1;
        for point in 1..self.points.count {
            if unit(&mut self.random) < self.costs[point] / self.price {
                centres += 1;
                let distances = self.points.distances(point);
                self.take(point, &distances, |new, old| new < old);
            }
        }
        centres
    }

    /// Assigns the points for which `better` says so to `centre`.
    fn take(&mut self, centre: usize, distances: &[f32], better: impl Fn(f32, f32) -> bool) {
        for ((distance, cost), assigned) in distances.iter().zip(&mut self.costs).zip(&mut self.assigned) {
            if better(*distance, *cost) {
                (*cost, *assigned) = (*distance, centre as u32);
            }
        }
    }

    /// Tries `count` random candidates, one after another.
    pub fn trials(mut self, count: u32) -> Vec<Trial> {
        (0..count).map(|_| self.trial()).collect()
    }

    fn trial(&mut self) -> Trial {
        let candidate = ((u64::from(self.random.next_u32()) * self.points.count as u64) >> 32) as usize;
        let mut table = vec![0; self.points.count];
        let mut centres = 0;
        for (number, _) in table.iter_mut().zip(&self.is_centre).filter(|(_, is_centre)| **is_centre) {
            *number = centres;
            centres += 1;
        }
        let distances = self.points.distances(candidate);
        let switching: Vec<bool> = distances.iter().zip(&self.costs).map(|(new, old)| new < old).collect();
        let trial = Trial { candidate: candidate as u32, centres, assigned: self.assigned.clone(), table, switching };
        self.decide(&trial, &distances);
        trial
    }

    /// Opens the candidate if that pays, and closes the centres that are worth less than their price then.
    fn decide(&mut self, trial: &Trial, distances: &[f32]) {
        // What each centre is worth: the price, less what its other points lose without it.
        let mut kept = vec![self.price; trial.centres as usize];
        let mut cost = self.price;
        for (point, distance) in distances.iter().enumerate() {
            let change = distance - self.costs[point];
            if trial.switches(point) {
                cost += change;
            } else {
                kept[trial.table[self.assigned[point] as usize] as usize] -= change;
            }
        }
        cost -= kept.iter().filter(|saved| **saved > 0.0).sum::<f32>();
        if cost >= 0.0 {
            return;
        }
        let closes = |centre: u32| kept[trial.table[centre as usize] as usize] > 0.0;
        for (point, distance) in distances.iter().enumerate() {
            if trial.switches(point) || closes(self.assigned[point]) {
                (self.costs[point], self.assigned[point]) = (*distance, trial.candidate);
            }
        }
        for centre in 0..self.points.count {
            self.is_centre[centre] &= !closes(centre as u32);
        }
        self.is_centre[trial.candidate as usize] = true;
    }
}

/// A number from 0 up to 1, 1 left out.
fn unit(random: &mut ChaCha8Rng) -> f32 {
    (random.next_u32() >> 8) as f32 / (1u32 << 24) as f32
}
