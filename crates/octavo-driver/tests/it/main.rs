//! Tests of the driver through its public interface.
//!
//! Mistakes of the executors' contract on real memory, and the tests that cover them now:
//!
//! - a plan that failed was taken for undone: `refusals::what_is_done_stays_done`,
//!   `refusals::what_was_under_way_can_be_refused_in_part`;
//! - a plan was done as a whole or starved: `refusals::a_fault_that_was_refused_is_served_alone`,
//!   `vain::a_fault_whose_plans_are_always_refused_is_killed_and_no_other`;
//! - a copy gave its source up: `service::a_batch_wakes_at_its_end_and_then_takes_the_next`, where release is a step;
//! - a fault on a page believed to be mapped was woken for ever: `refusals::a_mapping_that_vanished_is_made_again`;
//! - a page left between a wake and its access: `steps::pages_are_busy_until_the_wake_has_arrived`,
//!   `progress::each_transfer_serves_a_store`;
//! - to free a busy page was an error: `steps::a_free_waits_for_busy_pages_and_wakes_who_waits_there`;
//! - who waited when memory ran out was forgotten: `refusals::when_memory_runs_out_nobody_waits_any_more`;
//! - a wake came after all that was prefetched: `classes::a_fault_waits_for_all_pages_or_for_its_own`;
//! - what plans consult was a number beside them: `steps::metadata_is_read_before_the_first_step`.

mod classes;
mod conformance;
mod deadlines;
mod own_placement;
mod progress;
mod refusals;
mod scripted;
mod service;
mod steps;
mod vain;
