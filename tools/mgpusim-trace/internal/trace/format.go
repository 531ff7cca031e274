// Package trace writes folders in Octavo's trace format, which docs/trace-format.md defines.
package trace

// Versions of the format that this package writes.
const (
	Launches = "1" // the launches alone
	Program  = "2" // the whole program
)

// Lanes is the number of work-items of a wavefront on the GPUs that MGPUSim emulates.
const Lanes = 64

// LineBytes is the size of the lines that rows list.
const LineBytes = 64

// RowsPerGroup is the most rows that a row group may hold.
const RowsPerGroup = 131072

// Names of the three files of a trace.
const (
	InstructionsFile = "instructions.parquet"
	AllocationsFile  = "allocations.parquet"
	LaunchesFile     = "launches.parquet"
)

// Keys of the metadata that every file carries.
const (
	VersionKey = "octavo.trace.version"
	LanesKey   = "octavo.trace.lanes"
	SourceKey  = "octavo.trace.source"
	CommandKey = "octavo.trace.command"
)

// Kinds of rows.
const (
	Load    = "load"
	Store   = "store"
	Scalar  = "scalar"
	Barrier = "barrier"
	Wait    = "wait"
	End     = "end"
)

// Row is one memory instruction, barrier or wait of a wavefront, or its end.
type Row struct {
	Launch    uint32   `parquet:"launch,delta"`
	Group     uint32   `parquet:"group,delta"`
	Wavefront uint16   `parquet:"wavefront,dict"`
	Sequence  uint32   `parquet:"sequence,delta"`
	Kind      string   `parquet:"kind,dict"`
	CodeLines []uint64 `parquet:"code_lines,list" parquet-element:",delta"`
	Bytes     uint16   `parquet:"bytes,dict"`
	Lanes     uint8    `parquet:"lanes,dict"`
	Lines     []uint64 `parquet:"lines,list" parquet-element:",delta"`
	Partial   []uint64 `parquet:"partial,list" parquet-element:",delta"`
	Counts
	VectorWait *uint8 `parquet:"vector_wait,optional,dict"`
	ScalarWait *uint8 `parquet:"scalar_wait,optional,dict"`
}

// Counts are the instructions without a row of their own that were executed since the row before.
type Counts struct {
	VectorALU uint32 `parquet:"vector_alu,dict"`
	ScalarALU uint32 `parquet:"scalar_alu,dict"`
	LocalData uint32 `parquet:"local_data,dict"`
	Branch    uint32 `parquet:"branch,dict"`
}

// Total is how many instructions the counts hold.
func (c Counts) Total() uint64 {
	return uint64(c.VectorALU) + uint64(c.ScalarALU) + uint64(c.LocalData) + uint64(c.Branch)
}

// Instructions is how many instructions the row and its counts stand for. A wait for nothing stands for none: it tells
// that the vector instructions of the next row follow the others of this one.
func (r *Row) Instructions() uint64 {
	if r.Kind == Wait && r.VectorWait == nil && r.ScalarWait == nil {
		return r.Total()
	}
	return 1 + r.Total()
}

// IsVector tells whether the row is a vector memory instruction.
func (r *Row) IsVector() bool { return r.Kind == Load || r.Kind == Store }

// Allocation is one buffer of the program.
type Allocation struct {
	Name  string `parquet:"name"`
	Base  uint64 `parquet:"base"`
	Bytes uint64 `parquet:"bytes"`
	GPU   uint8  `parquet:"gpu"`
}

// Contains tells whether a line lies in the allocation rounded out to whole lines.
func (a Allocation) Contains(line uint64) bool {
	return line >= a.Base/LineBytes && line <= (a.Base+a.Bytes-1)/LineBytes
}

// Launch is one kernel launch.
type Launch struct {
	Launch             uint32  `parquet:"launch"`
	Kernel             string  `parquet:"kernel"`
	GridX              uint32  `parquet:"grid_x"`
	GridY              uint32  `parquet:"grid_y"`
	GridZ              uint32  `parquet:"grid_z"`
	GroupX             uint32  `parquet:"group_x"`
	GroupY             uint32  `parquet:"group_y"`
	GroupZ             uint32  `parquet:"group_z"`
	WavefrontsPerGroup uint16  `parquet:"wavefronts_per_group"`
	VectorRegisters    uint16  `parquet:"vector_registers"`
	ScalarRegisters    uint16  `parquet:"scalar_registers"`
	LocalDataBytes     uint32  `parquet:"local_data_bytes"`
	CodeBytes          uint32  `parquet:"code_bytes"`
	Flushed            uint8   `parquet:"flushed"`
	Split              []Share `parquet:"split,list"`
}

// Share is the contiguous work-groups of a launch that one GPU ran.
type Share struct {
	GPU    uint8  `parquet:"gpu"`
	First  uint32 `parquet:"first"`
	Groups uint32 `parquet:"groups"`
}
