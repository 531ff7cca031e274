package emulator

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/sarchlab/mgpusim/v4/amd/driver"

	"octavo/tools/mgpusim-trace/internal/trace"
)

// buffer is one allocation of the driver, with the requested size.
type buffer struct {
	base, bytes uint64
}

// driverBuffers lists all that was ever allocated, in that order, which is also that of the addresses. The driver
// keeps the exact sizes to itself: elsewhere they are rounded to pages, so they are read by reflection.
func driverBuffers(d *driver.Driver) (buffers []buffer) {
	contexts := reflect.ValueOf(d).Elem().FieldByName("contexts")
	for i := range contexts.Len() {
		list := contexts.Index(i).Elem().FieldByName("buffers")
		for j := range list.Len() {
			entry := list.Index(j).Elem()
			buffers = append(buffers, buffer{
				base:  entry.FieldByName("vAddr").Uint(),
				bytes: entry.FieldByName("size").Uint(),
			})
		}
	}
	return buffers
}

// allocated tells whether a line lies in a buffer.
func (s *session) allocated(line uint64) bool {
	_, found := s.bufferOf(line)
	return found
}

// bufferOf is the buffer that a line lies in.
func (s *session) bufferOf(line uint64) (at int, found bool) {
	address := line * trace.LineBytes
	return slices.BinarySearchFunc(s.buffers, address, func(b buffer, address uint64) int {
		switch {
		case address < b.base/trace.LineBytes*trace.LineBytes:
			return 1
		case address >= b.base+b.bytes:
			return -1
		}
		return 0
	})
}

// upload is where the driver put what a launch needs on its first GPU.
type upload struct {
	kernel                string
	code, kernarg, packet uint64
}

// nameBuffers gives every buffer a name: those of launches after what they hold, the others after the list. It also says
// which are a launch's own.
func nameBuffers(
	buffers []buffer, uploads []upload, gpus int, names []string,
) (allocations []trace.Allocation, own []bool, err error) {
	index := make(map[uint64]int, len(buffers))
	for i, b := range buffers {
		index[b.base] = i
	}
	given, owners := make([]string, len(buffers)), make([]uint8, len(buffers))
	for launch, u := range uploads {
		code, known := index[u.code]
		if !known {
			return nil, nil, fmt.Errorf("the code of launch %d lies in no buffer", launch)
		}
		if gpus == 1 {
			given[code] = "code " + u.kernel
			given[index[u.kernarg]] = fmt.Sprintf("kernarg %d", launch)
			given[index[u.packet]] = fmt.Sprintf("packet %d", launch)
			continue
		}
		// Unified GPUs have a copy each, allocated one GPU after the other, also where a GPU gets no work.
		for gpu := range gpus {
			for i, what := range []string{"code", "kernarg", "packet"} {
				given[code+3*gpu+i] = fmt.Sprintf("%s %d gpu %d", what, launch, firstGPU+gpu)
				owners[code+3*gpu+i] = uint8(firstGPU + gpu)
			}
		}
	}
	own = make([]bool, len(buffers))
	for i, name := range given {
		own[i] = name != ""
	}
	return finishNames(buffers, given, owners, names), own, nil
}

// finishNames names what is left in the order of the list, and makes the names unique.
func finishNames(buffers []buffer, given []string, owners []uint8, names []string) []trace.Allocation {
	allocations := make([]trace.Allocation, len(buffers))
	taken := make(map[string]int)
	for i, b := range buffers {
		name := given[i]
		if name == "" && len(names) > 0 {
			name, names = names[0], names[1:]
		}
		if name == "" {
			name = "buffer"
		}
		taken[name]++
		if count := taken[name]; count > 1 {
			name = fmt.Sprintf("%s (%d)", name, count)
		}
		allocations[i] = trace.Allocation{Name: name, Base: b.base, Bytes: b.bytes, GPU: owners[i]}
	}
	return allocations
}
