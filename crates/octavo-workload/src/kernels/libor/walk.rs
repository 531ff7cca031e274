//! A wavefront on its way along its paths.

use octavo_program::{Buffer, Cursor, Op, OpSink};

use super::paths::{Libor, WORD};
use super::rates::{DATES, MATURITIES, RATES, SWAPTIONS};
use crate::emit::{load_span, push_all, steps, store_span};

/// Pairs of a date and a rate that moves then: rate `i` moves at all dates before `i`, and there are 40 dates.
const MOVES: u32 = DATES * (2 * RATES - DATES - 1) / 2;

/// Instructions of the kernels, compiled for GCN3: vector, scalar, local data, branch; pairs for the first kernel and
/// the second. Loads of constants and the waits for them are left out.
mod cost {
    use octavo_program::Op;

    pub const LOCATE: Op = Op::mix(1, 1, 0, 0);
    pub const BEFORE_ARGUMENTS: Op = Op::mix(1, 1, 0, 1);
    pub const BEFORE_PATH: [Op; 2] = [Op::mix(7, 6, 0, 0), Op::mix(12, 12, 0, 0)];
    pub const RESET: Op = Op::mix(9, 2, 0, 0);
    pub const NEXT: Op = Op::mix(0, 0, 0, 1);
    pub const BEFORE_COPY: Op = Op::mix(5, 0, 0, 0);
    pub const DURING_COPY: Op = Op::mix(4, 2, 0, 0);
    pub const BEFORE_NOISE: Op = Op::mix(6, 1, 0, 0);
    pub const DURING_NOISE: [Op; 2] = [Op::mix(1, 3, 0, 0), Op::mix(2, 3, 0, 0)];
    pub const AFTER_NOISE: [Op; 2] = [Op::mix(2, 0, 0, 0), Op::mix(1, 0, 0, 0)];
    pub const BEFORE_RATE: [Op; 2] = [Op::mix(5, 0, 0, 0), Op::mix(6, 0, 0, 0)];
    pub const DURING_RATE: [Op; 2] = [Op::mix(4, 4, 0, 0), Op::mix(10, 4, 0, 0)];
    pub const MOVE: Op = Op::mix(9, 0, 0, 0);
    pub const NEXT_DATE: [Op; 2] = [Op::mix(1, 1, 0, 1), Op::mix(0, 3, 0, 1)];

    pub const BEFORE_BOND: Op = Op::mix(6, 0, 0, 0);
    pub const DURING_BOND: Op = Op::mix(10, 2, 0, 0);
    pub const BOND: [Op; 2] = [Op::mix(8, 0, 0, 0), Op::mix(4, 0, 0, 0)];
    pub const CLEAR: Op = Op::mix(9, 2, 0, 0);
    pub const BEFORE_SWAPTION: Op = Op::mix(9, 5, 0, 0);
    pub const BEFORE_SWAP: Op = Op::mix(3, 0, 0, 0);
    pub const DURING_SWAP: Op = Op::mix(0, 4, 0, 0);
    pub const VALUE: [Op; 2] = [Op::mix(6, 0, 0, 1), Op::mix(3, 2, 0, 1)];
    pub const BEFORE_EXERCISE: Op = Op::mix(4, 0, 0, 0);
    pub const DURING_EXERCISE: Op = Op::mix(5, 0, 0, 0);
    pub const ADD: Op = Op::mix(1, 0, 0, 0);
    pub const NEXT_SWAPTION: Op = Op::mix(0, 4, 0, 1);
    pub const BEFORE_BACK: Op = Op::mix(9, 1, 0, 0);
    pub const DURING_BACK: Op = Op::mix(9, 4, 0, 0);
    pub const BACK: Op = Op::mix(5, 0, 0, 0);
    pub const BEFORE_EARLIER: Op = Op::mix(6, 0, 0, 0);
    pub const DURING_EARLIER: Op = Op::mix(3, 1, 0, 0);
    pub const BEFORE_DISCOUNT: Op = Op::mix(5, 0, 0, 0);
    pub const DURING_DISCOUNT: Op = Op::mix(1, 2, 0, 0);
    pub const DISCOUNT: [Op; 2] = [Op::mix(8, 0, 0, 0), Op::mix(1, 0, 0, 0)];
    pub const BEFORE_VALUE: Op = Op::mix(8, 1, 0, 0);

    pub const BEFORE_HISTORY: Op = Op::mix(17, 0, 0, 0);
    pub const DURING_HISTORY: Op = Op::mix(1, 4, 0, 0);
    pub const SENSE: Op = Op::mix(11, 0, 0, 0);
    pub const NEXT_DATE_BACK: Op = Op::mix(0, 7, 0, 1);
    pub const BEFORE_SENSITIVITY: Op = Op::mix(6, 1, 0, 0);
    pub const NEXT_PATH: Op = Op::mix(0, 1, 0, 1);
}

/// 64 paths side by side.
pub(super) struct Walk<'a> {
    pub libor: &'a Libor,
    /// First thread, and how many have a path.
    pub thread: u64,
    pub lanes: u64,
}

/// A part of the wavefront's work, which is repeated a number of times.
#[derive(Clone, Copy)]
enum Part {
    Start,
    Reset,
    Copy,
    Move,
    Price,
    Clear,
    Exercise,
    Back,
    Discount,
    Value,
    Spread,
    Weigh,
    Sense,
    Finish,
}

impl Part {
    /// Parts of each kernel in order, with how often each is done.
    const VALUES: [(Self, u32); 7] = [
        (Self::Start, 1),
        (Self::Reset, RATES),
        (Self::Move, MOVES),
        (Self::Price, DATES),
        (Self::Exercise, SWAPTIONS as u32),
        (Self::Discount, DATES),
        (Self::Value, 1),
    ];
    const SENSITIVITIES: [(Self, u32); 14] = [
        (Self::Start, 1),
        (Self::Reset, RATES),
        (Self::Copy, RATES),
        (Self::Move, MOVES),
        (Self::Price, DATES),
        (Self::Clear, DATES),
        (Self::Exercise, SWAPTIONS as u32),
        (Self::Back, DATES),
        (Self::Discount, DATES),
        (Self::Spread, DATES),
        (Self::Weigh, DATES),
        (Self::Value, 1),
        (Self::Sense, MOVES),
        (Self::Finish, 1),
    ];
}

/// The date and the rate of the `index`-th move: dates in order, and for each the rates above it.
fn nth_move(mut index: u32) -> (u32, u32) {
    let mut date = 0;
    while index >= RATES - 1 - date {
        index -= RATES - 1 - date;
        date += 1;
    }
    (date, date + 1 + index)
}

impl Walk<'_> {
    /// Emits every iteration of every loop; `sensitivities` selects the second kernel.
    pub fn fill(&self, sensitivities: bool, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let parts: &[(Part, u32)] = if sensitivities { &Part::SENSITIVITIES } else { &Part::VALUES };
        let count = parts.iter().map(|(_, times)| times).sum();
        steps(cursor, out, count, |mut step, out| {
            for &(part, times) in parts {
                if step < times {
                    return self.part(part, step, usize::from(sensitivities), out);
                }
                step -= times;
            }
        });
    }

    fn part(&self, part: Part, turn: u32, kernel: usize, out: &mut OpSink<'_>) {
        match part {
            Part::Start => push_all(out, &START[kernel]),
            Part::Reset => self.reset(turn, out),
            Part::Copy => self.copy(turn, out),
            Part::Move => self.step(turn, kernel, out),
            Part::Price => self.price(turn, kernel, out),
            Part::Clear => self.clear(turn, out),
            Part::Exercise => self.exercise(turn as usize, kernel, out),
            Part::Back => self.back(DATES - 1 - turn, out),
            Part::Discount => self.discount(turn, out),
            Part::Value => self.value(kernel, out),
            Part::Spread => self.scale(turn, cost::DISCOUNT[0], out),
            Part::Weigh => self.scale(DATES + turn, cost::DISCOUNT[1], out),
            Part::Sense => self.sense(turn, out),
            Part::Finish => self.finish(out),
        }
    }

    /// One load of an element of a private array by all lanes.
    fn load(&self, array: &Buffer, element: u32, out: &mut OpSink<'_>) {
        load_span(out, self.at(array, element), self.lanes * WORD);
    }

    fn store(&self, array: &Buffer, element: u32, out: &mut OpSink<'_>) {
        store_span(out, self.at(array, element), self.lanes * WORD);
    }

    fn at(&self, array: &Buffer, element: u32) -> u64 {
        array.at(u64::from(element) * self.libor.threads + self.thread, WORD)
    }

    fn reset(&self, rate: u32, out: &mut OpSink<'_>) {
        out.push(cost::RESET);
        self.store(&self.libor.arrays.noise, rate, out);
        self.store(&self.libor.arrays.rates, rate, out);
        out.push(cost::NEXT);
    }

    /// Before the first date, the rates equal the first row of the history.
    fn copy(&self, rate: u32, out: &mut OpSink<'_>) {
        out.push(cost::BEFORE_COPY);
        self.load(&self.libor.arrays.rates, rate, out);
        push_all(out, &[cost::DURING_COPY, Op::WAIT]);
        self.store(&self.libor.arrays.history, rate, out);
        out.push(cost::NEXT);
    }

    /// One rate moves at one date.
    fn step(&self, index: u32, kernel: usize, out: &mut OpSink<'_>) {
        let arrays = &self.libor.arrays;
        let (date, rate) = nth_move(index);
        if rate == date + 1 {
            out.push(cost::BEFORE_NOISE);
            self.load(&arrays.noise, date, out);
            push_all(out, &[cost::DURING_NOISE[kernel], Op::WAIT, cost::AFTER_NOISE[kernel]]);
        }
        out.push(cost::BEFORE_RATE[kernel]);
        self.load(&arrays.rates, rate, out);
        push_all(out, &[cost::DURING_RATE[kernel], Op::WAIT, cost::MOVE]);
        self.store(&arrays.rates, rate, out);
        if kernel == 1 {
            self.store(&arrays.history, rate + (date + 1) * RATES, out);
        }
        out.push(cost::NEXT);
        if rate + 1 == RATES {
            out.push(cost::NEXT_DATE[kernel]);
        }
    }

    fn price(&self, swap: u32, kernel: usize, out: &mut OpSink<'_>) {
        let arrays = &self.libor.arrays;
        out.push(cost::BEFORE_BOND);
        self.load(&arrays.rates, swap + DATES, out);
        push_all(out, &[cost::DURING_BOND, Op::WAIT, cost::BOND[kernel]]);
        self.store(&arrays.bonds, swap, out);
        self.store(&arrays.swaps, swap, out);
        out.push(cost::NEXT);
    }

    fn clear(&self, swap: u32, out: &mut OpSink<'_>) {
        out.push(cost::CLEAR);
        self.store(&self.libor.arrays.bonds_back, swap, out);
        self.store(&self.libor.arrays.swaps_back, swap, out);
        out.push(cost::NEXT);
    }

    fn exercise(&self, swaption: usize, kernel: usize, out: &mut OpSink<'_>) {
        let arrays = &self.libor.arrays;
        let swap = MATURITIES[swaption] - 1;
        out.push(cost::BEFORE_SWAPTION);
        self.load(&arrays.bonds, swap, out);
        if kernel == 1 {
            out.push(cost::BEFORE_SWAP);
        }
        self.load(&arrays.swaps, swap, out);
        push_all(out, &[cost::DURING_SWAP, Op::WAIT, cost::VALUE[kernel]]);
        if kernel == 0 {
            return;
        }
        if self.libor.exercised[swaption] {
            out.push(cost::BEFORE_EXERCISE);
            self.load(&arrays.swaps_back, swap, out);
            push_all(out, &[cost::DURING_EXERCISE, Op::WAIT, cost::ADD]);
            self.store(&arrays.swaps_back, swap, out);
            self.load(&arrays.bonds_back, swap, out);
            push_all(out, &[Op::WAIT, cost::ADD]);
            self.store(&arrays.bonds_back, swap, out);
            out.push(cost::NEXT);
        }
        out.push(cost::NEXT_SWAPTION);
    }

    /// From the sensitivities to a bond and a swap to those to their rate and to the bond and the swap before.
    fn back(&self, swap: u32, out: &mut OpSink<'_>) {
        let arrays = &self.libor.arrays;
        out.push(cost::BEFORE_BACK);
        self.load(&arrays.swaps_back, swap, out);
        self.load(&arrays.bonds_back, swap, out);
        push_all(out, &[cost::DURING_BACK, Op::WAIT, cost::ADD]);
        self.store(&arrays.bonds_back, swap, out);
        self.load(&arrays.rates, swap + DATES, out);
        self.load(&arrays.bonds, swap, out);
        push_all(out, &[Op::WAIT, cost::BACK]);
        self.store(&arrays.rates, swap + DATES, out);
        out.push(cost::NEXT);
        if swap > 0 {
            out.push(cost::BEFORE_EARLIER);
            self.load(&arrays.swaps_back, swap - 1, out);
            push_all(out, &[cost::DURING_EARLIER, Op::WAIT, cost::ADD]);
            self.store(&arrays.swaps_back, swap - 1, out);
            self.load(&arrays.bonds_back, swap - 1, out);
            push_all(out, &[Op::WAIT, cost::ADD]);
            self.store(&arrays.bonds_back, swap - 1, out);
            out.push(cost::NEXT);
        }
    }

    fn discount(&self, rate: u32, out: &mut OpSink<'_>) {
        out.push(cost::BEFORE_DISCOUNT);
        self.load(&self.libor.arrays.rates, rate, out);
        push_all(out, &[cost::DURING_DISCOUNT, Op::WAIT, cost::DISCOUNT[0], cost::NEXT]);
    }

    /// One rate's sensitivity, in place.
    fn scale(&self, rate: u32, change: Op, out: &mut OpSink<'_>) {
        out.push(cost::BEFORE_DISCOUNT);
        self.load(&self.libor.arrays.rates, rate, out);
        push_all(out, &[cost::DURING_DISCOUNT, Op::WAIT, change]);
        self.store(&self.libor.arrays.rates, rate, out);
        out.push(cost::NEXT);
    }

    /// The result of the path, which ends the first kernel.
    fn value(&self, kernel: usize, out: &mut OpSink<'_>) {
        out.push(cost::BEFORE_VALUE);
        store_span(out, self.libor.arrays.values.at(self.thread, WORD), self.lanes * WORD);
        if kernel == 0 {
            out.push(cost::NEXT_PATH);
        }
    }

    /// Back through the moves, the last first.
    fn sense(&self, turn: u32, out: &mut OpSink<'_>) {
        let arrays = &self.libor.arrays;
        let (date, rate) = nth_move(MOVES - 1 - turn);
        out.push(cost::BEFORE_HISTORY);
        self.load(&arrays.history, rate + (date + 1) * RATES, out);
        self.load(&arrays.history, rate + date * RATES, out);
        self.load(&arrays.rates, rate, out);
        push_all(out, &[cost::DURING_HISTORY, Op::WAIT, cost::SENSE]);
        self.store(&arrays.rates, rate, out);
        out.push(cost::NEXT);
        if rate == date + 1 {
            out.push(cost::NEXT_DATE_BACK);
        }
    }

    fn finish(&self, out: &mut OpSink<'_>) {
        self.load(&self.libor.arrays.rates, RATES - 1, out);
        push_all(out, &[cost::BEFORE_SENSITIVITY, Op::WAIT]);
        store_span(out, self.libor.arrays.sensitivities.at(self.thread, WORD), self.lanes * WORD);
        out.push(cost::NEXT_PATH);
    }
}

/// Up to the first loop; the waits are for kernel arguments.
const START: [[Op; 5]; 2] = [start(0), start(1)];

const fn start(kernel: usize) -> [Op; 5] {
    [cost::LOCATE, Op::WAIT, cost::BEFORE_ARGUMENTS, Op::WAIT, cost::BEFORE_PATH[kernel]]
}
