// Command launches runs one benchmark of MGPUSim as its stock sample does and
// also writes one row per command of the driver: kernel launches with their
// begin and end, and copies with the lines they move and the cache flushes
// they cause.
//
//	launches -benchmark bfs -node 1024 -degree 3 -timing -disable-rtm -commands out.csv
//
// The simulator's own flags (-timing, -unified-gpus, ...) are the samples' flags.
package main

import (
	"encoding/csv"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"sort"
	"strings"

	"github.com/sarchlab/akita/v4/sim"
	"github.com/sarchlab/akita/v4/tracing"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/amdappsdk/bitonicsort"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/amdappsdk/fastwalshtransform"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/amdappsdk/floydwarshall"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/amdappsdk/nbody"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/dnn/layer_benchmarks/conv2d"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/dnn/training_benchmarks/xor"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/heteromark/kmeans"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/heteromark/pagerank"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/polybench/atax"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/polybench/bicg"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/rodinia/nw"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/shoc/bfs"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/shoc/fft"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/shoc/stencil2d"
	"github.com/sarchlab/mgpusim/v4/amd/protocol"
	"github.com/sarchlab/mgpusim/v4/amd/samples/runner"
)

var (
	name       = flag.String("benchmark", "", "The benchmark to run: one with more than one launch.")
	output     = flag.String("commands", "commands.csv", "Where to write the driver's commands.")
	length     = flag.Int("length", 1024, "As in the sample.")
	node       = flag.Int("node", 64, "As in the sample.")
	degree     = flag.Int("degree", 3, "As in the sample.")
	sparsity   = flag.Float64("sparsity", 0.001, "As in the sample.")
	iterations = flag.Int("iterations", 16, "As in the sample.")
	iter       = flag.Int("iter", -1, "As in the sample; a negative number is the sample's default.")
	points     = flag.Int("points", 1024, "As in the sample.")
	particles  = flag.Int("particles", 1024, "As in the sample.")
	row        = flag.Int("row", 64, "As in the sample.")
	col        = flag.Int("col", 64, "As in the sample.")
	x          = flag.Int("x", 4096, "As in the sample.")
	y          = flag.Int("y", 4096, "As in the sample.")
	batch      = flag.Int("N", 1, "As in the sample.")
	channels   = flag.Int("C", 1, "As in the sample.")
	height     = flag.Int("H", 28, "As in the sample.")
	width      = flag.Int("W", 28, "As in the sample.")
	outputs    = flag.Int("output-channel", 3, "As in the sample.")

	kernelHeight = flag.Int("kernel-height", 3, "As in the sample.")
	kernelWidth  = flag.Int("kernel-width", 3, "As in the sample.")
	padX         = flag.Int("pad-x", 0, "As in the sample.")
	padY         = flag.Int("pad-y", 0, "As in the sample.")
	strideX      = flag.Int("stride-x", 1, "As in the sample.")
	strideY      = flag.Int("stride-y", 1, "As in the sample.")
	backward     = flag.Bool("enable-backward", false, "As in the sample.")
	depth        = flag.Int("depth", 0, "As in the sample.")
	ascending    = flag.Bool("order-asc", true, "As in the sample.")
	clusters     = flag.Int("clusters", 5, "As in the sample.")
	features     = flag.Int("features", 32, "As in the sample.")
	mostIter     = flag.Int("max-iter", 5, "As in the sample.")
	megabytes    = flag.Int("MB", 8, "As in the sample.")
	bytes        = flag.Int("bytes", 0, "As in the sample.")
	passes       = flag.Int("passes", 1, "As in the sample.")
)

func orDefault(v, otherwise int) int {
	if v < 0 {
		return otherwise
	}
	return v
}

// build sets up a benchmark with the values its sample would give it.
func build(r *runner.Runner) benchmarks.Benchmark {
	switch d := r.Driver(); *name {
	case "atax":
		b := atax.NewBenchmark(d)
		b.Arch, b.NX, b.NY = r.ArchType, *x, *y
		return b
	case "bfs":
		b := bfs.NewBenchmark(d)
		b.Arch, b.NumNode, b.Degree, b.MaxDepth = r.ArchType, *node, *degree, *depth
		if b.MaxDepth == 0 {
			b.MaxDepth = math.MaxInt32
		}
		return b
	case "bicg":
		b := bicg.NewBenchmark(d)
		b.Arch, b.NX, b.NY = r.ArchType, *x, *y
		return b
	case "bitonicsort":
		b := bitonicsort.NewBenchmark(d)
		b.Arch, b.Length, b.OrderAscending = r.ArchType, *length, *ascending
		return b
	case "conv2d":
		b := conv2d.NewBenchmark(d)
		b.N, b.C, b.H, b.W = *batch, *channels, *height, *width
		b.KernelChannel, b.KernelWidth, b.KernelHeight = *outputs, *kernelWidth, *kernelHeight
		b.PadX, b.PadY, b.StrideX, b.StrideY = *padX, *padY, *strideX, *strideY
		b.EnableBackward, b.Arch = *backward, r.ArchType
		return b
	case "fastwalshtransform":
		b := fastwalshtransform.NewBenchmark(d)
		b.Arch, b.Length = r.ArchType, uint32(*length)
		return b
	case "fft":
		b := fft.NewBenchmark(d)
		b.Arch, b.Bytes, b.Passes = r.ArchType, int64(*megabytes), int32(*passes)
		if *bytes > 0 {
			b.Bytes, b.BytesMode = int64(*bytes), true
		}
		return b
	case "floydwarshall":
		b := floydwarshall.NewBenchmark(d)
		b.Arch, b.NumNodes = r.ArchType, uint32(*node)
		b.NumIterations = uint32(orDefault(*iter, 0))
		return b
	case "kmeans":
		b := kmeans.NewBenchmark(d)
		b.Arch, b.NumPoints = r.ArchType, *points
		b.NumClusters, b.NumFeatures, b.MaxIter = *clusters, *features, *mostIter
		return b
	case "nbody":
		b := nbody.NewBenchmark(d)
		b.Arch, b.NumParticles = r.ArchType, int32(*particles)
		b.NumIterations = int32(orDefault(*iter, 8))
		return b
	case "nw":
		b := nw.NewBenchmark(d)
		b.Arch = r.ArchType
		b.SetLength(*length)
		return b
	case "pagerank":
		b := pagerank.NewBenchmark(d)
		edges := max(int(float64(*node**node)*min(*sparsity, 1)), *node)
		b.Arch, b.NumNodes, b.NumConnections = r.ArchType, uint32(*node), uint32(edges)
		b.MaxIterations = uint32(*iterations)
		return b
	case "stencil2d":
		b := stencil2d.NewBenchmark(d)
		b.Arch, b.NumIteration = r.ArchType, orDefault(*iter, 1)
		b.NumRows, b.NumCols = *row+2, *col+2
		return b
	case "xor":
		return xor.NewBenchmark(d)
	}
	log.Fatalf("-benchmark: %q is not one of those with several launches", *name)
	return nil
}

// A command is what the driver does in one piece for a program.
type command struct {
	what           string
	begin, end     float64 // cycles
	kernel         string
	grid, group    string
	flushes, lines int
	bytes          int
}

// recorder keeps the driver's commands. The simulator calls it one event at a time.
type recorder struct {
	clock sim.TimeTeller
	open  map[string]*command
	all   []*command
}

func (r *recorder) now() float64 {
	return math.Round(float64(r.clock.CurrentTime()) * 1e9)
}

// lines of 64 bytes that a copy of n bytes at an address touches
func linesOf(address uint64, n int) int {
	if n == 0 {
		return 0
	}
	return int((address+uint64(n)-1)/64 - address/64 + 1)
}

// StartTask sees commands, and the requests that a command sends.
func (r *recorder) StartTask(task tracing.Task) {
	if task.Kind == "Driver Command" {
		what := strings.TrimSuffix(strings.TrimPrefix(task.What, "*driver."), "Command")
		c := &command{what: what, begin: r.now()}
		// requests may be announced before their command
		if early := r.open[task.ID]; early != nil {
			early.what, early.begin = c.what, c.begin
			c = early
		}
		r.open[task.ID] = c
		r.all = append(r.all, c)
		return
	}
	if task.Kind != "req_out" {
		return
	}
	c := r.open[task.ParentID]
	if c == nil {
		c = &command{}
		r.open[task.ParentID] = c
	}
	switch req := task.Detail.(type) {
	case *protocol.LaunchKernelReq:
		if s := req.CodeObject.Symbol; s != nil {
			c.kernel = s.Name
		}
		p := req.Packet
		c.grid = fmt.Sprintf("%dx%dx%d", p.GridSizeX, p.GridSizeY, p.GridSizeZ)
		c.group = fmt.Sprintf("%dx%dx%d", p.WorkgroupSizeX, p.WorkgroupSizeY, p.WorkgroupSizeZ)
	case *protocol.MemCopyH2DReq:
		c.bytes += len(req.SrcBuffer)
		c.lines += linesOf(req.DstAddress, len(req.SrcBuffer))
	case *protocol.MemCopyD2HReq:
		c.bytes += len(req.DstBuffer)
		c.lines += linesOf(req.SrcAddress, len(req.DstBuffer))
	case *protocol.FlushReq:
		c.flushes++
	}
}

// StepTask is of no interest here.
func (r *recorder) StepTask(tracing.Task) {}

// AddMilestone is of no interest here.
func (r *recorder) AddMilestone(tracing.Milestone) {}

// EndTask sees the end of a command.
func (r *recorder) EndTask(task tracing.Task) {
	if c := r.open[task.ID]; c != nil && c.what != "" {
		c.end = r.now()
		delete(r.open, task.ID)
	}
}

func (r *recorder) write(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	sort.SliceStable(r.all, func(i, j int) bool { return r.all[i].begin < r.all[j].begin })
	w := csv.NewWriter(file)
	_ = w.Write([]string{"command", "begin", "end", "kernel", "grid", "group", "flushes",
		"bytes", "lines"})
	for _, c := range r.all {
		_ = w.Write([]string{c.what, fmt.Sprintf("%.0f", c.begin), fmt.Sprintf("%.0f", c.end),
			c.kernel, c.grid, c.group, fmt.Sprint(c.flushes), fmt.Sprint(c.bytes),
			fmt.Sprint(c.lines)})
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return file.Close()
}

func main() {
	flag.Parse()
	r := new(runner.Runner).Init()
	commands := &recorder{clock: r.Engine(), open: map[string]*command{}}
	tracing.CollectTrace(r.Driver(), commands)
	r.AddBenchmark(build(r))
	r.Run()
	if err := commands.write(*output); err != nil {
		log.Fatal(err)
	}
}
