//! `tree` against the golden values of the production driver: nvidia-uvm 595.45.04, `uvm_perf_prefetch.c`. Each test
//! names the function whose decision it states.

use crate::harness::script::{Script, gpus};
use crate::reference::{Placement, Prefetch, Rules};
use octavo_manager::Access::Read;

const KIB_4: u64 = 4 << 10;
const KIB_64: u64 = 64 << 10;

/// One GPU and four blocks of 2 MiB.
fn node(page_size: u64, threshold: u32) -> Script {
    let rules = Rules { page_size, prefetch: Prefetch::Tree(threshold), ..Rules::unlimited(2, Placement::OnTouch) };
    let pages = 4 * rules.block_pages();
    Script::new(&rules, pages)
}

/// Which of the first block's pages GPU 0 has.
fn fetched(script: &Script, page_size: u64) -> Vec<u32> {
    (0..(2 << 20) / page_size as u32).filter(|&page| script.resident(page) == gpus(&[0])).collect()
}

fn kib(script: &Script, page_size: u64) -> u64 {
    fetched(script, page_size).len() as u64 * page_size / 1024
}

#[test]
fn grow_fault_granularity_an_isolated_fault_fetches_64_kib() {
    let mut script = node(KIB_4, 51);
    script.read(0, 100);
    assert_eq!(fetched(&script, KIB_4), (96..112).collect::<Vec<_>>());
    let mut script = node(KIB_64, 51);
    script.read(0, 6);
    assert_eq!(fetched(&script, KIB_64), [6]);
}

#[test]
fn compute_prefetch_region_sequential_faults_fetch_64_64_128_256_512_1024_kib() {
    for page_size in [KIB_4, KIB_64] {
        let mut script = node(page_size, 51);
        let mut steps = Vec::new();
        while kib(&script, page_size) < 2048 {
            let before = kib(&script, page_size);
            let next = fetched(&script, page_size).len() as u32;
            script.read(0, next);
            steps.push(kib(&script, page_size) - before);
        }
        assert_eq!(steps, [64, 64, 128, 256, 512, 1024], "{page_size} B pages");
        assert_eq!(script.resident(2048 * 1024 / page_size as u32).first(), Some(octavo_manager::HOST), "next block");
    }
}

#[test]
fn compute_prefetch_region_sixteen_alternate_big_pages_fetch_1024_kib_and_one_more_2048() {
    for page_size in [KIB_4, KIB_64] {
        let big = (64 << 10) / page_size as u32;
        let alternate: Vec<_> = (0..16).map(|index| (0, 2 * index * big)).collect();
        let mut script = node(page_size, 51);
        script.touch(&alternate, Read);
        assert_eq!(kib(&script, page_size), 1024);
        let mut script = node(page_size, 51);
        script.touch(&[alternate, vec![(0, big)]].concat(), Read);
        assert_eq!(kib(&script, page_size), 2048);
    }
}

#[test]
fn threshold_of_one_percent_any_fault_fetches_the_block() {
    for page in [0, 77, 511] {
        let mut script = node(KIB_4, 1);
        script.read(0, page);
        assert_eq!(kib(&script, KIB_4), 2048, "fault on page {page}");
    }
}

/// A fixed sequence of scattered numbers.
fn scattered(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

#[test]
fn compute_prefetch_mask_scattered_single_faults_fill_a_block_after_13_7() {
    let (mut seed, mut faults, blocks) = (1, 0, 100);
    for _ in 0..blocks {
        let mut script = node(KIB_64, 51);
        loop {
            let there = fetched(&script, KIB_64);
            let missing: Vec<u32> = (0..32).filter(|page| !there.contains(page)).collect();
            if missing.is_empty() {
                break;
            }
            script.read(0, missing[scattered(&mut seed) as usize % missing.len()]);
            faults += 1;
        }
    }
    let average = f64::from(faults) / f64::from(blocks);
    assert!((13.2..14.2).contains(&average), "{average} faults a block, 13.7 expected");
}

#[test]
fn update_bitmap_tree_from_va_block_a_ragged_start_counts_as_empty_and_the_block_is_not_left() {
    let rules = Rules { prefetch: Prefetch::Tree(51), ..Rules::unlimited(1, Placement::OnTouch) };
    let mut script = Script::new(&rules, 20);
    script.harness.allocate(20, 100);
    script.read(0, 20);
    // The first 64 KiB boundary inside is page 32: the twelve pages before it are a big page behind four ghosts, of
    // which more than half is there. It begins before the allocation, so it comes from its fifth page on.
    let here = |script: &Script| (20..120).filter(|&page| script.resident(page) == gpus(&[0])).collect::<Vec<_>>();
    assert_eq!(here(&script), [20].into_iter().chain(24..32).collect::<Vec<_>>());
    [21, 22, 23].into_iter().for_each(|page| script.read(0, page));
    assert_eq!(here(&script), (20..32).collect::<Vec<_>>(), "those passed over come one by one");
    script.read(0, 32);
    assert_eq!(here(&script), (20..48).collect::<Vec<_>>(), "28 of 32 pages: nothing more to bring");
    script.read(0, 48);
    assert_eq!(here(&script), (20..80).collect::<Vec<_>>(), "44 of 64 pages are 69 per cent");
    assert!((0..20).all(|page| script.resident(page).contains(octavo_manager::HOST)));
}

#[test]
fn grow_fault_granularity_a_block_without_a_whole_big_page_comes_at_once() {
    let rules = Rules { prefetch: Prefetch::Tree(51), ..Rules::unlimited(1, Placement::OnTouch) };
    let mut script = Script::new(&rules, 4);
    script.harness.allocate(4, 24);
    script.harness.allocate(28, 4);
    script.read(0, 25);
    assert!((4..28).all(|page| script.resident(page) == gpus(&[0])), "big pages would be 0..16 and 16..32");
    assert!([3, 28].into_iter().all(|page| script.resident(page).contains(octavo_manager::HOST)));
}

#[test]
fn pages_of_another_gpu_come_too() {
    let mut script = node(KIB_4, 51);
    script.read(1, 3);
    assert!((0..16).all(|page| script.resident(page) == gpus(&[1])));
    script.read(0, 9);
    assert!((0..16).all(|page| script.resident(page) == gpus(&[0])));
}
