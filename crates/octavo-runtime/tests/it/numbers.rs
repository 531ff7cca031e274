//! Numbers that programs may give: each is answered with numbers, or refused.

use octavo::abi::{ASSUMED_MACHINE, Answer, BAD_ARGUMENT, DOES_NOT_FIT, Data, Status};
use octavo::octavo_get_placement;

const FLOATS: [fn(&mut Data) -> &mut f64; 5] = [
    |data| &mut data.touched,
    |data| &mut data.visits,
    |data| &mut data.operations,
    |data| &mut data.kernel_seconds,
    |data| &mut data.stalled_seconds,
];
const WHOLE: [fn(&mut Data) -> &mut u64; 9] = [
    |data| &mut data.bytes,
    |data| &mut data.accessed_bytes,
    |data| &mut data.blocks,
    |data| &mut data.threads_per_block,
    |data| &mut data.line_bytes,
    |data| &mut data.faults_together,
    |data| &mut data.copied_in,
    |data| &mut data.copied_out,
    |data| &mut data.copies,
];
/// All bits that have a meaning.
const FLAGS: u32 = 15;

/// For 64 MiB, with nothing else known or with everything.
fn examples() -> [Data; 2] {
    let unknown = Data { struct_size: size_of::<Data>() as u32, bytes: 64 << 20, ..Data::default() };
    let known = Data {
        flags: FLAGS,
        touched: 0.5,
        visits: 2.0,
        accessed_bytes: 1 << 28,
        operations: 1e9,
        blocks: 1024,
        threads_per_block: 256,
        kernel_seconds: 0.01,
        line_bytes: 1 << 26,
        faults_together: 64,
        copied_in: 64 << 20,
        copied_out: 64 << 20,
        copies: 2,
        stalled_seconds: 0.001,
        ..unknown
    };
    [unknown, known]
}

fn asked(data: &Data) -> (Status, Answer) {
    let mut answer = Answer { struct_size: size_of::<Answer>() as u32, placement: -7, ..Answer::default() };
    // SAFETY: both live here.
    let status = unsafe { octavo_get_placement(std::ptr::null(), data, &mut answer) };
    (status, answer)
}

/// Either an answer, which has numbers, or a refusal, which leaves the answer as it was.
fn check(data: &Data) {
    let (status, answer) = asked(data);
    match status {
        ASSUMED_MACHINE => {
            let managed = answer.managed_seconds;
            assert!(managed.is_finite() || managed == f64::INFINITY, "managed {managed}: {data:?}");
            let pinned = answer.pinned_seconds;
            assert_eq!(pinned.is_finite(), data.line_bytes > 0, "pinned {pinned}: {data:?}");
        }
        BAD_ARGUMENT | DOES_NOT_FIT => assert_eq!(answer.placement, -7, "{data:?}"),
        other => panic!("status {other}: {data:?}"),
    }
}

#[test]
fn what_is_no_number_is_refused_in_each_field() {
    for example in examples() {
        assert_eq!(asked(&example).0, ASSUMED_MACHINE);
        for field in FLOATS {
            for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, -f64::MIN_POSITIVE] {
                let mut data = example;
                *field(&mut data) = wrong;
                assert_eq!(asked(&data).0, BAD_ARGUMENT, "{data:?}");
            }
        }
    }
}

/// A field set to a value.
type Setting = Box<dyn Fn(&mut Data)>;

/// Each field at the limits of its range.
fn settings() -> Vec<Setting> {
    let floats = [0.0, f64::MIN_POSITIVE, 1e-300, 1.0, 1e6, 1e18, 1e300, f64::MAX];
    let whole = [0, 1, 4095, 1 << 40, 1 << 63, u64::MAX];
    let of_float = FLOATS
        .into_iter()
        .flat_map(|field| floats.map(move |value| Box::new(move |data: &mut Data| *field(data) = value) as Setting));
    let of_whole = WHOLE
        .into_iter()
        .flat_map(|field| whole.map(move |value| Box::new(move |data: &mut Data| *field(data) = value) as Setting));
    of_float.chain(of_whole).collect()
}

#[test]
fn numbers_at_their_edges_are_answered_with_numbers_or_refused() {
    let settings = settings();
    for (example, first) in
        examples().into_iter().flat_map(|example| (0..settings.len()).map(move |first| (example, first)))
    {
        for (second, other) in settings.iter().enumerate().skip(first) {
            // Each set of flags comes with each field.
            let mut data = Data { flags: (first + second) as u32 & FLAGS, ..example };
            settings[first](&mut data);
            other(&mut data);
            check(&data);
        }
    }
}
