//! Encryption against the standard's example and a textbook version, lane by lane.

use crate::lanes::{Lanes, assert_same, base};
use octavo_program::Size;
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::aes::{Aes, Cipher};

/// Products of polynomials, bit by bit.
fn product(a: u8, b: u8) -> u8 {
    (0..8)
        .filter(|bit| b >> bit & 1 == 1)
        .fold(0, |sum, bit| sum ^ (0..bit).fold(a, |a, _| if a & 0x80 == 0 { a << 1 } else { a << 1 ^ 0x1B }))
}

fn substitute(byte: u8) -> u8 {
    let inverse = (0..=255).find(|other| product(byte, *other) == 1).unwrap_or(0);
    (0..8).fold(0x63, |sum, bit| {
        let bits = [0, 4, 5, 6, 7].map(|by| inverse >> ((bit + by) % 8) & 1);
        sum ^ bits.iter().fold(0, |a, b| a ^ b) << bit
    })
}

/// The round keys, one word after another.
fn schedule(key: &[u8; 32]) -> Vec<[u8; 4]> {
    let mut words: Vec<[u8; 4]> = key.chunks(4).map(|word| word.try_into().unwrap()).collect();
    for at in 8..60 {
        let mut word = words[at - 1];
        if at % 8 == 0 {
            word = [word[1], word[2], word[3], word[0]].map(substitute);
            word[0] ^= (1..at / 8).fold(1, |power, _| product(power, 2));
        } else if at % 8 == 4 {
            word = word.map(substitute);
        }
        words.push(std::array::from_fn(|byte| word[byte] ^ words[at - 8][byte]));
    }
    words
}

/// The states that the rounds look up, then the result.
fn states(key: &[u8; 32], block: [u8; 16]) -> Vec<[u8; 16]> {
    let keys: Vec<u8> = schedule(key).concat();
    let add = |state: [u8; 16], round: usize| std::array::from_fn(|at| state[at] ^ keys[16 * round + at]);
    let mut states = vec![add(block, 0)];
    for round in 1..=14 {
        let before = states[round - 1].map(substitute);
        let mut shifted = [0; 16];
        for (row, column) in (0..4).flat_map(|row| (0..4).map(move |column| (row, column))) {
            shifted[4 * column + row] = before[4 * ((column + row) % 4) + row];
        }
        let mut mixed = shifted;
        for at in 0..if round == 14 { 0 } else { 16 } {
            let factors = [2, 3, 1, 1];
            mixed[at] = (0..4).fold(0, |sum, by| sum ^ product(shifted[at / 4 * 4 + (at + by) % 4], factors[by]));
        }
        states.push(add(mixed, round));
    }
    states
}

#[test]
fn the_standards_example_is_encrypted() {
    let key = std::array::from_fn(|at| at as u8);
    let text = std::array::from_fn(|at| at as u8 * 0x11);
    let expected = 0x8EA2_B7CA_5167_45BF_EAFC_4990_4B49_6089_u128.to_be_bytes();
    assert_eq!(Cipher::new(&key).encrypt(text), expected);
    assert_eq!(states(&key, text)[14], expected, "by the textbook");
}

#[test]
fn looks_up_what_every_lane_of_the_kernel_looks_up() {
    for blocks in [1, 64, 300] {
        let aes = Aes::new(blocks, 5);
        let (text, table) = (base(&aes, "text"), base(&aes, "s_box"));
        assert_same(&aes, |_, group, wavefront| {
            let first = u64::from(group) * 256 + u64::from(wavefront) * 64;
            let blocks: Vec<u64> = (first..first + 64).filter(|block| *block < blocks).collect();
            let states: Vec<_> = blocks.iter().map(|block| states(&aes.key(), aes.block(*block))).collect();
            let bytes = || blocks.iter().flat_map(|block| (0..16).map(move |byte| text + 16 * block + byte));
            let mut lanes = Lanes::default();
            lanes.load(bytes());
            for (round, byte) in (0..14).flat_map(|round| (0..16).map(move |byte| (round, byte))) {
                lanes.load(states.iter().map(|states| table + u64::from(states[round][byte])));
            }
            lanes.store(bytes());
            lanes
        });
    }
}

#[test]
fn texts_and_keys_are_drawn_and_the_text_is_of_the_recorded_size() {
    let (one, other) = (Aes::new(8, 1), Aes::new(8, 2));
    assert_ne!(one.block(0), one.block(1));
    assert_ne!((one.block(0), one.key()), (other.block(0), other.key()));
    let workload = WORKLOADS.build(&Choice::named("aes"), &Size { scale: 1.0, seed: 0 }).unwrap();
    assert_eq!(workload.footprint(), (32 << 20) + 15 * 16 + 256);
    assert_eq!(super::refused("aes", &[("blocks", 0)]), "blocks");
}
