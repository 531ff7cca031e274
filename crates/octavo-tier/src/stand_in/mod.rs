//! A driver of GPUs that are not there: real addresses of this process, real mappings, and a clock that moves by what
//! calls take on a real GPU.
//!
//! The memory of each device, and the host's, is a file without a name. Reserved addresses cannot be touched; a piece
//! is a part of a file, mapped there. So what a kernel would read and write at an address, the process can. It refuses
//! what the real driver would, and what that would not notice: that a kernel may still use memory. It counts what is not
//! given back.

mod costs;
mod memory;

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use octavo_gpu::{GpuError, Location};
use octavo_manager::Random;

use crate::vmm::Vmm;

/// Which calls fail, though nothing is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failing {
    /// None.
    #[default]
    Never,
    /// The one with this number, counted from 0.
    At(u64),
    /// One in so many, drawn by this seed.
    OneIn(u32, u32),
    /// All of this name.
    Always(&'static str),
}

/// What was asked for and not given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Ranges of addresses.
    pub ranges: usize,
    /// Pieces of memory.
    pub pieces: usize,
    /// Mappings.
    pub mappings: usize,
}

/// The driver; clones are the same one.
#[derive(Clone)]
pub struct StandIn(Arc<Mutex<Inner>>);

struct Inner {
    granularity: u64,
    /// The host's, then each device's.
    memories: Vec<Memory>,
    /// From the beginning: bytes as asked for, and what the kernel gave.
    ranges: BTreeMap<u64, (u64, Range<u64>)>,
    pieces: BTreeMap<u64, Piece>,
    /// From the beginning.
    mappings: BTreeMap<u64, Mapping>,
    next: u64,
    calls: u64,
    failing: Failing,
    drawn: Random,
    clock: u64,
    /// When each device has made its copies.
    copied: Vec<u64>,
}

struct Memory {
    file: memory::File,
    bytes: u64,
    /// Bytes of pieces.
    used: u64,
    /// Behind all pieces so far.
    end: u64,
    /// Beginnings of pieces that were given back, by size.
    free: BTreeMap<u64, Vec<u64>>,
}

struct Piece {
    on: Location,
    offset: u64,
    bytes: u64,
    /// Mappings that lead to it.
    mapped: u32,
    /// A device that has written it and has not been waited for.
    written: Option<usize>,
}

struct Mapping {
    bytes: u64,
    piece: u64,
    on: Location,
    who: Vec<usize>,
    writes: bool,
    /// A device that has used it and has not been waited for.
    in_use: Option<usize>,
}

impl StandIn {
    /// Devices with this many bytes each, and as many on the host, in pieces of at least `granularity`.
    ///
    /// # Errors
    /// The kernel has no files in memory.
    pub fn new(devices: usize, bytes: u64, granularity: u64) -> io::Result<Self> {
        let room = |_| -> io::Result<Memory> {
            // Twice, as pieces of other sizes do not go where smaller ones were.
            let file = memory::File::new(2 * bytes)?;
            Ok(Memory { file, bytes, used: 0, end: 0, free: BTreeMap::new() })
        };
        Ok(Self(Arc::new(Mutex::new(Inner {
            granularity,
            memories: (0..=devices).map(room).collect::<io::Result<_>>()?,
            ranges: BTreeMap::new(),
            pieces: BTreeMap::new(),
            mappings: BTreeMap::new(),
            next: 1,
            calls: 0,
            failing: Failing::Never,
            drawn: Random::new(0),
            clock: 0,
            copied: vec![0; devices],
        }))))
    }

    /// Which calls fail from now on; they are counted anew.
    pub fn fail(&self, failing: Failing) {
        let mut inner = self.inner();
        (inner.failing, inner.calls) = (failing, 0);
        if let Failing::OneIn(_, seed) = failing {
            inner.drawn = Random::new(seed);
        }
    }

    /// Calls since [`Self::fail`].
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.inner().calls
    }

    /// What was not given back.
    #[must_use]
    pub fn held(&self) -> Held {
        let inner = self.inner();
        Held { ranges: inner.ranges.len(), pieces: inner.pieces.len(), mappings: inner.mappings.len() }
    }

    /// Bytes of a device's memory in use.
    #[must_use]
    pub fn used(&self, device: usize) -> u64 {
        self.inner().memories[device + 1].used
    }

    /// A kernel of a device reads bytes; `None` if it would be killed for that. It runs until the device is waited for.
    #[must_use]
    pub fn load(&self, device: usize, address: u64, bytes: usize) -> Option<Vec<u8>> {
        let mut inner = self.inner();
        inner.accessible(device, address, bytes as u64, false).then(|| {
            inner.launch(device, address, bytes as u64, false);
            let mut found = vec![0; bytes];
            memory::read(&mut found, address);
            found
        })
    }

    /// A kernel of a device writes bytes; whether it could. It runs until the device is waited for.
    #[must_use]
    pub fn store(&self, device: usize, address: u64, bytes: &[u8]) -> bool {
        let mut inner = self.inner();
        let can = inner.accessible(device, address, bytes.len() as u64, true);
        if can {
            inner.launch(device, address, bytes.len() as u64, true);
            memory::write(address, bytes);
        }
        can
    }

    /// What is in here is whole between calls, whoever panicked.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// No error of a real driver, which would not notice: what is done while a kernel may still use memory.
const RACE: &str = "RACE";

fn refused<T>(call: &'static str, name: &str, text: &str) -> Result<T, GpuError> {
    Err(GpuError::Call { call, name: name.to_owned(), text: text.to_owned() })
}

fn invalid<T>(call: &'static str, text: &str) -> Result<T, GpuError> {
    refused(call, "CUDA_ERROR_INVALID_VALUE", text)
}

fn system<T>(call: &'static str, done: io::Result<T>) -> Result<T, GpuError> {
    done.or_else(|error| refused(call, "CUDA_ERROR_OUT_OF_MEMORY", &error.to_string()))
}

impl Inner {
    /// Every call begins here.
    fn begin(&mut self, call: &'static str) -> Result<(), GpuError> {
        let number = self.calls;
        self.calls += 1;
        let fails = match self.failing {
            Failing::Never => false,
            Failing::At(at) => at == number,
            Failing::OneIn(many, _) => self.drawn.below(many) == 0,
            Failing::Always(name) => name == call,
        };
        if fails {
            return refused(call, "CUDA_ERROR_UNKNOWN", "the stand-in was told to");
        }
        Ok(())
    }

    fn wait(&mut self, call: &'static str, device: usize) -> Result<(), GpuError> {
        self.begin(call)?;
        self.clock = self.clock.max(self.copied[device]);
        Ok(())
    }

    /// A kernel uses mappings from now on.
    fn launch(&mut self, device: usize, address: u64, bytes: u64, writes: bool) {
        let first = self.mapping(address).map_or(address, |(begin, _)| begin);
        for (_, mapping) in self.mappings.range_mut(first..address + bytes) {
            mapping.in_use = Some(device);
            if writes {
                self.pieces.entry(mapping.piece).and_modify(|piece| piece.written = Some(device));
            }
        }
    }

    /// No kernel that was launched before runs on a device.
    fn end_kernels(&mut self, device: usize) {
        let used = self.mappings.values_mut().map(|mapping| &mut mapping.in_use);
        let written = self.pieces.values_mut().map(|piece| &mut piece.written);
        used.chain(written).filter(|by| **by == Some(device)).for_each(|by| *by = None);
    }

    fn memory(&mut self, on: Location) -> &mut Memory {
        &mut self.memories[if let Location::Device(device) = on { device + 1 } else { 0 }]
    }

    /// The mapping that holds an address.
    fn mapping(&self, address: u64) -> Option<(u64, &Mapping)> {
        let (&begin, mapping) = self.mappings.range(..=address).next_back()?;
        (address < begin + mapping.bytes).then_some((begin, mapping))
    }

    /// Whether a device can access all of this, by mappings that lie side by side.
    fn accessible(&self, device: usize, address: u64, bytes: u64, writes: bool) -> bool {
        let (mut at, end) = (address, address + bytes);
        while at < end {
            match self.mapping(at) {
                Some((begin, mapping)) if mapping.who.contains(&device) && (mapping.writes || !writes) => {
                    at = begin + mapping.bytes;
                }
                _ => return false,
            }
        }
        true
    }

    /// A device uses memory.
    fn uses(&self, call: &'static str, by: usize, place: (u64, u64), writes: bool) -> Result<(), GpuError> {
        if self.accessible(by, place.0, place.1, writes) {
            let piece = self.mapping(place.0).and_then(|(_, mapping)| self.pieces.get(&mapping.piece));
            return match piece.and_then(|piece| piece.written) {
                None => Ok(()),
                Some(other) => refused(call, RACE, &format!("a kernel of device {other} writes there")),
            };
        }
        refused(call, "CUDA_ERROR_ILLEGAL_ADDRESS", &format!("device {by} cannot access it"))
    }

    fn create(&mut self, on: Location, bytes: u64) -> Result<u64, GpuError> {
        let call = "cuMemCreate";
        self.begin(call)?;
        if bytes == 0 || !bytes.is_multiple_of(self.granularity) {
            return invalid(call, "no multiple of the granularity");
        }
        let memory = self.memory(on);
        if memory.used + bytes > memory.bytes {
            return refused(call, "CUDA_ERROR_OUT_OF_MEMORY", "no memory is left there");
        }
        memory.used += bytes;
        let offset = memory.free.get_mut(&bytes).and_then(Vec::pop).unwrap_or_else(|| {
            memory.end += bytes;
            memory.end - bytes
        });
        let number = self.next;
        self.next += 1;
        self.pieces.insert(number, Piece { on, offset, bytes, mapped: 0, written: None });
        self.clock += costs::create(on);
        Ok(number)
    }

    fn release(&mut self, number: u64) -> Result<(), GpuError> {
        let call = "cuMemRelease";
        self.begin(call)?;
        let Some(&Piece { on, offset, bytes, mapped, .. }) = self.pieces.get(&number) else {
            return invalid(call, "there is no such piece");
        };
        if mapped > 0 {
            return invalid(call, "the piece is mapped");
        }
        self.pieces.remove(&number);
        let memory = self.memory(on);
        memory.file.forget(offset, bytes);
        memory.used -= bytes;
        memory.free.entry(bytes).or_default().push(offset);
        self.clock += costs::release();
        Ok(())
    }

    fn map(&mut self, address: u64, bytes: u64, number: u64) -> Result<(), GpuError> {
        let call = "cuMemMap";
        self.begin(call)?;
        let range = self.ranges.range(..=address).next_back();
        if range.is_none_or(|(begin, (size, _))| address + bytes > begin + size) {
            return invalid(call, "the addresses are not reserved");
        }
        let before = self.mappings.range(..address + bytes).next_back();
        if before.is_some_and(|(begin, mapping)| begin + mapping.bytes > address) {
            return invalid(call, "something is mapped there");
        }
        let Some(&Piece { on, offset, .. }) = self.pieces.get(&number).filter(|piece| piece.bytes == bytes) else {
            return invalid(call, "there is no such piece");
        };
        system(call, self.memory(on).file.map(address, bytes, offset))?;
        self.pieces.entry(number).and_modify(|piece| piece.mapped += 1);
        self.mappings
            .insert(address, Mapping { bytes, piece: number, on, who: Vec::new(), writes: false, in_use: None });
        self.clock += costs::map();
        Ok(())
    }

    fn unmap(&mut self, address: u64, bytes: u64) -> Result<(), GpuError> {
        let call = "cuMemUnmap";
        self.begin(call)?;
        let Some(mapping) = self.mappings.get(&address).filter(|mapping| mapping.bytes == bytes) else {
            return invalid(call, "nothing is mapped there");
        };
        let (on, piece) = (mapping.on, mapping.piece);
        if let Some(other) = mapping.in_use {
            return refused(call, RACE, &format!("a kernel of device {other} uses it"));
        }
        system(call, memory::unmap(address, bytes))?;
        self.mappings.remove(&address);
        self.pieces.entry(piece).and_modify(|piece| piece.mapped -= 1);
        self.clock += costs::unmap(on);
        Ok(())
    }
}

impl Vmm for StandIn {
    fn granularity(&mut self) -> Result<u64, GpuError> {
        let mut inner = self.inner();
        inner.begin("cuMemGetAllocationGranularity")?;
        Ok(inner.granularity)
    }

    fn reserve(&mut self, bytes: u64, alignment: u64) -> Result<u64, GpuError> {
        let (call, mut inner) = ("cuMemAddressReserve", self.inner());
        inner.begin(call)?;
        if bytes == 0 || !bytes.is_multiple_of(inner.granularity) || !alignment.is_power_of_two() {
            return invalid(call, "no multiple of the granularity");
        }
        let begin = system(call, memory::reserve(bytes + alignment))?;
        let address = begin.next_multiple_of(alignment);
        inner.ranges.insert(address, (bytes, begin..begin + bytes + alignment));
        Ok(address)
    }

    fn give_back(&mut self, address: u64, bytes: u64) -> Result<(), GpuError> {
        let (call, mut inner) = ("cuMemAddressFree", self.inner());
        inner.begin(call)?;
        if inner.mappings.range(address..address + bytes).next().is_some() {
            return invalid(call, "something is mapped there");
        }
        match inner.ranges.get(&address) {
            Some((size, whole)) if *size == bytes => memory::give_back(whole.start, whole.end - whole.start),
            _ => return invalid(call, "there is no such range"),
        }
        inner.ranges.remove(&address);
        Ok(())
    }

    fn create(&mut self, location: Location, bytes: u64) -> Result<u64, GpuError> {
        self.inner().create(location, bytes)
    }

    fn release(&mut self, piece: u64) -> Result<(), GpuError> {
        self.inner().release(piece)
    }

    fn map(&mut self, address: u64, bytes: u64, piece: u64) -> Result<(), GpuError> {
        self.inner().map(address, bytes, piece)
    }

    fn set_access(&mut self, address: u64, bytes: u64, who: &[usize], writes: bool) -> Result<(), GpuError> {
        let (call, mut inner) = ("cuMemSetAccess", self.inner());
        inner.begin(call)?;
        let Some(mapping) = inner.mappings.get_mut(&address).filter(|mapping| mapping.bytes == bytes) else {
            return invalid(call, "nothing is mapped there");
        };
        if let (Some(other), false) = (mapping.in_use, writes) {
            return refused(call, RACE, &format!("a kernel of device {other} uses it"));
        }
        system(call, memory::protect(address, bytes, writes))?;
        (mapping.who, mapping.writes) = (who.to_vec(), writes);
        let on = mapping.on;
        inner.clock += costs::set_access(on);
        Ok(())
    }

    fn unmap(&mut self, address: u64, bytes: u64) -> Result<(), GpuError> {
        self.inner().unmap(address, bytes)
    }

    fn begin_copy(&mut self, by: usize, to: u64, from: u64, bytes: u64) -> Result<(), GpuError> {
        let (call, mut inner) = ("cuMemcpyAsync", self.inner());
        inner.begin(call)?;
        inner.uses(call, by, (from, bytes), false)?;
        inner.uses(call, by, (to, bytes), true)?;
        memory::copy(to, from, bytes);
        inner.copied[by] = inner.copied[by].max(inner.clock) + costs::copy(bytes);
        Ok(())
    }

    fn end_copies(&mut self, by: usize) -> Result<(), GpuError> {
        self.inner().wait("cuStreamSynchronize", by)
    }

    fn clear(&mut self, by: usize, address: u64, bytes: u64) -> Result<(), GpuError> {
        let (call, mut inner) = ("cuMemsetD8Async", self.inner());
        inner.begin(call)?;
        inner.uses(call, by, (address, bytes), true)?;
        memory::clear(address, bytes);
        Ok(())
    }

    fn write(&mut self, by: usize, to: u64, from: &[u8]) -> Result<(), GpuError> {
        let (call, mut inner) = ("cuMemcpyHtoDAsync", self.inner());
        inner.begin(call)?;
        inner.uses(call, by, (to, from.len() as u64), true)?;
        memory::write(to, from);
        inner.clock += costs::copy(from.len() as u64);
        Ok(())
    }

    fn read(&mut self, by: usize, to: &mut [u8], from: u64) -> Result<(), GpuError> {
        let (call, mut inner) = ("cuMemcpyDtoHAsync", self.inner());
        inner.begin(call)?;
        inner.uses(call, by, (from, to.len() as u64), false)?;
        memory::read(to, from);
        inner.clock += costs::copy(to.len() as u64);
        Ok(())
    }

    fn wait(&mut self, device: usize) -> Result<(), GpuError> {
        let mut inner = self.inner();
        inner.wait("cuCtxSynchronize", device)?;
        inner.end_kernels(device);
        Ok(())
    }

    fn clock(&self) -> u64 {
        self.inner().clock
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.ranges.values().for_each(|(_, whole)| memory::give_back(whole.start, whole.end - whole.start));
    }
}
