//! Background extraction against a lane-by-lane model of its kernel, and frames worked out by hand.

use super::{full_size, refused};
use crate::lanes::{Lanes, assert_same, base};
use octavo_program::Workload;
use octavo_workload::kernels::background::Background;

#[test]
fn touches_what_every_lane_of_the_kernel_touches() {
    for pixels in [1, 64, 100] {
        let all = Background::new(pixels, 3, 5);
        let [frame, background, foreground] = ["frame", "background", "foreground"].map(|name| base(&all, name));
        assert_same(&all, |_, group, _| {
            let first = u64::from(group) * 64;
            let threads = || first..(3 * pixels).min(first + 64);
            let mut lanes = Lanes::default();
            lanes.load(threads().map(|byte| frame + byte));
            lanes.load(threads().map(|byte| background + 4 * byte));
            lanes.store(threads().map(|byte| foreground + byte));
            lanes.store(threads().map(|byte| background + 4 * byte));
            lanes
        });
    }
}

/// One frame after the first: pixels that differ by more than ten are kept, and the background moves three hundredths
/// of the way.
#[test]
fn what_moves_is_taken_out() {
    let all = Background::new(200, 1, 9);
    let (before, frame) = (all.frame(0), all.frame(1));
    let (foreground, background) = all.extracted();
    for at in 0..600 {
        let (old, new) = (f32::from(before[at]), f32::from(frame[at]));
        assert_eq!(foreground[at], if (old - new).abs() >= 11.0 { frame[at] } else { 0 }, "byte {at}");
        assert!((background[at] - (old + 0.03 * (new - old))).abs() < 1e-4, "byte {at}");
    }
    let moving = foreground.iter().filter(|byte| **byte > 0).count();
    assert_eq!(moving, 60, "a tenth, and noise stays below the threshold");
}

#[test]
fn the_host_makes_a_frame_before_each_launch_and_reads_what_moves_behind() {
    let side = Background::new(10, 2, 0).host_side();
    let said: Vec<_> = side.exchanges().iter().map(|one| (one.before, one.buffer, one.writes)).collect();
    assert_eq!(said, [(0, 0, true), (1, 2, false), (1, 0, true), (2, 2, false)]);
}

#[test]
fn the_size_is_the_recorded_one_and_options_are_checked() {
    assert_eq!(full_size("background").footprint(), 1920 * 1080 * 3 * (1 + 4 + 1));
    for (key, value) in [("pixels", 0), ("frames", 0), ("frames", 1001)] {
        assert_eq!(refused("background", &[(key, value)]), key);
    }
}
