// Command mgpusim-trace records what real GPU kernels execute. It runs a benchmark of MGPUSim in emulation and writes
// a folder in Octavo's trace format.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/tebeka/atexit"

	"octavo/tools/mgpusim-trace/internal/catalog"
	"octavo/tools/mgpusim-trace/internal/emulator"
	"octavo/tools/mgpusim-trace/internal/trace"
)

// source is what the metadata of a trace names as its origin. It goes with the release that go.mod requires.
const source = "mgpusim v4.2.0"

const usage = `Record what real GPU kernels execute: run a benchmark of MGPUSim in emulation and write a trace.

  mgpusim-trace -benchmark NAME -o FOLDER [options] [-- parameters of the benchmark]
  mgpusim-trace list [NAME]

Options:
  -benchmark NAME  what to run
  -o FOLDER        where the trace goes; it appears there whole or not at all
  -gpus N          GPUs that share the work, 1 to 16 (default 1)
  -force           replace FOLDER if it is there
  -program         record the whole program: also its allocations and copies, and their order
  -no-verify       do not compare the result with the benchmark's own reference
  -quiet           print nothing unless something goes wrong

Examples:
  mgpusim-trace list fir
  mgpusim-trace -benchmark fir -o fir.trace -- -length 65536 -taps 16
  mgpusim-trace -benchmark bfs -program -o bfs.trace -- -node 4096
  mgpusim-trace -benchmark stencil2d -gpus 4 -o stencil2d.trace -- -row 512 -col 512 -iter 5
`

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program without the process: 0 for success, 1 for a run that failed, 2 for a command that makes no sense.
func run(arguments []string, stdout, stderr io.Writer) int {
	if len(arguments) > 0 && arguments[0] == "list" {
		return list(arguments[1:], stdout, stderr)
	}
	o, err := parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "mgpusim-trace: %v\nmgpusim-trace -help shows what there is.\n", err)
		return 2
	}
	if err := recordTrace(o, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "mgpusim-trace: %s: %v\n", o.plan.Name, err)
		return 1
	}
	return 0
}

// options is a command line, understood.
type options struct {
	plan   *catalog.Plan
	folder string
	gpus   int
	whole  bool
	force  bool
	verify bool
	quiet  bool
}

func parse(arguments []string) (*options, error) {
	flags := flag.NewFlagSet("mgpusim-trace", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	name := flags.String("benchmark", "", "")
	folder := flags.String("o", "", "")
	gpus := flags.Int("gpus", 1, "")
	whole := flags.Bool("program", false, "")
	force := flags.Bool("force", false, "")
	skip := flags.Bool("no-verify", false, "")
	quiet := flags.Bool("quiet", false, "")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	switch {
	case *name == "":
		return nil, errors.New("-benchmark is missing")
	case *folder == "":
		return nil, errors.New("-o is missing: where should the trace go?")
	case *gpus < 1 || *gpus > 16:
		return nil, fmt.Errorf("-gpus %d: has to be from 1 to 16", *gpus)
	}
	benchmark, err := catalog.Find(*name)
	if err != nil {
		return nil, err
	}
	plan, err := benchmark.Parse(flags.Args())
	if err != nil {
		return nil, err
	}
	return &options{
		plan: plan, folder: *folder, gpus: *gpus, whole: *whole, force: *force, verify: !*skip, quiet: *quiet,
	}, nil
}

// command is how the trace is recorded again, without where it went.
func (o *options) command() string {
	words := []string{"mgpusim-trace", "-benchmark", o.plan.Name, "-gpus", fmt.Sprint(o.gpus)}
	if o.whole {
		words = append(words, "-program")
	}
	return strings.Join(append(append(words, "--"), o.plan.Arguments...), " ")
}

// origin is what every file of the trace says of itself.
func (o *options) origin() trace.Origin {
	version := trace.Launches
	if o.whole {
		version = trace.Program
	}
	return trace.Origin{Source: source, Command: o.command(), Version: version}
}

func recordTrace(o *options, stdout, stderr io.Writer) error {
	began := time.Now()
	writer, err := trace.Create(o.folder, o.force, o.origin())
	if errors.Is(err, trace.ErrExists) {
		return fmt.Errorf("%w; -force replaces it", err)
	}
	if err != nil {
		return err
	}
	defer abandonWhenKilled(writer)()
	defer silence()()
	job := emulator.Job{Build: o.plan.Make, Buffers: o.plan.Buffers, GPUs: o.gpus, Verify: o.verify}
	if !o.quiet {
		job.Progress = func(t emulator.Totals) {
			fmt.Fprintf(stderr, "%5.0f s: launch %d, %d work-groups, %d instructions\n",
				time.Since(began).Seconds(), t.Launches, t.Groups, t.Instructions)
		}
	}
	recording, err := emulator.Record(job, writer)
	if err != nil {
		writer.Abandon()
		return err
	}
	if o.whole {
		err = writer.FinishProgram(recording.Memories, recording.Launches, recording.Actions)
	} else {
		err = writer.Finish(recording.Allocations, recording.Launches)
	}
	if err != nil {
		return err
	}
	if !o.quiet {
		report(stdout, o, recording.Totals, time.Since(began))
	}
	return nil
}

// abandonWhenKilled removes an unfinished trace when the process is told to stop, or when MGPUSim stops it.
func abandonWhenKilled(writer *trace.Writer) (done func()) {
	atexit.Register(writer.Abandon)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, killed := <-signals; killed {
			writer.Abandon()
			os.Exit(130)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

// silence keeps what benchmarks print out of the way until done is called.
func silence() (done func()) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return func() {}
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = null, null
	return func() {
		os.Stdout, os.Stderr = stdout, stderr
		null.Close()
	}
}

func report(out io.Writer, o *options, t emulator.Totals, took time.Duration) {
	verified := "result verified"
	if !o.verify {
		verified = "result not verified"
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s\t%s, %.1f s\n", o.folder, verified, took.Seconds())
	fmt.Fprintf(table, "  launches\t%d\n", t.Launches)
	fmt.Fprintf(table, "  work-groups\t%d\n", t.Groups)
	fmt.Fprintf(table, "  wavefronts\t%d\n", t.Wavefronts)
	fmt.Fprintf(table, "  instructions\t%d\n", t.Instructions)
	fmt.Fprintf(table, "  vector memory\t%d instructions, %d lines\n", t.VectorMemory, t.VectorLines)
	fmt.Fprintf(table, "  scalar loads\t%d\n", t.ScalarLoads)
	fmt.Fprintf(table, "  rows\t%d\n", t.Rows)
	table.Flush()
}

func list(arguments []string, stdout, stderr io.Writer) int {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	defer table.Flush()
	chosen := catalog.All()
	if len(arguments) > 0 {
		benchmark, err := catalog.Find(arguments[0])
		if err != nil {
			fmt.Fprintf(stderr, "mgpusim-trace: %v\n", err)
			return 2
		}
		chosen = []catalog.Benchmark{*benchmark}
	}
	for _, b := range chosen {
		fmt.Fprintf(table, "%s: %s\n", b.Name, b.Summary)
		for _, p := range b.Parameters() {
			fmt.Fprintf(table, "  -%s\t%s\t%s\n", p.Name, p.Default, p.Meaning)
		}
	}
	return 0
}
