//! Kernels and their launches.

use std::ffi::{CString, c_void};

use cudarc::driver::{result, sys};

use crate::driver::code::Code;
use crate::driver::memory::Memory;
use crate::driver::signature::{Kind, signature};
use crate::driver::source::Source;
use crate::driver::stream::Stream;
use crate::error::{Called, GpuError};

/// Most arguments a kernel of the probes takes.
const MOST: usize = 12;

/// One argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Argument {
    /// Where a buffer begins.
    Pointer(u64),
    /// 32 bits.
    Word(u32),
    /// 64 bits.
    Long(u64),
    /// A number of single precision.
    Float(f32),
}

impl Argument {
    /// Where a buffer begins.
    pub(crate) fn of(memory: &dyn Memory) -> Self {
        Self::Pointer(memory.address())
    }

    fn kind(self) -> Kind {
        match self {
            Self::Pointer(_) => Kind::Pointer,
            Self::Word(_) => Kind::Word,
            Self::Long(_) => Kind::Long,
            Self::Float(_) => Kind::Float,
        }
    }

    fn bits(self) -> [u8; 8] {
        match self {
            Self::Pointer(value) | Self::Long(value) => value.to_ne_bytes(),
            Self::Word(value) => widened(value.to_ne_bytes()),
            Self::Float(value) => widened(value.to_ne_bytes()),
        }
    }
}

/// The driver reads as many bytes as the kernel's argument has, from the first one on.
fn widened(bytes: [u8; 4]) -> [u8; 8] {
    let mut wide = [0; 8];
    wide[..4].copy_from_slice(&bytes);
    wide
}

/// Blocks and threads of a launch, in one dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// Thread blocks.
    pub(crate) blocks: u32,
    /// Threads of a block.
    pub(crate) threads: u32,
    /// Bytes of shared memory that a block requests beyond its own, to keep others off a multiprocessor.
    pub(crate) shared: u32,
}

impl Grid {
    /// Without further shared memory.
    pub(crate) fn new(blocks: u32, threads: u32) -> Self {
        Self { blocks, threads, shared: 0 }
    }

    /// Threads of all blocks.
    pub(crate) fn all_threads(self) -> u64 {
        u64::from(self.blocks) * u64::from(self.threads)
    }
}

/// The compiled kernels of one source.
pub struct Module {
    handle: sys::CUmodule,
    text: String,
}

impl Module {
    pub(crate) fn load(source: &Source, code: &Code) -> Result<Self, GpuError> {
        // SAFETY: a whole ELF file, which says how long it is, or a text that ends in a zero byte.
        let handle = unsafe { result::module::load_data(code.bytes().as_ptr().cast()) }.called("cuModuleLoadData")?;
        Ok(Self { handle, text: source.text() })
    }

    /// One of its kernels.
    pub(crate) fn kernel(&self, name: &str) -> Result<Kernel, GpuError> {
        let takes = signature(&self.text, name).ok_or_else(|| GpuError::Arguments {
            kernel: name.to_owned(),
            expected: "no such kernel".to_owned(),
            found: String::new(),
        })?;
        let symbol = CString::new(name).expect("kernels have plain names");
        // SAFETY: the module is loaded; a kernel holds its GPU, which holds the module.
        let handle = unsafe { result::module::get_function(self.handle, symbol) }.called("cuModuleGetFunction")?;
        Ok(Kernel { handle, name: name.to_owned(), takes })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: unloaded once.
        let _ = unsafe { result::module::unload(self.handle) };
    }
}

/// A kernel that can be launched.
pub(crate) struct Kernel {
    handle: sys::CUfunction,
    name: String,
    takes: Vec<Kind>,
}

impl Kernel {
    /// Its name in its source.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Puts a launch into the stream. Arguments are compared with the kernel's declaration: the driver would not.
    pub(crate) fn launch(&self, stream: &Stream, grid: Grid, arguments: &[Argument]) -> Result<(), GpuError> {
        self.check(arguments)?;
        let mut bits = [[0_u8; 8]; MOST];
        let mut pointers = [std::ptr::null_mut::<c_void>(); MOST];
        for (index, argument) in arguments.iter().enumerate() {
            bits[index] = argument.bits();
            pointers[index] = (&raw mut bits[index]).cast();
        }
        let (blocks, threads) = ((grid.blocks, 1, 1), (grid.threads, 1, 1));
        // SAFETY: number and kinds of the arguments are what the kernel declares. The probes promise that it stays
        // inside the named buffers, and that buffers live until the stream is waited for.
        unsafe { result::launch_kernel(self.handle, blocks, threads, grid.shared, stream.handle(), &mut pointers) }
            .called("cuLaunchKernel")
    }

    /// Lets blocks request that much shared memory, beyond the limit of every kernel.
    pub(crate) fn allow_shared(&self, bytes: u32) -> Result<(), GpuError> {
        let which = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let bytes = i32::try_from(bytes).expect("shared memory is small");
        // SAFETY: the kernel is loaded.
        unsafe { result::function::set_function_attribute(self.handle, which, bytes) }.called("cuFuncSetAttribute")
    }

    /// How many blocks of that size fit on a multiprocessor at once.
    pub(crate) fn blocks_per_multiprocessor(&self, threads: u32, shared: u32) -> Result<u32, GpuError> {
        let threads = i32::try_from(threads).expect("blocks are small");
        // SAFETY: the kernel is loaded.
        let blocks =
            unsafe { result::occupancy::max_active_block_per_multiprocessor(self.handle, threads, shared as usize) };
        Ok(u32::try_from(blocks.called("cuOccupancyMaxActiveBlocksPerMultiprocessor")?).unwrap_or(0))
    }

    /// As many blocks of that size as fit at once on a GPU with this many multiprocessors.
    pub(crate) fn filling(&self, multiprocessors: u32, threads: u32) -> Result<Grid, GpuError> {
        let blocks = self.blocks_per_multiprocessor(threads, 0)?.max(1);
        Ok(Grid::new(multiprocessors * blocks, threads))
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), GpuError> {
        let found: Vec<Kind> = arguments.iter().map(|argument| argument.kind()).collect();
        if found == self.takes && found.len() <= MOST {
            return Ok(());
        }
        Err(GpuError::Arguments { kernel: self.name.clone(), expected: words(&self.takes), found: words(&found) })
    }
}

fn words(kinds: &[Kind]) -> String {
    kinds.iter().map(|kind| format!("{kind:?}").to_lowercase()).collect::<Vec<_>>().join(", ")
}
