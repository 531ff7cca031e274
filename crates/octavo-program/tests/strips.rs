//! When launches are not cut into strips, and how strips treat the host's actions between launches.

use std::borrow::Cow;
use std::ops::ControlFlow;

use octavo_manager::Kind;
use octavo_program::{
    Action, AddressSpace, Buffer, Cursor, HostSide, LINE_BYTES, Launch, Look, Lowering, Op, OpSink, Program,
    ProgramKind, Strips, StripsRefused, Workload, lower_in_strips,
};

const MIB: u64 = 1 << 20;
/// The unit of staging.
const PIECE: u64 = 64 << 10;

/// Each wavefront of a work-group loads one line.
struct Loads {
    buffers: Vec<Buffer>,
    side: HostSide,
    groups: u32,
    launches: u32,
    /// Which lines the wavefronts of a work-group load, as bytes from address 0.
    addresses: fn(u32) -> Vec<u64>,
}

impl Loads {
    fn of(bytes: &[u64], groups: u32, addresses: fn(u32) -> Vec<u64>) -> Self {
        let mut space = AddressSpace::default();
        let buffers: Vec<Buffer> =
            bytes.iter().enumerate().map(|(index, bytes)| space.allocate(&format!("b{index}"), *bytes)).collect();
        let names = buffers.iter().map(|buffer| buffer.name.as_str());
        let side = HostSide::of(&buffers).inputs(names).build();
        Self { buffers, side, groups, launches: 1, addresses }
    }
}

impl Workload for Loads {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn launches(&self) -> u32 {
        self.launches
    }

    fn launch(&self, _index: u32) -> Launch {
        let wavefronts_per_group = (self.addresses)(0).len() as u32;
        Launch { kernel: Cow::Borrowed("loads"), work_groups: self.groups, wavefronts_per_group }
    }

    fn host_side(&self) -> HostSide {
        self.side.clone()
    }

    fn fill(&self, _launch: u32, group: u32, wavefront: u32, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        out.push(Op::load((self.addresses)(group)[wavefront as usize] / LINE_BYTES, 1));
        out.push(Op::END);
    }
}

fn explicit() -> Lowering {
    Lowering { kind: ProgramKind::Explicit, ..Lowering::default() }
}

fn strips(workload: &Loads, room: u64) -> Result<(Strips, Program), StripsRefused> {
    lower_in_strips(workload, &explicit(), room, &mut Look::Accesses(&mut || ControlFlow::Continue(())))
}

/// Bytes of GPU memory of a program.
fn device(program: &Program) -> Vec<u64> {
    program.buffers().iter().filter(|buffer| buffer.kind == Kind::Device).map(|buffer| buffer.buffer.bytes).collect()
}

/// By launch of the program: bytes that come just before it.
fn comes(program: &Program) -> Vec<u64> {
    let (mut launches, mut bytes) = (Vec::new(), 0);
    for ordered in program.actions() {
        match &ordered.action {
            Action::Copy { from, .. } => bytes += from.len(),
            Action::Launch { .. } => launches.push(std::mem::take(&mut bytes)),
            _ => {}
        }
    }
    launches
}

/// Two pieces for each work-group, far from the previous group's.
fn far(group: u32) -> Vec<u64> {
    [u64::from(group % 2), 2 + u64::from(group % 2)].map(|piece| piece * PIECE).to_vec()
}

#[test]
fn more_strips_and_copies_than_a_program_may_have_are_refused() {
    // Each work-group is a strip of two pieces: three of 2^18 a work-group.
    let fit = |groups| strips(&Loads::of(&[4 * PIECE], groups, far), 2 * PIECE).map(|(strips, _)| strips.len());
    let most = (1 << 18) / 3;
    assert_eq!(fit(most), Ok(most));
    let refused = fit(most + 1).unwrap_err();
    assert!(matches!(&refused, StripsRefused::TooMany { launch: 0, .. }), "the last strip counts: {refused}");
    assert!(refused.to_string().contains("need more than 262144 strips and copies"), "{refused}");
}

#[test]
fn buffers_that_share_a_piece_are_refused() {
    let mut workload = Loads::of(&[MIB, MIB], 1, far);
    workload.buffers[1].base = MIB + 4096;
    let refused = strips(&workload, MIB).unwrap_err();
    assert_eq!(refused, StripsRefused::Unaligned { buffer: "b1".to_owned(), base: MIB + 4096 });
    assert!(refused.to_string().contains("expected a multiple of 64 KiB"), "{refused}");
}

#[test]
fn little_gpu_memory_is_used_in_pieces_and_none_is_refused() {
    let in_order = |group: u32| vec![u64::from(group) * 4096];
    let workload = Loads::of(&[16 * PIECE], 256, in_order);
    for (room, arena, count) in [(5 * PIECE, 5, 4), (PIECE + 4096, 1, 16), (PIECE, 1, 16)] {
        let (strips, program) = strips(&workload, room).unwrap();
        assert_eq!((device(&program), strips.len()), (vec![arena * PIECE], count), "{room}");
    }
    let refused = strips(&workload, PIECE - 1).unwrap_err();
    assert_eq!(refused, StripsRefused::NoRoom { found: PIECE - 1 });
    assert!(refused.to_string().contains("expected at least 64 KiB"), "{refused}");
}

/// The small buffer would stay, and takes half of the memory that the work-group needs all of.
#[test]
fn where_a_work_group_needs_it_no_buffer_stays() {
    let wide = |_: u32| (0..96).map(|piece| 2 * MIB + piece * PIECE).collect();
    let (found, program) = strips(&Loads::of(&[2 * MIB, 32 * MIB], 2, wide), 6 * MIB).unwrap();
    assert_eq!((device(&program), found.staged().collect::<Vec<_>>()), (vec![6 * MIB], vec![0, 1]));
    let narrow = |_: u32| vec![2 * MIB];
    let (found, program) = strips(&Loads::of(&[2 * MIB, 32 * MIB], 2, narrow), 6 * MIB).unwrap();
    assert_eq!((device(&program), found.staged().collect::<Vec<_>>()), (vec![2 * MIB, 4 * MIB], vec![1]));
    let too_wide = |_: u32| (0..97).map(|piece| 2 * MIB + piece * PIECE).collect();
    let refused = strips(&Loads::of(&[2 * MIB, 32 * MIB], 2, too_wide), 6 * MIB).unwrap_err();
    assert!(
        matches!(refused, StripsRefused::GroupTooLarge { found, expected, .. } if (found, expected) == (97 * PIECE, 6 * MIB)),
        "{refused}"
    );
}

/// The contents of a buffer that is no input are unknown until the host writes a part of it between launches.
#[test]
fn strips_copy_what_the_host_wrote_between_launches() {
    let mut workload = Loads::of(&[4 * PIECE], 4, |group| vec![u64::from(group) * PIECE]);
    workload.launches = 3;
    let side = HostSide::of(&workload.buffers).scratch(["b0"]);
    workload.side = side.writes_bytes_before(1, "b0", PIECE..3 * PIECE).writes_part_before(2, "b0", 1).build();
    let (_, program) = strips(&workload, 2 * PIECE).unwrap();
    assert_eq!(comes(&program), [0, 0, PIECE, PIECE, 2 * PIECE, PIECE]);
}

#[test]
fn too_much_work_is_refused_before_it_begins_and_somebody_can_stop_it() {
    let mut workload = Loads::of(&[4 * PIECE], u32::MAX, far);
    let refused = strips(&workload, 2 * PIECE).unwrap_err();
    assert!(matches!(refused, StripsRefused::TooMuchWork { launch: 0, .. }), "{refused}");
    assert!(refused.to_string().contains("more than 4294967296 operations"), "{refused}");
    workload.groups = 1 << 20;
    workload.addresses = |_| vec![0];
    let mut asked = 0;
    let mut stop = || {
        asked += 1;
        ControlFlow::Break(())
    };
    let stopped = lower_in_strips(&workload, &explicit(), 2 * PIECE, &mut Look::Accesses(&mut stop)).unwrap_err();
    assert_eq!((stopped, asked), (StripsRefused::Stopped, 1));
}

#[test]
fn sizes_alone_are_those_of_the_program_in_strips() {
    let workload = Loads::of(&[2 * MIB, 32 * MIB], 512, |group| vec![2 * MIB + u64::from(group) * PIECE]);
    let (found, whole) = strips(&workload, 6 * MIB).unwrap();
    let (none, sizes) = lower_in_strips(&workload, &explicit(), 6 * MIB, &mut Look::Sizes).unwrap();
    assert_eq!((none.len(), sizes.buffers()), (0, whole.buffers()));
    assert_eq!(found.len(), 8);
}
