//! Combinations of values that no node can have.

use octavo_driver::config::ServiceModel;
use octavo_manager::{MAX_GPUS, MAX_MEMORIES, MAX_PROCESSORS};
use octavo_units::{Bytes, Frequency, Time};

use crate::coherence::{GpuMemory, SystemMemory};
use crate::durations::check_durations;
use crate::error::{NodeError, error, in_range};
use crate::fidelity::Fidelity;
use crate::gpu::{ComputeConfig, LineSize, MissPolicy, ScalarConfig};
use crate::host::StagingConfig;
use crate::memory::{CapacityChange, CapacityConfig};
use crate::node::NodeConfig;

/// The node is not booked beyond it: work further ahead of the clock waits for an event.
const MAX_AHEAD: Time = Time(2_000_000);

/// Memory instructions of a wavefront that are counted separately.
const MAX_LOADS_AHEAD: u32 = 14;

/// Ways are numbered in eight bits.
const MAX_TLB_WAYS: u32 = 256;

// Limits of tables: chosen, some times what the largest machine has that is known. The simulator keeps each whole.
/// Translations of a TLB.
const MAX_TRANSLATIONS: u32 = 1 << 20;
/// Entries of a filter.
const MAX_ENTRIES: u32 = 1 << 24;
/// First-level caches, of which each compute unit has one.
const MAX_FIRST_LEVEL: Bytes = Bytes(8 << 20);
/// A second-level cache, of which each GPU has one.
const MAX_SECOND_LEVEL: Bytes = Bytes(1 << 30);
/// Consecutive bytes on a bank.
const MAX_INTERLEAVE: u64 = 1 << 30;
/// Bytes sent in addition to the requested ones.
const MAX_MESSAGE: Bytes = Bytes(64 << 10);
/// The slowest clock; a GPU's is a thousand times as fast.
const MIN_CLOCK: Frequency = Frequency(1_000_000);
/// The fastest: a cycle of a picosecond, in which time is counted.
const MAX_CLOCK: Frequency = Frequency(1_000_000_000_000);

impl NodeConfig {
    /// Checks the properties that types cannot express.
    ///
    /// # Errors
    /// The first value that cannot be used, with what was expected.
    pub fn validate(&self) -> Result<(), NodeError> {
        in_range("gpus", self.gpus, 1, MAX_GPUS as u32)?;
        if !(MIN_CLOCK..=MAX_CLOCK).contains(&self.clock) {
            return Err(error("clock", format!("expected {MIN_CLOCK} to {MAX_CLOCK}, found {}", self.clock)));
        }
        check_durations(self)?;
        self.validate_fidelity()?;
        self.validate_compute()?;
        self.validate_caches()?;
        self.validate_translation()?;
        self.validate_links()?;
        self.validate_host()?;
        self.validate_coherence()?;
        self.validate_driver()?;
        validate_capacity(&self.capacity, self.gpus)
    }

    fn validate_fidelity(&self) -> Result<(), NodeError> {
        in_range("settled.l1_hits_percent", self.settled.l1_hits_percent, 0, 100)?;
        in_range("settled.l2_hits_percent", self.settled.l2_hits_percent, 0, 100)?;
        if self.settled.ahead > MAX_AHEAD {
            let message = format!("expected at most {MAX_AHEAD}, found {}", self.settled.ahead);
            return Err(error("settled.ahead", message));
        }
        if self.fidelity == Fidelity::Line {
            return self.settled.changed().map_or(Ok(()), |(key, usual, found)| {
                let message =
                    format!("expected {usual} where `fidelity` is line, found {found}: only page settles lines");
                Err(error(&format!("settled.{key}"), message))
            });
        }
        let needs = [
            ("`l1.in_order` is true", self.l1.in_order),
            ("`compute.issues_in_time_order` is true", self.compute.issues_in_time_order),
            ("`walker.in_memory` is true", self.walker.in_memory),
            ("`l1_tlb.on_miss` is not non-blocking", self.l1_tlb.on_miss != MissPolicy::NonBlocking),
            ("GPUs are coherent (`coherence`), whose traffic is told by launch", self.coherence.is_some()),
        ];
        let Some((what, _)) = needs.into_iter().find(|(_, needs)| *needs) else { return Ok(()) };
        Err(error("fidelity", format!("expected line where {what}, found page: it has no cache tags")))
    }

    fn validate_compute(&self) -> Result<(), NodeError> {
        in_range("compute.units", self.compute.units, 1, 256)?;
        in_range("compute.simds_per_unit", self.compute.simds_per_unit, 1, 16)?;
        // A compute unit's free seats for wavefronts are the bits of one word.
        in_range("compute.wavefronts_per_simd", self.compute.wavefronts_per_simd, 1, 64 / self.compute.simds_per_unit)?;
        in_range("compute.vector_decoder", self.compute.vector_decoder, 0, 64)?;
        in_range("compute.tags_at_once", self.compute.tags_at_once, 1, 8)?;
        in_range("compute.loads_ahead", self.compute.loads_ahead, 0, MAX_LOADS_AHEAD)?;
        if self.compute.group_interval.0 > 0 && self.compute.groups_per_cycle > 0 {
            let found = self.compute.groups_per_cycle;
            let message = format!("expected 0 beside a time between starts (compute.group_interval), found {found}");
            return Err(error("compute.groups_per_cycle", message));
        }
        self.validate_timed_issue()?;
        self.validate_answers()?;
        in_range("fetch.units", self.fetch.units, 1, 256)?;
        in_range("fetch.buffer_lines", self.fetch.buffer_lines, 0, 1 << 10)?;
        in_range("scalar.units", self.scalar.units, 1, 256)
    }

    /// Features that need accesses in order of time are off without it; names those that are not.
    fn validate_timed_issue(&self) -> Result<(), NodeError> {
        let ComputeConfig { issues_in_time_order, vector_decoder, lines_in_flight, wait, .. } = &self.compute;
        in_range("compute.lines_in_flight", *lines_in_flight, 0, 1 << 16)?;
        if *issues_in_time_order {
            return Ok(());
        }
        let needs = [
            ("compute.vector_decoder", *vector_decoder > 0, vector_decoder.to_string()),
            ("compute.lines_in_flight", *lines_in_flight > 0, lines_in_flight.to_string()),
            ("compute.wait", wait.0 > 0, wait.to_string()),
        ];
        let on: Vec<_> = needs.iter().filter(|(_, on, _)| *on).collect();
        let [(key, _, found), others @ ..] = &on[..] else { return Ok(()) };
        let others: String = others.iter().map(|(key, _, found)| format!("; the same for {key}, {found}")).collect();
        let message = "expected 0 where accesses are not issued in order of time (compute.issues_in_time_order), found";
        Err(error(key, format!("{message} {found}{others}")))
    }

    fn validate_answers(&self) -> Result<(), NodeError> {
        let compute = &self.compute;
        in_range("compute.answers_per_cycle", compute.answers_per_cycle, 0, 64)?;
        for (key, found) in
            [("answers_per_cycle", compute.answers_per_cycle), ("lines_in_flight", compute.lines_in_flight)]
        {
            if found > 0 && !compute.answers_in_order {
                let message =
                    format!("expected 0 where answers come in any order (compute.answers_in_order), found {found}");
                return Err(error(&format!("compute.{key}"), message));
            }
        }
        if compute.answers_per_cycle > 0 && self.remote.lines_in_flight > 0 {
            let found = compute.answers_per_cycle;
            let message =
                format!("expected 0 where remote lines wait for places (remote.lines_in_flight), found {found}");
            return Err(error("compute.answers_per_cycle", message));
        }
        self.validate_scalar_answers()
    }

    fn validate_scalar_answers(&self) -> Result<(), NodeError> {
        let ScalarConfig { in_flight, way_back, answer, cache, .. } = &self.scalar;
        in_range("scalar.in_flight", *in_flight, 0, 1 << 16)?;
        if *in_flight > 0 && way_back.0 >= cache.latency.0 {
            let message = format!("expected less than scalar.cache.latency ({}), found {way_back}", cache.latency);
            return Err(error("scalar.way_back", message));
        }
        if answer.0 > 0 && !self.registers_in_time_order {
            let message = format!(
                "expected 0cycles where places go to requests as they are made (registers_in_time_order), found {answer}"
            );
            return Err(error("scalar.answer", message));
        }
        Ok(())
    }

    fn validate_caches(&self) -> Result<(), NodeError> {
        sets("l1", (self.l1.size, self.l1.line), self.l1.ways, MAX_FIRST_LEVEL)?;
        sets("l2", (self.l2.size, self.l2.line), self.l2.ways, MAX_SECOND_LEVEL)?;
        sets("scalar.cache", (self.scalar.cache.size, LineSize::Bytes64), self.scalar.cache.ways, MAX_FIRST_LEVEL)?;
        if self.l1.in_order && self.l1.line != LineSize::Bytes64 {
            return Err(error("l1.line", "expected 64B where requests are served in order (l1.in_order), found 128B"));
        }
        in_range("l1.miss_registers", self.l1.miss_registers, 1, 1 << 16)?;
        in_range("l2.miss_registers", self.l2.miss_registers, 1, 1 << 16)?;
        in_range("l2.lines_per_cycle", self.l2.lines_per_cycle, 1, 64)?;
        in_range("l2.banks", self.l2.banks, 1, 1 << 12)?;
        in_range("dram.banks", self.dram.banks, 1, 1 << 12)?;
        in_range("dram.lone_line_percent", self.dram.lone_line_percent, 100, 200)?;
        in_range("dram.lone_write_percent", self.dram.lone_write_percent, 100, 400)?;
        in_range("dram.channel_banks", self.dram.channel_banks, 1, self.dram.banks)?;
        if self.l2.lock.0 > self.l2.latency.0 {
            let found =
                format!("expected at most l2.latency ({}cycles), found {}cycles", self.l2.latency.0, self.l2.lock.0);
            return Err(error("l2.lock", found));
        }
        power_of_two("dram.interleave", self.dram.interleave.0)?;
        let line = self.l2.line.bytes();
        if !(line..=MAX_INTERLEAVE).contains(&self.dram.interleave.0) {
            let (most, found) = (Bytes(MAX_INTERLEAVE), self.dram.interleave);
            return Err(error("dram.interleave", format!("expected a line ({line}B) to {most}, found {found}")));
        }
        if self.dram.line_cycles.0 == 0 {
            return Err(error("dram.line_cycles", "expected at least 1cycles"));
        }
        Ok(())
    }

    fn validate_translation(&self) -> Result<(), NodeError> {
        let scalar = &self.scalar.tlb;
        for (key, entries, ways, large) in [
            ("l1_tlb", self.l1_tlb.entries, self.l1_tlb.ways, &self.l1_tlb.large),
            ("l2_tlb", self.l2_tlb.entries, self.l2_tlb.ways, &self.l2_tlb.large),
            ("scalar.tlb", scalar.entries, scalar.ways, &scalar.large),
        ] {
            translations(key, entries, ways)?;
            if let Some(large) = large {
                translations(&format!("{key}.large"), large.entries, large.ways)?;
            }
        }
        for (key, tlb) in [("l1_tlb", &self.l1_tlb), ("l2_tlb", &self.l2_tlb)] {
            in_range(&format!("{key}.ports"), tlb.ports, 0, 64)?;
            in_range(&format!("{key}.miss_registers"), tlb.miss_registers, 1, 1 << 16)?;
            if key != "l1_tlb" && tlb.on_miss != MissPolicy::NonBlocking {
                return Err(error(
                    &format!("{key}.on_miss"),
                    "expected non-blocking: only `l1_tlb` holds up a pipeline",
                ));
            }
        }
        in_range("walker.walkers", self.walker.walkers, 1, 4096)?;
        in_range("walker.queue", self.walker.queue, 1, 1 << 16)?;
        in_range("walker.cache_entries", self.walker.cache_entries, 0, 1 << 16)?;
        in_range("host.walkers", self.host.walkers, 1, 4096)
    }

    fn validate_host(&self) -> Result<(), NodeError> {
        let (cpu, costs) = (&self.host.cpu, &self.host.costs);
        in_range("host.cpu.cores", cpu.cores, 1, 4096)?;
        in_range("host.cpu.lines_in_flight", cpu.lines_in_flight, 1, 1024)?;
        translations("host.cpu.tlb", cpu.tlb.entries, cpu.tlb.ways)?;
        let StagingConfig { to_gpu, to_host } = costs.staging;
        let staging = [("costs.staging.to_gpu", to_gpu), ("costs.staging.to_host", to_host)];
        let staging = staging.into_iter().filter(|(_, bandwidth)| bandwidth.0 > 0);
        let needed = [("cpu.memory_bandwidth", cpu.memory_bandwidth), ("costs.zeroing", costs.zeroing)];
        for (key, bandwidth) in needed.into_iter().chain(staging) {
            if bandwidth.0 < 1_000_000 {
                return Err(error(&format!("host.{key}"), format!("expected at least 1MB/s, found {bandwidth}")));
            }
        }
        at_most("host.fault_message", self.host.fault_message, MAX_MESSAGE)?;
        at_most("remote.header", self.remote.header, MAX_MESSAGE)?;
        if let Some(header) = self.remote.lone_header {
            at_most("remote.lone_header", header, MAX_MESSAGE)?;
        }
        self.validate_page_cache()?;
        self.validate_host_memories()
    }

    fn validate_page_cache(&self) -> Result<(), NodeError> {
        let Some(cache) = &self.host.page_cache else { return Ok(()) };
        in_range("host.page_cache.free_blocks_percent", cache.free_blocks_percent, 0, 100)?;
        if self.coherence.as_ref().is_none_or(|coherence| coherence.gpu_memory != GpuMemory::Numa) {
            let message = "expected none where the driver alone manages the GPU's memory \
                           (`coherence.gpu_memory` is not numa): files are not kept there";
            return Err(error("host.page_cache", message));
        }
        Ok(())
    }

    fn validate_host_memories(&self) -> Result<(), NodeError> {
        let further = &self.host.memories;
        let most = MAX_MEMORIES - MAX_PROCESSORS;
        if further.len() > most {
            return Err(error("host.memories", format!("expected at most {most}, found {}", further.len())));
        }
        for (index, memory) in further.iter().enumerate() {
            let refuse = |message: String| Err(error(&format!("host.memories[{index}]"), message));
            if self.host.memory.capacity.0 == 0 {
                let name = &memory.name;
                return refuse(format!(
                    "expected a limit in `host.memory.capacity`: without it no page goes to `{name}`"
                ));
            }
            if memory.name.is_empty() || further[..index].iter().any(|other| other.name == memory.name) {
                return refuse(format!("expected a `name` of its own, found `{}`", memory.name));
            }
            if memory.capacity.0 == 0 || memory.bandwidth.0 < 1_000_000 {
                let (capacity, bandwidth) = (memory.capacity, memory.bandwidth);
                return refuse(format!("expected a capacity and at least 1MB/s, found {capacity} and {bandwidth}"));
            }
        }
        Ok(())
    }

    fn validate_coherence(&self) -> Result<(), NodeError> {
        let Some(coherence) = &self.coherence else { return Ok(()) };
        in_range("coherence.walkers", coherence.walkers, 1, 4096)?;
        in_range("coherence.first_touch_cores", coherence.first_touch_cores, 1, 4096)?;
        if self.system_memory == SystemMemory::None {
            return Err(error("system_memory", "expected offered where GPUs are coherent (`coherence`), found none"));
        }
        Ok(())
    }

    fn validate_driver(&self) -> Result<(), NodeError> {
        match &self.driver.service {
            ServiceModel::Pool(pool) => in_range("driver.service.servers", pool.servers, 1, 1024)?,
            ServiceModel::Batch(batch) => in_range("driver.service.size", batch.size, 1, 1 << 16)?,
        }
        let Some(filter) = &self.driver.trans_fw else { return Ok(()) };
        power_of_two("driver.trans_fw.filter_entries", u64::from(filter.filter_entries))?;
        in_range("driver.trans_fw.filter_entries", filter.filter_entries, 1, MAX_ENTRIES)?;
        in_range("driver.trans_fw.fingerprint_bits", filter.fingerprint_bits, 1, 16)
    }
}

fn validate_capacity(capacity: &CapacityConfig, gpus: u32) -> Result<(), NodeError> {
    in_range("capacity.footprint_percent", capacity.footprint_percent, 0, 100_000)?;
    if capacity.bytes.0 > 0 && capacity.footprint_percent > 0 {
        return Err(error("capacity.bytes", "expected 0 beside a share of the footprint, or a share of 0"));
    }
    let changes = &capacity.change;
    (0..changes.len()).try_for_each(|index| validate_change(index, changes, capacity, gpus))
}

fn validate_change(
    index: usize,
    changes: &[CapacityChange],
    capacity: &CapacityConfig,
    gpus: u32,
) -> Result<(), NodeError> {
    let key = |part: &str| format!("capacity.change[{index}].{part}");
    let CapacityChange { at, gpus: own, footprint_percent, bytes } = &changes[index];
    if at.0 == 0 {
        return Err(error(
            &key("at"),
            "expected a time after 0, at which `node.capacity` itself says how much there is",
        ));
    }
    if let Some(beyond) = own.iter().find(|gpu| **gpu >= gpus) {
        let last = gpus.saturating_sub(1);
        return Err(error(&key("gpus"), format!("expected 0 to {last}, the {gpus} GPUs of the node, found {beyond}")));
    }
    let meet = |one: &[u32], two: &[u32]| one.is_empty() || two.is_empty() || one.iter().any(|gpu| two.contains(gpu));
    if let Some(other) = changes[..index].iter().position(|other| other.at == *at && meet(&other.gpus, own)) {
        return Err(error(
            &key("at"),
            format!("expected another time than that of change[{other}] of the same GPU, found {at}"),
        ));
    }
    match (bytes, footprint_percent) {
        (Some(bytes), Some(percent)) => Err(error(
            &key("bytes"),
            format!("expected either `bytes` or `footprint_percent`, found {bytes} and {percent}"),
        )),
        (None, None) => Err(error(&key("bytes"), "missing; expected either `bytes` or `footprint_percent`")),
        (Some(bytes), None) if capacity.bytes.0 > 0 && bytes.0 > capacity.bytes.0 => {
            let most = capacity.bytes;
            Err(error(&key("bytes"), format!("expected at most {most} (`node.capacity.bytes`), found {bytes}")))
        }
        (None, Some(percent)) if capacity.footprint_percent > 0 && *percent > capacity.footprint_percent => {
            let most = capacity.footprint_percent;
            let message = format!("expected at most {most} (`node.capacity.footprint_percent`), found {percent}");
            Err(error(&key("footprint_percent"), message))
        }
        _ => Ok(()),
    }
}

fn at_most(key: &str, found: Bytes, most: Bytes) -> Result<(), NodeError> {
    if found <= most { Ok(()) } else { Err(error(key, format!("expected at most {most}, found {found}"))) }
}

fn translations(key: &str, entries: u32, ways: u32) -> Result<(), NodeError> {
    in_range(&format!("{key}.entries"), entries, 1, MAX_TRANSLATIONS)?;
    if ways == 0 || ways > MAX_TLB_WAYS || entries == 0 || !entries.is_multiple_of(ways) {
        let message = format!("expected 1 to {MAX_TLB_WAYS} ways that divide the entries, found {ways} of {entries}");
        return Err(error(&format!("{key}.ways"), message));
    }
    let sets = entries / ways;
    if sets.is_power_of_two() {
        return Ok(());
    }
    Err(error(&format!("{key}.entries"), format!("expected ways × a power of two, found {sets} sets")))
}

fn power_of_two(key: &str, found: u64) -> Result<(), NodeError> {
    if found.is_power_of_two() { Ok(()) } else { Err(error(key, format!("expected a power of two, found {found}"))) }
}

fn sets(key: &str, (size, line): (Bytes, LineSize), ways: u32, most: Bytes) -> Result<(), NodeError> {
    in_range(&format!("{key}.ways"), ways, 1, 32)?;
    at_most(&format!("{key}.size"), size, most)?;
    let (bytes, line) = (size.0, line.bytes());
    let way_bytes = line * u64::from(ways);
    if !bytes.is_multiple_of(way_bytes) || !(bytes / way_bytes).is_power_of_two() {
        let message = format!("expected ways × {line}B × a power of two, found {bytes} bytes in {ways} ways");
        return Err(error(&format!("{key}.size"), message));
    }
    Ok(())
}
