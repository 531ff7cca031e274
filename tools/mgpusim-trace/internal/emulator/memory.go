package emulator

import (
	"fmt"

	"github.com/sarchlab/akita/v4/mem/mem"
	"github.com/sarchlab/akita/v4/mem/vm"
)

const (
	log2PageBytes = 12
	pageBytes     = 1 << log2PageBytes
)

// pageTable is the driver's page table with a flat copy beside it: the emulator translates an address for every lane,
// and a walk of a locked list each time would cost more than the instruction.
type pageTable struct {
	vm.PageTable
	frames []uint64 // physical address of each virtual page plus one, 0 where there is none
	pid    vm.PID
	copied func(address uint64)
}

// Only the driver calls Find, to look up the pages that it copies from or to.
func (t *pageTable) Find(pid vm.PID, address uint64) (vm.Page, bool) {
	if t.copied != nil {
		t.copied(address)
	}
	return t.PageTable.Find(pid, address)
}

func newPageTable() *pageTable {
	return &pageTable{PageTable: vm.NewPageTable(log2PageBytes)}
}

func (t *pageTable) Insert(page vm.Page) {
	t.PageTable.Insert(page)
	t.set(page, page.PAddr+1)
}

func (t *pageTable) Update(page vm.Page) {
	t.PageTable.Update(page)
	t.set(page, page.PAddr+1)
}

func (t *pageTable) Remove(pid vm.PID, address uint64) {
	t.PageTable.Remove(pid, address)
	t.set(vm.Page{PID: pid, VAddr: address}, 0)
}

func (t *pageTable) set(page vm.Page, frame uint64) {
	if t.pid == 0 {
		t.pid = page.PID
	}
	if page.PID != t.pid {
		panic("the benchmark has more than one address space, which a trace cannot express")
	}
	number := page.VAddr >> log2PageBytes
	for uint64(len(t.frames)) <= number {
		t.frames = append(t.frames, 0)
	}
	t.frames[number] = frame
}

func (t *pageTable) translate(address uint64) uint64 {
	number := address >> log2PageBytes
	if number >= uint64(len(t.frames)) || t.frames[number] == 0 {
		panic(fmt.Sprintf("the kernel touches address %#x, where nothing is allocated", address))
	}
	return t.frames[number] - 1 + address%pageBytes
}

// memory is what the emulated wavefronts see: virtual addresses over the storage of all GPUs.
type memory struct {
	pages   *pageTable
	storage *mem.Storage
}

// Read returns size bytes from a virtual address.
func (m *memory) Read(_ vm.PID, address, size uint64) []byte {
	if address%pageBytes+size <= pageBytes {
		return m.readPage(address, size)
	}
	data := make([]byte, 0, size)
	for size > 0 {
		part := min(size, pageBytes-address%pageBytes)
		data = append(data, m.readPage(address, part)...)
		address += part
		size -= part
	}
	return data
}

func (m *memory) readPage(address, size uint64) []byte {
	data, err := m.storage.Read(m.pages.translate(address), size)
	if err != nil {
		panic(err)
	}
	return data
}

// Write puts bytes at a virtual address.
func (m *memory) Write(_ vm.PID, address uint64, data []byte) {
	for len(data) > 0 {
		part := min(uint64(len(data)), pageBytes-address%pageBytes)
		if err := m.storage.Write(m.pages.translate(address), data[:part]); err != nil {
			panic(err)
		}
		address += part
		data = data[part:]
	}
}
