//! Tests of the workloads through the public interface. They are one program: programs of one file each would all
//! compile the helpers and be linked.

mod analytics;
mod applications;
mod bfs_shoc;
mod bitonicsort;
mod built;
mod c2d;
mod characterise;
mod conformance;
mod fir;
mod gemm;
mod lanes;
mod matrixmultiplication;
mod mix;
mod networks;
mod packed;
mod programs;
mod serving;
mod simpleconvolution;
mod stencil2d;
mod strips;
mod touch;
