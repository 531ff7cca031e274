//! Migration on demand, in both directions: one side touches, page by page, what the other one wrote.
//!
//! To the GPU, each of `blocks` thread blocks has one thread that touches a page at a time; to the processor, `blocks`
//! threads of it do. With a stride of a driver's block or more, each touched page has a fault of its own, so that the
//! time covers this many groups of `blocks` faults.

use super::bench::{Bench, expect_sum, sum_of};
use super::host;
use super::order::Pattern;
use super::step::Step;
use crate::driver::memory::{BLOCK, PAGE};
use crate::error::GpuError;
use crate::session::Session;
use crate::session::samples::Row;

const QUICK_SIZES: &[u64] = &[16 << 20, 64 << 20];
const FULL_SIZES: &[u64] = &[32 << 20, 128 << 20];

/// Strides between a page and a block of the driver, at which its prefetcher sees part of the pages.
const QUICK_STRIDES: &[u64] = &[64 << 10];
const FULL_STRIDES: &[u64] = &[16 << 10, 64 << 10, 256 << 10, 1 << 20];

/// Most threads of the processor.
const MOST_THREADS: usize = 16;

/// The pages that one point touches, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Point {
    direction: &'static str,
    pattern: Pattern,
    blocks: u32,
    size: u64,
}

pub(super) fn plan<'a>(bench: &'a Bench<'a>) -> Vec<Step<'a>> {
    let sizes = bench.fitting(bench.choose(QUICK_SIZES, FULL_SIZES));
    let blocks = powers(bench.choose(8, 2), bench.most_blocks().min(multiprocessors(bench) * 8));
    let most = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let most = u32::try_from(most).expect("threads are few");
    let threads = bench.choose(one_and(most), powers(2, most));
    let strides = bench.choose(QUICK_STRIDES, FULL_STRIDES);
    let points = [("to_gpu", &blocks), ("to_cpu", &threads)];
    let points = points.into_iter().flat_map(|(direction, blocks)| points_of(direction, &sizes, strides, blocks));
    points.map(|point| Step::new(point.words(), move |session| measure(bench, session, &point))).collect()
}

/// Everything at every number of blocks; strides below a driver's block at few, and the largest size alone.
fn points_of(direction: &'static str, sizes: &[u64], strides: &[u64], blocks: &[u32]) -> Vec<Point> {
    let mut points = Vec::new();
    for &size in sizes {
        for pattern in [Pattern::Sequential, Pattern::Random, Pattern::Strided(BLOCK)] {
            points.extend(blocks.iter().map(|&blocks| Point { direction, pattern, blocks, size }));
        }
    }
    let (Some(&largest), Some(&most)) = (sizes.last(), blocks.last()) else { return points };
    for &stride in strides {
        let pattern = Pattern::Strided(stride);
        points.extend(one_and(most).into_iter().map(|blocks| Point { direction, pattern, blocks, size: largest }));
    }
    points.retain(|point| u64::from(point.blocks) <= point.size / point.pattern.stride());
    points
}

impl Point {
    fn words(&self) -> String {
        let Self { direction, blocks, size, .. } = self;
        format!("demand {direction}, {}, {blocks} at once: {size} bytes", self.pattern.word())
    }

    fn row(&self, pages: u64) -> Row {
        Row::of("demand")
            .word("direction", self.direction)
            .word("pattern", self.pattern.word())
            .integer("stride", self.pattern.stride())
            .integer("blocks", self.blocks.into())
            .integer("pages", pages)
            .integer("size", self.size)
            .bytes(pages * PAGE)
            .count(pages)
    }
}

fn measure(bench: &Bench<'_>, session: &mut Session<'_>, point: &Point) -> Result<(), GpuError> {
    let pages = point.pattern.pages(point.size);
    let row = point.row(pages.len() as u64);
    if point.direction == "to_gpu" {
        let order = bench.order(&pages)?;
        return session.repeat_cold(&row, |session| {
            let memory = bench.of_host(point.size)?;
            let seconds = bench.gpu_touches(session, memory.as_ref(), &order, point.blocks)?;
            expect_sum("touch_pages", sum_of(&pages), bench.sum(point.blocks)?)?;
            Ok(seconds)
        });
    }
    session.repeat_cold(&row, |session| {
        let memory = bench.of_gpu(session, point.size)?;
        let threads = usize::try_from(point.blocks).expect("threads are few");
        let (seconds, sum) = host::touches_pages(memory.as_ref(), &pages, threads);
        expect_sum("mark_pages", sum_of(&pages), sum)?;
        Ok(seconds)
    })
}

/// Powers of a base from 1 to `most`.
fn powers(base: u32, most: u32) -> Vec<u32> {
    std::iter::successors(Some(1_u32), |&power| power.checked_mul(base)).take_while(|&power| power <= most).collect()
}

/// One alone, and as many as possible.
fn one_and(most: u32) -> Vec<u32> {
    if most > 1 { vec![1, most] } else { vec![1] }
}

fn multiprocessors(bench: &Bench<'_>) -> u32 {
    u32::try_from(bench.gpu.description.number("multiprocessors")).expect("there are few").max(1)
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Pattern, points_of, powers};

    #[test]
    fn blocks_in_flight_are_powers_up_to_the_most() {
        assert_eq!(powers(2, 16), [1, 2, 4, 8, 16]);
        assert_eq!(powers(4, 20), [1, 4, 16]);
        assert_eq!(powers(4, 1), [1]);
    }

    #[test]
    fn no_point_has_more_blocks_than_pages() {
        let points = points_of("to_gpu", &[16 << 20, 64 << 20], &[1 << 20], &[1, 4, 16, 64, 256]);
        assert!(points.iter().all(|point| u64::from(point.blocks) * point.pattern.stride() <= point.size));
        let lone = |size| {
            let found = points.iter().filter(|point| point.pattern == Pattern::Strided(BLOCK) && point.size == size);
            found.map(|point| point.blocks).collect::<Vec<_>>()
        };
        assert_eq!(lone(16 << 20), [1, 4]);
        assert_eq!(lone(64 << 20), [1, 4, 16]);
    }
}
