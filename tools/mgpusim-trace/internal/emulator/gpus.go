package emulator

import (
	"fmt"

	"github.com/sarchlab/akita/v4/sim"
	"github.com/sarchlab/mgpusim/v4/amd/kernels"
	"github.com/sarchlab/mgpusim/v4/amd/protocol"

	"octavo/tools/mgpusim-trace/internal/trace"
)

// gpus stands where MGPUSim has its command processors: it takes the driver's launches, one port a GPU, and runs them.
type gpus struct {
	*sim.TickingComponent
	ports     []sim.Port
	responses []*protocol.LaunchKernelRsp
	session   *session
}

func newGPUs(engine sim.Engine, count int, session *session) *gpus {
	g := &gpus{session: session}
	g.TickingComponent = sim.NewTickingComponent("GPUs", engine, 1*sim.GHz, g)
	for i := range count {
		name := fmt.Sprintf("GPU[%d]", i+1)
		port := sim.NewPort(g, 16, 16, name)
		g.AddPort(name, port)
		g.ports = append(g.ports, port)
	}
	return g
}

// Tick runs the launches that have arrived and answers.
func (g *gpus) Tick() (progress bool) {
	defer func() {
		// The benchmark waits for an answer that will not come; Record stops waiting for it.
		if reason := recover(); reason != nil {
			g.session.fail(reason)
			progress = false
		}
	}()
	for i, port := range g.ports {
		for {
			message := port.RetrieveIncoming()
			if message == nil {
				break
			}
			request := message.(*protocol.LaunchKernelReq)
			g.session.launch(request, i+1)
			answer := protocol.NewLaunchKernelRsp(port.AsRemote(), request.Src, request.ID)
			if err := port.Send(answer); err != nil {
				panic("the driver does not take an answer")
			}
			progress = true
		}
	}
	return progress
}

// newLaunch describes a launch as its first request does.
func newLaunch(index int, request *protocol.LaunchKernelReq) trace.Launch {
	packet, code := request.Packet, request.CodeObject
	items := int(packet.WorkgroupSizeX) * int(packet.WorkgroupSizeY) * int(packet.WorkgroupSizeZ)
	return trace.Launch{
		Launch:             uint32(index),
		Kernel:             kernelName(request),
		GridX:              packet.GridSizeX,
		GridY:              packet.GridSizeY,
		GridZ:              packet.GridSizeZ,
		GroupX:             uint32(packet.WorkgroupSizeX),
		GroupY:             uint32(packet.WorkgroupSizeY),
		GroupZ:             uint32(packet.WorkgroupSizeZ),
		WavefrontsPerGroup: uint16((items + trace.Lanes - 1) / trace.Lanes),
		VectorRegisters:    code.WIVgprCount,
		ScalarRegisters:    code.WFSgprCount,
		LocalDataBytes:     packet.GroupSegmentSize,
		CodeBytes:          codeBytes(request),
	}
}

// codeBytes gives the size of a kernel from where its code lines are counted, as far as MGPUSim fetches ahead.
func codeBytes(request *protocol.LaunchKernelReq) uint32 {
	if request.CodeObject.Symbol == nil {
		return 0
	}
	return uint32(request.CodeObject.Symbol.Size)
}

func kernelName(request *protocol.LaunchKernelReq) string {
	if request.CodeObject.Symbol == nil {
		return "kernel"
	}
	return request.CodeObject.Symbol.Name
}

// flatten gives the index of a work-group in its grid, x fastest.
func flatten(group *kernels.WorkGroup) uint32 {
	across := func(grid uint32, size uint16) int { return (int(grid)-1)/int(size) + 1 }
	nx := across(group.Packet.GridSizeX, group.Packet.WorkgroupSizeX)
	ny := across(group.Packet.GridSizeY, group.Packet.WorkgroupSizeY)
	return uint32(group.IDX + nx*(group.IDY+ny*group.IDZ))
}
