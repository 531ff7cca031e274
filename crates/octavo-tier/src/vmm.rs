//! What a tier asks of a driver.

use octavo_gpu::{GpuError, Location, VirtualMemory};

/// Addresses that nothing is mapped at, pieces of memory without addresses, and mappings between them: CUDA's virtual
/// memory management, of which every call can fail.
///
/// Addresses are the tier's own, and only it maps there. Devices go by their place among those of the tier.
pub trait Vmm: Send {
    /// The least piece; larger ones are multiples of it.
    ///
    /// # Errors
    /// The driver fails. So it can in all calls below, after which nothing has changed.
    fn granularity(&mut self) -> Result<u64, GpuError>;

    /// A range of addresses, which begins at a multiple of `alignment`.
    ///
    /// # Errors
    /// As above.
    fn reserve(&mut self, bytes: u64, alignment: u64) -> Result<u64, GpuError>;

    /// Gives a range back that nothing is mapped at.
    ///
    /// # Errors
    /// As above.
    fn give_back(&mut self, address: u64, bytes: u64) -> Result<(), GpuError>;

    /// A piece of memory.
    ///
    /// # Errors
    /// As above.
    fn create(&mut self, location: Location, bytes: u64) -> Result<u64, GpuError>;

    /// Gives a piece back that is mapped nowhere.
    ///
    /// # Errors
    /// As above.
    fn release(&mut self, piece: u64) -> Result<(), GpuError>;

    /// Maps a whole piece.
    ///
    /// # Errors
    /// As above.
    fn map(&mut self, address: u64, bytes: u64, piece: u64) -> Result<(), GpuError>;

    /// Says which devices can access a mapping, and whether they can write.
    ///
    /// # Errors
    /// As above.
    fn set_access(&mut self, address: u64, bytes: u64, who: &[usize], writes: bool) -> Result<(), GpuError>;

    /// Takes a mapping away.
    ///
    /// # Errors
    /// As above.
    fn unmap(&mut self, address: u64, bytes: u64) -> Result<(), GpuError>;

    /// A device begins to copy; nobody uses either place before [`Self::end_copies`].
    ///
    /// # Errors
    /// As above.
    fn begin_copy(&mut self, by: usize, to: u64, from: u64, bytes: u64) -> Result<(), GpuError>;

    /// Waits for the copies that a device has begun.
    ///
    /// # Errors
    /// As above; what was to be copied may be copied in part.
    fn end_copies(&mut self, by: usize) -> Result<(), GpuError>;

    /// A device fills a mapping with zeros.
    ///
    /// # Errors
    /// As above.
    fn clear(&mut self, by: usize, address: u64, bytes: u64) -> Result<(), GpuError>;

    /// A device gets bytes of the program's.
    ///
    /// # Errors
    /// As above; some may have been written.
    fn write(&mut self, by: usize, to: u64, from: &[u8]) -> Result<(), GpuError>;

    /// The program gets bytes of a device's.
    ///
    /// # Errors
    /// As above.
    fn read(&mut self, by: usize, to: &mut [u8], from: u64) -> Result<(), GpuError>;

    /// Waits until a device has nothing to do.
    ///
    /// # Errors
    /// As above, and what a kernel has failed with.
    fn wait(&mut self, device: usize) -> Result<(), GpuError>;

    /// Nanoseconds since some moment.
    fn clock(&self) -> u64;
}

/// The driver of this machine, and a clock.
pub struct Cuda {
    driver: VirtualMemory,
    begun: std::time::Instant,
}

impl Cuda {
    /// GPUs by their numbers.
    ///
    /// # Errors
    /// No driver, no such GPU, or one that does not reach another's memory.
    pub fn open(devices: &[usize]) -> Result<Self, GpuError> {
        Ok(Self { driver: VirtualMemory::open(devices)?, begun: std::time::Instant::now() })
    }
}

#[expect(unsafe_code, reason = "who uses memory meanwhile is the tier's to know")]
impl Vmm for Cuda {
    fn granularity(&mut self) -> Result<u64, GpuError> {
        self.driver.granularity()
    }

    fn reserve(&mut self, bytes: u64, alignment: u64) -> Result<u64, GpuError> {
        self.driver.reserve(bytes, alignment)
    }

    fn give_back(&mut self, address: u64, bytes: u64) -> Result<(), GpuError> {
        self.driver.give_back(address, bytes)
    }

    fn create(&mut self, location: Location, bytes: u64) -> Result<u64, GpuError> {
        self.driver.create(location, bytes)
    }

    fn release(&mut self, piece: u64) -> Result<(), GpuError> {
        self.driver.release(piece)
    }

    fn map(&mut self, address: u64, bytes: u64, piece: u64) -> Result<(), GpuError> {
        self.driver.map(address, bytes, piece)
    }

    fn set_access(&mut self, address: u64, bytes: u64, who: &[usize], writes: bool) -> Result<(), GpuError> {
        self.driver.set_access(address, bytes, who, writes)
    }

    fn unmap(&mut self, address: u64, bytes: u64) -> Result<(), GpuError> {
        self.driver.unmap(address, bytes)
    }

    fn begin_copy(&mut self, by: usize, to: u64, from: u64, bytes: u64) -> Result<(), GpuError> {
        // SAFETY: both are frames of the tier's, which every device can access and no plan but this one names.
        unsafe { self.driver.begin_copy(by, to, from, bytes) }
    }

    fn end_copies(&mut self, by: usize) -> Result<(), GpuError> {
        self.driver.end_copies(by)
    }

    fn clear(&mut self, by: usize, address: u64, bytes: u64) -> Result<(), GpuError> {
        // SAFETY: a frame of the tier's, which no page uses yet.
        unsafe { self.driver.clear(by, address, bytes) }
    }

    fn write(&mut self, by: usize, to: u64, from: &[u8]) -> Result<(), GpuError> {
        // SAFETY: inside a frame of the tier's, whose devices have been waited for.
        unsafe { self.driver.write(by, to, from) }
    }

    fn read(&mut self, by: usize, to: &mut [u8], from: u64) -> Result<(), GpuError> {
        // SAFETY: inside a frame of the tier's, whose devices have been waited for.
        unsafe { self.driver.read(by, to, from) }
    }

    fn wait(&mut self, device: usize) -> Result<(), GpuError> {
        self.driver.wait(device)
    }

    fn clock(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
