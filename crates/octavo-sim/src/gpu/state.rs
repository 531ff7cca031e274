//! State of one GPU.

use std::collections::VecDeque;

use octavo_node::{LargeTlbConfig, NodeConfig, SetIndex};

use crate::engine::costs::Costs;
use crate::engine::slots::{Order, Slots};
use crate::gpu::caches::dram::Dram;
use crate::gpu::caches::either::{FirstLevelCaches, SecondLevelCache};
use crate::gpu::caches::l1::L1Caches;
use crate::gpu::path::lines::Waiting;
use crate::gpu::translate::entry::{Entry, PageTable};
use crate::gpu::translate::large::{Blocks, LargePages, entries_for};
use crate::gpu::translate::ports::Ports;
use crate::gpu::translate::tlb::Tlb;
use crate::gpu::translate::walker::{TableShape, Walker};
use crate::gpu::units::decoder::Decoder;
use crate::gpu::units::pipelines::Pipelines;
use crate::gpu::units::unit::Unit;

pub(crate) struct Gpu {
    pub(super) l1: FirstLevelCaches,
    pub(super) l2: SecondLevelCache,
    /// Scalar caches and TLBs, each shared by a few units.
    pub(super) scalar: L1Caches<1>,
    pub(super) scalar_tlb: Tlb,
    /// Units that share one.
    pub(super) scalar_units: usize,
    /// The requests that these caches have in flight.
    pub(super) scalar_in_flight: Vec<Slots>,
    pub(super) dram: Dram,
    pub(super) l1_tlb: Tlb,
    pub(super) l2_tlb: Tlb,
    /// Its miss registers: a miss holds one until its walk ends.
    pub(super) l2_tlb_misses: Slots,
    /// Large translations, where several page sizes are used at once.
    pub(super) large: Option<LargePages>,
    pub(super) ports: Ports,
    pub(super) walker: Walker,
    pub(super) table: PageTable,
    pub(super) units: Vec<Unit>,
    /// Next-free time of each SIMD, by (unit, SIMD).
    pub(super) simds: Vec<u64>,
    /// Replaces these, and the state of the units' other pipelines, if accesses are issued in order of time.
    pub(super) pipelines: Option<Pipelines>,
    /// Accesses are issued in order of time.
    timed: bool,
    /// The decoder of each unit, where its SIMDs share one.
    pub(super) decoders: Vec<Decoder>,
    pub(super) remote: Slots,
    /// Lines that wait for others in flight to arrive, in order.
    pub(super) remote_queue: VecDeque<Waiting>,
}

impl Gpu {
    /// `blocks`: which pages can be large ones, where several sizes are used at once.
    pub fn new(node: &NodeConfig, costs: &Costs, page_bytes: u64, pages: usize, blocks: Option<Blocks>) -> Self {
        let shape = TableShape::for_page(page_bytes);
        let units = node.compute.units as usize;
        let scalar_caches = units.div_ceil(node.scalar.units as usize);
        let seats = node.compute.simds_per_unit * node.compute.wavefronts_per_simd;
        let scalar_tlb = &node.scalar.tlb;
        let entries = |small, large: &Option<LargeTlbConfig>| entries_for(small, large.as_ref(), page_bytes);
        Self {
            l1: FirstLevelCaches::new(&node.l1, units, costs.cycle),
            scalar: L1Caches::new(
                (node.scalar.cache.size.0, node.scalar.cache.ways, SetIndex::LowBits),
                scalar_caches,
                0,
            ),
            scalar_tlb: Tlb::new(entries((scalar_tlb.entries, scalar_tlb.ways), &scalar_tlb.large), scalar_caches),
            scalar_units: node.scalar.units as usize,
            scalar_in_flight: (0..scalar_caches).map(|_| Slots::new(node.scalar.in_flight, Order::of(node))).collect(),
            l2: SecondLevelCache::new(node, costs.cycle),
            dram: match node.settles() {
                Some(_) => Dram::merged(&node.dram, costs.cycle),
                None => Dram::new(&node.dram, costs.cycle),
            },
            l1_tlb: Tlb::new(entries((node.l1_tlb.entries, node.l1_tlb.ways), &node.l1_tlb.large), units),
            l2_tlb: Tlb::new(entries((node.l2_tlb.entries, node.l2_tlb.ways), &node.l2_tlb.large), 1),
            l2_tlb_misses: Slots::new(node.l2_tlb.miss_registers, Order::of(node)),
            large: blocks.and_then(|blocks| LargePages::new(node, pages, blocks)),
            ports: Ports::new(units, node.l1_tlb.ports, node.l2_tlb.ports, costs.cycle),
            walker: Walker::new(&node.walker, Order::of(node), shape, costs.cycle),
            table: PageTable::new(pages),
            units: (0..units).map(|_| Unit::new(node, seats)).collect(),
            simds: vec![0; units * node.compute.simds_per_unit as usize],
            decoders: (0..if node.compute.vector_decoder > 0 { units } else { 0 })
                .map(|_| {
                    let (places, simds) = (node.compute.vector_decoder, node.compute.simds_per_unit);
                    Decoder::new(places, simds, seats, node.compute.vector_alu.occupancy.0)
                })
                .collect(),
            timed: node.compute.issues_in_time_order,
            pipelines: (node.compute.issues_in_time_order || node.compute.books_in_buckets)
                .then(|| Pipelines::new(&node.compute)),
            remote: Slots::new(node.remote.lines_in_flight, Order::Requests),
            remote_queue: VecDeque::new(),
        }
    }

    /// A compute unit.
    #[inline]
    pub fn unit(&mut self, unit: usize) -> &mut Unit {
        &mut self.units[unit]
    }

    /// The memory pipeline of a unit takes lines that are requested at `time` for `duration`; returns from when on.
    #[inline]
    pub fn issue_lines(&mut self, unit: usize, (now, time): (u64, u64), duration: u64) -> u64 {
        match &mut self.pipelines {
            Some(pipelines) if !self.timed => pipelines.issue_lines(unit, (now, time), duration),
            _ => self.units[unit].issue_lines(time, duration),
        }
    }

    /// The decoder of vector instructions that a unit's SIMDs share, if they do.
    #[inline]
    pub fn decoder(&mut self, unit: usize) -> Option<&mut Decoder> {
        self.decoders.get_mut(unit)
    }

    /// The time when a unit can issue: now, or at the end of a drain.
    #[inline]
    pub fn issue_time(&self, unit: usize, now: u64) -> u64 {
        self.units[unit].paused.max(now)
    }

    /// What `page` leads to.
    #[inline]
    pub fn entry(&self, page: u32) -> Entry {
        self.table.get(page)
    }

    /// Whether `page` is part of a coalesced block, where several page sizes are used at once.
    pub fn is_coalesced(&self, page: u32) -> Option<bool> {
        Some(self.large.as_ref()?.is_coalesced(page))
    }

    /// Reads or writes `count` lines of memory from `first` on; returns when the last has arrived.
    pub fn stream(&mut self, now: u64, time: u64, first: u64, count: u64) -> u64 {
        self.dram.stream(now, time, first, count)
    }
}
