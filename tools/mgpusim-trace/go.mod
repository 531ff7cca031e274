module octavo/tools/mgpusim-trace

go 1.25

require (
	github.com/parquet-go/parquet-go v0.32.0
	github.com/sarchlab/akita/v4 v4.9.0
	github.com/sarchlab/mgpusim/v4 v4.2.0
	github.com/tebeka/atexit v0.3.0
)

require (
	github.com/andybalholm/brotli v1.1.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/klauspost/compress v1.17.9 // indirect
	github.com/mattn/go-sqlite3 v1.14.32 // indirect
	github.com/parquet-go/bitpack v1.0.0 // indirect
	github.com/parquet-go/jsonlite v1.0.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.21 // indirect
	github.com/rs/xid v1.6.0 // indirect
	github.com/twpayne/go-geom v1.6.1 // indirect
	golang.org/x/sys v0.38.0 // indirect
	gonum.org/v1/gonum v0.15.1 // indirect
	google.golang.org/protobuf v1.34.2 // indirect
)

// The benchmarks fill their inputs from the global random source after seeding it. Since Go 1.24 seeding does nothing
// unless asked for, and each run would then sort, search and encrypt something else.
godebug (
	randautoseed=0
	randseednop=0
)
