//! A placement that lives outside the manager: its own bits in every page, its own counts, named in a configuration, and
//! held to the suite like any other.

use octavo_driver::Instant;
use octavo_driver::conformance::{composition, conforms, decides_alike};
use octavo_manager::{
    Access, Attribute, Census, Context, Decision, Event, Fault, Geometry, Manager, MemoryConfig, MemoryId, NamedCounts,
    PLACEMENTS, PageId, PageRun, PageView, Placement, ProcessorId, Topology,
};
use octavo_registry::{Choice, OptionError, Outside};
use octavo_units::Time;

/// Faults of a page since it moved last, up to two.
static PATIENCE: Attribute = Attribute {
    name: "patience",
    shift: 0,
    width: 2,
    values: &["fresh", "tried", "wanted"],
    events: &["patience-tried", "patience-wanted"],
};

/// A page is mapped where it is twice, and then moves to the processor that faults on it.
#[derive(Default)]
struct ThirdTouch {
    moved: u64,
}

impl Placement for ThirdTouch {
    fn attributes(&self) -> &'static [&'static Attribute] {
        static CLAIMS: [&Attribute; 1] = [&PATIENCE];
        &CLAIMS
    }

    fn counters(&self, census: &Census<'_>) -> NamedCounts {
        NamedCounts::default().with("moved_at_last", self.moved).with_group("patience", census.by(&PATIENCE))
    }

    fn on_fault(&mut self, fault: &Fault, page: &PageView, context: &mut Context<'_>) -> Decision {
        let faults = PATIENCE.read(page.attributes);
        let moves = faults == 2;
        context.set_attribute(fault.page, &PATIENCE, if moves { 0 } else { faults + 1 });
        self.moved += u64::from(moves);
        if moves { Decision::Migrate } else { Decision::MapRemote }
    }
}

/// Finds it under a different name.
struct Here;

impl Outside<Box<dyn Placement>, Geometry> for Here {
    fn expected(&self) -> &'static str {
        "here:third-touch"
    }

    fn resolve(&self, choice: &Choice) -> Result<Choice, OptionError> {
        Ok(choice.clone())
    }

    fn build(&self, _choice: &Choice, _geometry: &Geometry) -> Result<Box<dyn Placement>, OptionError> {
        Ok(Box::new(ThirdTouch::default()))
    }
}

fn with(prefetch: &str, eviction: &str) -> MemoryConfig {
    PLACEMENTS.extend(&Here);
    composition("here:third-touch", prefetch, eviction)
}

#[test]
fn it_decides_by_its_bits_and_is_counted() {
    let mut manager = Manager::new(&with("none", "lru-page"), &Topology::unlimited(3)).unwrap();
    let mut plans = Vec::new();
    manager.handle(Time::ZERO, Event::Allocate(PageRun { first: PageId(0), count: 5 }.into()), &mut plans);
    for (gpu, owner) in [(0, MemoryId(0)), (1, MemoryId(0)), (2, MemoryId::gpu(2)), (0, MemoryId::gpu(2))] {
        let fault = Fault { processor: ProcessorId::gpu(gpu), page: PageId(3), access: Access::Write };
        manager.handle(Time::ZERO, Event::Faults(&[fault]), &mut plans);
        while let Some(plan) = plans.pop() {
            manager.complete(Time::ZERO, plan.id, &mut plans);
        }
        assert_eq!(manager.page(PageId(3)).owner, owner, "after gpu{gpu}");
    }
    let counts = ["moved_at_last", "patience.fresh", "patience.tried", "patience.wanted"];
    assert_eq!(counts.map(|name| manager.statistics().named(name)), [Some(1), Some(4), Some(1), Some(0)]);
}

#[test]
fn it_conforms() {
    let instant = |topology: &Topology| Instant::new(topology.gpus());
    for (prefetch, eviction) in [("none", "lru-page"), ("tree", "lru-block"), ("sequential-local", "tree-neighborhood")]
    {
        conforms(instant, &with(prefetch, eviction), 0..8, 60);
        decides_alike(instant, &with(prefetch, eviction), 3, 100);
    }
}
