use proptest::prelude::*;

use super::*;

/// The same rules over a plain list of blocks that is searched from end to end.
#[derive(Default)]
struct Plain {
    /// Pool, address, bytes, segment, free.
    blocks: Vec<(Pool, u64, u64, u32, bool)>,
    segments: u32,
}

impl Plain {
    fn allocate(&mut self, asked: u64) -> Place {
        let bytes = asked.div_ceil(512) * 512;
        let pool = if bytes <= 1 << 20 { Pool::Small } else { Pool::Large };
        let fitting = self.blocks.iter().filter(|block| block.0 == pool && block.4 && block.2 >= bytes);
        let best = fitting.min_by_key(|block| (block.2, block.1)).copied();
        let (_, address, found, segment, _) = best.unwrap_or_else(|| {
            let size = match bytes {
                0..=0x10_0000 => 2 << 20,
                _ if bytes < 10 << 20 => 20 << 20,
                _ => bytes.div_ceil(2 << 20) * (2 << 20),
            };
            let address = self.blocks.iter().filter(|block| block.0 == pool).map(|block| block.2).sum();
            self.segments += 1;
            (pool, address, size, self.segments, true)
        });
        self.blocks.retain(|block| (block.0, block.1) != (pool, address));
        let left = found - bytes;
        let split = if pool == Pool::Small { left >= 512 } else { left > 1 << 20 };
        self.blocks.push((pool, address, if split { bytes } else { found }, segment, false));
        if split {
            self.blocks.push((pool, address + bytes, left, segment, true));
        }
        Place { pool, address }
    }

    fn free(&mut self, place: Place) {
        let found = self.blocks.iter_mut().find(|block| (block.0, block.1) == (place.pool, place.address));
        found.expect("a block").4 = true;
        while let Some((one, next)) = self.neighbours() {
            let bytes = self.blocks[next].2;
            self.blocks[one].2 += bytes;
            self.blocks.remove(next);
        }
    }

    /// Two free blocks of a segment, one right behind the other.
    fn neighbours(&self) -> Option<(usize, usize)> {
        let all = 0..self.blocks.len();
        all.clone().flat_map(|one| all.clone().map(move |next| (one, next))).find(|&(one, next)| {
            let (one, next) = (self.blocks[one], self.blocks[next]);
            one.4 && next.4 && one.0 == next.0 && one.3 == next.3 && one.1 + one.2 == next.1
        })
    }
}

proptest! {
    /// Sizes around every threshold, given back in any order.
    #[test]
    fn agrees_with_a_plain_list(
        asked in proptest::collection::vec(
            (prop_oneof![1..3000u64, 500_000..1_100_000u64, 1_048_000..1_049_200u64, 5_000_000..25_000_000u64], 0..4u8, any::<u16>()),
            1..120,
        ),
    ) {
        let (mut allocator, mut plain, mut held) = (Allocator::default(), Plain::default(), Vec::new());
        for (bytes, action, which) in asked {
            if action == 0 && !held.is_empty() {
                let place = held.swap_remove(usize::from(which) % held.len());
                allocator.free(place);
                plain.free(place);
            } else {
                let place = allocator.allocate(bytes);
                prop_assert_eq!(place, plain.allocate(bytes));
                held.push(place);
            }
        }
        for pool in [Pool::Small, Pool::Large] {
            let reserved: u64 = plain.blocks.iter().filter(|block| block.0 == pool).map(|block| block.2).sum();
            prop_assert_eq!(allocator.reserved(pool), reserved);
        }
    }
}

#[test]
fn constants_are_those_of_the_documentation() {
    let mut allocator = Allocator::default();
    let at = |pool, address| Place { pool, address };
    assert_eq!(allocator.allocate(1), at(Pool::Small, 0));
    assert_eq!(allocator.allocate(513), at(Pool::Small, 512), "one byte took 512");
    assert_eq!(allocator.allocate(1), at(Pool::Small, 1536), "513 bytes took 1024");
    assert_eq!(allocator.reserved(Pool::Small), 2 * MIB);
    assert_eq!(allocator.allocate(MIB + 1), at(Pool::Large, 0), "above 1 MiB it is large");
    assert_eq!(allocator.reserved(Pool::Large), 20 * MIB);
    assert_eq!(allocator.allocate(11 * MIB), at(Pool::Large, MIB + 512), "it fits what is left of the segment");
    assert_eq!(allocator.allocate(11 * MIB), at(Pool::Large, 20 * MIB), "a segment of its own");
    assert_eq!(allocator.reserved(Pool::Large), 32 * MIB, "12 MiB: a multiple of 2 MiB");
    allocator.free(at(Pool::Large, 20 * MIB));
    assert_eq!(allocator.allocate(12 * MIB), at(Pool::Large, 20 * MIB), "1 MiB left was not cut off");
}

#[test]
fn what_was_given_back_is_reused_by_best_fit() {
    let mut allocator = Allocator::default();
    let places: Vec<_> = [4096, 1024, 2048, 512].into_iter().map(|bytes| allocator.allocate(bytes)).collect();
    allocator.free(places[0]);
    allocator.free(places[2]);
    assert_eq!(allocator.allocate(2000), places[2], "2048 fits better than 4096");
    allocator.free(places[1]);
    assert_eq!(allocator.allocate(5120), places[0], "4096 and 1024 became one");
}
