//! A chain of addresses through a footprint; `chain.cuh` has the same order for the GPU.

use crate::driver::buffers::DeviceMemory;
use crate::driver::gpu::Gpu;
use crate::driver::kernel::{Argument, Kernel};
use crate::driver::memory::Memory;
use crate::driver::stream::Stream;
use crate::error::GpuError;

/// The source that goes before a probe's own where it follows chains.
macro_rules! with_chain {
    ($file:literal) => {
        concat!(include_str!("chain.cuh"), "\n#line 1 \"", $file, "\"\n", include_str!($file))
    };
}
pub(crate) use with_chain;

/// Places at equal distances, each of which holds the address of the next: one cycle through all of them. Groups of
/// neighbours come one after another, and the groups in an order that looks random.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    /// Bytes from one place to its neighbour.
    pub(crate) stride: u64,
    /// The number of neighbours that follow one another.
    group: u32,
    groups: u32,
}

impl Chain {
    /// All places of a footprint, which is a multiple of `stride * group`.
    pub(crate) fn new(footprint: u64, stride: u64, group: u32) -> Self {
        let groups = footprint / stride / u64::from(group);
        assert!(groups > 0 && footprint == groups * stride * u64::from(group), "a footprint holds whole groups");
        Self { stride, group, groups: u32::try_from(groups).expect("fewer than 2^32 groups") }
    }

    /// The number of places.
    pub(crate) fn count(self) -> u32 {
        self.groups * self.group
    }

    /// Bytes from the first place to where a walk is after this many steps.
    pub(crate) fn offset(self, step: u64) -> u64 {
        let step = u32::try_from(step % u64::from(self.count())).expect("smaller than the count");
        let group = shuffled(step / self.group, self.groups, self.bits());
        (u64::from(group) * u64::from(self.group) + u64::from(step % self.group)) * self.stride
    }

    /// Bits that the numbers of all groups need.
    pub(crate) fn bits(self) -> u32 {
        u32::BITS - (self.groups - 1).leading_zeros()
    }

    /// Writes it into memory. `kernel` is `lay_chain`.
    pub(crate) fn lay(
        self,
        gpu: &Gpu,
        stream: &Stream,
        kernel: &Kernel,
        memory: &DeviceMemory,
    ) -> Result<(), GpuError> {
        assert!(u64::from(self.count()) * self.stride <= memory.bytes(), "a chain stays inside its memory");
        let arguments = [
            Argument::of(memory),
            Argument::Long(self.stride),
            Argument::Word(self.groups),
            Argument::Word(self.group),
            Argument::Word(self.bits()),
        ];
        kernel.launch(stream, kernel.filling(gpu.multiprocessors(), 256)?, &arguments)?;
        stream.wait()
    }
}

/// A permutation of the numbers below `count`, which is at most `2^bits`.
fn shuffled(mut number: u32, count: u32, bits: u32) -> u32 {
    let mask = u32::MAX.checked_shl(bits).map_or(u32::MAX, |high| !high);
    loop {
        for _ in 0..3 {
            number = number.wrapping_mul(0x9e37_79b1).wrapping_add(0x7f4a_7c15) & mask;
            number ^= number >> (bits / 2 + 1);
        }
        if number < count {
            return number;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Chain, shuffled};

    #[test]
    fn a_chain_comes_to_every_place_before_it_comes_back() {
        for (count, group) in [(1, 1), (2, 1), (3, 1), (7, 1), (64, 8), (80, 1), (1000, 4), (4096, 1), (5 << 10, 2)] {
            let chain = Chain::new(count * 128, 128, group);
            let visited: BTreeSet<u64> = (0..count).map(|step| chain.offset(step)).collect();
            let all: BTreeSet<u64> = (0..count).map(|place| place * 128).collect();
            assert_eq!(visited, all, "{count} places in groups of {group}");
            assert_eq!(chain.offset(count), chain.offset(0));
        }
    }

    #[test]
    fn neighbours_of_a_group_follow_one_another_and_groups_do_not() {
        let chain = Chain::new(1 << 20, 16, 8);
        let follows = |step: u64| chain.offset(step + 1) == chain.offset(step) + 16;
        assert!((0..1 << 16).filter(|step| step % 8 != 7).all(follows));
        let next_groups = (0..1 << 16).filter(|step| step % 8 == 7).filter(|&step| follows(step)).count();
        assert!(next_groups < 1 << 3, "{next_groups} of {} groups are followed by their neighbour", 1 << 13);
    }

    #[test]
    fn distances_between_steps_differ() {
        let count = 1_u32 << 14;
        let distance = |step: u32| shuffled(step + 1, count, 14).wrapping_sub(shuffled(step, count, 14));
        let distances: BTreeSet<u32> = (0..count - 1).map(distance).collect();
        assert!(distances.len() > count as usize / 2, "{} distances in {count} steps", distances.len());
    }
}
