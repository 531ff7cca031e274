//! Ranges of this process's addresses, and files without names that are mapped there.
#![expect(unsafe_code, reason = "the kernel's calls are those of a C library")]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_int, c_void, off_t};

/// A file in memory.
pub(super) struct File(OwnedFd);

impl File {
    /// A file of this many bytes, none of which takes room before it is touched.
    #[cfg(target_os = "linux")]
    pub fn new(bytes: u64) -> io::Result<Self> {
        // SAFETY: reads a name; a descriptor that it returns is new, and so its own.
        let file = unsafe {
            let file = libc::memfd_create(c"octavo-tier".as_ptr(), libc::MFD_CLOEXEC);
            if file < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(file)
        };
        // SAFETY: changes the length of a file of its own.
        succeeded(unsafe { libc::ftruncate(file.as_raw_fd(), bytes as off_t) })?;
        Ok(Self(file))
    }

    /// Such files are Linux's.
    #[cfg(not(target_os = "linux"))]
    pub fn new(_bytes: u64) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Bytes go, and are zeros when they are touched again.
    #[cfg(target_os = "linux")]
    pub fn forget(&self, offset: u64, bytes: u64) {
        let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: changes what is in a file of its own; nothing is lost but room if it fails.
        unsafe { libc::fallocate(self.0.as_raw_fd(), how, offset as off_t, bytes as off_t) };
    }

    /// There is no such file.
    #[cfg(not(target_os = "linux"))]
    pub fn forget(&self, _offset: u64, _bytes: u64) {}

    /// Maps some of it where a range is reserved; nobody can touch it there yet.
    pub fn map(&self, address: u64, bytes: u64, offset: u64) -> io::Result<()> {
        map_at(address, bytes, libc::MAP_SHARED, self.0.as_raw_fd(), offset)
    }
}

/// A range of addresses that nobody can touch, with its beginning; both are to be given to [`give_back`].
pub(super) fn reserve(bytes: u64) -> io::Result<u64> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
    // SAFETY: maps new addresses of the kernel's choice.
    let found = unsafe { libc::mmap(std::ptr::null_mut(), bytes as usize, libc::PROT_NONE, flags, -1, 0) };
    if found == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(found.expose_provenance() as u64) }
}

/// Gives a range back.
pub(super) fn give_back(address: u64, bytes: u64) {
    // SAFETY: the range is of the stand-in's, and nobody uses it any more.
    unsafe { libc::munmap(at(address), bytes as usize) };
}

/// Nothing is mapped at addresses that stay reserved.
pub(super) fn unmap(address: u64, bytes: u64) -> io::Result<()> {
    map_at(address, bytes, libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE, -1, 0)
}

/// Whether what is mapped can be written, too.
pub(super) fn protect(address: u64, bytes: u64, writes: bool) -> io::Result<()> {
    let rights = if writes { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
    // SAFETY: the range is of the stand-in's.
    succeeded(unsafe { libc::mprotect(at(address), bytes as usize, rights) })
}

/// Copies bytes. The caller knows that both places are mapped and can be touched, and that they do not overlap.
pub(super) fn copy(to: u64, from: u64, bytes: u64) {
    // SAFETY: as the caller knows.
    unsafe { std::ptr::copy_nonoverlapping(at(from).cast::<u8>(), at(to).cast::<u8>(), bytes as usize) };
}

/// The same from bytes of the program's.
pub(super) fn write(to: u64, from: &[u8]) {
    // SAFETY: as for `copy`.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), at(to).cast::<u8>(), from.len()) };
}

/// The same to bytes of the program's.
pub(super) fn read(to: &mut [u8], from: u64) {
    // SAFETY: as for `copy`.
    unsafe { std::ptr::copy_nonoverlapping(at(from).cast::<u8>(), to.as_mut_ptr(), to.len()) };
}

/// Zeros. The same holds.
pub(super) fn clear(address: u64, bytes: u64) {
    // SAFETY: as for `copy`.
    unsafe { std::ptr::write_bytes(at(address).cast::<u8>(), 0, bytes as usize) };
}

fn map_at(address: u64, bytes: u64, flags: c_int, file: c_int, offset: u64) -> io::Result<()> {
    let flags = flags | libc::MAP_FIXED;
    // SAFETY: replaces what is mapped in a range of the stand-in's.
    let found = unsafe { libc::mmap(at(address), bytes as usize, libc::PROT_NONE, flags, file, offset as off_t) };
    if found == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn succeeded(status: c_int) -> io::Result<()> {
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn at(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}
