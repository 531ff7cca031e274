//! A strategy that can no longer decide ends the run, with the fault that it was asked about.

use crate::support::{Script, node, outside, store};
use octavo_manager::{Context, Decision, Failure, Fault, PageView, Placement};
use octavo_sim::{RunOptions, SimError, When, simulate};

/// Decides `left` times and then fails.
struct Limited {
    left: u32,
    failure: Option<Box<Failure>>,
}

impl Placement for Limited {
    fn on_fault(&mut self, fault: &Fault, _page: &PageView, _context: &mut Context<'_>) -> Decision {
        if self.left == 0 && self.failure.is_none() {
            self.failure = Some(Box::new(Failure {
                message: "limited: had enough".to_owned(),
                details: String::new(),
                occasion: "a store",
                processor: Some(fault.processor),
                page: Some(fault.page),
            }));
        }
        self.left = self.left.saturating_sub(1);
        Decision::Migrate
    }

    fn failure(&self) -> Option<Box<Failure>> {
        self.failure.clone()
    }
}

/// `limited:3` decides three times.
pub fn limited(left: &str) -> Box<dyn Placement> {
    Box::new(Limited { left: left.parse().expect("a count"), failure: None })
}

#[test]
fn a_failed_strategy_ends_the_run_with_its_fault() {
    let script = Script::sequence(8, vec![[store(1, 0), store(6, 0)].concat()]);
    let run = |name: &str| simulate(&node(1), &outside(name), &script, RunOptions::default());
    assert!(run("limited:2").is_ok());
    let Err(SimError::Strategy(failure)) = run("limited:1") else { panic!("the second fault cannot be decided") };
    assert_eq!((failure.address, failure.buffer.as_deref()), (Some(6 * 4096), Some("data")));
    let text = failure.to_string();
    let begin = "limited: had enough, asked about a store of gpu0 on page 6 (address 0x6000 in `data`) at ";
    assert!(text.starts_with(begin), "{text}");
    assert!(matches!(failure.when, When::Time(time) if time.0 > 0));
}
