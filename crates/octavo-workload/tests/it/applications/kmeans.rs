//! Clustering against a lane-by-lane model of its kernels, and against Lloyd's algorithm in plain words.

use super::{refused, sized};
use crate::lanes::{Lanes, assert_same, base};
use octavo_program::Workload;
use octavo_workload::kernels::kmeans::{Kmeans, Points};

#[test]
fn touches_what_every_lane_of_the_kernels_touches() {
    for (points, features, clusters) in [(200u64, 3u64, 4u32), (64, 34, 5), (1, 1, 1)] {
        let all = Kmeans::new(Points::around((points as usize, features as usize), clusters, 3), clusters, 4);
        let [rows, turned, centres, membership] =
            ["features", "features_swapped", "clusters", "membership"].map(|name| base(&all, name));
        assert!(centres > turned, "centres are loaded by the scalar unit alone");
        assert_same(&all, |launch, group, _| {
            let first = u64::from(group) * 64;
            let threads = || first..points.min(first + 64);
            let mut lanes = Lanes::default();
            if launch == 0 {
                for feature in 0..features {
                    lanes.load(threads().map(|point| rows + 4 * (point * features + feature)));
                    lanes.store(threads().map(|point| turned + 4 * (feature * points + point)));
                }
                return lanes;
            }
            for feature in (0..clusters).flat_map(|_| 0..features) {
                lanes.load(threads().map(|point| turned + 4 * (feature * points + point)));
            }
            lanes.store(threads().map(|point| membership + 4 * point));
            lanes
        });
    }
}

/// Points on a line: two clusters that begin at 0 and 1 and part at 5 in the end.
#[test]
fn points_on_a_line_are_parted_by_hand() {
    let line = || Points::new(1, vec![0.0, 1.0, 2.0, 9.0, 10.0, 11.0]);
    let all = Kmeans::new(line(), 2, 500);
    // From 0 and 1: {0}, rest; from 0 and 6.6: three each; from 1 and 10: the same, so it ends.
    assert_eq!((all.membership(), all.centres()), (&[0, 0, 0, 1, 1, 1][..], &[1.0, 10.0][..]));
    assert_eq!(all.launches(), 1 + 3);
    let cut = Kmeans::new(line(), 2, 1);
    assert_eq!((cut.membership(), cut.launches()), (&[0, 1, 1, 1, 1, 1][..], 2));
}

#[test]
fn every_point_is_in_its_nearest_cluster_and_every_centre_is_the_mean_of_its_points() {
    let points = Points::around((2000, 4), 3, 8);
    let all = Kmeans::new(points.clone(), 3, 500);
    assert!((4..500).contains(&all.launches()), "{} launches", all.launches());
    let point = |index: usize| &points.values()[4 * index..][..4];
    let centre = |cluster: usize| &all.centres()[4 * cluster..][..4];
    for (index, &cluster) in all.membership().iter().enumerate() {
        let distance = |other: usize| point(index).iter().zip(centre(other)).map(|(a, b)| (a - b).powi(2)).sum::<f32>();
        assert!((0..3).all(|other| distance(cluster as usize) <= distance(other) + 1e-6), "point {index}");
    }
    for cluster in 0..3 {
        let own: Vec<usize> = (0..2000).filter(|&index| all.membership()[index] == cluster as u32).collect();
        for feature in 0..4 {
            let mean = own.iter().map(|&index| f64::from(point(index)[feature])).sum::<f64>() / own.len() as f64;
            assert!((mean - f64::from(centre(cluster)[feature])).abs() < 1e-5, "cluster {cluster}");
        }
    }
}

#[test]
fn the_host_writes_centres_and_reads_memberships_in_turns() {
    let all = Kmeans::new(Points::new(1, vec![0.0, 1.0, 2.0, 9.0, 10.0, 11.0]), 2, 500);
    let side = all.host_side();
    let said: Vec<_> = side.exchanges().iter().map(|one| (one.before, one.buffer, one.writes)).collect();
    assert_eq!(said, [(1, 2, true), (2, 3, false), (2, 2, true), (3, 3, false), (3, 2, true), (4, 3, false)]);
}

#[test]
fn the_size_is_the_recorded_one_and_options_are_checked() {
    let found = sized("kmeans", 1.0 / 64.0).footprint() as f64 / f64::from(1 << 14);
    assert!((found / 48.0 - 1.0).abs() < 0.001, "{found} MiB");
    for (key, value) in [("points", 0), ("features", 0), ("clusters", 257), ("rounds", 501)] {
        assert_eq!(refused("kmeans", &[(key, value)]), key);
    }
    assert_eq!(refused("kmeans", &[("points", 1 << 26), ("features", 65)]), "features");
}
