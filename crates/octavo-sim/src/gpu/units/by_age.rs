//! Seats of SIMDs by the age of their wavefronts: a set of them is a word, and its lowest bit the oldest.

pub(super) struct ByAge {
    simds: usize,
    /// Seats of a SIMD.
    seats: usize,
    /// The seats of each SIMD from the oldest wavefront to the youngest; among equals, the lower seat first.
    order: Vec<u8>,
    /// By seat: its place in that order, and the age of its wavefront.
    places: Vec<u8>,
    ages: Vec<u64>,
}

impl ByAge {
    /// Seats take turns in belonging to one SIMD after another.
    pub fn new(simds: usize, seats: usize) -> Self {
        let each = seats / simds;
        let order = (0..simds).flat_map(|simd| (0..each).map(move |place| (simd + place * simds) as u8)).collect();
        let places = (0..seats).map(|seat| (seat / simds) as u8).collect();
        Self { simds, seats: each, order, places, ages: vec![0; seats] }
    }

    /// The set of one seat of its SIMD.
    pub fn bit(&self, seat: u8) -> u64 {
        1 << self.places[usize::from(seat)]
    }

    /// The oldest of a set of a SIMD's seats, which is not empty.
    pub fn oldest(&self, simd: usize, set: u64) -> u8 {
        self.order[simd * self.seats + set.trailing_zeros() as usize]
    }

    /// All seats of a set of a SIMD's.
    pub fn seats(&self, simd: usize, mut set: u64) -> impl Iterator<Item = u8> {
        std::iter::from_fn(move || {
            let seat = (set != 0).then(|| self.oldest(simd, set));
            set &= set.wrapping_sub(1);
            seat
        })
    }

    /// A wavefront of that age is in a seat, which is not in `set`: that stays the same set of its SIMD's seats.
    pub fn set_age(&mut self, seat: u8, age: u64, set: &mut u64) {
        if self.ages[usize::from(seat)] == age {
            return;
        }
        self.ages[usize::from(seat)] = age;
        let mut place = usize::from(self.places[usize::from(seat)]);
        let first = usize::from(seat) % self.simds * self.seats;
        while place + 1 < self.seats && self.is_older(self.order[first + place + 1], seat) {
            self.swap(first, place, set);
            place += 1;
        }
        while place > 0 && self.is_older(seat, self.order[first + place - 1]) {
            place -= 1;
            self.swap(first, place, set);
        }
    }

    fn is_older(&self, one: u8, other: u8) -> bool {
        (self.ages[usize::from(one)], one) < (self.ages[usize::from(other)], other)
    }

    /// Swaps a seat with the next one of its SIMD, whose order begins at `first`; `set` has one of them at most.
    fn swap(&mut self, first: usize, place: usize, set: &mut u64) {
        self.order.swap(first + place, first + place + 1);
        for place in [place, place + 1] {
            self.places[usize::from(self.order[first + place])] = place as u8;
        }
        let both = 0b11 << place;
        if *set & both != 0 {
            *set ^= both;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_stays_the_same_while_wavefronts_come() {
        let mut by_age = ByAge::new(2, 8);
        let mut set = 0;
        for (seat, age) in [(1, 40), (3, 20), (7, 30)] {
            by_age.set_age(seat, age, &mut set);
            set |= by_age.bit(seat);
        }
        assert_eq!(by_age.seats(1, set).collect::<Vec<_>>(), [3, 7, 1]);
        by_age.set_age(5, 25, &mut set);
        assert_eq!(by_age.seats(1, set).collect::<Vec<_>>(), [3, 7, 1], "it is not among them");
        set |= by_age.bit(5);
        assert_eq!(by_age.seats(1, set).collect::<Vec<_>>(), [3, 5, 7, 1]);
        set &= !by_age.bit(3);
        by_age.set_age(3, 99, &mut set);
        assert_eq!((by_age.seats(1, set).collect::<Vec<_>>(), by_age.oldest(1, set)), (vec![5, 7, 1], 5));
    }

    #[test]
    fn of_equals_the_lower_seat_is_first() {
        let mut by_age = ByAge::new(2, 8);
        let mut set = 0;
        for seat in [6, 0, 4, 2] {
            by_age.set_age(seat, 7, &mut set);
            set |= by_age.bit(seat);
        }
        assert_eq!(by_age.seats(0, set).collect::<Vec<_>>(), [0, 2, 4, 6]);
    }
}
