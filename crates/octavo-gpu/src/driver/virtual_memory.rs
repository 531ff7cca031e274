//! Addresses and memory apart: ranges are reserved, pieces of memory are created, and mapped there and elsewhere.

use std::ffi::c_void;

use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute};

use crate::driver::context::Context;
use crate::driver::describe;
use crate::driver::memory::to_usize;
use crate::driver::stream::Stream;
use crate::error::{Called, GpuError};

/// Where a piece of memory is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// On a device, by its place among those that were opened.
    Device(usize),
    /// On the host, near the first device.
    Host,
}

/// Some GPUs, whose kernels and copies reach each other's memory.
pub struct VirtualMemory {
    devices: Vec<Device>,
    /// The host's memory near the first device.
    node: i32,
}

struct Device {
    ordinal: i32,
    /// Before the context, as fields go in order.
    stream: Stream,
    context: Context,
}

// SAFETY: contexts and streams of the driver may be used by any thread, one at a time, which `&mut self` sees to.
unsafe impl Send for VirtualMemory {}

impl VirtualMemory {
    /// The GPUs of these numbers. The contexts of the calling thread stay as they are, here and in all other calls.
    ///
    /// # Errors
    /// No driver, no such GPU, or one that does not reach another's memory.
    pub fn open(numbers: &[usize]) -> Result<Self, GpuError> {
        let found = describe::describe()?.len();
        if let Some(&asked) = numbers.iter().find(|&&number| number >= found) {
            return Err(GpuError::UnknownGpu { asked, found });
        }
        let devices = numbers.iter().map(|&number| Device::open(number)).collect::<Result<Vec<_>, _>>()?;
        for (from, number) in devices.iter().zip(numbers) {
            for (to, other) in devices.iter().zip(numbers) {
                if number != other && !reaches(from, to)? {
                    return Err(GpuError::NoPeerAccess { from: *number, to: *other });
                }
            }
        }
        let node = devices.first().map_or(Ok(0), Device::host_node)?;
        Ok(Self { devices, node })
    }

    /// The least piece of memory; larger ones are multiples of it.
    ///
    /// # Errors
    /// The driver fails.
    pub fn granularity(&mut self) -> Result<u64, GpuError> {
        let properties = self.properties(Location::Device(0));
        let least = sys::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
        let mut bytes = 0;
        // SAFETY: reads the properties and writes one number.
        unsafe { sys::cuMemGetAllocationGranularity(&raw mut bytes, &raw const properties, least) }
            .result()
            .called("cuMemGetAllocationGranularity")?;
        Ok(bytes as u64)
    }

    /// A range of addresses that nothing is mapped at; it begins at a multiple of `alignment`.
    ///
    /// # Errors
    /// The driver fails.
    pub fn reserve(&mut self, bytes: u64, alignment: u64) -> Result<u64, GpuError> {
        let mut address = 0;
        // SAFETY: writes one address.
        unsafe { sys::cuMemAddressReserve(&raw mut address, to_usize(bytes), to_usize(alignment), 0, 0) }
            .result()
            .called("cuMemAddressReserve")?;
        Ok(address)
    }

    /// Gives a range of addresses back.
    ///
    /// # Errors
    /// Something is mapped there.
    pub fn give_back(&mut self, address: u64, bytes: u64) -> Result<(), GpuError> {
        // SAFETY: the driver refuses what is no range or is in use.
        unsafe { sys::cuMemAddressFree(address, to_usize(bytes)) }.result().called("cuMemAddressFree")
    }

    /// A piece of memory without an address; its number.
    ///
    /// # Errors
    /// There is too little.
    pub fn create(&mut self, location: Location, bytes: u64) -> Result<u64, GpuError> {
        let properties = self.properties(location);
        let mut piece = 0;
        // SAFETY: reads the properties and writes one number.
        unsafe { sys::cuMemCreate(&raw mut piece, to_usize(bytes), &raw const properties, 0) }
            .result()
            .called("cuMemCreate")?;
        Ok(piece)
    }

    /// Gives a piece back, once nothing is mapped to it.
    ///
    /// # Errors
    /// There is no such piece.
    pub fn release(&mut self, piece: u64) -> Result<(), GpuError> {
        // SAFETY: the driver refuses a number that is no piece.
        unsafe { sys::cuMemRelease(piece) }.result().called("cuMemRelease")
    }

    /// Maps a whole piece at an address of a reserved range. Nobody can access it before [`Self::set_access`].
    ///
    /// # Errors
    /// Something is mapped there.
    pub fn map(&mut self, address: u64, bytes: u64, piece: u64) -> Result<(), GpuError> {
        // SAFETY: the driver refuses addresses that are not reserved, or in use.
        unsafe { sys::cuMemMap(address, to_usize(bytes), 0, piece, 0) }.result().called("cuMemMap")
    }

    /// Kernels and copies of these devices can access what is mapped there from now on.
    ///
    /// # Errors
    /// Nothing is mapped there.
    pub fn set_access(&mut self, address: u64, bytes: u64, who: &[usize], writes: bool) -> Result<(), GpuError> {
        let flags = if writes {
            sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        } else {
            sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ
        };
        let described: Vec<sys::CUmemAccessDesc> =
            who.iter().map(|&device| sys::CUmemAccessDesc { location: self.location(device), flags }).collect();
        // SAFETY: reads as many descriptions as there are; the driver refuses addresses at which nothing is mapped.
        unsafe { sys::cuMemSetAccess(address, to_usize(bytes), described.as_ptr(), described.len()) }
            .result()
            .called("cuMemSetAccess")
    }

    /// Nothing is mapped there any more.
    ///
    /// # Errors
    /// Nothing was.
    pub fn unmap(&mut self, address: u64, bytes: u64) -> Result<(), GpuError> {
        // SAFETY: the driver refuses addresses at which nothing is mapped.
        unsafe { sys::cuMemUnmap(address, to_usize(bytes)) }.result().called("cuMemUnmap")
    }

    /// Begins a copy of mapped memory, by a stream of the device that waits for nobody else.
    ///
    /// # Errors
    /// The driver fails.
    ///
    /// # Safety
    /// The device can access both, and nobody else uses them until [`Self::end_copies`] has returned.
    pub unsafe fn begin_copy(&mut self, by: usize, to: u64, from: u64, bytes: u64) -> Result<(), GpuError> {
        let stream = self.devices[by].stream.handle();
        self.on(by, || {
            // SAFETY: as the caller promises.
            unsafe { sys::cuMemcpyAsync(to, from, to_usize(bytes), stream) }.result().called("cuMemcpyAsync")
        })
    }

    /// Clears mapped memory.
    ///
    /// # Errors
    /// The driver fails.
    ///
    /// # Safety
    /// The device can write it, and nobody else uses it meanwhile.
    pub unsafe fn clear(&mut self, by: usize, address: u64, bytes: u64) -> Result<(), GpuError> {
        let stream = self.devices[by].stream.handle();
        self.on(by, || {
            // SAFETY: as the caller promises.
            unsafe { sys::cuMemsetD8Async(address, 0, to_usize(bytes), stream) }.result().called("cuMemsetD8Async")
        })?;
        self.end_copies(by)
    }

    /// Copies from the host's ordinary memory, and returns when it is done.
    ///
    /// # Errors
    /// The driver fails.
    ///
    /// # Safety
    /// The device can write there, and nobody else uses it meanwhile.
    pub unsafe fn write(&mut self, by: usize, to: u64, from: &[u8]) -> Result<(), GpuError> {
        let stream = self.devices[by].stream.handle();
        self.on(by, || {
            let source = from.as_ptr().cast::<c_void>();
            // SAFETY: as the caller promises; the bytes stay until the stream has been waited for.
            unsafe { sys::cuMemcpyHtoDAsync_v2(to, source, from.len(), stream) }.result().called("cuMemcpyHtoDAsync")
        })?;
        self.end_copies(by)
    }

    /// Copies to the host's ordinary memory, and returns when it is done.
    ///
    /// # Errors
    /// The driver fails.
    ///
    /// # Safety
    /// The device can read there, and nobody writes there meanwhile.
    pub unsafe fn read(&mut self, by: usize, to: &mut [u8], from: u64) -> Result<(), GpuError> {
        let stream = self.devices[by].stream.handle();
        self.on(by, || {
            let target = to.as_mut_ptr().cast::<c_void>();
            // SAFETY: as the caller promises; the bytes stay until the stream has been waited for.
            unsafe { sys::cuMemcpyDtoHAsync_v2(target, from, to.len(), stream) }.result().called("cuMemcpyDtoHAsync")
        })?;
        self.end_copies(by)
    }

    /// Waits for copies that a device has begun here.
    ///
    /// # Errors
    /// What they failed with.
    pub fn end_copies(&mut self, by: usize) -> Result<(), GpuError> {
        self.on(by, || self.devices[by].stream.wait())
    }

    /// Waits until everything that this process gave a device to do is done.
    ///
    /// # Errors
    /// What a kernel failed with.
    pub fn wait(&mut self, device: usize) -> Result<(), GpuError> {
        // SAFETY: waits for the current context.
        self.on(device, || unsafe { sys::cuCtxSynchronize() }.result().called("cuCtxSynchronize"))
    }

    /// Makes a device's context current for one call, and no longer.
    fn on<T>(&self, device: usize, call: impl FnOnce() -> Result<T, GpuError>) -> Result<T, GpuError> {
        let _current = self.devices[device].context.pushed()?;
        call()
    }

    fn location(&self, device: usize) -> sys::CUmemLocation {
        sys::CUmemLocation {
            type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
            id: self.devices[device].ordinal,
        }
    }

    fn properties(&self, location: Location) -> sys::CUmemAllocationProp {
        let location = match location {
            Location::Device(device) => self.location(device),
            Location::Host => {
                sys::CUmemLocation { type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA, id: self.node }
            }
        };
        sys::CUmemAllocationProp {
            type_: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            requestedHandleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            location,
            win32HandleMetaData: std::ptr::null_mut(),
            allocFlags: sys::CUmemAllocationProp_st__bindgen_ty_1 {
                compressionType: 0,
                gpuDirectRDMACapable: 0,
                usage: 0,
                reserved: [0; 4],
            },
        }
    }
}

impl Device {
    fn open(number: usize) -> Result<Self, GpuError> {
        let context = Context::retain(describe::handle(number)?)?;
        let stream = {
            let _current = context.pushed()?;
            Stream::new()?
        };
        Ok(Self { ordinal: i32::try_from(number).unwrap_or(i32::MAX), stream, context })
    }

    /// The host's memory that is nearest; the first where the driver knows of none.
    fn host_node(&self) -> Result<i32, GpuError> {
        let (mut node, which) = (0, Attribute::CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
        // SAFETY: writes one number.
        unsafe { sys::cuDeviceGetAttribute(&raw mut node, which, self.context.device()) }
            .result()
            .called("cuDeviceGetAttribute")?;
        Ok(node.max(0))
    }
}

fn reaches(from: &Device, to: &Device) -> Result<bool, GpuError> {
    let mut can = 0;
    // SAFETY: writes one number; both devices come from the driver.
    unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, from.context.device(), to.context.device()) }
        .result()
        .called("cuDeviceCanAccessPeer")?;
    Ok(can != 0)
}
