//! Bitmaps of where pages are resident, mapped and writable.

use wide::u64x4;

use crate::contract::block::BlockMap;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{MAX_PROCESSORS, PageId, PageRun, ProcessorId, ProcessorMask};

const _: () = assert!(3 * MAX_PROCESSORS <= u64::BITS as usize, "all bits of a page fit a word");

/// Which of a page's bitmaps.
#[derive(Clone, Copy)]
pub(super) enum Plane {
    Resident = 0,
    Mapped = 1,
    Writable = 2,
}

/// The bitmaps of all pages.
///
/// They lie interleaved: 64 pages' words of every processor and plane are neighbours, so that one page's
/// state is read from one or two cache lines and a 2 MiB block is a contiguous slice.
#[derive(Clone)]
pub(super) struct Planes {
    /// In the node, the host included.
    processors: usize,
    words: Vec<u64>,
    /// Copies of pages that each processor holds.
    residents: [u64; MAX_PROCESSORS],
}

impl Planes {
    pub fn new(geometry: &Geometry) -> Self {
        Self { processors: geometry.processors(), words: Vec::new(), residents: [0; MAX_PROCESSORS] }
    }

    /// Makes room for `pages` pages, a multiple of 64.
    pub fn grow(&mut self, pages: usize) {
        self.words.resize(pages / 64 * self.count(), 0);
    }

    /// Bytes taken up.
    pub fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    /// Copies of pages that `processor` holds, replicas included.
    pub fn residents(&self, processor: ProcessorId) -> u64 {
        self.residents[processor.index()]
    }

    pub fn resident(&self, processor: ProcessorId, page: PageId) -> bool {
        self.words[self.word(page, Plane::Resident) + processor.index()] >> (page.0 % 64) & 1 != 0
    }

    /// Pages of `block` that are resident on `processor`.
    pub fn resident_in_block(&self, processor: ProcessorId, block: PageRun) -> BlockMap {
        let first = self.word(block.first, Plane::Resident) + processor.index();
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

    /// Whether these pages, a block or an aligned part of one, are all resident and mapped on `processor`, and all
    /// writable there or none.
    pub fn mapped_alike(&self, processor: ProcessorId, run: PageRun) -> bool {
        let bits = if run.count < 64 { ((1 << run.count) - 1) << (run.first.0 % 64) } else { u64::MAX };
        let masked = |plane: Plane| {
            let pages = (0..run.count).step_by(64).map(move |offset| PageId(run.first.0 + offset));
            pages.map(move |page| self.words[self.word(page, plane) + processor.index()] & bits)
        };
        let all = |plane| masked(plane).all(|word| word == bits);
        all(Plane::Resident)
            && all(Plane::Mapped)
            && (all(Plane::Writable) || masked(Plane::Writable).all(|word| word == 0))
    }

    /// The processors of a page: on which it is resident, mapped and writable.
    pub fn masks(&self, page: PageId) -> [ProcessorMask; 3] {
        let bits = self.bits(page);
        [Plane::Resident, Plane::Mapped, Plane::Writable].map(|plane| {
            ProcessorMask((bits >> (plane as usize * self.processors)) as u32 & ((1 << self.processors) - 1))
        })
    }

    /// Writes only the bits that differ, mostly one or two.
    pub fn toggle(&mut self, page: PageId, plane: Plane, before: ProcessorMask, after: ProcessorMask) {
        let first = self.word(page, plane);
        for processor in ProcessorMask(before.0 ^ after.0).iter() {
            self.words[first + processor.index()] ^= 1 << (page.0 % 64);
            if matches!(plane, Plane::Resident) {
                let residents = &mut self.residents[processor.index()];
                *residents = if after.contains(processor) { *residents + 1 } else { *residents - 1 };
            }
        }
    }

    /// Words of 64 pages.
    fn count(&self) -> usize {
        3 * self.processors
    }

    /// Index of the host's word of `plane` for `page`; the GPUs' follow.
    fn word(&self, page: PageId, plane: Plane) -> usize {
        page.index() / 64 * self.count() + plane as usize * self.processors
    }

    /// The bits of a page, plane by plane, the host's first.
    fn bits(&self, page: PageId) -> u64 {
        let first = self.word(page, Plane::Resident);
        let (fours, rest) = self.words[first..first + self.count()].as_chunks::<4>();
        let bit = page.0 % 64;
        // Four at a time, by the bit that is moved to the top of each word.
        let top = |words: &[u64; 4]| u64::from((u64x4::new(*words) << (63 - bit)).to_bitmask());
        let rest = rest.iter().rev().fold(0, |bits, word| bits << 1 | word >> bit & 1);
        fours.iter().rev().fold(rest, |bits, words| bits << 4 | top(words))
    }
}
