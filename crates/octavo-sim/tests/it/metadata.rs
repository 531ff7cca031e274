//! The cost of GRIT's PA-Table in host memory for a fault.

use crate::support::{Script, Value, load, memory_with, node, run_with};
use octavo_sim::Summary;
use octavo_units::Cycles;

/// One cold fault with these options of GRIT; host memory takes `latency` cycles, the host's walk 400.
fn fault(options: &[(&str, Value)], latency: u64) -> Summary {
    let mut node = node(1);
    node.host.memory_latency = Cycles(latency);
    run_with(&node, &memory_with("grit", options), &Script::sequence(8, vec![load(0, 0)])).summary
}

#[test]
fn accesses_beside_the_hosts_walk_cost_nothing_and_visible_ones_cost_all_of_it() {
    let (hidden, visible) = (fault(&[], 100), fault(&[("pa_visible", true.into())], 100));
    assert_eq!(
        (visible.manager.named("pa_table_reads").unwrap(), visible.manager.named("pa_table_writes").unwrap()),
        (1, 0)
    );
    assert_eq!(visible.time_ps - hidden.time_ps, 100_000);
    assert_eq!(visible.manager, hidden.manager, "the decisions are the same");
}

#[test]
fn without_the_cache_every_fault_reads_and_writes_the_table() {
    let cache = ("pa_cache", false.into());
    let visible = fault(&[cache.clone(), ("pa_visible", true.into())], 100);
    assert_eq!(
        (visible.manager.named("pa_table_reads").unwrap(), visible.manager.named("pa_table_writes").unwrap()),
        (1, 1)
    );
    assert_eq!(visible.time_ps - fault(&[cache], 100).time_ps, 2 * 100_000);
}

#[test]
fn of_accesses_beside_the_hosts_walk_only_what_exceeds_it_is_paid() {
    // One access of 1000 cycles beside a walk of 400, against none of it and all of it.
    let placement = |name: &str| {
        let mut node = node(1);
        node.host.memory_latency = Cycles(1000);
        run_with(&node, &memory_with(name, &[]), &Script::sequence(8, vec![load(0, 0)])).summary.time_ps
    };
    assert_eq!(fault(&[], 1000).time_ps - placement("on-touch"), (1000 - 400) * 1000);
    assert_eq!(fault(&[("pa_visible", true.into())], 1000).time_ps - placement("on-touch"), 1000 * 1000);
}
