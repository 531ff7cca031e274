//! What a program sees: buffers whose pieces are where the next launch needs them.

use std::collections::{BTreeMap, BTreeSet};

use octavo_driver::{Driver, Service};
use octavo_manager::{Allocation, HOST_MEMORY, Manager, MemoryId, PageId, PageRun, ProcessorMask, Topology};
use octavo_units::{Bytes, Time};

use crate::error::TierError;
use crate::frames::Frames;
use crate::mover::Mover;
use crate::numbers::Numbers;
use crate::settings::Settings;
use crate::stand_in::StandIn;
use crate::status::{BufferStatus, Counts, DeviceStatus, HostStatus, Status};
use crate::vmm::{Cuda, Vmm};

/// Times in a row that pieces are asked for and none of them comes; our choice: a call that fails once fails here once.
pub(crate) const TRIES: u32 = 8;

/// The least piece of a stand-in: that of GPUs.
const GRANULARITY: u64 = 2 << 20;

/// What a program holds of a tier.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its name, for errors and the status.
    pub name: String,
    /// Bytes as asked for.
    pub bytes: u64,
    /// The number of the device that it was allocated for.
    pub device: usize,
    /// Its address on each device.
    addresses: Vec<u64>,
    pub(crate) run: PageRun,
    /// In a mapped tier: the devices that can access it wherever it is.
    pub(crate) reach: ProcessorMask,
}

/// The tier.
pub struct Tier {
    pub(crate) driver: Driver,
    pub(crate) mover: Mover,
    pub(crate) devices: Vec<usize>,
    /// Pieces that each device may hold.
    room: Vec<u32>,
    host: u32,
    pub(crate) mapped: bool,
    pub(crate) now: Time,
    numbers: Numbers,
    pub(crate) buffers: BTreeMap<u64, Buffer>,
    /// By the address on its own device.
    by_address: BTreeMap<u64, u64>,
    next: u64,
    closed: bool,
    stopped: Option<String>,
}

impl Tier {
    /// A tier of this machine, or of a stand-in.
    ///
    /// # Errors
    /// Settings that cannot be used, no driver, or too little memory.
    pub fn open(settings: &Settings) -> Result<Self, TierError> {
        if !settings.stand_in {
            return Self::over(Box::new(Cuda::open(&settings.devices)?), settings);
        }
        let (of_devices, host) = settings.pieces(GRANULARITY)?;
        let most = of_devices.iter().copied().chain([host]).max().unwrap_or(0);
        let driver = StandIn::new(of_devices.len(), u64::from(most) * settings.piece.0, GRANULARITY);
        let driver =
            driver.map_err(|error| crate::settings::unusable("stand-in", "files in memory", error.to_string()))?;
        Self::over(Box::new(driver), settings)
    }

    /// A tier on a driver.
    ///
    /// # Errors
    /// As for [`Self::open`].
    pub fn over(mut vmm: Box<dyn Vmm>, settings: &Settings) -> Result<Self, TierError> {
        let (room, host) = settings.pieces(vmm.granularity()?)?;
        let devices = settings.devices.clone();
        let mut topology = Topology::of(room.clone());
        topology.memories[HOST_MEMORY.index()].capacity_pages = host;
        let manager =
            Manager::new(&settings.memory_system(), &topology).expect("the memory system is one of the manager's own");
        let mut mover = Mover::new(Frames::new(vmm, devices.len(), settings.piece.0), devices.len());
        mover.copies_behind();
        let mut tier = Self {
            driver: Driver::new(manager, Service::at_once()),
            mover,
            devices,
            room,
            host,
            mapped: settings.mapped,
            now: Time::ZERO,
            numbers: Numbers::default(),
            buffers: BTreeMap::new(),
            by_address: BTreeMap::new(),
            next: 0,
            closed: false,
            stopped: None,
        };
        // All at once: a move never waits for memory to be created.
        for (memory, count) in std::iter::once(host).chain(tier.room.clone()).enumerate() {
            tier.mover.frames.fill(memory, count)?;
        }
        Ok(tier)
    }

    /// Bytes that move together.
    #[must_use]
    pub fn piece(&self) -> Bytes {
        Bytes(self.mover.frames.piece())
    }

    /// What is allocated, by number.
    #[must_use]
    pub fn buffers(&self) -> &BTreeMap<u64, Buffer> {
        &self.buffers
    }

    /// The number of the buffer that begins at an address of its own device.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<u64> {
        self.by_address.get(&address).copied()
    }

    /// The address of a buffer on a device, for as long as it lives.
    ///
    /// # Errors
    /// There is no such buffer or device.
    pub fn address(&self, buffer: u64, device: usize) -> Result<u64, TierError> {
        Ok(self.buffer(buffer)?.addresses[self.place(device)?])
    }

    /// A buffer that holds zeros. Nothing of it is anywhere before a launch uses it; in a [mapped](Settings::mapped) tier
    /// its device can access it at once.
    ///
    /// # Errors
    /// There is too little room on the host, or the driver fails.
    pub fn allocate(&mut self, bytes: u64, device: usize, name: &str) -> Result<u64, TierError> {
        let place = self.place(device)?;
        self.begin()?;
        let (needed, room) = (bytes.div_ceil(self.mover.frames.piece()).max(1), self.room_on_host());
        let number = self.next;
        let name = if name.is_empty() { format!("buffer {number}") } else { name.to_owned() };
        let run = u32::try_from(needed).ok().filter(|_| needed <= room).and_then(|count| self.numbers.take(count));
        let Some(run) = run else { return Err(TierError::NoRoomOnHost { name, needed, room }) };
        let mut addresses = Vec::new();
        for _ in &self.devices {
            match self.mover.frames.reserve(needed) {
                Ok(address) => addresses.push(address),
                Err(error) => {
                    addresses.into_iter().for_each(|address| self.mover.frames.drop_range(address, needed));
                    self.numbers.put(run);
                    return Err(error.into());
                }
            }
        }
        self.next += 1;
        self.by_address.insert(addresses[place], number);
        self.mover.add(run, &addresses);
        let reach = ProcessorMask::EMPTY;
        self.buffers.insert(number, Buffer { name, bytes, device, addresses, run, reach });
        self.driver.allocate(self.now, Allocation { populated: false, ..run.into() }, &mut self.mover);
        if self.mapped {
            self.reach(place, number);
            let there = self.bring(place, &run.iter().collect());
            there.inspect_err(|_| _ = self.free(number))?;
        }
        Ok(number)
    }

    /// A buffer goes. Mappings that the driver does not take back now are taken back later.
    ///
    /// # Errors
    /// There is no such buffer.
    pub fn free(&mut self, buffer: u64) -> Result<(), TierError> {
        let Buffer { run, addresses, device, .. } = self.buffer(buffer)?.clone();
        self.mover.launches_may_run();
        self.driver.free(self.now, run, buffer, &mut self.mover);
        while self.driver.has_frees() && self.end_copies() {}
        self.numbers.put(run);
        self.by_address.remove(&addresses[self.place(device)?]);
        addresses.into_iter().for_each(|address| self.mover.frames.drop_range(address, run.count.into()));
        self.buffers.remove(&buffer);
        Ok(())
    }

    /// Brings all that the next launch on a device uses to that device; what it does not use leaves if it has to. No
    /// launch that is under way may be given more work meanwhile: who loses a piece is waited for. In a
    /// [mapped](Settings::mapped) tier, what does not fit stays where it is and is reached there.
    ///
    /// # Errors
    /// It does not fit, or the driver fails. Contents are what they were.
    pub fn before_launch(&mut self, device: usize, buffers: &[u64]) -> Result<(), TierError> {
        let place = self.place(device)?;
        let used: BTreeSet<u64> = buffers.iter().copied().collect();
        let runs = used.iter().map(|&buffer| Ok(self.buffer(buffer)?.run)).collect::<Result<Vec<_>, TierError>>()?;
        self.begin()?;
        if self.mapped {
            used.iter().for_each(|&buffer| self.reach(place, buffer));
        } else {
            self.check_room(place, &used)?;
        }
        let pages = runs.into_iter().flat_map(PageRun::iter).collect();
        self.bring(place, &pages)?;
        self.note_use(place, &pages);
        Ok(())
    }

    /// A device keeps no more than this many bytes: all other pieces leave, and their memory goes back to the driver. The
    /// bytes that went back.
    ///
    /// # Errors
    /// The driver fails; what is left goes when it is asked again.
    pub fn yield_memory(&mut self, device: usize, keep: Bytes) -> Result<Bytes, TierError> {
        let place = self.place(device)?;
        self.begin()?;
        let (memory, piece) = (MemoryId::gpu(place), self.mover.frames.piece());
        let before = self.mover.frames.owned(memory.index());
        let kept = u32::try_from(keep.0 / piece).unwrap_or(u32::MAX).min(self.room[place]);
        self.room[place] = kept;
        for _ in 0..TRIES {
            self.driver.capacity(self.now, memory, kept, &mut self.mover);
            while self.driver.manager().frames_held(memory) > kept && self.end_copies() {}
            if self.driver.manager().frames_held(memory) <= kept {
                break;
            }
            self.advance();
        }
        self.mover.frames.trim(memory.index(), kept);
        self.mend()?;
        let (held, settled) = (self.mover.frames.owned(memory.index()), self.mover.frames.settle());
        if held > kept || !settled {
            return Err(TierError::NotYielded { device, held: held.into(), kept: kept.into(), why: self.why() });
        }
        Ok(Bytes(u64::from(before - held) * piece))
    }

    /// A device may hold this many bytes again, or more than before.
    ///
    /// # Errors
    /// The driver has too little; the device holds what it did.
    pub fn take_memory(&mut self, device: usize, bytes: Bytes) -> Result<(), TierError> {
        let place = self.place(device)?;
        self.begin()?;
        let (memory, piece) = (MemoryId::gpu(place), self.mover.frames.piece());
        let wanted = u32::try_from(bytes.0 / piece).unwrap_or(u32::MAX - 1).max(self.room[place]);
        if let Err(error) = self.mover.frames.fill(memory.index(), wanted) {
            self.mover.frames.trim(memory.index(), self.room[place]);
            return Err(error.into());
        }
        self.room[place] = wanted;
        self.driver.capacity(self.now, memory, wanted, &mut self.mover);
        Ok(())
    }

    /// Writes into a buffer, piece by piece, on its own device.
    ///
    /// # Errors
    /// The bytes are not in it, its device has no room for a piece, or the driver fails: then some may be written.
    pub fn write(&mut self, buffer: u64, offset: u64, bytes: &[u8]) -> Result<(), TierError> {
        let place = self.place(self.buffer(buffer)?.device)?;
        for (page, within, part) in self.parts(buffer, offset, bytes.len() as u64)? {
            self.begin()?;
            self.bring(place, &BTreeSet::from([page]))?;
            self.mover.wait_for_users(page)?;
            let memory = self.mover.entry(place, page).expect("it was brought").target;
            let address = self.mover.frame_address(memory, page).expect("entries lead to copies") + within;
            let bytes = &bytes[part];
            self.mover.frames.call("write", bytes.len() as u64, |vmm| vmm.write(place, address, bytes))?;
        }
        Ok(())
    }

    /// Reads from a buffer, wherever its pieces are; nothing moves.
    ///
    /// # Errors
    /// The bytes are not in it, or the driver fails.
    pub fn read(&mut self, buffer: u64, offset: u64, bytes: &mut [u8]) -> Result<(), TierError> {
        self.mover.launches_may_run();
        for (page, within, part) in self.parts(buffer, offset, bytes.len() as u64)? {
            self.mover.wait_for_users(page)?;
            let bytes = &mut bytes[part];
            let Some(memory) = self.mover.holders(page).next() else {
                bytes.fill(0);
                continue;
            };
            let (by, address) = (memory.gpu_index().unwrap_or(0), self.mover.frame_address(memory, page));
            let address = address.expect("who holds it has a frame") + within;
            self.mover.frames.call("read", bytes.len() as u64, |vmm| vmm.read(by, bytes, address))?;
        }
        Ok(())
    }

    /// Whether a buffer has these bytes.
    ///
    /// # Errors
    /// It has not, or there is none.
    pub fn check(&self, buffer: u64, offset: u64, count: u64) -> Result<(), TierError> {
        self.parts(buffer, offset, count).map(drop)
    }

    /// Where everything is, and what it cost.
    #[must_use]
    pub fn status(&self) -> Status {
        let frames = &self.mover.frames;
        let device = |(place, &device): (usize, &usize)| {
            let (owned, room) = (frames.owned(place + 1), self.room[place]);
            DeviceStatus { device, room, owned, held: owned - frames.free(place + 1) }
        };
        let counted = self.driver.manager().statistics();
        Status {
            piece: frames.piece(),
            devices: self.devices.iter().enumerate().map(device).collect(),
            host: HostStatus { owned: frames.owned(0), held: frames.owned(0) - frames.free(0) },
            buffers: self.buffers.iter().map(|(&number, buffer)| self.status_of(number, buffer)).collect(),
            calls: frames.costs().clone(),
            refused: frames.refusals(),
            counts: Counts {
                came: counted.migrations + counted.prefetched,
                to_host: counted.evictions_written,
                to_neighbour: counted.evictions_to_spare,
            },
        }
    }

    /// Gives everything back to the driver. It is done when the tier goes, too, where errors are lost.
    ///
    /// # Errors
    /// The driver fails; what is left goes when this is called again.
    pub fn close(&mut self) -> Result<(), TierError> {
        self.closed = true;
        let all: Vec<u64> = self.buffers.keys().copied().collect();
        all.into_iter().try_for_each(|buffer| self.free(buffer))?;
        (0..=self.devices.len()).for_each(|memory| self.mover.frames.trim(memory, 0));
        if self.mover.frames.settle() { Ok(()) } else { Err(TierError::Stopped(self.why())) }
    }

    /// Whether everything was given back.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    fn status_of(&self, number: u64, buffer: &Buffer) -> BufferStatus {
        let mut pieces = BTreeMap::new();
        let place = self.devices.iter().position(|device| *device == buffer.device).unwrap_or(0);
        let mut mapped = 0;
        for page in buffer.run.iter() {
            // A neighbour that keeps it comes before the host's copy.
            let holder = self.mover.holders(page).max_by_key(|memory| !memory.on_host());
            let word = match holder.map(MemoryId::gpu_index) {
                Some(Some(gpu)) => format!("device {}", self.devices[gpu]),
                Some(None) => "host".to_owned(),
                None => "nowhere".to_owned(),
            };
            *pieces.entry(word).or_default() += 1;
            mapped += u32::from(self.mover.entry(place, page).is_some());
        }
        let Buffer { name, bytes, device, .. } = buffer.clone();
        BufferStatus { buffer: number, name, bytes, device, pieces, mapped }
    }
}

/// What is beneath.
impl Tier {
    fn buffer(&self, buffer: u64) -> Result<&Buffer, TierError> {
        self.buffers.get(&buffer).ok_or_else(|| TierError::UnknownBuffer(buffer.to_string()))
    }

    fn place(&self, device: usize) -> Result<usize, TierError> {
        let place = self.devices.iter().position(|known| *known == device);
        place.ok_or_else(|| TierError::UnknownDevice { asked: device, found: self.devices.clone() })
    }

    /// Pieces of the host that nothing will need: everything else must fit there when all devices yield.
    fn room_on_host(&self) -> u64 {
        let allocated: u64 = self.buffers.values().map(|buffer| u64::from(buffer.run.count)).sum();
        u64::from(self.host).saturating_sub(allocated)
    }

    /// Begins every call that may move something.
    fn begin(&mut self) -> Result<(), TierError> {
        if self.closed {
            return Err(TierError::Closed);
        }
        if let Some(why) = &self.stopped {
            return Err(TierError::Stopped(why.clone()));
        }
        self.mover.launches_may_run();
        self.mover.frames.take_refused();
        self.mover.frames.settle();
        self.end_copies();
        self.advance();
        Ok(())
    }

    /// Time passes: what was held for a launch may leave.
    fn advance(&mut self) {
        self.now = Time(self.now.0 + 2);
        self.driver.tick(self.now, &mut self.mover);
    }

    /// Waits for the copies that went on while the program did. Others may begin; whether any had.
    pub(crate) fn end_copies(&mut self) -> bool {
        let ended = self.mover.copies_under_way();
        let any = !ended.is_empty();
        for (ticket, how) in ended {
            self.driver.finished(self.now, ticket, how, &mut self.mover);
        }
        any
    }

    /// Refuses what does not fit.
    fn check_room(&self, place: usize, buffers: &BTreeSet<u64>) -> Result<(), TierError> {
        let mut used: Vec<&Buffer> = buffers.iter().map(|buffer| &self.buffers[buffer]).collect();
        let (needed, room) = (used.iter().map(|buffer| u64::from(buffer.run.count)).sum(), self.room[place].into());
        if needed <= room {
            return Ok(());
        }
        used.sort_by_key(|buffer| std::cmp::Reverse(buffer.run.count));
        let named = used.iter().take(3).map(|buffer| format!("`{}` {}", buffer.name, buffer.run.count));
        let largest = named.collect::<Vec<_>>().join(", ");
        Err(TierError::NoRoomForLaunch { device: self.devices[place], needed, room, largest })
    }

    pub(crate) fn stop(&mut self) -> TierError {
        let why = self.why();
        TierError::Stopped(self.stopped.insert(why).clone())
    }

    /// What the driver refused last.
    pub(crate) fn why(&mut self) -> String {
        let refused = self.mover.frames.take_refused();
        refused.map_or_else(|| "no room was made".to_owned(), |error| error.to_string())
    }

    /// Pages of some bytes of a buffer: where in the page they begin, and which bytes they are.
    fn parts(
        &self,
        buffer: u64,
        from: u64,
        count: u64,
    ) -> Result<Vec<(PageId, u64, std::ops::Range<usize>)>, TierError> {
        let Buffer { name, bytes, run, .. } = self.buffer(buffer)?;
        let to = from.saturating_add(count);
        if to > *bytes {
            return Err(TierError::Outside { name: name.clone(), from, to, bytes: *bytes });
        }
        let piece = self.mover.frames.piece();
        let mut parts = Vec::new();
        let mut at = from;
        while at < to {
            let end = (at / piece * piece + piece).min(to);
            let page = PageId(run.first.0 + (at / piece) as u32);
            parts.push((page, at % piece, (at - from) as usize..(end - from) as usize));
            at = end;
        }
        Ok(parts)
    }
}

impl Drop for Tier {
    fn drop(&mut self) {
        _ = self.close();
    }
}
