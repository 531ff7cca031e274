package catalog

import (
	"slices"

	"github.com/sarchlab/mgpusim/v4/amd/benchmarks"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/dnn/gputensor"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/dnn/layers"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/dnn/training"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/dnn/training/optimization"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/dnn/training_benchmarks/xor"
	"github.com/sarchlab/mgpusim/v4/amd/driver"
)

var xorBenchmark = Benchmark{
	Name:    "xor",
	Summary: "training of a network of two layers that learns the exclusive or",
	define: func(p *parameters) build {
		epochs := p.int("epoch", 50, "epochs; MGPUSim's own program runs 50", positive)
		return func() (Maker, error) {
			// Every operation makes its result anew; these are more than there are.
			const most = 1000
			p.buffers = slices.Repeat([]string{"tensor"}, most**epochs)
			return func(d *driver.Driver) benchmarks.Benchmark { return newXOR(d, *epochs) }, nil
		}
	},
}

// xorTraining is MGPUSim's benchmark of that name, whose epochs cannot be set from outside.
type xorTraining struct {
	trainer training.Trainer
}

func newXOR(d *driver.Driver, epochs int) *xorTraining {
	// It checks every operation against the CPU, as the benchmark does. That copies results, and so flushes caches.
	operator := gputensor.NewGPUOperator(d, d.Init())
	operator.EnableVerification()
	return &xorTraining{training.Trainer{
		TO: operator,
		Network: training.Network{Layers: []layers.Layer{
			layers.NewFullyConnectedLayer(0, operator, 2, 4),
			layers.NewReluLayer(operator),
			layers.NewFullyConnectedLayer(2, operator, 4, 2),
		}},
		DataSource:      xor.NewDataSource(operator),
		LossFunc:        training.NewSoftmaxCrossEntropy(operator),
		OptimizationAlg: optimization.NewAdam(operator, 0.03),
		Epoch:           epochs,
		BatchSize:       4,
		ShowBatchInfo:   true,
	}}
}

// SelectGPU takes the first GPU alone: MGPUSim's benchmark stays there whatever it is told.
func (x *xorTraining) SelectGPU(devices []int) {
	if !slices.Equal(devices, []int{1}) {
		panic("xor runs on one GPU only")
	}
}

// SetUnifiedMemory is never asked for.
func (x *xorTraining) SetUnifiedMemory() { panic("the network has no unified memory") }

// Run trains the network.
func (x *xorTraining) Run() {
	for _, layer := range x.trainer.Network.Layers {
		layer.Randomize()
	}
	x.trainer.Train()
}

// Verify has nothing left to do: each operation was checked.
func (x *xorTraining) Verify() {}
