//! Kernels that give each thread one element: the device-to-device copy and the repetition of the biases.

use octavo_program::{Cursor, LINE_BYTES, Launch, Op, OpSink, Resources};

use super::step::{Step, Threads, arguments, registers};
use crate::emit::{load_lanes, load_span, store_span};
use crate::kernels::matrix::ELEMENT_BYTES;

/// Copies `elements` from one address to another.
#[derive(Debug)]
pub struct Copy {
    pub from: u64,
    pub to: u64,
    pub elements: u64,
}

impl Step for Copy {
    fn launch(&self) -> Launch {
        Threads::launch("copyKernel", self.elements)
    }

    fn resources(&self) -> Resources {
        registers(4, 11)
    }

    fn fill(&self, group: u64, _wavefront: u64, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let threads = Threads::of_group(group, self.elements);
        arguments(out, &[Op::mix(1, 2, 0, 0), Op::mix(5, 1, 0, 1)]);
        out.push(Op::mix(3, 0, 0, 0));
        load_span(out, self.from + threads.first * ELEMENT_BYTES, threads.bytes());
        out.push(Op::compute(3));
        out.push(Op::WAIT);
        store_span(out, self.to + threads.first * ELEMENT_BYTES, threads.bytes());
        out.push(Op::END);
    }
}

/// Writes `period` elements over and over until `elements` are written.
#[derive(Debug)]
pub struct Repeat {
    pub from: u64,
    pub period: u64,
    pub to: u64,
    pub elements: u64,
}

impl Step for Repeat {
    fn launch(&self) -> Launch {
        Threads::launch("repeat", self.elements)
    }

    fn resources(&self) -> Resources {
        registers(6, 11)
    }

    fn fill(&self, group: u64, _wavefront: u64, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let threads = Threads::of_group(group, self.elements);
        out.push(Op::WAIT);
        arguments(out, &[Op::mix(5, 4, 0, 1)]);
        out.push(Op::mix(20, 0, 0, 0));
        self.load(&threads, out);
        out.push(Op::compute(4));
        out.push(Op::WAIT);
        store_span(out, self.to + threads.first * ELEMENT_BYTES, threads.bytes());
        out.push(Op::END);
    }
}

impl Repeat {
    fn load(&self, threads: &Threads, out: &mut OpSink<'_>) {
        let line = self.from / LINE_BYTES;
        if (self.from + self.period * ELEMENT_BYTES - 1) / LINE_BYTES == line {
            return out.push(Op::load(line, 1));
        }
        let elements = threads.first..threads.first + threads.count;
        load_lanes(out, elements.map(|thread| self.from + thread % self.period * ELEMENT_BYTES));
    }
}
