//! The processor's touches: by one thread, or by several at once as the GPU's thread blocks do.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::driver::memory::{PAGE, Touchable, View, host_puts};

/// Distance of touches that reach every cache line.
pub(super) const LINE: u64 = 64;

/// Writes every page's first word: `stamp` and the number of the page.
pub(super) fn marks_pages(memory: &dyn Touchable, stamp: u64) {
    for page in 0..memory.bytes() / PAGE {
        host_puts(memory, page * PAGE, stamp + page);
    }
}

/// Threads that read pages in turn, each one page at a time; seconds from the first one's begin to the last one's end,
/// and the sum of the words. Starting threads is not timed.
pub(super) fn touches_pages(memory: &dyn Touchable, order: &[u32], threads: usize) -> (f64, u64) {
    let view = View::of(memory);
    let ready = Barrier::new(threads);
    let read = |first: usize| {
        ready.wait();
        let began = Instant::now();
        let pages = order.iter().skip(first).step_by(threads);
        let sum = pages.map(|&page| view.get::<u64>(u64::from(page) * PAGE)).sum::<u64>();
        (began, Instant::now(), sum)
    };
    let ran: Vec<_> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|first| scope.spawn(move || read(first))).collect();
        started.into_iter().map(|thread| thread.join().expect("reading does not panic")).collect()
    });
    let began = ran.iter().map(|(began, _, _)| *began).min();
    let ended = ran.iter().map(|(_, ended, _)| *ended).max();
    let seconds = began.zip(ended).map_or(Duration::ZERO, |(began, ended)| ended.duration_since(began)).as_secs_f64();
    (seconds, ran.iter().map(|(_, _, sum)| sum).sum())
}

#[cfg(test)]
mod tests {
    use super::{marks_pages, touches_pages};
    use crate::driver::buffers::HostMemory;

    #[test]
    fn each_page_is_read_once_whatever_the_threads() {
        let memory = HostMemory::new(64 * 4096, None).unwrap();
        marks_pages(&memory, 1 << 32);
        let order: Vec<u32> = (0..64).rev().collect();
        let expected = 64 * (1_u64 << 32) + 63 * 64 / 2;
        for threads in [1, 3, 8, 100] {
            assert_eq!(touches_pages(&memory, &order, threads).1, expected, "{threads} threads");
        }
    }
}
