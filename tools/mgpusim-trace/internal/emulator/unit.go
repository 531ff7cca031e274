package emulator

import (
	"github.com/sarchlab/akita/v4/mem/vm"
	"github.com/sarchlab/akita/v4/sim"
	"github.com/sarchlab/mgpusim/v4/amd/emu"
	"github.com/sarchlab/mgpusim/v4/amd/kernels"
	"github.com/sarchlab/mgpusim/v4/amd/protocol"
)

// unit is one of MGPUSim's emulated compute units on an engine of its own. It runs one work-group after another in the
// order of the grid, which makes the rows come sorted, the order of racing wavefronts the same every time, and the
// memory that of one work-group.
type unit struct {
	engine *sim.SerialEngine
	cu     *emu.ComputeUnit
}

func newUnit(decoder *decoder, recorder *recorder) *unit {
	u := &unit{engine: sim.NewSerialEngine()}
	u.cu = emu.NewComputeUnit("CU", u.engine, decoder, emu.NewALU(recorder), &recorder.memory)
	u.cu.AcceptHook(recorder)
	u.cu.ToDispatcher.SetConnection(loose{HookableBase: sim.NewHookableBase()})
	return u
}

// run executes a work-group to its end.
func (u *unit) run(pid vm.PID, group *kernels.WorkGroup) {
	request := protocol.MapWGReqBuilder{}.
		WithSrc("Dispatcher").
		WithDst(u.cu.ToDispatcher.AsRemote()).
		WithPID(pid).
		WithWG(group).
		Build()
	if err := u.cu.ToDispatcher.Deliver(request); err != nil {
		panic("the compute unit does not accept a work-group")
	}
	if err := u.engine.Run(); err != nil {
		panic(err)
	}
	if u.cu.ToDispatcher.RetrieveOutgoing() == nil {
		panic("the compute unit did not finish a work-group")
	}
}

// loose is a connection that leads nowhere: unit delivers and collects the messages itself.
type loose struct{ *sim.HookableBase }

func (loose) Name() string             { return "Loose" }
func (loose) PlugIn(sim.Port)          {}
func (loose) Unplug(sim.Port)          {}
func (loose) NotifyAvailable(sim.Port) {}
func (loose) NotifySend()              {}
