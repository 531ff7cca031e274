//! Launches that cannot run, and empty ones that can.

use crate::support::{Script, load, memory, node, run};
use octavo_sim::{RunOptions, SimError, simulate};

#[test]
fn work_groups_without_wavefronts_are_refused() {
    let script = Script::new(8, vec![vec![vec![load(0, 0)]], vec![vec![], vec![]]]);
    let result = simulate(&node(1), &memory("on-touch"), &script, RunOptions::default());
    assert!(matches!(result, Err(SimError::EmptyGroup { .. })), "{result:?}");
    assert!(result.unwrap_err().to_string().contains("script"), "the error names the kernel");
}

#[test]
fn a_launch_without_work_groups_ends_at_once() {
    let script = Script::new(8, vec![vec![], vec![vec![load(0, 0)]]]);
    let alone = Script::sequence(8, vec![load(0, 0)]);
    let (both, alone) = (run(&node(2), "on-touch", &script), run(&node(2), "on-touch", &alone));
    assert_eq!((both.summary.launches, both.summary.time_ps), (2, alone.summary.time_ps));
}
