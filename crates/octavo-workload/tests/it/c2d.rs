//! The convolution layer against lane-by-lane models of its kernels and against recorded counts.

use crate::lanes::{Lanes, assert_same, base, launch_totals, touched};
use octavo_program::{Size, Workload};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::c2d::{C2d, Layer};

/// Lanes of a one-dimensional grid that have an element.
fn threads(group: u32, elements: u64) -> std::ops::Range<u64> {
    let first = u64::from(group) * 64;
    first..elements.min(first + 64)
}

fn copy(from: u64, to: u64, elements: u64, group: u32) -> Lanes {
    let mut lanes = Lanes::default();
    lanes.load(threads(group, elements).map(|thread| from + 4 * thread));
    lanes.store(threads(group, elements).map(|thread| to + 4 * thread));
    lanes
}

fn repeat(from: u64, period: u64, to: u64, elements: u64, group: u32) -> Lanes {
    let mut lanes = Lanes::default();
    lanes.load(threads(group, elements).map(|thread| from + 4 * (thread % period)));
    lanes.store(threads(group, elements).map(|thread| to + 4 * thread));
    lanes
}

/// In signed arithmetic, one thread at a time, as the kernel has it.
fn im2col(layer: &Layer, input: u64, output: u64, group: u32) -> Lanes {
    let (pixels, field) = (layer.output_pixels(), layer.field());
    let groups_x = pixels.div_ceil(8);
    let (group_x, group_y) = (u64::from(group) % groups_x, u64::from(group) / groups_x);
    let threads = || (0..64).map(move |lane| (group_x * 8 + lane % 8, group_y * 8 + lane / 8));
    let threads = || threads().filter(|(x, y)| *x < pixels && *y < field);
    let mut lanes = Lanes::default();
    lanes.load(threads().filter_map(|(column, row)| {
        let (side, kernel) = (layer.side as i64, layer.kernel);
        let image = layer.output_side() * layer.output_side();
        let (block, channel) = (column % image, row / (kernel * kernel));
        let (block_x, block_y) = (block % layer.output_side(), block / layer.output_side());
        let x = (block_x * layer.stride + row % kernel) as i64 - layer.padding as i64;
        let y = (block_y * layer.stride + row % (kernel * kernel) / kernel) as i64 - layer.padding as i64;
        let plane = (column / image * layer.channels + channel) as i64;
        let inside = x >= 0 && y >= 0 && x < side && y < side;
        inside.then(|| input + 4 * (plane * side * side + y * side + x) as u64)
    }));
    lanes.store(threads().map(|(column, row)| output + 4 * (row * pixels + column)));
    lanes
}

/// With the index arrays in global memory; `sizes` are the output's, `order[i]` the input axis of output axis `i`.
fn transpose(name: &str, workload: &C2d, (from, to): (u64, u64), sizes: &[u64], order: &[usize], group: u32) -> Lanes {
    let part = |part: &str| base(workload, &format!("{name}.{part}"));
    let shapes = ["order", "input_size", "output_size"].map(part);
    let (input_index, output_index) = (part("input_index"), part("output_index"));
    let axes = sizes.len();
    let mut input_sizes = vec![0; axes];
    order.iter().zip(sizes).for_each(|(&axis, &size)| input_sizes[axis] = size);
    let threads = || threads(group, sizes.iter().product());
    let place = |index: u64, axis: usize| threads().map(move |thread| index + 4 * (thread * axes as u64 + axis as u64));
    let shape = |array: usize, axis: usize| threads().map(move |_| shapes[array] + 4 * axis as u64);
    let mut lanes = Lanes::default();
    for axis in 0..axes {
        lanes.load(shape(2, axis));
        lanes.store(place(output_index, axis));
    }
    for (axis, &input_axis) in order.iter().enumerate() {
        lanes.load(shape(0, axis));
        lanes.load(place(output_index, axis));
        lanes.store(place(input_index, input_axis));
    }
    for axis in (0..axes).rev() {
        lanes.load(place(input_index, axis));
        lanes.load(shape(1, axis));
    }
    lanes.load(threads().map(|thread| {
        let (mut rest, mut index) = (thread, vec![0; axes]);
        for axis in (0..axes).rev() {
            index[order[axis]] = rest % sizes[axis];
            rest /= sizes[axis];
        }
        from + 4 * (0..axes).fold(0, |flat, axis| flat * input_sizes[axis] + index[axis])
    }));
    lanes.store(threads().map(|thread| to + 4 * thread));
    lanes
}

fn product(layer: &Layer, [a, b, c, d]: [u64; 4], group: u32, wavefront: u32) -> Lanes {
    let (rows, inner, columns) = (layer.output_channels, layer.field(), layer.output_pixels());
    let groups_x = columns.div_ceil(16);
    let (group_x, group_y) = (u64::from(group) % groups_x, u64::from(group) / groups_x);
    let lane = move |lane: u64| (group_x * 16 + lane % 16, group_y * 16 + lane / 16);
    let first = u64::from(wavefront) * 64;
    let threads = || (first..first + 64).map(lane).filter(|(x, y)| *x < columns && *y < rows);
    let mut lanes = Lanes::default();
    for k in 0..inner {
        lanes.load(threads().map(|(_, y)| a + 4 * (y * inner + k)));
        lanes.load(threads().map(|(x, _)| b + 4 * (k * columns + x)));
    }
    lanes.load(threads().map(|(x, y)| c + 4 * (y * columns + x)));
    lanes.store(threads().map(|(x, y)| d + 4 * (y * columns + x)));
    lanes
}

fn naive(workload: &C2d, layer: &Layer, launch: u32, group: u32, wavefront: u32) -> Lanes {
    let at = |name| base(workload, name);
    let (channels, pixels) = (layer.output_channels, layer.output_pixels());
    let side = layer.output_side();
    match launch {
        0 => copy(at("input"), at("input_clone"), layer.input_elements(), group),
        1 => im2col(layer, at("input"), at("im2col"), group),
        2 => copy(at("parameters"), at("weights"), layer.weights(), group),
        3 => repeat(at("parameters") + 4 * layer.weights(), channels, at("biases"), channels * pixels, group),
        4 => {
            let tensors = (at("biases"), at("biases_transposed"));
            transpose("transpose1", workload, tensors, &[channels, pixels], &[1, 0], group)
        }
        5 => {
            let matrices = ["weights", "im2col", "biases_transposed", "product"].map(at);
            product(layer, matrices, group, wavefront)
        }
        _ => {
            let sizes = [layer.batch, channels, side, side];
            transpose("transpose2", workload, (at("product"), at("output")), &sizes, &[1, 0, 2, 3], group)
        }
    }
}

const RECORDED: Layer =
    Layer { batch: 1, channels: 3, output_channels: 3, side: 128, kernel: 3, padding: 0, stride: 1 };

#[test]
fn touches_what_every_lane_of_every_kernel_touches() {
    let plain = Layer { side: 20, ..RECORDED };
    let layers = [
        plain,
        Layer { side: 9, padding: 1, ..RECORDED },
        Layer { side: 3, output_channels: 2, ..RECORDED },
        Layer { batch: 3, channels: 2, output_channels: 19, side: 11, padding: 2, ..RECORDED },
        Layer { batch: 2, channels: 5, output_channels: 40, side: 21, kernel: 5, padding: 2, stride: 2 },
        Layer { side: 40, kernel: 7, padding: 3, stride: 5, ..RECORDED },
        Layer { channels: 1, output_channels: 1, kernel: 1, side: 30, padding: 9, stride: 2, batch: 1 },
        Layer { batch: 2, channels: 1, side: 28, ..RECORDED },
        Layer { channels: 2, side: 41, kernel: 5, padding: 3, stride: 2, ..RECORDED },
    ];
    for layer in layers {
        let c2d = C2d::new(layer).unwrap();
        assert_same(&c2d, |launch, group, wavefront| naive(&c2d, &layer, launch, group, wavefront));
    }
}

/// Borders and strides decide which way the unrolling is coalesced.
#[test]
fn unrolls_every_combination_of_padding_and_stride() {
    for (stride, padding) in (1..=3).flat_map(|stride| (0..=3).map(move |padding| (stride, padding))) {
        for (kernel, side) in [(2, 37), (5, 38), (7, 26)] {
            let layer = Layer { batch: 1, channels: 2, output_channels: 1, side, kernel, padding, stride };
            let c2d = C2d::new(layer).unwrap();
            assert_same(&c2d, |launch, group, wavefront| naive(&c2d, &layer, launch, group, wavefront));
        }
    }
}

#[test]
fn every_output_is_written_once() {
    let layer = Layer { side: 34, output_channels: 5, ..RECORDED };
    let c2d = C2d::new(layer).unwrap();
    for buffer in ["product", "output"] {
        let lines = touched(&c2d, buffer, true);
        assert_eq!(lines.len() as u64, layer.output_elements().div_ceil(16), "{buffer}");
    }
    assert!(touched(&c2d, "output", true).values().all(|&count| count == 1));
    assert_eq!(touched(&c2d, "im2col", true).len() as u64, (layer.field() * layer.output_pixels()).div_ceil(16));
    assert!(touched(&c2d, "input", true).is_empty() && touched(&c2d, "output", false).is_empty());
}

/// MGPUSim v4.2.0 on 128x128x3 -> 3: 7 launches, 2.92 M instructions, 5.16 MB.
#[test]
fn counts_equal_the_recorded_ones() {
    let c2d = C2d::new(RECORDED).unwrap();
    assert_eq!(c2d.launches(), 7);
    // Loads of kernel arguments by each work-group; one wavefront in four of the product has a row to compute.
    let arguments = [4, 6, 4, 4, 6, 5 + 3 * 3, 6];
    let instructions = |launch: u32| {
        let groups = u64::from(c2d.launch(launch).work_groups);
        launch_totals(&c2d, launch).instructions + groups * arguments[launch as usize]
    };
    assert_eq!(((0..7).map(instructions).sum::<u64>() + 5_000) / 10_000, 292);
    assert_eq!((c2d.footprint() + 5_000) / 10_000, 516);
}

#[test]
fn scale_is_of_the_footprint() {
    for scale in [1.0, 0.25, 0.01] {
        let workload = WORKLOADS.build(&Choice::named("c2d"), &Size { scale, seed: 0 }).unwrap();
        assert!((workload.footprint() as f64 / f64::from(1 << 20) / (94.0 * scale) - 1.0).abs() < 0.02, "{scale}");
    }
    let mut choice = Choice::named("c2d");
    choice.options.insert("batch".to_owned(), 64.into());
    choice.options.insert("output_channels".to_owned(), 32.into());
    let workload = WORKLOADS.build(&choice, &Size { scale: 1.0, seed: 0 }).unwrap();
    assert!((workload.footprint() as f64 / f64::from(1 << 20) / 94.0 - 1.0).abs() < 0.1);
}

#[test]
fn passes_repeat_the_same_launches() {
    let size = Size { scale: 0.01, seed: 0 };
    let build = |iterations: u64| {
        let mut choice = Choice::named("c2d");
        choice.options.insert("iterations".to_owned(), iterations.into());
        WORKLOADS.build(&choice, &size)
    };
    let (one, two) = (build(1).unwrap(), build(2).unwrap());
    assert_eq!((one.launches(), two.launches()), (7, 14));
    assert_eq!(one.buffers(), two.buffers());
    for launch in 0..7 {
        assert_eq!(one.launch(launch).work_groups, two.launch(launch + 7).work_groups);
    }
    assert_eq!(build(0).err().unwrap().key, "iterations");
    assert_eq!(build(1 << 29).err().unwrap().key, "iterations");
}

#[test]
fn impossible_layers_are_refused_by_name() {
    assert_eq!(C2d::new(Layer { side: 2, ..RECORDED }).unwrap_err().key, "side");
    assert_eq!(C2d::new(Layer { stride: 0, ..RECORDED }).unwrap_err().key, "stride");
    assert_eq!(C2d::new(Layer { channels: 0, ..RECORDED }).unwrap_err().key, "channels");
    assert_eq!(C2d::new(Layer { batch: 1 << 40, ..RECORDED }).unwrap_err().key, "side");
}
