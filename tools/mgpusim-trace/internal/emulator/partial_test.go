package emulator

import (
	"slices"
	"testing"

	"octavo/tools/mgpusim-trace/internal/trace"
)

// store gives the lines that lanes of a store of so many bytes touch, and the positions of those that they do not fill.
func store(kind string, addresses []uint64, bytes uint64) (lines, partial []uint64) {
	r := &recorder{}
	for _, address := range addresses {
		for offset := uint64(0); offset < bytes; offset += 4 {
			r.touch(0, address+offset, min(4, bytes))
		}
	}
	return r.lines, r.unfilled(kind)
}

func words(first, count uint64) (addresses []uint64) {
	for i := range count {
		addresses = append(addresses, first+4*i)
	}
	return addresses
}

func TestStoresSayWhichLinesTheyDoNotFill(t *testing.T) {
	for _, test := range []struct {
		name           string
		kind           string
		addresses      []uint64
		bytes          uint64
		lines, partial []uint64
	}{
		{"aligned words", trace.Store, words(640, 32), 4, []uint64{10, 11}, nil},
		{"words off by one", trace.Store, words(644, 32), 4, []uint64{10, 11, 12}, []uint64{0, 2}},
		{"a load", trace.Load, words(644, 32), 4, []uint64{10, 11, 12}, nil},
		{"bytes", trace.Store, []uint64{64, 65, 66}, 1, []uint64{1}, []uint64{0}},
		{"four words each", trace.Store, []uint64{176, 128, 144, 160}, 16, []uint64{2}, nil},
	} {
		lines, partial := store(test.kind, test.addresses, test.bytes)
		if !slices.Equal(lines, test.lines) || !slices.Equal(partial, test.partial) {
			t.Errorf("%s: lines %v, partial %v", test.name, lines, partial)
		}
	}
}
