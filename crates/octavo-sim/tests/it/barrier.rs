//! When a work-group continues after a barrier.

use crate::support::{Script, line, node, run};
use octavo_program::Op;

/// The end of one work-group with these wavefronts, in nanoseconds. Each wavefront has a SIMD for itself.
fn time(wavefronts: &[&[Op]]) -> u64 {
    let group = wavefronts.iter().map(|ops| ops.to_vec()).collect();
    run(&node(1), "on-touch", &Script::new(8, vec![vec![group]])).summary.time_ps / 1000
}

#[test]
fn a_barrier_does_not_lose_compute_time() {
    let time = |barrier: bool| {
        let mut ops = vec![Op::load(line(0, 0), 1), Op::WAIT];
        for step in 0..60 {
            ops.push(Op::compute(15));
            if barrier {
                ops.push(Op::BARRIER);
            }
            ops.extend([Op::load(line(0, step * 7 % 64), 1), Op::WAIT]);
        }
        time(&[&ops])
    };
    assert_eq!(time(true), time(false));
}

#[test]
fn a_barrier_of_one_wavefront_costs_nothing() {
    assert_eq!(time(&[&[Op::compute(10), Op::BARRIER, Op::compute(10)]]), (10 + 10) * 4);
    assert_eq!(time(&[&[Op::compute(100), Op::BARRIER, Op::BARRIER, Op::compute(10)]]), (100 + 10) * 4);
}

#[test]
fn a_group_goes_on_at_its_latest_arrival() {
    // The first to arrive has the most to do afterwards.
    let arrives = |before, after| [Op::compute(before), Op::BARRIER, Op::compute(after)];
    let [a, b, c] = [arrives(2, 40), arrives(10, 5), arrives(15, 5)];
    for order in [[&a, &b, &c], [&c, &b, &a], [&b, &c, &a]] {
        assert_eq!(time(&order.map(|ops| &ops[..])), (15 + 40) * 4, "whoever's event comes last");
    }
    let late = arrives(1000, 5);
    assert_eq!(time(&[&a, &late, &c]), (1000 + 40) * 4);
}

#[test]
fn a_barrier_does_not_wait_for_wavefronts_that_have_ended() {
    let waits = [Op::compute(10), Op::BARRIER, Op::compute(5)];
    assert_eq!(time(&[&waits, &[Op::compute(5)]]), (10 + 5) * 4, "the other ended before");
    assert_eq!(time(&[&waits, &[Op::compute(15)]]), (15 + 5) * 4, "the other ended later");
}

#[test]
fn time_issued_ahead_of_several_barriers_adds_up() {
    // The slower wavefront of each stretch sets the pace: 15 + 12 + 9 instructions.
    let one = [Op::compute(15), Op::BARRIER, Op::compute(3), Op::BARRIER, Op::compute(9)];
    let other = [Op::compute(4), Op::BARRIER, Op::compute(12), Op::BARRIER, Op::compute(6)];
    assert_eq!(time(&[&one, &other]), (15 + 12 + 9) * 4);
}
