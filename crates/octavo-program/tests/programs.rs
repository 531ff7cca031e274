//! The rules for whole programs, shown by programs that break them.

use octavo_manager::{Access, Advice, HOST, Kind, ProcessorId, ProcessorMask, Spread};
use octavo_program::{
    Action, ActionFault, ActionId, AddressSpace, BufferId, HostPhase, Listing, Mix, Ordered, Program, ProgramBuffer,
    ProgramBuilder, ProgramError, Span, Sweep, Threads,
};

const BYTES: u64 = 4096;

const MANAGED: BufferId = BufferId(0);
const SYSTEM: BufferId = BufferId(1);
const DEVICE: BufferId = BufferId(2);
const PINNED: BufferId = BufferId(3);

/// Allocates a buffer of each kind, named after it: actions 0 to 3.
fn all() -> ProgramBuilder {
    let mut space = AddressSpace::default();
    let mut program = ProgramBuilder::default();
    for kind in [Kind::Managed, Kind::System, Kind::Device, Kind::Pinned] {
        let buffer = program.buffer(space.allocate(kind.name(), BYTES), kind, Spread::default());
        program.then(Action::Allocate(buffer));
    }
    program
}

fn span(buffer: BufferId) -> Span {
    Span { buffer, bytes: 0..BYTES }
}

fn host(sweep: Sweep) -> Action {
    Action::Host(HostPhase { name: "test".into(), threads: 2, sweeps: vec![sweep] })
}

fn writes(buffer: BufferId) -> Action {
    host(Sweep::over(span(buffer), Access::Write))
}

fn launch(launch: u32, buffers: &[BufferId]) -> Action {
    Action::Launch { launch, buffers: buffers.into() }
}

fn copy(from: BufferId, to: BufferId) -> Action {
    Action::Copy { from: span(from), to: span(to) }
}

fn advise(buffer: BufferId) -> Action {
    Action::Advise { span: span(buffer), advice: Advice { read_mostly: true, ..Advice::default() } }
}

/// The problem of `action` if all buffers exist.
fn fault(wrong: Action) -> ActionFault {
    let mut program = all();
    let at = program.then(wrong);
    match program.build(1) {
        Err(ProgramError::Action { action, fault, .. }) if action == at.index() => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_of_all_actions_is_accepted() {
    let mut program = all();
    for action in [
        writes(SYSTEM),
        writes(PINNED),
        writes(MANAGED),
        copy(SYSTEM, DEVICE),
        copy(DEVICE, PINNED),
        Action::Copy { from: Span { buffer: DEVICE, bytes: 0..64 }, to: Span { buffer: DEVICE, bytes: 64..128 } },
        Action::Prefetch { span: span(MANAGED), to: HOST },
        advise(SYSTEM),
        launch(0, &[MANAGED, SYSTEM, DEVICE, PINNED]),
        Action::Synchronise,
        Action::Free(DEVICE),
    ] {
        program.then(action);
    }
    let program = program.build(1).unwrap();
    assert_eq!((program.buffers().len(), program.actions().len()), (4, 15));
}

#[test]
fn a_listing_has_names_instead_of_numbers() {
    let mut program = all();
    let accessed_by = ProcessorMask::only(HOST).with(ProcessorId::gpu(1));
    let advice = Advice { preferred: Some(HOST.memory()), accessed_by, read_mostly: true };
    program.then(Action::Advise { span: span(SYSTEM), advice });
    program.then(Action::Prefetch { span: span(MANAGED), to: ProcessorId::gpu(0) });
    program.after(&[ActionId(3)], copy(PINNED, DEVICE));
    let nothing_runs = Mix::new([]);
    let listing = Listing::new(&program.build(0).unwrap(), &nothing_runs);
    let kinds: Vec<_> = listing.buffers.iter().map(|buffer| (buffer.kind.name(), buffer.spread)).collect();
    assert_eq!(kinds[2], ("device", Some(Spread::Interleaved)));
    assert_eq!(kinds[3], ("pinned", None));
    let [advised, prefetched, copied] = &listing.actions[4..] else { panic!("{:?}", listing.actions) };
    assert_eq!(advised.what.as_deref(), Some("preferred location host, accessed by host and gpu1, read mostly"));
    assert_eq!((prefetched.what.as_deref(), &prefetched.after[..]), (Some("gpu0"), &[4][..]));
    assert_eq!(
        (copied.bytes, &copied.buffers[..], &copied.after[..]),
        (BYTES, &["pinned".into(), "device".into()][..], &[3][..])
    );
}

#[test]
fn actions_name_what_is_there() {
    assert_eq!(fault(Action::Free(BufferId(4))), ActionFault::NoBuffer { found: 4, expected: 4 });
    assert_eq!(fault(launch(1, &[])), ActionFault::NoLaunch { found: 1, expected: 1 });
    for bytes in [0..BYTES + 1, 7..7] {
        let found = fault(host(Sweep::over(Span { buffer: PINNED, bytes: bytes.clone() }, Access::Read)));
        assert_eq!(found, ActionFault::NoBytes { name: "pinned".into(), found: bytes, bytes: BYTES });
    }
    let mut program = all();
    program.after(&[ActionId(9)], Action::Synchronise);
    let error = program.build(1).unwrap_err();
    assert_eq!(error.to_string(), "action 4 (synchronise): it waits for action 9, expected less than 5");
}

#[test]
fn kinds_allow_what_their_memory_can() {
    let refused = [
        (writes(DEVICE), Kind::Device),
        (advise(PINNED), Kind::Pinned),
        (advise(DEVICE), Kind::Device),
        (Action::Prefetch { span: span(PINNED), to: HOST }, Kind::Pinned),
        (copy(SYSTEM, PINNED), Kind::Pinned),
        (copy(SYSTEM, MANAGED), Kind::Managed),
        (copy(MANAGED, DEVICE), Kind::Managed),
    ];
    for (action, expected) in refused {
        let ActionFault::Kind { name, kind, .. } = fault(action.clone()) else { panic!("{action:?}") };
        assert_eq!((name.as_str(), kind), (expected.name(), expected), "{action:?}");
    }
    let message = "`pinned` is pinned memory, expected managed or system memory, whose pages move";
    assert_eq!(fault(advise(PINNED)).to_string(), message);
}

#[test]
fn copies_and_sweeps_make_sense() {
    let part = |bytes| Span { buffer: DEVICE, bytes };
    let found = fault(Action::Copy { from: span(SYSTEM), to: part(0..64) });
    assert_eq!(found, ActionFault::Unequal { from: BYTES, to: 64 });
    let found = fault(Action::Copy { from: part(0..64), to: part(63..127) });
    assert_eq!(found, ActionFault::OntoItself { name: "device".into() });
    let sweep = Sweep::over(span(SYSTEM), Access::Read);
    for (width, stride) in [(0, 64), (64, 63)] {
        assert_eq!(fault(host(Sweep { width, stride, ..sweep.clone() })), ActionFault::Stride { width, stride });
    }
    let found = fault(host(Sweep { by: Threads::One(2), ..sweep }));
    assert_eq!(found, ActionFault::NoThread { found: 2, threads: 2 });
    let idle = Action::Host(HostPhase { name: "test".into(), threads: 0, sweeps: Vec::new() });
    assert_eq!(fault(idle), ActionFault::NoThread { found: 0, threads: 0 });
}

#[test]
fn buffers_begin_and_end_once() {
    assert_eq!(fault(Action::Allocate(SYSTEM)), ActionFault::AllocatedTwice { name: "system".into(), first: 1 });
    let mut program = all();
    program.then(Action::Free(MANAGED));
    program.then(Action::Free(MANAGED));
    let error = program.build(1).unwrap_err().to_string();
    assert_eq!(error, "action 5 (free): `managed` is freed by action 4 already");
}

#[test]
fn buffers_are_there_while_they_are_used() {
    let mut program = all();
    program.then(Action::Free(MANAGED));
    program.then(launch(0, &[MANAGED]));
    let fault = ActionFault::UsedAfterFree { name: "managed".into(), free: 4 };
    assert_eq!(program.build(1), Err(ProgramError::Action { action: 5, name: "launch", fault }));

    let mut program = all();
    program.after(&[ActionId(0)], writes(SYSTEM));
    let fault = ActionFault::NotAllocated { name: "system".into() };
    assert_eq!(program.build(1), Err(ProgramError::Action { action: 4, name: "host", fault }));

    let mut program = ProgramBuilder::default();
    let loaded = program.buffer(AddressSpace::default().allocate("loaded", BYTES), Kind::Managed, Spread::default());
    program.then(launch(0, &[loaded]));
    assert_eq!(program.clone().build(1).unwrap().loaded().count(), 1);
    program.then(Action::Free(loaded));
    let fault = ActionFault::NotAllocated { name: "loaded".into() };
    let never = ProgramError::Action { action: 1, name: "free", fault };
    assert_eq!(program.build(1), Err(never), "only what is allocated is freed");

    let mut program = all();
    program.then(writes(SYSTEM));
    program.after(&[ActionId(3)], Action::Free(SYSTEM));
    let fault = ActionFault::UsedAfterFree { name: "system".into(), free: 5 };
    let beside = ProgramError::Action { action: 4, name: "host", fault };
    assert_eq!(program.build(1), Err(beside), "a free beside a use is no free after it");
}

#[test]
fn what_waits_for_itself_is_refused() {
    let wait =
        |after: &[u32]| Ordered { action: Action::Synchronise, after: after.iter().copied().map(ActionId).collect() };
    assert!(Program::new(Vec::new(), vec![wait(&[1]), wait(&[])], 0).is_ok(), "the list may be in any order");
    let circle = Program::new(Vec::new(), vec![wait(&[]), wait(&[0, 2]), wait(&[1])], 0);
    assert_eq!(circle, Err(ProgramError::Circle { action: 1, name: "synchronise" }));
    assert!(matches!(Program::new(Vec::new(), vec![wait(&[0])], 0), Err(ProgramError::Circle { action: 0, .. })));
}

#[test]
fn buffers_lie_apart_and_in_order() {
    let mut space = AddressSpace::default();
    let [low, high] = ["low", "high"].map(|name| ProgramBuffer {
        buffer: space.allocate(name, BYTES),
        kind: Kind::Managed,
        spread: Spread::default(),
    });
    assert!(Program::new(vec![low.clone(), high.clone()], Vec::new(), 0).is_ok());
    let error = Program::new(vec![high, low], Vec::new(), 0).unwrap_err();
    assert!(error.to_string().starts_with("buffer `low` begins at 0x0, expected at least 0x201000"), "{error}");
}
