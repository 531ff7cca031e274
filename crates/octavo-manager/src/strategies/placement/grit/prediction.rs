//! Neighbour-aware prediction: pages whose neighbours mostly have one scheme take it, too, in groups of 8, 64 and 512
//! pages that grow by promotion and shrink by splitting.
//!
//! A group's size is kept in the entry of its base page, `vpn - vpn mod size`. All pages of a group have one scheme.
//! Groups never reach beyond one page-table page of 512 entries. Prediction moves no page and touches no mapping.

use super::bits::{GroupSize, Scheme};
use super::counts::Counts;
use crate::contract::ids::PageId;
use crate::strategies::context::Context;

/// Sizes that a page can be promoted to, with the next smaller one.
const LEVELS: [(GroupSize, GroupSize); 3] = [
    (GroupSize::Eight, GroupSize::One),
    (GroupSize::SixtyFour, GroupSize::Eight),
    (GroupSize::FiveHundredTwelve, GroupSize::SixtyFour),
];

fn base(page: PageId, size: GroupSize) -> PageId {
    PageId(page.0 - page.0 % size.pages())
}

/// Bases of the parts of `size` that the group of eight times that size at `whole` consists of.
fn parts(whole: PageId, size: GroupSize) -> impl Iterator<Item = PageId> {
    (0..8).map(move |part| PageId(whole.0 + part * size.pages()))
}

/// Size of the group that `page` belongs to.
fn group_of(page: PageId, context: &Context<'_>) -> GroupSize {
    let sizes = LEVELS.iter().rev().map(|&(size, _)| size);
    sizes.into_iter().find(|&size| GroupSize::read(base(page, size), context) == size).unwrap_or_default()
}

/// `page` gets another scheme than its group: the group is split level by level until the page is on its own. The parts
/// that do not hold it stay groups, each of the next smaller size.
pub(super) fn split(page: PageId, counts: &mut Counts, context: &mut Context<'_>) {
    let whole = group_of(page, context);
    for &(size, smaller) in LEVELS.iter().rev().filter(|&&(size, _)| size <= whole) {
        // The part that holds the page is split in the next round, or consists of single pages.
        parts(base(page, size), smaller).for_each(|part| smaller.write(part, context));
        counts.groups_split += 1;
    }
}

/// `page`, on its own, was decided to have `scheme`: grow a group around it, level by level, while more than half of
/// the eight parts at each level agree.
pub(super) fn promote(page: PageId, scheme: Scheme, counts: &mut Counts, context: &mut Context<'_>) {
    for (size, smaller) in LEVELS {
        let whole = base(page, size);
        let agree = parts(whole, smaller).filter(|&part| agrees(part, smaller, scheme, context)).count();
        if agree <= 4 {
            return;
        }
        form(whole, size, scheme, counts, context);
    }
}

/// Whether a part is a group of exactly its size, or a page, with the scheme.
fn agrees(part: PageId, size: GroupSize, scheme: Scheme, context: &Context<'_>) -> bool {
    context.allocated(part) && Scheme::read(part, context) == Some(scheme) && GroupSize::read(part, context) == size
}

/// Everything in the span takes the scheme and becomes one group.
fn form(whole: PageId, size: GroupSize, scheme: Scheme, counts: &mut Counts, context: &mut Context<'_>) {
    let mut predicted = 0;
    for page in (whole.0..whole.0 + size.pages()).map(PageId) {
        if page.0.is_multiple_of(GroupSize::Eight.pages()) {
            GroupSize::One.write(page, context);
        }
        if context.allocated(page) && Scheme::read(page, context) != Some(scheme) {
            scheme.write(page, context);
            predicted += 1;
        }
    }
    size.write(whole, context);
    counts.predictions += predicted;
    counts.groups_formed += 1;
}

/// No group overlaps another, and all pages of each have one scheme.
pub(super) fn check(context: &Context<'_>) -> Result<(), String> {
    for page in context.allocations().iter().flat_map(|run| run.iter()) {
        let size = group_of(page, context);
        let whole = base(page, size);
        if whole == page || (size == GroupSize::One && GroupSize::read(page, context) == GroupSize::One) {
            continue;
        }
        let nested = GroupSize::read(page, context);
        if nested != GroupSize::One {
            return Err(format!("page {} is the base of a group inside a group", page.0));
        }
        if context.allocated(whole) && Scheme::read(page, context) != Scheme::read(whole, context) {
            return Err(format!("page {} has another scheme than its group", page.0));
        }
    }
    Ok(())
}
