//! Every call of the driver fails, each in turn: nothing is lost, and nothing leaks.

use std::collections::{BTreeMap, BTreeSet};

use octavo_manager::Random;
use octavo_tier::{Failing, Held, StandIn, Tier, TierError};
use octavo_units::Bytes;

use crate::{PIECE, content, parts};

/// A program that tries again whatever fails, and knows what must be where.
struct Program {
    tier: Tier,
    driver: StandIn,
    expected: BTreeMap<u64, Vec<u8>>,
    stores: u64,
    failed: u32,
}

const BYTES: u64 = 2 * PIECE;
/// What a program asks for again and again; our choice: where one call in four fails, it is granted before.
const MOST: u32 = 30;

impl Program {
    fn again<T>(&mut self, mut work: impl FnMut(&mut Tier) -> Result<T, TierError>) -> T {
        for _ in 0..MOST {
            match work(&mut self.tier) {
                Ok(answer) => return answer,
                Err(error) => {
                    assert!(error.to_string().contains("cu"), "the call is named: {error}");
                    self.failed += 1;
                }
            }
            self.check();
        }
        panic!("it fails for ever")
    }

    /// What buffers hold is what was stored.
    fn check(&mut self) {
        let calls = self.driver.calls();
        for (&buffer, expected) in &self.expected {
            let mut found = vec![0; expected.len()];
            // The call that fails may be one of these.
            let read = (0..MOST).find_map(|_| self.tier.read(buffer, 0, &mut found).ok());
            read.expect("it can be read");
            assert!(found == *expected, "buffer {buffer} lost something, after {calls} calls");
        }
    }

    /// Kernels of its own device find a buffer wherever it is.
    fn check_reach(&self) {
        for (buffer, expected) in &self.expected {
            let device = self.tier.buffers()[buffer].device;
            let found = self.driver.load(device, self.tier.address(*buffer, device).unwrap(), BYTES as usize);
            assert!(found.expect("it is mapped") == *expected);
        }
    }

    fn allocate(&mut self, device: usize) -> u64 {
        let buffer = self.again(|tier| tier.allocate(BYTES, device, ""));
        self.expected.insert(buffer, vec![0; BYTES as usize]);
        buffer
    }

    /// A kernel changes all that it uses.
    fn launch(&mut self, device: usize, buffers: &[u64]) {
        self.again(|tier| tier.before_launch(device, buffers));
        for &buffer in buffers {
            let address = self.tier.address(buffer, device).unwrap();
            let found = self.driver.load(device, address, BYTES as usize).expect("it is mapped");
            assert!(found == self.expected[&buffer], "a kernel finds something else");
            self.stores += 1;
            let stored = content(self.stores, BYTES);
            assert!(self.driver.store(device, address, &stored));
            self.expected.insert(buffer, stored);
        }
        self.check();
    }

    fn free(&mut self, buffer: u64) {
        self.expected.remove(&buffer);
        self.again(|tier| tier.free(buffer));
    }
}

/// Pieces go everywhere: to neighbours and back, to the host, from a device that yields, and away. The number of calls.
fn play(failing: Failing, mapped: bool) -> (u64, u32) {
    println!("{failing:?}, mapped: {mapped}");
    let (driver, settings) = parts(&[4, 4], 24, mapped);
    // A tier that is made of many calls is not made if some always fail.
    let while_it_opens = if matches!(failing, Failing::OneIn(..)) { Failing::Never } else { failing };
    driver.fail(while_it_opens);
    let mut opened = Tier::over(Box::new(driver.clone()), &settings);
    let failed = u32::from(opened.is_err());
    if failed > 0 {
        drop(opened);
        assert_eq!(driver.held(), Held::default(), "a tier that was not opened has nothing");
        opened = Tier::over(Box::new(driver.clone()), &settings);
    }
    if while_it_opens != failing {
        driver.fail(failing);
    }
    let (stores, expected) = (0, BTreeMap::new());
    let mut program = Program { tier: opened.unwrap(), driver: driver.clone(), expected, stores, failed };
    let [a, b, c] = [0; 3].map(|device| program.allocate(device));
    let d = program.allocate(1);
    program.launch(0, &[a, b]);
    program.launch(0, &[b, c]);
    program.launch(1, &[d]);
    program.again(|tier| tier.yield_memory(1, Bytes(2 * PIECE)));
    program.launch(0, &[a, c]);
    program.free(b);
    program.again(|tier| tier.take_memory(1, Bytes(4 * PIECE)));
    // It may be written in part.
    let mut written = program.expected.remove(&d).unwrap();
    written[PIECE as usize / 2..][..PIECE as usize].fill(1);
    program.again(|tier| tier.write(d, PIECE / 2, &[1; PIECE as usize]));
    program.expected.insert(d, written);
    program.launch(1, &[d, a]);
    if mapped {
        program.check_reach();
    }
    program.again(|tier| tier.yield_memory(0, Bytes(0)));
    assert_eq!(driver.used(0), 0);
    program.check();
    program.expected.clear();
    program.again(Tier::close);
    let Program { tier, failed, .. } = program;
    drop(tier);
    let calls = driver.calls();
    assert_eq!(driver.held(), Held::default(), "{failing:?}");
    (calls, failed)
}

#[test]
fn whichever_call_fails_nothing_is_lost_and_nothing_leaks() {
    for mapped in [false, true] {
        let (calls, failed) = play(Failing::Never, mapped);
        assert_eq!(failed, 0);
        let mut noticed = 0;
        for number in 0..calls {
            noticed += u32::from(play(Failing::At(number), mapped).1 > 0);
        }
        assert!(calls > 200, "the program does little: {calls} calls");
        assert!(noticed > 10, "calls that plans do not make fail for the program: {noticed}");
    }
}

#[test]
fn where_one_call_in_a_few_fails_nothing_is_lost_and_nothing_leaks() {
    for mapped in [false, true] {
        for seed in 0..60 {
            play(Failing::OneIn(4 + seed % 20, seed), mapped);
        }
    }
}

/// What comes next is drawn: buffers come and go, are used here and there, and devices yield and take.
fn play_at_random(seed: u32, failing: Failing, mapped: bool) {
    println!("seed {seed}, {failing:?}, mapped: {mapped}");
    let (mut random, most) = (Random::new(seed), [5, 3, 4]);
    let (driver, settings) = parts(&most, 20, mapped);
    let tier = Tier::over(Box::new(driver.clone()), &settings).unwrap();
    driver.fail(failing);
    let mut program = Program { tier, driver: driver.clone(), expected: BTreeMap::new(), stores: 0, failed: 0 };
    let mut room = most;
    for _ in 0..60 {
        let device = random.below(3) as usize;
        let all: Vec<u64> = program.expected.keys().copied().collect();
        let any = |random: &mut Random| all[random.below(all.len() as u32) as usize];
        match random.below(8) {
            0 | 1 if all.len() < 9 => _ = program.allocate(device),
            2 if !all.is_empty() => program.free(any(&mut random)),
            3 => {
                room[device] = room[device].min(u64::from(random.below(most[device] as u32 + 1)));
                program.again(|tier| tier.yield_memory(device, Bytes(room[device] * PIECE)));
                assert!(driver.used(device) <= room[device] * PIECE);
            }
            4 => {
                room[device] = most[device];
                program.again(|tier| tier.take_memory(device, Bytes(most[device] * PIECE)));
            }
            _ if !all.is_empty() => {
                let used = BTreeSet::from([any(&mut random), any(&mut random)]);
                if mapped || 2 * used.len() as u64 <= room[device] {
                    program.launch(device, &used.into_iter().collect::<Vec<_>>());
                }
            }
            _ => {}
        }
        if mapped {
            program.check_reach();
        }
    }
    program.expected.clear();
    program.again(Tier::close);
    assert_eq!(driver.held(), Held::default());
}

#[test]
fn random_programs_find_what_they_stored_and_devices_get_their_memory_back() {
    for seed in 0..60 {
        for mapped in [false, true] {
            play_at_random(seed, Failing::Never, mapped);
            play_at_random(seed, Failing::OneIn(12 + seed % 30, seed), mapped);
        }
    }
}

#[test]
fn a_call_that_always_fails_is_named_and_contents_stay() {
    for call in ["cuMemMap", "cuMemSetAccess", "cuMemUnmap", "cuMemcpyAsync", "cuStreamSynchronize", "cuCtxSynchronize"]
    {
        let (driver, settings) = parts(&[2], 8, false);
        let mut tier = Tier::over(Box::new(driver.clone()), &settings).unwrap();
        let buffers = [0, 1].map(|_| tier.allocate(BYTES, 0, "").unwrap());
        for buffer in buffers {
            tier.write(buffer, 0, &content(buffer, BYTES)).unwrap();
        }
        driver.fail(Failing::Always(call));
        let refused = tier.before_launch(0, &[buffers[0]]).unwrap_err().to_string();
        assert!(refused.contains(call), "{call}: {refused}");
        _ = tier.yield_memory(0, Bytes(0));
        driver.fail(Failing::Never);
        for buffer in buffers {
            let mut found = vec![0; BYTES as usize];
            tier.read(buffer, 0, &mut found).unwrap();
            assert!(found == content(buffer, BYTES), "after {call}");
        }
        tier.close().unwrap();
        assert_eq!(driver.held(), Held::default(), "after {call}");
    }
}
