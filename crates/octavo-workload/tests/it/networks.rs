//! Recorded steps: files, sums by hand, and the networks that come with Octavo.

use octavo_program::{Buffer, LINE_BYTES, Op, OpKind, Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::networks::file::File;
use octavo_workload::networks::replay::{Extent, Replay};
use octavo_workload::networks::ring::gradients;
use octavo_workload::networks::stages::{Cut, of_operators, of_tensors};
use octavo_workload::networks::step::Role;

use crate::lanes::{stream, wavefronts};

/// y = x w for a batch, then w += g, where g is made in the step and given back in the next.
const TOY: &str = r#"{
    "octavo_step": 1, "source": "by hand", "command": "", "parameters": 1024, "batch": 4,
    "tensors": [["parameter", [4096, 0]], ["input", [0, 1024]], ["temporary", [0, 640]], ["temporary", [4096, 0]]],
    "operators": [
        {"name": "mm", "flops": [0, 2048], "reads": [1, 0], "writes": [2], "allocates": [2], "frees": [3]},
        {"name": "empty", "allocates": [3]},
        {"name": "mm", "flops": [0, 2048], "reads": [1, [2, [0, 0], [0, 320]]], "writes": [3]},
        {"name": "add_", "reads": [0, 3], "writes": [0], "frees": [2]}
    ]
}"#;

fn toy(batch: Option<u32>, iterations: u32, scale: f64) -> Replay {
    let step = File::parse(TOY.as_bytes()).unwrap().step(batch).unwrap();
    Replay::new(&step, Extent { iterations, replicas: 1, all_reduce: false, stages: 1, cut: Cut::Work, scale }).unwrap()
}

/// Lines read, lines written and vector instructions of a launch.
fn sums(workload: &dyn Workload, launch: u32) -> [u64; 3] {
    let mut sums = [0; 3];
    for (group, wavefront) in wavefronts(workload, launch) {
        for op in stream(workload, launch, group, wavefront, 512) {
            let place = match op.kind() {
                OpKind::Load => 0,
                OpKind::Store => 1,
                OpKind::Compute => 2,
                _ => continue,
            };
            sums[place] += u64::from(op.count());
        }
    }
    sums
}

#[test]
fn a_toy_step_touches_what_its_operators_name() {
    let toy = toy(None, 2, 1.0);
    let names: Vec<_> = (0..toy.launches()).map(|launch| toy.launch(launch).kernel).collect();
    assert_eq!(names, ["mm", "mm", "add_", "mm", "mm", "add_"], "what only makes a tensor is no launch");
    // 4096 bytes are 64 lines, 4 samples of 1024 bytes 64, of 640 bytes 40, of 320 bytes 20. Instructions: one for 128 operations
    // of a product, and one for 4 lines.
    for iteration in [0, 3] {
        assert_eq!(sums(&toy, iteration), [64 + 64, 40, 4 * 2048 / 128 + (64 + 64 + 40) / 4]);
        assert_eq!(sums(&toy, iteration + 1), [64 + 20, 64, 64 + (64 + 20 + 64) / 4]);
        assert_eq!(sums(&toy, iteration + 2), [64 + 64, 64, (64 + 64 + 64) / 4]);
    }
    assert_eq!(toy.footprint(), 2 << 20, "one segment of small blocks");
}

#[test]
fn batch_and_scale_change_sizes() {
    assert_eq!(sums(&toy(Some(8), 1, 1.0), 0), [128 + 64, 80, 8 * 16 + (128 + 64 + 80) / 4]);
    let half = toy(None, 1, 0.5);
    assert_eq!(sums(&half, 0), [32 + 32, 20, 32 + 84 / 4]);
    assert_eq!(half.footprint(), 1 << 20);
}

/// Addresses of the lines that launches write, by launch.
fn first_written(workload: &dyn Workload, launch: u32) -> u64 {
    let ops =
        wavefronts(workload, launch).flat_map(|(group, wavefront)| stream(workload, launch, group, wavefront, 512));
    ops.filter(|op| op.is_store()).map(|op| op.line() * LINE_BYTES).min().unwrap()
}

#[test]
fn a_tensor_that_the_next_step_gives_back_moves_as_the_allocator_says() {
    let toy = toy(None, 2, 1.0);
    // Parameter and input of 4096 bytes, then the gradient of the step before. It goes, 2560 bytes take the first of its
    // place, and the new gradient lies behind them; what was free is one block again when the next step begins.
    assert_eq!([0, 1, 2].map(|launch| first_written(&toy, launch)), [8192, 8192 + 2560, 0]);
    assert_eq!([3, 4, 5].map(|launch| first_written(&toy, launch)), [8192, 8192 + 2560, 0]);
}

#[test]
fn the_host_writes_parameters_once_and_samples_each_time() {
    let toy = toy(None, 2, 1.0);
    let side = toy.host_side();
    let written: Vec<_> = side.exchanges().iter().map(|one| (one.before, one.bytes.clone(), one.writes)).collect();
    assert_eq!(written, [(0, 0..8192, true), (3, 4096..8192, true)]);
}

#[test]
fn wrong_files_are_refused_in_words() {
    let why = |text: &str| match File::parse(text.as_bytes()) {
        Ok(file) => file.step(None).expect_err("it is wrong"),
        Err(why) => why,
    };
    for (old, new, expected) in [
        (r#""octavo_step": 1"#, r#""octavo_step": 2"#, "expected version 1 of recorded steps, found 2"),
        (r#""reads": [1, 0]"#, r#""reads": [1, 9]"#, "operator 0 (mm): there is no tensor 9, expected less than 4"),
        (r#""reads": [0, 3]"#, r#""reads": [0, 2]"#, "operator 3 (add_): tensor 2 is not there"),
        (r#""allocates": [3]"#, r#""allocates": [2]"#, "operator 1 (empty): tensor 2 begins twice"),
        (r#""frees": [2]"#, r#""frees": [0]"#, "tensor 0: expected that only temporary tensors are given back"),
        ("[0, 320]]]", "[0, 700]]]", "bytes 0 to 2800 of tensor 2, expected at least one of its 2560"),
        (r#"["input", [0, 1024]]"#, r#"["input", [0, 0]]"#, "tensor 1: expected at least one byte"),
        (
            r#"["input", [0, 1024]]"#,
            r#"["input", [9223372036854775807, 0]]"#,
            "expected tensors of at most 64 TiB together",
        ),
        (r#""source""#, r#""sauce""#, "found something else: unknown field `sauce`"),
    ] {
        let found = why(&TOY.replace(old, new));
        assert!(found.contains(expected), "{found}");
    }
    assert!(File::parse(&[0x1f, 0x8b, 1]).unwrap_err().contains("cut off or damaged"));
    let fixed = TOY.replace(r#""batch": 4"#, r#""batch": null"#);
    assert!(File::parse(fixed.as_bytes()).unwrap().step(Some(2)).unwrap_err().contains("one batch size"));
}

#[test]
fn operators_too_large_for_a_launch_are_refused() {
    let text =
        TOY.replace(r#""flops": [0, 2048], "reads": [1, 0]"#, r#""flops": [900000000000000000, 0], "reads": [1, 0]"#);
    let step = File::parse(text.as_bytes()).unwrap().step(None).unwrap();
    let error = Replay::new(
        &step,
        Extent { iterations: 1, replicas: 1, all_reduce: false, stages: 1, cut: Cut::Work, scale: 1.0 },
    )
    .err()
    .expect("it is too large");
    assert_eq!(error.message, "operator 0 (mm): too large for one launch");
}

/// Parameters as published, and what a batch of the published size takes at once: parameters, gradients, momentum,
/// activations.
const NETWORKS: &[(&str, &[u8], f64)] = &[
    ("vgg16", include_bytes!("../../src/networks/recorded/vgg16.step"), 138.36e6),
    ("resnet18", include_bytes!("../../src/networks/recorded/resnet18.step"), 11.69e6),
    ("resnet50", include_bytes!("../../src/networks/recorded/resnet50.step"), 25.56e6),
    ("resnet101", include_bytes!("../../src/networks/recorded/resnet101.step"), 44.55e6),
    ("mobilenet_v3_large", include_bytes!("../../src/networks/recorded/mobilenet_v3_large.step"), 5.48e6),
    // Of the published layers with one embedding: 2 × 33.1 (embedding, classifier), 8.4 for each of the 9 recurrent layers
    // that are fed 1024, 12.6 for each of the 8 that are fed 2048, 2.1 of the attention; in millions.
    ("gnmt16", include_bytes!("../../src/networks/recorded/gnmt16.step"), 244.5e6),
];

#[test]
fn networks_have_their_published_parameters() {
    for &(name, bytes, published) in NETWORKS {
        let file = File::parse(bytes).unwrap();
        let step = file.step(None).unwrap();
        let off = (file.parameters as f64 - published).abs() / published;
        assert!(off < 0.001, "{name} has {} parameters", file.parameters);
        let bytes: u64 =
            step.tensors.iter().filter(|tensor| tensor.role == Role::Parameter).map(|tensor| tensor.bytes).sum();
        assert_eq!(bytes, 4 * file.parameters, "{name}");
    }
}

#[test]
fn a_network_grows_with_its_batch() {
    let bytes = |batch: u32| {
        let mut choice = Choice::named("vgg16");
        choice.options.insert("batch".to_owned(), batch.into());
        WORKLOADS.build(&choice, &Size { scale: 0.01, seed: 0 }).unwrap().footprint() as f64 / f64::from(1 << 20)
            * 100.0
    };
    // Parameters, gradients and momentum are 1583 MiB; 64 samples more have 64 times 73 MB of activations and more beside.
    let (few, many) = (bytes(64), bytes(128));
    assert!(few > 1583.0 && many - few > 64.0 * 73.0e6 / f64::from(1 << 20), "{few} {many}");
}

#[test]
fn impossible_options_are_refused_by_name() {
    for (key, value) in [
        ("batch", 0),
        ("batch", 1 << 21),
        ("iterations", 0),
        ("iterations", 1001),
        ("replicas", 0),
        ("replicas", 65),
        ("stages", 0),
        ("stages", 65),
    ] {
        let mut choice = Choice::named("vgg16");
        choice.options.insert(key.to_owned(), value.into());
        let error = WORKLOADS.build(&choice, &Size { scale: 1.0, seed: 0 }).err();
        assert_eq!(error.map(|error| error.key).as_deref(), Some(key), "{value}");
    }
}

#[test]
fn replicas_do_the_same_in_memory_of_their_own() {
    let step = File::parse(TOY.as_bytes()).unwrap().step(None).unwrap();
    let [alone, twice] = [1, 2].map(|replicas| {
        Replay::new(&step, Extent { iterations: 2, replicas, all_reduce: false, stages: 1, cut: Cut::Work, scale: 1.0 })
            .unwrap()
    });
    assert_eq!((twice.footprint(), twice.launches()), (2 * alone.footprint(), alone.launches()));
    for launch in 0..alone.launches() {
        let groups = alone.launch(launch).work_groups;
        assert_eq!(twice.launch(launch).work_groups, 2 * groups);
        assert_eq!(sums(&twice, launch), sums(&alone, launch).map(|sum| 2 * sum));
        let lines = |workload: &dyn Workload, group| {
            let ops = stream(workload, launch, group, 1, 512).into_iter();
            ops.filter(|op| matches!(op.kind(), OpKind::Load | OpKind::Store)).map(|op| op.line()).collect::<Vec<_>>()
        };
        let (first, second) = (lines(&twice, 0), lines(&twice, groups));
        assert_eq!(first, lines(&alone, 0));
        assert_eq!(second, first.iter().map(|line| line + (2 << 20) / LINE_BYTES).collect::<Vec<_>>());
    }
    let written: Vec<_> = twice.host_side().exchanges().iter().map(|one| (one.before, one.buffer)).collect();
    assert_eq!(written, [(0, 0), (0, 1), (3, 0), (3, 1)]);
}

/// Buffers are apart at any scale.
#[test]
fn one_buffer_for_each_pool() {
    let names =
        |workload: &dyn Workload| workload.buffers().iter().map(|one: &Buffer| one.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&toy(None, 1, 1.0)), ["small-segments"]);
    let vgg = WORKLOADS.build(&Choice::named("vgg16"), &Size { scale: 0.001, seed: 0 }).unwrap();
    assert_eq!(names(&*vgg), ["small-segments", "large-segments"]);
}

#[test]
fn gradients_of_the_networks_are_as_large_as_their_parameters() {
    for &(name, bytes, _) in NETWORKS {
        let file = File::parse(bytes).unwrap();
        let step = file.step(None).unwrap();
        let (found, before) = gradients(&step).unwrap();
        assert_eq!(found.iter().map(|&tensor| step.tensors[tensor].bytes).sum::<u64>(), 4 * file.parameters, "{name}");
        let written = |operator: usize| {
            step.operators[operator].writes.iter().any(|one| step.tensors[one.tensor].role == Role::Parameter)
        };
        // Adam has seven operators more before it writes a parameter.
        assert!((before..before + 8).any(written), "{name}: the optimizer comes next");
        assert!(!(0..before).any(written), "{name}: it has not begun before");
    }
}

#[test]
fn replicas_send_each_other_halves_of_their_gradients() {
    let step = File::parse(TOY.as_bytes()).unwrap().step(None).unwrap();
    let extent = Extent { iterations: 1, replicas: 2, all_reduce: true, stages: 1, cut: Cut::Work, scale: 1.0 };
    let toy = Replay::new(&step, extent).unwrap();
    let names: Vec<_> = (0..toy.launches()).map(|launch| toy.launch(launch).kernel).collect();
    assert_eq!(names, ["mm", "mm", "all-reduce", "all-reduce", "all-reduce", "add_"]);
    // The gradient is 64 lines, a half 32. Each replica sends a half; adds what came, keeps the sum and sends it; keeps it.
    for (launch, loads, stores) in [(2, 32, 32), (3, 32 + 32, 32 + 32), (4, 32, 32)] {
        assert_eq!(sums(&toy, launch)[..2], [2 * loads, 2 * stores]);
    }
    let buffers: Vec<_> = toy.buffers().iter().map(|one| (one.name.as_str(), one.bytes, one.gpu)).collect();
    let slots = 8 << 20;
    assert_eq!(buffers[2..], [("received-0", slots, 1), ("received-1", slots, 2)]);
    let written = |launch: u32, group: u32| {
        let ops = (0..4).flat_map(|wavefront| stream(&toy, launch, group, wavefront, 512)).filter(|op| op.is_store());
        let lines: Vec<_> = ops.flat_map(|op| op.line()..op.line() + u64::from(op.count())).collect();
        (*lines.iter().min().unwrap() * LINE_BYTES, lines.len())
    };
    assert_eq!(written(2, 0), (toy.buffers()[3].base, 32), "the first replica sends to the second");
    assert_eq!(written(2, 1), (toy.buffers()[2].base, 32));
    assert_eq!(toy.host_side().exchanges().len(), 2, "the host writes nothing of what is sent");
}

#[test]
fn a_network_is_split_by_layer_into_parts_of_about_the_same_work() {
    for (name, bytes, _) in [NETWORKS[0], NETWORKS[1]] {
        let step = File::parse(bytes).unwrap().step(None).unwrap();
        let stages = of_operators(&step, 4, Cut::Work);
        let mut work = [0u64; 4];
        for (operator, &stage) in step.operators.iter().zip(&stages) {
            work[stage as usize] += operator.flops;
        }
        let total: u64 = work.iter().sum();
        // A layer is not cut.
        assert!(work.iter().all(|&one| one * 100 > total * 10 && one * 100 < total * 45), "{name}: {work:?}");
        let forward = stages.iter().position(|&stage| stage == 3).unwrap();
        assert!(stages[..forward].is_sorted(), "{name}: forwards in order");
        assert!(of_operators(&step, 1, Cut::Work).iter().all(|&stage| stage == 0));
        let homes = of_tensors(&step, &of_operators(&step, 4, Cut::Layers));
        let parameters = |stage: u32| {
            let own =
                step.tensors.iter().zip(&homes).filter(|(one, home)| one.role == Role::Parameter && **home == stage);
            own.count()
        };
        let counts = [0, 1, 2, 3].map(parameters);
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{name}: {counts:?}");
    }
}

#[test]
fn each_operator_of_a_split_network_runs_on_one_gpu() {
    let build = |stages: u32| {
        let mut choice = Choice::named("vgg16");
        choice.options.insert("stages".to_owned(), stages.into());
        WORKLOADS.build(&choice, &Size { scale: 1.0, seed: 0 }).unwrap()
    };
    let (whole, split) = (build(1), build(4));
    assert_eq!(whole.launches(), split.launches());
    let mut ran = [false; 4];
    for launch in (0..whole.launches()).step_by(7) {
        let groups = whole.launch(launch).work_groups;
        assert_eq!(split.launch(launch).work_groups, 4 * groups);
        let busy = |stage: u32| stream(&*split, launch, stage * groups, 0, 512).len() > 1;
        let stages: Vec<u32> = (0..4).filter(|&stage| busy(stage)).collect();
        assert!(stages.len() == 1, "launch {launch}: {stages:?}");
        ran[stages[0] as usize] = true;
        let lines = |ops: Vec<Op>| -> u32 {
            ops.iter().filter(|op| matches!(op.kind(), OpKind::Load | OpKind::Store)).map(|op| op.count()).sum()
        };
        let own = lines(stream(&*split, launch, stages[0] * groups, 0, 512));
        let alone = lines(stream(&*whole, launch, 0, 0, 512));
        assert_eq!(own, alone, "lines of launch {launch}");
    }
    assert_eq!(ran, [true; 4]);
}

/// Two layers, y = x w and z = y v, with gradients and a moment for each parameter, which the optimizer changes first.
const LAYERS: &str = r#"{
    "octavo_step": 1, "source": "by hand", "command": "", "parameters": 2048, "batch": null,
    "tensors": [["parameter", [4096, 0]], ["parameter", [4096, 0]], ["input", [4096, 0]], ["temporary", [4096, 0]],
        ["temporary", [4096, 0]], ["temporary", [4096, 0]], ["state", [4096, 0]], ["state", [4096, 0]]],
    "operators": [
        {"name": "mm", "flops": [8192, 0], "reads": [2, 0], "writes": [3], "allocates": [3], "frees": [4, 5]},
        {"name": "mm", "flops": [8192, 0], "reads": [3, 1], "writes": [1]},
        {"name": "back", "reads": [3], "writes": [4], "allocates": [4]},
        {"name": "mm", "flops": [8192, 0], "reads": [2, 0], "writes": [5], "allocates": [5]},
        {"name": "mul_", "reads": [6], "writes": [6]},
        {"name": "add_", "reads": [6, 5, 0], "writes": [0]},
        {"name": "mul_", "reads": [7], "writes": [7]},
        {"name": "add_", "reads": [7, 4, 1], "writes": [1], "frees": [3]}
    ]
}"#;

#[test]
fn each_gpu_of_a_split_network_has_its_tensors_from_an_allocator_of_its_own() {
    let step = File::parse(LAYERS.as_bytes()).unwrap().step(None).unwrap();
    let stages = of_operators(&step, 2, Cut::Work);
    assert_eq!(stages, [0, 1, 1, 0, 0, 0, 1, 1], "what changes a moment belongs to the parameter behind it");
    assert_eq!(of_tensors(&step, &stages), [0, 1, 0, 0, 1, 0, 0, 1]);
    let split = Replay::new(
        &step,
        Extent { iterations: 2, replicas: 1, all_reduce: false, stages: 2, cut: Cut::Work, scale: 1.0 },
    );
    let split = split.unwrap();
    let buffers: Vec<_> = split.buffers().iter().map(|buffer| (buffer.name.as_str(), buffer.gpu)).collect();
    assert_eq!(buffers, [("small-segments-0", 1), ("small-segments-1", 2)]);
    let second = split.buffers()[1].base / LINE_BYTES;
    let touched = |launch: u32, group: u32| {
        let ops = (0..4).flat_map(|wavefront| stream(&split, launch, group, wavefront, 512));
        let lines = ops.filter(|op| matches!(op.kind(), OpKind::Load | OpKind::Store)).map(|op| op.line());
        let mut sides: Vec<_> = lines.map(|line| line >= second).collect();
        sides.dedup();
        sides
    };
    let groups = |launch: u32| split.launch(launch).work_groups / 2;
    assert!(touched(0, 0).iter().all(|&behind| !behind), "the first layer's memory is the first GPU's");
    assert!(touched(1, groups(1)).contains(&false), "the second layer reads what the first has made");
    assert!(touched(7, groups(7)).iter().all(|&behind| behind), "the optimizer finds all it needs on the second GPU");
}

#[test]
fn what_does_not_go_together_is_refused() {
    for (options, key) in [
        (&[("all_reduce", true.into())][..], "all_reduce"),
        (&[("replicas", 2.into()), ("stages", 2.into())], "stages"),
        (&[("cut", "layers".into())], "cut"),
    ] {
        let mut choice = Choice::named("resnet18");
        choice
            .options
            .extend(options.iter().map(|(key, value): &(&str, serde_json::Value)| ((*key).to_owned(), value.clone())));
        let error = WORKLOADS.build(&choice, &Size { scale: 0.001, seed: 0 }).err().expect("it is refused");
        assert_eq!(error.key, key);
    }
    let inference = TOY.replace(r#""frees": [3]"#, r#""frees": []"#);
    let step = File::parse(inference.as_bytes()).unwrap().step(None).unwrap();
    let extent = Extent { iterations: 1, replicas: 2, all_reduce: true, stages: 1, cut: Cut::Work, scale: 1.0 };
    assert_eq!(Replay::new(&step, extent).err().map(|error| error.key).as_deref(), Some("all_reduce"));
}
