//! Which GPU runs which work-groups, seen from the places of their pages.

use std::num::NonZeroU32;

use octavo_program::{Dispatch, Op};
use octavo_sim::{InstantOptions, run_at_once};

use crate::support::{Script, column, line, memory, node, run_with};

/// Six work-groups; the n-th loads 2^n pages of its own, so that the pages of a GPU show which groups it ran.
fn script() -> Script {
    let group = |number: u64| {
        let pages = (1 << number) - 1..(1 << (number + 1)) - 1;
        vec![pages.map(|page| Op::load(line(page, 0), 1)).chain([Op::WAIT]).collect()]
    };
    Script::new(63, vec![(0..6).map(group).collect()])
}

/// Pages that each of two GPUs of two units has in the end, in simulated time.
fn in_time(dispatch: Dispatch) -> Vec<usize> {
    let mut node = node(2);
    (node.dispatch, node.compute.units) = (dispatch, 2);
    let result = run_with(&node, &memory("first-touch"), &script());
    let (kinds, to) = (crate::support::events(&result, "migration").len(), column(&result, "events", "to"));
    let on = |gpu: u64| to.iter().filter(|&&to| to == gpu).count();
    assert_eq!(kinds, 63);
    vec![on(1), on(2)]
}

/// The same without time.
fn at_once(dispatch: Dispatch) -> Vec<usize> {
    let mut node = node(2);
    (node.dispatch, node.compute.units) = (dispatch, 2);
    let options = InstantOptions { turn: 1, report_lines: None, record_events: false, memory: None, progress: None };
    let result = run_at_once(&node, &memory("first-touch"), &script(), options).unwrap();
    let on = |gpu: &str| {
        let placed = result.summary.placement.iter().filter(|placed| placed.memory == gpu);
        placed.map(|placed| placed.pages as usize).sum()
    };
    vec![on("gpu0"), on("gpu1")]
}

#[test]
fn gpus_run_the_groups_of_their_shares() {
    let expected = [
        (Dispatch::EvenSplit, [0b00_0111, 0b11_1000]),
        // Two for each of two units.
        (Dispatch::UnitMultiples, [0b00_1111, 0b11_0000]),
        (Dispatch::RoundRobin, [0b01_0101, 0b10_1010]),
        (Dispatch::RoundRobinUnits, [0b11_0011, 0b00_1100]),
        (Dispatch::Blocks(NonZeroU32::MIN), [0b01_0101, 0b10_1010]),
        (Dispatch::Blocks(NonZeroU32::new(4).unwrap()), [0b00_1111, 0b11_0000]),
    ];
    for (dispatch, pages) in expected {
        assert_eq!(in_time(dispatch), pages, "{dispatch:?}");
        assert_eq!(at_once(dispatch), pages, "{dispatch:?}, without time");
    }
}
