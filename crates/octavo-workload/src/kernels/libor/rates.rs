//! The program's rates, followed once: all its paths are alike.

/// Rates, dates at which they move, and swaptions.
pub(super) const RATES: u32 = 80;
pub(super) const DATES: u32 = 40;
pub(super) const SWAPTIONS: usize = 15;
/// Time between dates in years, every random number, and every volatility and rate at first (the program's own).
const DELTA: f64 = 0.25;
const NOISE: f64 = 0.3;
const VOLATILITY: f64 = 0.2;
const FIRST_RATE: f64 = 0.05;

/// Maturity of each swaption in dates, and its strike.
pub const MATURITIES: [u32; SWAPTIONS] = [4, 4, 4, 8, 8, 8, 20, 20, 20, 28, 28, 28, 40, 40, 40];
const STRIKES: [f64; 3] = [0.045, 0.05, 0.055];

/// Whether each swaption is exercised: whether its swap is worth less than 1 then.
pub fn exercised() -> [bool; SWAPTIONS] {
    let rates = rates();
    let (mut bond, mut swap) = (1.0, 0.0);
    let worth: Vec<(f64, f64)> = rates[DATES as usize..]
        .iter()
        .map(|rate| {
            bond /= 1.0 + DELTA * rate;
            swap += DELTA * bond;
            (bond, swap)
        })
        .collect();
    std::array::from_fn(|swaption| {
        let (bond, swap) = worth[MATURITIES[swaption] as usize - 1];
        bond + STRIKES[swaption % STRIKES.len()] * swap - 1.0 < 0.0
    })
}

/// Rates after the last date.
fn rates() -> Vec<f64> {
    let mut rates = vec![FIRST_RATE; RATES as usize];
    for date in 0..DATES as usize {
        let mut drift = 0.0;
        for rate in &mut rates[date + 1..] {
            let step = DELTA * VOLATILITY;
            drift += step * *rate / (1.0 + DELTA * *rate);
            *rate *= (step * drift + VOLATILITY * (DELTA.sqrt() * NOISE - 0.5 * step)).exp();
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_grow_and_some_swaptions_are_exercised() {
        let rates = rates();
        // The first rate never moves; the others do at every date before their own.
        assert_eq!(rates[0], FIRST_RATE);
        assert!(rates.windows(2).all(|pair| pair[0] <= pair[1] || pair[1] > FIRST_RATE), "{rates:?}");
        assert!(exercised().contains(&true));
    }
}
