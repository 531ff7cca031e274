package emulator

import (
	"slices"

	"octavo/tools/mgpusim-trace/internal/trace"
)

// hostAlignment keeps the host's memory apart from the GPUs', and its buffers on pages of their own of any size.
const hostAlignment = 2 << 20

// hostWidth is how many bytes the host writes at once where it fills what is copied: a line.
const hostWidth = trace.LineBytes

// event is a launch or a copy, in the order in which the driver took them.
type event struct {
	launch    int // -1: a copy
	copy      transfer
	touched   []uint32 // buffers of a launch
	allocated int      // how many buffers there were
}

// program makes a whole program of what was recorded. Each event waits for the one before. What the host computes is
// not recorded: each of its buffers that is copied from is written once, in order, before anything else happens. A
// launch's own buffers are there from the start, and copies into them are part of the launch.
func program(allocations []trace.Allocation, own []bool, events []event) ([]trace.Memory, []trace.Action) {
	events = slices.DeleteFunc(slices.Clone(events), func(e event) bool {
		return e.launch < 0 && (e.copy.bytes == 0 || own[bufferAt(allocations, e.copy.address)])
	})
	p := &writing{device: allocations, own: own, twins: make(map[int]int)}
	for _, a := range allocations {
		p.memories = append(p.memories, trace.Memory{Allocation: a, Kind: trace.Device, Spread: trace.Interleaved})
	}
	p.addTwins(events)
	p.fill(events)
	for _, e := range events {
		p.allocate(e.allocated)
		if e.launch < 0 {
			p.copy(e.copy)
		} else {
			p.add(trace.Action{Kind: trace.Launched, Launch: uint32(e.launch), Allocations: e.touched})
		}
	}
	return p.memories, p.actions
}

// writing is a program under construction.
type writing struct {
	device   []trace.Allocation
	own      []bool // which of them belong to a launch
	memories []trace.Memory
	actions  []trace.Action
	twins    map[int]int // row of the host's memory that a buffer is copied from or to
	told     int         // buffers that were allocated
}

// add appends an action that waits for the one before.
func (p *writing) add(action trace.Action) {
	action.Action = uint32(len(p.actions))
	if action.Action > 0 {
		action.After = []uint32{action.Action - 1}
	}
	p.actions = append(p.actions, action)
}

// addTwins allocates memory of the host for each buffer that is copied from or to.
func (p *writing) addTwins(events []event) {
	last := p.device[len(p.device)-1]
	next := alignUp(last.Base + last.Bytes)
	for _, e := range events {
		if e.launch >= 0 {
			continue
		}
		at := bufferAt(p.device, e.copy.address)
		if _, known := p.twins[at]; known {
			continue
		}
		p.twins[at] = len(p.memories)
		buffer := p.device[at]
		twin := trace.Allocation{Name: "host " + buffer.Name, Base: next, Bytes: buffer.Bytes}
		p.memories = append(p.memories, trace.Memory{Allocation: twin, Kind: trace.System, Spread: trace.Interleaved})
		p.add(trace.Action{Kind: trace.Allocate, Address: twin.Base, Bytes: twin.Bytes})
		next = alignUp(next + buffer.Bytes)
	}
}

// fill writes what is copied to the GPUs, once, with one thread.
func (p *writing) fill(events []event) {
	var sweeps []trace.Sweep
	for _, e := range events {
		if e.launch >= 0 || !e.copy.toDevice {
			continue
		}
		sweep := trace.Sweep{
			Address: p.onHost(e.copy), Bytes: e.copy.bytes, Writes: 1, Width: min(hostWidth, e.copy.bytes), Stride: hostWidth,
		}
		if !slices.Contains(sweeps, sweep) {
			sweeps = append(sweeps, sweep)
		}
	}
	if len(sweeps) > 0 {
		p.add(trace.Action{Kind: trace.Host, Name: "initialise", Threads: 1, Sweeps: sweeps})
	}
}

// allocate brings the buffers of the GPUs into being, up to that many.
func (p *writing) allocate(count int) {
	for ; p.told < count; p.told++ {
		if p.own[p.told] {
			continue
		}
		a := p.device[p.told]
		p.add(trace.Action{Kind: trace.Allocate, Address: a.Base, Bytes: a.Bytes})
	}
}

func (p *writing) copy(t transfer) {
	action := trace.Action{Kind: trace.Copy, Bytes: t.bytes, Address: t.address, Source: p.onHost(t)}
	if !t.toDevice {
		action.Address, action.Source = action.Source, action.Address
	}
	p.add(action)
}

// onHost is where the host has what is copied.
func (p *writing) onHost(t transfer) uint64 {
	at := bufferAt(p.device, t.address)
	return p.memories[p.twins[at]].Base + t.address - p.device[at].Base
}

func alignUp(address uint64) uint64 {
	return (address + hostAlignment - 1) / hostAlignment * hostAlignment
}

// bufferAt is the row of the allocation that an address lies in. Allocations ascend.
func bufferAt(allocations []trace.Allocation, address uint64) int {
	at, found := slices.BinarySearchFunc(allocations, address, func(a trace.Allocation, address uint64) int {
		switch {
		case a.Base > address:
			return 1
		case a.Base+a.Bytes <= address:
			return -1
		}
		return 0
	})
	if !found {
		panic("the driver copies from or to memory that was not allocated")
	}
	return at
}
