//! Sets of processors and of memories.

use crate::contract::ids::{MAX_GPUS, MAX_MEMORIES, MAX_PROCESSORS, MemoryId, ProcessorId};

/// Implements a set of small numbers on a word.
macro_rules! set {
    ($set:ident of $member:ident, $one:literal, $many:literal) => {
        #[doc = concat!("A set of ", $many, ".")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $set(pub u128);

        impl $set {
            #[doc = concat!("No ", $one, ".")]
            pub const EMPTY: Self = Self(0);

            #[doc = concat!("The set of one ", $one, ".")]
            #[must_use]
            pub const fn only(member: $member) -> Self {
                Self(1 << member.0)
            }

            /// All GPUs of a node with `gpus` GPUs.
            #[must_use]
            pub const fn all_gpus(gpus: usize) -> Self {
                Self(((1 << gpus) - 1) << 1)
            }

            #[doc = concat!("Whether this ", $one, " is in the set.")]
            #[must_use]
            pub const fn contains(self, member: $member) -> bool {
                self.0 >> member.0 & 1 != 0
            }

            #[doc = concat!("The set with this ", $one, ".")]
            #[must_use]
            pub const fn with(self, member: $member) -> Self {
                Self(self.0 | 1 << member.0)
            }

            #[doc = concat!("The set without this ", $one, ".")]
            #[must_use]
            pub const fn without(self, member: $member) -> Self {
                Self(self.0 & !(1 << member.0))
            }

            #[doc = concat!("The ", $many, " in either set.")]
            #[must_use]
            pub const fn union(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            #[doc = concat!("The ", $many, " in both sets.")]
            #[must_use]
            pub const fn intersection(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }

            #[doc = concat!("The ", $many, " of this set that are not in `other`.")]
            #[must_use]
            pub const fn difference(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }

            #[doc = concat!("Whether no ", $one, " is in the set.")]
            #[must_use]
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            #[doc = concat!("How many ", $many, " are in the set.")]
            #[must_use]
            pub const fn len(self) -> usize {
                self.0.count_ones() as usize
            }

            /// The member with the lowest number, if any.
            #[must_use]
            pub fn first(self) -> Option<$member> {
                self.iter().next()
            }

            #[doc = concat!("The ", $many, " in ascending order.")]
            pub fn iter(self) -> impl Iterator<Item = $member> {
                // In halves: most nodes have members in the first alone.
                let (mut first, mut second) = (self.0 as u64, (self.0 >> 64) as u64);
                std::iter::from_fn(move || {
                    let (rest, start) = if first != 0 { (&mut first, 0) } else { (&mut second, u64::BITS) };
                    if *rest == 0 {
                        return None;
                    }
                    let lowest = start + rest.trailing_zeros();
                    *rest &= *rest - 1;
                    Some($member(lowest as u8))
                })
            }
        }
    };
}

set!(ProcessorMask of ProcessorId, "processor", "processors");
set!(MemoryMask of MemoryId, "memory", "memories");

/// A set of processors in as few bytes as it needs, for where many are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackedProcessors([u16; MAX_PROCESSORS.div_ceil(16)]);

impl From<ProcessorMask> for PackedProcessors {
    fn from(set: ProcessorMask) -> Self {
        Self(std::array::from_fn(|part| (set.0 >> (16 * part)) as u16))
    }
}

impl From<PackedProcessors> for ProcessorMask {
    fn from(packed: PackedProcessors) -> Self {
        Self(packed.0.iter().rev().fold(0, |bits, part| bits << 16 | u128::from(*part)))
    }
}

impl MemoryMask {
    /// All memories that a host can have.
    pub const HOSTS: Self = Self(!(((1 << MAX_GPUS) - 1) << 1) & ((1 << MAX_MEMORIES) - 1));

    /// The memories whose [places](MemoryId::place) in a node with `gpus` GPUs are these bits.
    #[must_use]
    #[inline]
    pub const fn at_places(bits: u128, gpus: usize) -> Self {
        let own = bits & ((1 << (gpus + 1)) - 1);
        Self(own | bits >> (gpus + 1) << MAX_PROCESSORS)
    }

    /// The processors near these memories.
    #[must_use]
    pub const fn processors(self) -> ProcessorMask {
        let host = !self.intersection(Self::HOSTS).is_empty();
        ProcessorMask(self.difference(Self::HOSTS).0 | host as u128)
    }

    /// Whether a memory near this processor is in the set.
    #[must_use]
    pub const fn near(self, processor: ProcessorId) -> bool {
        self.processors().contains(processor)
    }

    /// The one near this processor with the lowest number, if any.
    #[must_use]
    pub fn of(self, processor: ProcessorId) -> Option<MemoryId> {
        let own = if processor.0 == 0 { Self::HOSTS } else { Self::only(processor.memory()) };
        self.intersection(own).first()
    }

    /// The memories among them that belong to GPUs.
    #[must_use]
    pub const fn gpus(self) -> Self {
        self.difference(Self::HOSTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ids::{HOST, HOST_MEMORY};

    #[test]
    fn a_memory_is_near_one_processor() {
        let (gpu, second) = (MemoryId::gpu(2), MemoryId::host(1));
        assert_eq!([HOST_MEMORY, gpu, second].map(MemoryId::processor), [HOST, ProcessorId::gpu(2), HOST]);
        assert_eq!([HOST_MEMORY, gpu, second].map(|memory| memory.to_string()), ["host", "gpu2", "host1"]);
        assert_eq!([HOST_MEMORY, gpu, second].map(MemoryId::host_index), [Some(0), None, Some(1)]);
        assert_eq!(MemoryId::host(7).index(), MAX_MEMORIES - 1);
        for index in 0..MAX_MEMORIES as u8 {
            let memory = MemoryId(index);
            assert_eq!(MemoryMask::HOSTS.contains(memory), memory.on_host(), "{memory}");
            assert_eq!(MemoryMask::only(memory).processors(), ProcessorMask::only(memory.processor()), "{memory}");
        }
    }

    #[test]
    fn a_packed_set_is_the_set() {
        let set = ProcessorMask::all_gpus(MAX_GPUS).without(ProcessorId::gpu(30)).without(ProcessorId::gpu(70));
        assert_eq!(ProcessorMask::from(PackedProcessors::from(set)), set);
    }

    #[test]
    fn places_have_no_gaps() {
        for gpus in [1, 4, MAX_GPUS] {
            let further = (1..=MAX_MEMORIES - MAX_PROCESSORS).map(MemoryId::host);
            let memories: Vec<_> = (0..=gpus).map(|index| MemoryId(index as u8)).chain(further).collect();
            for (place, memory) in memories.iter().enumerate() {
                assert_eq!(memory.place(gpus), place);
                assert_eq!(MemoryMask::at_places(1 << place, gpus), MemoryMask::only(*memory));
            }
        }
    }

    #[test]
    fn any_of_the_hosts_memories_is_the_hosts() {
        let both = MemoryMask::only(MemoryId::host(3)).with(MemoryId::gpu(0));
        assert_eq!(both.of(HOST), Some(MemoryId::host(3)));
        assert_eq!((both.of(ProcessorId::gpu(0)), both.of(ProcessorId::gpu(1))), (Some(MemoryId::gpu(0)), None));
        assert!(both.near(HOST) && !both.near(ProcessorId::gpu(1)));
        assert_eq!(both.gpus(), MemoryMask::only(MemoryId::gpu(0)));
    }
}
