package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// Origin says what recorded a trace; it goes into the metadata of every file.
type Origin struct {
	Source  string
	Command string
	Version string // Launches or Program
}

// ErrExists is returned for a folder that is already there.
var ErrExists = errors.New("exists already")

// Writer writes a trace into a hidden folder beside the one asked for, which appears under its name only when complete.
type Writer struct {
	path    string
	partial string
	force   bool
	origin  Origin
	file    *os.File
	rows    *parquet.GenericWriter[Row]
}

// Create starts a trace that Finish will put at path. An existing path is replaced only with force.
func Create(path string, force bool, origin Origin) (*Writer, error) {
	path = filepath.Clean(path)
	if _, err := os.Lstat(path); err == nil && !force {
		return nil, fmt.Errorf("%s %w", path, ErrExists)
	}
	partial, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".partial-")
	if err != nil {
		return nil, err
	}
	w := &Writer{path: path, partial: partial, force: force, origin: origin}
	if err := os.Chmod(partial, 0o755); err != nil {
		return nil, w.fail(err)
	}
	if w.file, err = os.Create(filepath.Join(partial, InstructionsFile)); err != nil {
		return nil, w.fail(err)
	}
	w.rows = newParquet[Row](w.file, origin)
	return w, nil
}

// WriteRows appends rows, which have to come in order of launch, group, wavefront and sequence.
func (w *Writer) WriteRows(rows []Row) error {
	_, err := w.rows.Write(rows)
	return err
}

// Finish writes the tables of a trace of launches and gives the folder its name.
func (w *Writer) Finish(allocations []Allocation, launches []Launch) error {
	return w.finish(
		func() error { return writeTable(w, AllocationsFile, allocations) },
		func() error { return writeTable(w, LaunchesFile, launches) },
	)
}

// FinishProgram writes the tables of a trace of a whole program and gives the folder its name.
func (w *Writer) FinishProgram(memories []Memory, launches []Launch, actions []Action) error {
	return w.finish(
		func() error { return writeTable(w, AllocationsFile, memories) },
		func() error { return writeTable(w, LaunchesFile, launches) },
		func() error { return writeTable(w, ActionsFile, actions) },
	)
}

func (w *Writer) finish(tables ...func() error) error {
	if err := errors.Join(w.rows.Close(), w.file.Close()); err != nil {
		return w.fail(err)
	}
	for _, write := range append(tables, w.publish) {
		if err := write(); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// Abandon removes what was written. It is safe to call at any time, also from another goroutine.
func (w *Writer) Abandon() { os.RemoveAll(w.partial) }

func (w *Writer) publish() error {
	if !w.force {
		if _, err := os.Lstat(w.path); err == nil {
			return fmt.Errorf("%s %w", w.path, ErrExists)
		}
		return os.Rename(w.partial, w.path)
	}
	// A folder cannot be renamed onto one that holds files, so the old one steps aside first.
	aside := w.partial + "-replaced"
	if err := os.Rename(w.path, aside); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(w.partial, w.path); err != nil {
		return errors.Join(err, os.Rename(aside, w.path))
	}
	return os.RemoveAll(aside)
}

func (w *Writer) fail(err error) error {
	w.Abandon()
	return err
}

func writeTable[T any](w *Writer, name string, rows []T) error {
	file, err := os.Create(filepath.Join(w.partial, name))
	if err != nil {
		return err
	}
	writer := newParquet[T](file, w.origin)
	_, err = writer.Write(rows)
	return errors.Join(err, writer.Close(), file.Close())
}

func newParquet[T any](out io.Writer, origin Origin) *parquet.GenericWriter[T] {
	return parquet.NewGenericWriter[T](out,
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedBetterCompression}),
		// Pages of version 2 do not compress the levels of lists.
		parquet.DataPageVersion(1),
		parquet.MaxRowsPerRowGroup(RowsPerGroup),
		parquet.CreatedBy("mgpusim-trace", origin.Version, ""),
		parquet.KeyValueMetadata(VersionKey, origin.Version),
		parquet.KeyValueMetadata(LanesKey, strconv.Itoa(Lanes)),
		parquet.KeyValueMetadata(SourceKey, origin.Source),
		parquet.KeyValueMetadata(CommandKey, origin.Command),
	)
}
