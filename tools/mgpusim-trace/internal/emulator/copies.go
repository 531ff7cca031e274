package emulator

import (
	"encoding/binary"
	"reflect"

	"github.com/sarchlab/mgpusim/v4/amd/driver"
)

// transfer is one copy that the benchmark requested.
type transfer struct {
	address, bytes uint64
	toDevice       bool
}

// copyUnderWay is the copy that begins at an address: while the driver looks up its pages, it stands at the front of
// its queue. The driver keeps its queues to itself, so they are found by reflection.
func copyUnderWay(d *driver.Driver, address uint64) (transfer, bool) {
	contexts := reflect.ValueOf(d).Elem().FieldByName("contexts")
	for i := range contexts.Len() {
		queues := contexts.Index(i).Elem().FieldByName("queues")
		for j := range queues.Len() {
			queue := (*driver.CommandQueue)(queues.Index(j).UnsafePointer())
			if t, copies := transferOf(queue.Peek()); copies && t.address == address {
				return t, true
			}
		}
	}
	return transfer{}, false
}

func transferOf(command driver.Command) (transfer, bool) {
	switch command := command.(type) {
	case *driver.MemCopyH2DCommand:
		return transfer{uint64(command.Dst), uint64(binary.Size(command.Src)), true}, true
	case *driver.MemCopyD2HCommand:
		return transfer{uint64(command.Src), uint64(binary.Size(command.Dst)), false}, true
	}
	return transfer{}, false
}
