//! Mosaic's applications against lane-by-lane models of their kernels, and against counts derived by hand.

mod bfs_rodinia;
mod blk;
mod bp;
mod cfd;
mod cons;
mod fft;
mod fwt;
mod gups;
mod histo;
mod hs;
mod libor;
mod lps;
mod lud;
mod nearestneighbor;
mod nw;
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

/// Footprints in MiB: published ones, or the ones that docs/applications.md records as chosen.
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
    ];
    for (name, megabytes) in expected {
        // Blocks make smaller ones less exact.
        for (scale, tolerance) in [(1.0, 0.001), (0.25, 0.06), (0.0625, 0.06)] {
            let found = sized(name, scale).footprint() as f64 / f64::from(1 << 20);
            assert!((found / (megabytes * scale) - 1.0).abs() < tolerance, "{name} at {scale} has {found} MiB");
        }
    }
}
