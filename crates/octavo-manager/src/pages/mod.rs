//! State of every page: flat arrays that grow with allocations.

pub(crate) mod access_ends;
mod advice;
mod allocations;
pub(crate) mod attributes;
pub(crate) mod census;
pub(crate) mod deciders;
mod huge;
mod planes;
pub(crate) mod processor_sets;
pub(crate) mod residency;
mod run;
pub(crate) mod spare;
pub(crate) mod state;
pub(crate) mod tenants;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::contract::block::BlockMap;
use crate::contract::error::ConfigError;
use crate::contract::event::{Allocation, Fault};
use crate::contract::geometry::Geometry;
use crate::contract::ids::{HOST, HOST_MEMORY, MAX_MEMORIES, MemoryId, PageId, PageRun, ProcessorId, SpaceId};
use crate::contract::kind::{Advice, Kind};
use crate::contract::masks::{MemoryMask, ProcessorMask};
use crate::contract::page::{Mode, PageView};
use crate::pages::access_ends::Held;
use crate::pages::advice::Advised;
use crate::pages::allocations::Allocations;
use crate::pages::attributes::{Attribute, AttributeChange, Attributes};
use crate::pages::deciders::{Decider, Deciders};
use crate::pages::huge::HugePages;
use crate::pages::planes::{Masks, Plane, Planes};
use crate::pages::spare::Spare;
use crate::pages::state::PageState;
use crate::pages::tenants::Tenants;

/// Arrays grow by whole page-table pages, so that a block never ends beyond them.
const GROWTH: usize = 512;
const NOT_BUSY: u32 = u32::MAX;

/// Departures of a block that are counted (UVMSmart: 6 bits).
const MOST_DEPARTURES: u32 = 63;

const ALLOCATED: u8 = 1;
const TOUCHED: u8 = 2;
/// The lowest of two bits that hold a [`Kind`].
const KIND: u32 = 2;
/// A store of a GPU was reported since the page came there.
const DIRTY: u8 = 16;
/// The page left a full memory and has not come to a GPU since.
const LEFT: u8 = 32;
const KINDS: [Kind; 4] = [Kind::Managed, Kind::System, Kind::Device, Kind::Pinned];

/// The state of a page apart from its bits in the bitmaps.
#[derive(Clone, Copy)]
struct Record {
    /// Slot of the unfinished plan that names the page.
    slot: u32,
    owner: MemoryId,
    mode: Mode,
    flags: u8,
    /// Bits that the placement that decides about it claimed.
    attributes: u8,
}

const UNALLOCATED: Record = Record { slot: NOT_BUSY, owner: HOST_MEMORY, mode: Mode::Plain, flags: 0, attributes: 0 };

/// All pages.
#[derive(Clone)]
pub(crate) struct Pages {
    geometry: Geometry,
    planes: Planes,
    records: Vec<Record>,
    allocations: Allocations,
    /// Which placement decides.
    deciders: Deciders,
    attributes: Attributes,
    advised: Advised,
    huge: HugePages,
    spare: Spare,
    /// Pages of the operating system's memory that each GPU holds.
    system_held: [u32; MAX_MEMORIES],
    /// Whether the pages in `system_held` are never evicted.
    system_stays: bool,
    /// By block: the number of times that neighbouring pages of it have left a full memory.
    departures: BTreeMap<u32, u32>,
    /// The memory of each address space, if it is counted.
    tenants: Option<Box<Tenants>>,
    /// Pages with accesses under way, if these stay.
    held: Option<Box<Held>>,
}

impl Pages {
    /// No page, for a node with this many memories.
    pub fn new(geometry: Geometry, memories: usize) -> Self {
        Self {
            geometry,
            planes: Planes::new(geometry.processors(), memories),
            records: Vec::new(),
            allocations: Allocations::default(),
            deciders: Deciders::default(),
            attributes: Attributes::default(),
            advised: Advised::default(),
            huge: HugePages::default(),
            spare: Spare::default(),
            system_held: [0; MAX_MEMORIES],
            system_stays: false,
            departures: BTreeMap::new(),
            tenants: None,
            held: None,
        }
    }

    /// A placement keeps attributes of the pages that it decides about, of which there is none yet.
    ///
    /// # Errors
    /// If there is no room for them.
    pub fn claim(&mut self, by: Decider, attributes: &'static [&'static Attribute]) -> Result<(), ConfigError> {
        self.attributes.claim(by, attributes)
    }

    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// One more than the number of the highest page that fits.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Bytes taken up by the arrays.
    pub fn bytes(&self) -> usize {
        self.planes.bytes()
            + self.records.capacity() * size_of::<Record>()
            + self.spare.bytes()
            + self.held.as_ref().map_or(0, |held| held.bytes())
    }

    /// Copies of pages that `memory` holds, replicas included.
    pub fn residents(&self, memory: MemoryId) -> u64 {
        self.planes.residents(memory)
    }

    pub fn keep_journal(&mut self) {
        self.attributes.keep_journal();
    }

    /// Changes of attributes since the last call, in order; none unless a journal is kept.
    pub fn drain_journal(&mut self) -> impl Iterator<Item = AttributeChange> + '_ {
        self.attributes.drain_journal()
    }

    /// Runs of managed pages, ascending.
    pub fn managed(&self) -> &[PageRun] {
        self.allocations.managed()
    }

    /// Runs of pages that a placement decides about, ascending.
    pub fn decided(&self, by: Decider) -> &[PageRun] {
        self.allocations.decided(by)
    }

    /// Which placement decides about managed pages of an address space.
    pub fn decider_of_space(&self, space: SpaceId) -> Decider {
        self.deciders.of_space(space)
    }

    /// Which placement decides about `page`, which is allocated.
    #[inline]
    pub fn decider(&self, page: PageId) -> Option<Decider> {
        self.deciders.of(self.kind(page), || self.space(page))
    }

    /// Whether `page` is allocated and a placement decides about it.
    pub fn decides(&self, by: Decider, page: PageId) -> bool {
        self.allocated(page) && self.decider(page) == Some(by)
    }

    /// Whether a placement decides about all allocated pages.
    pub fn decides_all(&self, by: Decider) -> bool {
        self.allocations.decided(by).len() == self.allocations.runs().len()
    }

    /// A separate placement decides about the managed pages of an address space that has no page yet.
    pub fn set_decider(&mut self, space: SpaceId, decider: Decider) {
        self.deciders.set(space, decider);
    }

    /// From now on, memory is counted by address space.
    pub fn tell_apart(&mut self) -> &mut Tenants {
        self.tenants.get_or_insert_default()
    }

    /// The memory of each address space, if it is counted.
    pub fn tenants(&self) -> Option<&Tenants> {
        self.tenants.as_deref()
    }

    /// Advice about pages.
    pub fn advised(&self) -> &Advised {
        &self.advised
    }

    /// Something is said about pages.
    pub fn advise(&mut self, run: PageRun, advice: Advice) {
        self.advised.set(run, advice);
    }

    /// Whether all allocated pages are managed.
    pub fn all_managed(&self) -> bool {
        self.allocations.managed().len() == self.allocations.runs().len()
    }

    /// Whether `page` is part of an allocation of managed memory.
    pub fn is_managed(&self, page: PageId) -> bool {
        self.allocated(page) && self.kind(page) == Kind::Managed
    }

    /// The kind of memory that the program of `page`, which is allocated, requested.
    pub fn kind(&self, page: PageId) -> Kind {
        KINDS[usize::from(self.records[page.index()].flags >> KIND & 3)]
    }

    /// The address space of `page`, which is allocated.
    pub fn space(&self, page: PageId) -> SpaceId {
        self.allocations.space(page)
    }

    /// Whether all these pages are allocated, and by `space`.
    pub fn all_of_space(&self, run: PageRun, space: SpaceId) -> bool {
        self.allocations.all_of_space(run, space)
    }

    /// Whether these pages, a block or an aligned part of one, are all resident in `processor`'s own memory and mapped
    /// there, and all writable or none.
    pub fn mapped_alike(&self, processor: ProcessorId, run: PageRun) -> bool {
        self.planes.mapped_alike(processor, run)
    }

    /// New pages, still untouched.
    pub fn allocate(&mut self, allocation: &Allocation) {
        let &Allocation { run, space, kind, advice, .. } = allocation;
        assert!(run.count > 0, "an allocation has at least one page");
        self.grow((run.first.index() + run.count as usize).next_multiple_of(GROWTH));
        for page in run.iter() {
            assert!(!self.allocated(page), "page {} is allocated twice", page.0);
            self.records[page.index()] = Record { flags: ALLOCATED | (kind as u8) << KIND, ..UNALLOCATED };
        }
        let decider = self.deciders.of(kind, || space);
        self.allocations.insert(run, space, kind, decider);
        assert!(kind == Kind::Managed || advice == Advice::default(), "advice is about managed memory, not {kind:?}");
        self.advised.set(run, advice);
        let all = ProcessorMask::all_gpus(self.geometry.gpus);
        self.tenants.iter_mut().for_each(|tenants| tenants.allocated(allocation, all));
    }

    /// Untouched pages were written before time zero, and lie in this memory.
    pub fn put(&mut self, run: PageRun, memory: MemoryId) {
        for page in run.iter() {
            self.records[page.index()].owner = memory;
            self.planes.reside(page, MemoryMask::EMPTY, MemoryMask::only(memory));
        }
    }

    fn grow(&mut self, pages: usize) {
        if pages > self.records.len() {
            self.records.resize(pages, UNALLOCATED);
            self.planes.grow(pages);
        }
    }

    /// Forgets a page; its bits become zero.
    pub fn forget(&mut self, page: PageId) {
        if let Some(decider) = self.decider(page) {
            self.attributes.forgotten(decider, self.records[page.index()].attributes);
        }
        if self.tenants.is_some() {
            let space = self.space(page);
            self.tenants.iter_mut().for_each(|tenants| tenants.freed(space));
        }
        let before = self.state(page);
        let (resident, none) = (MemoryMask::EMPTY, ProcessorMask::EMPTY);
        self.change_state(page, &before, &PageState { resident, mapped: none, writable: none, ..before });
        self.records[page.index()] = UNALLOCATED;
    }

    /// Removes `run` from the list of allocations; the rest of one on either side stays.
    pub fn deallocate(&mut self, run: PageRun) {
        self.allocations.remove(run);
        self.advised.forget(run);
    }

    /// The part of `page`'s allocation that lies in its 2 MiB block.
    pub fn extent(&self, page: PageId) -> PageRun {
        let block = self.block(page);
        assert!(self.allocated(page), "page {} is not allocated", page.0);
        let known = self.allocations.of(page);
        let first = known.first.max(block.first);
        let end = (known.first.0 + known.count).min(block.first.0 + block.count);
        PageRun { first, count: end - first.0 }
    }

    /// Whether `page` is part of a huge page of the operating system.
    pub fn is_huge(&self, page: PageId) -> bool {
        self.huge.contains(page, self.geometry.block_pages())
    }

    /// The kernel maps a block by one entry.
    pub fn make_huge(&mut self, block: PageRun) {
        self.huge.insert(block.first, self.geometry.block_pages());
    }

    /// These pages change, or are freed: the kernel maps their blocks by base pages.
    pub fn split(&mut self, run: PageRun) {
        self.huge.split(run, self.geometry.block_pages());
    }

    /// The 2 MiB block that contains `page`.
    pub fn block(&self, page: PageId) -> PageRun {
        let count = self.geometry.block_pages();
        PageRun { first: PageId(page.0 / count * count), count }
    }

    pub fn allocated(&self, page: PageId) -> bool {
        self.records.get(page.index()).is_some_and(|record| record.flags & ALLOCATED != 0)
    }

    pub fn state(&self, page: PageId) -> PageState {
        self.state_of(page, self.planes.masks(page))
    }

    fn state_of(&self, page: PageId, (resident, mapped, writable): Masks) -> PageState {
        let record = &self.records[page.index()];
        PageState { owner: record.owner, mode: record.mode, resident, mapped, writable }
    }

    pub fn mode(&self, page: PageId) -> Mode {
        self.records[page.index()].mode
    }

    /// Changes a page's state from `before` to `after`.
    pub fn change_state(&mut self, page: PageId, before: &PageState, after: &PageState) {
        let record = &mut self.records[page.index()];
        record.owner = after.owner;
        record.mode = after.mode;
        self.planes.reside(page, before.resident, after.resident);
        self.planes.toggle(page, Plane::Mapped, before.mapped, after.mapped);
        self.planes.toggle(page, Plane::Writable, before.writable, after.writable);
        if before.mode == Mode::Spare || after.mode == Mode::Spare {
            let block = page.0 / self.geometry.block_pages();
            self.spare.changed(self.allocations.space(page), block, before, after);
        }
        if before.resident != after.resident && self.kind(page) == Kind::System {
            before.resident.gpus().iter().for_each(|memory| self.system_held[memory.index()] -= 1);
            after.resident.gpus().iter().for_each(|memory| self.system_held[memory.index()] += 1);
        }
        if self.tenants.is_some() {
            self.count(page, before, after);
        }
    }

    /// Pages of the operating system's memory that a GPU holds.
    pub fn system_held(&self, memory: MemoryId) -> u32 {
        self.system_held[memory.index()]
    }

    /// The operating system's pages are never made to leave.
    pub fn keep_system(&mut self) {
        self.system_stays = true;
    }

    /// From now on, pages stay while accesses to them are under way.
    pub fn keep_outstanding(&mut self) {
        self.held = Some(Box::default());
    }

    /// Pages that accesses are under way to, if these stay.
    pub fn held(&self) -> Option<&Held> {
        self.held.as_deref()
    }

    /// The same, to change.
    pub fn held_mut(&mut self) -> Option<&mut Held> {
        self.held.as_deref_mut()
    }

    fn count(&mut self, page: PageId, before: &PageState, after: &PageState) {
        let (before, after) = (before.movable(), after.movable());
        let kind = self.kind(page);
        if before != after && !kind.stays() && !(self.system_stays && kind == Kind::System) {
            let space = self.space(page);
            self.tenants.iter_mut().for_each(|tenants| tenants.moved(space, before, after));
        }
    }

    /// Pages that GPUs keep for others.
    pub fn spare(&self) -> &Spare {
        &self.spare
    }

    /// The same, to note the plans that copy it to the host.
    pub fn spare_mut(&mut self) -> &mut Spare {
        &mut self.spare
    }

    /// Pages of `block` that `memory` keeps for others, ascending: those with a copy on the host, or those without.
    pub fn kept_in_block(&self, memory: MemoryId, block: u32, backed: bool) -> Vec<PageId> {
        let first = PageId(block * self.geometry.block_pages());
        let there = self.resident_in_block(memory, first);
        let pages = there.iter().map(|index| PageId(first.0 + index));
        let kept = |page: &PageId| {
            let state = self.state(*page);
            state.mode == Mode::Spare && state.owner == memory && state.backed() == backed
        };
        pages.filter(kept).collect()
    }

    pub fn view(&self, page: PageId) -> PageView {
        if !self.allocated(page) {
            return self.view_of_nothing(page);
        }
        self.view_of(page, self.state(page))
    }

    fn view_of(&self, page: PageId, state: PageState) -> PageView {
        let PageState { owner, mode, resident, mapped, writable } = state;
        let touched = self.records[page.index()].flags & TOUCHED != 0;
        let (attributes, busy) = (self.attribute_bits(page), self.slot(page).is_some());
        let (kind, space) = (self.kind(page), self.space(page));
        PageView {
            page,
            allocated: true,
            kind,
            space,
            owner,
            resident,
            mapped,
            writable,
            mode,
            attributes,
            busy,
            touched,
        }
    }

    fn view_of_nothing(&self, page: PageId) -> PageView {
        let none = ProcessorMask::EMPTY;
        let attributes = self.records.get(page.index()).map_or(0, |record| record.attributes);
        PageView {
            page,
            allocated: false,
            kind: Kind::default(),
            space: SpaceId::default(),
            owner: HOST_MEMORY,
            resident: MemoryMask::EMPTY,
            mapped: none,
            writable: none,
            mode: Mode::Plain,
            attributes,
            busy: false,
            touched: false,
        }
    }

    pub fn resident(&self, memory: MemoryId, page: PageId) -> bool {
        self.planes.resident(memory, page)
    }

    /// Pages of `page`'s block that are resident in `memory`.
    pub fn resident_in_block(&self, memory: MemoryId, page: PageId) -> BlockMap {
        self.planes.resident_in_block(memory, self.block(page))
    }

    /// Pages of `page`'s block that are resident near `processor`: in any of its memories.
    pub fn resident_near(&self, processor: ProcessorId, page: PageId) -> BlockMap {
        let own = self.resident_in_block(processor.memory(), page);
        if processor != HOST {
            return own;
        }
        self.planes.further().fold(own, |near, memory| near.union(&self.resident_in_block(memory, page)))
    }

    /// The unfinished plan that names `page`.
    pub fn slot(&self, page: PageId) -> Option<u32> {
        let slot = self.records[page.index()].slot;
        (slot != NOT_BUSY).then_some(slot)
    }

    pub fn set_slot(&mut self, page: PageId, slot: Option<u32>) {
        self.records[page.index()].slot = slot.unwrap_or(NOT_BUSY);
    }

    /// Whether this is the first fault on the page; later ones are not.
    pub fn touch(&mut self, fault: &Fault) -> bool {
        let flags = &mut self.records[fault.page.index()].flags;
        let first = *flags & TOUCHED == 0;
        *flags |= TOUCHED;
        first
    }

    /// A GPU that holds the page has written it.
    pub fn note_stores(&mut self, page: PageId) {
        self.records[page.index()].flags |= DIRTY;
    }

    /// Whether a GPU that holds the page is known to have written it.
    pub fn is_dirty(&self, page: PageId) -> bool {
        self.records[page.index()].flags & DIRTY != 0
    }

    /// Pages leave a full memory.
    pub fn note_left(&mut self, pages: &[PageId]) {
        for page in pages {
            self.records[page.index()].flags |= LEFT;
        }
        let span = self.geometry.block_pages();
        let together = |one: &PageId, next: &PageId| next.0 == one.0 + 1 && one.0 / span == next.0 / span;
        for run in pages.chunk_by(together) {
            let count = self.departures.entry(run[0].0 / span).or_default();
            *count = (*count + 1).min(MOST_DEPARTURES);
        }
    }

    /// How many times neighbouring pages of a page's block have left a full memory, if that is counted.
    pub fn departures(&self, page: PageId) -> u32 {
        self.departures.get(&(page.0 / self.geometry.block_pages())).copied().unwrap_or_default()
    }

    /// A copy of the page comes to a GPU; whether it left a full memory before.
    pub fn returns(&mut self, page: PageId) -> bool {
        let flags = &mut self.records[page.index()].flags;
        let left = *flags & LEFT != 0;
        *flags &= !LEFT;
        left
    }

    /// The page moves: it has not been written yet at its new place.
    pub fn clean(&mut self, page: PageId) {
        self.records[page.index()].flags &= !DIRTY;
    }

    pub fn attribute_bits(&self, page: PageId) -> u8 {
        self.records[page.index()].attributes
    }

    /// The placement's attribute of a page; 0 if another placement decides about the page.
    pub fn attribute(&self, by: Decider, page: PageId, attribute: &Attribute) -> u8 {
        if self.remembers(by, page) { attribute.read(self.attribute_bits(page)) } else { 0 }
    }

    /// A placement wants to remember something of a page.
    pub fn set_attribute(&mut self, by: Decider, page: PageId, attribute: &'static Attribute, value: u8) {
        if self.remembers(by, page) {
            let bits = &mut self.records[page.index()].attributes;
            self.attributes.write(by, page, bits, attribute, value);
        }
    }

    /// Whether the bits of a page belong to a placement. For a page that does not exist, they belong to the only
    /// placement with attributes.
    fn remembers(&self, by: Decider, page: PageId) -> bool {
        if self.allocated(page) { self.decider(page) == Some(by) } else { !self.attributes.contested() }
    }

    /// Pages that a placement decides about by the value of an attribute; see [`Census`](census::Census).
    pub fn by_value(&self, by: Decider, attribute: &'static Attribute) -> Vec<u64> {
        let count = |runs: &[PageRun]| -> u64 { runs.iter().map(|run| u64::from(run.count)).sum() };
        let all = if by == Decider::MANAGED {
            let managed: u64 = count(self.managed()) - count(self.decided(by));
            count(self.allocations.runs()) - managed
        } else {
            count(self.decided(by))
        };
        self.attributes.pages(by, attribute, all)
    }
}
