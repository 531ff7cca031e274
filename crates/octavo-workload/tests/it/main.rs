//! Tests of the workloads through the public interface. They are one program: programs of one file each would all
//! compile the helpers and be linked.

mod applications;
mod bfs;
mod bs;
mod c2d;
mod characterise;
mod conformance;
mod fir;
mod gemm;
mod lanes;
mod mix;
mod mm;
mod programs;
mod sc;
mod st;
mod touch;
