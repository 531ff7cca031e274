//! The contents of the frames of the GPUs' memories. Only if some strategy needs them: otherwise
//! [frames](crate::memories::frames) are only counted.

use crate::contract::error::ConfigError;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{PageId, PageRun, ProcessorId, SpaceId};
use crate::contract::topology::Topology;
use crate::memories::content::Content;
use crate::memories::fragmentation::Fragmentation;
use crate::memories::store::FrameStore;
use crate::pages::Pages;
use crate::strategies::allocator::{FrameAllocator, FrameRequest};
use crate::strategies::sizing::Coalescing;

/// The frames of every GPU.
pub(crate) struct Physical {
    pub allocator: Box<dyn FrameAllocator>,
    pub coalescing: Option<Coalescing>,
    /// Base pages of a large frame.
    span: u32,
    gpus: Vec<FrameStore>,
    /// Base frames of each GPU that hold foreign data.
    foreign: Vec<u32>,
    /// The slot of an unfinished plan that compacts the GPU's memory.
    compacting: Vec<Option<u32>>,
    /// Blocks that could become large pages if they were not in unfinished plans.
    pub postponed: Vec<(ProcessorId, u32)>,
}

impl Physical {
    /// `None` if neither the allocator nor the sizing nor foreign data needs frame numbers.
    pub fn new(
        geometry: &Geometry,
        topology: &Topology,
        allocator: Box<dyn FrameAllocator>,
        coalescing: Option<Coalescing>,
        fragmentation: &Fragmentation,
    ) -> Result<Option<Self>, ConfigError> {
        fragmentation.validate()?;
        check_endless(allocator.as_ref(), coalescing, fragmentation)?;
        if !allocator.needs_frames() && coalescing.is_none() && fragmentation.is_none() {
            return Ok(None);
        }
        let span = coalescing.map_or(geometry.block_pages(), |coalescing| coalescing.pages);
        let total = |capacity| if allocator.numbers_end() { capacity } else { u32::MAX };
        let mut gpus: Vec<FrameStore> =
            topology.gpu_memories().map(|memory| FrameStore::new(span, total(memory.capacity_pages))).collect();
        let foreign = seed(&mut gpus, fragmentation)?;
        let compacting = vec![None; gpus.len()];
        Ok(Some(Self { allocator, coalescing, span, gpus, foreign, compacting, postponed: Vec::new() }))
    }

    pub fn grow(&mut self, pages: usize) {
        self.gpus.iter_mut().for_each(|gpu| gpu.grow(pages));
    }

    pub fn bytes(&self) -> usize {
        self.gpus.iter().map(FrameStore::bytes).sum()
    }

    pub fn store(&self, processor: ProcessorId) -> &FrameStore {
        &self.gpus[index(processor)]
    }

    pub fn store_mut(&mut self, processor: ProcessorId) -> &mut FrameStore {
        &mut self.gpus[index(processor)]
    }

    /// Base frames of `processor` that hold foreign data.
    pub fn foreign(&self, processor: ProcessorId) -> u32 {
        self.foreign[index(processor)]
    }

    pub fn compacting(&mut self, processor: ProcessorId) -> &mut Option<u32> {
        &mut self.compacting[index(processor)]
    }

    /// The slot of an unfinished plan that compacts a GPU's memory.
    pub fn compacted_by(&self, processor: ProcessorId) -> Option<u32> {
        self.compacting[index(processor)]
    }

    /// The page no longer exists.
    pub fn free(&mut self, processor: ProcessorId, page: PageId) {
        let store = self.store_mut(processor);
        let frame = store.place(page).expect("a resident page has a frame");
        store.replace(frame, Content::Free);
    }

    /// Pages were freed, so that their blocks are incomplete: the rest of one has no claim to a large frame, unless it
    /// is a large page.
    pub fn unsettle(&mut self, pages: PageRun) {
        let blocks = self.blocks(pages);
        for store in &mut self.gpus {
            blocks.clone().for_each(|block| store.unsettle(block));
        }
    }

    /// Sets large frames aside for pages that come later: one for each whole block of their space, others for the rest,
    /// while there are any.
    pub fn set_aside(&mut self, known: &Pages, pages: PageRun, processor: ProcessorId) {
        let (space, span) = (known.space(pages.first), self.span);
        let Unsettled { blocks, rest } = self.unsettled(known, pages, processor);
        let parts = (0..rest).step_by(span as usize).map(|begin| (None, (rest - begin).min(span)));
        let wanted = blocks.into_iter().map(|block| (Some(block), span)).chain(parts);
        let store = self.store_mut(processor);
        for (block, count) in wanted {
            if !store.set_aside(space, block, count) {
                return;
            }
        }
    }

    /// Large frames that pages should have from allocation on and that are not free.
    pub fn large_frames_missing(&self, known: &Pages, pages: PageRun, processor: ProcessorId) -> u32 {
        let Unsettled { blocks, rest } = self.unsettled(known, pages, processor);
        let wanted = blocks.len() as u32 + rest.div_ceil(self.span);
        wanted.saturating_sub(self.store(processor).free_large_frames())
    }

    /// What of these pages should get large frames: nothing if the allocator sets none aside.
    fn unsettled(&self, known: &Pages, pages: PageRun, processor: ProcessorId) -> Unsettled {
        let mut found = Unsettled { blocks: Vec::new(), rest: 0 };
        if !self.allocator.sets_aside() {
            return found;
        }
        let (space, store) = (known.space(pages.first), self.store(processor));
        for block in self.blocks(pages) {
            let run = self.block(block);
            if !known.all_of_space(run, space) {
                found.rest += run.iter().filter(|page| pages.contains(*page)).count() as u32;
            } else if store.home(block).is_none() && store.held(block) == 0 {
                found.blocks.push(block);
            }
        }
        found
    }

    /// Nothing is set aside any more for incomplete blocks of `space`.
    pub fn give_back(&mut self, space: SpaceId) {
        self.gpus.iter_mut().for_each(|store| store.give_back(space));
    }

    /// Numbers of the blocks that `pages` are part of.
    pub fn blocks(&self, pages: PageRun) -> std::ops::RangeInclusive<u32> {
        pages.first.0 / self.span..=(pages.first.0 + pages.count - 1) / self.span
    }

    pub fn block_of(&self, page: PageId) -> u32 {
        page.0 / self.span
    }

    /// The pages of a block.
    pub fn block(&self, block: u32) -> PageRun {
        PageRun { first: PageId(block * self.span), count: self.span }
    }

    /// The base frame that the allocator chooses.
    pub fn choose(&mut self, request: &FrameRequest<'_>) -> Option<u32> {
        self.allocator.choose(&self.gpus[index(request.processor)], request)
    }

    /// Puts a page of `space` into a base frame. Returns the previous content of the frame.
    pub fn put(&mut self, processor: ProcessorId, page: PageId, space: SpaceId, frame: u32, whole: bool) -> Content {
        let store = &mut self.gpus[index(processor)];
        let before = store.put(page, space, frame, whole);
        self.allocator.placed(store, page, whole);
        before
    }

    /// The request of `page` to the allocator, from within the plan in `slot`.
    pub fn request<'a>(
        &self,
        pages: &Pages,
        page: PageId,
        processor: ProcessorId,
        may_take: bool,
        (slot, spare): (u32, &'a [(ProcessorId, u32)]),
    ) -> FrameRequest<'a> {
        let space = pages.space(page);
        let whole = !self.allocator.numbers_end() || pages.all_of_space(self.block(page.0 / self.span), space);
        FrameRequest { page, space, whole, may_take, processor, slot, spare }
    }
}

/// Pages of one address space without large frames.
struct Unsettled {
    /// Whole blocks.
    blocks: Vec<u32>,
    /// Pages of incomplete blocks.
    rest: u32,
}

/// If frames are numbered without limit, none is scarce.
fn check_endless(
    allocator: &dyn FrameAllocator,
    coalescing: Option<Coalescing>,
    fragmentation: &Fragmentation,
) -> Result<(), ConfigError> {
    let refused = |key: &str, message: &str| Err(ConfigError::new(key, message));
    if allocator.numbers_end() {
        return Ok(());
    }
    if !fragmentation.is_none() {
        return refused("fragmentation.index", "expected 0 beside this `allocator`, which gives every block a frame");
    }
    if coalescing.is_some_and(|coalescing| coalescing.compaction.is_some()) {
        let message = "expected `none` beside this `allocator`: every block has a frame, and none needs to be freed";
        return refused("sizing.compaction", message);
    }
    Ok(())
}

/// Puts foreign data into every memory; how many base frames that takes of each.
fn seed(gpus: &mut [FrameStore], fragmentation: &Fragmentation) -> Result<Vec<u32>, ConfigError> {
    let refused = |key: &str, message| ConfigError::new(format!("fragmentation.{key}"), message);
    let mut foreign = vec![0; gpus.len()];
    if fragmentation.is_none() {
        return Ok(foreign);
    }
    for (gpu, (store, foreign)) in gpus.iter_mut().zip(&mut foreign).enumerate() {
        if store.total == u32::MAX {
            return Err(refused("index", format!("expected 0, because gpu{gpu}'s memory has no limit")));
        }
        *foreign = fragmentation.fill(store, gpu as u32);
        if *foreign >= store.total {
            return Err(refused("occupancy", format!("foreign data leaves no room in gpu{gpu}'s memory")));
        }
    }
    Ok(foreign)
}

fn index(processor: ProcessorId) -> usize {
    processor.gpu_index().expect("the host's frames have no numbers")
}
