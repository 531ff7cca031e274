//! The cost of a fault in the manager: 4 GPUs whose memories hold 70 % of the pages, faults at random.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use octavo_manager::{Access, Event, Fault, Manager, MemoryConfig, PageId, PageRun, Plan, ProcessorId, Topology};
use octavo_registry::Choice;
use octavo_units::Time;

const PAGES: u32 = 16 << 10;
const FAULTS: u64 = 100_000;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 32) * u64::from(bound)) >> 32) as u32
    }
}

fn serve(manager: &mut Manager, random: &mut Random) {
    let mut plans: Vec<Plan> = Vec::new();
    for _ in 0..FAULTS {
        let access = if random.below(4) == 0 { Access::Write } else { Access::Read };
        let processor = ProcessorId::gpu(random.below(4) as usize);
        let fault = Fault { processor, page: PageId(random.below(PAGES)), access };
        manager.handle(Time::ZERO, Event::Faults(&[fault]), &mut plans);
        let mut done = 0;
        while done < plans.len() {
            manager.complete(Time::ZERO, plans[done].id, &mut plans);
            done += 1;
        }
        plans.drain(..).for_each(|plan| manager.recycle(black_box(plan)));
    }
}

fn faults(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fault");
    group.throughput(Throughput::Elements(FAULTS)).sample_size(10);
    for (placement, prefetch) in
        [("on-touch", "none"), ("duplication", "none"), ("grit", "none"), ("gps", "none"), ("on-touch", "tree")]
    {
        let (placement, prefetch) = (Choice::named(placement), Choice::named(prefetch));
        let name = format!("{} + {}", placement.name, prefetch.name);
        let config = MemoryConfig { placement, prefetch, ..MemoryConfig::default() };
        let topology = Topology::of(vec![PAGES * 7 / 10; 4]);
        let mut manager = Manager::new(&config, &topology).unwrap();
        manager.handle(Time::ZERO, Event::Allocate(PageRun { first: PageId(0), count: PAGES }.into()), &mut Vec::new());
        let mut random = Random(1);
        serve(&mut manager, &mut random);
        group.bench_function(name, |bencher| bencher.iter(|| serve(&mut manager, &mut random)));
    }
    group.finish();
}

criterion_group!(benches, faults);
criterion_main!(benches);
