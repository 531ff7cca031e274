//! Kernel models: one file for each GPU program, the real algorithm on real data at line level.
//!
//! Each file defines its options (what a user may set), a constructor with explicit sizes (what tests and other
//! kernels use), the [`Workload`](octavo_program::Workload) and, last, one `pub static ENTRY`. They share
//! [`emit`](crate::emit) for what lanes touch, [`scale`](crate::scale) for dimensions and
//! [`random`](crate::random) for data.

pub mod aes;
pub mod alignment;
pub mod analytics;
pub mod atax;
pub mod background;
pub mod bfs_rodinia;
pub mod bfs_shoc;
pub mod bitonicsort;
pub mod blk;
pub mod bp;
pub mod bst;
pub mod c2d;
pub mod cfd;
pub mod cons;
pub mod dijkstra;
pub mod evolution;
pub mod fdtd2d;
pub mod fft;
pub mod fir;
pub mod fwt;
pub mod gemm;
mod group_sum;
pub mod gups;
pub mod histo;
pub mod hs;
pub mod kmeans;
pub mod libor;
pub mod lps;
pub mod lud;
pub mod matrix;
pub mod matrixmultiplication;
pub mod nearestneighbor;
pub mod nw;
pub mod pathfinder;
pub mod quantum_volume;
pub mod random_access;
pub mod red;
pub mod relu;
pub mod sad;
pub mod scan;
pub mod scp;
pub mod simpleconvolution;
pub mod spmv;
pub mod srad;
pub mod stencil2d;
pub mod stencil3d;
pub mod streamcluster;
pub mod touch;
pub mod transpose;
pub mod trd;
pub mod vectoradd;

/// The array that the last launch writes, of two arrays that swap from launch to launch. The first launch reads the
/// first array.
fn last_written([read, written]: [&str; 2], launches: u32) -> &str {
    if launches.is_multiple_of(2) { read } else { written }
}
