// Package emulator runs a benchmark of MGPUSim in emulation and records what its wavefronts execute.
//
// It builds the platform from MGPUSim's exported parts: the driver as it is, its own receiver of launches in place of
// the command processors, and one emulated compute unit that runs the work-groups in order.
package emulator

import (
	"fmt"
	"math/rand"
	"time"

	"github.com/sarchlab/akita/v4/mem/mem"
	"github.com/sarchlab/akita/v4/sim"
	"github.com/sarchlab/akita/v4/sim/directconnection"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks"
	"github.com/sarchlab/mgpusim/v4/amd/driver"

	"octavo/tools/mgpusim-trace/internal/trace"
)

// What MGPUSim's own emulated GPUs have. The driver splits launches by the number of compute units.
const (
	unitsPerGPU    = 64
	bytesPerGPU    = 4 * mem.GB
	firstGPU       = 1
	maxGPUs        = 16
	progressPeriod = 5 * time.Second
)

// Sink takes rows in order.
type Sink interface {
	WriteRows(rows []trace.Row) error
}

// Job is one benchmark to record.
type Job struct {
	// Build makes the benchmark on a driver, with its parameters set.
	Build func(*driver.Driver) benchmarks.Benchmark
	// Buffers are names for what the benchmark allocates, in that order.
	Buffers []string
	// GPUs is how many GPUs share the work, 1 to 16. Several are unified, that is, the driver splits each launch.
	GPUs int
	// Verify compares the result with the benchmark's own reference on the CPU.
	Verify bool
	// Progress is called every few seconds, if set.
	Progress func(Totals)
}

// Totals counts what was recorded.
type Totals struct {
	Launches, Groups, Wavefronts uint64
	Instructions, Rows           uint64
	VectorMemory, VectorLines    uint64
	ScalarLoads                  uint64
}

// Recording is what a trace holds beside its rows.
type Recording struct {
	Allocations []trace.Allocation
	Launches    []trace.Launch
	Memories    []trace.Memory // Allocations of the whole program, the host's behind the GPUs'.
	Actions     []trace.Action
	Totals      Totals
}

// Record runs a job and passes its rows to the sink.
func Record(job Job, sink Sink) (*Recording, error) {
	if job.GPUs < 1 || job.GPUs > maxGPUs {
		return nil, fmt.Errorf("%d GPUs: 1 to %d are possible", job.GPUs, maxGPUs)
	}
	s := newSession(job, sink)
	defer s.engine.stop()
	restore := trapLog()
	defer restore()
	go s.benchmark(job)
	if err := <-s.done; err != nil {
		return nil, err
	}
	return s.recording()
}

// newSession connects driver and GPUs.
func newSession(job Job, sink Sink) *session {
	engine := newEngine()
	storage := mem.NewStorage(uint64(job.GPUs+1) * bytesPerGPU)
	pages := newPageTable()
	s := &session{
		engine:   engine,
		sink:     sink,
		names:    job.Buffers,
		progress: job.Progress,
		decoder:  newDecoder(),
		recorder: &recorder{memory: memory{pages: pages, storage: storage}},
		done:     make(chan error, 1),
		reported: time.Now(),
	}
	pages.copied = s.noteCopy
	s.driver = driver.MakeBuilder().
		WithEngine(engine).
		WithPageTable(pages).
		WithLog2PageSize(log2PageBytes).
		WithGlobalStorage(storage).
		WithMagicMemoryCopyMiddleware().
		Build("Driver")
	engine.idle = func() { notifyWaiting(s.driver) }
	connection := directconnection.MakeBuilder().WithEngine(engine).WithFreq(1 * sim.GHz).Build("Connection")
	connection.PlugIn(s.driver.GetPortByName("GPU"))
	s.gpus = newGPUs(engine, job.GPUs, s)
	for _, port := range s.gpus.ports {
		connection.PlugIn(port)
		s.driver.RegisterGPU(port, driver.DeviceProperties{CUCount: unitsPerGPU, DRAMSize: bytesPerGPU})
	}
	return s
}

// benchmark runs in a goroutine of its own, because a benchmark that waits for a failed launch waits for ever.
func (s *session) benchmark(job Job) {
	defer func() {
		if reason := recover(); reason != nil {
			s.fail(reason)
		}
	}()
	// Benchmarks that do not seed the global random source would draw another input each time. go.mod makes this work.
	rand.Seed(1) //nolint:staticcheck // the source that the benchmarks draw from has no other way to be set
	s.driver.Run()
	device := firstGPU
	if job.GPUs > 1 {
		unified := make([]int, job.GPUs)
		for i := range unified {
			unified[i] = firstGPU + i
		}
		device = s.driver.CreateUnifiedGPU(nil, unified)
	}
	benchmark := job.Build(s.driver)
	benchmark.SelectGPU([]int{device})
	if eager, ok := benchmark.(interface{ EnableVerification() }); ok && job.Verify {
		s.checking = true
		eager.EnableVerification()
	}
	benchmark.Run()
	if job.Verify {
		s.verifying = true
		benchmark.Verify()
	}
	s.driver.Terminate()
	s.done <- nil
}
