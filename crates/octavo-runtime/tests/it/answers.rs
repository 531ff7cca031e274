//! Answers equal those of `octavo advise`: `python/tests/test_runtime.py` checks its plans against the same
//! `answers.json`.

use octavo::abi::{ASSUMED_MACHINE, Answer, Data, PLACEMENTS};
use octavo::octavo_get_placement;
use serde_json::Value;

const CASES: &str = include_str!("../../data/answers.json");

fn data(fields: &Value) -> Data {
    let whole = |name: &str| fields[name].as_u64().unwrap_or(0);
    let number = |name: &str| fields[name].as_f64().unwrap_or(0.0);
    Data {
        struct_size: size_of::<Data>() as u32,
        flags: whole("flags") as u32,
        bytes: whole("bytes"),
        touched: number("touched"),
        visits: number("visits"),
        accessed_bytes: whole("accessed_bytes"),
        operations: number("operations"),
        blocks: whole("blocks"),
        threads_per_block: whole("threads_per_block"),
        kernel_seconds: number("kernel_seconds"),
        line_bytes: whole("line_bytes"),
        faults_together: whole("faults_together"),
        copied_in: whole("copied_in"),
        copied_out: whole("copied_out"),
        copies: whole("copies"),
        stalled_seconds: number("stalled_seconds"),
    }
}

#[test]
fn answers_are_those_of_the_command() {
    let cases: Vec<Value> = serde_json::from_str(CASES).unwrap();
    assert!(cases.len() > 5);
    for case in cases {
        let mut answer = Answer { struct_size: size_of::<Answer>() as u32, ..Answer::default() };
        // SAFETY: both live here.
        let status = unsafe { octavo_get_placement(std::ptr::null(), &data(&case["data"]), &mut answer) };
        let name = case["name"].as_str().unwrap();
        assert_eq!(status, ASSUMED_MACHINE, "{name}");
        let close = |found: f64, expected: &Value| match expected.as_f64() {
            Some(expected) => (found - expected).abs() <= 1e-9 * expected.abs().max(1e-6),
            None => !found.is_finite(),
        };
        assert!(close(answer.managed_seconds, &case["managed"]), "{name}: managed {}", answer.managed_seconds);
        assert!(close(answer.pinned_seconds, &case["pinned"]), "{name}: pinned {}", answer.pinned_seconds);
        assert_eq!(PLACEMENTS[answer.placement as usize].1.to_str(), Ok(case["placement"].as_str().unwrap()), "{name}");
    }
}
