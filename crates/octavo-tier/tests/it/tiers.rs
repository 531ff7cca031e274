//! What a program sees when nothing fails.

use octavo_tier::{Held, TierError};
use octavo_units::Bytes;

use crate::{PIECE, content, tier};

#[test]
fn kernels_find_what_was_written_wherever_pieces_went_between() {
    let (mut tier, driver) = tier(&[4, 3], 20, false);
    let bytes = 2 * PIECE - 100;
    let buffers: Vec<u64> = (0..5).map(|_| tier.allocate(bytes, 0, "").unwrap()).collect();
    for &buffer in &buffers {
        tier.write(buffer, 0, &content(buffer, bytes)).unwrap();
    }
    let mut stored = buffers.clone();
    for (seed, (device, pair)) in
        (10..).zip([(0, [0, 1]), (0, [2, 3]), (1, [4, 4]), (0, [0, 4]), (1, [2, 2])].repeat(3))
    {
        tier.before_launch(device, &pair.map(|at: usize| buffers[at])).unwrap();
        for at in pair {
            let address = tier.address(buffers[at], device).unwrap();
            let found = driver.load(device, address, bytes as usize);
            assert!(found.expect("it is mapped") == content(stored[at], bytes));
            stored[at] = seed * 10 + at as u64;
            assert!(driver.store(device, address, &content(stored[at], bytes)));
        }
    }
    for (&buffer, &seed) in buffers.iter().zip(&stored) {
        let mut found = vec![0; bytes as usize];
        tier.read(buffer, 0, &mut found).unwrap();
        assert!(found == content(seed, bytes));
    }
    assert!(tier.status().counts.to_neighbour > 0);
    tier.close().unwrap();
    assert_eq!(driver.held(), Held::default());
}

#[test]
fn what_a_launch_does_not_use_is_mapped_nowhere_if_room_was_needed() {
    let (mut tier, driver) = tier(&[2], 8, false);
    let [first, second] = [0, 1].map(|_| tier.allocate(2 * PIECE, 0, "").unwrap());
    tier.before_launch(0, &[first]).unwrap();
    let addresses = [first, second].map(|buffer| tier.address(buffer, 0).unwrap());
    assert!(driver.store(0, addresses[0], &[7]));
    tier.before_launch(0, &[second]).unwrap();
    assert_eq!(driver.load(0, addresses[0], 1), None);
    assert_eq!(driver.load(0, addresses[1], 1), Some(vec![0]), "new memory holds zeros");
    tier.before_launch(0, &[first]).unwrap();
    assert_eq!(driver.load(0, addresses[0], 2), Some(vec![7, 0]), "the address stays");
}

#[test]
fn pieces_of_a_launch_stay_while_its_others_come() {
    let (mut tier, _) = tier(&[4], 16, false);
    let [old, new, other] = [2, 2, 2].map(|pieces| tier.allocate(pieces * PIECE, 0, "").unwrap());
    tier.before_launch(0, &[old]).unwrap();
    tier.before_launch(0, &[other]).unwrap();
    // The first is the oldest, and used.
    tier.before_launch(0, &[old, new]).unwrap();
    let status = tier.status();
    assert_eq!(
        (status.counts.to_host, status.counts.came),
        (2, 0),
        "the third left, and nothing came back: {status:?}"
    );
    assert_eq!(status.buffers.iter().map(|buffer| buffer.mapped).collect::<Vec<_>>(), [2, 2, 0]);
}

#[test]
fn what_was_used_longest_ago_leaves_and_not_what_came_first() {
    let (mut tier, _) = tier(&[3], 16, false);
    let buffers = [0; 4].map(|_| tier.allocate(PIECE, 0, "").unwrap());
    for used in [0, 1, 2, 0, 3] {
        tier.before_launch(0, &[buffers[used]]).unwrap();
    }
    let mapped: Vec<u32> = tier.status().buffers.iter().map(|buffer| buffer.mapped).collect();
    assert_eq!(mapped, [1, 0, 1, 1]);
}

#[test]
fn a_launch_that_does_not_fit_is_refused_by_name_and_nothing_moves() {
    let (mut tier, _) = tier(&[4], 16, false);
    let [small, large] =
        [("small", 1), ("large", 4)].map(|(name, pieces)| tier.allocate(pieces * PIECE, 0, name).unwrap());
    tier.before_launch(0, &[large]).unwrap();
    let before = tier.status();
    let refused = tier.before_launch(0, &[small, large]).unwrap_err();
    assert!(
        matches!(&refused, TierError::NoRoomForLaunch { device: 0, needed: 5, room: 4, largest } if largest.starts_with("`large` 4")),
        "{refused}"
    );
    assert_eq!(tier.status().buffers, before.buffers);
}

#[test]
fn all_must_fit_on_the_host() {
    let (mut tier, driver) = tier(&[4], 5, false);
    let first = tier.allocate(3 * PIECE, 0, "first").unwrap();
    let held = driver.held();
    let refused = tier.allocate(3 * PIECE, 0, "second").unwrap_err();
    assert!(matches!(refused, TierError::NoRoomOnHost { needed: 3, room: 2, .. }), "{refused}");
    assert_eq!(driver.held(), held);
    tier.free(first).unwrap();
    tier.allocate(3 * PIECE, 0, "second").unwrap();
    assert!(matches!(tier.free(first), Err(TierError::UnknownBuffer(_))));
}

#[test]
fn a_device_yields_what_it_lends_and_what_it_uses() {
    let (mut tier, driver) = tier(&[2, 4], 16, false);
    let buffers = [0, 1, 2].map(|_| tier.allocate(2 * PIECE, 0, "").unwrap());
    for buffer in buffers {
        tier.write(buffer, 0, &content(buffer, 2 * PIECE)).unwrap();
    }
    assert_eq!(tier.status().devices[1].held, 4, "the neighbour keeps what has no room");
    assert_eq!(tier.yield_memory(1, Bytes(PIECE)).unwrap(), Bytes(3 * PIECE));
    assert_eq!(driver.used(1), PIECE);
    assert_eq!(tier.yield_memory(1, Bytes(0)).unwrap(), Bytes(PIECE));
    assert_eq!(tier.yield_memory(0, Bytes(0)).unwrap(), Bytes(2 * PIECE));
    assert_eq!([driver.used(0), driver.used(1)], [0, 0]);
    assert_eq!(tier.status().host.held, 6);
    let refused = tier.before_launch(0, &[buffers[0]]).unwrap_err();
    assert!(matches!(refused, TierError::NoRoomForLaunch { needed: 2, room: 0, .. }), "{refused}");
    for buffer in buffers {
        let mut found = vec![0; 2 * PIECE as usize];
        tier.read(buffer, 0, &mut found).unwrap();
        assert!(found == content(buffer, 2 * PIECE));
    }
    tier.take_memory(0, Bytes(6 * PIECE)).unwrap();
    tier.before_launch(0, &buffers).unwrap();
    for buffer in buffers {
        let found = driver.load(0, tier.address(buffer, 0).unwrap(), 2 * PIECE as usize);
        assert!(found.unwrap() == content(buffer, 2 * PIECE));
    }
    assert!(matches!(tier.take_memory(0, Bytes(65 * PIECE)), Err(TierError::Driver(_))));
    assert_eq!(driver.used(0), 6 * PIECE, "what was created in vain went back");
}

#[test]
fn a_mapped_tier_is_reached_wherever_its_pieces_are() {
    let (mut tier, driver) = tier(&[3], 16, true);
    let buffers = [0, 1, 2, 3].map(|_| tier.allocate(2 * PIECE, 0, "").unwrap());
    let all_there = |tier: &octavo_tier::Tier, seed: u64| {
        for buffer in buffers {
            let found = driver.load(0, tier.address(buffer, 0).unwrap(), 2 * PIECE as usize);
            assert!(found.expect("it is mapped") == content(buffer + seed, 2 * PIECE));
        }
    };
    for buffer in buffers {
        assert!(driver.store(0, tier.address(buffer, 0).unwrap(), &content(buffer, 2 * PIECE)));
    }
    all_there(&tier, 0);
    tier.before_launch(0, &[buffers[0]]).unwrap();
    assert_eq!(tier.status().buffers[0].pieces["device 0"], 2);
    all_there(&tier, 0);
    assert_eq!(tier.yield_memory(0, Bytes(0)).unwrap(), Bytes(3 * PIECE));
    all_there(&tier, 0);
    let late = tier.allocate(PIECE, 0, "").unwrap();
    assert!(driver.store(0, tier.address(late, 0).unwrap(), &[1]), "on a device without memory, too");
    for buffer in buffers {
        assert!(driver.store(0, tier.address(buffer, 0).unwrap(), &content(buffer + 9, 2 * PIECE)));
    }
    tier.take_memory(0, Bytes(3 * PIECE)).unwrap();
    // More than there is room for.
    tier.before_launch(0, &buffers).unwrap();
    all_there(&tier, 9);
    assert_eq!(tier.status().devices[0].held, 3);
    tier.close().unwrap();
    assert!(matches!(tier.allocate(PIECE, 0, ""), Err(TierError::Closed)));
    assert_eq!(driver.held(), Held::default());
}

#[test]
fn a_neighbour_gets_its_room_back_for_its_own_launch() {
    let (mut tier, _) = tier(&[2, 4], 32, false);
    let theirs: Vec<u64> = (0..3).map(|_| tier.allocate(2 * PIECE, 0, "").unwrap()).collect();
    for &buffer in &theirs {
        tier.write(buffer, 0, &content(buffer, 2 * PIECE)).unwrap();
    }
    let own = tier.allocate(4 * PIECE, 1, "own").unwrap();
    tier.before_launch(1, &[own]).unwrap();
    for &buffer in &theirs {
        let mut found = vec![0; 2 * PIECE as usize];
        tier.read(buffer, 0, &mut found).unwrap();
        assert!(found == content(buffer, 2 * PIECE));
    }
}

#[test]
fn the_clock_moves_by_what_was_measured() {
    let (mut tier, _) = tier(&[1], 4, false);
    let [first, second] = [0, 1].map(|_| tier.allocate(PIECE, 0, "").unwrap());
    tier.before_launch(0, &[first]).unwrap();
    let before = tier.status().calls;
    tier.before_launch(0, &[second]).unwrap();
    tier.before_launch(0, &[first]).unwrap();
    let after = tier.status().calls;
    let calls = |kind| after[kind].calls - before.get(kind).map_or(0, |cost| cost.calls);
    // Both left once, and the first came back.
    assert_eq!([calls("unmap"), calls("map"), calls("copy to host"), calls("copy from host")], [2, 2, 2, 1]);
    assert!(after.values().all(|cost| cost.seconds >= 0.0) && after["set access"].seconds > 0.0);
    assert!(!after.contains_key("create") || calls("create") == 0, "memory was created before");
}

/// A tier of two devices whose neighbour keeps most of the first buffers, and has yet to copy them to the host.
fn lent() -> (octavo_tier::Tier, octavo_tier::StandIn, Vec<u64>) {
    let (mut tier, driver) = tier(&[4, 8], 32, false);
    let buffers: Vec<u64> = (0..3).map(|_| tier.allocate(4 * PIECE, 0, "").unwrap()).collect();
    for &buffer in &buffers {
        tier.before_launch(0, &[buffer]).unwrap();
        assert!(driver.store(0, tier.address(buffer, 0).unwrap(), &content(buffer, 4 * PIECE)));
    }
    let status = tier.status();
    assert!(status.devices[1].held == 8 && status.host.held < 6, "{status:?}");
    (tier, driver, buffers)
}

fn check(tier: &mut octavo_tier::Tier, buffers: &[u64]) {
    for &buffer in buffers {
        let mut found = vec![0; 4 * PIECE as usize];
        tier.read(buffer, 0, &mut found).unwrap();
        assert!(found == content(buffer, 4 * PIECE));
    }
}

#[test]
fn what_the_host_has_no_copy_of_yet_goes_there_when_its_keeper_yields() {
    let (mut tier, driver, buffers) = lent();
    assert_eq!(tier.yield_memory(1, Bytes(0)).unwrap(), Bytes(8 * PIECE));
    assert_eq!(driver.used(1), 0);
    assert_eq!(tier.status().host.held, 8);
    check(&mut tier, &buffers);
}

#[test]
fn a_buffer_goes_while_it_is_copied() {
    let (mut tier, driver, mut buffers) = lent();
    let gone = buffers.remove(0);
    tier.free(gone).unwrap();
    let held = driver.held();
    let new = tier.allocate(4 * PIECE, 0, "").unwrap();
    assert_eq!(driver.held().ranges, held.ranges + 2, "its addresses were given back");
    tier.before_launch(0, &[new]).unwrap();
    let found = driver.load(0, tier.address(new, 0).unwrap(), 4 * PIECE as usize);
    assert!(found.unwrap().iter().all(|&byte| byte == 0), "nothing of the old one is in the new one");
    check(&mut tier, &buffers);
    tier.close().unwrap();
    assert_eq!(driver.held(), Held::default());
}

#[test]
fn copies_to_the_host_go_on_while_the_program_does() {
    let (mut tier, _, buffers) = lent();
    let before = tier.status();
    // Nothing has to move: what is waited for is the copy that began behind the last launch.
    tier.before_launch(0, &[buffers[2]]).unwrap();
    let after = tier.status();
    assert_eq!(after.host.held, before.host.held + 1);
    assert_eq!(after.calls["map"], before.calls["map"]);
    assert!(after.calls["copy behind"].calls > before.calls["copy behind"].calls);
}

#[test]
fn kernels_that_use_a_buffer_are_waited_for_whatever_is_done_to_it() {
    let (mut tier, driver) = tier(&[2, 2], 8, true);
    let [first, second] = [0, 1].map(|_| tier.allocate(PIECE, 0, "").unwrap());
    // Another device's, too.
    tier.before_launch(1, &[first]).unwrap();
    let kernel = |tier: &octavo_tier::Tier, buffer| {
        let address = tier.address(buffer, 1).unwrap();
        assert!(driver.store(1, address, &[1]));
    };
    // The second time it is where it is to be written.
    for _ in 0..2 {
        kernel(&tier, first);
        tier.write(first, 1, &[2]).unwrap();
    }
    kernel(&tier, first);
    let mut found = [0; 2];
    tier.read(first, 0, &mut found).unwrap();
    assert_eq!(found, [1, 2]);
    kernel(&tier, first);
    tier.yield_memory(1, Bytes(0)).unwrap();
    tier.before_launch(1, &[second]).unwrap();
    kernel(&tier, second);
    tier.free(second).unwrap();
    tier.close().unwrap();
    assert_eq!(driver.held(), Held::default());
}
