//! Workloads with their buffers as close as an allocator packs them.

use octavo_program::{LINE_BYTES, Op, OpKind, OpSink, Packed, Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;

use crate::lanes::stream;

fn build(name: &str) -> Box<dyn Workload> {
    WORKLOADS.build(&Choice::named(name), &Size { scale: 0.01, seed: 11 }).unwrap()
}

/// The buffer of a line, and the line's place there.
fn place(workload: &dyn Workload, op: Op) -> (usize, u64) {
    let index = workload.buffers().partition_point(|buffer| buffer.base <= op.line() * LINE_BYTES) - 1;
    (index, op.line() - workload.buffers()[index].base / LINE_BYTES)
}

#[test]
fn packed_buffers_begin_at_the_next_multiple_and_have_the_same_accesses() {
    for name in ["fir", "matrixmultiplication", "spmv"] {
        for alignment in [256, 2 << 20] {
            let (plain, packed) = (build(name), Packed::new(build(name), alignment));
            assert_eq!(packed.footprint(), plain.footprint());
            let mut end = 0_u64;
            for (own, moved) in plain.buffers().iter().zip(packed.buffers()) {
                assert_eq!((&own.name, own.bytes, own.gpu), (&moved.name, moved.bytes, moved.gpu));
                assert_eq!(moved.base, end.next_multiple_of(alignment), "{name}");
                end = moved.base + moved.bytes;
            }
            assert_eq!(alignment == 256, packed.address_end() < plain.address_end(), "{name}");
            let all = |workload: &dyn Workload| stream(workload, 0, 0, 0, OpSink::MIN_CAPACITY);
            let (before, after) = (all(plain.as_ref()), all(&packed));
            assert_eq!(before.len(), after.len());
            for (own, moved) in before.into_iter().zip(after) {
                assert_eq!((own.kind(), own.count()), (moved.kind(), moved.count()));
                if matches!(own.kind(), OpKind::Load | OpKind::Store | OpKind::ScalarLoad) {
                    assert_eq!(place(plain.as_ref(), own), place(&packed, moved), "{name}");
                }
            }
        }
    }
}
