// Package catalog knows the benchmarks of MGPUSim: their names, parameters, defaults and buffers.
package catalog

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sarchlab/mgpusim/v4/amd/benchmarks"
	"github.com/sarchlab/mgpusim/v4/amd/driver"
)

// Benchmark is one benchmark. Names of parameters and defaults come from MGPUSim's own programs.
type Benchmark struct {
	Name    string
	Summary string
	// Buffers names what the benchmark allocates, in that order, unless the parameters change it.
	Buffers []string
	// define adds the parameters to a set and returns what makes a benchmark of their values.
	define func(*parameters) build
}

// build checks the parameters together and says how to make the benchmark.
type build func() (Maker, error)

// Maker makes a benchmark on a driver.
type Maker func(*driver.Driver) benchmarks.Benchmark

// Find returns the benchmark of a name.
func Find(name string) (*Benchmark, error) {
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
	}
	return nil, fmt.Errorf("there is no benchmark %q; mgpusim-trace list shows those there are", name)
}

// All returns every benchmark, sorted by name.
func All() []Benchmark {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b Benchmark) int { return strings.Compare(a.Name, b.Name) })
	return sorted
}

// Plan is a benchmark with its parameters set.
type Plan struct {
	Name string
	Make Maker
	// Buffers names what the benchmark allocates, in that order.
	Buffers []string
	// Arguments are all parameters written out, those left to their defaults included.
	Arguments []string
}

// Parse reads parameters as given on a command line.
func (b *Benchmark) Parse(arguments []string) (*Plan, error) {
	set, build := b.parameters()
	set.buffers = b.Buffers
	if err := set.flags.Parse(arguments); err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name, err)
	}
	if set.flags.NArg() > 0 {
		return nil, fmt.Errorf("%s: unexpected %q", b.Name, set.flags.Arg(0))
	}
	if err := set.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name, err)
	}
	maker, err := build()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name, err)
	}
	return &Plan{Name: b.Name, Make: maker, Buffers: set.buffers, Arguments: set.written()}, nil
}

// Parameter describes one parameter of a benchmark.
type Parameter struct {
	Name, Default, Meaning string
}

// Parameters lists the parameters in the order of their definition.
func (b *Benchmark) Parameters() (list []Parameter) {
	set, _ := b.parameters()
	for _, name := range set.order {
		f := set.flags.Lookup(name)
		list = append(list, Parameter{Name: name, Default: f.DefValue, Meaning: f.Usage})
	}
	return list
}

func (b *Benchmark) parameters() (*parameters, build) {
	set := &parameters{flags: flag.NewFlagSet(b.Name, flag.ContinueOnError)}
	set.flags.SetOutput(io.Discard)
	set.flags.Usage = func() {}
	return set, b.define(set)
}

// parameters is a flag set that keeps its order and knows what values make sense.
type parameters struct {
	flags   *flag.FlagSet
	order   []string
	checks  []func() error
	buffers []string // a build may change them
}

// rule says what is wrong with a value, or nothing.
type rule func(value int) string

// most bounds sizes: more than this does not fit the memory of the GPUs, and would be found out only after filling
// that of the host.
const most = 1 << 30

func positive(value int) string {
	if value < 1 || value > most {
		return fmt.Sprintf("has to be from 1 to %d", most)
	}
	return ""
}

func orZero(value int) string {
	if value < 0 || value > most {
		return fmt.Sprintf("has to be from 0 to %d", most)
	}
	return ""
}

func multipleOf(unit int) rule {
	return func(value int) string {
		if value%unit != 0 {
			return fmt.Sprintf("has to be a multiple of %d", unit)
		}
		return positive(value)
	}
}

func powerOfTwo(value int) string {
	if value < 2 || value&(value-1) != 0 {
		return "has to be a power of two, 2 or more"
	}
	return positive(value)
}

func (p *parameters) int(name string, value int, meaning string, rule rule) *int {
	p.order = append(p.order, name)
	target := p.flags.Int(name, value, meaning)
	p.checks = append(p.checks, func() error {
		if wrong := rule(*target); wrong != "" {
			return fmt.Errorf("-%s %d: %s", name, *target, wrong)
		}
		return nil
	})
	return target
}

// share adds a parameter that is more than 0 and at most 1.
func (p *parameters) share(name string, value float64, meaning string) *float64 {
	p.order = append(p.order, name)
	target := p.flags.Float64(name, value, meaning)
	p.checks = append(p.checks, func() error {
		if !(*target > 0 && *target <= 1) {
			return fmt.Errorf("-%s %g: has to be more than 0 and at most 1", name, *target)
		}
		return nil
	})
	return target
}

func (p *parameters) bool(name string, value bool, meaning string) *bool {
	p.order = append(p.order, name)
	return p.flags.Bool(name, value, meaning)
}

func (p *parameters) string(name, meaning string) *string {
	p.order = append(p.order, name)
	return p.flags.String(name, "", meaning)
}

func (p *parameters) check() (err error) {
	for _, check := range p.checks {
		err = errors.Join(err, check())
	}
	return err
}

// given tells whether a parameter was set rather than left to its default.
func (p *parameters) given(name string) (set bool) {
	p.flags.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// written gives the arguments that stand for all values.
func (p *parameters) written() (arguments []string) {
	for _, name := range p.order {
		f := p.flags.Lookup(name)
		value := f.Value.String()
		switch f.Value.(flag.Getter).Get().(type) {
		case bool:
			arguments = append(arguments, fmt.Sprintf("-%s=%s", name, value))
		case string:
			if value != "" {
				arguments = append(arguments, "-"+name, value)
			}
		default:
			arguments = append(arguments, "-"+name, value)
		}
	}
	return arguments
}
