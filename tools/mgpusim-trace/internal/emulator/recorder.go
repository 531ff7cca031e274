package emulator

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/sarchlab/akita/v4/mem/vm"
	"github.com/sarchlab/akita/v4/sim"
	"github.com/sarchlab/mgpusim/v4/amd/emu"
	"github.com/sarchlab/mgpusim/v4/amd/insts"
	"github.com/sarchlab/mgpusim/v4/amd/kernels"

	"octavo/tools/mgpusim-trace/internal/trace"
)

// Opcodes of program control that get a row.
const (
	endProgram = 1
	barrier    = 10
	waitCount  = 12
)

// notWaitedFor is the largest value of the counters of s_waitcnt, which stands for "do not wait".
const notWaitedFor = 15

// recorder turns the instructions of one work-group at a time into rows. It hooks into the compute unit, which calls it
// after each instruction, and into the memory of the ALU, because a load may overwrite the registers that hold its
// addresses before the hook sees them.
type recorder struct {
	memory
	launch  uint32
	group   uint32
	logs    []wavefrontLog
	current *wavefrontLog
	touched []access
	lines   []uint64
	written []uint64 // of each line of the store at hand, one bit for each byte
	partial []uint64
}

// access is what one lane, or the scalar unit, asked of memory.
type access struct {
	address uint64
	bytes   uint64
}

// wavefrontLog holds the rows of one wavefront and what it executed since the last of them.
type wavefrontLog struct {
	wavefront *kernels.Wavefront
	index     uint16
	rows      []trace.Row
	pending   trace.Counts
	code      []uint64 // lines of code it has executed in, in the order of the first time
	told      int      // how many of them rows have told
	next      uint64   // offset of the instruction that comes next
}

// run notes that the wavefront executed the instruction that came next, of this many bytes, and goes on at next. A
// branch is known only by where it led, so where an instruction lies is where the one before it led.
func (l *wavefrontLog) run(bytes, next uint64) {
	for line := l.next / trace.LineBytes; line <= (l.next+bytes-1)/trace.LineBytes; line++ {
		if !slices.Contains(l.code, line) {
			l.code = append(l.code, line)
		}
	}
	l.next = next
}

// Read is the ALU's view of memory.
func (r *recorder) Read(pid vm.PID, address, size uint64) []byte {
	r.touched = append(r.touched, access{address, size})
	return r.memory.Read(pid, address, size)
}

// Write is the ALU's view of memory.
func (r *recorder) Write(pid vm.PID, address uint64, data []byte) {
	r.touched = append(r.touched, access{address, uint64(len(data))})
	r.memory.Write(pid, address, data)
}

// begin prepares for a work-group.
func (r *recorder) begin(launch, group uint32, wavefronts []*kernels.Wavefront) {
	r.launch, r.group = launch, group
	r.current = nil
	r.lines, r.partial = r.lines[:0], r.partial[:0]
	for len(r.logs) < len(wavefronts) {
		r.logs = append(r.logs, wavefrontLog{})
	}
	r.logs = r.logs[:len(wavefronts)]
	for i, wavefront := range wavefronts {
		log := &r.logs[i]
		*log = wavefrontLog{
			wavefront: wavefront,
			index:     uint16(i),
			rows:      log.rows[:0],
			code:      log.code[:0],
			next:      wavefront.CodeObject.KernelCodeEntryByteOffset,
		}
	}
}

// Func is called by the compute unit after each instruction.
func (r *recorder) Func(ctx sim.HookCtx) {
	wavefront, inst := ctx.Item.(*emu.Wavefront), ctx.Detail.(*insts.Inst)
	r.choose(wavefront.Wavefront)
	if inst.ExeUnit == insts.ExeUnitVALU {
		r.vectorFollows()
	}
	r.current.run(uint64(inst.ByteSize), wavefront.PC()-wavefront.Packet.KernelObject)
	switch inst.ExeUnit {
	case insts.ExeUnitVALU:
		r.current.pending.VectorALU++
	case insts.ExeUnitVMem:
		r.vectorMemory(inst, wavefront.EXEC())
	case insts.ExeUnitScalar:
		if inst.FormatType == insts.SMEM {
			r.scalarMemory(inst)
		} else {
			r.current.pending.ScalarALU++
		}
	case insts.ExeUnitLDS, insts.ExeUnitGDS:
		r.current.pending.LocalData++
	case insts.ExeUnitBranch:
		r.current.pending.Branch++
	default:
		r.special(inst)
	}
	r.touched = r.touched[:0]
}

// choose makes the log of a wavefront the current one. The compute unit runs a wavefront up to its next barrier, so
// this changes rarely.
func (r *recorder) choose(wavefront *kernels.Wavefront) {
	if r.current != nil && r.current.wavefront == wavefront {
		return
	}
	for i := range r.logs {
		if r.logs[i].wavefront == wavefront {
			r.current = &r.logs[i]
			return
		}
	}
	panic("an instruction of a wavefront that is not of this work-group")
}

// vectorFollows ends a row where a vector instruction follows others: a row's vector instructions come first.
func (r *recorder) vectorFollows() {
	if pending := r.current.pending; pending.Total() > uint64(pending.VectorALU) {
		r.append(trace.Row{Kind: trace.Wait})
	}
}

func (r *recorder) special(inst *insts.Inst) {
	if inst.FormatType != insts.SOPP {
		r.current.pending.ScalarALU++
		return
	}
	switch inst.Opcode {
	case endProgram:
		r.append(trace.Row{Kind: trace.End})
	case barrier:
		r.append(trace.Row{Kind: trace.Barrier})
	case waitCount:
		r.wait(waitedFor(inst.VMCNT), waitedFor(inst.LKGMCNT))
	default:
		r.current.pending.ScalarALU++
	}
}

// wait records s_waitcnt. One that waits for neither counter is an instruction like s_nop: as a row it would stand for
// none.
func (r *recorder) wait(vector, scalar *uint8) {
	if vector == nil && scalar == nil {
		r.current.pending.ScalarALU++
		return
	}
	r.append(trace.Row{Kind: trace.Wait, VectorWait: vector, ScalarWait: scalar})
}

func (r *recorder) scalarMemory(inst *insts.Inst) {
	if len(r.touched) != 1 {
		panic(fmt.Sprintf("%s touched memory %d times", inst.InstName, len(r.touched)))
	}
	load := r.touched[0]
	start := len(r.lines)
	for line := load.address / trace.LineBytes; line <= (load.address+load.bytes-1)/trace.LineBytes; line++ {
		r.lines = append(r.lines, line)
	}
	r.append(trace.Row{Kind: trace.Scalar, Bytes: uint16(load.bytes), Lines: r.lines[start:len(r.lines):len(r.lines)]})
}

func (r *recorder) vectorMemory(inst *insts.Inst, active uint64) {
	kind, bytes := flatAccess(inst)
	if len(r.touched) != bits.OnesCount64(active) {
		panic(fmt.Sprintf("%s touched memory %d times for %d lanes",
			inst.InstName, len(r.touched), bits.OnesCount64(active)))
	}
	start := len(r.lines)
	r.written = r.written[:0]
	for _, lane := range r.touched {
		for offset := uint64(0); offset < uint64(bytes); offset += 4 {
			r.touch(start, lane.address+offset, min(4, uint64(bytes)))
		}
	}
	r.append(trace.Row{
		Kind:    kind,
		Bytes:   bytes,
		Lanes:   uint8(len(r.touched)),
		Lines:   r.lines[start:len(r.lines):len(r.lines)],
		Partial: r.unfilled(kind),
	})
}

// touch adds the line of a word, or of part of one, to those of the instruction whose lines begin at start, unless it
// is there, and notes which of its bytes are touched.
func (r *recorder) touch(start int, address, bytes uint64) {
	line := address / trace.LineBytes
	i := len(r.lines) - 1
	for i >= start && r.lines[i] != line {
		i--
	}
	if i < start {
		i = len(r.lines)
		r.lines, r.written = append(r.lines, line), append(r.written, 0)
	}
	r.written[i-start] |= (1<<bytes - 1) << (address % trace.LineBytes)
}

// unfilled gives the positions of the lines that a store does not fill.
func (r *recorder) unfilled(kind string) []uint64 {
	start := len(r.partial)
	for i, written := range r.written {
		if kind == trace.Store && written != math.MaxUint64 {
			r.partial = append(r.partial, uint64(i))
		}
	}
	return r.partial[start:len(r.partial):len(r.partial)]
}

func (r *recorder) append(row trace.Row) {
	log := r.current
	row.Launch, row.Group, row.Wavefront, row.Sequence = r.launch, r.group, log.index, uint32(len(log.rows))
	row.CodeLines = log.code[log.told:len(log.code):len(log.code)]
	log.told = len(log.code)
	row.Counts, log.pending = log.pending, trace.Counts{}
	log.rows = append(log.rows, row)
}

// flatAccess tells what a vector memory instruction does and how many bytes each lane moves. The emulator reads four
// bytes for shorter loads, so the size comes from the opcode.
func flatAccess(inst *insts.Inst) (kind string, bytes uint16) {
	switch inst.Opcode {
	case 16, 17:
		return trace.Load, 1
	case 18, 19:
		return trace.Load, 2
	case 20, 21, 22, 23:
		return trace.Load, 4 * (uint16(inst.Opcode) - 19)
	case 24, 25:
		return trace.Store, 1
	case 26, 27:
		return trace.Store, 2
	case 28, 29, 30, 31:
		return trace.Store, 4 * (uint16(inst.Opcode) - 27)
	}
	panic(fmt.Sprintf("%s is not a load or store that a trace can express", inst.InstName))
}

var waitCounts = func() (counts [notWaitedFor]uint8) {
	for i := range counts {
		counts[i] = uint8(i)
	}
	return counts
}()

func waitedFor(count int) *uint8 {
	if count >= notWaitedFor {
		return nil
	}
	return &waitCounts[count]
}
