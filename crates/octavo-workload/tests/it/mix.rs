//! Programs beside one another.

use octavo_program::{Cursor, LINE_BYTES, Mix, Op, OpSink, Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;

fn kernel(name: &str) -> Box<dyn Workload> {
    WORKLOADS.build(&Choice::named(name), &Size { scale: 0.001, seed: 1 }).unwrap()
}

fn stream(workload: &dyn Workload, launch: u32, group: u32) -> Vec<Op> {
    let (mut cursor, mut all) = (Cursor::default(), Vec::new());
    while all.last() != Some(&Op::END) {
        let mut ops = [Op::END; OpSink::MIN_CAPACITY];
        let mut sink = OpSink::new(&mut ops);
        workload.fill(launch, group, 0, &mut cursor, &mut sink);
        all.extend_from_slice(sink.as_slice());
    }
    all
}

#[test]
fn programs_lie_beside_one_another_and_keep_their_streams() {
    let kernels = ["vectoradd", "fir", "vectoradd"].map(kernel);
    let names = ["one", "two", "three"].map(str::to_owned);
    let mix = Mix::new(names.into_iter().zip(kernels.iter().map(AsRef::as_ref)));
    let labels: Vec<_> = mix.applications().into_iter().map(|application| application.name).collect();
    assert_eq!(labels, ["one", "two", "three"]);
    assert!(mix.buffers().windows(2).all(|pair| pair[0].base + pair[0].bytes <= pair[1].base));
    for (application, alone) in mix.applications().iter().zip(["vectoradd", "fir", "vectoradd"].map(kernel)) {
        let (first, buffer) = (application.launches.start, &mix.buffers()[application.buffers.start]);
        let lines = (buffer.base - alone.buffers()[0].base) / LINE_BYTES;
        let moved = stream(alone.as_ref(), 0, 1).into_iter().map(|op| op.relocated(lines)).collect::<Vec<_>>();
        assert_eq!(stream(&mix, first, 1), moved, "{}", application.name);
        assert_eq!(mix.launch(first).work_groups, alone.launch(0).work_groups);
        let name = format!("{}/{}", application.name, alone.launch(0).kernel);
        assert_eq!(mix.launch(first).kernel, name);
    }
    assert!(stream(&mix, mix.launches() - 1, 1).iter().any(|op| op.line() > mix.buffers()[1].base / LINE_BYTES));
}
