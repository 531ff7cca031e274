//! The convolution against a lane-by-lane model of its kernel that really convolves.

use std::cell::RefCell;

use crate::lanes::{Lanes, assert_same, base, launch_totals};
use octavo_program::Size;
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::simpleconvolution::SimpleConvolution;

/// A padded image in which every pixel is different, and a mask likewise.
fn pixel(index: u64) -> u64 {
    index * index + 3
}

fn weight(row: u64, column: u64) -> u64 {
    1 + 10 * row + column
}

struct Image {
    width: u64,
    height: u64,
    mask: u64,
    output: RefCell<Vec<u64>>,
}

impl Image {
    fn row(&self) -> u64 {
        self.width + self.mask - 1
    }

    /// One wavefront; stores its threads' results.
    fn naive(&self, sc: &SimpleConvolution, group: u32) -> Lanes {
        let first = u64::from(group) * 64;
        let threads = || (first..first + 64).filter(|thread| thread / self.width < self.height);
        let mut sums = vec![0; 64];
        let mut lanes = Lanes::default();
        for (row, column) in (0..self.mask).flat_map(|row| (0..self.mask).map(move |column| (row, column))) {
            let index = |thread: u64| (thread / self.width + row) * self.row() + thread % self.width + column;
            lanes.load(threads().map(|thread| base(sc, "input") + 4 * index(thread)));
            threads().for_each(|thread| sums[(thread - first) as usize] += weight(row, column) * pixel(index(thread)));
        }
        lanes.store(threads().map(|thread| base(sc, "output") + 4 * thread));
        threads().for_each(|thread| self.output.borrow_mut()[thread as usize] = sums[(thread - first) as usize]);
        lanes
    }

    fn convolved(&self, x: u64, y: u64) -> u64 {
        let mut sum = 0;
        for j in 0..self.mask {
            for i in 0..self.mask {
                sum += weight(j, i) * pixel((y + j) * (self.width + self.mask - 1) + x + i);
            }
        }
        sum
    }
}

#[test]
fn touches_what_every_lane_of_the_kernel_touches_and_convolves() {
    for (width, height, mask) in
        [(30, 30, 3), (64, 5, 3), (254, 9, 3), (1, 70, 3), (7, 40, 5), (3, 30, 40), (100, 11, 1), (16, 3, 20)]
    {
        let sc = SimpleConvolution::new(width, height, mask as u32);
        let output = RefCell::new(vec![0; (width * height) as usize]);
        let image = Image { width, height, mask, output };
        assert_same(&sc, |_, group, _| image.naive(&sc, group));
        for (index, found) in image.output.borrow().iter().enumerate() {
            assert_eq!(*found, image.convolved(index as u64 % width, index as u64 / width), "pixel {index}");
        }
    }
}

/// MGPUSim v4.2.0 with 254 x 254 pixels: 312,306 instructions and 44,874 + 4,033 lines. Of the instructions, 6 load
/// kernel arguments in each of the 1009 wavefronts with pixels, and 3 in the 15 without.
#[test]
fn counts_are_those_recorded_from_the_real_kernel() {
    let found = launch_totals(&SimpleConvolution::new(254, 254, 3), 0);
    assert_eq!(found.lines, 44_874 + 4_033);
    assert_eq!(found.instructions + 1009 * 6 + 15 * 3, 312_306);
    let found = launch_totals(&SimpleConvolution::new(512, 512, 3), 0);
    assert_eq!((found.vector_memory, found.lines), (40_960, 197_632));
}

#[test]
fn scale_and_mask_are_checked() {
    let build = |scale, mask: u32| {
        let mut choice = Choice::named("simpleconvolution");
        choice.options.insert("mask".to_owned(), mask.into());
        WORKLOADS.build(&choice, &Size { scale, seed: 0 })
    };
    for mask in [1, 3, 9] {
        assert!((build(1.0, mask).unwrap().footprint() as f64 / f64::from(131 << 20) - 1.0).abs() < 0.01);
        assert!((build(0.0625, mask).unwrap().footprint() as f64 * 16.0 / f64::from(131 << 20) - 1.0).abs() < 0.02);
    }
    assert_eq!(build(1.0, 0).err().unwrap().key, "mask");
    assert_eq!(build(1e-4, 100).err().unwrap().key, "mask");
    assert_eq!(build(1e-9, 3).err().unwrap().key, "scale");
}
