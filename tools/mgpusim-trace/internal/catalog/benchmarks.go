package catalog

import (
	"errors"
	"math"

	"github.com/sarchlab/mgpusim/v4/amd/benchmarks"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/amdappsdk/bitonicsort"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/amdappsdk/fastwalshtransform"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/amdappsdk/floydwarshall"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/amdappsdk/matrixmultiplication"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/amdappsdk/matrixtranspose"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/amdappsdk/nbody"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/amdappsdk/simpleconvolution"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/amdappsdk/vectoradd"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/heteromark/aes"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/heteromark/fir"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/heteromark/kmeans"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/heteromark/pagerank"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/polybench/atax"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/polybench/bicg"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/rodinia/nw"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/shoc/bfs"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/shoc/fft"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/shoc/spmv"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/shoc/stencil2d"
	"github.com/sarchlab/mgpusim/v4/amd/driver"
)

var all = []Benchmark{
	{
		Name:    "fir",
		Summary: "finite impulse response filter (Hetero-Mark)",
		Buffers: []string{"history", "input", "output", "filter"},
		define: func(p *parameters) build {
			length := p.int("length", 4096, "samples to filter", positive)
			taps := p.int("taps", 16, "taps of the filter", positive)
			return always(func(d *driver.Driver) benchmarks.Benchmark {
				b := fir.NewBenchmark(d)
				b.Length, b.NumTapsParam = *length, *taps
				return b
			})
		},
	},
	{
		Name:    "bfs",
		Summary: "breadth-first search of a random or a given graph (SHOC)",
		Buffers: []string{"levels", "edge offsets", "edges", "flag"},
		define:  defineBFS,
	},
	{
		Name:    "bitonicsort",
		Summary: "bitonic sort of random numbers (AMD APP SDK)",
		Buffers: []string{"data"},
		define: func(p *parameters) build {
			length := p.int("length", 1024, "numbers to sort", powerOfTwo)
			ascending := p.bool("order-asc", true, "sort in ascending order")
			return always(func(d *driver.Driver) benchmarks.Benchmark {
				b := bitonicsort.NewBenchmark(d)
				b.Length, b.OrderAscending = *length, *ascending
				return b
			})
		},
	},
	{
		Name:    "matrixmultiplication",
		Summary: "product of two matrices (AMD APP SDK)",
		Buffers: []string{"a", "b", "c"},
		define: func(p *parameters) build {
			x := p.int("x", 64, "width of the first matrix and height of the second", multipleOf(32))
			y := p.int("y", 64, "height of the first matrix", multipleOf(32))
			z := p.int("z", 64, "width of the second matrix", multipleOf(32))
			return always(func(d *driver.Driver) benchmarks.Benchmark {
				b := matrixmultiplication.NewBenchmark(d)
				b.X, b.Y, b.Z = uint32(*x), uint32(*y), uint32(*z)
				return b
			})
		},
	},
	{
		Name:    "simpleconvolution",
		Summary: "convolution of an image with a mask (AMD APP SDK)",
		Buffers: []string{"input", "output", "mask"},
		define: func(p *parameters) build {
			width := p.int("width", 254, "width of the image", positive)
			height := p.int("height", 254, "height of the image", positive)
			mask := p.int("mask-size", 3, "width and height of the mask", positive)
			return always(func(d *driver.Driver) benchmarks.Benchmark {
				b := simpleconvolution.NewBenchmark(d)
				b.Width, b.Height = uint32(*width), uint32(*height)
				b.SetMaskSize(uint32(*mask))
				return b
			})
		},
	},
	{
		Name:    "stencil2d",
		Summary: "stencil of nine points (SHOC)",
		Buffers: []string{"data 1", "data 2"},
		define: func(p *parameters) build {
			rows := p.int("row", 64, "rows, without the halo", multipleOf(16))
			columns := p.int("col", 64, "columns, without the halo", multipleOf(64))
			iterations := p.int("iter", 1, "iterations", positive)
			return always(func(d *driver.Driver) benchmarks.Benchmark {
				const halo = 2 // the benchmark counts it in
				b := stencil2d.NewBenchmark(d)
				b.NumRows, b.NumCols, b.NumIteration = *rows+halo, *columns+halo, *iterations
				return b
			})
		},
	},
	{
		Name:    "matrixtranspose",
		Summary: "transpose of a square matrix (AMD APP SDK)",
		Buffers: []string{"input", "output"},
		define: func(p *parameters) build {
			width := p.int("width", 256, "rows and columns", multipleOf(64))
			return always(func(d *driver.Driver) benchmarks.Benchmark {
				b := matrixtranspose.NewBenchmark(d)
				b.Width = *width
				return b
			})
		},
	},
	{
		Name:    "vectoradd",
		Summary: "sum of two vectors",
		Buffers: []string{"a", "b", "c"},
		define: func(p *parameters) build {
			width := p.int("width", 1024, "width of the grid of elements", positive)
			height := p.int("height", 1024, "height of the grid of elements", positive)
			return always(func(d *driver.Driver) benchmarks.Benchmark {
				b := vectoradd.NewBenchmark(d)
				b.Width, b.Height = uint32(*width), uint32(*height)
				return b
			})
		},
	},
	{
		Name:    "aes",
		Summary: "AES-256 encryption of random bytes (Hetero-Mark)",
		Buffers: []string{"data", "expanded key", "s-box"},
		define: func(p *parameters) build {
			length := p.int("length", 65536, "bytes to encrypt", multipleOf(16))
			return always(func(d *driver.Driver) benchmarks.Benchmark {
				b := aes.NewBenchmark(d)
				b.Length = *length
				return b
			})
		},
	},
	{
		Name:    "kmeans",
		Summary: "k-means clustering (Hetero-Mark)",
		Buffers: []string{"features", "features swapped", "membership", "clusters"},
		define: func(p *parameters) build {
			points := p.int("points", 1024, "points", positive)
			clusters := p.int("clusters", 5, "clusters", positive)
			features := p.int("features", 32, "features of each point", positive)
			iterations := p.int("max-iter", 5, "most iterations", positive)
			return func() (Maker, error) {
				if *clusters > *points {
					return nil, errors.New("more clusters than points")
				}
				return func(d *driver.Driver) benchmarks.Benchmark {
					b := kmeans.NewBenchmark(d)
					b.NumPoints, b.NumClusters, b.NumFeatures, b.MaxIter = *points, *clusters, *features, *iterations
					return b
				}, nil
			}
		},
	},
	{
		Name:    "pagerank",
		Summary: "PageRank of a random graph (Hetero-Mark)",
		Buffers: []string{"ranks", "ranks next", "row offsets", "columns", "values"},
		define: func(p *parameters) build {
			nodes := p.int("node", 16, "nodes", positive)
			sparsity := p.share("sparsity", 0.001, "edges as a share of all possible ones; at least one a node")
			iterations := p.int("iterations", 16, "iterations", positive)
			return always(func(d *driver.Driver) benchmarks.Benchmark {
				edges := max(*nodes, int(float64(*nodes**nodes)**sparsity))
				b := pagerank.NewBenchmark(d)
				b.NumNodes, b.NumConnections, b.MaxIterations = uint32(*nodes), uint32(edges), uint32(*iterations)
				return b
			})
		},
	},
	{
		Name:    "atax",
		Summary: "transposed matrix times matrix times vector (Polybench)",
		Buffers: []string{"a", "x", "y", "tmp"},
		define: func(p *parameters) build {
			x := p.int("x", 4096, "rows", positive)
			y := p.int("y", 4096, "columns", positive)
			return func() (Maker, error) {
				if *x != *y {
					return nil, errors.New("-x and -y differ: MGPUSim then copies a vector into a buffer of another size")
				}
				return func(d *driver.Driver) benchmarks.Benchmark {
					b := atax.NewBenchmark(d)
					b.NX, b.NY = *x, *y
					return b
				}, nil
			}
		},
	},
	{
		Name:    "bicg",
		Summary: "kernel of the biconjugate gradient method (Polybench)",
		Buffers: []string{"a", "r", "s", "p", "q"},
		define: func(p *parameters) build {
			x := p.int("x", 4096, "rows", positive)
			y := p.int("y", 4096, "columns", positive)
			return always(func(d *driver.Driver) benchmarks.Benchmark {
				b := bicg.NewBenchmark(d)
				b.NX, b.NY = *x, *y
				return b
			})
		},
	},
	{
		Name:    "nw",
		Summary: "Needleman-Wunsch alignment of two sequences (Rodinia)",
		Buffers: []string{"input items", "output items", "reference"},
		define: func(p *parameters) build {
			length := p.int("length", 64, "bases of a sequence", multipleOf(64))
			return always(func(d *driver.Driver) benchmarks.Benchmark {
				b := nw.NewBenchmark(d)
				b.SetLength(*length)
				return b
			})
		},
	},
	{
		Name:    "fft",
		Summary: "fast Fourier transforms of 512 points (SHOC)",
		Buffers: []string{"data"},
		define: func(p *parameters) build {
			megabytes := p.int("MB", 8, "data in MiB", positive)
			bytes := p.int("bytes", 0, "data in bytes, a multiple of 8192; 0: as -MB says", orZero)
			passes := p.int("passes", 1, "passes", positive)
			return func() (Maker, error) {
				if *bytes%8192 != 0 {
					return nil, errors.New("-bytes: has to be a multiple of 8192")
				}
				return func(d *driver.Driver) benchmarks.Benchmark {
					b := fft.NewBenchmark(d)
					b.Bytes, b.BytesMode, b.Passes = int64(*megabytes), *bytes > 0, int32(*passes)
					if b.BytesMode {
						b.Bytes = int64(*bytes)
					}
					return b
				}, nil
			}
		},
	},
	{
		Name:    "spmv",
		Summary: "sparse matrix times vector (SHOC)",
		Buffers: []string{"values", "vector", "columns", "row offsets", "output"},
		define: func(p *parameters) build {
			dim := p.int("dim", 128, "rows and columns", positive)
			sparsity := p.share("sparsity", 0.01, "elements that are not zero, as a share of all")
			return func() (Maker, error) {
				if float64(*dim)*float64(*dim)**sparsity < 1 {
					return nil, errors.New("-sparsity: the matrix would have no element")
				}
				return func(d *driver.Driver) benchmarks.Benchmark {
					b := spmv.NewBenchmark(d)
					b.Dim, b.Sparsity = int32(*dim), *sparsity
					return b
				}, nil
			}
		},
	},
	{
		Name:    "floydwarshall",
		Summary: "shortest paths between all nodes (AMD APP SDK)",
		Buffers: []string{"paths", "distances"},
		define: func(p *parameters) build {
			nodes := p.int("node", 16, "nodes", multipleOf(8))
			iterations := p.int("iter", 0, "iterations; 0: as many as nodes", orZero)
			return always(func(d *driver.Driver) benchmarks.Benchmark {
				b := floydwarshall.NewBenchmark(d)
				b.NumNodes, b.NumIterations = uint32(*nodes), uint32(*iterations)
				return b
			})
		},
	},
	{
		Name:    "fastwalshtransform",
		Summary: "fast Walsh transform (AMD APP SDK)",
		Buffers: []string{"data"},
		define: func(p *parameters) build {
			length := p.int("length", 1024, "numbers to transform", powerOfTwo)
			return always(func(d *driver.Driver) benchmarks.Benchmark {
				b := fastwalshtransform.NewBenchmark(d)
				b.Length = uint32(*length)
				return b
			})
		},
	},
	{
		Name:    "nbody",
		Summary: "gravitation between bodies (AMD APP SDK)",
		Buffers: []string{"positions 1", "positions 2", "velocities 1", "velocities 2"},
		define: func(p *parameters) build {
			iterations := p.int("iter", 8, "iterations", positive)
			particles := p.int("particles", 1024, "bodies", multipleOf(256))
			return always(func(d *driver.Driver) benchmarks.Benchmark {
				b := nbody.NewBenchmark(d)
				b.NumIterations, b.NumParticles = int32(*iterations), int32(*particles)
				return b
			})
		},
	},
	reluBenchmark,
	im2colBenchmark,
	conv2dBenchmark,
	xorBenchmark,
}

// always is for parameters that need no checks beyond those of each.
func always(maker Maker) build {
	return func() (Maker, error) { return maker, nil }
}

func defineBFS(p *parameters) build {
	nodes := p.int("node", 64, "nodes of the random graph", positive)
	degree := p.int("degree", 3, "average degree of the random graph", positive)
	depth := p.int("depth", 0, "most levels; 0: no limit", orZero)
	path := p.string("load-graph", "file with a graph, an edge a line: FROM TO")
	return func() (Maker, error) {
		if *path != "" && (p.given("node") || p.given("degree")) {
			return nil, errors.New("-node and -degree describe a random graph, -load-graph brings one")
		}
		return func(d *driver.Driver) benchmarks.Benchmark {
			b := bfs.NewBenchmark(d)
			b.Path, b.NumNode, b.Degree, b.MaxDepth = *path, *nodes, *degree, *depth
			if b.MaxDepth == 0 {
				b.MaxDepth = math.MaxInt32
			}
			return b
		}, nil
	}
}
