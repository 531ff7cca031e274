package trace

// ActionsFile is the fourth file of a trace of a whole program.
const ActionsFile = "actions.parquet"

// Kinds of memory of a whole program.
const (
	Device = "device"
	System = "system"
)

// Kinds of actions.
const (
	Allocate = "allocate"
	Host     = "host"
	Copy     = "copy"
	Launched = "launch"
)

// Interleaved is how memory lies on several GPUs when its pages are dealt out in turn.
const Interleaved = "interleaved"

// Memory is an allocation of a whole program.
type Memory struct {
	Allocation
	Kind   string `parquet:"kind,dict"`
	Spread string `parquet:"spread,dict"`
}

// Action is what a program does after the actions that it waits for. What its kind does not need is zero or empty.
type Action struct {
	Action      uint32   `parquet:"action"`
	Kind        string   `parquet:"kind,dict"`
	After       []uint32 `parquet:"after,list"`
	Address     uint64   `parquet:"address"`
	Bytes       uint64   `parquet:"bytes"`
	Source      uint64   `parquet:"source"`
	Processor   uint8    `parquet:"processor"`
	AccessedBy  []uint8  `parquet:"accessed_by,list"`
	ReadMostly  uint8    `parquet:"read_mostly"`
	Launch      uint32   `parquet:"launch"`
	Allocations []uint32 `parquet:"allocations,list"`
	Name        string   `parquet:"name,dict"`
	Threads     uint32   `parquet:"threads"`
	Sweeps      []Sweep  `parquet:"sweeps,list"`
}

// Sweep is a row of accesses of the host, each `Stride` bytes after the one before.
type Sweep struct {
	Address uint64 `parquet:"address"`
	Bytes   uint64 `parquet:"bytes"`
	Writes  uint8  `parquet:"writes"`
	Width   uint64 `parquet:"width"`
	Stride  uint64 `parquet:"stride"`
	Thread  uint32 `parquet:"thread"`
}
