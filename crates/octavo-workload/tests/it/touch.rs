//! Touches in a pattern: where each of them is, and in which order.

use std::collections::BTreeSet;

use crate::lanes::{accesses, stream, wavefronts};
use octavo_program::{Op, OpKind, Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use serde_json::{Value, json};

fn touch(options: &Value) -> Result<Box<dyn Workload>, octavo_registry::OptionError> {
    let mut choice = Choice::named("touch");
    choice.options.extend(options.as_object().unwrap().clone());
    WORKLOADS.build(&choice, &Size { scale: 1.0, seed: 7 })
}

fn workload(options: &Value) -> Box<dyn Workload> {
    touch(options).unwrap_or_else(|error| panic!("{options}: {error}"))
}

/// Lines of each instruction of the first wavefront of a launch.
fn first(workload: &dyn Workload, launch: u32) -> Vec<Vec<u64>> {
    accesses(&stream(workload, launch, 0, 0, 96)).into_iter().map(|access| access.lines).collect()
}

/// Lines that any wavefront of a launch touches, with repetitions.
fn all(workload: &dyn Workload, launch: u32) -> Vec<u64> {
    let streams = wavefronts(workload, launch).map(|(group, wave)| stream(workload, launch, group, wave, 512));
    streams.flat_map(|ops| accesses(&ops)).flat_map(|access| access.lines).collect()
}

#[test]
fn neighbours_touch_neighbouring_places_and_go_on_behind_all_others() {
    let workload = workload(&json!({"bytes": 16384, "width": 16, "groups": 2, "wavefronts": 1, "in_flight": 2}));
    let lines = |from: u64| (from..from + 16).collect::<Vec<_>>();
    assert_eq!(first(&*workload, 0), [0, 32, 64, 96, 128, 160, 192, 224].map(lines), "two wavefronts of 1 KiB each");
    let waits = stream(&*workload, 0, 0, 0, 96).iter().filter(|op| op.kind() == OpKind::Wait).count();
    assert_eq!(waits, 4, "two touches in flight");
}

#[test]
fn a_chase_visits_every_place_once_in_an_order_that_looks_like_none() {
    let options = json!({"bytes": 1 << 18, "stride": 128, "width": 8, "order": "random", "groups": 1, "wavefronts": 1,
        "lanes": 1, "in_flight": 1});
    let found = first(&*workload(&options), 0);
    assert!(found.iter().all(|lines| lines.len() == 1));
    let lines: Vec<u64> = found.into_iter().flatten().collect();
    assert_eq!(lines.iter().copied().collect::<BTreeSet<_>>(), (0..2048).map(|place| 2 * place).collect());
    let neighbours = lines.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) <= 4).count();
    assert!(neighbours < 40, "{neighbours} of {}", lines.len());
}

#[test]
fn touches_begin_again_after_the_last_place() {
    let options = json!({"bytes": 256, "width": 64, "touches": 10, "groups": 1, "wavefronts": 1, "lanes": 1});
    assert_eq!(first(&*workload(&options), 0).concat(), [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]);
}

#[test]
fn touches_go_round_the_grid_from_launch_to_launch() {
    let options =
        json!({"bytes": 128, "width": 64, "groups": 4, "wavefronts": 1, "lanes": 1, "launches": 3, "turn": 1});
    let workload = workload(&options);
    let who = |launch| {
        let of =
            |group| accesses(&stream(&*workload, launch, group, 0, 96)).into_iter().flat_map(|access| access.lines);
        (0..4).map(|group| of(group).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    assert_eq!(who(0), [vec![0], vec![1], vec![], vec![]]);
    assert_eq!(who(1), [vec![], vec![0], vec![1], vec![]], "a group of the next number");
    assert_eq!(who(2), [vec![], vec![], vec![0], vec![1]]);
}

#[test]
fn without_touches_a_kernel_is_empty() {
    assert_eq!(stream(&*workload(&json!({"touches": 0, "groups": 1})), 0, 0, 0, 96), [Op::END]);
}

#[test]
fn runs_leave_out_what_lies_between_them() {
    let options = json!({"bytes": 512, "run": 128, "spacing": 1024, "width": 64, "groups": 1, "wavefronts": 1});
    let workload = workload(&options);
    assert_eq!(first(&*workload, 0), [[0, 1, 16, 17, 32, 33, 48, 49]]);
    assert_eq!(workload.footprint(), 3 * 1024 + 128);
}

#[test]
fn a_copy_writes_where_it_has_read_in_another_buffer() {
    let workload = workload(&json!({"bytes": 4 << 20, "operation": "copy", "width": 16}));
    let found = accesses(&stream(&*workload, 0, 3, 1, 96));
    let (loads, stores): (Vec<_>, Vec<_>) = found.into_iter().partition(|access| !access.store);
    let apart = (workload.buffers()[1].base - workload.buffers()[0].base) / 64;
    let moved = |access: &crate::lanes::Access| access.lines.iter().map(|line| line + apart).collect::<Vec<_>>();
    assert_eq!(loads.iter().map(moved).collect::<Vec<_>>(), stores.into_iter().map(|it| it.lines).collect::<Vec<_>>());
    assert_eq!(loads.len(), 4);
}

#[test]
fn launches_with_memory_of_their_own_do_the_same_elsewhere() {
    let options = json!({"bytes": 65536, "operation": "write", "launches": 3, "fresh": true, "width": 8});
    let fresh = workload(&options);
    assert_eq!((fresh.buffers().len(), fresh.launches()), (3, 3));
    for launch in 0..3 {
        let base = fresh.buffers()[launch as usize].base / 64;
        assert_eq!(all(&*fresh, launch), (base..base + 1024).collect::<Vec<_>>());
    }
}

#[test]
fn operations_are_the_intensity_for_each_byte() {
    for intensity in [0.25, 3.0, 1000.0] {
        let options = json!({"bytes": 1 << 16, "width": 4, "intensity": intensity, "groups": 3, "wavefronts": 2});
        let workload = workload(&options);
        let ops = wavefronts(&*workload, 0).flat_map(|(group, wave)| stream(&*workload, 0, group, wave, 96));
        let instructions: u64 =
            ops.filter(|op| op.kind() == OpKind::Compute).map(|op| u64::from(op.instructions().vector)).sum();
        let operations = instructions as f64 * 64.0 * 2.0;
        let wanted = intensity * f64::from(1 << 16);
        assert!((operations / wanted - 1.0).abs() < 0.02, "{operations} and not {wanted}");
    }
}

#[test]
fn options_that_do_not_go_together_are_refused_by_name() {
    let wrong = [
        (json!({"width": 3}), "width"),
        (json!({"width": 128}), "width"),
        (json!({"stride": 6}), "stride"),
        (json!({"stride": 0}), "stride"),
        (json!({"bytes": 100, "stride": 8}), "bytes"),
        (json!({"bytes": 0}), "bytes"),
        (json!({"bytes": 12, "order": "random"}), "bytes"),
        (json!({"run": 6}), "run"),
        (json!({"run": 64, "spacing": 32}), "spacing"),
        (json!({"touches": 1u64 << 39}), "touches"),
        (json!({"touches": 1u64 << 38, "groups": 1, "lanes": 1, "wavefronts": 1}), "touches"),
        (json!({"groups": 0}), "groups"),
        (json!({"wavefronts": 17}), "wavefronts"),
        (json!({"lanes": 65}), "lanes"),
        (json!({"in_flight": 0}), "in_flight"),
        (json!({"intensity": -1.0}), "intensity"),
        (json!({"launches": 0}), "launches"),
    ];
    for (options, key) in wrong {
        assert_eq!(touch(&options).err().map(|error| error.key).as_deref(), Some(key), "{options}");
    }
}
