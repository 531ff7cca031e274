//! The driver's prefetcher made visible: one thread touches page after page of fresh blocks, and every touch is timed
//! by itself. Pages that a fault brings along do not fault later, so the slow touches show how much each fault fetched.
//!
//! `page` counts from the boundary of a driver's block. In `step_random` the same pages come in an irregular order,
//! which `order` counts.

use super::bench::{Bench, expect_sum, sum_of};
use super::order::{Pattern, page_number};
use super::step::Step;
use crate::driver::memory::{BLOCK, Moving, PAGE};
use crate::error::GpuError;
use crate::session::Session;
use crate::session::samples::Row;

/// Blocks of the driver that are touched.
const QUICK: u64 = 2;
const FULL: u64 = 4;

pub(super) fn plan<'a>(bench: &'a Bench<'a>) -> Vec<Step<'a>> {
    let size = bench.choose(QUICK, FULL) * BLOCK;
    vec![
        Step::new("page after page of a block", move |session| {
            measure(bench, session, Pattern::Sequential, size, |page, _| {
                Row::of("step").integer("page", page.into()).integer("size", size)
            })
        }),
        Step::new("pages of a block at random", move |session| {
            measure(bench, session, Pattern::Random, size, |page, order| {
                Row::of("step_random").integer("page", page.into()).integer("order", order).integer("size", size)
            })
        }),
    ]
}

fn measure(
    bench: &Bench<'_>,
    session: &mut Session<'_>,
    pattern: Pattern,
    size: u64,
    row: impl Fn(u32, u64) -> Row,
) -> Result<(), GpuError> {
    let pages = pattern.pages(size);
    session.repeat_rows(|session| {
        let memory = bench.of_host(size + BLOCK)?;
        let first = first_of_a_block(memory.as_ref());
        let touched: Vec<u32> = pages.iter().map(|page| page + first).collect();
        let touches = bench.gpu_times(session, memory.as_ref(), &bench.order(&touched)?)?;
        expect_sum("time_pages", sum_of(&touched), touches.words.iter().sum())?;
        let rows = pages.iter().zip(0..).zip(touches.seconds);
        Ok(rows.map(|((&page, order), seconds)| (row(page, order).count(1), seconds)).collect())
    })
}

/// The first page that begins a block of the driver.
fn first_of_a_block(memory: &dyn Moving) -> u32 {
    page_number((memory.address().next_multiple_of(BLOCK) - memory.address()) / PAGE)
}
