//! Rules that every registered workload keeps.

use crate::built::{SEED, build, built};
use crate::lanes::{stream, wavefronts};
use octavo_program::{BUFFER_ALIGNMENT, LINE_BYTES, Op, OpKind, OpSink, Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;

/// Small enough to look at every wavefront (or at some of every launch), odd enough to leave rests.
const SCALES: [f64; 2] = [0.003, 0.0071];

/// Wavefronts looked at in each launch.
const GROUPS: u32 = 40;

fn each(mut check: impl FnMut(&str, &dyn Workload)) {
    for name in WORKLOADS.names() {
        for scale in SCALES {
            check(name, built(name, scale));
        }
    }
    let mut sampled = Choice::named("wcc");
    sampled.options.insert("algorithm".to_owned(), "afforest".into());
    let sampled = WORKLOADS.build(&sampled, &Size { scale: SCALES[0], seed: SEED });
    check("wcc by sampling", &*sampled.expect("a valid choice"));
}

/// The first, the last and some groups between, all their wavefronts.
fn sample(workload: &dyn Workload, launch: u32) -> impl Iterator<Item = (u32, u32)> {
    let groups = workload.launch(launch).work_groups;
    let step = groups.div_ceil(GROUPS);
    wavefronts(workload, launch).filter(move |(group, _)| group % step == 0 || group + 1 == groups)
}

fn memory(op: &Op) -> bool {
    matches!(op.kind(), OpKind::Load | OpKind::Store)
}

#[test]
fn the_published_eight_and_three_more_come_first() {
    let names = [
        "bfs-shoc",
        "bitonicsort",
        "c2d",
        "fir",
        "gemm",
        "matrixmultiplication",
        "simpleconvolution",
        "stencil2d",
        "relu",
        "transpose",
        "vectoradd",
    ];
    assert_eq!(WORKLOADS.names().take(names.len()).collect::<Vec<_>>(), names);
}

#[test]
fn mosaics_applications_are_registered() {
    let names = [
        "trd",
        "red",
        "scan",
        "scp",
        "blk",
        "fwt",
        "gups",
        "histo",
        "spmv",
        "nw",
        "bfs-rodinia",
        "nearestneighbor",
        "cons",
        "hs",
        "3ds",
        "fft",
        "lps",
        "srad",
        "bp",
        "lud",
        "lib",
        "sad",
        "cfd",
        "streamcluster",
    ];
    for name in names {
        assert!(WORKLOADS.names().any(|found| found == name), "{name}");
    }
}

#[test]
fn buffers_are_aligned_named_and_apart() {
    each(|name, workload| {
        let buffers = workload.buffers();
        assert!(workload.launches() > 0 && !buffers.is_empty(), "{name}");
        assert!(buffers.iter().all(|buffer| buffer.bytes > 0 && buffer.base % BUFFER_ALIGNMENT == 0), "{name}");
        assert!(buffers.is_sorted_by(|a, b| a.base + a.bytes <= b.base && a.name != b.name), "{name}");
    });
}

#[test]
fn streams_end_once_and_stay_inside_buffers() {
    each(|name, workload| {
        let lines: Vec<_> = workload
            .buffers()
            .iter()
            .map(|buffer| buffer.base / LINE_BYTES..(buffer.base + buffer.bytes).div_ceil(LINE_BYTES))
            .collect();
        for launch in 0..workload.launches() {
            for (group, wavefront) in sample(workload, launch) {
                let ops = stream(workload, launch, group, wavefront, 512);
                let ends = ops.iter().filter(|op| op.kind() == OpKind::End).count();
                assert!(ends == 1 && ops.last() == Some(&Op::END), "{name}");
                for op in ops.iter().filter(|op| memory(op)) {
                    let (first, last) = (op.line(), op.line() + u64::from(op.count()) - 1);
                    let inside = lines.iter().any(|lines| lines.contains(&first) && lines.contains(&last));
                    assert!(op.count() > 0 && inside, "{name}: {op:?} of launch {launch}");
                }
            }
        }
    });
}

#[test]
fn instructions_are_whole_and_touch_each_line_once() {
    each(|name, workload| {
        for (group, wavefront) in sample(workload, 0) {
            let ops = stream(workload, 0, group, wavefront, 512);
            let continued = ops.windows(2).filter(|pair| pair[0].continues());
            assert!(continued.clone().all(|pair| memory(&pair[0]) && pair[0].kind() == pair[1].kind()), "{name}");
            assert!(ops.iter().all(|op| op.kind() != OpKind::Compute || op.instructions().total() > 0), "{name}");
            for access in crate::lanes::accesses(&ops) {
                let mut lines = access.lines.clone();
                lines.sort_unstable();
                lines.dedup();
                assert!(lines.len() == access.lines.len() && lines.len() <= 256, "{name}: {access:?}");
            }
        }
    });
}

#[test]
fn streams_do_not_depend_on_how_they_are_produced() {
    each(|name, workload| {
        for launch in [0, workload.launches() - 1] {
            for (group, wavefront) in sample(workload, launch) {
                let ops = stream(workload, launch, group, wavefront, OpSink::MIN_CAPACITY);
                for capacity in [OpSink::MIN_CAPACITY, 97, 131, 4096] {
                    assert_eq!(stream(workload, launch, group, wavefront, capacity), ops, "{name} by {capacity}");
                }
            }
        }
    });
}

#[test]
fn equal_seeds_build_equal_workloads() {
    for name in WORKLOADS.names() {
        let [one, same] = [5, 5].map(|seed| build(name, SCALES[0], seed));
        assert_eq!((one.buffers(), one.launches()), (same.buffers(), same.launches()), "{name}");
        for (group, wavefront) in sample(&*one, 0) {
            assert_eq!(stream(&*one, 0, group, wavefront, 512), stream(&*same, 0, group, wavefront, 512), "{name}");
        }
    }
}

/// Wavefronts of a group that take part in barriers take part in all; one that ended at once in none.
#[test]
fn barriers_are_balanced() {
    each(|name, workload| {
        for launch in 0..workload.launches() {
            let mut barriers = std::collections::BTreeMap::<u32, Vec<usize>>::new();
            for (group, wavefront) in sample(workload, launch) {
                let ops = stream(workload, launch, group, wavefront, 512);
                let count = ops.iter().filter(|op| op.kind() == OpKind::Barrier).count();
                barriers.entry(group).or_default().push(count);
            }
            for (group, counts) in barriers {
                let most = counts.iter().max().unwrap();
                assert!(counts.iter().all(|count| [0, *most].contains(count)), "{name}: group {group}, {counts:?}");
            }
        }
    });
}

#[test]
fn footprint_follows_the_scale() {
    // Published footprints in MB; the sort only comes in powers of two.
    for (name, megabytes) in [
        ("bfs-shoc", 32.0),
        ("c2d", 94.0),
        ("fir", 155.0),
        ("gemm", 16.0),
        ("matrixmultiplication", 33.0),
        ("simpleconvolution", 131.0),
    ] {
        for scale in [0.0625, 0.25] {
            let found = build(name, scale, 0).footprint() as f64 / f64::from(1 << 20) / (megabytes * scale);
            assert!((0.94..1.06).contains(&found), "{name} at {scale} is {found} of its footprint");
        }
    }
}

#[test]
fn nonsense_scales_are_refused_by_name() {
    for name in WORKLOADS.names() {
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-12, 1e12] {
            let error = WORKLOADS.build(&Choice::named(name), &Size { scale, seed: 0 }).err();
            assert_eq!(error.map(|error| error.key).as_deref(), Some("scale"), "{name} at {scale}");
        }
    }
}

#[test]
fn impossible_sizes_are_refused_by_name() {
    let wrong = [
        ("fir", "samples", 0),
        ("fir", "samples", 1 << 39),
        ("bitonicsort", "keys", 1),
        ("bitonicsort", "keys", 1000),
        ("bitonicsort", "keys", 1 << 39),
        ("simpleconvolution", "width", 0),
        ("simpleconvolution", "height", 1 << 20),
        ("bfs-shoc", "nodes", 1),
        ("bfs-shoc", "nodes", 1 << 31),
        ("matrixmultiplication", "rows", 100),
        ("stencil2d", "rows", 100),
        ("c2d", "side", 1),
        ("relu", "elements", 0),
        ("vectoradd", "elements", 0),
        ("transpose", "width", 100),
        ("relu", "elements", 1 << 38),
        ("vectoradd", "elements", 1 << 38),
        ("hs", "side", 1 << 20),
        ("fdtd2d", "steps", u64::from(u32::MAX / 3) + 1),
        ("cons", "iterations", u64::from(u32::MAX / 2) + 1),
        ("fft", "passes", u64::from(u32::MAX / 3) + 1),
        ("scan", "iterations", u64::from(u32::MAX / 3) + 1),
        ("srad", "iterations", u64::from(u32::MAX / 2) + 1),
    ];
    for (name, key, value) in wrong {
        let mut choice = Choice::named(name);
        choice.options.insert(key.to_owned(), u64::into(value));
        let error = WORKLOADS.build(&choice, &Size { scale: 1.0, seed: 0 }).err();
        assert_eq!(error.map(|error| error.key).as_deref(), Some(key), "{name} with {key} {value}");
    }
}

/// Work-groups of a launch are numbered with 32 bits.
#[test]
fn grids_of_too_many_work_groups_are_refused_by_name() {
    for (name, sides) in [("fdtd2d", ["rows", "columns"]), ("srad", ["rows", "columns"]), ("sad", ["width", "height"])]
    {
        let mut choice = Choice::named(name);
        choice.options.extend(sides.map(|key| (key.to_owned(), (1u64 << 20).into())));
        let error = WORKLOADS.build(&choice, &Size { scale: 1.0, seed: 0 }).err().expect(name);
        assert_eq!(error.key, sides[0], "{name}: {error}");
        assert!(error.message.starts_with("expected what has at most 4294967295 work-groups, found"), "{error}");
        choice.options.insert(sides[0].to_owned(), (1u64 << 10).into());
        let wide = WORKLOADS.build(&choice, &Size { scale: 1.0, seed: 0 }).unwrap_or_else(|error| panic!("{error}"));
        assert!((0..wide.launches()).all(|launch| wide.launch(launch).work_groups > 0), "{name}");
    }
}

/// A given size counts, at any scale.
#[test]
fn sizes_that_are_given_are_exact() {
    let sizes = [
        ("fir", vec![("samples", 1000)], 2 * 4000 + 2 * 64),
        ("bitonicsort", vec![("keys", 1024)], 4096),
        ("simpleconvolution", vec![("width", 30), ("height", 10)], 4 * (32 * 12 + 30 * 10 + 9)),
        ("bfs-shoc", vec![("nodes", 100), ("degree", 4)], 4 * (100 + 101 + 400 + 1)),
        ("relu", vec![("elements", 100)], 800),
        ("vectoradd", vec![("elements", 100)], 1200),
        ("transpose", vec![("width", 128)], 2 * 4 * 128 * 128),
    ];
    for (name, options, bytes) in sizes {
        let mut choice = Choice::named(name);
        choice.options.extend(options.into_iter().map(|(key, value)| (key.to_owned(), u64::into(value))));
        let workload = WORKLOADS.build(&choice, &Size { scale: 0.01, seed: 0 }).unwrap();
        assert_eq!(workload.footprint(), bytes, "{name}");
    }
}

#[test]
fn options_have_documented_defaults() {
    for entry in WORKLOADS.entries {
        let resolved = (entry.resolve)(&octavo_registry::Options::new()).unwrap();
        let schema = (entry.schema)();
        let properties = schema.get("properties").and_then(|value| value.as_object()).cloned().unwrap_or_default();
        assert!(resolved.keys().eq(properties.keys()) || resolved.keys().all(|key| properties.contains_key(key)));
        for (key, property) in &properties {
            let description = property["description"].as_str().unwrap_or_default();
            assert!(description.contains("Default"), "{}.{key} does not say its default", entry.name);
        }
        let mut unknown = octavo_registry::Options::new();
        unknown.insert("no_such_option".to_owned(), true.into());
        assert_eq!((entry.resolve)(&unknown).unwrap_err().key, "no_such_option");
    }
}
