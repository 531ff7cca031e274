package emulator

import (
	"bytes"
	"errors"
	"log"
	"strings"
	"testing"
	"time"

	"github.com/sarchlab/akita/v4/mem/mem"
	"github.com/sarchlab/akita/v4/mem/vm"
	"github.com/sarchlab/akita/v4/sim"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/dnn/layer_benchmarks/relu"
	"github.com/sarchlab/mgpusim/v4/amd/driver"
	"github.com/sarchlab/mgpusim/v4/amd/insts"

	"octavo/tools/mgpusim-trace/internal/trace"
)

func TestMemoryCrossesPages(t *testing.T) {
	pages := newPageTable()
	pages.Insert(vm.Page{PID: 1, VAddr: 0x1000, PAddr: 0x8000, PageSize: pageBytes, Valid: true})
	pages.Insert(vm.Page{PID: 1, VAddr: 0x2000, PAddr: 0x3000, PageSize: pageBytes, Valid: true})
	m := &memory{pages: pages, storage: mem.NewStorage(1 << 20)}
	data := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	m.Write(1, 0x1ffd, data)
	if got := m.Read(1, 0x1ffd, 8); !bytes.Equal(got, data) {
		t.Errorf("read %v", got)
	}
	if got, _ := m.storage.Read(0x3000, 5); !bytes.Equal(got, data[3:]) {
		t.Errorf("the second page holds %v", got)
	}
	pages.Update(vm.Page{PID: 1, VAddr: 0x2000, PAddr: 0x5000, PageSize: pageBytes, Valid: true})
	if got := m.Read(1, 0x2000, 1); got[0] != 0 {
		t.Errorf("a page that moved is still read where it was")
	}
	for _, address := range []uint64{0x800, 0x2fff, 1 << 40} {
		if why := panicOf(func() { m.Read(1, address, 8) }); !strings.Contains(why, "nothing is allocated") {
			t.Errorf("%#x: %q", address, why)
		}
	}
}

func panicOf(f func()) (why string) {
	defer func() {
		if reason := recover(); reason != nil {
			why, _ = reason.(string)
		}
	}()
	f()
	return ""
}

func TestFatalLogsPanic(t *testing.T) {
	restore := trapLog()
	defer restore()
	log.Printf("harmless")
	if why := panicOf(func() { log.Fatalf("wrong at %d", 5) }); why != "wrong at 5" {
		t.Errorf("panicked with %q", why)
	}
	log.Printf("the log still works")
}

func TestInstructionsAreDecodedOnce(t *testing.T) {
	d := newDecoder()
	endpgm := []byte{0x00, 0x00, 0x81, 0xbf, 0, 0, 0, 0}
	first, err := d.Decode(endpgm)
	if err != nil || first.InstName != "s_endpgm" {
		t.Fatalf("%v, %v", first, err)
	}
	if second, _ := d.Decode(endpgm); second != first {
		t.Error("decoded twice")
	}
	if _, err := d.Decode([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}); err == nil {
		t.Error("nonsense was decoded")
	}
}

func TestSizesOfVectorAccesses(t *testing.T) {
	for opcode, want := range map[insts.Opcode]struct {
		kind  string
		bytes uint16
	}{
		16: {trace.Load, 1}, 18: {trace.Load, 2}, 20: {trace.Load, 4}, 21: {trace.Load, 8}, 22: {trace.Load, 12},
		23: {trace.Load, 16}, 24: {trace.Store, 1}, 26: {trace.Store, 2}, 28: {trace.Store, 4}, 31: {trace.Store, 16},
	} {
		inst := insts.NewInst()
		inst.Opcode = opcode
		if kind, bytes := flatAccess(inst); kind != want.kind || bytes != want.bytes {
			t.Errorf("opcode %d: %s of %d bytes", opcode, kind, bytes)
		}
	}
	atomic := insts.NewInst()
	atomic.Opcode, atomic.InstName = 50, "flat_atomic_add"
	if why := panicOf(func() { flatAccess(atomic) }); !strings.Contains(why, "flat_atomic_add") {
		t.Errorf("an atomic gives %q", why)
	}
}

func TestLinesComeInTheOrderOfLanesOnce(t *testing.T) {
	r := &recorder{logs: make([]wavefrontLog, 1)}
	r.current = &r.logs[0]
	load := insts.NewInst()
	load.Opcode = 23 // 16 bytes a lane
	r.touched = []access{{0x1038, 16}, {0x0fc0, 16}, {0x1000, 16}}
	r.vectorMemory(load, 0b10101)
	row := r.logs[0].rows[0]
	want := []uint64{0x40, 0x41, 0x3f}
	if len(row.Lines) != 3 || row.Lines[0] != want[0] || row.Lines[1] != want[1] || row.Lines[2] != want[2] {
		t.Errorf("lines %#x, want %#x", row.Lines, want)
	}
	if row.Lanes != 3 || row.Bytes != 16 || row.Kind != trace.Load {
		t.Errorf("%+v", row)
	}
}

func TestWaitsForNothingAreNull(t *testing.T) {
	if waitedFor(15) != nil || waitedFor(31) != nil {
		t.Error("the maximum is waited for")
	}
	if count := waitedFor(3); count == nil || *count != 3 {
		t.Errorf("3 gives %v", count)
	}
}

type nothing struct{ events chan sim.Event }

func (n nothing) Handle(event sim.Event) error {
	n.events <- event
	return nil
}

func TestTheEngineWakesAndKeepsNotifying(t *testing.T) {
	e := newEngine()
	idle := make(chan bool, 1)
	e.idle = func() {
		select {
		case idle <- true:
		default:
		}
	}
	returned := make(chan error)
	go func() { returned <- e.Run() }()
	handler := nothing{make(chan sim.Event)}
	for i := range 3 {
		within(t, idle)
		e.Pause()
		e.Schedule(sim.NewEventBase(sim.VTimeInSec(i), handler))
		e.Continue()
		within(t, handler.events)
	}
	e.stop()
	within(t, returned)
}

func within[T any](t *testing.T, channel chan T) {
	t.Helper()
	select {
	case <-channel:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing happens")
	}
}

type failing struct{}

func (failing) WriteRows([]trace.Row) error { return errors.New("the disk is full") }

func TestAFailedWriteEndsTheRecording(t *testing.T) {
	job := Job{GPUs: 1, Build: func(d *driver.Driver) benchmarks.Benchmark {
		b := relu.NewBenchmark(d)
		b.Length = 64
		return b
	}}
	if _, err := Record(job, failing{}); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("error %v", err)
	}
}
