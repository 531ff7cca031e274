package catalog

import (
	"errors"
	"slices"

	"github.com/sarchlab/mgpusim/v4/amd/benchmarks"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/dnn/layer_benchmarks/conv2d"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/dnn/layer_benchmarks/im2col"
	"github.com/sarchlab/mgpusim/v4/amd/benchmarks/dnn/layer_benchmarks/relu"
	"github.com/sarchlab/mgpusim/v4/amd/driver"
)

var reluBenchmark = Benchmark{
	Name:    "relu",
	Summary: "rectifier of a neural network",
	Buffers: []string{"input", "output"},
	define: func(p *parameters) build {
		length := p.int("length", 4096, "elements", positive)
		return always(func(d *driver.Driver) benchmarks.Benchmark {
			b := relu.NewBenchmark(d)
			b.Length = *length
			return b
		})
	},
}

var im2colBenchmark = Benchmark{
	Name:    "im2col",
	Summary: "patches of an image as columns of a matrix",
	Buffers: []string{"input", "output"},
	define: func(p *parameters) build {
		layer := defineLayer(p)
		dilateX := p.int("dilate-x", 1, "dilation across", positive)
		dilateY := p.int("dilate-y", 1, "dilation down", positive)
		return layer.checked(func(d *driver.Driver) benchmarks.Benchmark {
			b := im2col.NewBenchmark(d)
			b.N, b.C, b.H, b.W = *layer.n, *layer.c, *layer.h, *layer.w
			b.KernelHeight, b.KernelWidth = *layer.kernelHeight, *layer.kernelWidth
			b.PadX, b.PadY, b.StrideX, b.StrideY = *layer.padX, *layer.padY, *layer.strideX, *layer.strideY
			b.DilateX, b.DilateY = *dilateX, *dilateY
			return b
		})
	},
}

var conv2dBenchmark = Benchmark{
	Name:    "conv2d",
	Summary: "convolution layer of a neural network: im2col and matrix product",
	Buffers: []string{
		"parameters", "gradients", "input", "input copy", "columns", "weights", "bias repeated",
		"bias transposed", "transpose order", "transpose input size", "transpose output size",
		"transpose input index", "transpose output index",
		"product",
		"output", "transpose order", "transpose input size", "transpose output size",
		"transpose input index", "transpose output index",
	},
	define: func(p *parameters) build {
		layer := defineLayer(p)
		output := p.int("output-channel", 3, "output channels", positive)
		backward := p.bool("enable-backward", false, "run the backward pass too")
		build := layer.checked(func(d *driver.Driver) benchmarks.Benchmark {
			b := conv2d.NewBenchmark(d)
			b.N, b.C, b.H, b.W = *layer.n, *layer.c, *layer.h, *layer.w
			b.KernelChannel, b.KernelHeight, b.KernelWidth = *output, *layer.kernelHeight, *layer.kernelWidth
			b.PadX, b.PadY, b.StrideX, b.StrideY = *layer.padX, *layer.padY, *layer.strideX, *layer.strideY
			b.EnableBackward = *backward
			return b
		})
		return func() (Maker, error) {
			if *backward {
				const afterInput = 3
				p.buffers = slices.Insert(slices.Clone(p.buffers), afterInput, "output gradient")
			}
			return build()
		}
	},
}

// layer is what im2col and conv2d have in common.
type layer struct {
	n, c, h, w                   *int
	kernelHeight, kernelWidth    *int
	padX, padY, strideX, strideY *int
}

func defineLayer(p *parameters) *layer {
	return &layer{
		n:            p.int("N", 1, "images", positive),
		c:            p.int("C", 1, "input channels", positive),
		h:            p.int("H", 28, "height of the input", positive),
		w:            p.int("W", 28, "width of the input", positive),
		kernelHeight: p.int("kernel-height", 3, "height of the kernel", positive),
		kernelWidth:  p.int("kernel-width", 3, "width of the kernel", positive),
		padX:         p.int("pad-x", 0, "padding left and right", orZero),
		padY:         p.int("pad-y", 0, "padding above and below", orZero),
		strideX:      p.int("stride-x", 1, "stride across", positive),
		strideY:      p.int("stride-y", 1, "stride down", positive),
	}
}

func (l *layer) checked(maker Maker) build {
	return func() (Maker, error) {
		if *l.kernelHeight > *l.h+2**l.padY || *l.kernelWidth > *l.w+2**l.padX {
			return nil, errors.New("the kernel is larger than the padded input")
		}
		return maker, nil
	}
}
