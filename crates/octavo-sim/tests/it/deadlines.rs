//! A strategy that requests a time gets it, to the picosecond.

use crate::support::{Script, compute, events, load, node, outside, run_with};
use octavo_manager::{
    Context, Decision, Fault, KernelEnd, Move, PageView, Placement, ProcessorMask, SpaceId, Unsubscribe,
};
use octavo_units::Time;

/// A time at which nothing else happens.
const DUE: u64 = 77_777_777;

/// Leaves pages on the host and brings the first one at that time.
#[derive(Default)]
struct Appointed(Option<Move>, u32);

impl Placement for Appointed {
    fn on_fault(&mut self, fault: &Fault, _page: &PageView, _context: &mut Context<'_>) -> Decision {
        self.0.get_or_insert(Move { page: fault.page, to: fault.processor.memory() });
        Decision::At(octavo_manager::HOST_MEMORY)
    }

    fn on_kernel_end(&mut self, end: &KernelEnd, _context: &mut Context<'_>, _given_up: &mut Vec<Unsubscribe>) {
        assert_eq!(*end, KernelEnd { space: SpaceId(0), gpus: ProcessorMask::all_gpus(2) });
    }

    fn deadline(&self) -> Option<Time> {
        self.0.filter(|_| self.1 == 0).map(|_| Time(DUE))
    }

    fn on_deadline(&mut self, context: &mut Context<'_>, moves: &mut Vec<Move>) {
        assert_eq!(context.now(), Time(DUE));
        moves.extend(self.0);
        self.1 += 1;
    }
}

/// `appointed:once` does so once.
pub fn appointed(_: &str) -> Box<dyn Placement> {
    Box::<Appointed>::default()
}

#[test]
fn a_page_comes_at_the_time_that_its_placement_named() {
    let waits = compute(100_000);
    let script = Script::on_gpus(8, vec![vec![[load(3, 0), waits].concat(), load(4, 0)]]);
    let result = run_with(&node(2), &outside("appointed:once"), &script);
    assert!(result.summary.time_ps > DUE, "the kernel takes {}", result.summary.time_ps);
    assert_eq!(result.summary.manager.timed_migrations, 1);
    let moved = events(&result, "migration");
    assert_eq!(moved.len(), 1, "{moved:?}");
    assert!(moved[0].0 >= DUE && moved[0].0 < DUE + 10_000_000, "{moved:?}");
}
