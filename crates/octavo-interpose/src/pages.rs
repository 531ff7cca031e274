//! Which pages of managed memory the host has mapped, and their content: a page that has gone to the device is no
//! longer mapped, and the host's next touch maps it again. No function here touches a page.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Bytes of a page of the host's.
const PAGE: u64 = 4096;
/// Pages of a range that are looked at; our choice: a look takes some 15 µs.
pub const SAMPLES: usize = 32;
/// Smaller memory is not looked at; our choice: moving it takes less than finding out.
pub const SMALLEST: u64 = 64 << 10;
/// The bit of an entry that says that the page is mapped.
const PRESENT: u64 = 1 << 63;

/// Sampled pages of a range, a bit each: those that are mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mapped(pub u32);

impl Mapped {
    /// Pages that are mapped here but not there.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Their share of all that are looked at.
    pub fn share(self) -> f64 {
        f64::from(self.0.count_ones()) / SAMPLES as f64
    }
}

/// The number of a sampled page: one in each stretch, at varying places, so that no stride hits all of them.
fn page(begin: u64, bytes: u64, sample: usize) -> u64 {
    let stretch = |number: usize| bytes / PAGE * number as u64 / SAMPLES as u64;
    let (first, end) = (stretch(sample), stretch(sample + 1).max(stretch(sample) + 1));
    let scattered = (sample as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    begin / PAGE + first + scattered % (end - first)
}

/// Pages of a range that the host has mapped; none if Linux does not say, or the range is small.
pub fn mapped(begin: u64, bytes: u64) -> Option<Mapped> {
    if bytes < SMALLEST {
        return None;
    }
    // Not kept open: a child of `fork` would read its parent's.
    let file = File::open("/proc/self/pagemap").ok()?;
    let mut found = 0;
    for sample in 0..SAMPLES {
        let mut entry = [0; 8];
        file.read_exact_at(&mut entry, page(begin, bytes, sample) * 8).ok()?;
        found |= u32::from(u64::from_ne_bytes(entry) & PRESENT != 0) << sample;
    }
    Some(Mapped(found))
}

/// The content of each sampled page, as a number; 0 if it is unknown.
pub type Content = [u64; SAMPLES];

/// The content of the mapped pages.
pub fn content(begin: u64, bytes: u64, mapped: Mapped) -> Content {
    let mut found = [0; SAMPLES];
    for (sample, number) in found.iter_mut().enumerate() {
        if mapped.0 >> sample & 1 == 1 {
            *number = read(page(begin, bytes, sample) * PAGE).map_or(0, |page| digest(&page));
        }
    }
    found
}

/// Whether all pages are the same of which both is known, and there are such pages.
pub fn same(one: &Content, other: &Content) -> bool {
    let mut known = one.iter().zip(other).filter(|(one, other)| **one != 0 && **other != 0).peekable();
    known.peek().is_some() && known.all(|(one, other)| one == other)
}

/// A page, read by the system, which refuses pages that this process cannot read.
fn read(address: u64) -> Option<[u64; PAGE as usize / 8]> {
    let mut page = [0_u64; PAGE as usize / 8];
    let to = libc::iovec { iov_base: page.as_mut_ptr().cast(), iov_len: PAGE as usize };
    let from = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: PAGE as usize };
    // SAFETY: there is room for a page; the system checks the other address.
    let count = unsafe { libc::process_vm_readv(libc::getpid(), &raw const to, 1, &raw const from, 1, 0) };
    (count == PAGE as isize).then_some(page)
}

/// FNV-1a by words; never 0.
fn digest(words: &[u64]) -> u64 {
    let sum = words.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, word| (sum ^ word).wrapping_mul(0x100_0000_01b3));
    sum.max(1)
}

#[cfg(test)]
mod tests {
    use super::{PAGE, SAMPLES, content, mapped, page, same};

    #[test]
    fn what_is_touched_is_mapped_and_what_is_written_differs() {
        let bytes = PAGE as usize * SAMPLES * 2;
        // SAFETY: new memory of nobody else's.
        let begin = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let made = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            libc::madvise(made, bytes, libc::MADV_NOHUGEPAGE);
            made.cast::<u8>()
        };
        let (begin, bytes) = (begin as u64, bytes as u64);
        assert_eq!(mapped(begin, bytes).unwrap().0, 0);
        let third = (page(begin, bytes, 3) * PAGE) as *mut u8;
        // SAFETY: within it.
        unsafe { third.write(1) };
        let touched = mapped(begin, bytes).unwrap();
        assert_eq!((touched.0, touched.share()), (1 << 3, 1.0 / SAMPLES as f64));
        let before = content(begin, bytes, touched);
        assert!(before[3] != 0 && before[4] == 0 && same(&before, &before));
        // SAFETY: as above.
        unsafe { third.add(9).write(1) };
        assert!(!same(&before, &content(begin, bytes, touched)));
        assert!(!same(&before, &[0; SAMPLES]));
        assert!(mapped(begin, PAGE).is_none());
    }
}
