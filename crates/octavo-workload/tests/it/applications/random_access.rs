//! Random access against the program's own indices.

use octavo_workload::kernels::random_access::RandomAccess;

use super::{LANES, refused};
use crate::lanes::{Lanes, assert_same, base, launch_totals, touched};

#[test]
fn every_hundredth_thread_reads_and_writes_a_word() {
    for words in [1, 100, 5000] {
        let found = RandomAccess::new(words, 3);
        assert_same(&found, |_, group, wavefront| {
            let first = u64::from(group) * 256 + u64::from(wavefront) * LANES;
            let active: Vec<u64> = (first..first + LANES).filter(|x| *x < words && x % 100 == 0).collect();
            let of = |buffer: &str, index: u64| base(&found, buffer) + 4 * index;
            let mut lanes = Lanes::default();
            lanes.load(active.iter().map(|&x| of("input", x)));
            lanes.load(active.iter().map(|&x| of("table", found.target(x))));
            lanes.store(active.iter().map(|&x| of("output", found.target(x))));
            lanes
        });
        let active = words.div_ceil(100);
        assert_eq!(launch_totals(&found, 0).vector_memory, 3 * active);
    }
}

#[test]
fn words_are_spread_over_the_whole_array_and_differ_by_seed() {
    let words = 1 << 16;
    let found = RandomAccess::new(words, 3);
    let (lines, all) = (touched(&found, "table", false).len(), (words * 4 / 64) as usize);
    assert!(lines > all / 10 && lines < all / 5, "{lines} of {all}");
    let highest = (0..words).map(|thread| found.target(thread)).max().unwrap();
    assert!(highest > words - 10 && highest < words);
    let other = RandomAccess::new(words, 4);
    assert!((0..100).any(|thread| found.target(thread) != other.target(thread)));
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(refused("random-access", &[("words", 0)]), "words");
    assert_eq!(refused("random-access", &[("words", (1 << 31) + 1)]), "words");
}
