package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"octavo/tools/mgpusim-trace/internal/catalog"
	"octavo/tools/mgpusim-trace/internal/trace"
)

// record runs the program and returns where the trace went.
func record(t *testing.T, benchmark string, gpus int, parameters ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), benchmark+".trace")
	arguments := []string{"-benchmark", benchmark, "-gpus", fmt.Sprint(gpus), "-quiet", "-o", path, "--"}
	var problems bytes.Buffer
	if code := run(append(arguments, parameters...), io.Discard, &problems); code != 0 {
		t.Fatalf("exit code %d: %s", code, problems.String())
	}
	return path
}

// commandOf is the command that the metadata has to name.
func commandOf(t *testing.T, benchmark string, gpus int, parameters ...string) string {
	t.Helper()
	b, err := catalog.Find(benchmark)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := b.Parse(parameters)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("mgpusim-trace -benchmark %s -gpus %d -- %s", benchmark, gpus, strings.Join(plan.Arguments, " "))
}

// The instructions are those that MGPUSim's timing model counts (cu_inst_count), and the lines those that reach its
// vector L1 caches. BFS writes levels without locks, so that its lines depend on the
// order of the work-groups: 72191 when they run in order, 72338 from last to first, as MGPUSim's own emulation does.
func TestCountsAreThoseOfTheTimingModel(t *testing.T) {
	for _, c := range []struct {
		benchmark           string
		parameters          string
		instructions, lines uint64
		long                bool
	}{
		{"aes", "-length 4096", 14044, 3768, false},
		{"atax", "-x 64 -y 64", 2063, 5000, false},
		{"bicg", "-x 100 -y 60", 3414, 7501, false},
		{"bitonicsort", "-length 4096", 122304, 61440, false},
		{"conv2d", "-C 3 -H 12 -W 12", 19625, 3331, false},
		{"fastwalshtransform", "-length 2048", 9680, 3840, false},
		{"fft", "-bytes 32768", 16664, 1024, false},
		{"floydwarshall", "-node 16", 3288, 1540, false},
		{"im2col", "-C 3", 73440, 4230, false},
		{"kmeans", "-points 200 -max-iter 3", 40452, 13863, false},
		{"matrixtranspose", "-width 128", 2336, 2048, false},
		{"nbody", "-particles 256 -iter 1", 23988, 320, false},
		{"nw", "-length 64", 10566, 1403, false},
		{"pagerank", "-node 32 -sparsity 0.1 -iterations 4", 19184, 860, false},
		{"relu", "-length 4096", 1728, 512, false},
		{"spmv", "-dim 200 -sparsity 0.05", 1616, 3334, false},
		{"stencil2d", "-row 512 -col 512", 247040, 52992, false},
		{"vectoradd", "-width 128 -height 64", 3840, 1536, false},
		{"simpleconvolution", "-width 254 -height 254", 312306, 48907, true},
		{"fir", "-length 65536", 401408, 84992, true},
		{"matrixmultiplication", "-x 256 -y 256 -z 256", 569472, 69696, true},
		{"bfs", "-node 4096 -degree 3", 573499, 72191, true},
	} {
		t.Run(c.benchmark, func(t *testing.T) {
			if c.long && testing.Short() {
				t.Skip("takes a second")
			}
			parameters := strings.Fields(c.parameters)
			f := readBack(t, record(t, c.benchmark, 1, parameters...), commandOf(t, c.benchmark, 1, parameters...))
			f.check(t, 1)
			if instructions, lines := f.totals(); instructions != c.instructions || lines != c.lines {
				t.Errorf("%d instructions and %d lines, want %d and %d", instructions, lines, c.instructions, c.lines)
			}
		})
	}
}

var small = map[string]string{
	"aes":                  "-length 4096",
	"atax":                 "-x 64 -y 64",
	"bfs":                  "-node 300",
	"bicg":                 "-x 100 -y 60",
	"bitonicsort":          "-length 256",
	"conv2d":               "-N 2 -C 2 -H 9 -W 9",
	"fastwalshtransform":   "-length 512",
	"fft":                  "-bytes 16384",
	"fir":                  "-length 1000 -taps 7",
	"floydwarshall":        "-node 16",
	"im2col":               "-C 2 -H 9 -W 9 -pad-x 1 -pad-y 1",
	"kmeans":               "-points 100 -features 7",
	"matrixmultiplication": "-x 32 -y 64 -z 96",
	"matrixtranspose":      "-width 128",
	"nbody":                "-particles 256 -iter 1",
	"nw":                   "-length 128",
	"pagerank":             "-node 32 -iterations 4",
	"relu":                 "-length 1000",
	"simpleconvolution":    "-width 30 -height 17 -mask-size 5",
	"spmv":                 "-dim 200 -sparsity 0.05",
	"stencil2d":            "-row 64 -col 128 -iter 2",
	"vectoradd":            "-width 100 -height 30",
	"xor":                  "-epoch 1",
}

func TestEveryBenchmarkRunsOnOneAndOnSeveralGPUs(t *testing.T) {
	for _, b := range catalog.All() {
		parameters := strings.Fields(small[b.Name])
		if len(parameters) == 0 {
			t.Errorf("%s is not tested", b.Name)
		}
		t.Run(b.Name, func(t *testing.T) {
			one := readBack(t, record(t, b.Name, 1, parameters...), commandOf(t, b.Name, 1, parameters...))
			one.check(t, 1)
			if b.Name == "xor" {
				return // on one GPU alone
			}
			four := readBack(t, record(t, b.Name, 4, parameters...), commandOf(t, b.Name, 4, parameters...))
			four.check(t, 4)
			if !reflect.DeepEqual(one.kinds(), four.kinds()) {
				t.Errorf("one GPU executes %v, four execute %v", one.kinds(), four.kinds())
			}
			for _, a := range one.allocations {
				if strings.HasPrefix(a.Name, "buffer") {
					t.Errorf("%s has no name of its own", a.Name)
				}
			}
		})
	}
}

func TestTheSameCommandGivesTheSameBytes(t *testing.T) {
	// These draw their input at random, or race.
	for _, name := range []string{"aes", "bfs", "bitonicsort", "pagerank", "spmv"} {
		parameters := strings.Fields(small[name])
		first, second := record(t, name, 2, parameters...), record(t, name, 2, parameters...)
		for _, file := range []string{trace.InstructionsFile, trace.AllocationsFile, trace.LaunchesFile} {
			a, errA := os.ReadFile(filepath.Join(first, file))
			b, errB := os.ReadFile(filepath.Join(second, file))
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: %s differs", name, file)
			}
		}
	}
}

func TestALaunchIsSplitAsTheDriverDoes(t *testing.T) {
	// 130 work-groups on 2 GPUs of 64 compute units: two to a compute unit, so that the first GPU takes up to 128.
	f := readBack(t, record(t, "fir", 2, "-length", "33280"), commandOf(t, "fir", 2, "-length", "33280"))
	want := []trace.Share{{GPU: 1, First: 0, Groups: 128}, {GPU: 2, First: 128, Groups: 2}}
	if !reflect.DeepEqual(f.launches[0].Split, want) {
		t.Errorf("split %v, want %v", f.launches[0].Split, want)
	}
	var names []string
	for _, a := range f.allocations {
		names = append(names, a.Name)
	}
	const all = "history input output filter code 0 gpu 1 kernarg 0 gpu 1 packet 0 gpu 1 " +
		"code 0 gpu 2 kernarg 0 gpu 2 packet 0 gpu 2"
	if strings.Join(names, " ") != all {
		t.Errorf("allocations %q", names)
	}
}

func TestARowHoldsWhatTheInstructionDid(t *testing.T) {
	f := readBack(t, record(t, "fir", 1, "-length", "64", "-taps", "2"),
		commandOf(t, "fir", 1, "-length", "64", "-taps", "2"))
	input, output := f.allocations[1], f.allocations[2]
	var loads, stores []trace.Row
	for _, row := range f.rows {
		switch row.Kind {
		case trace.Load:
			loads = append(loads, row)
		case trace.Store:
			stores = append(stores, row)
		}
	}
	if len(loads) == 0 || loads[0].Lines[0] != input.Base/trace.LineBytes || loads[0].Lanes != 64 || loads[0].Bytes != 4 {
		t.Errorf("loads %+v of %+v", loads, input)
	}
	first := output.Base / trace.LineBytes
	if len(stores) != 1 || !reflect.DeepEqual(stores[0].Lines, []uint64{first, first + 1, first + 2, first + 3}) {
		t.Errorf("stores %+v to %+v", stores, output)
	}
}

func TestAWorkGroupAtTheEdgeHasAllItsWavefronts(t *testing.T) {
	// 4100 samples: the last of 17 work-groups has 4 of 256 work-items, so one wavefront of four.
	f := readBack(t, record(t, "fir", 1, "-length", "4100"), commandOf(t, "fir", 1, "-length", "4100"))
	f.check(t, 1)
	ends := make(map[uint32]int)
	for _, row := range f.rows {
		if row.Kind == trace.End {
			ends[row.Group]++
		}
	}
	if len(ends) != 17 || ends[0] != 4 || ends[16] != 4 {
		t.Errorf("wavefronts of each work-group: %v", ends)
	}
}

// A search copies its graph in, and before and after each launch the flag that says whether it goes on.
func TestAWholeProgramHasItsCopiesInOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bfs.trace")
	var problems bytes.Buffer
	arguments := []string{"-benchmark", "bfs", "-program", "-quiet", "-o", path, "--", "-node", "64"}
	if code := run(arguments, io.Discard, &problems); code != 0 {
		t.Fatalf("exit code %d: %s", code, problems.String())
	}
	p := readProgram(t, path, strings.Replace(commandOf(t, "bfs", 1, "-node", "64"), "1 --", "1 -program --", 1))
	p.check(t)
	got := p.told(t)
	for i, want := range []string{
		"allocate host levels", "allocate host edge offsets", "allocate host edges", "allocate host flag", "host initialise",
		"allocate levels", "allocate edge offsets", "allocate edges", "allocate flag",
		"copy host levels to levels", "copy host edge offsets to edge offsets", "copy host edges to edges",
		"copy host flag to flag", "launch 0", "copy flag to host flag", "copy host flag to flag", "launch 1",
	} {
		if i >= len(got) || got[i] != want {
			t.Fatalf("action %d: want %q of %q", i, want, got)
		}
	}
	if last := got[len(got)-1]; last != "copy levels to host levels" {
		t.Errorf("the last action is %q", last)
	}
}

func TestMistakesAreExplained(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.trace")
	for _, c := range []struct {
		arguments string
		code      int
		says      string
	}{
		{"", 2, "-benchmark is missing"},
		{"-benchmark fir", 2, "-o is missing"},
		{"-benchmark fur -o PATH", 2, `no benchmark "fur"`},
		{"-benchmark fir -gpus 0 -o PATH", 2, "-gpus 0: has to be from 1 to 16"},
		{"-benchmark fir -gpus 17 -o PATH", 2, "-gpus 17: has to be from 1 to 16"},
		{"-benchmark fir -o PATH -- -lenght 5", 2, "not defined: -lenght"},
		{"-benchmark fir -o PATH -- -length", 2, "needs an argument"},
		{"-benchmark fir -o PATH -- -length 0", 2, "-length 0: has to be from 1"},
		{"-benchmark fir -o PATH -- -length five", 2, `invalid value "five"`},
		{"-benchmark fir -o PATH -- 5", 2, `unexpected "5"`},
		{"-benchmark bitonicsort -o PATH -- -length 1000", 2, "has to be a power of two"},
		{"-benchmark stencil2d -o PATH -- -col 100", 2, "has to be a multiple of 64"},
		{"-benchmark spmv -o PATH -- -sparsity 2", 2, "at most 1"},
		{"-benchmark spmv -o PATH -- -dim 5", 2, "no element"},
		{"-benchmark bfs -o PATH -- -node 5 -load-graph g", 2, "-load-graph brings one"},
		{"-benchmark conv2d -o PATH -- -kernel-width 50", 2, "larger than the padded input"},
		{"-benchmark bfs -o PATH -- -load-graph nowhere", 1, "nowhere"},
		{"-benchmark im2col -o PATH -- -H 30 -W 20", 1, "mismatch"},
		{"-benchmark fir -o PATH/below/x", 1, "no such file"},
		{"-benchmark xor -gpus 2 -o PATH -- -epoch 1", 1, "xor runs on one GPU only"},
		{"list fur", 2, `no benchmark "fur"`},
	} {
		var stderr bytes.Buffer
		code := run(strings.Fields(strings.ReplaceAll(c.arguments, "PATH", path)), io.Discard, &stderr)
		if code != c.code || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%s: exit code %d, %q; want %d, %q", c.arguments, code, stderr.String(), c.code, c.says)
		}
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAnExistingFolderIsReplacedOnlyWhenAsked(t *testing.T) {
	path := record(t, "relu", 1, "-length", "64")
	again := []string{"-benchmark", "relu", "-quiet", "-o", path}
	var stderr bytes.Buffer
	if code := run(append(again, "--", "-length", "128"), io.Discard, &stderr); code != 1 ||
		!strings.Contains(stderr.String(), "-force replaces it") {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	readBack(t, path, "mgpusim-trace -benchmark relu -gpus 1 -- -length 64")
	if code := run(append(again, "-force", "--", "-length", "128"), io.Discard, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	readBack(t, path, "mgpusim-trace -benchmark relu -gpus 1 -- -length 128")
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestHelpAndList(t *testing.T) {
	for _, arguments := range [][]string{{"-help"}, {"--help"}, {"list"}, {"list", "fir"}} {
		var stdout, stderr bytes.Buffer
		if code := run(arguments, &stdout, &stderr); code != 0 || stderr.Len() > 0 || stdout.Len() < 50 {
			t.Errorf("%v: exit code %d, %q, %q", arguments, code, stdout.String(), stderr.String())
		}
	}
}
