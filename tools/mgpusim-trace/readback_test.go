package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"octavo/tools/mgpusim-trace/internal/trace"
)

// folder is a trace read back.
type folder struct {
	rows        []trace.Row
	allocations []trace.Allocation
	launches    []trace.Launch
}

func readBack(t *testing.T, path, command string) *folder {
	t.Helper()
	return &folder{
		rows:        readTable[trace.Row](t, filepath.Join(path, trace.InstructionsFile), trace.Launches, command),
		allocations: readTable[trace.Allocation](t, filepath.Join(path, trace.AllocationsFile), trace.Launches, command),
		launches:    readTable[trace.Launch](t, filepath.Join(path, trace.LaunchesFile), trace.Launches, command),
	}
}

func readTable[T any](t *testing.T, path, version, command string) []T {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	table, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		trace.VersionKey: version, trace.LanesKey: "64", trace.SourceKey: source, trace.CommandKey: command,
	} {
		if got, _ := table.Lookup(key); got != want {
			t.Errorf("%s: %s is %q, want %q", filepath.Base(path), key, got, want)
		}
	}
	for i, group := range table.RowGroups() {
		if group.NumRows() > trace.RowsPerGroup {
			t.Errorf("row group %d has %d rows", i, group.NumRows())
		}
	}
	rows := make([]T, table.NumRows())
	if n, err := parquet.NewGenericReader[T](file).Read(rows); n != len(rows) || (err != nil && !errors.Is(err, io.EOF)) {
		t.Fatalf("read %d of %d rows: %v", n, len(rows), err)
	}
	return rows
}

// check verifies what the format promises of any trace.
func (f *folder) check(t *testing.T, gpus int) {
	t.Helper()
	f.checkAllocations(t)
	f.checkLaunches(t, gpus)
	for i := range f.rows {
		var before *trace.Row
		if i > 0 {
			before = &f.rows[i-1]
		}
		f.checkOrder(t, before, &f.rows[i])
		f.checkRow(t, &f.rows[i])
		if t.Failed() {
			t.Fatalf("row %d: %+v", i, f.rows[i])
		}
	}
	if last := f.rows[len(f.rows)-1]; last.Kind != trace.End {
		t.Errorf("the last row is %q", last.Kind)
	}
}

func (f *folder) checkAllocations(t *testing.T) {
	t.Helper()
	names := make(map[string]bool)
	for i, a := range f.allocations {
		if names[a.Name] || a.Name == "" || a.Bytes == 0 {
			t.Errorf("allocation %+v", a)
		}
		names[a.Name] = true
		if i > 0 && a.Base < f.allocations[i-1].Base+f.allocations[i-1].Bytes {
			t.Errorf("%q begins before %q ends", a.Name, f.allocations[i-1].Name)
		}
	}
}

func (f *folder) checkLaunches(t *testing.T, gpus int) {
	t.Helper()
	across := func(grid, group uint32) uint32 { return (grid-1)/group + 1 }
	for i, l := range f.launches {
		groups := across(l.GridX, l.GroupX) * across(l.GridY, l.GroupY) * across(l.GridZ, l.GroupZ)
		var next uint32
		for _, share := range l.Split {
			if share.First != next || share.Groups == 0 || int(share.GPU) > gpus {
				t.Errorf("launch %d: share %+v where %d comes next", i, share, next)
			}
			next += share.Groups
		}
		if next != groups || int(l.Launch) != i || l.Kernel == "" || l.VectorRegisters == 0 || l.ScalarRegisters == 0 {
			t.Errorf("%d of %d work-groups in launch %+v", next, groups, l)
		}
	}
}

func (f *folder) checkOrder(t *testing.T, before, row *trace.Row) {
	t.Helper()
	if before != nil && before.Kind != trace.End {
		if row.Launch != before.Launch || row.Group != before.Group || row.Wavefront != before.Wavefront ||
			row.Sequence != before.Sequence+1 {
			t.Errorf("a wavefront does not go on after %+v", *before)
		}
		return
	}
	if row.Sequence != 0 {
		t.Errorf("a wavefront begins at %d", row.Sequence)
	}
	if before == nil {
		return
	}
	order := slices.Compare(
		[]uint32{before.Launch, before.Group, uint32(before.Wavefront)},
		[]uint32{row.Launch, row.Group, uint32(row.Wavefront)})
	if order >= 0 {
		t.Errorf("comes after %+v", *before)
	}
}

func (f *folder) checkRow(t *testing.T, row *trace.Row) {
	t.Helper()
	if int(row.Launch) >= len(f.launches) || row.Wavefront >= f.launches[row.Launch].WavefrontsPerGroup {
		t.Error("no such launch or wavefront")
	}
	if (row.VectorWait != nil || row.ScalarWait != nil) && row.Kind != trace.Wait {
		t.Error("waits")
	}
	if row.Instructions() == row.Total() && row.Total() == uint64(row.VectorALU) {
		t.Error("a row without need")
	}
	if !row.IsVector() && row.Lanes > 0 || row.IsVector() && (row.Lanes > 0) != (len(row.Lines) > 0) {
		t.Error("lanes")
	}
	if memory := row.IsVector() || row.Kind == trace.Scalar; memory != (row.Bytes > 0) {
		t.Error("bytes")
	}
	distinct := slices.Clone(row.Lines)
	slices.Sort(distinct)
	if len(slices.Compact(distinct)) != len(row.Lines) {
		t.Error("a line comes twice")
	}
	for _, line := range row.Lines {
		if !slices.ContainsFunc(f.allocations, func(a trace.Allocation) bool { return a.Contains(line) }) {
			t.Errorf("line %d lies in no allocation", line)
		}
	}
}

// totals counts the instructions and the lines of vector memory.
func (f *folder) totals() (instructions, lines uint64) {
	for i := range f.rows {
		row := &f.rows[i]
		instructions += row.Instructions()
		if row.IsVector() {
			lines += uint64(len(row.Lines))
		}
	}
	return instructions, lines
}

func (f *folder) kinds() map[string]int {
	count := make(map[string]int)
	for i := range f.rows {
		count[f.rows[i].Kind]++
	}
	return count
}
