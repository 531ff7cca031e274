//! `gps`: every GPU that touches a page subscribes to it and gets a replica; stores go to all subscribers.
//!
//! GPS drops the replicas that were never read in a profiled first iteration. The manager does not see reads: it sees
//! the fault that made a GPU subscribe. A subscription by a load counts as read; one by a store is given up when the
//! profiled kernels have ended. If that GPU loads the page after all, it faults, subscribes again, and counts as a
//! reader from then on; if it only stores, it maps the owner's copy, and its stores are broadcast from there.

use octavo_registry::{Entry, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Placement;
use crate::contract::event::{Fault, KernelEnd};
use crate::contract::geometry::Geometry;
use crate::contract::ids::{Access, HOST, PageId, PageRun};
use crate::contract::masks::{MemoryMask, ProcessorMask};
use crate::contract::page::{Mode, PageView};
use crate::pages::processor_sets::ProcessorSets;
use crate::strategies::context::Context;
use crate::strategies::decision::{Decision, Unsubscribe};

/// Options of `gps`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Kernels of the first iteration, which is profiled. After it, replicas without a known reader are given up;
    /// default 1, 0 for never (GPS, MICRO 2021, section 4: profiling in the first iteration).
    profile_kernels: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { profile_kernels: 1 }
    }
}

pub(super) static ENTRY: Entry<Box<dyn Placement>, Geometry> = Entry {
    name: "gps",
    summary: "replicates a page to every processor that touches it and broadcasts stores",
    source: "GPS (MICRO 2021)",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        let Options { profile_kernels } = typed::parse(options)?;
        Ok(Box::new(Gps { profile_kernels, ..Gps::default() }))
    },
};

#[derive(Default)]
struct Gps {
    profile_kernels: u32,
    /// By address space: kernels that have ended.
    kernels: Vec<u32>,
    /// Processors that subscribed to each page by a load.
    readers: ProcessorSets,
    /// Processors that gave up the replica of each page.
    unsubscribed: ProcessorSets,
}

impl Placement for Gps {
    fn on_allocate(&mut self, pages: PageRun, context: &mut Context<'_>) {
        let (end, gpus) = (pages.first.index() + pages.count as usize, context.geometry().gpus);
        self.readers.grow(end, gpus);
        self.unsubscribed.grow(end, gpus);
    }

    fn on_free(&mut self, pages: PageRun, _context: &mut Context<'_>) {
        for page in pages.iter() {
            self.readers.set(page, ProcessorMask::EMPTY);
            self.unsubscribed.set(page, ProcessorMask::EMPTY);
        }
    }

    fn on_fault(&mut self, fault: &Fault, _page: &PageView, _context: &mut Context<'_>) -> Decision {
        if fault.processor == HOST {
            return Decision::MapRemote;
        }
        let unsubscribed = self.unsubscribed.of(fault.page);
        if fault.access == Access::Read {
            self.readers.set(fault.page, self.readers.of(fault.page).with(fault.processor));
            self.unsubscribed.set(fault.page, unsubscribed.without(fault.processor));
        } else if unsubscribed.contains(fault.processor) {
            return Decision::MapRemote;
        }
        Decision::Subscribe
    }

    fn on_kernel_end(&mut self, kernel: &KernelEnd, context: &mut Context<'_>, given_up: &mut Vec<Unsubscribe>) {
        let space = usize::from(kernel.space.0);
        if space >= self.kernels.len() {
            self.kernels.resize(space + 1, 0);
        }
        self.kernels[space] = self.kernels[space].saturating_add(1);
        if self.kernels[space] != self.profile_kernels {
            return;
        }
        let own = context.allocations().iter().filter(|run| context.space(run.first) == kernel.space);
        for page in own.flat_map(|run| run.iter()) {
            self.give_up(page, context, given_up);
        }
    }

    fn bytes(&self) -> usize {
        self.readers.bytes() + self.unsubscribed.bytes()
    }
}

impl Gps {
    fn give_up(&mut self, page: PageId, context: &Context<'_>, given_up: &mut Vec<Unsubscribe>) {
        let view = context.page(page);
        let readers = self.readers.of(page);
        let memories = view.resident.difference(MemoryMask(readers.0)).without(view.owner);
        if view.mode == Mode::Broadcast && !memories.is_empty() {
            given_up.push(Unsubscribe { page, memories });
            self.unsubscribed.set(page, self.unsubscribed.of(page).union(memories.processors()));
        }
    }
}
