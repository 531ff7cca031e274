use std::collections::BTreeSet;

use octavo_program::{OpKind, Workload};
use octavo_workload::kernels::quantum_volume::{Precision, QuantumVolume};
use octavo_workload::quantum::circuit::Circuit;

use super::{LANES, refused};
use crate::lanes::{Lanes, assert_same, base, launch_totals, stream, touched, wavefronts};

fn simulation(qubits: u32, depth: u32, precision: Precision) -> QuantumVolume {
    QuantumVolume::new(Circuit::quantum_volume(qubits, depth, 5), precision)
}

/// The kernels lane by lane: a lane's four states are found by setting all bits but the gate's, one after another.
fn naive(found: &QuantumVolume, bytes: u64, launch: u32, group: u64, wavefront: u64) -> Lanes {
    let qubits = found.circuit().qubits();
    let threads = 1u64 << (qubits - if launch == 0 { 0 } else { 2 });
    let first = group * 1024 + wavefront * LANES;
    let lanes = (first..first + LANES).filter(|thread| *thread < threads);
    let address = |state: u64| base(found, "amplitudes") + bytes * state;
    let mut touched = Lanes::default();
    if launch == 0 {
        touched.store(lanes.map(address));
        return touched;
    }
    let pair = found.circuit().pairs()[launch as usize - 1];
    let state = |thread: u64, ones: u64| {
        let mut rest = thread;
        let mut found = 0;
        for bit in 0..qubits {
            let value = match pair.iter().position(|qubit| *qubit == bit) {
                Some(place) => ones >> place & 1,
                None => {
                    let value = rest % 2;
                    rest /= 2;
                    value
                }
            };
            found += value << bit;
        }
        found
    };
    (0..4).for_each(|ones| touched.load(lanes.clone().map(|thread| address(state(thread, ones)))));
    (0..4).for_each(|ones| touched.store(lanes.clone().map(|thread| address(state(thread, ones)))));
    touched
}

#[test]
fn touches_what_every_lane_of_the_kernels_touches() {
    for (qubits, precision) in [(2, Precision::Single), (7, Precision::Single), (11, Precision::Double)] {
        let simulation = simulation(qubits, qubits, precision);
        assert_same(&simulation, |launch, group, wavefront| {
            naive(&simulation, precision.bytes(), launch, group.into(), wavefront.into())
        });
    }
}

#[test]
fn every_launch_goes_through_all_amplitudes_once() {
    let simulation = simulation(13, 13, Precision::Single);
    assert_eq!(simulation.launches(), 1 + 13 * 6);
    assert_eq!(simulation.launch(1).work_groups, 2);
    let (lines, gates) = ((8 << 13) / 64, 13 * 6);
    let stored = touched(&simulation, "amplitudes", true);
    assert_eq!(stored.len(), lines);
    // Where a gate's qubits are among the lowest three, a line is stored by two or by four instructions.
    assert!(stored.values().all(|times| (1 + gates..=1 + 4 * gates).contains(times)));
    for (launch, pair) in simulation.circuit().pairs().iter().enumerate() {
        let together = pair.iter().filter(|qubit| **qubit < 3).count();
        let found = launch_totals(&simulation, launch as u32 + 1);
        assert_eq!(found.lines, (2 * lines as u64) << together, "{pair:?}");
    }
}

/// Chunks divide the launches and nothing else: all launches of a step together are the launch of one chunk.
#[test]
fn chunks_take_the_same_threads_in_more_launches() {
    for (chunk, precision) in [(2, Precision::Single), (6, Precision::Double), (8, Precision::Single)] {
        let (whole, chunked) = (simulation(9, 9, precision), simulation(9, 9, precision).in_chunks(chunk).unwrap());
        let mut launch = 0;
        for step in 0..whole.launches() {
            let pair = step.checked_sub(1).map(|gate| whole.circuit().pairs()[gate as usize]);
            let joined = pair.map_or(0, |pair| pair.iter().filter(|qubit| **qubit >= chunk).count() as u32);
            let sets = 1 << (9 - chunk - joined);
            let accesses = |simulation: &QuantumVolume, launch: u32, store: bool| {
                let waves = wavefronts(simulation, launch);
                let ops = waves.flat_map(|(group, wave)| stream(simulation, launch, group, wave, 512));
                let lines =
                    ops.filter(|op| op.is_store() == store && [OpKind::Load, OpKind::Store].contains(&op.kind()));
                lines.flat_map(|op| op.line()..op.line() + u64::from(op.count())).collect::<BTreeSet<u64>>()
            };
            for store in [false, true] {
                let parts: Vec<_> = (launch..launch + sets).map(|part| accesses(&chunked, part, store)).collect();
                assert_eq!(parts.iter().flatten().copied().collect::<BTreeSet<_>>(), accesses(&whole, step, store));
                if chunk == 8 && store {
                    let chunks = |lines: &BTreeSet<u64>| lines.iter().map(|line| line / 32).collect::<BTreeSet<_>>();
                    assert!(parts.iter().all(|part| chunks(part).len() == 1 << joined), "{pair:?}");
                }
            }
            launch += sets;
        }
        assert_eq!(launch, chunked.launches());
    }
}

#[test]
fn each_gate_has_a_matrix_of_its_own() {
    let simulation = simulation(9, 3, Precision::Double);
    let first = base(&simulation, "matrices") / 64;
    for launch in 1..simulation.launches() {
        for (group, wavefront) in wavefronts(&simulation, launch) {
            let ops = stream(&simulation, launch, group, wavefront, 512);
            let scalar: Vec<_> = ops.iter().filter(|op| op.kind() == OpKind::ScalarLoad).collect();
            let matrix = first + 4 * u64::from(launch - 1);
            let found = scalar.iter().map(|op| (op.line(), op.count()));
            assert!(found.eq((matrix..matrix + 4).map(|line| (line, 1))));
        }
    }
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("quantum-volume", &[("qubits", 1)]), "qubits");
    assert_eq!(refused("quantum-volume", &[("qubits", 39)]), "qubits");
    assert_eq!(refused("quantum-volume", &[("depth", 0)]), "depth");
    assert_eq!(refused("quantum-volume", &[("qubits", 9), ("chunk_qubits", 1)]), "chunk_qubits");
    assert_eq!(refused("quantum-volume", &[("qubits", 9), ("chunk_qubits", 10)]), "chunk_qubits");
    assert_eq!(refused("quantum-volume", &[("qubits", 30), ("chunk_qubits", 2)]), "chunk_qubits");
}
