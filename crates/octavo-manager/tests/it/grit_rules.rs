//! The subtle points of GRIT, one by one, as the design page words them. The reference model follows along.

use crate::harness::script::{Script, gpus};
use crate::reference::{Grit, Placement, Rules};
use octavo_manager::Access::{Read, Write};
use octavo_manager::Scheme::{AccessCounter, Duplication, OnTouch};

fn node(gpus: usize, grit: Grit) -> Script {
    Script::new(&Rules::unlimited(gpus, Placement::Grit(grit)), 1536)
}

/// Six GPUs under GRIT as published.
fn grit() -> Script {
    node(6, Grit::default())
}

/// The same without looking at neighbours.
fn without_prediction() -> Script {
    node(6, Grit { prediction: false, ..Grit::default() })
}

mod initiator {
    use super::*;

    #[test]
    fn the_cold_fault_is_the_first_and_the_fourth_decides() {
        let mut script = grit();
        for gpu in [0, 1, 0] {
            script.read(gpu, 7);
            assert_eq!(script.scheme(7), OnTouch);
            assert_eq!(script.resident(7), gpus(&[gpu]), "on-touch migrates");
        }
        script.read(1, 7);
        assert_eq!(script.scheme(7), Duplication);
        assert_eq!(script.resident(7), gpus(&[0, 1]), "the deciding fault is served under the new scheme");
    }

    #[test]
    fn the_threshold_can_be_chosen() {
        for threshold in 1..=8 {
            let mut script = node(2, Grit { threshold, ..Grit::default() });
            for fault in 1..threshold {
                script.write(fault as usize % 2, 0);
                assert_eq!(script.scheme(0), OnTouch, "fault {fault} of {threshold}");
            }
            script.write(threshold as usize % 2, 0);
            assert_eq!(script.scheme(0), AccessCounter);
        }
    }

    #[test]
    fn one_write_among_the_faults_is_enough_whenever_it_came() {
        for written in 0..4 {
            let mut script = grit();
            for fault in 0..4 {
                script.touch(&[(fault % 2, 3)], if fault == written { Write } else { Read });
            }
            assert_eq!(script.scheme(3), AccessCounter, "write {written}");
        }
    }

    #[test]
    fn a_private_page_is_never_decided() {
        let mut script = grit();
        (0..20).for_each(|_| script.write(0, 5));
        assert_eq!(script.scheme(5), OnTouch);
        assert_eq!(script.statistics().named("pa_table_reads").unwrap(), 1, "it faulted once");
    }

    #[test]
    fn the_write_bit_is_forgotten_with_the_entry() {
        let mut script = grit();
        script.fight(0, Write);
        assert_eq!(script.scheme(0), AccessCounter);
        // Each of the other GPUs faults once, to map it remotely: four reads.
        (2..6).for_each(|gpu| script.read(gpu, 0));
        assert_eq!(script.scheme(0), Duplication);
    }

    #[test]
    fn protection_faults_count_like_far_faults() {
        let mut script = without_prediction();
        script.fight(0, Read);
        script.write(1, 0); // protection fault: collapses
        script.read(0, 0);
        script.write(1, 0); // again
        assert_eq!((script.scheme(0), script.statistics().protection_faults), (Duplication, 2));
        script.read(0, 0);
        assert_eq!(script.scheme(0), AccessCounter);
    }

    #[test]
    fn mapping_remotely_counts_too() {
        let mut script = grit();
        script.fight(0, Write);
        (2..5).for_each(|gpu| script.read(gpu, 0));
        assert_eq!(script.scheme(0), AccessCounter, "three mapping faults");
        script.write(5, 0);
        assert_eq!(
            script.statistics().named("scheme_changes.unchanged").unwrap(),
            1,
            "the fourth decides, for the same"
        );
    }
}

mod transitions {
    use super::*;

    #[test]
    fn entering_duplication_takes_remote_mappings_and_the_owners_right_to_write() {
        let mut script = grit();
        script.fight(0, Write);
        [2, 3, 4].into_iter().for_each(|gpu| script.read(gpu, 0));
        assert_eq!((script.resident(0), script.mapped(0)), (gpus(&[0]), gpus(&[0, 1, 2, 3, 4])));
        script.read(5, 0);
        assert_eq!(script.scheme(0), Duplication);
        assert_eq!((script.resident(0), script.mapped(0)), (gpus(&[0, 5]), gpus(&[0, 5])));
        assert!(script.writable(0).is_empty());
    }

    #[test]
    fn leaving_duplication_removes_every_replica() {
        let mut script = without_prediction();
        script.fight(0, Read);
        script.read(2, 0);
        script.read(3, 0);
        script.read(4, 0);
        assert_eq!(script.resident(0), gpus(&[0, 1, 2, 3, 4]));
        script.write(2, 0); // the fourth fault since, and a write
        assert_eq!(script.scheme(0), AccessCounter);
        assert_eq!(script.resident(0).len(), 1);
        assert!(script.mapped(0).len() <= 2, "only the copy's holder and the writer: {:?}", script.mapped(0));
        assert!(script.writable(0).contains(octavo_manager::ProcessorId::gpu(2)));
    }

    #[test]
    fn a_write_collapses_and_readers_replicate_again() {
        let mut script = without_prediction();
        script.fight(0, Read);
        script.write(0, 0);
        assert_eq!((script.resident(0), script.writable(0)), (gpus(&[0]), gpus(&[0])));
        script.read(1, 0);
        assert_eq!((script.resident(0), script.writable(0)), (gpus(&[0, 1]), gpus(&[])));
    }

    #[test]
    fn a_counter_moves_the_page_and_maps_only_who_asked() {
        let mut script = grit();
        script.fight(0, Write);
        script.read(2, 0);
        script.read(3, 0);
        script.counter(3, 0);
        assert_eq!((script.resident(0), script.mapped(0)), (gpus(&[3]), gpus(&[3])));
        assert_eq!(script.statistics().counter_migrations, 1);
    }
}

mod prediction {
    use super::*;

    #[test]
    fn takes_at_least_five_of_eight_the_page_included() {
        let mut script = grit();
        (8..12).for_each(|page| script.fight(page, Read));
        assert_eq!((script.scheme(12), script.group(8)), (OnTouch, 1), "four are not enough");
        script.fight(14, Read);
        assert!((8..16).all(|page| script.scheme(page) == Duplication));
        assert_eq!((script.group(8), script.statistics().named("predictions").unwrap()), (8, 3));
        assert!([7, 16].into_iter().all(|page| script.scheme(page) == OnTouch), "the neighbours beyond");
    }

    #[test]
    fn counts_only_pages_of_the_same_scheme() {
        let mut script = grit();
        (0..4).for_each(|page| script.fight(page, Read));
        (4..8).for_each(|page| script.fight(page, Write));
        assert_eq!((script.group(0), script.statistics().named("predictions").unwrap()), (1, 0), "four against four");
        assert_eq!((script.scheme(0), script.scheme(7)), (Duplication, AccessCounter));
    }

    #[test]
    fn moves_no_page_and_touches_no_mapping() {
        let mut script = grit();
        script.read(2, 5);
        script.write(3, 6);
        (0..5).for_each(|page| script.fight(page, Read));
        assert_eq!((script.scheme(5), script.scheme(6), script.scheme(7)), (Duplication, Duplication, Duplication));
        assert_eq!((script.resident(5), script.mapped(5), script.writable(5)), (gpus(&[2]), gpus(&[2]), gpus(&[2])));
        assert_eq!((script.resident(6), script.writable(6)), (gpus(&[3]), gpus(&[3])));
        assert!(script.mapped(7).is_empty());
    }

    #[test]
    fn is_followed_at_the_next_fault_without_waiting_for_the_threshold() {
        let mut script = grit();
        script.read(2, 5);
        (0..5).for_each(|page| script.fight(page, Read));
        script.read(3, 5);
        assert_eq!(script.resident(5), gpus(&[2, 3]), "duplicated at its second fault");
    }

    #[test]
    fn leaves_fault_counters_and_write_bits_alone() {
        let mut script = grit();
        script.write(2, 5);
        script.read(3, 5);
        script.read(2, 5);
        (0..5).for_each(|page| script.fight(page, Read));
        assert_eq!(script.scheme(5), Duplication, "predicted after three faults");
        script.read(4, 5);
        assert_eq!(script.scheme(5), AccessCounter, "its fourth fault decides, and the first was a write");
    }

    #[test]
    fn a_page_predicted_access_counter_while_replicated_collapses_at_its_next_fault() {
        let mut script = grit();
        script.fight(7, Read);
        script.read(2, 7);
        assert_eq!(script.resident(7), gpus(&[0, 1, 2]));
        (0..5).for_each(|page| script.fight(page, Write));
        assert_eq!((script.scheme(7), script.resident(7)), (AccessCounter, gpus(&[0, 1, 2])), "not before");
        script.read(3, 7);
        assert_eq!(script.resident(7).len(), 1);
        assert!(script.mapped(7).contains(octavo_manager::ProcessorId::gpu(3)));
        assert_eq!(script.statistics().replicas_left, 1);
    }

    #[test]
    fn can_be_switched_off() {
        let mut script = without_prediction();
        (0..8).for_each(|page| script.fight(page, Read));
        assert_eq!((script.group(0), script.statistics().named("predictions").unwrap()), (1, 0));
    }
}

mod groups {
    use super::*;

    /// Decides five of each eight pages, of five of each eight spans of them, up to `pages`.
    fn decide(script: &mut Script, base: u32, pages: u32) {
        let chosen = (0..pages).filter(|page| [page % 8, page / 8 % 8, page / 64].iter().all(|&digit| digit < 5));
        chosen.for_each(|page| script.fight(base + page, Read));
    }

    #[test]
    fn grow_from_8_to_64_to_512_and_not_beyond() {
        let mut script = grit();
        decide(&mut script, 0, 32);
        assert_eq!([0, 8, 16, 24, 32].map(|page| script.group(page)), [8, 8, 8, 8, 1], "four of eight spans");
        decide(&mut script, 0, 64);
        assert_eq!([0, 8, 32, 56, 64].map(|page| script.group(page)), [64, 1, 1, 1, 1]);
        assert_eq!((script.scheme(63), script.scheme(64)), (Duplication, OnTouch));
        decide(&mut script, 0, 512);
        assert_eq!([0, 64, 448].map(|page| script.group(page)), [512, 1, 1]);
        assert_eq!((script.scheme(511), script.scheme(512)), (Duplication, OnTouch));
        decide(&mut script, 512, 512);
        assert_eq!([0, 512, 1024].map(|page| script.group(page)), [512, 512, 1], "not beyond a page-table page");
    }

    #[test]
    fn grow_only_from_whole_groups_of_the_size_below() {
        let mut script = grit();
        (0..4).for_each(|span| decide(&mut script, 8 * span, 8));
        (32..36).for_each(|page| script.fight(page, Read));
        assert_eq!([0, 8, 16, 24, 32].map(|page| script.group(page)), [8, 8, 8, 8, 1]);
        script.fight(36, Read);
        assert_eq!(script.group(0), 64);
    }

    #[test]
    fn a_base_page_does_not_speak_for_pages_that_are_no_group() {
        let mut script = grit();
        (0..3).for_each(|span| decide(&mut script, 8 * span, 8));
        [24, 40].into_iter().for_each(|page| script.fight(page, Read));
        decide(&mut script, 32, 8);
        assert_eq!([0, 8, 16, 24, 32, 40].map(|page| script.group(page)), [8, 8, 8, 1, 8, 1], "four of eight");
    }

    #[test]
    fn growing_overrules_what_the_minority_had() {
        let mut script = grit();
        (0..3).for_each(|page| script.fight(page, Write));
        (3..8).for_each(|page| script.fight(page, Read));
        assert!((0..8).all(|page| script.scheme(page) == Duplication));
    }

    #[test]
    fn split_one_level_at_a_time_around_the_page_that_left() {
        let mut script = grit();
        decide(&mut script, 0, 512);
        assert_eq!(script.group(0), 512);
        let split_before = script.statistics().named("groups_split").unwrap();
        script.fight(100, Write);
        assert_eq!(script.scheme(100), AccessCounter);
        assert!((0..512).filter(|&page| page != 100).all(|page| script.scheme(page) == Duplication));
        assert_eq!(
            [0, 64, 128, 192, 256, 320, 384, 448].map(|page| script.group(page)),
            [64, 8, 64, 64, 64, 64, 64, 64]
        );
        assert_eq!([72, 80, 88, 96, 104, 112, 120].map(|page| script.group(page)), [8, 8, 8, 1, 8, 8, 8]);
        assert!((96..104).all(|page| script.group(page) == 1));
        assert_eq!(script.statistics().named("groups_split").unwrap() - split_before, 3);
    }

    /// Seven pages of one scheme on their own: a group of eight that one page left.
    fn seven_of_eight(with: octavo_manager::Access, left: octavo_manager::Access) -> Script {
        let mut script = grit();
        (0..5).for_each(|page| script.fight(page, with));
        assert_eq!(script.group(0), 8);
        // Prediction left its counter alone: the page needs four faults of its own.
        (2..6).for_each(|gpu| script.touch(&[(gpu, 7)], left));
        assert_eq!(script.group(0), 1);
        script
    }

    #[test]
    fn access_counter_again_starts_no_group_check() {
        let mut script = seven_of_eight(Write, Read);
        assert_eq!((script.scheme(0), script.scheme(7)), (AccessCounter, Duplication));
        (2..6).for_each(|gpu| script.write(gpu, 0));
        assert_eq!(script.statistics().named("scheme_changes.unchanged").unwrap(), 1);
        assert_eq!((script.group(0), script.scheme(7)), (1, Duplication));
    }

    #[test]
    fn duplication_again_starts_no_group_check() {
        let mut script = seven_of_eight(Read, Write);
        assert_eq!((script.scheme(0), script.scheme(7)), (Duplication, AccessCounter));
        (2..6).for_each(|gpu| script.read(gpu, 0));
        assert_eq!(script.statistics().named("scheme_changes.unchanged").unwrap(), 1);
        assert_eq!((script.group(0), script.scheme(7)), (1, AccessCounter));
    }
}

mod pa_cache {
    use super::*;

    /// Hits, misses, reads and writes of the table so far.
    fn counts(script: &Script) -> [u64; 4] {
        let found = script.statistics();
        [
            found.named("pa_cache_hits").unwrap(),
            found.named("pa_cache_misses").unwrap(),
            found.named("pa_table_reads").unwrap(),
            found.named("pa_table_writes").unwrap(),
        ]
    }

    #[test]
    fn a_set_holds_four_pages_whose_numbers_agree_in_the_low_four_bits() {
        let mut script = without_prediction();
        [0, 16, 32, 48].into_iter().for_each(|page| script.read(0, page));
        assert_eq!(counts(&script), [0, 4, 4, 0], "each miss reads the table, new entries are in the cache only");
        script.read(0, 1);
        assert_eq!(counts(&script), [0, 5, 5, 0], "another set");
        [0, 16, 32, 48].into_iter().for_each(|page| script.read(1, page));
        assert_eq!(counts(&script), [4, 5, 5, 0], "a hit costs nothing");
    }

    #[test]
    fn the_least_recently_used_is_written_back_and_found_again() {
        let mut script = without_prediction();
        [0, 16, 32, 48].into_iter().for_each(|page| script.read(0, page));
        script.write(1, 0); // now 16 is the oldest
        script.read(0, 64);
        assert_eq!(counts(&script), [1, 5, 5, 1], "16 is written back");
        script.read(1, 16);
        assert_eq!(counts(&script), [1, 6, 6, 2], "16 is read back, 32 written");
        script.read(0, 0);
        assert_eq!(counts(&script), [2, 6, 6, 2], "0 never left");
        script.read(0, 16);
        script.read(1, 16);
        assert_eq!(script.scheme(16), Duplication, "the counter survived the way out and back");
    }

    #[test]
    fn the_write_bit_survives_the_way_out_and_back() {
        let mut script = without_prediction();
        script.write(0, 0);
        [16, 32, 48, 64].into_iter().for_each(|page| script.read(0, page));
        assert_eq!(counts(&script), [0, 5, 5, 1]);
        [1, 0, 1].into_iter().for_each(|gpu| script.read(gpu, 0));
        assert_eq!(script.scheme(0), AccessCounter);
    }

    #[test]
    fn a_decision_frees_the_entrys_way() {
        let mut script = without_prediction();
        script.fight(0, Read);
        [16, 32, 48, 64].into_iter().for_each(|page| script.read(0, page));
        assert_eq!(counts(&script), [3, 5, 5, 0], "nothing has to be written back");
    }

    #[test]
    fn without_it_every_fault_reads_and_writes_the_table() {
        let mut script = node(2, Grit { cached: false, ..Grit::default() });
        [0, 1, 0].into_iter().for_each(|gpu| script.read(gpu, 0));
        assert_eq!(counts(&script), [0, 3, 3, 3]);
    }

    #[test]
    fn plans_carry_what_was_accessed() {
        let mut script = without_prediction();
        (0..6).for_each(|index| script.read(0, 16 * index));
        let [_, _, reads, writes] = counts(&script);
        assert_eq!((script.harness.metadata, reads + writes), (8, 8));
    }
}
