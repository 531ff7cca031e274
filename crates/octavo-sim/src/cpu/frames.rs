//! Which frames of the host hold pages from GPUs: one for each page, or one of 2 MiB for a block. A frame stays with
//! its pages until they are freed, wherever their data goes in the meantime.

use std::ops::Range;

use octavo_manager::{HostFrames as Choice, Manager, PageRun};

/// The state of a page: whether it has a frame of its own or a part of its block's, and whether the host holds it.
const OWN: u8 = 1;
const PART: u8 = 2;
const HELD: u8 = 4;

/// Frames of the host, by page and by block of 2 MiB.
pub(crate) struct HostFrames {
    /// Whether blocks get large frames.
    large: bool,
    block_pages: u32,
    pages: Vec<u8>,
    /// By block, whether it has a large frame.
    blocks: Vec<bool>,
}

impl HostFrames {
    /// None yet, for this many pages; absent if they are not tracked.
    pub fn of(manager: &Manager, pages: usize) -> Option<Self> {
        let choice = manager.host_frames();
        let large = choice == Choice::Large;
        (choice != Choice::Ready).then(|| Self::new(large, manager.geometry().block_pages(), pages))
    }

    fn new(large: bool, block_pages: u32, pages: usize) -> Self {
        Self { large, block_pages, pages: vec![0; pages], blocks: vec![false; pages.div_ceil(block_pages as usize)] }
    }

    /// Pages are created on the host, each in a frame of its own.
    pub fn put(&mut self, run: PageRun) {
        self.pages[range(run)].fill(OWN | HELD);
    }

    /// Data of pages comes to the host; how many frames are made for it.
    pub fn receive(&mut self, run: PageRun) -> u32 {
        parts(run, self.block_pages).map(|(block, part)| self.receive_in(block, part)).sum()
    }

    fn receive_in(&mut self, block: usize, run: PageRun) -> u32 {
        if self.large && !self.blocks[block] && !self.any_in(block, HELD) {
            self.blocks[block] = true;
            let all = self.span(block);
            self.pages[all].fill(0);
            self.pages[range(run)].fill(PART | HELD);
            return 1;
        }
        let kind = if self.blocks[block] { PART } else { OWN };
        let pages = &mut self.pages[range(run)];
        let made = pages.iter().filter(|&&page| kind == OWN && page & OWN == 0).count();
        pages.iter_mut().for_each(|page| *page |= kind | HELD);
        made as u32
    }

    /// Number of pieces of a copy from or to the host.
    pub fn pieces(&self, run: PageRun) -> u32 {
        let parts = parts(run, self.block_pages);
        parts.map(|(block, part)| if self.blocks[block] { 1 } else { part.count }).sum()
    }

    /// The host no longer holds these pages; their frames stay.
    pub fn give_up(&mut self, run: PageRun) {
        self.pages[range(run)].iter_mut().for_each(|page| *page &= !HELD);
    }

    /// Pages are freed, with their frames; a large one goes with the last page that has a part of it.
    pub fn free(&mut self, run: PageRun) {
        self.pages[range(run)].fill(0);
        for (block, _) in parts(run, self.block_pages) {
            self.blocks[block] &= self.any_in(block, PART);
        }
    }

    fn any_in(&self, block: usize, what: u8) -> bool {
        self.pages[self.span(block)].iter().any(|page| page & what != 0)
    }

    fn span(&self, block: usize) -> Range<usize> {
        let span = self.block_pages as usize;
        block * span..((block + 1) * span).min(self.pages.len())
    }
}

/// The part of a run in each block.
fn parts(run: PageRun, span: u32) -> impl Iterator<Item = (usize, PageRun)> {
    let mut rest = Some(run);
    std::iter::from_fn(move || {
        let run = rest?;
        let block = run.first.0 / span;
        let (part, beyond) = run.split((block + 1) * span - run.first.0);
        rest = beyond;
        Some((block as usize, part))
    })
}

fn range(run: PageRun) -> Range<usize> {
    run.first.index()..run.first.index() + run.count as usize
}

#[cfg(test)]
mod tests {
    use octavo_manager::PageId;

    use super::*;

    fn run(first: u32, count: u32) -> PageRun {
        PageRun { first: PageId(first), count }
    }

    #[test]
    fn base_frames_are_made_once_and_each_is_a_piece() {
        let mut frames = HostFrames::new(false, 8, 20);
        assert_eq!((frames.receive(run(2, 10)), frames.pieces(run(2, 10))), (10, 10));
        frames.give_up(run(2, 10));
        assert_eq!(frames.receive(run(0, 12)), 2, "frames stay when data goes");
        frames.free(run(0, 4));
        assert_eq!(frames.receive(run(0, 12)), 4);
        frames.put(run(12, 8));
        assert_eq!(frames.receive(run(12, 8)), 0, "what the host wrote has its frames");
    }

    #[test]
    fn a_block_gets_one_large_frame_when_the_host_holds_nothing_of_it() {
        let mut frames = HostFrames::new(true, 8, 20);
        frames.put(run(0, 8));
        frames.give_up(run(0, 6));
        assert_eq!((frames.receive(run(0, 6)), frames.pieces(run(0, 8))), (0, 8), "the host holds two of its pages");
        frames.give_up(run(0, 8));
        assert_eq!((frames.receive(run(0, 16)), frames.pieces(run(0, 16))), (2, 2));
        assert_eq!((frames.receive(run(17, 2)), frames.receive(run(16, 1))), (1, 0), "its last block is shorter");
    }

    #[test]
    fn a_large_frame_goes_with_the_last_page_of_it() {
        let mut frames = HostFrames::new(true, 8, 16);
        frames.receive(run(0, 8));
        frames.give_up(run(0, 8));
        frames.free(run(0, 5));
        assert_eq!(frames.receive(run(5, 3)), 0);
        frames.free(run(5, 3));
        assert_eq!(frames.receive(run(5, 3)), 1);
    }
}
