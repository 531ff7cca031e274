package emulator

import (
	"bytes"
	"log"
	"os"
	"runtime"
	"strings"
)

// trapLog takes over the standard log, through which benchmarks report, until restore is called. A benchmark whose
// result is wrong may call log.Fatal, which would end the process with a trace half written; it panics instead, as
// others do.
func trapLog() (restore func()) {
	flags := log.Flags()
	log.SetFlags(0)
	log.SetOutput(trap{})
	return func() {
		log.SetFlags(flags)
		log.SetOutput(os.Stderr)
	}
}

type trap struct{}

func (trap) Write(message []byte) (int, error) {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "log.Fatal") {
			panic(string(bytes.TrimSpace(message)))
		}
		if !more {
			return len(message), nil
		}
	}
}
