package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"octavo/tools/mgpusim-trace/internal/trace"
)

// program is a trace of a whole program read back.
type program struct {
	memories []trace.Memory
	launches []trace.Launch
	actions  []trace.Action
}

func readProgram(t *testing.T, path, command string) *program {
	t.Helper()
	return &program{
		memories: readTable[trace.Memory](t, filepath.Join(path, trace.AllocationsFile), trace.Program, command),
		launches: readTable[trace.Launch](t, filepath.Join(path, trace.LaunchesFile), trace.Program, command),
		actions:  readTable[trace.Action](t, filepath.Join(path, trace.ActionsFile), trace.Program, command),
	}
}

// check verifies what the format promises of any program: allocations apart, made once and before use, all bytes of an
// action in one, launches in order.
func (p *program) check(t *testing.T) {
	t.Helper()
	made, launched := make(map[string]bool), uint32(0)
	for i, a := range p.actions {
		if int(a.Action) != i || i > 0 && (len(a.After) != 1 || a.After[0] != uint32(i-1)) {
			t.Errorf("action %d: %+v", i, a)
		}
		switch a.Kind {
		case trace.Allocate:
			name := p.name(t, a.Address, a.Bytes)
			if made[name] {
				t.Errorf("%s is allocated twice", name)
			}
			made[name] = true
		case trace.Copy:
			if !made[p.name(t, a.Address, a.Bytes)] || !made[p.name(t, a.Source, a.Bytes)] {
				t.Errorf("action %d copies what is not there", i)
			}
		case trace.Host:
			for _, s := range a.Sweeps {
				if !made[p.name(t, s.Address, s.Bytes)] || s.Width == 0 || s.Stride < s.Width || s.Writes != 1 {
					t.Errorf("sweep %+v", s)
				}
			}
		case trace.Launched:
			if a.Launch != launched || len(a.Allocations) == 0 {
				t.Errorf("launch %+v", a)
			}
			launched++
		}
	}
	if int(launched) != len(p.launches) {
		t.Errorf("%d of %d launches", launched, len(p.launches))
	}
}

// name is what the memory is called that bytes lie in.
func (p *program) name(t *testing.T, address, bytes uint64) string {
	t.Helper()
	for _, m := range p.memories {
		if address >= m.Base && address+bytes <= m.Base+m.Bytes {
			return m.Name
		}
	}
	t.Errorf("%d bytes at %#x lie in no allocation", bytes, address)
	return ""
}

// told is each action in words.
func (p *program) told(t *testing.T) (told []string) {
	t.Helper()
	for _, a := range p.actions {
		words := a.Kind + " "
		switch a.Kind {
		case trace.Allocate:
			words += p.name(t, a.Address, a.Bytes)
		case trace.Copy:
			words += p.name(t, a.Source, a.Bytes) + " to " + p.name(t, a.Address, a.Bytes)
		case trace.Host:
			words += a.Name
		case trace.Launched:
			words += fmt.Sprint(a.Launch)
		}
		told = append(told, words)
	}
	return told
}
