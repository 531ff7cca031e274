//! The manager's answers about every page and memory, compared with the model and the machine.

use octavo_manager::{GroupSize, MemoryId, MemoryMask, PageId, PageView, ProcessorId, ProcessorMask, Scheme};

use super::Harness;
use crate::reference::{Model, Placement};

/// The comparable part of a page's state.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    page: u32,
    owner: MemoryId,
    resident: MemoryMask,
    mapped: ProcessorMask,
    writable: ProcessorMask,
    scheme: Option<Scheme>,
    group: u32,
    busy: bool,
    touched: bool,
}

fn from_manager(view: &PageView) -> Seen {
    let PageView { page, owner, resident, mapped, writable, busy, touched, .. } = *view;
    let (scheme, group) = (Scheme::of(view), GroupSize::of(view).pages());
    Seen { page: page.0, owner, resident, mapped, writable, scheme, group, busy, touched }
}

fn from_model(model: &Model, page: u32) -> Seen {
    let state = &model.pages[&page];
    // What GRIT notes of groups whose pages are all another's is forgotten.
    let own = matches!(model.placement(page), Placement::Grit(_));
    Seen {
        page,
        owner: if state.populated { state.memory(state.owner) } else { state.owner.memory() },
        resident: state.resident(),
        mapped: state.mapped(),
        writable: state.writable(),
        scheme: model.groups.schemes.get(&page).copied(),
        group: if own { model.groups.size(page) } else { 1 },
        busy: model.busy(page),
        touched: model.touched.contains(&page),
    }
}

impl Harness {
    /// Manager and model agree about every page, every memory and every count.
    pub fn compare(&self) {
        if let Some(model) = &self.model {
            self.compare_pages(model.pages.keys());
        }
    }

    /// They agree about these pages, and about every memory and every count.
    pub fn compare_pages<'a>(&self, pages: impl IntoIterator<Item = &'a u32>) {
        let Some(model) = &self.model else { return };
        for &page in pages {
            assert_eq!(from_manager(&self.manager.page(PageId(page))), from_model(model, page), "manager, then model");
        }
        for memory in self.manager.memories() {
            let counted = !memory.on_host() || !model.rules.hosts.is_empty();
            let held = if counted { model.held(memory) } else { 0 };
            assert_eq!(self.manager.frames_held(memory), held, "frames held in {memory}: manager, then model");
        }
        self.compare_counts(model);
        self.compare_fights(model);
        self.compare_frames(model);
        if matches!(model.rules.placement, Placement::Grit(_)) {
            self.compare_grit(model);
        }
    }

    fn compare_counts(&self, model: &Model) {
        let (found, expected) = (self.manager.statistics(), &model.counts);
        let pairs = [
            ("far_faults", found.far_faults, expected.far_faults),
            ("protection_faults", found.protection_faults, expected.protection_faults),
            ("cold_faults", found.cold_faults, expected.cold_faults),
            ("stale_faults", found.stale_faults, expected.stale_faults),
            ("migrations", found.migrations, expected.migrations),
            ("duplications", found.duplications, expected.duplications),
            ("collapses", found.collapses, expected.collapses),
            ("replicas_left", found.replicas_left, expected.replicas_left),
            ("remote_maps", found.remote_maps, expected.remote_maps),
            ("counter_migrations", found.counter_migrations, expected.counter_migrations),
            ("report_migrations", found.report_migrations, expected.report_migrations),
            ("unsubscribed", found.unsubscribed, expected.unsubscribed),
            ("prefetched", found.prefetched, expected.prefetched),
            ("populated", found.populated, expected.populated),
            ("evictions_written", found.evictions_written, expected.evictions_written),
            ("evictions_for_others", found.evictions_for_others, expected.evictions_for_others),
            ("evictions_dropped", found.evictions_dropped, expected.evictions_dropped),
        ];
        compare_pairs(&pairs);
    }

    fn compare_fights(&self, model: &Model) {
        let Some(fights) = &model.fights else { return };
        assert_eq!(self.manager.deadline().map(|at| at.0), model.deadline(), "deadline: manager, then model");
        let found = self.manager.statistics();
        let pairs = [
            ("thrashing_pages", found.named("thrashing_pages").unwrap(), fights.thrashing),
            ("throttled_faults", found.named("throttled_faults").unwrap(), fights.throttled),
            ("pinned_pages", found.named("pinned_pages").unwrap(), fights.pinned),
            ("unpinned_pages", found.named("unpinned_pages").unwrap(), fights.unpinned),
        ];
        compare_pairs(&pairs);
    }

    fn compare_frames(&self, model: &Model) {
        let Some(frames) = &model.frames else { return };
        for gpu in (0..model.rules.gpus()).map(ProcessorId::gpu) {
            let places = frames.places(gpu.gpu_index().expect("it is a GPU"));
            for &page in model.pages.keys() {
                let id = PageId(page);
                let found = self.manager.frame(gpu.memory(), id).map(|frame| (frame, self.manager.coalesced(gpu, id)));
                let expected = places.get(&page).copied();
                assert_eq!(found, expected, "page {page} on {gpu}, frame and large page: manager, then model");
            }
        }
        let (found, expected) = (self.manager.statistics(), &frames.counts);
        let pairs = [
            ("coalesced", found.coalesced, expected.coalesced),
            ("splintered", found.splintered, expected.splintered),
            ("emergency_splinters", found.emergency_splinters, expected.emergency_splinters),
            ("compactions", found.compactions, expected.compactions),
            ("pages_compacted", found.pages_compacted, expected.pages_compacted),
            ("frames_freed_by_compaction", found.frames_freed_by_compaction, expected.frames_freed_by_compaction),
            ("faults_on_compaction", found.faults_on_compaction, expected.faults_on_compaction),
            ("soft_guarantee_broken", found.named("soft_guarantee_broken").unwrap(), expected.soft_guarantee_broken),
            ("identity_missed", found.named("identity_missed").unwrap(), expected.identity_missed),
        ];
        compare_pairs(&pairs);
    }

    fn compare_grit(&self, model: &Model) {
        let (found, groups, attributes) = (self.manager.statistics(), &model.groups, &model.attributes);
        let pairs = [
            ("predictions", found.named("predictions").unwrap(), groups.predictions),
            ("groups_formed", found.named("groups_formed").unwrap(), groups.formed),
            ("groups_split", found.named("groups_split").unwrap(), groups.split),
            ("pa_cache_hits", found.named("pa_cache_hits").unwrap(), attributes.hits),
            ("pa_cache_misses", found.named("pa_cache_misses").unwrap(), attributes.misses),
            ("pa_table_reads", found.named("pa_table_reads").unwrap(), attributes.reads),
            ("pa_table_writes", found.named("pa_table_writes").unwrap(), attributes.writes),
        ];
        compare_pairs(&pairs);
    }

    /// The manager's belief matches the machine's memories and page tables. Only pages that are in no unfinished plan.
    pub fn compare_machine(&self) {
        for page in self.machine.pages() {
            let view = self.manager.page(page);
            if view.busy {
                continue;
            }
            self.machine.agrees(&view, false).unwrap();
            for index in 1..self.machine.tables.len() {
                let processor = ProcessorId(index as u8);
                let large = view.resident.near(processor) && self.machine.in_large_page(processor, page);
                let coalesced = self.manager.coalesced(processor, page);
                let settled = self.running.is_empty();
                assert!(!settled || large == coalesced, "large page of page {} on {processor}", page.0);
            }
        }
        (0..self.machine.capacity.len()).for_each(|memory| self.machine.check_capacity(memory).unwrap());
    }
}

fn compare_pairs(pairs: &[(&str, u64, u64)]) {
    for (name, found, expected) in pairs {
        assert_eq!(found, expected, "{name}: manager, then model");
    }
}
