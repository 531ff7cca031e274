//! A core first touches memory of the operating system: the kernel may give it a huge page.

use crate::contract::event::Fault;
use crate::contract::ids::{HOST, MemoryId, PageRun};
use crate::contract::kind::Kind;
use crate::strategies::numa::OnHost;
use crate::strategies::system::Huge;
use crate::transaction::Transaction;

/// The block of 2 MiB that is created with the faulted page: all of it belongs to the allocation, none of it has been
/// touched, and `memory` has room. A GPU's first touch makes base pages (`uvm-driver.md` section 7:
/// `uvm_migrate_pageable`), and so does a policy that deals out page by page.
pub(super) fn touched(tx: &Transaction<'_>, fault: &Fault, memory: MemoryId) -> Option<PageRun> {
    let (page, pages) = (fault.page, &tx.memory.pages);
    if tx.memory.huge == Huge::Never || fault.processor != HOST || pages.kind(page) != Kind::System {
        return None;
    }
    let block = pages.block(page);
    let dealt = matches!(tx.memory.numa.on_host(page), OnHost::Turn(_));
    let whole = pages.extent(page) == block;
    let untouched = block.iter().all(|page| !pages.state(page).populated() && pages.slot(page).is_none());
    let fits = tx.memory.frames.spare(memory, &tx.draft.flight.change) >= block.count;
    (!dealt && whole && untouched && fits).then_some(block)
}

/// One entry maps a new block if the whole block is in one memory.
pub(super) fn note(tx: &mut Transaction<'_>, block: PageRun) {
    let owner = tx.state(block.first).owner;
    if block.count > 1 && block.iter().all(|page| tx.state(page).owner == owner) {
        tx.memory.pages.make_huge(block);
    }
}
