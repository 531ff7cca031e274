//! The solver against a thread-by-thread model of its kernels, and its mesh against geometry.

use std::collections::BTreeSet;

use super::{full_size, refused};
use crate::lanes::{Lanes, assert_same, base, launch_totals};
use octavo_program::Workload;
use octavo_workload::kernels::cfd::{Cfd, FAR_FIELD, Mesh, WING};

fn naive(cfd: &Cfd, neighbours: &[[i32; 4]], launch: u32, group: u64, wavefront: u64) -> Lanes {
    let [areas, surrounding, normals, variables, old, fluxes, factors] =
        ["areas", "elements_surrounding_elements", "normals", "variables", "old_variables", "fluxes", "step_factors"]
            .map(|name| base(cfd, name));
    let size = (neighbours.len() as u64).div_ceil(192) * 192;
    let threads = || group * 192 + wavefront * 64..group * 192 + wavefront * 64 + 64;
    let row = |array: u64, row: u64| threads().map(move |thread| array + 4 * (row * size + thread));
    let mut lanes = Lanes::default();
    match launch.checked_sub(3).map(|launch| launch % 8) {
        None => (0..5).for_each(|at| lanes.store(row([variables, old, fluxes][launch as usize], at))),
        Some(0) => {
            lanes.load(row(variables, 0));
            lanes.store(row(old, 0));
        }
        Some(1) => {
            (0..5).for_each(|at| lanes.load(row(variables, at)));
            lanes.load(row(areas, 0));
            lanes.store(row(factors, 0));
        }
        Some(launch) if launch % 2 == 0 => {
            (0..5).for_each(|at| lanes.load(row(variables, at)));
            for j in 0..4 {
                lanes.load(row(surrounding, j));
                (0..3).for_each(|axis| lanes.load(row(normals, j + 4 * axis)));
                let last = neighbours.len() - 1;
                let of = |thread: u64| neighbours[last.min(thread as usize)][j as usize];
                let inner = || threads().map(of).filter(|other| *other >= 0);
                (0..5).for_each(|at| lanes.load(inner().map(|other| variables + 4 * (at * size + other as u64))));
            }
            (0..5).for_each(|at| lanes.store(row(fluxes, at)));
        }
        Some(_) => {
            lanes.load(row(factors, 0));
            for at in [0, 4, 1, 2, 3] {
                lanes.load(row(old, at));
                lanes.load(row(fluxes, at));
                lanes.store(row(variables, at));
            }
        }
    }
    lanes
}

#[test]
fn touches_what_every_lane_of_the_kernels_touches() {
    for (side, window, iterations) in [(1, 1, 1), (4, 64, 2), (5, 1000, 1)] {
        let neighbours = Mesh::cubes(side, window, 9).neighbours;
        let cfd = Cfd::new(Mesh::cubes(side, window, 9), iterations);
        assert_eq!(cfd.launches(), 3 + 8 * iterations);
        assert_same(&cfd, |launch, group, wave| naive(&cfd, &neighbours, launch, group.into(), wave.into()));
    }
}

/// Tetrahedra that share a face share it both ways; on each side of the cube lie two triangles a small cube.
#[test]
fn meshes_are_what_they_claim() {
    for (side, window) in [(1, 1), (3, 1), (4, 50)] {
        let mesh = Mesh::cubes(side, window, 5);
        let cells = side as usize;
        assert_eq!(mesh.neighbours.len(), 6 * cells * cells * cells);
        let count = |boundary| mesh.neighbours.iter().flatten().filter(|other| **other == boundary).count();
        assert_eq!((count(WING), count(FAR_FIELD)), (2 * cells * cells, 10 * cells * cells));
        for (element, neighbours) in mesh.neighbours.iter().enumerate() {
            let inner: Vec<i32> = neighbours.iter().copied().filter(|other| *other >= 0).collect();
            assert_eq!(inner.iter().collect::<BTreeSet<_>>().len(), inner.len(), "two faces shared with one element");
            let back = |other: i32| mesh.neighbours[other as usize].contains(&(element as i32));
            assert!(inner.iter().all(|other| *other != element as i32 && back(*other)));
        }
    }
    let far = |window| {
        let mesh = Mesh::cubes(8, window, 5);
        let spans = mesh.neighbours.iter().enumerate().flat_map(|(at, all)| all.iter().map(move |other| (at, *other)));
        spans.filter(|(at, other)| *other >= 0 && other.abs_diff(*at as i32) >= 64).count()
    };
    assert!(far(64) > far(1), "shuffling leads away");
}

/// One cube; each of its six elements has two faces outside; the other lanes are like the last element.
#[test]
fn counts_are_those_of_the_compiled_kernels() {
    let cfd = Cfd::new(Mesh::cubes(1, 1, 0), 1);
    let count = |launch| launch_totals(&cfd, launch);
    assert_eq!(count(0).instructions, 3 * (3 + 1 + 5 + 1 + (2 + 6 + 7 + 7 + 6) + 5 + 1));
    assert_eq!(count(3).instructions, 5 * 3 * (4 + 1 + 6 + 1 + 1 + 1 + 1));
    let own = 4 + 1 + 5;
    assert_eq!(count(4).instructions, 3 * (own + 15 + 6 + 3 + 6 + 2 + 1 + 33 + 1 + 1));
    let start = own + 18 + 4 + 5 + 15 + 1 + 38;
    let (look, boundary) = (7 + 11 + 4 + 1 + 4, 4 + 3 + 2);
    let (gather, next) = (17 + 8 + 5 + 1 + 76, 3 + 5);
    let end = 4 + 4 * 3 + 5 + 1;
    // Beyond the face opposite to the first corner it is far for all; two faces are shared; the last is the wing's for two
    // elements, both in the first wavefront, and far for the others.
    let wave = start + 4 * (look + next) + 2 * (boundary + 39) + 2 * gather + end;
    assert_eq!(count(5).instructions, 3 * wave + 3);
    assert_eq!(count(6).instructions, 3 * (4 + 1 + 3 + 6 + 1 + 5 * (3 + 1) + (27 + 7 + 12 + 14 + 3) + 1));
}

#[test]
fn the_mesh_is_near_the_programs_largest() {
    let elements = (6u64 * 34 * 34 * 34).next_multiple_of(192);
    assert_eq!(full_size("cfd").footprint(), 4 * elements * (1 + 4 + 12 + 3 * 5 + 1));
    for (key, value) in [("side", 0), ("side", 401), ("window", 0), ("iterations", 0)] {
        assert_eq!(refused("cfd", &[(key, value)]), key);
    }
}
