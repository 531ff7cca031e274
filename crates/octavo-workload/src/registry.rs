//! Every workload a user can name.

use octavo_program::{Size, Workload};
use octavo_registry::Registry;

use crate::kernels;

/// All workloads: those of GRIT's table in its order, further ones, applications of Mosaic's, then plain touches.
pub static WORKLOADS: Registry<Box<dyn Workload>, Size> = Registry::new(
    "workload",
    &[
        &kernels::bfs::ENTRY,
        &kernels::bs::ENTRY,
        &kernels::c2d::ENTRY,
        &kernels::fir::ENTRY,
        &kernels::gemm::ENTRY,
        &kernels::mm::ENTRY,
        &kernels::sc::ENTRY,
        &kernels::st::ENTRY,
        &kernels::relu::ENTRY,
        &kernels::transpose::ENTRY,
        &kernels::vectoradd::ENTRY,
        &kernels::trd::ENTRY,
        &kernels::red::ENTRY,
        &kernels::scan::ENTRY,
        &kernels::scp::ENTRY,
        &kernels::blk::ENTRY,
        &kernels::fwt::ENTRY,
        &kernels::gups::ENTRY,
        &kernels::histo::ENTRY,
        &kernels::spmv::ENTRY,
        &kernels::nw::ENTRY,
        &kernels::bfs2::ENTRY,
        &kernels::nn::ENTRY,
        &kernels::cons::ENTRY,
        &kernels::hs::ENTRY,
        &kernels::stencil3d::ENTRY,
        &kernels::fft::ENTRY,
        &kernels::lps::ENTRY,
        &kernels::srad::ENTRY,
        &kernels::bp::ENTRY,
        &kernels::lud::ENTRY,
        &kernels::libor::ENTRY,
        &kernels::sad::ENTRY,
        &kernels::cfd::ENTRY,
        &kernels::streamcluster::ENTRY,
        &kernels::touch::ENTRY,
    ],
);
