//! Caches of a GPU whose lines have 64 bytes, or 128 in two parts. The node decides which; each has separate code, so
//! that smaller lines do not pay for larger ones.

use octavo_node::{CacheConfig, LineSize, NodeConfig};

use crate::engine::slots::Order;
use crate::gpu::caches::dram::Dram;
use crate::gpu::caches::l1::L1Caches;
use crate::gpu::caches::l2::L2Cache;
use crate::gpu::caches::line_access::LineAccess;
use crate::gpu::caches::memory_traffic::MemoryTraffic;
use crate::gpu::caches::settled::SettledL2;
use crate::gpu::counts::Accesses;

/// First-level caches of the compute units.
pub(crate) enum FirstLevelCaches {
    Plain(L1Caches<1>),
    Sectored(L1Caches<2>),
}

/// Calls the same method of either.
macro_rules! either {
    ($caches:expr, $cache:ident => $call:expr) => {
        match $caches {
            Self::Plain($cache) => $call,
            Self::Sectored($cache) => $call,
        }
    };
}

impl FirstLevelCaches {
    pub fn new(config: &CacheConfig, units: usize, cycle: u64) -> Self {
        let (size, lock) =
            ((config.size.0, config.ways, config.index), config.fill_write.0.saturating_sub(config.fill.0) * cycle);
        match config.line {
            LineSize::Bytes64 => Self::Plain(L1Caches::new(size, units, lock)),
            LineSize::Bytes128 => Self::Sectored(L1Caches::new(size, units, lock)),
        }
    }

    /// See [`L1Caches::lookup`].
    #[inline(always)]
    pub fn lookup(&mut self, unit: usize, line: u64, version: u8) -> Option<u64> {
        either!(self, cache => cache.lookup(unit, line, version))
    }

    /// See [`L1Caches::hint`].
    #[inline(always)]
    pub fn hint(&self, unit: usize, line: u64) {
        either!(self, cache => cache.hint(unit, line));
    }

    /// See [`L1Caches::insert`].
    #[inline(always)]
    pub fn insert(&mut self, unit: usize, line: u64, version: u8, ready: u64) {
        either!(self, cache => cache.insert(unit, line, version, ready));
    }

    /// See [`L1Caches::discard`].
    #[inline]
    pub fn discard(&mut self, unit: usize) {
        either!(self, cache => cache.discard(unit));
    }

    /// The caches that serve in order.
    ///
    /// # Panics
    /// Where lines have parts: no node is valid that has both.
    pub fn in_order(&mut self) -> &mut L1Caches<1> {
        let Self::Plain(caches) = self else {
            unreachable!("a valid node's caches with lines of 128 bytes do not serve in order")
        };
        caches
    }
}

/// The second-level cache.
pub(crate) enum SecondLevelCache {
    Plain(L2Cache<1>),
    Sectored(L2Cache<2>),
    /// Without tags.
    Settled(SettledL2),
}

impl SecondLevelCache {
    pub fn new(node: &NodeConfig, cycle: u64) -> Self {
        let (config, interleave, order) = (&node.l2, node.dram.interleave, Order::of(node));
        if let Some(settled) = node.settles() {
            return Self::Settled(SettledL2::new(config, settled, cycle));
        }
        match config.line {
            LineSize::Bytes64 => Self::Plain(L2Cache::new(config, interleave, order, cycle)),
            LineSize::Bytes128 => Self::Sectored(L2Cache::new(config, interleave, order, cycle)),
        }
    }

    /// See [`L2Cache::access`].
    #[inline(always)]
    pub fn access(
        &mut self,
        now: u64,
        time: u64,
        line: u64,
        access: LineAccess,
        dram: &mut Dram,
        counts: &mut Accesses,
    ) -> u64 {
        match self {
            Self::Plain(cache) => cache.access(now, time, line, access, dram, counts),
            Self::Sectored(cache) => cache.access(now, time, line, access, dram, counts),
            Self::Settled(cache) => cache.access_one(now, time, line, access, dram, counts),
        }
    }

    /// The one without tags.
    ///
    /// # Panics
    /// Where there are tags: at fidelity `line`.
    #[inline]
    pub fn settled(&mut self) -> &mut SettledL2 {
        let Self::Settled(cache) = self else { unreachable!("only fidelity `page` settles lines") };
        cache
    }

    /// See [`L2Cache::hint`].
    #[inline(always)]
    pub fn hint(&self, line: u64) {
        match self {
            Self::Plain(cache) => cache.hint(line),
            Self::Sectored(cache) => cache.hint(line),
            Self::Settled(_) => {}
        }
    }

    /// See [`L2Cache::beyond`]; nothing for the one without tags.
    pub fn memory_traffic(&mut self) -> Option<&mut MemoryTraffic> {
        match self {
            Self::Plain(cache) => Some(cache.memory_traffic()),
            Self::Sectored(cache) => Some(cache.memory_traffic()),
            Self::Settled(_) => None,
        }
    }

    /// See [`L2Cache::flush`].
    pub fn flush(&mut self, now: u64) -> u64 {
        match self {
            Self::Plain(cache) => cache.flush(now),
            Self::Sectored(cache) => cache.flush(now),
            Self::Settled(cache) => cache.flush(),
        }
    }

    /// See [`L2Cache::drop_lines`].
    pub fn drop_lines(&mut self, first: u64, count: u64, written: Option<u64>) -> u64 {
        match self {
            Self::Plain(cache) => cache.drop_lines(first, count, written),
            Self::Sectored(cache) => cache.drop_lines(first, count, written),
            Self::Settled(cache) => cache.take_stored(first, count),
        }
    }

    /// See [`L2Cache::clean_lines`].
    pub fn clean_lines(&mut self, now: u64, first: u64, count: u64) -> u64 {
        match self {
            Self::Plain(cache) => cache.clean_lines(now, first, count),
            Self::Sectored(cache) => cache.clean_lines(now, first, count),
            Self::Settled(cache) => cache.take_stored(first, count),
        }
    }

    /// See [`L2Cache::holds_any`].
    pub fn holds_any(&self, first: u64, count: u64) -> bool {
        match self {
            Self::Plain(cache) => cache.holds_any(first, count),
            Self::Sectored(cache) => cache.holds_any(first, count),
            Self::Settled(_) => false,
        }
    }
}
