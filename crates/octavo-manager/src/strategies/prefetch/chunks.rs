//! `local-path` and `multi-path`: whole blocks ahead of the batches, in the direction in which these move.

use octavo_registry::{Entry, OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tree::{self, Tree};
use super::{FaultBatch, Path, Prefetch, Service};
use crate::contract::block::BlockMap;
use crate::contract::geometry::Geometry;
use crate::contract::ids::{PageId, PageRun};

/// The most blocks that are brought after one batch (`uvm_prefetch_num_chunk` of memHarvester's artefact).
const MOST_BLOCKS: u32 = 64;

/// Options of `local-path` and `multi-path`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Blocks of 2 MiB that are brought after each batch of faults, 0 to 64; default 16 (memHarvester, USENIX ATC 2022:
    /// 32 MiB).
    blocks: u32,
    /// The distance from one of these blocks to the next, in blocks, at least 1; default 2 (memHarvester, USENIX ATC
    /// 2022).
    stride: u32,
    /// Per cent of a subtree's pages, 1 to 100: in blocks with faults, the subtree comes when more than this share is
    /// resident or requested; default 1, the whole block (memHarvester, USENIX ATC 2022).
    threshold: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { blocks: 16, stride: 2, threshold: 1 }
    }
}

pub(super) static LOCAL_PATH: Entry<Box<dyn Prefetch>, Geometry> = Entry {
    name: "local-path",
    summary: "brings whole blocks ahead of the batches, over the GPU's own links",
    source: "memHarvester (USENIX ATC 2022): LPF",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| Ok(Box::new(Chunks::new(typed::parse(options)?, geometry, Path::Local)?)),
};

pub(super) static MULTI_PATH: Entry<Box<dyn Prefetch>, Geometry> = Entry {
    name: "multi-path",
    summary: "brings whole blocks ahead of the batches, those on the host by way of GPUs with idle memory",
    source: "memHarvester (USENIX ATC 2022): MPF",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| Ok(Box::new(Chunks::new(typed::parse(options)?, geometry, Path::Multi)?)),
};

struct Chunks {
    options: Options,
    path: Path,
    block_pages: u32,
    within: Tree,
    /// By GPU, the page at which its last batch ended, in its direction.
    reference: Vec<Option<PageId>>,
}

impl Chunks {
    fn new(options: Options, geometry: &Geometry, path: Path) -> Result<Self, OptionError> {
        if options.blocks > MOST_BLOCKS {
            return Err(OptionError::new("blocks", format!("expected 0 to {MOST_BLOCKS}, found {}", options.blocks)));
        }
        if options.stride == 0 {
            return Err(OptionError::new("stride", "expected at least 1, found 0".to_owned()));
        }
        let within = tree::with_threshold(options.threshold, geometry)?;
        let reference = vec![None; geometry.gpus];
        Ok(Self { options, path, block_pages: geometry.block_pages(), within, reference })
    }
}

impl Prefetch for Chunks {
    fn serves_blocks(&self) -> bool {
        self.within.serves_blocks()
    }

    fn freed(&mut self, run: PageRun) {
        self.within.freed(run);
    }

    fn pages(&mut self, service: &Service) -> BlockMap {
        self.within.pages(service)
    }

    fn looks_ahead(&self) -> bool {
        self.options.blocks > 0
    }

    /// Batches go up if this one begins behind the end of the last, and down otherwise; the first goes up.
    fn ahead(&mut self, batch: &FaultBatch, blocks: &mut Vec<PageId>) -> Path {
        let Some(reference) = batch.processor.gpu_index().and_then(|gpu| self.reference.get_mut(gpu)) else {
            return self.path;
        };
        let up = reference.is_none_or(|reference| reference < batch.first);
        let end = if up { batch.last } else { batch.first };
        *reference = Some(end);
        let base = end.0 / self.block_pages;
        let target = |step: u32| {
            let distance = step * self.options.stride;
            if up { base.checked_add(distance) } else { base.checked_sub(distance) }
        };
        let targets = (1..=self.options.blocks).map_while(target);
        blocks.extend(targets.map_while(|block| block.checked_mul(self.block_pages)).map(PageId));
        self.path
    }

    fn bytes(&self) -> usize {
        self.within.bytes()
    }
}

#[cfg(test)]
mod tests {
    use octavo_units::Bytes;

    use super::*;
    use crate::contract::ids::ProcessorId;

    /// The blocks brought after batches of GPU 0 that begin and end in these blocks.
    fn ahead(options: Options, batches: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let geometry = Geometry { gpus: 2, page_size: Bytes(64 << 10) };
        let mut prefetch = Chunks::new(options, &geometry, Path::Local).unwrap();
        let page = |block: u32| PageId(block * 32 + 5);
        let brought = |&(first, last): &(u32, u32)| {
            let mut blocks = Vec::new();
            let batch = FaultBatch { processor: ProcessorId::gpu(0), first: page(first), last: page(last) };
            assert!(prefetch.ahead(&batch, &mut blocks) == Path::Local);
            blocks.into_iter().map(|page| page.0 / 32).collect()
        };
        batches.iter().map(brought).collect()
    }

    #[test]
    fn the_direction_is_that_from_the_last_batch_to_this_one() {
        let options = Options { blocks: 3, stride: 2, ..Default::default() };
        let brought = ahead(options, &[(10, 12), (13, 20), (4, 18), (2, 3), (9, 9)]);
        let up = [vec![14, 16, 18], vec![22, 24, 26]];
        // Down from 4; from 2 nothing but 0 is below; 9 is behind 2.
        let rest = [vec![2, 0], vec![0], vec![11, 13, 15]];
        assert_eq!(brought, [up.to_vec(), rest.to_vec()].concat());
    }

    #[test]
    fn options_out_of_range_are_refused_with_their_key() {
        let geometry = Geometry { gpus: 1, page_size: Bytes(4 << 10) };
        let refused = |options: Options| Chunks::new(options, &geometry, Path::Multi).err().unwrap().key;
        assert_eq!(refused(Options { blocks: 65, ..Default::default() }), "blocks");
        assert_eq!(refused(Options { stride: 0, ..Default::default() }), "stride");
        assert_eq!(refused(Options { threshold: 0, ..Default::default() }), "threshold");
    }

    #[test]
    fn a_batch_that_begins_where_the_last_one_ended_goes_down() {
        let options = Options { blocks: 2, stride: 3, ..Default::default() };
        assert_eq!(ahead(options, &[(10, 12), (12, 14)]), [[15, 18], [9, 6]]);
    }
}
