package emulator

import (
	"encoding/binary"

	"github.com/sarchlab/mgpusim/v4/amd/insts"
)

// decoder remembers instructions by their bytes. The driver uploads the code again for every launch on unified GPUs,
// at a new address, so that the cache of the compute unit, which goes by address, would never hit.
type decoder struct {
	disassembler *insts.Disassembler
	known        map[uint64]*insts.Inst
}

func newDecoder() *decoder {
	return &decoder{disassembler: insts.NewDisassembler(), known: make(map[uint64]*insts.Inst)}
}

// Decode decodes the instruction at the front of eight bytes.
func (d *decoder) Decode(code []byte) (*insts.Inst, error) {
	key := binary.LittleEndian.Uint64(code)
	if inst, ok := d.known[key]; ok {
		return inst, nil
	}
	inst, err := d.disassembler.Decode(code)
	if err == nil {
		d.known[key] = inst
	}
	return inst, err
}
