//! The host access penalty φ of a data structure (MemMap, PACT 2020, equations 5 to 10).
//!
//! | symbol | meaning | here |
//! |---|---|---|
//! | V | bytes that come to the device: `size · σ · ρ` | [`Penalty::volume`] |
//! | L | their latency, if nothing hides it | [`Penalty::latency`] |
//! | C | warps and operations that there are to hide it | [`Penalty::concurrency`] |
//! | H_C, H_pre | what of it concurrency and prefetching hide | [`Penalty::hidden`], [`Penalty::hidden_by_prefetch`] |
//! | φ | what host placement costs more than device placement | [`Penalty::phi`] |
//!
//! `φ = exposed + faults + thrashing + first touch − launches − copy`. For whole programs, the return of results and
//! the cost of having memory of each kind are added. [`Readings`] has the places where the printed equations cannot be
//! meant.

mod host_costs;
mod readings;
mod structure;
mod system;

use octavo_units::Bytes;
use serde::Serialize;

pub use readings::{Copying, Extent, Faults, FirstTouch, Hiding, Latency, Operations, Prefetching, Readings};
pub use structure::{Ahead, FaultGroups, HostPlacement, Returns, Structure, Toucher};
pub use system::{AllocationCosts, Back, CallCosts, FaultCosts, System};

use crate::roofline::positive;
use crate::{QuantityError, Roofline, Seconds};

/// Bytes of the word that a lane is taken to load ([`Operations::Words`]): a float or an index.
const WORD: f64 = 4.0;

/// The costs and savings of host placement of a structure, term by term, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Penalty {
    /// V.
    pub volume: Bytes,
    /// L.
    pub latency: Seconds,
    /// C, without unit.
    pub concurrency: f64,
    /// H_C.
    pub hidden: Seconds,
    /// H_pre.
    pub hidden_by_prefetch: Seconds,
    /// The part of L that nothing hides: `L − H_C − H_pre`, not below 0.
    pub exposed: Seconds,
    /// Serving faults, and bringing what the driver's prefetcher adds to them.
    pub faults: Seconds,
    /// The program's prefetches, and taking their pages from the host.
    pub prefetches: Seconds,
    /// Faults that are held up because host and device write the same pages.
    pub thrashing: Seconds,
    /// Pages that the device touches first.
    pub first_touch: Seconds,
    /// Pages that come back to the host at its faults.
    pub returned: Seconds,
    /// The cost of this kind of memory beyond device memory; may be below 0.
    pub having: Seconds,
    /// Launches that a structure larger than the device needs to be cut into.
    pub launches: Seconds,
    /// Bulk copies of device placement.
    pub copy: Seconds,
    /// Host and device write it at nearly the same time, which rules out pages on demand.
    pub thrashes: bool,
}

impl Penalty {
    /// The penalty of `structure` on `system` if it comes to the device as `host` says.
    ///
    /// # Errors
    /// A constant is 0 where that means nothing.
    pub fn of(
        system: &System,
        structure: &Structure,
        host: HostPlacement,
        readings: &Readings,
    ) -> Result<Self, QuantityError> {
        system.check()?;
        structure.check()?;
        let on_demand = host == HostPlacement::OnDemand;
        let managed = host != HostPlacement::Pinned;
        let volume = volume(structure, host);
        let latency = latency(system, structure, host, readings)?;
        let concurrency = concurrency(system, structure, readings);
        let may_hide = on_demand && readings.hiding == Hiding::Concurrency;
        let hides = if may_hide { (concurrency / lines_in_flight(system, structure)?).min(1.0) } else { 0.0 };
        let hidden = latency * hides;
        let hidden_by_prefetch = if on_demand { hidden_by_prefetch(system, structure, latency, readings) } else { 0.0 };
        let penalties = if on_demand { faults(system, structure, readings) } else { (0.0, 0.0) };
        let whole = readings.extent == Extent::Program;
        Ok(Self {
            volume: Bytes(volume.round() as u64),
            latency: Seconds(latency),
            concurrency,
            hidden: Seconds(hidden),
            hidden_by_prefetch: Seconds(hidden_by_prefetch),
            exposed: Seconds((latency - hidden - hidden_by_prefetch).max(0.0)),
            faults: Seconds(penalties.0),
            prefetches: Seconds(if host == HostPlacement::Prefetched { ahead(system, structure) } else { 0.0 }),
            thrashing: Seconds(if on_demand { structure.thrashing.seconds() } else { 0.0 }),
            first_touch: Seconds(penalties.1),
            returned: Seconds(if whole && managed { host_costs::returned(system, structure) } else { 0.0 }),
            having: Seconds(if whole { host_costs::having(system, structure, host) } else { 0.0 }),
            launches: Seconds((structure.size.0 / system.capacity.0) as f64 * system.calls.launch.seconds()),
            copy: Seconds(copy(system, structure, readings)?),
            thrashes: on_demand && structure.write_shared,
        })
    }

    /// φ: below 0, host placement is the better one, unless it [thrashes](Self::thrashes).
    #[must_use]
    pub fn phi(&self) -> Seconds {
        let kernel = self.exposed.0 + self.faults.0 + self.prefetches.0 + self.thrashing.0 + self.first_touch.0;
        let costs = kernel + self.returned.0 + self.having.0;
        Seconds(costs - self.launches.0 - self.copy.0)
    }

    /// Whether the structure belongs on the host.
    #[must_use]
    pub fn advises_host(&self) -> bool {
        !self.thrashes && self.phi().0 < 0.0
    }
}

/// V: pages that come, each time; or lines that do.
fn volume(structure: &Structure, host: HostPlacement) -> f64 {
    match host {
        HostPlacement::OnDemand => structure.size.0 as f64 * structure.sigma.get() * structure.rho.get(),
        HostPlacement::Prefetched => structure.ahead.bytes.0 as f64,
        HostPlacement::Pinned => structure.lines.0 as f64,
    }
}

/// L, seconds.
fn latency(
    system: &System,
    structure: &Structure,
    host: HostPlacement,
    readings: &Readings,
) -> Result<f64, QuantityError> {
    let volume = volume(structure, host);
    let bytes = match host {
        HostPlacement::OnDemand => crossing(structure, readings),
        HostPlacement::Prefetched => return Ok(volume / positive(system.roofline.on_demand)?),
        HostPlacement::Pinned => return Ok(volume / positive(system.by_lines)?.min(asked_at_once(system, structure))),
    };
    let (multiprocessors, interconnect) = (f64::from(system.multiprocessors), positive(system.roofline.on_demand)?);
    let required = required(system, structure)?;
    Ok(match readings.latency {
        Latency::Product => bytes * required.min(interconnect),
        Latency::Alone => bytes / multiprocessors / required.min(interconnect),
        Latency::Shared => bytes / multiprocessors / required.min(interconnect / multiprocessors),
        Latency::Interconnect => bytes / interconnect,
    })
}

/// Bytes a second of lines in host memory if each resident warp waits for one load, a word a lane.
fn asked_at_once(system: &System, structure: &Structure) -> f64 {
    let fit = f64::from(system.multiprocessors) * f64::from(system.warps);
    let resident = (structure.occupancy.get() * fit).max(1.0);
    resident * f64::from(system.warp) * WORD / system.latency.seconds()
}

/// The part of V that crosses the interconnect: pages that the device touches first do not cross the first time.
fn crossing(structure: &Structure, readings: &Readings) -> f64 {
    let volume = volume(structure, HostPlacement::OnDemand);
    if made_on_device(structure, readings) { volume - volume / structure.rho.get() } else { volume }
}

fn made_on_device(structure: &Structure, readings: &Readings) -> bool {
    structure.first == Toucher::Device && readings.first_touch == FirstTouch::Made
}

/// βʳ: bytes a second that a multiprocessor requests. If nothing says so, the total that the canonical roofline allows,
/// shared equally.
fn required(system: &System, structure: &Structure) -> Result<f64, QuantityError> {
    if let Some(required) = structure.required {
        return positive(required);
    }
    let canonical = Roofline::of(&system.roofline)?.canonical(structure.alpha).get();
    Ok(canonical / structure.alpha.get() / f64::from(system.multiprocessors))
}

/// C: operations of a warp between two loads, and warps.
fn concurrency(system: &System, structure: &Structure, readings: &Readings) -> f64 {
    let warp = f64::from(system.warp);
    let operations = match readings.operations {
        Operations::Lanes => ((structure.alpha.get() - 1.0 / warp) * warp).floor(),
        Operations::Words => (structure.alpha.get() * WORD).floor(),
    };
    operations.max(0.0) + f64::from(system.warps) * structure.occupancy.get()
}

/// l: cycles of latency that a multiprocessor creates in each cycle, which are (by Little's law) the lines that it
/// needs in flight to get them as fast as it requests them.
fn lines_in_flight(system: &System, structure: &Structure) -> Result<f64, QuantityError> {
    Ok(required(system, structure)? / system.line.0 as f64 * system.latency.seconds())
}

fn hidden_by_prefetch(system: &System, structure: &Structure, latency: f64, readings: &Readings) -> f64 {
    let pages = structure.size.0 as f64 * structure.sigma.get() * structure.rho.get() / system.page.0 as f64;
    match readings.prefetch {
        Prefetching::Latency => latency * (structure.prefetched_pages as f64 / pages).min(1.0),
        Prefetching::Faults => 0.0,
    }
}

/// The fault penalty and the first-touch penalty, seconds.
fn faults(system: &System, structure: &Structure, readings: &Readings) -> (f64, f64) {
    let volume = volume(structure, HostPlacement::OnDemand);
    let asked = (volume / system.page.0 as f64 - structure.prefetched_pages as f64).max(0.0);
    let brought = brought(system, structure, readings);
    let fetched = |some| served(system, structure, (some, asked), Each::fetched(system), readings);
    if structure.first == Toucher::Host {
        return (fetched(asked) + brought, 0.0);
    }
    if !made_on_device(structure, readings) {
        let a_byte = system.first_touch_a_byte(structure.occupancy);
        return (fetched(asked) + brought, a_byte * volume);
    }
    let first = asked / structure.rho.get();
    (fetched(asked - first) + brought, served(system, structure, (first, asked), Each::made(system), readings))
}

/// Seconds of a fault in its group, apart from the group's own: with a page that comes by itself, and with one in a
/// neighbour's copy.
struct Each {
    alone: f64,
    neighbour: f64,
}

impl Each {
    /// Its page comes from the host, which gives up each page by itself.
    fn fetched(system: &System) -> Self {
        let alone = system.faults.fault.seconds();
        Self { alone, neighbour: (system.faults.stale.seconds() + system.faults.unmap.seconds()).min(alone) }
    }

    /// Its page is made on the device.
    fn made(system: &System) -> Self {
        let alone = system.faults.made.seconds();
        Self { alone, neighbour: system.faults.stale.seconds().min(alone) }
    }
}

/// Seconds of serving a part of all faults, except those whose pages have arrived by then.
fn served(system: &System, structure: &Structure, (some, all): (f64, f64), each: Each, readings: &Readings) -> f64 {
    match readings.faults {
        Faults::Subtracted => {
            let group = system.faults.group.seconds() + system.faults.block.seconds();
            (some - structure.fault_concurrency as f64).max(0.0) * (group + each.alone)
        }
        Faults::Divided => {
            let share = |count: u64| if all > 0.0 { (count as f64 / all).min(1.0) } else { 0.0 };
            let stale = share(structure.stale_faults);
            let alone = share(structure.fault_runs).min(1.0 - stale);
            let neighbours = 1.0 - stale - alone;
            let fault = alone * each.alone + neighbours * each.neighbour + stale * system.faults.stale.seconds();
            grouped(system, structure, all) * if all > 0.0 { some / all } else { 0.0 } + some * fault
        }
    }
}

/// Seconds of the groups and blocks in which faults are served, apart from the faults themselves.
fn grouped(system: &System, structure: &Structure, faults: f64) -> f64 {
    let (groups, blocks) = structure.fault_groups.map_or_else(
        || {
            let groups = faults / structure.fault_concurrency.min(system.faults.most) as f64;
            (groups, groups)
        },
        |counted| (counted.groups, counted.blocks as f64),
    );
    groups * system.faults.group.seconds() + blocks * system.faults.block.seconds()
}

/// Seconds of prefetches that the program asks for: calls, copies, and taking each page from the host's page table.
fn ahead(system: &System, structure: &Structure) -> f64 {
    let Ahead { calls, copies, bytes } = structure.ahead;
    let copy = if structure.first == Toucher::Host { system.faults.fault } else { system.faults.made };
    let pages = bytes.0 as f64 / system.page.0 as f64;
    calls as f64 * system.calls.prefetch.seconds()
        + copies as f64 * copy.seconds()
        + pages * system.faults.unmap.seconds()
}

/// Seconds for what the driver's prefetcher brings from the host: its copies, and taking each page from the host's page
/// table, as each fault does for its own. The printed equation has prefetched pages come for nothing.
fn brought(system: &System, structure: &Structure, readings: &Readings) -> f64 {
    if readings.faults == Faults::Subtracted {
        return 0.0;
    }
    let volume = volume(structure, HostPlacement::OnDemand);
    let prefetched = (structure.prefetched_pages as f64).min(volume / system.page.0 as f64);
    let pages = prefetched * crossing(structure, readings) / volume;
    structure.prefetches as f64 * system.faults.prefetch.seconds() + pages * system.faults.unmap.seconds()
}

/// Seconds of the copies of device placement.
fn copy(system: &System, structure: &Structure, readings: &Readings) -> Result<f64, QuantityError> {
    let (there, back) = (positive(system.roofline.copy)?, positive(system.back.copy)?);
    let calls = structure.copies as f64 * system.calls.copy.seconds();
    Ok(calls
        + match readings.copy {
            Copying::Product => structure.size.0 as f64 * there,
            Copying::Quotient => structure.copied_in.0 as f64 / there + structure.copied_out.0 as f64 / back,
        })
}
