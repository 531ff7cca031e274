//! Bitmaps of where pages are resident, mapped and writable.

use wide::u64x4;

use crate::contract::block::BlockMap;
use crate::contract::ids::{HOST, MAX_MEMORIES, MAX_PROCESSORS, MemoryId, PageId, PageRun, ProcessorId};
use crate::contract::masks::{MemoryMask, ProcessorMask};

/// One of a page's bitmaps by processor.
#[derive(Clone, Copy)]
pub(super) enum Plane {
    Mapped = 0,
    Writable = 1,
}

/// The memories that hold a page, and the processors that map it and can write it.
pub(super) type Masks = (MemoryMask, ProcessorMask, ProcessorMask);

/// The bitmaps of all pages.
///
/// Planes are interleaved: 64 pages' words of every memory, then of every processor and plane, are neighbours, so that
/// one page's state is read from one or two cache lines and a 2 MiB block is a contiguous slice.
#[derive(Clone)]
pub(super) struct Planes {
    /// In the node, the host included.
    processors: usize,
    /// At least as many.
    memories: usize,
    words: Vec<u64>,
    /// Copies of pages that each memory holds.
    residents: [u64; MAX_MEMORIES],
}

impl Planes {
    /// For this many processors, and memories that are these processors' and further ones of the host.
    pub fn new(processors: usize, memories: usize) -> Self {
        Self { processors, memories, words: Vec::new(), residents: [0; MAX_MEMORIES] }
    }

    /// The host's memories beyond its first.
    pub fn further(&self) -> impl Iterator<Item = MemoryId> + use<> {
        (1..=self.memories - self.processors).map(MemoryId::host)
    }

    /// Makes room for `pages` pages, a multiple of 64.
    pub fn grow(&mut self, pages: usize) {
        self.words.resize(pages / 64 * self.count(), 0);
    }

    /// Bytes taken up.
    pub fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    /// Copies of pages that `memory` holds, replicas included.
    pub fn residents(&self, memory: MemoryId) -> u64 {
        self.residents[memory.index()]
    }

    pub fn resident(&self, memory: MemoryId, page: PageId) -> bool {
        self.words[self.resident_word(memory, page)] >> (page.0 % 64) & 1 != 0
    }

    /// Pages of `block` that are resident in `memory`.
    pub fn resident_in_block(&self, memory: MemoryId, block: PageRun) -> BlockMap {
        let first = self.resident_word(memory, block.first);
        let mut map = BlockMap::EMPTY;
        if block.count < 64 {
            let bits = self.words[first] >> (block.first.0 % 64);
            map.0[0] = bits & (u64::MAX >> (64 - block.count));
            return map;
        }
        for (word, bits) in map.0.iter_mut().enumerate() {
            *bits = self.words[first + word * self.count()];
        }
        map
    }

    /// Whether these pages, a block or an aligned part of one, are all resident in `processor`'s own memory and mapped
    /// there, and all writable or none.
    pub fn mapped_alike(&self, processor: ProcessorId, run: PageRun) -> bool {
        let bits = if run.count < 64 { ((1 << run.count) - 1) << (run.first.0 % 64) } else { u64::MAX };
        let pages = || (0..run.count).step_by(64).map(|offset| PageId(run.first.0 + offset));
        let resident = |page| self.words[self.resident_word(processor.memory(), page)] & bits;
        let masked = |plane: Plane| pages().map(move |page| self.words[self.word(page, plane, processor)] & bits);
        let all = |plane| masked(plane).all(|word| word == bits);
        pages().all(|page| resident(page) == bits)
            && all(Plane::Mapped)
            && (all(Plane::Writable) || masked(Plane::Writable).all(|word| word == 0))
    }

    /// The processors that hold a page, map it and can write it.
    pub fn masks(&self, page: PageId) -> Masks {
        let (words, bit) = (self.words_of(page), page.0 % 64);
        if self.fits_a_word() {
            return self.split(gather(words, bit));
        }
        let (memories, processors) = words.split_at(self.memories);
        let (mapped, writable) = processors.split_at(self.processors);
        let resident = MemoryMask::at_places(gather_many(memories, bit), self.processors - 1);
        (resident, ProcessorMask(gather_many(mapped, bit)), ProcessorMask(gather_many(writable, bit)))
    }

    /// The same of 64 pages from `first`, a multiple of 64. Each word is read once, if one page's bits fit a word.
    pub fn masks_of_64(&self, first: PageId) -> [Masks; 64] {
        if !self.fits_a_word() {
            return std::array::from_fn(|offset| self.masks(PageId(first.0 + offset as u32)));
        }
        let words = self.words_of(first);
        let mut pages = [0u64; 64];
        for (index, &word) in words.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                pages[rest.trailing_zeros() as usize] |= 1 << index;
                rest &= rest - 1;
            }
        }
        pages.map(|bits| self.split(bits))
    }

    /// Whether all bits of a page fit a word, as those of up to 20 GPUs do.
    fn fits_a_word(&self) -> bool {
        self.count() <= u64::BITS as usize
    }

    /// The bits of a page in one word: memories, then processors plane by plane.
    fn split(&self, bits: u64) -> Masks {
        // Of a word, as shifts of two words by what is known only now cost much more.
        let processors = |bits: u64| u128::from(bits & ((1 << self.processors) - 1));
        let further = u128::from((bits & ((1 << self.memories) - 1)) >> self.processors) << MAX_PROCESSORS;
        let mapped = bits >> self.memories;
        let writable = ProcessorMask(processors(mapped >> self.processors));
        (MemoryMask(processors(bits) | further), ProcessorMask(processors(mapped)), writable)
    }

    /// Writes only the bits of memories that differ, mostly one or two.
    pub fn reside(&mut self, page: PageId, before: MemoryMask, after: MemoryMask) {
        for memory in MemoryMask(before.0 ^ after.0).iter() {
            let word = self.resident_word(memory, page);
            self.words[word] ^= 1 << (page.0 % 64);
            let residents = &mut self.residents[memory.index()];
            *residents = if after.contains(memory) { *residents + 1 } else { *residents - 1 };
        }
    }

    /// The same for processors.
    pub fn toggle(&mut self, page: PageId, plane: Plane, before: ProcessorMask, after: ProcessorMask) {
        let first = self.word(page, plane, HOST);
        for processor in ProcessorMask(before.0 ^ after.0).iter() {
            self.words[first + processor.index()] ^= 1 << (page.0 % 64);
        }
    }

    /// Words of 64 pages.
    fn count(&self) -> usize {
        self.memories + 2 * self.processors
    }

    /// The words of the 64 pages that `page` is one of.
    fn words_of(&self, page: PageId) -> &[u64] {
        &self.words[self.first(page)..][..self.count()]
    }

    /// Index of the first word for `page`.
    fn first(&self, page: PageId) -> usize {
        page.index() / 64 * self.count()
    }

    /// Index of `memory`'s word for `page`. Numbers of GPUs that the node lacks take up no room.
    fn resident_word(&self, memory: MemoryId, page: PageId) -> usize {
        self.first(page) + memory.place(self.processors - 1)
    }

    /// Index of `processor`'s word of `plane` for `page`.
    fn word(&self, page: PageId, plane: Plane, processor: ProcessorId) -> usize {
        self.first(page) + self.memories + plane as usize * self.processors + processor.index()
    }
}

/// That bit of each of at most 64 words.
fn gather(words: &[u64], bit: u32) -> u64 {
    let (fours, rest) = words.as_chunks::<4>();
    // Four at a time, by the bit that is moved to the top of each word.
    let top = |words: &[u64; 4]| u64::from((u64x4::new(*words) << (63 - bit)).to_bitmask());
    let rest = rest.iter().rev().fold(0, |bits, word| bits << 1 | word >> bit & 1);
    fours.iter().rev().fold(rest, |bits, words| bits << 4 | top(words))
}

/// The same of at most 128 words.
fn gather_many(words: &[u64], bit: u32) -> u128 {
    words.chunks(64).rev().fold(0, |bits, words| bits << 64 | u128::from(gather(words, bit)))
}
