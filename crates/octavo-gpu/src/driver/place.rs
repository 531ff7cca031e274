//! Where managed memory can be.

use cudarc::driver::sys;

/// Where managed memory is sent, or preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The host.
    Host,
    /// A GPU, by its number.
    Gpu(usize),
}

impl Place {
    pub(crate) fn location(self) -> sys::CUmemLocation {
        let (kind, id) = match self {
            Self::Host => (sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, 0),
            Self::Gpu(index) => {
                (sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, i32::try_from(index).unwrap_or(i32::MAX))
            }
        };
        sys::CUmemLocation { type_: kind, id }
    }
}
