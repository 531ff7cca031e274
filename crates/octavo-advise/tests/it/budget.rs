//! The choice under a budget, compared with all possible choices.

use octavo_advise::Seconds;
use octavo_advise::budget::{Candidate, choose};
use octavo_units::Bytes;
use proptest::prelude::*;

fn candidates(found: &[(u64, f64)]) -> Vec<Candidate> {
    found.iter().map(|&(bytes, gain)| Candidate { bytes: Bytes(bytes), gain: Seconds(gain) }).collect()
}

#[test]
fn the_best_together_win_over_the_densest() {
    let all = candidates(&[(6, 9.0), (5, 7.0), (5, 7.0), (1, -1.0)]);
    let choice = choose(&all, Bytes(10));
    assert_eq!(choice.chosen, [false, true, true, false]);
    assert!(choice.gain == Seconds(14.0) && choice.exact);
    assert_eq!(choose(&all, Bytes(100)).chosen, [true, true, true, false]);
    assert_eq!(choose(&all, Bytes(0)).chosen, [false; 4]);
    assert_eq!(choose(&[], Bytes(10)).gain, Seconds(0.0));
}

proptest! {
    #[test]
    fn nothing_gains_more(found in prop::collection::vec((0u64..50, -5.0..20.0f64), 0..12), budget in 0u64..200) {
        let all = candidates(&found);
        let choice = choose(&all, Bytes(budget));
        let of = |chosen: &dyn Fn(usize) -> bool| {
            let taken = || all.iter().enumerate().filter(|(index, _)| chosen(*index)).map(|(_, each)| each);
            (taken().map(|each| each.bytes.0).sum::<u64>(), taken().map(|each| each.gain.0).sum::<f64>())
        };
        let (bytes, gain) = of(&|index| choice.chosen[index]);
        prop_assert!(bytes <= budget && choice.exact);
        prop_assert!((gain - choice.gain.0).abs() < 1e-9);
        for set in 0u32..1 << all.len() {
            let (bytes, other) = of(&|index| set >> index & 1 == 1);
            prop_assert!(bytes > budget || other <= gain + 1e-9, "{other} is more than {gain}");
        }
    }
}
