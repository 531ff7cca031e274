//! Simulated time: what happens next.

mod calendar;

pub(crate) use calendar::Calendar;
