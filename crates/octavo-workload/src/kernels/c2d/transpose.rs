//! Reorders the axes of a tensor with per-thread index arrays kept in *global* memory.

use octavo_program::{AddressSpace, Cursor, LINE_BYTES, Launch, Op, OpSink, Resources};

use super::step::{Step, Threads, arguments, registers};
use crate::emit::{load_lanes, load_scalar, load_span, store_span};
use crate::kernels::matrix::ELEMENT_BYTES;

/// `transpose_tensor`: one thread an element of the output.
///
/// A thread splits its id into one index for each axis, and writes them to its part of one index buffer. It copies them
/// in the input's order to the other buffer, and combines those into the input's offset. The two index buffers are as
/// large as the tensor times its axes and make up most of the layer's footprint and of this kernel's traffic.
#[derive(Debug)]
pub struct Transpose {
    from: u64,
    to: u64,
    /// For each output axis, the input axis it comes from.
    order: Vec<u64>,
    gather: Gather,
    elements: u64,
    input_index: u64,
    output_index: u64,
    /// Arrays of one int for each axis: order, input size, output size.
    shape: [u64; 3],
}

/// Which input element each output element is: runs of `length` outputs come from inputs `stride` apart.
///
/// Run `r` starts at input `r % period * inner + r / period * outer`.
#[derive(Clone, Copy, Debug)]
pub struct Gather {
    pub length: u64,
    pub stride: u64,
    pub period: u64,
    pub inner: u64,
    pub outer: u64,
}

impl Gather {
    #[inline]
    fn input(&self, output: u64) -> u64 {
        let (run, place) = (output / self.length, output % self.length);
        run % self.period * self.inner + run / self.period * self.outer + place * self.stride
    }
}

impl Transpose {
    /// Transposes the `elements` at `from` into those at `to`; allocates what it needs, named after `name`.
    pub fn allocate(
        space: &mut AddressSpace,
        name: &str,
        (from, to, elements): (u64, u64, u64),
        order: &[u64],
        gather: Gather,
    ) -> Self {
        let bytes = elements * order.len() as u64 * ELEMENT_BYTES;
        let mut buffer = |part: &str, bytes| space.allocate(&format!("{name}.{part}"), bytes).base;
        let ints = order.len() as u64 * ELEMENT_BYTES;
        let shape = ["order", "input_size", "output_size"].map(|part| buffer(part, ints));
        let input_index = buffer("input_index", bytes);
        let output_index = buffer("output_index", bytes);
        Self { from, to, order: order.to_vec(), gather, elements, input_index, output_index, shape }
    }

    fn axes(&self) -> u64 {
        self.order.len() as u64
    }

    /// Splits ids into indices along the output's axes.
    fn split(&self, threads: &Threads, out: &mut OpSink<'_>) {
        arguments(out, &[Op::mix(1, 2, 0, 0)]);
        for axis in 0..self.axes() {
            out.push(if axis == 0 { Op::mix(10, 5, 0, 1) } else { Op::mix(0, 1, 0, 1) });
            load_scalar(out, self.shape[OUTPUT_SIZE] + axis * ELEMENT_BYTES);
            out.push(Op::mix(0, 4, 0, 0));
            out.push(Op::WAIT);
        }
        for axis in 0..self.axes() {
            out.push(if axis == 0 { Op::mix(6, 3, 0, 1) } else { Op::mix(5, 0, 0, 1) });
            self.load_shape(OUTPUT_SIZE, axis, out);
            out.push(Op::mix(6, 4, 0, 0));
            out.push(Op::WAIT);
            out.push(Op::mix(51, 0, 0, 0));
            self.store_index(self.output_index, axis, threads, out);
        }
    }

    /// Copies the indices to the places of the input's axes.
    fn reorder(&self, threads: &Threads, out: &mut OpSink<'_>) {
        for (axis, &input_axis) in (0..).zip(&self.order) {
            out.push(if axis == 0 { Op::mix(5, 1, 0, 1) } else { Op::mix(2, 0, 0, 1) });
            self.load_shape(ORDER, axis, out);
            let (address, bytes) = self.index(self.output_index, axis, threads);
            load_span(out, address, bytes);
            out.push(Op::mix(2, 4, 0, 0));
            out.push(Op::wait_until(1));
            out.push(Op::mix(4, 0, 0, 0));
            out.push(Op::WAIT);
            self.store_index(self.input_index, input_axis, threads, out);
        }
    }

    /// Combines the input's indices into an offset, last axis first.
    fn combine(&self, threads: &Threads, out: &mut OpSink<'_>) {
        for axis in (0..self.axes()).rev() {
            out.push(Op::mix(5, if axis + 1 == self.axes() { 5 } else { 4 }, 0, 1));
            let (address, bytes) = self.index(self.input_index, axis, threads);
            load_span(out, address, bytes);
            out.push(Op::mix(2, 0, 0, 0));
            self.load_shape(INPUT_SIZE, axis, out);
            out.push(Op::mix(0, 2, 0, 0));
            out.push(Op::wait_until(1));
            out.push(Op::mix(1, 0, 0, 0));
            out.push(Op::WAIT);
        }
    }

    fn copy(&self, threads: &Threads, out: &mut OpSink<'_>) {
        out.push(Op::mix(7, 0, 0, 2));
        self.load_inputs(threads, out);
        out.push(Op::mix(5, 0, 0, 0));
        out.push(Op::WAIT);
        store_span(out, self.to + threads.first * ELEMENT_BYTES, threads.bytes());
        out.push(Op::END);
    }

    fn load_inputs(&self, threads: &Threads, out: &mut OpSink<'_>) {
        let address = |output| self.from + self.gather.input(output) * ELEMENT_BYTES;
        let Threads { first, count } = *threads;
        let stride = self.gather.stride * ELEMENT_BYTES;
        if stride <= LINE_BYTES && first % self.gather.length + count <= self.gather.length {
            load_span(out, address(first), (count - 1) * stride + ELEMENT_BYTES);
        } else {
            load_lanes(out, (first..first + count).map(address));
        }
    }

    /// All threads load the same int.
    fn load_shape(&self, array: usize, axis: u64, out: &mut OpSink<'_>) {
        load_span(out, self.shape[array] + axis * ELEMENT_BYTES, ELEMENT_BYTES);
    }

    /// Address and length of what `threads` touch in an index buffer for `axis`: one int in every `axes`, so no line
    /// in between is left out.
    fn index(&self, buffer: u64, axis: u64, threads: &Threads) -> (u64, u64) {
        let stride = self.axes() * ELEMENT_BYTES;
        let first = buffer + threads.first * stride + axis * ELEMENT_BYTES;
        (first, (threads.count - 1) * stride + ELEMENT_BYTES)
    }

    /// One store to an index buffer, which leaves the other axes' ints as they are.
    fn store_index(&self, buffer: u64, axis: u64, threads: &Threads, out: &mut OpSink<'_>) {
        let (address, bytes) = self.index(buffer, axis, threads);
        if self.axes() == 1 {
            return store_span(out, address, bytes);
        }
        let (first, last) = (address / LINE_BYTES, (address + bytes - 1) / LINE_BYTES);
        out.push(Op::store(first, (last - first + 1) as u32).partial());
    }
}

/// Which array of `shape`.
const ORDER: usize = 0;
const INPUT_SIZE: usize = 1;
const OUTPUT_SIZE: usize = 2;

impl Step for Transpose {
    fn launch(&self) -> Launch {
        Threads::launch("transpose_tensor", self.elements)
    }

    fn resources(&self) -> Resources {
        registers(16, 30)
    }

    /// The cursor counts the three parts of the kernel, at most 69 operations each with four axes.
    fn fill(&self, group: u64, _wavefront: u64, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let threads = Threads::of_group(group, self.elements);
        while out.remaining() >= OpSink::MIN_CAPACITY {
            match cursor.0[0] {
                0 => self.split(&threads, out),
                1 => {
                    self.reorder(&threads, out);
                    self.combine(&threads, out);
                }
                _ => return self.copy(&threads, out),
            }
            cursor.0[0] += 1;
        }
    }
}
