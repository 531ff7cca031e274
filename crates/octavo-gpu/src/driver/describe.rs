//! The driver's description of a GPU.

use cudarc::driver::result::device;
use cudarc::driver::sys::{self, CUdevice, CUdevice_attribute_enum as Attribute};

use crate::driver::library;
use crate::error::{Called, GpuError};
use crate::facts::{Fact, Facts};

/// One GPU as its driver describes it.
#[derive(Clone, Debug)]
pub struct Description {
    /// Number among the GPUs of this machine, from 0.
    pub index: usize,
    /// Such as `NVIDIA H100 80GB HBM3`.
    pub name: String,
    /// Such as `GPU-8e3c...`, the same in every run.
    pub uuid: String,
    /// Major and minor compute capability.
    pub capability: (i32, i32),
    /// Domain, bus and device on the PCI bus.
    pub pci_bus_id: String,
    /// Bytes of memory, free or not.
    pub memory_bytes: u64,
    /// Release of the kernel's driver, such as `560.35.03`; elsewhere than on Linux it is not known.
    pub driver: Option<String>,
    /// The newest CUDA version that the driver knows.
    pub cuda: String,
    /// Numbers by name, in the units the names say.
    pub numbers: Vec<(&'static str, i32)>,
    /// Capabilities of the GPU, by name.
    pub abilities: Vec<(&'static str, bool)>,
}

/// Names follow `CUdevice_attribute`; kHz, bits and bytes are the driver's own units.
const NUMBERS: &[(&str, Attribute)] = &[
    ("multiprocessors", Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
    ("clock_khz", Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
    ("memory_clock_khz", Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
    ("memory_bus_bits", Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
    ("l2_bytes", Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
    ("shared_bytes_per_multiprocessor", Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    ("threads_per_multiprocessor", Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
    ("registers_per_multiprocessor", Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
    ("warp_size", Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE),
];

const ABILITIES: &[(&str, Attribute)] = &[
    ("managed_memory", Attribute::CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY),
    ("concurrent_managed_access", Attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS),
    ("pageable_memory_access", Attribute::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS),
    (
        "pageable_memory_access_uses_host_page_tables",
        Attribute::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES,
    ),
    ("host_native_atomics", Attribute::CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED),
    ("integrated", Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED),
];

/// Every GPU of this machine.
///
/// # Errors
/// No driver, a driver that is too old, no GPU.
pub fn describe() -> Result<Vec<Description>, GpuError> {
    let cuda = library::dotted(library::driver()?);
    let count = usize::try_from(device::get_count().called("cuDeviceGetCount")?).unwrap_or(0);
    if count == 0 {
        return Err(GpuError::NoGpu);
    }
    (0..count).map(|index| one(index, &cuda)).collect()
}

impl Description {
    /// All of it by name, with bytes that are free and the version of the kernels' compiler, where they are known.
    #[must_use]
    pub fn facts(&self, free_bytes: Option<u64>, compiler: Option<String>) -> Facts {
        let (major, minor) = self.capability;
        let mut facts: Facts = vec![
            ("index", Some((self.index as u64).into())),
            ("name", Some(self.name.clone().into())),
            ("uuid", Some(self.uuid.clone().into())),
            ("compute_capability", Some(format!("{major}.{minor}").into())),
            ("pci_bus_id", Some(self.pci_bus_id.clone().into())),
            ("memory_bytes", Some(self.memory_bytes.into())),
            ("free_bytes", free_bytes.map(Fact::from)),
            ("driver", self.driver.clone().map(Fact::from)),
            ("cuda", Some(self.cuda.clone().into())),
            ("nvrtc", compiler.map(Fact::from)),
        ];
        facts.extend(self.numbers.iter().map(|&(name, value)| (name, Some(value.into()))));
        facts.extend(self.abilities.iter().map(|&(name, can)| (name, Some(can.into()))));
        facts
    }

    /// One of the numbers.
    ///
    /// # Panics
    /// If there is none of that name.
    #[must_use]
    pub fn number(&self, name: &str) -> u64 {
        let found = self.numbers.iter().find(|(known, _)| *known == name);
        u64::try_from(found.expect("a number of the table above").1).unwrap_or(0)
    }

    /// Whether the GPU can do that.
    ///
    /// # Panics
    /// If there is nothing of that name.
    #[must_use]
    pub fn can(&self, name: &str) -> bool {
        self.abilities.iter().find(|(known, _)| *known == name).expect("an ability of the table above").1
    }
}

pub(crate) fn handle(index: usize) -> Result<CUdevice, GpuError> {
    device::get(i32::try_from(index).unwrap_or(i32::MAX)).called("cuDeviceGet")
}

fn one(index: usize, cuda: &str) -> Result<Description, GpuError> {
    let device = handle(index)?;
    Ok(Description {
        index,
        name: device::get_name(device).called("cuDeviceGetName")?,
        uuid: uuid(&device::get_uuid(device).called("cuDeviceGetUuid")?),
        capability: (
            attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        pci_bus_id: pci_bus_id(device)?,
        // SAFETY: the device comes from the driver.
        memory_bytes: unsafe { device::total_mem(device) }.called("cuDeviceTotalMem")? as u64,
        driver: release(),
        cuda: cuda.to_owned(),
        numbers: NUMBERS
            .iter()
            .map(|&(name, which)| Ok((name, attribute(device, which)?)))
            .collect::<Result<_, _>>()?,
        abilities: ABILITIES
            .iter()
            .map(|&(name, which)| Ok((name, attribute(device, which)? != 0)))
            .collect::<Result<_, _>>()?,
    })
}

/// The kernel module's own word.
fn release() -> Option<String> {
    std::fs::read_to_string("/sys/module/nvidia/version").ok().map(|text| text.trim().to_owned())
}

fn attribute(device: CUdevice, which: Attribute) -> Result<i32, GpuError> {
    // SAFETY: the device comes from the driver.
    unsafe { device::get_attribute(device, which) }.called("cuDeviceGetAttribute")
}

fn uuid(uuid: &sys::CUuuid) -> String {
    let hex: String = uuid.bytes.iter().map(|byte| format!("{:02x}", byte.to_ne_bytes()[0])).collect();
    format!("GPU-{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

fn pci_bus_id(device: CUdevice) -> Result<String, GpuError> {
    let mut text = [0; 32];
    // SAFETY: at most 32 characters with their end are written.
    unsafe { sys::cuDeviceGetPCIBusId(text.as_mut_ptr(), 32, device) }.result().called("cuDeviceGetPCIBusId")?;
    Ok(text.iter().take_while(|&&letter| letter != 0).map(|&letter| char::from(letter.to_ne_bytes()[0])).collect())
}
