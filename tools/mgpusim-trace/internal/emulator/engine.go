package emulator

import (
	"reflect"
	"sync"
	"time"

	"github.com/sarchlab/akita/v4/sim"
	"github.com/sarchlab/mgpusim/v4/amd/driver"
)

// engine is the serial engine with two races of MGPUSim's driver taken out, each of which now and then makes a
// benchmark with many launches hang.
//
// The driver starts the engine when it is not running, but takes one that is just returning for running: this one does
// not return. And the driver notifies those who wait for a command queue only if they wait already, not if they are
// about to: when nothing is left to do, this one notifies them again.
type engine struct {
	*sim.SerialEngine
	scheduled chan struct{}
	stopped   chan struct{}
	idle      func()
}

const idlePeriod = time.Millisecond

func newEngine() *engine {
	return &engine{
		SerialEngine: sim.NewSerialEngine(),
		scheduled:    make(chan struct{}, 1),
		stopped:      make(chan struct{}),
		idle:         func() {},
	}
}

// Schedule registers an event and wakes Run.
func (e *engine) Schedule(event sim.Event) {
	e.SerialEngine.Schedule(event)
	select {
	case e.scheduled <- struct{}{}:
	default:
	}
}

// Run processes events until stop is called.
func (e *engine) Run() error {
	ticker := time.NewTicker(idlePeriod)
	defer ticker.Stop()
	for {
		if err := e.SerialEngine.Run(); err != nil {
			return err
		}
		select {
		case <-e.scheduled:
		case <-ticker.C:
			e.idle()
		case <-e.stopped:
			return nil
		}
	}
}

func (e *engine) stop() { close(e.stopped) }

// notifyWaiting notifies all who wait for a command queue of the driver to look at it again.
func notifyWaiting(d *driver.Driver) {
	contexts := reflect.ValueOf(d).Elem().FieldByName("contexts")
	for i := range contexts.Len() {
		context := contexts.Index(i).Elem()
		mutex := (*sync.Mutex)(context.FieldByName("queueMutex").Addr().UnsafePointer())
		mutex.Lock()
		queues := context.FieldByName("queues")
		for j := range queues.Len() {
			(*driver.CommandQueue)(queues.Index(j).UnsafePointer()).NotifyAllSubscribers()
		}
		mutex.Unlock()
	}
}
