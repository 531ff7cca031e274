//! `interleaved`: pages are dealt out to the GPUs in turn when they are allocated, and never move.

use octavo_registry::{Entry, OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Placement;
use crate::contract::event::{Fault, Needs};
use crate::contract::geometry::Geometry;
use crate::contract::ids::{PageId, PageRun, ProcessorId};
use crate::contract::masks::ProcessorMask;
use crate::contract::page::PageView;
use crate::strategies::context::Context;
use crate::strategies::decision::Decision;
use crate::strategies::rotation::{Dealer, Dealt};

/// Options of `interleaved`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// GPU that holds the first page of all (1 is the first GPU; 0: the last); default 0, as MGPUSim v4.2.0 does
    /// (`driver/internal/device.go`, `allocateUnifiedGPUPage`).
    first_gpu: u32,
}

pub(super) static ENTRY: Entry<Box<dyn Placement>, Geometry> = Entry {
    name: "interleaved",
    summary: "explicit allocation: pages are dealt out to the GPUs in turn and never move; no faults",
    source: "MGPUSim v4.2.0, memory of a unified GPU without unified memory (driver/internal/device.go)",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let options = typed::parse::<Options>(options)?;
        let gpus = geometry.gpus as u32;
        let first = options.first_gpu.checked_sub(1).unwrap_or(gpus - 1);
        if first >= gpus {
            return Err(OptionError::new("first_gpu", format!("expected 0 to {gpus}, found {}", options.first_gpu)));
        }
        Ok(Box::new(Interleaved { dealer: Dealer::new(first), allocations: Vec::new() }))
    },
};

struct Interleaved {
    dealer: Dealer,
    /// First pages of allocations, ascending, and where their pages are.
    allocations: Vec<(PageId, Homes)>,
}

#[derive(Clone, Copy)]
enum Homes {
    /// Dealt out: see [`Dealt`].
    Dealt { whose: u8, before: u32 },
    /// All on the GPU that the program requested.
    On(ProcessorId),
}

impl From<Dealt> for Homes {
    fn from(Dealt { whose, before }: Dealt) -> Self {
        Self::Dealt { whose, before }
    }
}

impl Interleaved {
    fn home(&self, page: PageId) -> ProcessorId {
        let after = self.allocations.partition_point(|(first, _)| *first <= page);
        match self.allocations[after - 1] {
            (_, Homes::On(gpu)) => gpu,
            (first, Homes::Dealt { whose, before }) => self.dealer.home(Dealt { whose, before }, page.0 - first.0),
        }
    }

    /// The allocation that contains `page` continues there as a separate one.
    fn split(&mut self, page: PageId) {
        let after = self.allocations.partition_point(|(first, _)| *first <= page);
        let (first, homes) = self.allocations[after - 1];
        let homes = match homes {
            Homes::Dealt { whose, before } => self.dealer.later(Dealt { whose, before }, page.0 - first.0).into(),
            Homes::On(_) => homes,
        };
        if first != page {
            self.allocations.insert(after, (page, homes));
        }
    }

    fn insert(&mut self, first: PageId, homes: Homes) {
        let at = self.allocations.partition_point(|(before, _)| *before < first);
        self.allocations.insert(at, (first, homes));
    }
}

impl Placement for Interleaved {
    fn needs(&self) -> Needs {
        Needs { free_faults: true, ..Needs::default() }
    }

    fn on_allocate_among(&mut self, pages: PageRun, gpus: ProcessorMask, _context: &mut Context<'_>) {
        let dealt = self.dealer.deal(gpus, pages.count);
        self.insert(pages.first, dealt.into());
    }

    fn on_allocate_on(&mut self, pages: PageRun, gpu: ProcessorId, _context: &mut Context<'_>) {
        self.insert(pages.first, Homes::On(gpu));
    }

    fn on_free(&mut self, pages: PageRun, context: &mut Context<'_>) {
        let end = PageId(pages.first.0 + pages.count);
        if context.allocated(end) {
            self.split(end);
        }
        self.allocations.retain(|(first, _)| *first < pages.first || *first >= end);
    }

    fn on_fault(&mut self, fault: &Fault, _page: &PageView, _context: &mut Context<'_>) -> Decision {
        Decision::At(self.home(fault.page).memory())
    }

    fn bytes(&self) -> usize {
        self.allocations.len() * size_of::<(PageId, Homes)>()
    }
}
