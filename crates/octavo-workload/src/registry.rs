//! Every workload a user can name.

use octavo_program::{Size, Workload};
use octavo_registry::{Former, Registry};

use crate::{kernels, networks, serving};

/// All workloads: GRIT's table in its order, further kernels, Mosaic's applications, graph analytics, further
/// applications of the Grace Hopper study and of MemMap, plain touches, networks, models that serve requests.
pub static WORKLOADS: Registry<Box<dyn Workload>, Size> = Registry::new(
    "workload",
    &[
        &kernels::bfs_shoc::ENTRY,
        &kernels::bitonicsort::ENTRY,
        &kernels::c2d::ENTRY,
        &kernels::fir::ENTRY,
        &kernels::gemm::ENTRY,
        &kernels::matrixmultiplication::ENTRY,
        &kernels::simpleconvolution::ENTRY,
        &kernels::stencil2d::ENTRY,
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
        &kernels::bfs_rodinia::ENTRY,
        &kernels::nearestneighbor::ENTRY,
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
        &kernels::analytics::pagerank::ENTRY,
        &kernels::analytics::bfs::ENTRY,
        &kernels::analytics::wcc::ENTRY,
        &kernels::analytics::sssp::ENTRY,
        &kernels::analytics::louvain::ENTRY,
        &kernels::pathfinder::ENTRY,
        &kernels::quantum_volume::ENTRY,
        &kernels::aes::ENTRY,
        &kernels::kmeans::ENTRY,
        &kernels::analytics::mst::ENTRY,
        &kernels::background::ENTRY,
        &kernels::alignment::ENTRY,
        &kernels::bst::ENTRY,
        &kernels::evolution::ENTRY,
        &kernels::touch::ENTRY,
        &kernels::atax::ENTRY,
        &kernels::fdtd2d::ENTRY,
        &kernels::random_access::ENTRY,
        &kernels::dijkstra::ENTRY,
        &networks::entries::VGG16,
        &networks::entries::RESNET18,
        &networks::entries::RESNET50,
        &networks::entries::RESNET101,
        &networks::entries::MOBILENET_V3_LARGE,
        &networks::entries::GNMT16,
        &serving::entries::LLM,
        &serving::entries::MOE,
    ],
)
.with_former(FORMER);

/// Publications' abbreviations that several programs share: they were names, and are labels of tables now.
const FORMER: &[Former] = &[
    Former { name: "bs", today: "bitonicsort", why: "BS is also BlackScholes, `blk`" },
    Former { name: "bfs", today: "bfs-shoc", why: "BFS is also Rodinia's, `bfs-rodinia`" },
    Former { name: "bfs2", today: "bfs-rodinia", why: "BFS is also SHOC's, `bfs-shoc`" },
    Former { name: "mm", today: "matrixmultiplication", why: "MM is several programs' matrix product, such as `gemm`" },
    Former { name: "sc", today: "simpleconvolution", why: "SC is also Rodinia's `streamcluster`" },
    Former { name: "st", today: "stencil2d", why: "ST is also Parboil's stencil, `3ds`" },
    Former { name: "nn", today: "nearestneighbor", why: "NN is also a neural network, which is no workload here" },
];
