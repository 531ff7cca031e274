package trace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func TestRowGroupsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.trace")
	w, err := Create(path, false, Origin{})
	if err != nil {
		t.Fatal(err)
	}
	const rows = 2*RowsPerGroup + 5
	for i := range rows {
		if err := w.WriteRows([]Row{{Sequence: uint32(i), Kind: Wait}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(nil, nil); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(path, InstructionsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, _ := file.Stat()
	table, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	groups := table.RowGroups()
	if len(groups) != 3 || groups[0].NumRows() != RowsPerGroup || groups[2].NumRows() != 5 {
		t.Errorf("%d row groups, the first of %d rows", len(groups), groups[0].NumRows())
	}
}

func TestNothingAppearsBeforeFinish(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "x.trace")
	w, err := Create(path, false, Origin{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there already: %v", err)
	}
	w.Abandon()
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAFolderThatAppearedMeanwhileStays(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "x.trace")
	w, err := Create(path, false, Origin{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(nil, nil); !errors.Is(err, ErrExists) {
		t.Errorf("error %v", err)
	}
	if left, _ := os.ReadDir(folder); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
