//! State of one GPU.

use std::collections::VecDeque;

use octavo_node::NodeConfig;

use crate::engine::costs::Costs;
use crate::engine::slots::Slots;
use crate::gpu::caches::dram::Dram;
use crate::gpu::caches::l1::L1Caches;
use crate::gpu::caches::l2::L2Cache;
use crate::gpu::path::waiting::Waiting;
use crate::gpu::translate::entry::PageTable;
use crate::gpu::translate::large::{LargePages, entries_for};
use crate::gpu::translate::ports::Ports;
use crate::gpu::translate::tlb::Tlb;
use crate::gpu::translate::walker::{TableShape, Walker};

pub(crate) struct Gpu {
    pub l1: L1Caches,
    pub l2: L2Cache,
    /// Scalar caches and TLBs, each shared by a few units.
    pub scalar: L1Caches,
    pub scalar_tlb: Tlb,
    pub dram: Dram,
    pub l1_tlb: Tlb,
    pub l2_tlb: Tlb,
    /// Large translations, where several page sizes are used at once.
    pub large: Option<LargePages>,
    pub ports: Ports,
    pub walker: Walker,
    pub table: PageTable,
    pub units: Vec<Unit>,
    /// Next-free time of each SIMD, by (unit, SIMD).
    pub simds: Vec<u64>,
    pub remote: Slots,
    /// Lines that wait for others in flight to arrive, in order.
    pub remote_queue: VecDeque<Waiting>,
}

/// A compute unit.
#[repr(align(64))]
pub(crate) struct Unit {
    /// When its memory pipeline takes the next line.
    pub port: u64,
    /// When its scalar pipeline, local data share and branch pipeline take the next instruction.
    pub scalar: u64,
    pub local_data: u64,
    pub branch: u64,
    /// Until when the first-level cache serves nothing, because a request at its head waits.
    pub blocked: u64,
    /// Work-groups in flight.
    pub groups: u32,
    /// Until when it issues nothing, because pages are being drained.
    pub paused: u64,
    /// When everything it has in flight is there.
    pub in_flight: u64,
    /// Seats without a wavefront, one bit each.
    pub seats: u64,
    /// Miss registers of the first-level cache.
    pub misses: Slots,
    /// Miss registers of the first-level TLB.
    pub translations: Slots,
}

impl Unit {
    /// Takes the first free seat, of which there is one.
    pub const fn take_seat(&mut self) -> u8 {
        let seat = self.seats.trailing_zeros() as u8;
        self.seats &= self.seats - 1;
        seat
    }
}

impl Gpu {
    /// `block_shift`: log2 of the pages of a large one, where several sizes are used at once.
    pub fn new(node: &NodeConfig, costs: &Costs, page_bytes: u64, pages: usize, block_shift: Option<u32>) -> Self {
        let shape = TableShape::for_page(page_bytes);
        let units = node.compute.units as usize;
        let seats = node.compute.simds_per_unit * node.compute.wavefronts_per_simd;
        let unit = |_| Unit {
            port: 0,
            scalar: 0,
            local_data: 0,
            branch: 0,
            blocked: 0,
            groups: 0,
            paused: 0,
            in_flight: 0,
            seats: u64::MAX >> (64 - seats),
            misses: Slots::new(node.l1.miss_registers),
            translations: Slots::new(node.l1_tlb.miss_registers),
        };
        Self {
            l1: L1Caches::new(&node.l1, units, costs.cycle),
            scalar: L1Caches::new(&node.scalar.cache, units.div_ceil(node.scalar.units as usize), costs.cycle),
            scalar_tlb: Tlb::new(
                &entries_for(&node.scalar.tlb, page_bytes),
                units.div_ceil(node.scalar.units as usize),
            ),
            l2: L2Cache::new(&node.l2, node.dram.interleave, costs.cycle),
            dram: Dram::new(&node.dram, costs.cycle),
            l1_tlb: Tlb::new(&entries_for(&node.l1_tlb, page_bytes), units),
            l2_tlb: Tlb::new(&entries_for(&node.l2_tlb, page_bytes), 1),
            large: block_shift.and_then(|shift| LargePages::new(node, pages, shift)),
            ports: Ports::new(units, node.l1_tlb.ports, node.l2_tlb.ports, costs.cycle),
            walker: Walker::new(&node.walker, &node.l2_tlb, shape, costs.cycle),
            table: PageTable::new(pages),
            units: (0..units).map(unit).collect(),
            simds: vec![0; units * node.compute.simds_per_unit as usize],
            remote: Slots::new(node.remote.lines_in_flight),
            remote_queue: VecDeque::new(),
        }
    }

    /// Removes the translation of `page` everywhere on this GPU.
    pub fn shoot_down(&mut self, page: u32) {
        for tlb in [&mut self.l2_tlb, &mut self.l1_tlb, &mut self.scalar_tlb] {
            tlb.shoot_down(page);
        }
    }

    /// A unit issues nothing before then, and its first-level cache is emptied.
    pub fn pause(&mut self, unit: usize, until: u64) {
        let paused = &mut self.units[unit].paused;
        *paused = until.max(*paused);
        self.l1.discard(unit);
    }
}
