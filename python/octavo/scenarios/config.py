"""What a scenario may say, as types for editors and type checkers: made from the JSON schema by `make schema`.

Every key may be left out. Values are those of scenario files: text with units, numbers, tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.policies.names import Strategy


class WorkloadGraph(TypedDict, total=False):
    """The graph. Default `soc-twitter-2010` (HUVM, USENIX ATC 2022, case 1)."""

    vertices: int
    """Vertices, 2 to 2^31."""

    edges: int
    """Edges, at least 1."""

    directed: bool
    """Whether edges have a direction. Default `false`."""

    quadrants: Sequence[float]
    """Shares of the quadrants upper left, upper right and lower left. Default 0.57, 0.19, 0.19 (Graph500)."""

    shuffled: bool
    """Whether vertices are renamed at random. Default `true` (Graph500)."""


class Workload(TypedDict, total=False):
    """The program that runs, if there is only one."""

    name: (
        Literal["bfs-shoc", "bitonicsort", "c2d", "fir", "gemm", "matrixmultiplication", "simpleconvolution",
        "stencil2d", "relu", "transpose", "vectoradd", "trd", "red", "scan", "scp", "blk", "fwt", "gups", "histo",
        "spmv", "nw", "bfs-rodinia", "nearestneighbor", "cons", "hs", "3ds", "fft", "lps", "srad", "bp", "lud", "lib",
        "sad", "cfd", "streamcluster", "pagerank", "bfs-balanced", "wcc", "sssp", "louvain", "pathfinder",
        "quantum-volume", "aes", "kmeans", "mst", "background", "alignment", "bst", "evolution", "touch", "atax",
        "fdtd2d", "random-access", "dijkstra", "vgg16", "resnet18", "resnet50", "resnet101", "mobilenet_v3_large",
        "gnmt16", "llm-decode", "moe-decode", "step", "trace", "mix"]
    )

    degree: int
    """`bfs-shoc`: Edges of a node on average, both directions counted (`k-way`: children of a node). Default 8,
    this project's choice: the published input is not known; MGPUSim's default is 3, SHOC's 2. `bfs-rodinia`: Edges
    of a node on average, both directions counted, 1 to 64. Default 6 (Rodinia's generator)."""

    shape: Literal["random-tree", "uniform", "k-way"]
    """How the graph is made. Default `random-tree` (MGPUSim)."""

    nodes: int
    """`bfs-shoc`: Nodes, at least 2. Default: what makes the footprint 32 MB times the scale (GRIT, table of
    applications). `bfs-rodinia`: Nodes, 2 to 2^27. Default: a million times the scale (Rodinia's largest graph), or
    16 million (Grace Hopper study)."""

    scale: float
    """Footprint relative to the published one: above 0, at most 1024."""

    seed: int
    """Seed of the workload's data; the scenario's seed if left out."""

    keys: int
    """`bitonicsort`: Keys, a power of two from 2 to 2^38. Default: the power of two nearest to a footprint of 30 MB
    times the scale (GRIT, table of applications). `bst`: Keys. Default: what makes nodes, keys and depths 40 MB
    times the scale (this project's choice; Hetero-Mark 200)."""

    batch: int
    """`c2d`: Images in a batch. Default: 1 (MGPUSim, samples/conv2d). `alignment`: Places of a batch, at least 1.
    Default 1048576 (this project's choice; Hetero-Mark 1024). `vgg16`, `resnet18`, `resnet50`, `resnet101`,
    `mobilenet_v3_large`, `gnmt16`: Samples of a batch, at most 2^20. Default: the published one. `llm-decode`,
    `moe-decode`: Requests served at the same time at most, 1 to 4096. Default 256 (vLLM's `max_num_seqs`). `step`:
    Samples of a batch, at most 2^20, where they were recorded as what can be chosen. Default: as the file says."""

    channels: int
    """Channels of an input image. Default: 3, a colour image."""

    output_channels: int
    """Channels of an output image. Default: 3 (MGPUSim, samples/conv2d)."""

    kernel: int
    """Side of the convolution kernel in pixels. Default: 3 (MGPUSim, samples/conv2d)."""

    padding: int
    """Rows and columns of zeros around an image, in pixels. Default: 0 (MGPUSim, samples/conv2d)."""

    stride: int
    """`c2d`: Pixels from one application of the kernel to the next. Default: 1 (MGPUSim, samples/conv2d). `touch`:
    Bytes from one place to the next, a multiple of `width`. Default: `width`, that is every byte."""

    side: int
    """`c2d`: Side of a square input image in pixels. Default: the largest at which the layer's footprint is at most
    94 MB times the scale (GRIT, table of applications); 553 at scale 1 with the other defaults. `hs`: Rows and
    columns, in elements, a multiple of 32. Default at scale 1: 1024 (the largest input of Rodinia); 16384 (Grace
    Hopper study). `cfd`: Small cubes along a side of the mesh, six elements each, 1 to 400. Default: what makes
    235824 elements times the scale (near Rodinia's largest mesh)."""

    taps: int
    """Filter coefficients, and so loads for each sample. Default 16 (Hetero-Mark and MGPUSim)."""

    samples: int
    """Samples, one a thread. Default: what makes the footprint 155 MB times the scale (GRIT, table of
    applications)."""

    rows: int
    """`gemm`: Rows of A and C, in elements, a multiple of 4. Default: 1184 at scale 1, the side of three square
    matrices of 16 MB in all (GRIT, table of applications). `matrixmultiplication`: Rows of A and C, in elements, a
    multiple of 32. Default: 1696 at scale 1, the side of three square matrices of 33 MB in all (GRIT, table of
    applications). `stencil2d`: Rows without the halo, in elements, a multiple of 16. Default: what makes the
    footprint 33 MB times the scale with the default columns (GRIT, table of applications); 2096 at scale 1. `spmv`:
    Rows and columns of the matrix, 1 to 65536. Default: 16384 times the root of the scale (SHOC, problem size 4).
    `srad`: Rows of the image, a multiple of 16. Default at scale 1: 2048 (Rodinia's script), 20480 (Grace Hopper
    study). `lud`: Rows and columns of the matrix, a multiple of 16. Default: 2048 times the root of the scale (the
    largest matrix that Rodinia ships). `pathfinder`: Rows, 2 to 2^20. Default: 100 times the root of the scale
    (Rodinia's script), or 20,000 (Grace Hopper study). `atax`: Rows of the matrix. Default at scale 1: 1200
    (UVMSmart's benchmarks). `fdtd2d`: Rows of the grid. Default at scale 1: 1200 (UVMSmart's benchmarks)."""

    inner: int
    """`gemm`: Columns of A and rows of B, in elements, a multiple of 4. Default: as `rows`. `matrixmultiplication`:
    Columns of A and rows of B, in elements, a multiple of 32. Default: as `rows`."""

    columns: int
    """`gemm`: Columns of B and C, in elements, a multiple of 4. Default: as `rows`. `matrixmultiplication`: Columns
    of B and C, in elements, a multiple of 32. Default: as `rows`. `stencil2d`: Columns without the halo, in
    elements, a multiple of 64. Default: 2048 at scale 1, near a square. `srad`: Columns of the image, a multiple of
    16. Default: as for `rows`. `pathfinder`: Columns, 1 to 2^20. Default: 100,000 times the root of the scale.
    `atax`: Columns of the matrix. Default: as for `rows`. `fdtd2d`: Columns of the grid. Default: as for `rows`."""

    mask: int
    """Side of the square mask in pixels. Default 3 (AMD APP SDK and MGPUSim)."""

    width: int
    """`simpleconvolution`: Width of the image in pixels. Default: the side of a square image of 131 MB in all times
    the scale (GRIT, table of applications); 4142 at scale 1. `transpose`: Rows and columns, in elements, a multiple
    of 64. Default: 2048 at scale 1, the side of two square matrices of 32 MB in all (this project's choice).
    `cons`: Width of the image in elements, a multiple of 128. Default: 3072 at scale 1 (CUDA SDK), near a square.
    `3ds`: Elements along x, a multiple of 16. Default: 512 at scale 1 (Parboil). `lps`: Nodes along x. Default 256
    (this project's choice; the suite has 100). `sad`: Width of a frame in pixels, a multiple of 16. Default: 352
    times the root of the scale (this project's choice). `touch`: Bytes that each thread touches at a place, a power
    of two from 1 to 64. Default 4."""

    height: int
    """`simpleconvolution`: Height of the image in pixels. Default: as for `width`. `cons`: Height of the image in
    elements, a multiple of 64. Default: as for `width`. `3ds`: Elements along y. Default: as for `width`. `lps`:
    Nodes along y. Default: 256 at scale 1 (as `width`). `sad`: Height of a frame in pixels, a multiple of 16.
    Default: 288 times the root of the scale (this project's choice)."""

    iterations: int
    """`stencil2d`: Iterations, one launch each, at least 1. Default: 20, enough for pages to settle and for the
    phases to repeat, at a fiftieth of the time SHOC's own default of 1000 takes. `red`: How often the vector is
    summed, at least once. Default 8 (SHOC: 256, all alike). `scan`: How often the vector is scanned, at least once.
    Default 4 (SHOC: 256, all alike). `blk`: How often all are priced, at least once. Default 4 (CUDA SDK: 512, all
    alike). `spmv`: How often the product is made, 1 to 1000. Default 1 (this project's choice, for the time it
    takes). `cons`: How often the image is convolved, at least once. Default 2 (CUDA SDK: 17, all alike). `3ds`:
    Iterations, one launch each, at least 1. Default 4 (Parboil: 100, all alike). `lps`: Iterations, one launch
    each, at least 1. Default 2 (laplace3d: 10; the suite: 1). `srad`: Iterations, two launches each, at least 1.
    Default 2 (Rodinia's script); 12 (Grace Hopper study). `cfd`: Iterations, 1 to 10000. Default 2 (this project's
    choice; Rodinia: 2000). `vgg16`, `resnet18`, `resnet50`, `resnet101`, `mobilenet_v3_large`, `gnmt16`, `step`:
    Steps, one after another, 1 to 1000. Default 1."""

    elements: int
    """`relu`: Elements of input and output. Default: what makes the footprint 32 MB times the scale (this project's
    choice). `vectoradd`: Elements of each vector. Default: what makes the footprint 32 MB times the scale (this
    project's choice). `trd`: Elements of each of the six buffers, a multiple of 128. Default: 16 MB of them times
    the scale (SHOC; Mosaic, MICRO 2017). `red`: Elements of the vector, a multiple of 512. Default: 64 MB of them
    times the scale (SHOC, size 4). `scan`: Elements of the vector, a multiple of 4. Default: 64 MB of them times
    the scale (SHOC, size 4). `scp`: Elements of a vector, a multiple of 1024. Default 4096 (CUDA SDK). `fwt`:
    Elements of each of the two arrays, a power of two from 4096. Default: the one nearest to 2^23 times the scale
    (CUDA SDK; Mosaic, MICRO 2017)."""

    pairs: int
    """Pairs of vectors. Default: 256 times the scale (CUDA SDK; Mosaic, MICRO 2017)."""

    options: int
    """Options to price, an even number. Default: five arrays of 8 MB times the scale (Mosaic, MICRO 2017)."""

    words: int
    """`gups`: Words of eight bytes in the table, a power of two from 64 to 2^31. Default: what makes the table 64
    MB times the scale, to the nearest power of two (this project's choice). `histo`: Words of four bytes. Default:
    1920 x 1080 times the scale (Mosaic, MICRO 2017). `random-access`: Words of four bytes in each of the three
    arrays, at most 2^31. Default at scale 1: 2^20 (UVMSmart's benchmarks)."""

    updates: int
    """Updates for each word of the table, a power of two from 1 to 64. Default 4 (HPC Challenge)."""

    runs: int
    """How often the host repeats both kernels, 1 to 1000. Default 16 (CUDA SDK)."""

    density: float
    """Share of the matrix that is not zero, above 0 and at most 0.1. Default 0.01 (SHOC)."""

    input: Literal["own", "grace-hopper"]
    """Whose input: `own` or `grace-hopper`. Default `own`."""

    length: int
    """Elements of each sequence, a multiple of `block`. Default: 2048 times the root of the scale (Mosaic, MICRO
    2017), or 32768 (Grace Hopper study)."""

    block: int
    """`nw`: Side of a block of the table and threads of a work-group: 16, 32 or 64. Default 16 (Rodinia; MGPUSim:
    64). `llm-decode`, `moe-decode`: Tokens of a block of the cache, 1 to 1024. Default 16 (vLLM)."""

    records: int
    """Records. Default: what makes the footprint 48 MB times the scale (this project's choice)."""

    pyramid: int
    """`hs`: Steps of one launch, 1 to 7. Default 2 (Rodinia's script). `pathfinder`: Rows of one launch, 1 to 127.
    Default 20 (Rodinia's script)."""

    steps: int
    """`hs`: Steps in all, a multiple of `pyramid`. Default 60 (Rodinia's code); 2 with the input of the Grace
    Hopper study, which does not say (Rodinia's script). `fdtd2d`: Steps, three launches each, at least 1. Default 5
    (UVMSmart's benchmarks). `llm-decode`, `moe-decode`: Steps that are simulated, 1 to 10000. Default 16
    (chosen)."""

    depth: int
    """`3ds`: Planes, at least 3. Default 64 (Parboil). `lps`: Nodes along z. Default: as for `height`. `quantum-
    volume`: Layers of the circuit, 1 to 65,536. Default: as many as qubits (Qiskit)."""

    transforms: int
    """Transforms, an even number. Default: 96 MB of points times the scale (SHOC, size 3)."""

    passes: int
    """How often all are transformed, at least once. Default 2 (SHOC: 10, all alike)."""

    initialised_by: Literal["host", "gpu"]
    """Who writes the image first: `host`, or `gpu` in a launch before the others. Default `host` (Rodinia); `gpu`
    (Grace Hopper study)."""

    read_rows: int
    """Rows of the image, from the first, that the host reads before each further iteration. Default: all (Rodinia
    copies the image); with the input of the Grace Hopper study 128 of 20480 (the region of Rodinia's script), or as
    much of a smaller image."""

    inputs: int
    """Units of the input layer, a multiple of 16. Default: 262144 times the scale (this project's choice; Rodinia's
    own input has 65536)."""

    paths: int
    """Paths, one a thread. Default: 4096 times the scale (the program's own number)."""

    window: int
    """Elements within which the mesh is shuffled, at least 1. Default 1024 (this project's choice)."""

    points: int
    """`streamcluster`: Points. Default: 65536 times the scale (Rodinia). `kmeans`: Points. Default: what makes
    points of 34 features 48 MB times the scale, turned ones and memberships included (this project's choice)."""

    dimensions: int
    """Coordinates of a point, 1 to 1024. Default 256 (Rodinia)."""

    launches: int
    """`streamcluster`: Candidates that are tried, one launch each, 1 to 1000. Default 10 (this project's choice:
    the program tries over a thousand). `touch`: Launches, 1 to 1024. Default 1."""

    graph: str | WorkloadGraph
    """`pagerank`: The graph. Default `soc-twitter-2010` (HUVM, USENIX ATC 2022, case 1). `bfs-balanced`: The graph.
    Default `soc-twitter-2010` (HUVM, USENIX ATC 2022, case 3). `wcc`: The graph; edges count both ways. Default
    `soc-twitter-2010` (HUVM, USENIX ATC 2022, case 3). `sssp`: The graph. Default `soc-twitter-2010` (HUVM, USENIX
    ATC 2022). `louvain`: The graph; edges count both ways. Default `soc-twitter-2010`, as for the others. `mst`:
    The graph; directions do not count. Default `soc-twitter-2010` (HUVM, USENIX ATC 2022)."""

    damping: float
    """Part of a vertex's rank that follows edges, 0 to 1. Default 0.85 (cuGraph's)."""

    tolerance: float
    """Sum of all changes of ranks below which it ends. Default 0.0001 (HUVM's artefact)."""

    rounds: int
    """`pagerank`: Most rounds, 1 to 1000. Default 100 (cuGraph's). `kmeans`: Rounds at most, 1 to 500; it ends when
    no point changes. Default 10 (this project's choice; Hetero-Mark 500)."""

    source: int
    """`bfs-balanced`: Where the search begins. Default: the vertex of most edges, the first of them. `sssp`: Where
    paths begin. Default: the vertex of most edges, the first of them."""

    algorithm: Literal["label-propagation", "afforest"]
    """How. Default `label-propagation`."""

    largest_weight: int
    """Largest weight: each edge has one from 1 to it, drawn by its two vertices, also of graphs in files. Default
    64 (this project's choice), 1 to 65536."""

    threshold: float
    """Gain of modularity, of a round and of a level, below which it counts as none, 0 to 1. Default 0.0001 (this
    project's choice)."""

    levels: int
    """Most levels, 1 to 100. Default 100 (cuGraph's)."""

    qubits: int
    """Qubits, 2 to 38. Default: 30 at scale 1 (the smallest published circuit), one more for each doubling."""

    chunk_qubits: int
    """Qubits of a chunk, 2 to `qubits`: a launch takes one chunk, or the two or four that a gate's qubits join.
    Default: `qubits`, one chunk."""

    precision: Literal["single", "double"]
    """Bytes of an amplitude: `single` (8) or `double` (16). Default `single`, as the published sizes are."""

    blocks: int
    """Blocks of 16 bytes. Default: what makes the text 32 MB times the scale (this project's choice)."""

    features: int
    """Features of a point, 1 to 1024. Default 34 (Rodinia's `kdd_cup`)."""

    clusters: int
    """Clusters, 1 to 256. Default 5 (Hetero-Mark)."""

    pixels: int
    """Pixels of a frame. Default: 1920 x 1080 times the scale (this project's choice)."""

    frames: int
    """Frames after the first, 1 to 1000. Default 10 (this project's choice; Hetero-Mark takes all of a video)."""

    target: int
    """Letters of the target, at least 12. Default: 32 Mi times the scale (this project's choice)."""

    query: int
    """Letters of the query, 11 to 1024. Default 64 (this project's choice)."""

    batches: int
    """Batches, 1 to 1000, at most one for each key. Default 8 (this project's choice; Hetero-Mark has one)."""

    population: int
    """Creatures on both islands, a multiple of 2, at least 2. Default: what makes them 32 MB times the scale (this
    project's choice; Hetero-Mark 1024, which are 4 MB)."""

    generations: int
    """Generations, 1 to 1000. Default 5 (this project's choice; Hetero-Mark 100)."""

    bytes: int
    """Bytes that places lie in, a multiple of `stride`. Default: 64 MB times the scale (this project's choice)."""

    run: int
    """Places in a row, in bytes, between which memory is left out; a multiple of `stride`. Default: all of them."""

    spacing: int
    """Bytes from the beginning of one such run to the next, at least `run`. Default: `run`."""

    order: Literal["ascending", "random"]
    """`ascending` or `random`. Default `ascending`."""

    operation: Literal["read", "write", "copy"]
    """`read`, `write` or `copy`. Default `read`."""

    touches: int
    """How many touches there are, beginning again at the first place after the last; with 0 the kernel is empty.
    Default: each place once."""

    groups: int
    """Work-groups. Default 256."""

    wavefronts: int
    """Wavefronts of each work-group, 1 to 16. Default 4."""

    lanes: int
    """Threads of each wavefront that touch anything, 1 to 64. Default 64."""

    in_flight: int
    """Touches of a thread before it waits for them, 1 to 32. Default 4."""

    intensity: float
    """Operations for each byte touched, two in a fused multiply-add, 0 to 1024. Default 0."""

    fresh: bool
    """Whether each launch has its own memory instead of the first launch's. Default `false`."""

    turn: int
    """Work-groups by which touches go round the grid from one launch to the next. With one group a GPU and `turn`
    1, GPU n touches what GPU n - 1 touched before. Default 0."""

    vertices: int
    """Vertices, 66 to 2^27. Default at scale 1: 2^20 (UVMSmart's benchmarks)."""

    edges: int
    """Edges of each vertex, 1 to 64. Default 2 (UVMSmart's benchmarks)."""

    replicas: int
    """Copies of the network with memory and a batch of their own: 1, or one for each GPU that it runs on, at most
    64. Default 1."""

    all_reduce: bool
    """Whether replicas sum their gradients before the optimizer uses them, by a ring. Default false."""

    stages: int
    """Parts that the network is split into by layer: 1, or one for each GPU that it runs on, at most 64. Default
    1."""

    cut: Literal["work", "layers"]
    """Which part each of them gets: `work`, about as much to do, or `layers`, about as many tensors of parameters
    (a layer's weights are one, its bias another). Default `work`."""

    model: Literal["llama-3-8b", "llama-3-70b", "qwen3-30b-a3b", "mixtral-8x7b"]
    """`llm-decode`: The model. Default `llama-3-8b`. `moe-decode`: The model. Default `qwen3-30b-a3b`."""

    trace: Literal["azure-chat", "azure-code"]
    """The trace whose statistics requests have. Default `azure-chat`."""

    load: float
    """`llm-decode`: Requests that would be under way on average if each got a token every step, 0.001 to 4096.
    Default 32 (chosen). `moe-decode`: Requests that would be under way on average if each got a token every step,
    0.001 to 4096. Default 4 (chosen: few enough that a step passes a part of the experts)."""

    after: int
    """Steps that are over when the simulation begins, up to 100000. Default 1000 (chosen: the first requests have
    left by then)."""

    cache: int
    """`llm-decode`: Tokens that the cache holds, in whole blocks. Default 131072 (chosen: 16 GiB of `llama-3-8b`).
    `moe-decode`: Tokens that the cache holds, in whole blocks. Default 32768 (chosen: 3 GiB of `qwen3-30b-a3b`)."""

    skew: float
    """How much more popular some experts are: the expert of rank r is drawn with a weight of 1/r to this power, 0
    to 2. Default 0.85 (fitted to a published skew of 128 experts)."""

    path: str
    """`step`: File of the recorded step, relative to the working directory. No default: it must be given. `trace`:
    Folder of the trace, relative to the working directory. No default: it must be given."""

    digest: str
    """`step`: Digest of the file, so that results of another file are not reused. Default: computed. `trace`:
    Digest of the trace's contents, so that results of another trace are not reused. Default: computed."""

    layout: Literal["recorded", "packed"]
    """Where allocations lie: `recorded`, all shifted together, unless they lie too far apart; or `packed` one after
    another, each as far into a block of 2 MiB as recorded. Default `recorded` (page sharing as in the program)."""

    instructions: Literal["grouped", "recorded"]
    """Whether vector instructions come first within a stretch of instructions without memory accesses, barriers and
    waits (`grouped`), or where they were recorded (`recorded`), if the trace tells. Default `grouped`: fewer
    operations. `recorded` is for nodes whose SIMDs share a decoder."""

    applications: Sequence[str | Mapping[str, object]]


class JobItemWorkload(TypedDict, total=False):
    """The program that runs, if there is only one."""

    name: (
        Literal["bfs-shoc", "bitonicsort", "c2d", "fir", "gemm", "matrixmultiplication", "simpleconvolution",
        "stencil2d", "relu", "transpose", "vectoradd", "trd", "red", "scan", "scp", "blk", "fwt", "gups", "histo",
        "spmv", "nw", "bfs-rodinia", "nearestneighbor", "cons", "hs", "3ds", "fft", "lps", "srad", "bp", "lud", "lib",
        "sad", "cfd", "streamcluster", "pagerank", "bfs-balanced", "wcc", "sssp", "louvain", "pathfinder",
        "quantum-volume", "aes", "kmeans", "mst", "background", "alignment", "bst", "evolution", "touch", "atax",
        "fdtd2d", "random-access", "dijkstra", "vgg16", "resnet18", "resnet50", "resnet101", "mobilenet_v3_large",
        "gnmt16", "llm-decode", "moe-decode", "step", "trace"]
    )

    degree: int
    """`bfs-shoc`: Edges of a node on average, both directions counted (`k-way`: children of a node). Default 8,
    this project's choice: the published input is not known; MGPUSim's default is 3, SHOC's 2. `bfs-rodinia`: Edges
    of a node on average, both directions counted, 1 to 64. Default 6 (Rodinia's generator)."""

    shape: Literal["random-tree", "uniform", "k-way"]
    """How the graph is made. Default `random-tree` (MGPUSim)."""

    nodes: int
    """`bfs-shoc`: Nodes, at least 2. Default: what makes the footprint 32 MB times the scale (GRIT, table of
    applications). `bfs-rodinia`: Nodes, 2 to 2^27. Default: a million times the scale (Rodinia's largest graph), or
    16 million (Grace Hopper study)."""

    scale: float
    """Footprint relative to the published one: above 0, at most 1024."""

    seed: int
    """Seed of the workload's data; the scenario's seed if left out."""

    keys: int
    """`bitonicsort`: Keys, a power of two from 2 to 2^38. Default: the power of two nearest to a footprint of 30 MB
    times the scale (GRIT, table of applications). `bst`: Keys. Default: what makes nodes, keys and depths 40 MB
    times the scale (this project's choice; Hetero-Mark 200)."""

    batch: int
    """`c2d`: Images in a batch. Default: 1 (MGPUSim, samples/conv2d). `alignment`: Places of a batch, at least 1.
    Default 1048576 (this project's choice; Hetero-Mark 1024). `vgg16`, `resnet18`, `resnet50`, `resnet101`,
    `mobilenet_v3_large`, `gnmt16`: Samples of a batch, at most 2^20. Default: the published one. `llm-decode`,
    `moe-decode`: Requests served at the same time at most, 1 to 4096. Default 256 (vLLM's `max_num_seqs`). `step`:
    Samples of a batch, at most 2^20, where they were recorded as what can be chosen. Default: as the file says."""

    channels: int
    """Channels of an input image. Default: 3, a colour image."""

    output_channels: int
    """Channels of an output image. Default: 3 (MGPUSim, samples/conv2d)."""

    kernel: int
    """Side of the convolution kernel in pixels. Default: 3 (MGPUSim, samples/conv2d)."""

    padding: int
    """Rows and columns of zeros around an image, in pixels. Default: 0 (MGPUSim, samples/conv2d)."""

    stride: int
    """`c2d`: Pixels from one application of the kernel to the next. Default: 1 (MGPUSim, samples/conv2d). `touch`:
    Bytes from one place to the next, a multiple of `width`. Default: `width`, that is every byte."""

    side: int
    """`c2d`: Side of a square input image in pixels. Default: the largest at which the layer's footprint is at most
    94 MB times the scale (GRIT, table of applications); 553 at scale 1 with the other defaults. `hs`: Rows and
    columns, in elements, a multiple of 32. Default at scale 1: 1024 (the largest input of Rodinia); 16384 (Grace
    Hopper study). `cfd`: Small cubes along a side of the mesh, six elements each, 1 to 400. Default: what makes
    235824 elements times the scale (near Rodinia's largest mesh)."""

    taps: int
    """Filter coefficients, and so loads for each sample. Default 16 (Hetero-Mark and MGPUSim)."""

    samples: int
    """Samples, one a thread. Default: what makes the footprint 155 MB times the scale (GRIT, table of
    applications)."""

    rows: int
    """`gemm`: Rows of A and C, in elements, a multiple of 4. Default: 1184 at scale 1, the side of three square
    matrices of 16 MB in all (GRIT, table of applications). `matrixmultiplication`: Rows of A and C, in elements, a
    multiple of 32. Default: 1696 at scale 1, the side of three square matrices of 33 MB in all (GRIT, table of
    applications). `stencil2d`: Rows without the halo, in elements, a multiple of 16. Default: what makes the
    footprint 33 MB times the scale with the default columns (GRIT, table of applications); 2096 at scale 1. `spmv`:
    Rows and columns of the matrix, 1 to 65536. Default: 16384 times the root of the scale (SHOC, problem size 4).
    `srad`: Rows of the image, a multiple of 16. Default at scale 1: 2048 (Rodinia's script), 20480 (Grace Hopper
    study). `lud`: Rows and columns of the matrix, a multiple of 16. Default: 2048 times the root of the scale (the
    largest matrix that Rodinia ships). `pathfinder`: Rows, 2 to 2^20. Default: 100 times the root of the scale
    (Rodinia's script), or 20,000 (Grace Hopper study). `atax`: Rows of the matrix. Default at scale 1: 1200
    (UVMSmart's benchmarks). `fdtd2d`: Rows of the grid. Default at scale 1: 1200 (UVMSmart's benchmarks)."""

    inner: int
    """`gemm`: Columns of A and rows of B, in elements, a multiple of 4. Default: as `rows`. `matrixmultiplication`:
    Columns of A and rows of B, in elements, a multiple of 32. Default: as `rows`."""

    columns: int
    """`gemm`: Columns of B and C, in elements, a multiple of 4. Default: as `rows`. `matrixmultiplication`: Columns
    of B and C, in elements, a multiple of 32. Default: as `rows`. `stencil2d`: Columns without the halo, in
    elements, a multiple of 64. Default: 2048 at scale 1, near a square. `srad`: Columns of the image, a multiple of
    16. Default: as for `rows`. `pathfinder`: Columns, 1 to 2^20. Default: 100,000 times the root of the scale.
    `atax`: Columns of the matrix. Default: as for `rows`. `fdtd2d`: Columns of the grid. Default: as for `rows`."""

    mask: int
    """Side of the square mask in pixels. Default 3 (AMD APP SDK and MGPUSim)."""

    width: int
    """`simpleconvolution`: Width of the image in pixels. Default: the side of a square image of 131 MB in all times
    the scale (GRIT, table of applications); 4142 at scale 1. `transpose`: Rows and columns, in elements, a multiple
    of 64. Default: 2048 at scale 1, the side of two square matrices of 32 MB in all (this project's choice).
    `cons`: Width of the image in elements, a multiple of 128. Default: 3072 at scale 1 (CUDA SDK), near a square.
    `3ds`: Elements along x, a multiple of 16. Default: 512 at scale 1 (Parboil). `lps`: Nodes along x. Default 256
    (this project's choice; the suite has 100). `sad`: Width of a frame in pixels, a multiple of 16. Default: 352
    times the root of the scale (this project's choice). `touch`: Bytes that each thread touches at a place, a power
    of two from 1 to 64. Default 4."""

    height: int
    """`simpleconvolution`: Height of the image in pixels. Default: as for `width`. `cons`: Height of the image in
    elements, a multiple of 64. Default: as for `width`. `3ds`: Elements along y. Default: as for `width`. `lps`:
    Nodes along y. Default: 256 at scale 1 (as `width`). `sad`: Height of a frame in pixels, a multiple of 16.
    Default: 288 times the root of the scale (this project's choice)."""

    iterations: int
    """`stencil2d`: Iterations, one launch each, at least 1. Default: 20, enough for pages to settle and for the
    phases to repeat, at a fiftieth of the time SHOC's own default of 1000 takes. `red`: How often the vector is
    summed, at least once. Default 8 (SHOC: 256, all alike). `scan`: How often the vector is scanned, at least once.
    Default 4 (SHOC: 256, all alike). `blk`: How often all are priced, at least once. Default 4 (CUDA SDK: 512, all
    alike). `spmv`: How often the product is made, 1 to 1000. Default 1 (this project's choice, for the time it
    takes). `cons`: How often the image is convolved, at least once. Default 2 (CUDA SDK: 17, all alike). `3ds`:
    Iterations, one launch each, at least 1. Default 4 (Parboil: 100, all alike). `lps`: Iterations, one launch
    each, at least 1. Default 2 (laplace3d: 10; the suite: 1). `srad`: Iterations, two launches each, at least 1.
    Default 2 (Rodinia's script); 12 (Grace Hopper study). `cfd`: Iterations, 1 to 10000. Default 2 (this project's
    choice; Rodinia: 2000). `vgg16`, `resnet18`, `resnet50`, `resnet101`, `mobilenet_v3_large`, `gnmt16`, `step`:
    Steps, one after another, 1 to 1000. Default 1."""

    elements: int
    """`relu`: Elements of input and output. Default: what makes the footprint 32 MB times the scale (this project's
    choice). `vectoradd`: Elements of each vector. Default: what makes the footprint 32 MB times the scale (this
    project's choice). `trd`: Elements of each of the six buffers, a multiple of 128. Default: 16 MB of them times
    the scale (SHOC; Mosaic, MICRO 2017). `red`: Elements of the vector, a multiple of 512. Default: 64 MB of them
    times the scale (SHOC, size 4). `scan`: Elements of the vector, a multiple of 4. Default: 64 MB of them times
    the scale (SHOC, size 4). `scp`: Elements of a vector, a multiple of 1024. Default 4096 (CUDA SDK). `fwt`:
    Elements of each of the two arrays, a power of two from 4096. Default: the one nearest to 2^23 times the scale
    (CUDA SDK; Mosaic, MICRO 2017)."""

    pairs: int
    """Pairs of vectors. Default: 256 times the scale (CUDA SDK; Mosaic, MICRO 2017)."""

    options: int
    """Options to price, an even number. Default: five arrays of 8 MB times the scale (Mosaic, MICRO 2017)."""

    words: int
    """`gups`: Words of eight bytes in the table, a power of two from 64 to 2^31. Default: what makes the table 64
    MB times the scale, to the nearest power of two (this project's choice). `histo`: Words of four bytes. Default:
    1920 x 1080 times the scale (Mosaic, MICRO 2017). `random-access`: Words of four bytes in each of the three
    arrays, at most 2^31. Default at scale 1: 2^20 (UVMSmart's benchmarks)."""

    updates: int
    """Updates for each word of the table, a power of two from 1 to 64. Default 4 (HPC Challenge)."""

    runs: int
    """How often the host repeats both kernels, 1 to 1000. Default 16 (CUDA SDK)."""

    density: float
    """Share of the matrix that is not zero, above 0 and at most 0.1. Default 0.01 (SHOC)."""

    input: Literal["own", "grace-hopper"]
    """Whose input: `own` or `grace-hopper`. Default `own`."""

    length: int
    """Elements of each sequence, a multiple of `block`. Default: 2048 times the root of the scale (Mosaic, MICRO
    2017), or 32768 (Grace Hopper study)."""

    block: int
    """`nw`: Side of a block of the table and threads of a work-group: 16, 32 or 64. Default 16 (Rodinia; MGPUSim:
    64). `llm-decode`, `moe-decode`: Tokens of a block of the cache, 1 to 1024. Default 16 (vLLM)."""

    records: int
    """Records. Default: what makes the footprint 48 MB times the scale (this project's choice)."""

    pyramid: int
    """`hs`: Steps of one launch, 1 to 7. Default 2 (Rodinia's script). `pathfinder`: Rows of one launch, 1 to 127.
    Default 20 (Rodinia's script)."""

    steps: int
    """`hs`: Steps in all, a multiple of `pyramid`. Default 60 (Rodinia's code); 2 with the input of the Grace
    Hopper study, which does not say (Rodinia's script). `fdtd2d`: Steps, three launches each, at least 1. Default 5
    (UVMSmart's benchmarks). `llm-decode`, `moe-decode`: Steps that are simulated, 1 to 10000. Default 16
    (chosen)."""

    depth: int
    """`3ds`: Planes, at least 3. Default 64 (Parboil). `lps`: Nodes along z. Default: as for `height`. `quantum-
    volume`: Layers of the circuit, 1 to 65,536. Default: as many as qubits (Qiskit)."""

    transforms: int
    """Transforms, an even number. Default: 96 MB of points times the scale (SHOC, size 3)."""

    passes: int
    """How often all are transformed, at least once. Default 2 (SHOC: 10, all alike)."""

    initialised_by: Literal["host", "gpu"]
    """Who writes the image first: `host`, or `gpu` in a launch before the others. Default `host` (Rodinia); `gpu`
    (Grace Hopper study)."""

    read_rows: int
    """Rows of the image, from the first, that the host reads before each further iteration. Default: all (Rodinia
    copies the image); with the input of the Grace Hopper study 128 of 20480 (the region of Rodinia's script), or as
    much of a smaller image."""

    inputs: int
    """Units of the input layer, a multiple of 16. Default: 262144 times the scale (this project's choice; Rodinia's
    own input has 65536)."""

    paths: int
    """Paths, one a thread. Default: 4096 times the scale (the program's own number)."""

    window: int
    """Elements within which the mesh is shuffled, at least 1. Default 1024 (this project's choice)."""

    points: int
    """`streamcluster`: Points. Default: 65536 times the scale (Rodinia). `kmeans`: Points. Default: what makes
    points of 34 features 48 MB times the scale, turned ones and memberships included (this project's choice)."""

    dimensions: int
    """Coordinates of a point, 1 to 1024. Default 256 (Rodinia)."""

    launches: int
    """`streamcluster`: Candidates that are tried, one launch each, 1 to 1000. Default 10 (this project's choice:
    the program tries over a thousand). `touch`: Launches, 1 to 1024. Default 1."""

    graph: str | WorkloadGraph
    """`pagerank`: The graph. Default `soc-twitter-2010` (HUVM, USENIX ATC 2022, case 1). `bfs-balanced`: The graph.
    Default `soc-twitter-2010` (HUVM, USENIX ATC 2022, case 3). `wcc`: The graph; edges count both ways. Default
    `soc-twitter-2010` (HUVM, USENIX ATC 2022, case 3). `sssp`: The graph. Default `soc-twitter-2010` (HUVM, USENIX
    ATC 2022). `louvain`: The graph; edges count both ways. Default `soc-twitter-2010`, as for the others. `mst`:
    The graph; directions do not count. Default `soc-twitter-2010` (HUVM, USENIX ATC 2022)."""

    damping: float
    """Part of a vertex's rank that follows edges, 0 to 1. Default 0.85 (cuGraph's)."""

    tolerance: float
    """Sum of all changes of ranks below which it ends. Default 0.0001 (HUVM's artefact)."""

    rounds: int
    """`pagerank`: Most rounds, 1 to 1000. Default 100 (cuGraph's). `kmeans`: Rounds at most, 1 to 500; it ends when
    no point changes. Default 10 (this project's choice; Hetero-Mark 500)."""

    source: int
    """`bfs-balanced`: Where the search begins. Default: the vertex of most edges, the first of them. `sssp`: Where
    paths begin. Default: the vertex of most edges, the first of them."""

    algorithm: Literal["label-propagation", "afforest"]
    """How. Default `label-propagation`."""

    largest_weight: int
    """Largest weight: each edge has one from 1 to it, drawn by its two vertices, also of graphs in files. Default
    64 (this project's choice), 1 to 65536."""

    threshold: float
    """Gain of modularity, of a round and of a level, below which it counts as none, 0 to 1. Default 0.0001 (this
    project's choice)."""

    levels: int
    """Most levels, 1 to 100. Default 100 (cuGraph's)."""

    qubits: int
    """Qubits, 2 to 38. Default: 30 at scale 1 (the smallest published circuit), one more for each doubling."""

    chunk_qubits: int
    """Qubits of a chunk, 2 to `qubits`: a launch takes one chunk, or the two or four that a gate's qubits join.
    Default: `qubits`, one chunk."""

    precision: Literal["single", "double"]
    """Bytes of an amplitude: `single` (8) or `double` (16). Default `single`, as the published sizes are."""

    blocks: int
    """Blocks of 16 bytes. Default: what makes the text 32 MB times the scale (this project's choice)."""

    features: int
    """Features of a point, 1 to 1024. Default 34 (Rodinia's `kdd_cup`)."""

    clusters: int
    """Clusters, 1 to 256. Default 5 (Hetero-Mark)."""

    pixels: int
    """Pixels of a frame. Default: 1920 x 1080 times the scale (this project's choice)."""

    frames: int
    """Frames after the first, 1 to 1000. Default 10 (this project's choice; Hetero-Mark takes all of a video)."""

    target: int
    """Letters of the target, at least 12. Default: 32 Mi times the scale (this project's choice)."""

    query: int
    """Letters of the query, 11 to 1024. Default 64 (this project's choice)."""

    batches: int
    """Batches, 1 to 1000, at most one for each key. Default 8 (this project's choice; Hetero-Mark has one)."""

    population: int
    """Creatures on both islands, a multiple of 2, at least 2. Default: what makes them 32 MB times the scale (this
    project's choice; Hetero-Mark 1024, which are 4 MB)."""

    generations: int
    """Generations, 1 to 1000. Default 5 (this project's choice; Hetero-Mark 100)."""

    bytes: int
    """Bytes that places lie in, a multiple of `stride`. Default: 64 MB times the scale (this project's choice)."""

    run: int
    """Places in a row, in bytes, between which memory is left out; a multiple of `stride`. Default: all of them."""

    spacing: int
    """Bytes from the beginning of one such run to the next, at least `run`. Default: `run`."""

    order: Literal["ascending", "random"]
    """`ascending` or `random`. Default `ascending`."""

    operation: Literal["read", "write", "copy"]
    """`read`, `write` or `copy`. Default `read`."""

    touches: int
    """How many touches there are, beginning again at the first place after the last; with 0 the kernel is empty.
    Default: each place once."""

    groups: int
    """Work-groups. Default 256."""

    wavefronts: int
    """Wavefronts of each work-group, 1 to 16. Default 4."""

    lanes: int
    """Threads of each wavefront that touch anything, 1 to 64. Default 64."""

    in_flight: int
    """Touches of a thread before it waits for them, 1 to 32. Default 4."""

    intensity: float
    """Operations for each byte touched, two in a fused multiply-add, 0 to 1024. Default 0."""

    fresh: bool
    """Whether each launch has its own memory instead of the first launch's. Default `false`."""

    turn: int
    """Work-groups by which touches go round the grid from one launch to the next. With one group a GPU and `turn`
    1, GPU n touches what GPU n - 1 touched before. Default 0."""

    vertices: int
    """Vertices, 66 to 2^27. Default at scale 1: 2^20 (UVMSmart's benchmarks)."""

    edges: int
    """Edges of each vertex, 1 to 64. Default 2 (UVMSmart's benchmarks)."""

    replicas: int
    """Copies of the network with memory and a batch of their own: 1, or one for each GPU that it runs on, at most
    64. Default 1."""

    all_reduce: bool
    """Whether replicas sum their gradients before the optimizer uses them, by a ring. Default false."""

    stages: int
    """Parts that the network is split into by layer: 1, or one for each GPU that it runs on, at most 64. Default
    1."""

    cut: Literal["work", "layers"]
    """Which part each of them gets: `work`, about as much to do, or `layers`, about as many tensors of parameters
    (a layer's weights are one, its bias another). Default `work`."""

    model: Literal["llama-3-8b", "llama-3-70b", "qwen3-30b-a3b", "mixtral-8x7b"]
    """`llm-decode`: The model. Default `llama-3-8b`. `moe-decode`: The model. Default `qwen3-30b-a3b`."""

    trace: Literal["azure-chat", "azure-code"]
    """The trace whose statistics requests have. Default `azure-chat`."""

    load: float
    """`llm-decode`: Requests that would be under way on average if each got a token every step, 0.001 to 4096.
    Default 32 (chosen). `moe-decode`: Requests that would be under way on average if each got a token every step,
    0.001 to 4096. Default 4 (chosen: few enough that a step passes a part of the experts)."""

    after: int
    """Steps that are over when the simulation begins, up to 100000. Default 1000 (chosen: the first requests have
    left by then)."""

    cache: int
    """`llm-decode`: Tokens that the cache holds, in whole blocks. Default 131072 (chosen: 16 GiB of `llama-3-8b`).
    `moe-decode`: Tokens that the cache holds, in whole blocks. Default 32768 (chosen: 3 GiB of `qwen3-30b-a3b`)."""

    skew: float
    """How much more popular some experts are: the expert of rank r is drawn with a weight of 1/r to this power, 0
    to 2. Default 0.85 (fitted to a published skew of 128 experts)."""

    path: str
    """`step`: File of the recorded step, relative to the working directory. No default: it must be given. `trace`:
    Folder of the trace, relative to the working directory. No default: it must be given."""

    digest: str
    """`step`: Digest of the file, so that results of another file are not reused. Default: computed. `trace`:
    Digest of the trace's contents, so that results of another trace are not reused. Default: computed."""

    layout: Literal["recorded", "packed"]
    """Where allocations lie: `recorded`, all shifted together, unless they lie too far apart; or `packed` one after
    another, each as far into a block of 2 MiB as recorded. Default `recorded` (page sharing as in the program)."""

    instructions: Literal["grouped", "recorded"]
    """Whether vector instructions come first within a stretch of instructions without memory accesses, barriers and
    waits (`grouped`), or where they were recorded (`recorded`), if the trace tells. Default `grouped`: fewer
    operations. `recorded` is for nodes whose SIMDs share a decoder."""


class JobItemProgramBuffersItem(TypedDict, total=False):
    """How one buffer differs from the others."""

    kind: Literal["managed", "system", "device", "pinned"]
    """Its kind of memory; as `program.kind` if left out."""

    preferred: str
    """Advice: the processor whose memory should hold its pages (`host`, `gpu0`, …)."""

    accessed_by: Sequence[str]
    """Advice: processors that should access its pages without a fault, wherever the pages are (`host`, `gpu0`,
    …)."""

    read_mostly: bool
    """Advice: whether its pages are mostly read, so that every reader should have a copy."""

    prefetch: str
    """The processor to whose memory the program prefetches all of it before launches (`cudaMemPrefetchAsync`:
    `host`, `gpu0`, …); no prefetch if left out."""

    prefetch_before: Literal["first-launch", "each-launch"]
    """Before which launches it prefetches; the first if left out."""

    populate: bool
    """Whether the host touches a word of each 4 KiB of it before anything else does, so that its pages are
    there."""


class JobItemProgram(TypedDict, total=False):
    """What is around its launches."""

    kind: Literal["launches", "explicit", "managed", "pinned", "system", "recorded"]
    """Which part runs: the launches alone, on managed memory that the host has filled before time zero, or the
    whole program, with all buffers of one kind."""

    devices: Literal["interleaved", "split"]
    """On which GPUs the bytes of device memory lie."""

    host_threads: int
    """Threads of the host that write inputs and read outputs."""

    buffers: Mapping[str, JobItemProgramBuffersItem]
    """Buffers that differ from the others, by name."""


class JobItemMemoryPlacement(TypedDict, total=False):
    """Where one of its managed pages goes when a processor touches it; as `memory.placement` if left out."""

    name: (
        Literal["on-touch", "first-touch", "access-counter", "duplication", "grit", "griffin-dpc", "gps", "ideal",
        "interleaved", "coherent", "fault-and-count", "delayed-migration"] | str
    )
    """A Python class: `my_policy.py`, or `my_policy.py:Mine` where the file has several."""

    threshold: int
    """`access-counter`: Remote lines of one GPU to one 64 KiB group after which pages migrate; default 256 (GRIT
    section 3; `uvm_perf_access_counter_threshold`). `coherent`: Remote lines of one GPU to one region after which
    pages move; default 256 (`uvm_perf_access_counter_threshold`). `fault-and-count`: Remote lines of one GPU to 64
    KiB after which they come; default 256 (`uvm_perf_access_counter_threshold`, one parameter for this memory and
    the operating system's). `delayed-migration`: Accesses to 64 KiB from which its pages move, at least 1; default
    8 (`-migrate_threshold`)."""

    moves: Literal["page", "group", "sub-region", "region"]
    """`access-counter`: What moves then: the touched page (the default) or its whole group. GRIT counts by group
    and speaks of migrating "the page". `coherent`: What moves then: the 64 KiB around the access that was counted
    last (`sub-region`, the default, nvidia-uvm 595) or the whole `region`. `delayed-migration`: What moves when the
    threshold is reached without a fault: the touched page (the default) or its 64 KiB."""

    host_pages: Literal["map", "migrate"]
    """`access-counter`: How a page on the host is served: mapped over the host link (the default) or migrated at
    its first touch. GRIT does not say; with `migrate` this scheme never loses on private pages, as published it
    does. `grit`: How a page on the host with the access-counter scheme is served: migrated to the toucher (the
    default) or mapped over the host link. Pages of the other schemes always migrate from the host."""

    downgrade_drain: bool
    """`duplication`: Whether the owner's in-flight accesses are drained when a second reader takes away its right
    to write; default false. GRIT does not say; a page that is only read needs no drain. `grit`: Whether the owner's
    in-flight accesses are drained when a page enters duplication; default false. GRIT does not say."""

    fault_threshold: int
    """Faults on a page after which its scheme is decided, 1 to 16; default 4 (GRIT section 5.1). The published two-
    bit counter reaches 4; more needs a wider one (three bits up to 8, four up to 16)."""

    pa_cache: bool
    """Whether a cache in front of the PA-Table exists; default true (section 5.2). Without it every counted fault
    reads and writes the table."""

    pa_cache_entries: int
    """Entries of that cache; default 64 (section 5.2)."""

    pa_cache_ways: int
    """Entries of one of its sets; default 4 (section 5.2)."""

    pa_visible: bool
    """Whether accesses to the PA-Table delay the fault in full; default false: they run beside the host's page-
    table walk, and only what exceeds it is paid (section 5.2)."""

    prediction: bool
    """Whether neighbours of a page are given its scheme before they reach the threshold; default true (section
    5.4)."""

    counter_threshold: int
    """Remote lines of one GPU to one 64 KiB group after which pages of the access-counter scheme migrate; default
    256 (section 3)."""

    counter_moves: Literal["page", "group"]
    """What moves then: the touched page (the default) or its whole group."""

    period_cycles: int
    """GPU clock cycles between reports of access counts; default 1000 (Griffin, HPCA 2020)."""

    entry_bytes: int
    """Bytes that one (page, GPU) count costs on the link to the host; default 8: a page number and a count.
    Ours."""

    smoothing: float
    """Weight of a new count in the exponentially smoothed one, above 0 and at most 1; default 0.03 (Griffin)."""

    touched: float
    """Smoothed lines a period from which a page counts as touched by its most frequent user; default 0.03
    (Griffin), which is one line with the default smoothing."""

    dedicated: float
    """A page is dedicated to a GPU that accesses it this many times as often as any other; default 2 (Griffin)."""

    shifting: float
    """The owner of a shared page is shifting when a GPU accesses it this many times as often as the owner; default
    1.3 (Griffin)."""

    batch_pages: int
    """Most pages that migrate after one report; default 8 (Griffin)."""

    lead_pages: int
    """Pages that a GPU must hold more than each other GPU before its first touches are delayed; default 0: it holds
    the most. Ours."""

    profile_kernels: int
    """Kernels of the first iteration, which is profiled. After it, replicas without a known reader are given up;
    default 1, 0 for never (GPS, MICRO 2021, section 4: profiling in the first iteration)."""

    first_gpu: int
    """GPU that holds the first page of all (1 is the first GPU; 0: the last); default 0, as MGPUSim v4.2.0 does
    (`driver/internal/device.go`, `allocateUnifiedGPUPage`)."""

    first_touch: Literal["toucher", "host", "gpu"]
    """Where a page comes into being that no NUMA policy (`system.numa`) has elsewhere: with who touches it first
    (`toucher`, the default), on the `host`, or on the first `gpu`, as where there is one memory."""

    migration: bool
    """`coherent`: Whether pages of the host move to a GPU that accesses them often; default true (`grace-
    hopper.md`: on by default on such nodes, `uvm_perf_access_counter_migration_enable`). `fault-and-count`: Whether
    pages that a GPU accesses often from afar come to it; default true (`uvm_perf_access_counter_migration_enable`,
    which is on where GPUs use the host's page table). Pages smaller than 64 KiB stay all the same: the driver drops
    what counters tell of them (`service_notifications`)."""

    region: str
    """Bytes of a region that is counted, a power of two from 64KiB to 2MiB; default 64KiB. These are the sub-
    regions that the driver is told of (nvidia-uvm 595, which has the hardware count 2MiB), and other placements
    count the same, so both can decide side by side."""

    when: Literal["always", "full", "adaptive", "irregular"]
    """When pages are read from the host first: `always` (default), `full` (once memory was full), `adaptive` (by
    how full memory is, and how often a block has left) or `irregular` (once memory was full, if faults come out of
    order)."""

    penalty: int
    """Factor of the threshold once memory was full, with `adaptive`, at least 1; default 2
    (`-multiply_dma_penalty`)."""

    digest: str
    """Digest of its source, so that results of another class are not reused. Default: computed."""


class JobItemMemoryPrefetch(TypedDict, total=False):
    """Which pages come along when one of its managed pages migrates; as `memory.prefetch` if left out."""

    name: (
        Literal["none", "tree", "tree-neighborhood", "sequential-local", "random-page", "local-path", "multi-path",
        "when-full"] | str
    )
    """A Python class: `my_policy.py`, or `my_policy.py:Mine` where the file has several."""

    threshold: int
    """`tree`: A subtree comes when more than this share of its pages is there or demanded, in percent, 1 to 100;
    default 51 (`uvm_perf_prefetch_threshold`). With 1, as memHarvester (HUVM) sets it, a fault brings the whole
    block, unless processors fight over a page of its 64 KiB. `local-path`, `multi-path`: Percent of a subtree's
    pages, 1 to 100: in blocks with faults, the subtree comes when more than these are there or demanded; default 1,
    the whole block (memHarvester, USENIX ATC 2022)."""

    min_faults: int
    """Pages of a block that must have migrated to the same processor in a row before anything is prefetched, 1 to
    20; default 1 (`uvm_perf_prefetch_min_faults`)."""

    big_pages: bool
    """Whether a fault counts for its whole 64 KiB page; default true, as for managed memory
    (`grow_fault_granularity`). False is what the driver does for system-allocated memory
    (`uvm_perf_prefetch_compute_ats`)."""

    seed: int
    """Seed of the choice, any number; default 1 (ours: UVMSmart takes the C library's default)."""

    blocks: int
    """Blocks of 2 MiB that are brought after each batch of faults, 0 to 64; default 16 (memHarvester, USENIX ATC
    2022: 32 MiB)."""

    stride: int
    """From one of these blocks to the next, in blocks, at least 1; default 2 (memHarvester, USENIX ATC 2022)."""

    before: str
    """The prefetcher, with its default options, until something has left (default `tree-neighborhood`, as
    `-hardware_prefetch 1`, which is shipped)."""

    after: str
    """The one from the next service on (default `none`, as `-hwprefetch_oversub 0`; 1 is shipped, the same as
    before)."""

    digest: str
    """Digest of its source, so that results of another class are not reused. Default: computed."""


class JobItemMemoryEviction(TypedDict, total=False):
    """Which of its pages leave, where `memory.sharing` tells jobs apart; as `memory.eviction` if left out."""

    name: (
        Literal["lru-page", "lru-block", "lfu-block", "tree-neighborhood", "sequential-local", "random-page", "none"] |
        str
    )
    """A Python class: `my_policy.py`, or `my_policy.py:Mine` where the file has several."""

    recency: Literal["service", "access"]
    """What counts as a use: `service` (default; what is brought, or faults) or `access` (each access, too:
    UVMSmart, `refresh_valid_pages`, which a TLB hit calls as well)."""

    whole: bool
    """`lru-block`, `lfu-block`: Whether a block leaves only if all of its pages that are part of allocations are
    there; default false (UVMSmart: `is_block_evictable` asks for every page of the unit). `tree-neighborhood`,
    `sequential-local`: Whether 64 KiB leave only if all of their pages that are part of allocations are there;
    default false (UVMSmart: `is_block_evictable` asks for every page of the basic block)."""

    reserved_percent: int
    """Percent of the leaves, 0 to 99, that stay as long as others can leave, although it is their turn; default 0
    (`-reserve_accessed_page_percent`; the publication also tries 10 and 20)."""

    seed: int
    """Seed of the choice, any number; default 1 (ours: UVMSmart takes the C library's default)."""

    digest: str
    """Digest of its source, so that results of another class are not reused. Default: computed."""


class JobItemMemory(TypedDict, total=False):
    """What holds for its memory alone."""

    placement: (
        Literal["on-touch", "first-touch", "access-counter", "duplication", "grit", "griffin-dpc", "gps", "ideal",
        "interleaved", "coherent", "fault-and-count", "delayed-migration"] | str | JobItemMemoryPlacement | Strategy
    )
    """Where one of its managed pages goes when a processor touches it; as `memory.placement` if left out."""

    prefetch: (
        Literal["none", "tree", "tree-neighborhood", "sequential-local", "random-page", "local-path", "multi-path",
        "when-full"] | str | JobItemMemoryPrefetch | Strategy
    )
    """Which pages come along when one of its managed pages migrates; as `memory.prefetch` if left out."""

    eviction: (
        Literal["lru-page", "lru-block", "lfu-block", "tree-neighborhood", "sequential-local", "random-page", "none"] |
        str | JobItemMemoryEviction | Strategy
    )
    """Which of its pages leave, where `memory.sharing` tells jobs apart; as `memory.eviction` if left out."""


class JobItem(TypedDict, total=False):
    """A program that runs beside others."""

    name: str
    """Its name in tables and pictures: letters, digits, `-`, `_` and `.`; no two jobs have the same."""

    workload: (
        Literal["bfs-shoc", "bitonicsort", "c2d", "fir", "gemm", "matrixmultiplication", "simpleconvolution",
        "stencil2d", "relu", "transpose", "vectoradd", "trd", "red", "scan", "scp", "blk", "fwt", "gups", "histo",
        "spmv", "nw", "bfs-rodinia", "nearestneighbor", "cons", "hs", "3ds", "fft", "lps", "srad", "bp", "lud", "lib",
        "sad", "cfd", "streamcluster", "pagerank", "bfs-balanced", "wcc", "sssp", "louvain", "pathfinder",
        "quantum-volume", "aes", "kmeans", "mst", "background", "alignment", "bst", "evolution", "touch", "atax",
        "fdtd2d", "random-access", "dijkstra", "vgg16", "resnet18", "resnet50", "resnet101", "mobilenet_v3_large",
        "gnmt16", "llm-decode", "moe-decode", "step", "trace"] | JobItemWorkload | str
    )
    """The program that runs, if there is only one."""

    gpus: Sequence[int]
    """The GPUs that it runs on, from 0; all if left out."""

    start: str
    """Simulated time at which it begins."""

    repetitions: int
    """How often it runs."""

    until: str
    """It runs again and again until this job ends; it runs once at least. Default, without `repetitions`: `all`,
    that is until every other job has ended as often as it must."""

    share: float
    """Share of the compute units of each of its GPUs, above 0 and at most 1; an equal part of what the others leave
    if left out."""

    idle: bool
    """Whether it never begins, although its compute units and its part of the footprint are kept for it. This gives
    the times of the others without it."""

    program: JobItemProgram
    """What is around its launches."""

    memory: JobItemMemory
    """What holds for its memory alone."""


class Executor(TypedDict, total=False):
    """The part that carries out the memory manager's decisions."""

    kind: Literal["simulated", "instant"]

    replicate: int
    """Which of several runs of one scenario it is; default 0, the run as it is. Each other one varies what no
    scenario says: when each GPU begins a launch (up to 1 µs late), and which of equal GPUs and compute units gets
    the first work-group. Ours."""

    turn: int
    """Memory instructions that a wavefront makes before it is the next one's turn; default 1: wavefronts go on as
    evenly as they can. Ours."""

    report_lines: int
    """Line accesses between two periodic reports of access counts, for placements that ask for these. Default: one
    line a GPU in 16 cycles of their period, about the median of the GRIT study's kernels in simulated time.
    Ours."""


class MemorySystemNuma(TypedDict, total=False):
    """On which NUMA node its pages are allocated; if left out, the placement decides."""

    policy: Literal["local", "preferred", "interleave", "bind"]
    """Which policy; default `local`."""

    nodes: Sequence[str]
    """The nodes that it speaks of, as tables call them: `host`, the host's other memories `host1` and so on, and on
    coherent nodes whose GPU memory is the operating system's `gpu0` and so on. None for `local`."""


class MemorySystem(TypedDict, total=False):
    """Strategies for the operating system's memory, in place of `placement` and `prefetch`."""

    placement: (
        Literal["on-touch", "first-touch", "access-counter", "duplication", "grit", "griffin-dpc", "gps", "ideal",
        "interleaved", "coherent", "fault-and-count", "delayed-migration"] | str | JobItemMemoryPlacement | Strategy
    )
    """Where a page goes when a processor touches it; default `on-touch`."""

    prefetch: (
        Literal["none", "tree", "tree-neighborhood", "sequential-local", "random-page", "local-path", "multi-path",
        "when-full"] | str | JobItemMemoryPrefetch | Strategy
    )
    """Which pages come along when a page migrates; default `none`."""

    huge_pages: Literal["never", "always"]
    """Whether cores that touch it first get huge pages; default `never`, which is not written out."""

    numa: MemorySystemNuma
    """On which NUMA node its pages are allocated; if left out, the placement decides."""


class MemoryDemotion(TypedDict, total=False):
    """Where evicted pages go, and which leave ahead of need; default `host`."""

    name: Literal["host", "reserve", "spare-memory"] | str
    """A Python class: `my_policy.py`, or `my_policy.py:Mine` where the file has several."""

    stays_mapped: bool
    """Whether the GPU that a page leaves maps it on the host, so that its next access is no fault but a remote
    line; default false. The driver does so where it moves pages by access counters (`uvm_va_block_evict_chunks`, by
    a work queue), which is on Grace Hopper."""

    free: str
    """Bytes of each GPU's memory that are kept free, rounded up to pages. Together with what nothing evicts, they
    are at most half of the memory; default 100MiB (memHarvester, USENIX ATC 2022: 50 chunks of 2 MiB)."""

    reserve: str
    """Bytes of a GPU's memory that are free, or removable without a copy, after it has taken a block of another
    GPU. Rounded up to pages, and at most half of the memory. With `pre_eviction`, less what nothing evicts there;
    default 100MiB (memHarvester, USENIX ATC 2022: 50 chunks of 2 MiB)."""

    neighbour: Literal["round-robin", "fewest-pending"]
    """Which of the GPUs that lend memory gets a block: `round-robin` (the default, memHarvester, USENIX ATC 2022)
    or `fewest-pending`, the one with the fewest blocks that await their copy on the host (its artefact)."""

    pre_eviction: bool
    """Whether victims leave ahead of need as soon as less than the reserve is free or kept for others; default
    false (memHarvester, USENIX ATC 2022: pre-eviction, which it adds to hierarchical eviction)."""

    parallel_fetch: bool
    """Whether blocks of a batch of faults come over several links at once: half of those on the host by way of GPUs
    that lend memory. Of use where faults are served in batches; default false (memHarvester, USENIX ATC 2022:
    parallel fetch)."""

    digest: str
    """Digest of its source, so that results of another class are not reused. Default: computed."""


class MemorySharing(TypedDict, total=False):
    """How much memory one address space may take from another; default `free-for-all`, which is not written out."""

    name: Literal["free-for-all", "quota"] | str
    """A Python class: `my_policy.py`, or `my_policy.py:Mine` where the file has several."""

    shares: Mapping[str, float]
    """By the name of a job: the share that it is guaranteed of the memory of each of its GPUs, above 0 and at most
    1. Jobs that are not named have equal parts of what the others leave (ours)."""

    digest: str
    """Digest of its source, so that results of another class are not reused. Default: computed."""


class MemoryGuard(TypedDict, total=False):
    """The guard against thrashing, for when processors compete for a page; default `none`, which is not written
    out."""

    name: Literal["none", "stock-driver"] | str
    """A Python class: `my_policy.py`, or `my_policy.py:Mine` where the file has several."""

    threshold: int
    """Number of moves of a page, each within the lapse after the one before, from which the page counts as
    thrashing; default 3, 1 to 7 (`uvm_perf_thrashing_threshold`)."""

    pin_threshold: int
    """Faults on a page that are throttled before it is pinned; default 10, 1 to 255
    (`uvm_perf_thrashing_pin_threshold`)."""

    lapse: str
    """Time within which two moves belong together; default 500us (`uvm_perf_thrashing_lapse_usec`)."""

    adaptive_lapse: bool
    """Whether the lapse grows while moves follow one another within it: by an eighth, at most 50ms at a time, up to
    500ms; default as `node.driver.release` does, or true. As compiled there, it grows at once. It shrinks only from
    500ms, when 32 more moves of a block of 2 MiB (our reading) were further apart than were closer together."""

    nap: str
    """Time for which the others wait when one processor gets a page; default 500us (`uvm_perf_thrashing_nap` 1, of
    the lapse)."""

    pin: str
    """Time for which a page stays pinned, 0ps for ever; default 150ms (`uvm_perf_thrashing_pin` 300, of the
    lapse)."""

    epoch: str
    """Time without thrashing after which the guard forgets its knowledge about a block of 2 MiB, if none of its
    pages was ever pinned; default 1s (`uvm_perf_thrashing_epoch` 2000, of the lapse)."""

    max_resets: int
    """How often that happens to a block; default 4 (`uvm_perf_thrashing_max_resets`)."""

    fast_links: Literal["node", "none", "gpus", "all"]
    """Which memories processors map by a fast link with atomics. A thrashing page is pinned there at once, without
    throttling; default `node`: as the node's links are; the driver reads this from the hardware. The other values
    ignore the links: `none` (as over PCIe), `gpus` (each other's, as over `NVLink`) or `all` (the host's, too, as
    on a coherent node)."""

    digest: str
    """Digest of its source, so that results of another class are not reused. Default: computed."""


class MemoryAllocator(TypedDict, total=False):
    """Which frame a page gets; default `free-list`."""

    name: Literal["free-list", "cocoa", "chunks"]

    channels: int
    """Memory channels, 1 to 64: large frame n lies in channel n modulo this, and pages are compacted within a
    channel; default 6 (Mosaic, MICRO 2017, table 1)."""


class MemorySizing(TypedDict, total=False):
    """Which sizes pages have; default `base`."""

    name: Literal["base", "large", "mosaic", "whole-blocks"]

    large_page: str
    """`large`: Bytes of a page, 64KiB or 2MiB, a multiple of `page_size`; default 2MiB (Mosaic, MICRO 2017).
    `mosaic`: Bytes of a large page: a power of two, 2 to 512 times `page_size` and at most 2MiB; default 2MiB
    (Mosaic, MICRO 2017, table 1)."""

    threshold: int
    """Base pages, 1 to 512 and at most those of a large page. A large page with fewer allocated base pages than
    this is splintered and emptied; default 256 (ours: the publication gives no number)."""

    compaction: Literal["worst-case", "bulk-copy", "ideal", "none"]
    """What it costs to move base pages so that a large frame becomes free: `worst-case` (the GPU stops), `bulk-
    copy` (inside the memory), `ideal` (nothing), or `none`, which never moves any; default `worst-case` (Mosaic,
    MICRO 2017: CAC, CAC-BC, ideal CAC, no CAC)."""

    device_only: bool
    """Whether device memory alone has large pages, as on an MI300A (arXiv 2508.12743); default false."""


class MemoryFragmentation(TypedDict, total=False):
    """Foreign data in the GPUs' memories."""

    index: int
    """Percent of the large frames that hold foreign data, 0 to 100, chosen at random; default 0 (Mosaic, MICRO
    2017: fragmentation index). More than 0 needs a memory with a limit."""

    occupancy: int
    """Percent of such a large frame that is foreign, 0 to 100, in base pages at random places; default 0 (ditto:
    large page frame occupancy)."""

    seed: int
    """Seed of both choices, any number; default 0."""


class Memory(TypedDict, total=False):
    """How pages are managed."""

    page_size: str
    """Bytes of a page: 4KiB (the default, GRIT section 3), 64KiB (hosts with big pages) or 2MiB (large pages)."""

    placement: (
        Literal["on-touch", "first-touch", "access-counter", "duplication", "grit", "griffin-dpc", "gps", "ideal",
        "interleaved", "coherent", "fault-and-count", "delayed-migration"] | str | JobItemMemoryPlacement | Strategy
    )
    """Where a page goes when a GPU touches it; default `on-touch`."""

    prefetch: (
        Literal["none", "tree", "tree-neighborhood", "sequential-local", "random-page", "local-path", "multi-path",
        "when-full"] | str | JobItemMemoryPrefetch | Strategy
    )
    """Which pages come along when a page migrates; default `none`."""

    prefetch_plan: Literal["shared", "own", "at-once"]
    """Whether a fault waits for the pages that are prefetched with it; default `shared`, which is not written
    out."""

    system: MemorySystem
    """Strategies for the operating system's memory, in place of `placement` and `prefetch`."""

    eviction: (
        Literal["lru-page", "lru-block", "lfu-block", "tree-neighborhood", "sequential-local", "random-page", "none"] |
        str | JobItemMemoryEviction | Strategy
    )
    """Which pages leave a full memory; default `lru-page`."""

    outstanding: Literal["leave", "stay"]
    """Whether pages that accesses are under way to can leave; default `leave`, which is not written out."""

    demotion: Literal["host", "reserve", "spare-memory"] | str | MemoryDemotion | Strategy
    """Where evicted pages go, and which leave ahead of need; default `host`."""

    host_frames: Literal["ready", "base", "large"]
    """Which frames of the host hold evicted pages; default `ready`, which is not written out."""

    padding: Literal["none", "trees"]
    """Pages beyond the end of an allocation of managed memory; default `none`, which is not written out."""

    synchronisation: Literal["stay", "dirty-home"]
    """Where pages that a GPU has written go when the host waits for it between two launches; default `stay`, which
    is not written out."""

    sharing: Literal["free-for-all", "quota"] | str | MemorySharing | Strategy
    """How much memory one address space may take from another; default `free-for-all`, which is not written out."""

    guard: Literal["none", "stock-driver"] | str | MemoryGuard | Strategy
    """The guard against thrashing, for when processors compete for a page; default `none`, which is not written
    out."""

    allocator: Literal["free-list", "cocoa", "chunks"] | MemoryAllocator
    """Which frame a page gets; default `free-list`."""

    sizing: Literal["base", "large", "mosaic", "whole-blocks"] | MemorySizing
    """Which sizes pages have; default `base`."""

    fragmentation: MemoryFragmentation
    """Foreign data in the GPUs' memories."""

    preset: Literal["plain", "stock-driver", "uvmsmart", "grace-hopper", "one-memory"] | str
    """Values to start from."""


class Record(TypedDict, total=False):
    """Records besides totals."""

    events: bool
    """Keep everything that happens to pages, one row each."""

    walks: bool
    """Count the page-table walks of GPUs by what the placement keeps about their pages; default false."""

    interval: str
    """Simulated time between samples of faults, copies, translation, links and memory; `0ns` for none."""


class NodeSettled(TypedDict, total=False):
    """Replaces cache tags at fidelity `page`."""

    l1_hits_percent: int
    """Share of loaded lines of a GPU's own memory that its first-level cache has, in percent. Default 35: the
    median of the eight kernels of the GRIT study at fidelity `line`, under `grit` at scale 1/16."""

    l2_hits_percent: int
    """Share of requested lines that the second-level cache has, in percent. Default 84: the same median."""

    ahead: str
    """How far ahead of the clock a wavefront continues while it touches only pages of its GPU's memory that never
    left it. Default 1 us; ours."""


class NodeDispatch(TypedDict, total=False):
    """Which work-groups of a launch run on which GPU."""

    blocks: int


class NodeComputeVectorAlu(TypedDict, total=False):
    """Vector-ALU instructions, on the wavefront's SIMD."""

    occupancy: str
    """Cycles an instruction occupies its execution unit."""

    latency: str
    """Cycles until the wavefront can issue its next instruction, at least the occupancy."""


class NodeCompute(TypedDict, total=False):
    """Compute units of one GPU."""

    units: int
    """Compute units a GPU."""

    simds_per_unit: int
    """SIMD pipelines a compute unit; a wavefront stays on one."""

    wavefronts_per_simd: int
    """Wavefronts in flight a SIMD."""

    vector_registers: int
    """Vector registers of a lane on each SIMD, shared by its wavefronts (0: no limit)."""

    scalar_registers: int
    """Scalar registers of a compute unit, shared by its wavefronts (0: no limit)."""

    local_data: str
    """Local data share (shared memory) of a compute unit (0: no limit)."""

    vector_alu: NodeComputeVectorAlu
    """Vector-ALU instructions, on the wavefront's SIMD."""

    scalar_alu: NodeComputeVectorAlu
    """Scalar-ALU instructions, on the unit's scalar pipeline."""

    local_data_access: NodeComputeVectorAlu
    """Local-data-share instructions, on the unit's local data share."""

    branch: NodeComputeVectorAlu
    """Branches, on the unit's branch pipeline; the fetch that follows is not included."""

    memory_issue: str
    """Cycles from issue of a memory instruction until its wavefront can issue the next; at least until its lines
    have entered the memory pipeline, unless there is a queue of lines (`lines_in_flight`)."""

    line_cycles: str
    """Cycles a line transaction occupies the compute unit's memory pipeline."""

    memory_pipeline: str
    """Cycles from a line's entry into the memory pipeline to its translation."""

    group_launch: str
    """Cycles from dispatch of a work-group to its wavefronts' first instruction."""

    groups_per_cycle: int
    """Work-groups that each GPU starts in a cycle, throughout a launch (0: no limit)."""

    dispatch_goes_on: bool
    """Whether a launch begins dispatch after the compute unit that was used last, in whichever launch, rather than
    at the first."""

    kernel_overhead: str
    """Cycles from a launch to the first dispatch, plus from the last wavefront's end to the end of the kernel."""

    answers_in_order: bool
    """Whether the answers of memory reach a compute unit in the order in which it asked (a reorder buffer)."""

    answers_per_cycle: int
    """Lines whose answers a compute unit takes in a cycle, where they reach it in that order: at most 64. 0, the
    default: no limit."""

    issues_in_time_order: bool
    """Whether each memory instruction is issued by an event at its own time. Ports and caches then see accesses in
    order of time. What is computed between accesses is reserved in buckets of time. Otherwise, the default, a
    wavefront issues up to 64 ns ahead of the clock: fewer events, but others wait for what is reserved although it
    comes later. Only with fidelity `line`."""

    vector_decoder: int
    """Places of the decoder of vector instructions that all SIMDs of a unit share. A wavefront holds one until its
    SIMD takes its instruction, so some SIMDs can keep others from getting any. 0, the default: there is no such
    limit. Only where accesses are issued in order of time; each instruction is then simulated."""

    lines_in_flight: int
    """Lines that the vector memory instructions of a unit have in flight, from when an instruction is split into
    lines until their answers; an instruction whose lines do not fit waits. A wavefront then goes on `memory_issue`
    after its lines were taken up, and does not wait until they have entered the memory pipeline. Lines that wait
    for a fault, or more than 2 us for a translation, free their places as soon as the lines before them are
    answered. 0, the default: there is no such queue. Only where accesses are issued in order of time and answered
    in order."""

    wait: str
    """Cycles that a wait takes beyond what it waits for, faults excepted. Default 0; only where accesses are issued
    in order of time."""


class NodeFetch(TypedDict, total=False):
    """Instruction fetch."""

    units: int
    """Compute units that share an instruction cache."""

    latency: str
    """Cycles to fetch 64 bytes of code on a hit; after a branch the wavefront waits for this."""

    buffer_lines: int
    """Lines of 64 bytes that a wavefront's buffer holds: it is filled ahead of execution up to the end of the
    kernel's code, also with what a branch passes over. Only for workloads that say how long the code is."""

    cold: bool
    """Code is written anew before each launch, so that every launch fetches it from memory."""


class NodeScalarCache(TypedDict, total=False):
    """The cache."""

    size: str
    """Capacity."""

    ways: int
    """Associativity, a power of two."""

    latency: str
    """Cycles from translation to data on a hit."""

    lookup: str
    """Cycles from translation until a miss is sent on."""

    fill: str
    """Cycles from the arrival of a miss's line until the wavefront has it."""


class NodeScalarTlbLarge(TypedDict, total=False):
    """Entries for pages of 2 MiB beside those for smaller ones. Without them, large pages use the entries of
    all."""

    entries: int
    """Translations held."""

    ways: int
    """Associativity; equal to `entries` for fully associative."""


class NodeScalarTlb(TypedDict, total=False):
    """Its TLB; misses go to the second level."""

    entries: int
    """Translations held."""

    ways: int
    """Associativity; equal to `entries` for fully associative."""

    latency: str
    """Cycles of a lookup."""

    large: NodeScalarTlbLarge
    """Entries for pages of 2 MiB beside those for smaller ones. Without them, large pages use the entries of
    all."""


class NodeScalar(TypedDict, total=False):
    """Loads by the scalar unit."""

    units: int
    """Compute units that share a scalar cache."""

    cache: NodeScalarCache
    """The cache."""

    tlb: NodeScalarTlb
    """Its TLB; misses go to the second level."""

    issue: str
    """Cycles until the wavefront can issue its next instruction."""

    pipeline: str
    """Cycles from then on until the translation of the load begins."""

    in_flight: int
    """Requests that the cache has in flight at once, hits among them; the others wait in front of it. 0, the
    default: there is no such limit."""

    way_back: str
    """Cycles, part of the cache's latency, from when an answer leaves the cache until the wavefront has it: it is
    no longer in flight then. Default 0."""

    answer: str
    """Cycles between two answers that a compute unit takes. 0, the default: it takes all that come. Only where
    registers go to requests in order of time."""


class NodeL1(TypedDict, total=False):
    """First-level vector cache of one compute unit."""

    size: str
    """Capacity."""

    line: Literal["64B", "128B"]
    """Bytes of a line; default 64B. 128B only where requests are not served in order."""

    ways: int
    """Associativity, a power of two."""

    latency: str
    """Cycles from translation to data on a hit."""

    lookup: str
    """Cycles from translation until a miss or a store is sent on."""

    fill: str
    """Cycles from the arrival of a miss's line, or of a store's answer, until the wavefront has it."""

    fill_write: str
    """Cycles from the arrival of a miss's line until it is written and its way can be read and replaced; only where
    requests are served in order."""

    in_order: bool
    """Whether requests are served strictly in order, so that one that finds its line or all ways of its set being
    filled holds up those behind it. Otherwise such a request waits alone, and ways are replaced at once."""

    miss_registers: int
    """Outstanding misses (miss-status holding registers); requests of all kinds where they are served in order."""


class NodeL2(TypedDict, total=False):
    """Second-level cache of one GPU."""

    size: str
    """Capacity of all banks together."""

    line: Literal["64B", "128B"]
    """Bytes of a line; default 64B."""

    ways: int
    """Associativity, a power of two."""

    index: Literal["low-bits", "hashed"]
    """Which lines share a set; default `low-bits`."""

    banks: int
    """Banks; lines interleave over them by `dram.interleave`."""

    latency: str
    """Cycles from a bank's input to data on a hit."""

    lock: str
    """Cycles for which a line is locked until the answer to a store leaves, or the line that was fetched; at most
    the latency. An access that finds its line locked waits and holds up those behind it at the bank. So stores to
    one line follow one another by this much. 0: lines are not locked."""

    crossbar: str
    """Cycles from a compute unit to a bank, and back, each."""

    lines_per_cycle: int
    """Lines a bank accepts in each cycle."""

    miss_registers: int
    """Outstanding misses a bank."""


class NodeDram(TypedDict, total=False):
    """Memory of one GPU."""

    banks: int
    """Independent banks (channels)."""

    latency: str
    """Cycles from request to data of an idle bank."""

    line_cycles: str
    """Cycles a 64-byte line occupies its bank."""

    interleave: str
    """Consecutive bytes on one bank."""

    channel_banks: int
    """Banks that share a channel, between which a page moves when memory is compacted; default 1."""


class NodeL1Tlb(TypedDict, total=False):
    """First-level TLB of one compute unit."""

    entries: int
    """Translations held."""

    ways: int
    """Associativity; equal to `entries` for fully associative."""

    latency: str
    """Cycles of a lookup."""

    miss_registers: int
    """Outstanding misses."""

    invalidation: str
    """Cycles to shoot down one translation."""

    ports: int
    """Lookups that begin in one cycle; 0, the default, for no limit."""

    large: NodeScalarTlbLarge
    """Entries for pages of 2 MiB beside those for smaller ones. Both are looked up at once, at the price of one.
    Without them, large pages use the entries of all."""

    on_miss: Literal["non-blocking", "hits-under-misses", "blocking"]
    """What a miss holds up beside its own wavefront; only for `l1_tlb`, and only at fidelity `line`."""


class NodeWalker(TypedDict, total=False):
    """Page-table walkers of one GPU."""

    walkers: int
    """Walks at once."""

    level: str
    """Cycles to read one level of the page table, unless it is `in_memory`."""

    in_memory: bool
    """Whether the levels are read one after another from the GPU's second-level cache and memory, where they
    compete with everything else, rather than in a fixed time; default `false`."""

    cache_entries: int
    """Page-walk cache entries, each one table prefix of any level above the last."""

    queue: int
    """Walks that can wait; when full, misses hold their registers until one leaves."""

    scope: Literal["per-gpu", "node"]
    """Which GPUs share the walkers."""

    distance: str
    """Cycles from the second-level TLB to the walkers, one way."""


class NodeGpuLink(TypedDict, total=False):
    """Links between GPUs."""

    bandwidth: str
    """Payload bandwidth each way; of one link, where `links` says how many a pair of GPUs has."""

    to_host: str
    """Payload bandwidth towards the host, of a host link that differs by direction; default `bandwidth`."""

    latency: str
    """Cycles from one end to the other, one way."""

    sharing: Literal["per-gpu", "per-pair"] | Strategy
    """Who shares the bandwidth. The host link is always one a GPU."""


class NodeLinksItem(TypedDict, total=False):
    """Two GPUs with links of their own."""

    gpus: Sequence[int]
    """The two, from 0, in any order."""

    count: int
    """Links between them, which what they send shares."""


class NodeSwitches(TypedDict, total=False):
    """Switches that links between GPUs go through, if they do."""

    gpus: int
    """GPUs below one switch."""

    across: str
    """Cycles that a path across the root takes longer than one below a switch, one way."""

    in_order: bool
    """Whether packets pass a switch one behind the other. Then one that waits for its way out holds up those behind
    it, whatever theirs is, for at most its own length for each other input. Links between GPUs serve packets in the
    order in which they arrive. Otherwise, the default (`false`), each packet waits for its own way out alone."""


class NodeHostSwitches(TypedDict, total=False):
    """Switches between the host and GPUs, if links to the host are shared."""

    gpus: int
    """GPUs below one switch; with 1 nothing is shared."""


class NodeCopyEnginesOccupied(TypedDict, total=False):
    """For how long each copy occupies its engine beside its bytes; not at all if left out."""

    to_gpu: str
    """Towards the GPU."""

    to_host: str
    """Towards the host."""


class NodeCopyEngines(TypedDict, total=False):
    """Engines that copy pages. Unless said, a copy begins with its command, and is read whole before it is sent and
    sent whole before it is written."""

    setup: str
    """Time from the command to a copy's first byte. It passes while an engine is busy with the copy before."""

    piece: str
    """Time from one piece of a copy to the next: what lies in one frame of the host. The link is free meanwhile."""

    occupied: NodeCopyEnginesOccupied
    """For how long each copy occupies its engine beside its bytes; not at all if left out."""


class NodeCoherence(TypedDict, total=False):
    """Coherence between the host and GPUs. Unless said, the host reaches no memory of GPUs, and GPUs fault on what
    is the operating system's."""

    gpu_memory: Literal["numa", "cdmm"]
    """What GPUs' memory is to the operating system."""

    walk: str
    """Time of the host's walker for a translation that a GPU asks for (ATS), beside the link both ways."""

    walkers: int
    """Such walks at once."""

    first_touch: str
    """A GPU's first touch of a page, of any size: the kernel's time, without the walk, the way there and the
    clearing of the page."""

    first_touch_cores: int
    """Such faults that the kernel serves at once."""

    cpu_latency: str
    """Time from a core's request of a line in a GPU's memory to its data, the link included."""


class NodeRemote(TypedDict, total=False):
    """Cache-line access to another processor's memory."""

    lines_in_flight: int
    """Remote lines a GPU may have in flight (0: no limit)."""

    header: str
    """Bytes of a read request, or of the header of a packet that carries a line."""

    write_queue: int
    """Entries of the coalescing write queue for broadcast stores (GPS), one a GPU."""


class NodeHostMemory(TypedDict, total=False):
    """Its first memory, the nearest to its cores. The keys for remote lines and for cores have its speed."""

    capacity: str
    """Bytes that it holds; 0, the default, for no limit."""


class NodeHostMemoriesItem(TypedDict, total=False):
    """Another memory of the host."""

    name: str
    """Its name in results and errors."""

    kind: Literal["numa", "cxl"]
    """What it is."""

    capacity: str
    """Bytes that it holds."""

    bandwidth: str
    """Bandwidth that all reads and writes share: of cores, copies, and remote lines of GPUs."""

    latency: str
    """Time from a request on the host to its data, for cores, copies, and remote lines of GPUs."""


class NodeHostCpuTlb(TypedDict, total=False):
    """Translations that a core keeps."""

    entries: int
    """Entries."""

    ways: int
    """Ways of a set."""

    walk: str
    """Time of a page-table walk after a miss."""


class NodeHostCpu(TypedDict, total=False):
    """Its cores, for the phases in which the host computes."""

    cores: int
    """Cores: threads that run at once."""

    lines_in_flight: int
    """Lines of 64 bytes that a core can have in flight, those that its prefetcher asks for included."""

    line_issue: str
    """Time from one line to the next that a core can issue."""

    memory_latency: str
    """Time from the request of a line to its data, in host memory."""

    memory_bandwidth: str
    """Bandwidth of host memory that all cores share, and copies with them."""

    tlb: NodeHostCpuTlb
    """Translations that a core keeps."""


class NodeHostCostsDeviceAllocate(TypedDict, total=False):
    """A call that allocates."""

    call: str
    """The call."""

    each: str
    """Each piece of what it allocates or frees, besides; 0, the default, if its size is of no consequence."""

    below_chunk: str
    """All that a call for less than 2 MiB costs, which the driver has from a chunk that is there already; 0, the
    default, if as much as a larger one."""


class NodeHostCostsDevice(TypedDict, total=False):
    """GPU memory (`cudaMalloc`, `cudaFree`), by chunks of 2 MiB."""

    allocate: NodeHostCostsDeviceAllocate
    """A call that allocates."""

    free: NodeHostCostsDeviceAllocate
    """A call that frees."""


class NodeHostCostsStaging(TypedDict, total=False):
    """Copies of ordinary memory pass through pinned memory of the driver."""

    to_gpu: str
    """Bandwidth to a GPU."""

    to_host: str
    """Bandwidth from a GPU."""


class NodeHostCosts(TypedDict, total=False):
    """Costs of allocating, populating, copying and freeing."""

    device: NodeHostCostsDevice
    """GPU memory (`cudaMalloc`, `cudaFree`), by chunks of 2 MiB."""

    pinned: NodeHostCostsDevice
    """Pinned memory (`cudaMallocHost`, `cudaFreeHost`), by 4 KiB, zeroing not counted."""

    managed: NodeHostCostsDevice
    """Managed memory (`cudaMallocManaged`, `cudaFree`). What is touched costs when it is touched, and when it is
    freed (`unmap_page`)."""

    system: NodeHostCostsDevice
    """Memory of the operating system (`malloc`, `free`), as managed memory."""

    frame: str
    """Each frame of any size that the driver makes for pages that leave a GPU (`memory.host_frames`)."""

    minor_fault: str
    """A fault of a core at its first touch of a page, zeroing not counted."""

    driver_fault: str
    """The driver's computing time when a core faults on a page that lies on a GPU. `minor_fault` and the page's way
    back come on top. 0 if left out."""

    zeroing: str
    """Bandwidth of one core that allocates and zeroes pages."""

    unmap_page: str
    """Each page whose mapping goes when it is freed."""

    copy_call: str
    """A call that copies, until its first byte moves."""

    staging: NodeHostCostsStaging
    """Copies of ordinary memory pass through pinned memory of the driver."""

    advice_call: str
    """A call that prefetches or gives advice."""

    context: str
    """The first call of a program that needs a GPU, which creates its context; 0, the default, leaves it out."""


class NodeHost(TypedDict, total=False):
    """The host: its part of a far fault, its cores and what memory costs there."""

    walkers: int
    """Page-table walks at once, of far faults."""

    level: str
    """Cycles to read one level of the host's page table, for far faults."""

    memory_latency: str
    """Cycles from request to data of host memory, for remote lines and policy metadata."""

    fault_message: str
    """Bytes of a fault or counter notification on its way to the host, and of its answer."""

    page_sizes: Sequence[str]
    """Sizes of pages that its kernel can be built for; any, unless said."""

    memory: NodeHostMemory
    """Its first memory, the nearest to its cores. The keys for remote lines and for cores have its speed."""

    memories: Sequence[NodeHostMemoriesItem]
    """Its other memories. Pages fill the first memory, then these, the one of lowest latency first."""

    cpu: NodeHostCpu
    """Its cores, for the phases in which the host computes."""

    costs: NodeHostCosts
    """Costs of allocating, populating, copying and freeing."""

    preset: Literal["x86-server", "grace", "gb10", "mi300a", "strix-halo", "power8"] | str
    """Values to start from."""


class NodeDriverService(TypedDict, total=False):
    """How requests are served."""

    model: Literal["pool", "batch"]

    service: str
    """Time one server spends on one request."""

    servers: int
    """Servers."""

    size: int
    """Most requests a batch."""

    batch: str
    """Fixed time a batch."""

    request: str
    """Time for each request in it."""

    block: str
    """Time for each block of 2 MiB with faults of the batch, no matter how many: the production driver serves them
    together. `0ns`, the default: only the requests' time counts."""

    replay: Literal["block", "batch", "batch-flush", "once"]
    """When processors with served faults continue, and how faults that came meanwhile are treated; default `batch`,
    which is not written out."""

    interrupt: str
    """Time from the first request to an idle driver until it takes a batch of all requests that are there then: for
    an interrupt and for scheduling the driver. `0ns`, the default: it takes the first request at once, alone."""

    scope: Literal["node", "per-gpu"]
    """Which requests share a queue; each queue serves one batch at a time. `node`, the default: the requests of all
    GPUs."""


class NodeDriverTransFw(TypedDict, total=False):
    """Forward walks of far faults to the GPU that probably has the translation."""

    filter_entries: int
    """Entries of the filter that guesses which GPU holds a translation. One filter stands for all filters of GPUs
    and host; a look-up costs nothing."""

    fingerprint_bits: int
    """Bits of the fingerprint an entry keeps; two pages with the same slot and fingerprint are confused."""


class NodeDriver(TypedDict, total=False):
    """The driver's service of faults, counter notifications and reports."""

    release: str
    """Release of NVIDIA's driver, such as 615 or 580.159.04, or `none`. It decides what is not said:
    `memory.guard.adaptive_lapse` (from 590 on) and `node.coherence.gpu_memory` (`cdmm` from 615 on)."""

    service: NodeDriverService
    """How requests are served."""

    entry_write: str
    """Cycles to write a page-table entry."""

    drain: Literal["whole-gpu", "touched-units"]
    """Which compute units stop for a drain."""

    trans_fw: NodeDriverTransFw
    """Forward walks of far faults to the GPU that probably has the translation."""

    preset: Literal["paper", "hardware", "stock-driver", "uvmsmart", "demand-paging"] | str
    """Values to start from."""


class NodeCapacityChangeItem(TypedDict, total=False):
    """From a time on, GPUs have another amount of memory: some was taken away, or given back."""

    at: str
    """Simulated time at which it changes, after 0."""

    gpus: Sequence[int]
    """The GPUs whose memory it is, from 0; all if left out."""

    footprint_percent: int
    """Share of the workload's footprint that fits from then on, in per cent, as before; either that or `bytes`."""

    bytes: str
    """Memory of each of them from then on; either that or `footprint_percent`."""


class NodeCapacity(TypedDict, total=False):
    """Memory of one GPU available to the workload."""

    footprint_percent: int
    """Share of the workload's footprint that fits, in per cent; 0 for no limit."""

    scope: Literal["per-gpu", "total"]
    """Whether the share is one GPU's memory or all GPUs' together."""

    bytes: str
    """Memory of each GPU, independent of the footprint; 0, the default: the share decides."""

    change: Sequence[NodeCapacityChangeItem]
    """How it changes while a workload runs."""


class Node(TypedDict, total=False):
    """The node that it runs on."""

    gpus: int
    """Number of GPUs, 1 to 72."""

    clock: str
    """Clock of the GPUs' compute units, caches and translation."""

    fidelity: Literal["line", "page"]
    """How closely accesses to a GPU's own memory are followed; default `line`."""

    settled: NodeSettled
    """Replaces cache tags at fidelity `page`."""

    dispatch: (
        Literal["even-split"] | Literal["unit-multiples"] | Literal["fill-first"] | Literal["round-robin"] |
        Literal["round-robin-units"] | NodeDispatch
    )
    """Which work-groups of a launch run on which GPU."""

    compute: NodeCompute
    """Compute units of one GPU."""

    fetch: NodeFetch
    """Instruction fetch."""

    scalar: NodeScalar
    """Loads by the scalar unit."""

    launch_discards: Literal["none", "first-level"]
    """Which caches a launch finds empty."""

    l1: NodeL1
    """First-level vector cache of one compute unit."""

    l2: NodeL2
    """Second-level cache of one GPU."""

    dram: NodeDram
    """Memory of one GPU."""

    l1_tlb: NodeL1Tlb
    """First-level TLB of one compute unit."""

    l2_tlb: NodeL1Tlb
    """Second-level TLB of one GPU."""

    walker: NodeWalker
    """Page-table walkers of one GPU."""

    ideal_tlb: bool
    """Whether every access finds its translation in a first-level TLB, an upper bound: only faults remain. Default
    `false`."""

    registers_in_time_order: bool
    """Whether miss registers of caches and TLBs, and walkers with their queue, are given out in order of time: each
    is free until its request begins. Otherwise, the default (`false`), they are given out in the order of requests,
    some of which are made ahead of time and hold up others that begin earlier."""

    gpu_link: NodeGpuLink
    """Links between GPUs."""

    links: Sequence[NodeLinksItem]
    """Which GPUs are linked and by how many links. What others send each other goes through the host; `[]` links
    none. A node of fewer GPUs has the links among those. Unless said, all are linked, as `gpu_link.sharing`
    says."""

    switches: NodeSwitches
    """Switches that links between GPUs go through, if they do."""

    host_link: NodeGpuLink
    """Link of one GPU to the host."""

    host_switches: NodeHostSwitches
    """Switches between the host and GPUs, if links to the host are shared."""

    copy_engines: NodeCopyEngines
    """Engines that copy pages. Unless said, a copy begins with its command, and is read whole before it is sent and
    sent whole before it is written."""

    coherence: NodeCoherence
    """Coherence between the host and GPUs. Unless said, the host reaches no memory of GPUs, and GPUs fault on what
    is the operating system's."""

    system_memory: Literal["offered", "none"]
    """Whether GPUs can use memory of the operating system (`malloc`); default `offered`."""

    remote: NodeRemote
    """Cache-line access to another processor's memory."""

    host: NodeHost
    """The host: its part of a far fault, its cores and what memory costs there."""

    driver: NodeDriver
    """The driver's service of faults, counter notifications and reports."""

    capacity: NodeCapacity
    """Memory of one GPU available to the workload."""

    preset: (
        Literal["grit-2gpu", "grit-4gpu", "grit-8gpu", "grit-16gpu", "r9nano", "r9nano-4", "cuda-sm60", "cuda-sm70",
        "cuda-sm80", "cuda-sm90", "mosaic-30sm", "mosaic-30sm-published-simulator", "dgx-v100-4", "hgx-h100-8",
        "b200-8", "h200-nvl", "gh200", "gh200-numa", "gh200-cdmm", "gb200", "gb300", "gb10", "x86-h100-hmm", "mi300a",
        "mi300a-4", "strix-halo", "x86-p100-pcie3", "power8-p100", "gtx1080ti-uvmsmart"] | str
    )
    """Values to start from."""

    memory_preset: Literal["plain", "stock-driver", "uvmsmart", "grace-hopper", "one-memory"]
    """The preset of the memory system that a scenario has which names none."""


class Config(TypedDict, total=False):
    """A scenario, or changes to one."""

    name: str
    """A name for reports."""

    seed: int
    """Seed of everything random."""

    workload: (
        Literal["bfs-shoc", "bitonicsort", "c2d", "fir", "gemm", "matrixmultiplication", "simpleconvolution",
        "stencil2d", "relu", "transpose", "vectoradd", "trd", "red", "scan", "scp", "blk", "fwt", "gups", "histo",
        "spmv", "nw", "bfs-rodinia", "nearestneighbor", "cons", "hs", "3ds", "fft", "lps", "srad", "bp", "lud", "lib",
        "sad", "cfd", "streamcluster", "pagerank", "bfs-balanced", "wcc", "sssp", "louvain", "pathfinder",
        "quantum-volume", "aes", "kmeans", "mst", "background", "alignment", "bst", "evolution", "touch", "atax",
        "fdtd2d", "random-access", "dijkstra", "vgg16", "resnet18", "resnet50", "resnet101", "mobilenet_v3_large",
        "gnmt16", "llm-decode", "moe-decode", "step", "trace"] | str | Workload
    )
    """The program that runs, if there is only one."""

    job: Sequence[JobItem]
    """Programs that run beside one another, if there are several."""

    program: JobItemProgram
    """The program around the workload's launches."""

    executor: Executor
    """The part that carries out the memory manager's decisions."""

    memory: Memory
    """How pages are managed."""

    record: Record
    """Records besides totals."""

    node: Node
    """The node that it runs on."""
