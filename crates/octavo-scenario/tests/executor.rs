//! `[executor]`: what carries plans out, and what is refused without time.

use octavo_scenario::{ExecutorChoice, InstantChoice, Source, resolve};
use octavo_units::Time;

const BASE: &str = "workload = \"fir\"\n[memory]\nplacement = \"grit\"\n[node]\npreset = \"grit-2gpu\"\n";

fn resolved(text: &str, overrides: &[&str]) -> Result<octavo_scenario::Resolved, String> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    resolve(Source { name: "s.toml", text }, &overrides).map_err(|error| error.to_string())
}

#[test]
fn nothing_is_said_of_the_executor_unless_it_was_chosen() {
    let plain = resolved(BASE, &[]).unwrap();
    assert!(plain.scenario.executor.is_default());
    assert!(!plain.toml.contains("executor"));
    assert_eq!(plain, resolved(BASE, &["executor.kind=simulated"]).unwrap());
}

#[test]
fn without_time_nothing_is_recorded_by_time() {
    let chosen = resolved(BASE, &["executor.kind=instant"]).unwrap();
    assert_eq!(chosen.scenario.executor, ExecutorChoice::Instant(InstantChoice { turn: 1, report_lines: None }));
    assert_eq!((chosen.scenario.record.events, chosen.scenario.record.interval), (false, Time::ZERO));
    assert_eq!(resolved(&chosen.toml, &[]).unwrap(), chosen);

    // A resolved scenario spells out intervals of time, which the user did not set.
    let plain = resolved(BASE, &[]).unwrap();
    assert_eq!(resolved(&plain.toml, &["executor.kind=instant"]).unwrap(), chosen);
    let kept = resolved(BASE, &["executor.kind=instant", "record.events=true", "executor.turn=8"]).unwrap();
    assert!(kept.scenario.record.events);
}

#[test]
fn what_has_no_meaning_is_refused() {
    let refused = |overrides: &[&str]| resolved(BASE, overrides).unwrap_err();
    let interval = refused(&["executor.kind=instant", "record.interval=1us"]);
    assert!(interval.contains("record.interval") && interval.contains("expected 0ns, found 1us"), "{interval}");
    assert_eq!(refused(&["record.interval=1us", "executor.kind=instant"]), interval, "whatever is said first");
    for where_none in ["executor.kind=instant", "node.fidelity=page"] {
        let walks = refused(&[where_none, "record.walks=true"]);
        assert!(walks.contains("record.walks") && walks.contains("expected false, found true"), "{walks}");
    }
    let outstanding = refused(&["node.fidelity=page", "memory.outstanding=stay"]);
    assert!(outstanding.contains("memory.outstanding") && outstanding.contains("expected leave"), "{outstanding}");
    let unknown = refused(&["executor.kind=instnat"]);
    assert!(unknown.contains("did you mean `instant`?"), "{unknown}");
    let turn = refused(&["executor.kind=simulated", "executor.turn=2"]);
    assert!(turn.contains("executor.turn"), "{turn}");
    let unknown = refused(&["executor.kind=instant", "executor.turns=2"]);
    assert!(unknown.contains("did you mean `executor.turn`?") || unknown.contains("`turn`"), "{unknown}");
    let jobs = BASE.replace("workload = \"fir\"\n", "");
    let jobs = jobs + "[[job]]\nname = \"late\"\nworkload = \"fir\"\nstart = \"1us\"\n";
    let late = resolved(&jobs, &["executor.kind=instant"]).unwrap_err();
    assert!(late.contains("job[0].start") && late.contains("expected 0ns, found 1us"), "{late}");
    let zero = refused(&["executor.kind=instant", "executor.turn=0"]);
    assert!(zero.contains("executor.turn") && zero.contains("from 1"), "{zero}");
}
