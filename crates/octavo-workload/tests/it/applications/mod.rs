//! Applications of the Mosaic, Grace Hopper and MemMap studies against lane-by-lane models of their kernels, and against
//! counts derived by hand.

mod aes;
mod alignment;
mod atax;
mod background;
mod bfs_rodinia;
mod blk;
mod bp;
mod bst;
mod cfd;
mod cons;
mod dijkstra;
mod evolution;
mod fdtd2d;
mod fft;
mod fwt;
mod gups;
mod histo;
mod hs;
mod kmeans;
mod libor;
mod lps;
mod lud;
mod nearestneighbor;
mod nw;
mod pathfinder;
mod quantum_volume;
mod random_access;
mod red;
mod sad;
mod scan;
mod scp;
mod spmv;
mod srad;
mod stencil3d;
mod streamcluster;
mod trd;

use octavo_program::{Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;

/// Threads of a wavefront.
const LANES: u64 = 64;

/// The registered application at its published or chosen size.
fn full_size(name: &str) -> Box<dyn Workload> {
    sized(name, 1.0)
}

fn sized(name: &str, scale: f64) -> Box<dyn Workload> {
    WORKLOADS.build(&Choice::named(name), &Size { scale, seed: 7 }).unwrap()
}

/// The key that is to blame when `options` are given.
fn refused(name: &str, options: &[(&str, u64)]) -> String {
    let mut choice = Choice::named(name);
    choice.options.extend(options.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())));
    WORKLOADS.build(&choice, &Size { scale: 0.01, seed: 7 }).err().map_or_else(String::new, |error| error.key)
}

/// Footprints in MiB: published ones, or the ones that docs/workloads.md records as chosen.
#[test]
fn footprints_follow_the_scale() {
    let expected = [
        ("trd", 96.0),
        ("red", 64.0),
        ("scan", 128.0),
        ("scp", 8.0),
        ("blk", 40.0),
        ("fwt", 64.0),
        ("cons", 108.0),
        ("hs", 12.0),
        ("3ds", 128.0),
        ("fft", 96.0),
        ("lps", 128.0),
        ("srad", 96.0),
        ("pathfinder", 38.53),
        ("atax", 5.507),
        ("fdtd2d", 16.49),
        ("random-access", 12.0),
        ("dijkstra", 29.0),
    ];
    for (name, megabytes) in expected {
        // Blocks make smaller ones less exact.
        for (scale, tolerance) in [(1.0, 0.001), (0.25, 0.06), (0.0625, 0.06)] {
            let found = sized(name, scale).footprint() as f64 / f64::from(1 << 20);
            assert!((found / (megabytes * scale) - 1.0).abs() < tolerance, "{name} at {scale} has {found} MiB");
        }
    }
}

/// Footprints in GiB of the inputs of the Grace Hopper study, from the published sizes by hand.
#[test]
fn the_input_of_a_study_is_of_its_size() {
    let gib = |bytes: f64| bytes / f64::from(1 << 30);
    let expected = [
        ("hs", 3.0 * 4.0 * 16384.0 * 16384.0),
        ("nw", 3.0 * 4.0 * 32769.0 * 32769.0),
        ("srad", 6.0 * 4.0 * 20480.0 * 20480.0),
        ("pathfinder", 4.0 * 100_000.0 * (19_999.0 + 2.0)),
    ];
    for (name, bytes) in expected {
        let found = studied(name, 1.0).footprint() as f64;
        assert!((found / bytes - 1.0).abs() < 1e-9, "{name} has {} GiB", gib(found));
        let found = studied(name, 1.0 / 256.0).footprint() as f64 * 256.0;
        assert!((found / bytes - 1.0).abs() < 0.02, "{name} has {} GiB, scaled", gib(found));
    }
    // 16 million nodes, six edges each: at a thousandth, 16,000 of 8 + 4 + 3 bytes and their edges.
    let nodes = 16_000.0;
    let found = studied("bfs-rodinia", 0.001).footprint() as f64;
    assert!((found / (nodes * (15.0 + 24.0)) - 1.0).abs() < 0.01, "bfs-rodinia has {found} bytes");
    assert_eq!(full_size("quantum-volume").buffers()[0].bytes, 8 << 30);
}

/// What a study says in addition to sizes becomes a default, which a given value overrides.
#[test]
fn the_input_of_a_study_decides_defaults_alone() {
    let launches = |name, options: &[(&str, serde_json::Value)]| {
        let mut choice = Choice::named(name);
        choice.options.extend(options.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        WORKLOADS.build(&choice, &Size { scale: 0.001, seed: 7 }).unwrap().launches()
    };
    let study = || ("input", "grace-hopper".into());
    assert_eq!(launches("hs", &[]), 30);
    assert_eq!(launches("hs", &[study()]), 1);
    assert_eq!(launches("hs", &[study(), ("steps", 10.into())]), 5);
    assert_eq!(launches("srad", &[]), 4);
    assert_eq!(launches("srad", &[study()]), 1 + 24);
    assert_eq!(launches("srad", &[study(), ("initialised_by", "host".into()), ("iterations", 3.into())]), 6);
}

fn studied(name: &str, scale: f64) -> Box<dyn Workload> {
    let mut choice = Choice::named(name);
    choice.options.insert("input".to_owned(), "grace-hopper".into());
    WORKLOADS.build(&choice, &Size { scale, seed: 7 }).unwrap()
}
