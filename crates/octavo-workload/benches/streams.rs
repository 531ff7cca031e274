//! Time to produce the accesses of each registered workload; one iteration is one line, so times read as ns per line.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use octavo_program::{Cursor, Op, OpKind, OpSink, Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;

/// Operations asked for at a time, about what a simulator keeps for a wavefront.
const CHUNK: usize = 256;

/// Wavefronts in program order, round and round.
struct Player<'a> {
    workload: &'a dyn Workload,
    launch: u32,
    group: u32,
    wavefront: u32,
    chunk: Vec<Op>,
}

impl Player<'_> {
    /// Produces one wavefront and returns how many lines it accesses.
    fn wavefront(&mut self) -> u64 {
        let (mut cursor, mut lines) = (Cursor::default(), 0);
        loop {
            let mut sink = OpSink::new(&mut self.chunk);
            self.workload.fill(self.launch, self.group, self.wavefront, &mut cursor, &mut sink);
            let len = sink.len();
            let memory = |op: &&Op| matches!(op.kind(), OpKind::Load | OpKind::Store);
            lines += self.chunk[..len].iter().filter(memory).map(|op| u64::from(op.count())).sum::<u64>();
            if black_box(&self.chunk)[len - 1].kind() == OpKind::End {
                self.step();
                return lines;
            }
        }
    }

    fn step(&mut self) {
        let grid = self.workload.launch(self.launch);
        self.wavefront += 1;
        if self.wavefront == grid.wavefronts_per_group {
            (self.group, self.wavefront) = (self.group + 1, 0);
        }
        if self.group == grid.work_groups {
            (self.launch, self.group) = ((self.launch + 1) % self.workload.launches(), 0);
        }
    }
}

fn streams(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ns per line");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    for name in WORKLOADS.names() {
        let workload = WORKLOADS.build(&Choice::named(name), &Size { scale: 0.0625, seed: 1 }).unwrap();
        let mut player =
            Player { workload: &*workload, launch: 0, group: 0, wavefront: 0, chunk: vec![Op::END; CHUNK] };
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|lines| {
                let mut produced = 0;
                let start = Instant::now();
                while produced < lines {
                    produced += player.wavefront();
                }
                start.elapsed().mul_f64(lines as f64 / produced as f64)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, streams);
criterion_main!(benches);
