//! The executor runs the suite of all executors on the stand-in, and what pages hold comes with them.

use std::collections::BTreeSet;

use octavo_driver::conformance::machine::Entry as Mapped;
use octavo_driver::conformance::{
    Subject, composition, compositions, conforms, decides_alike, lending, refused_everywhere,
};
use octavo_manager::{Allocation, HOST, HOST_MEMORY, MemoryConfig, PLACEMENTS, Topology};

use super::*;
use crate::stand_in::StandIn;
use crate::vmm::Vmm;

/// Bytes of a piece: a page of the kernel's, so that many fit.
const PIECE: u64 = 4096;
/// More pages than the suite has.
const PAGES: u64 = 64;

struct Tested {
    mover: Mover,
    driver: StandIn,
    /// Those that have something in them from the beginning.
    populated: BTreeSet<PageId>,
}

fn tested(topology: &Topology) -> Tested {
    let devices = topology.gpus();
    let driver = StandIn::new(devices, PAGES * PIECE, PIECE).unwrap();
    let mover = Mover::new(Frames::new(Box::new(driver.clone()), devices, PIECE), devices);
    Tested { mover, driver, populated: BTreeSet::new() }
}

fn content(page: PageId) -> Vec<u8> {
    (0..PIECE).map(|at| (at as u32).wrapping_mul(page.0 + 7).to_le_bytes()[1]).collect()
}

impl Executor for Tested {
    fn begin(&mut self, now: Time, ticket: Ticket, left: &[Step]) -> Begun {
        self.mover.launches_may_run();
        self.mover.begin(now, ticket, left)
    }

    fn wake(&mut self, now: Time, id: FaultId, fault: &Outstanding) -> Wake {
        self.mover.wake(now, id, fault)
    }

    fn kill(&mut self, now: Time, id: FaultId, fault: &Outstanding) {
        self.mover.kill(now, id, fault);
    }

    fn free(&mut self, now: Time, run: PageRun, token: u64, manager: &Manager) {
        self.mover.launches_may_run();
        self.mover.free(now, run, token, manager);
        run.iter().for_each(|page| _ = self.populated.remove(&page));
    }
}

impl Subject for Tested {
    fn allocate(&mut self, allocation: &Allocation) {
        let run = allocation.run;
        let addresses: Vec<u64> =
            (0..self.mover.devices).map(|_| self.mover.frames.reserve(run.count.into()).unwrap()).collect();
        self.mover.add(run, &addresses);
        for page in run.iter().filter(|_| allocation.populated && !allocation.kind.stays()) {
            self.mover.populate(page, HOST_MEMORY, false).unwrap();
            let address = self.mover.frame_address(HOST_MEMORY, page).unwrap();
            assert!(self.driver.store(0, address, &content(page)));
            self.driver.wait(0).unwrap();
            self.populated.insert(page);
        }
    }

    /// The host reaches pages by copies.
    fn has_table(&self, processor: ProcessorId) -> bool {
        processor != HOST
    }

    /// What a kernel finds there is what the entry says.
    fn entry(&self, processor: ProcessorId, page: PageId) -> Option<Mapped> {
        let device = processor.gpu_index()?;
        let view = self.mover.pages.get(&page)?.views[device];
        let seen = self.driver.load(device, view.address, PIECE as usize);
        assert_eq!(seen.is_some(), view.entry.is_some());
        if let Some(seen) = seen.filter(|_| self.populated.contains(&page)) {
            assert!(seen == content(page), "{processor} sees something else in page {}", page.0);
        }
        let Entry { target, permission } = view.entry?;
        Some(Mapped { target, permission, mode: MappingMode::Direct })
    }

    fn holds(&self, memory: MemoryId, page: PageId) -> Option<bool> {
        Some(self.mover.holds(memory, page))
    }

    fn take_entry_away(&mut self, processor: ProcessorId, page: PageId) {
        if let Some(device) = processor.gpu_index() {
            self.driver.wait(device).unwrap();
            self.mover.take_entry_away(device, page);
        }
    }

    fn take_woken(&mut self) -> Option<Fault> {
        (!self.mover.woken.is_empty()).then(|| self.mover.woken.remove(0))
    }
}

/// `ideal` maps what is not there, by decree, and `gps` has stores go to several memories: no GPU can.
fn possible(config: &MemoryConfig) -> bool {
    !["ideal", "gps"].contains(&config.placement.name.as_str())
}

/// Every seventh meets every strategy with others of another kind.
#[test]
fn the_tier_conforms() {
    for (seed, config) in (0..).zip(compositions().into_iter().filter(possible).step_by(7)) {
        conforms(tested, &config, seed..seed + 1, 60);
    }
}

#[test]
fn the_tier_conforms_where_neighbours_keep_pieces() {
    for (seed, config) in (0..).zip(lending().into_iter().filter(possible)) {
        conforms(tested, &config, seed..seed + 1, 60);
    }
}

#[test]
fn the_tier_conforms_wherever_it_is_refused() {
    for placement in ["on-touch", "duplication", "grit"] {
        refused_everywhere(tested, &composition(placement, "tree", "lru-page"), 0, 12);
    }
}

#[test]
fn the_tier_decides_like_an_instant_node() {
    for placement in PLACEMENTS.names() {
        let config = composition(placement, "tree", "lru-block");
        if possible(&config) {
            decides_alike(tested, &config, 1, 100);
        }
    }
}
