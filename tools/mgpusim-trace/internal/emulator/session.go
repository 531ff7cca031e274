package emulator

import (
	"fmt"
	"slices"
	"time"

	"github.com/sarchlab/mgpusim/v4/amd/driver"
	"github.com/sarchlab/mgpusim/v4/amd/insts"
	"github.com/sarchlab/mgpusim/v4/amd/kernels"
	"github.com/sarchlab/mgpusim/v4/amd/protocol"

	"octavo/tools/mgpusim-trace/internal/trace"
)

// session is one recording under way.
type session struct {
	engine   *engine
	driver   *driver.Driver
	gpus     *gpus
	recorder *recorder
	decoder  *decoder
	unit     *unit
	sink     Sink

	names    []string
	code     *insts.KernelCodeObject // of the launch that is running
	launches []trace.Launch
	uploads  []upload
	buffers  []buffer
	events   []event
	flushed  bool // whether the driver has flushed all caches since the last launch
	checking bool // whether the benchmark checks itself while it runs

	totals    Totals
	progress  func(Totals)
	reported  time.Time
	verifying bool
	done      chan error
}

// fail ends the recording with an error. Only the first counts.
func (s *session) fail(reason any) {
	prefix := ""
	if s.verifying {
		prefix = "wrong result: "
	}
	select {
	case s.done <- fmt.Errorf("%s%v", prefix, reason):
	default:
	}
}

// launch runs the part of a launch that belongs to one GPU. On unified GPUs the driver sends one request to each GPU
// that has work, in order, and the work-groups of each follow those of the one before.
func (s *session) launch(request *protocol.LaunchKernelReq, gpu int) {
	if gpu == firstGPU {
		s.beginLaunch(request)
	} else if len(s.launches) == 0 || s.code != request.CodeObject {
		panic("a GPU got work of a launch that has not begun")
	}
	launch := &s.launches[len(s.launches)-1]
	grid := kernels.NewGridBuilder()
	grid.SetKernel(kernels.KernelLaunchInfo{
		CodeObject: request.CodeObject,
		Packet:     request.Packet,
		PacketAddr: request.PacketAddress,
		WGFilter:   request.WGFilter,
	})
	share := trace.Share{GPU: uint8(gpu), First: s.nextGroup(), Groups: uint32(grid.NumWG())}
	if share.Groups > 0 {
		launch.Split = append(launch.Split, share)
	}
	for i := range share.Groups {
		group := grid.NextWG()
		if flatten(group) != share.First+i {
			panic(fmt.Sprintf("work-group %d came where %d was expected", flatten(group), share.First+i))
		}
		s.runGroup(request, launch.Launch, share.First+i, group)
	}
}

func (s *session) beginLaunch(request *protocol.LaunchKernelReq) {
	s.code = request.CodeObject
	launch := newLaunch(len(s.launches), request)
	if s.flushed {
		launch.Flushed, s.flushed = 1, false
	}
	s.events = append(s.events, event{launch: len(s.launches)})
	s.launches = append(s.launches, launch)
	s.uploads = append(s.uploads, upload{
		kernel:  kernelName(request),
		code:    request.Packet.KernelObject,
		kernarg: request.Packet.KernargAddress,
		packet:  request.PacketAddress,
	})
	s.buffers = driverBuffers(s.driver)
	s.events[len(s.events)-1].allocated = len(s.buffers)
	s.unit = newUnit(s.decoder, s.recorder)
	s.totals.Launches++
}

// noteCopy is told where the driver copies from or to. Buffers that a launch may have written count as dirty for ever
// (driver/memorycopy.go), and a copy that touches one has all caches written back and emptied first. A benchmark that
// checks itself while it runs copies what it checks, which it would not do otherwise: conv2d alone, which copies nothing
// else between launches that they may have written.
func (s *session) noteCopy(address uint64) {
	s.flushed = s.flushed || !s.checking && s.allocated(address/trace.LineBytes)
	t, begins := copyUnderWay(s.driver, address)
	if !begins || s.verifying || s.checking && !t.toDevice {
		return
	}
	s.events = append(s.events, event{launch: -1, copy: t, allocated: len(driverBuffers(s.driver))})
}

// nextGroup is the first work-group of the current launch that has not run.
func (s *session) nextGroup() uint32 {
	split := s.launches[len(s.launches)-1].Split
	if len(split) == 0 {
		return 0
	}
	last := split[len(split)-1]
	return last.First + last.Groups
}

func (s *session) runGroup(request *protocol.LaunchKernelReq, launch, index uint32, group *kernels.WorkGroup) {
	s.recorder.begin(launch, index, group.Wavefronts)
	s.unit.run(request.PID, group)
	s.totals.Groups++
	for i := range s.recorder.logs {
		s.finish(&s.recorder.logs[i])
	}
	s.endMissing(launch, index, len(group.Wavefronts))
	if s.progress != nil && time.Since(s.reported) > progressPeriod {
		s.reported = time.Now()
		s.progress(s.totals)
	}
}

// endMissing ends the wavefronts that a work-group at the edge of the grid does not have: a trace has the same number
// in each. They count as nothing.
func (s *session) endMissing(launch, group uint32, wavefronts int) {
	for i := wavefronts; i < int(s.launches[launch].WavefrontsPerGroup); i++ {
		row := trace.Row{Launch: launch, Group: group, Wavefront: uint16(i), Kind: trace.End}
		if err := s.sink.WriteRows([]trace.Row{row}); err != nil {
			panic(err)
		}
	}
}

// finish counts and writes the rows of a wavefront that has ended.
func (s *session) finish(log *wavefrontLog) {
	if len(log.rows) == 0 || log.rows[len(log.rows)-1].Kind != trace.End {
		panic("a wavefront did not end")
	}
	s.totals.Wavefronts++
	s.totals.Rows += uint64(len(log.rows))
	for i := range log.rows {
		row := &log.rows[i]
		s.totals.Instructions += row.Instructions()
		if row.IsVector() {
			s.totals.VectorMemory++
			s.totals.VectorLines += uint64(len(row.Lines))
		}
		if row.Kind == trace.Scalar {
			s.totals.ScalarLoads++
		}
		for _, line := range row.Lines {
			s.touch(log.rows[0].Launch, line)
		}
	}
	if err := s.sink.WriteRows(log.rows); err != nil {
		panic(err)
	}
}

// touch notes that the launch at hand uses the buffer of a line. Neighbouring lines mostly lie in the same one.
func (s *session) touch(launch uint32, line uint64) {
	at, found := s.bufferOf(line)
	if !found {
		panic(fmt.Sprintf("kernel %s touches address %#x, which lies in no buffer",
			s.launches[launch].Kernel, line*trace.LineBytes))
	}
	touched := &s.events[len(s.events)-1].touched
	if place, known := slices.BinarySearch(*touched, uint32(at)); !known {
		*touched = slices.Insert(*touched, place, uint32(at))
	}
}

func (s *session) recording() (*Recording, error) {
	allocations, own, err := nameBuffers(driverBuffers(s.driver), s.uploads, len(s.gpus.ports), s.names)
	if err != nil {
		return nil, err
	}
	recording := &Recording{Allocations: allocations, Launches: s.launches, Totals: s.totals}
	recording.Memories, recording.Actions = program(allocations, own, s.events)
	return recording, nil
}
