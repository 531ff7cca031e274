//! From a program's statements about its data to the model's question, with the estimates of `octavo advise` for the
//! rest.

use std::collections::BTreeSet;

use octavo_advise::penalty::{Ahead, Returns, Toucher};
use octavo_advise::prefetch::{Prefetcher, Tree};
use octavo_advise::{Intensity, Occupancy, Question, Remigration, Sparsity, Structure, System};
use octavo_units::{Bandwidth, Bytes, Time};

use crate::abi::{DEVICE_FIRST, Data, SEEN_BY_HOST, SWEPT, WRITE_SHARED};

/// Bytes of the word that a thread is taken to touch, side by side with its neighbours' (as in `octavo advise`).
const WORD: f64 = 4.0;
/// Bytes that the driver's tree covers.
const BLOCK: u64 = 2 << 20;
/// Seconds that no program runs, below the limit of a time value; our choice.
const LONGEST: f64 = 1e6;

/// Visits and operations that no program makes: the model's sums are numbers below; our choice.
const MOST: f64 = 1e18;

/// The question to the model; none if a number is outside its range.
pub fn question(system: &System, data: &Data) -> Option<Question> {
    let known = DEVICE_FIRST | WRITE_SHARED | SEEN_BY_HOST | SWEPT;
    let times = [data.kernel_seconds, data.stalled_seconds];
    let counts = [data.visits, data.operations];
    if data.bytes == 0
        || data.flags & !known != 0
        || !times.iter().all(|time| (0.0..LONGEST).contains(time))
        || !counts.iter().all(|count| (0.0..MOST).contains(count))
    {
        return None;
    }
    let sigma = Sparsity::new(or(data.touched, 1.0)).ok()?;
    let rho = Remigration::new(or(data.visits, 1.0)).ok()?;
    let accessed = if data.accessed_bytes == 0 { data.bytes as f64 * sigma.get() } else { data.accessed_bytes as f64 };
    let alpha = Intensity::new(if data.operations == 0.0 { 1.0 } else { data.operations / accessed }).ok()?;
    let resident = resident_warps(system, data);
    let fit = f64::from(system.multiprocessors) * f64::from(system.warps);
    let pages = data.bytes.div_ceil(system.page.0);
    let come = data.bytes as f64 * sigma.get() * rho.get();
    let faults = swept_faults(system, pages);
    let prefetched = if data.flags & SWEPT == 0 { 0.0 } else { 1.0 - faults as f64 / pages as f64 };
    let directions = u64::from(data.copied_in > 0) + u64::from(data.copied_out > 0);
    let structure = Structure {
        size: Bytes(data.bytes),
        sigma,
        rho,
        lines: Bytes(data.line_bytes),
        alpha,
        occupancy: Occupancy::new(resident.map_or(1.0, |warps| warps / fit)).ok()?,
        required: required(system, data, come),
        fault_concurrency: together(system, data, resident),
        fault_groups: None,
        prefetched_pages: (prefetched * come / system.page.0 as f64).round_ties_even() as u64,
        // Each fault of a sweep but the last few has the tree bring more, in one copy.
        prefetches: if prefetched > 0.0 {
            (faults as f64 / pages as f64 * come / system.page.0 as f64) as u64
        } else {
            0
        },
        stale_faults: 0,
        // Nothing tells which faults come together with those of neighbours.
        fault_runs: u64::MAX,
        first: if data.flags & DEVICE_FIRST == 0 { Toucher::Host } else { Toucher::Device },
        host_faults: faults,
        returns: returns(data, sigma, (faults, pages)),
        ahead: Ahead::default(),
        write_shared: data.flags & WRITE_SHARED != 0,
        thrashing: Time((data.stalled_seconds * 1e12).round() as u64),
        copied_in: Bytes(data.copied_in),
        copied_out: Bytes(data.copied_out),
        copies: if data.copies == 0 { directions } else { data.copies },
        seen_by_host: data.flags & SEEN_BY_HOST != 0 || directions > 0,
    };
    Some(Question { structure, lines_known: data.line_bytes > 0 })
}

/// Results that the host reads by faults. It reads them in order, and the driver's tree prefetches beyond each fault,
/// unless a sweep has one fault for each page: then the tree brings nothing.
fn returns(data: &Data, sigma: Sparsity, (faults, pages): (u64, u64)) -> Returns {
    let share = data.copied_out as f64 / data.bytes as f64 * sigma.get();
    let served = (faults as f64 * share).round_ties_even() as u64;
    let prefetches = if faults < pages { served } else { 0 };
    Returns { bytes: Bytes((data.bytes as f64 * share) as u64), faults: served, prefetches }
}

fn or(value: f64, unknown: f64) -> f64 {
    if value == 0.0 { unknown } else { value }
}

/// Warps of the launch that are on the device at once; none if it is not known.
fn resident_warps(system: &System, data: &Data) -> Option<f64> {
    if data.blocks == 0 || data.threads_per_block == 0 {
        return None;
    }
    let warps = data.blocks as f64 * data.threads_per_block.div_ceil(u64::from(system.warp)) as f64;
    Some(warps.min(f64::from(system.multiprocessors) * f64::from(system.warps)))
}

/// Bytes a second that a multiprocessor requests in the time of the kernels.
fn required(system: &System, data: &Data, come: f64) -> Option<Bandwidth> {
    let each = come / data.kernel_seconds / f64::from(system.multiprocessors);
    (data.kernel_seconds > 0.0).then(|| Bandwidth(each.clamp(1.0, 1e18) as u64))
}

/// Pages with faults in flight: as many as the resident warps touch if each lane accesses one word.
fn together(system: &System, data: &Data, resident: Option<f64>) -> u64 {
    if data.faults_together > 0 {
        return data.faults_together;
    }
    let spanned = resident.unwrap_or(0.0) * f64::from(system.warp) * WORD / system.page.0 as f64;
    (spanned.round_ties_even() as u64).clamp(1, system.faults.most.max(1))
}

/// Faults of a sweep over this many pages, with the stock driver's tree over each block going ahead.
fn swept_faults(system: &System, pages: u64) -> u64 {
    let block = (BLOCK / system.page.0).max(1);
    let of = |count: u64| Tree::new(system.page, Tree::STOCK, 0..count).map_or(count, |tree| sweep(tree, count));
    let (whole, rest) = (pages / block, pages % block);
    let blocks = if whole > 0 { whole * of(block) } else { 0 };
    blocks + if rest > 0 { of(rest) } else { 0 }
}

/// Faults of a sweep over one tree: the first pages are always the ones present, so that each fault shows where the
/// next one is.
fn sweep(mut tree: Tree, count: u64) -> u64 {
    let (mut present, mut next, mut faults) = (BTreeSet::new(), 0, 0);
    while next < count {
        let last = tree.fault(next, &present).into_iter().filter(|page| *page < count).fold(next, u64::max);
        present.extend(next..=last);
        (next, faults) = (last + 1, faults + 1);
    }
    faults
}

#[cfg(test)]
mod tests {
    use octavo_advise::prefetch::replay;
    use octavo_units::Bytes;

    use super::*;
    use crate::machine::Machine;

    /// With one page, a fault brings everything there is; with more, the tree prefetches beyond it.
    #[test]
    fn what_the_host_reads_is_prefetched_only_where_there_is_more_than_faults_bring() {
        let system = Machine::built_in().unwrap().system;
        let back = |bytes| {
            let data = Data { bytes, copied_out: bytes, ..Data::default() };
            question(&system, &data).unwrap().structure.returns
        };
        let page = system.page.0;
        assert_eq!((back(page).faults, back(page).prefetches), (1, 0));
        let block = back(BLOCK);
        assert!(block.faults > 1 && block.faults < BLOCK / page, "{block:?}");
        assert_eq!(block.prefetches, block.faults);
    }

    #[test]
    fn a_sweep_faults_as_often_as_a_replay_of_it() {
        for count in (1..=512).step_by(7).chain([2, 16, 17, 256, 511, 512]) {
            let tree = || Tree::new(Bytes(4096), Tree::STOCK, 0..count).unwrap();
            assert_eq!(sweep(tree(), count), replay(0..count, &(0..count), &mut tree()).faults, "{count} pages");
        }
    }
}
