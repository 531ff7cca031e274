//! From the instructions of a warp to the rows of a wavefront.

use std::collections::{HashMap, VecDeque};

use super::header::Header;
use super::instruction::Instruction;
use crate::convert::sass::{Class, Opcode, SHARED_END};
use crate::convert::scoreboard::Scoreboard;
use crate::convert::watch::Notes;
use crate::lines::{lines_of_addresses, partial_of_addresses};
use crate::{Counts, Key, Kind, Row, Touched};

/// Bytes of the windows through which generic addresses reach shared and local memory.
const WINDOW_BYTES: u64 = 1 << 24;
/// Opcodes whose meaning is remembered.
const REMEMBERED: usize = 1 << 12;
/// The most groups of asynchronous copies that can be distinguished.
const COPY_GROUPS: usize = 64;

/// The rows of one warp after another.
pub(super) struct Warp {
    shared_window: Option<u64>,
    local_window: Option<u64>,
    opcodes: HashMap<Vec<u8>, Opcode>,
    counts: Counts,
    /// Vector memory, and shared memory.
    memory: Scoreboard,
    local: Scoreboard,
    /// The last asynchronous copy, and the last of each group that was closed.
    copied: u64,
    copy_groups: VecDeque<u64>,
    /// The instruction before was an exit, which the `end` replaces if nothing follows.
    exited: bool,
    lines: Vec<u64>,
    partial: Vec<u64>,
    /// Instructions of all warps.
    pub instructions: u64,
}

impl Warp {
    pub fn new(header: &Header) -> Self {
        // Old tracers write 0 for what they do not know.
        let known = |window: Option<u64>| window.filter(|base| *base != 0);
        Self {
            shared_window: known(header.shared_window),
            local_window: known(header.local_window),
            opcodes: HashMap::new(),
            counts: Counts::default(),
            memory: Scoreboard::new(),
            local: Scoreboard::new(),
            copied: 0,
            copy_groups: VecDeque::new(),
            exited: false,
            lines: Vec::new(),
            partial: Vec::new(),
            instructions: 0,
        }
    }

    /// The next instruction; rows go to `out`.
    pub fn take<E>(
        &mut self,
        instruction: &Instruction<'_>,
        addresses: &[u64],
        notes: &mut Notes,
        out: &mut impl FnMut(Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let opcode = self.opcode(instruction.opcode);
        let class = self.class(opcode.class, addresses);
        if opcode.class == Class::AsyncLoad && addresses.first().is_some_and(|first| *first < SHARED_END) {
            // The other half of a copy, where it goes in shared memory.
            return Ok(());
        }
        self.instructions += 1;
        self.counts.branch += u32::from(std::mem::take(&mut self.exited));
        self.wait_for_registers(instruction, opcode, out)?;
        if matches!(class, Class::Load | Class::AsyncLoad | Class::Store | Class::Atomic) {
            let other = instruction.width != 0 && instruction.width != opcode.bytes_or(instruction.width);
            notes.count("accesses of another width than their opcode says, which counts", u64::from(other));
        }
        match class {
            Class::Load => self.access(Kind::Load, instruction, opcode, addresses, out)?,
            Class::AsyncLoad => {
                self.access(Kind::Load, instruction, opcode, addresses, out)?;
                self.copied = self.memory.issued();
            }
            Class::Store => self.access(Kind::Store, instruction, opcode, addresses, out)?,
            Class::Atomic => self.access(Kind::Atomic, instruction, opcode, addresses, out)?,
            Class::Barrier if instruction.mask != 0 => out(self.plain(Kind::Barrier))?,
            Class::Fence => {
                let outstanding = self.memory.wait_for_all();
                self.wait_or_count(outstanding, out)?;
            }
            Class::CopyWait => {
                let outstanding = self.memory.wait_for(self.awaited_copy(instruction.immediate));
                self.wait_or_count(outstanding, out)?;
            }
            _ => self.count(class, instruction, opcode, notes),
        }
        Ok(())
    }

    /// The warp ends: its last row, and all is forgotten. False if its last instruction is no exit.
    pub fn end<E>(&mut self, out: &mut impl FnMut(Row<'_>) -> Result<(), E>) -> Result<bool, E> {
        let end = self.plain(Kind::End);
        self.memory.reset();
        self.local.reset();
        self.copied = 0;
        self.copy_groups.clear();
        out(end)?;
        Ok(std::mem::take(&mut self.exited))
    }

    fn opcode(&mut self, text: &[u8]) -> Opcode {
        if let Some(opcode) = self.opcodes.get(text) {
            return *opcode;
        }
        if self.opcodes.len() == REMEMBERED {
            self.opcodes.clear();
        }
        let opcode = Opcode::new(text);
        self.opcodes.insert(text.to_vec(), opcode);
        opcode
    }

    /// Generic accesses may reach shared and local memory.
    fn class(&self, class: Class, addresses: &[u64]) -> Class {
        let within = |window: Option<u64>, address: u64| {
            window.is_some_and(|base| address >= base && address - base < WINDOW_BYTES)
        };
        match (class, addresses.first()) {
            (Class::Load | Class::Store | Class::Atomic, Some(first))
                if within(self.shared_window, *first) || within(self.local_window, *first) =>
            {
                Class::LocalData
            }
            _ => class,
        }
    }

    fn access<E>(
        &mut self,
        kind: Kind,
        instruction: &Instruction<'_>,
        opcode: Opcode,
        addresses: &[u64],
        out: &mut impl FnMut(Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let bytes = opcode.bytes_or(instruction.width);
        let mut lines = std::mem::take(&mut self.lines);
        lines.clear();
        let mut partial = std::mem::take(&mut self.partial);
        partial.clear();
        lines_of_addresses(addresses, bytes, &mut lines);
        if kind.is_written() {
            partial_of_addresses(addresses, bytes, &lines, &mut partial);
        }
        if !lines.is_empty() {
            self.memory.issue(instruction.destinations.as_slice().first().copied(), opcode.operands.destination());
        }
        let (lanes, touched) = (addresses.len() as u8, Touched::Lines(&lines));
        let outcome = out(Row { bytes, lanes, touched, partial: &partial, ..self.plain(kind) });
        (self.lines, self.partial) = (lines, partial);
        outcome
    }

    /// Waits for outstanding accesses that write registers which the instruction reads or overwrites.
    fn wait_for_registers<E>(
        &mut self,
        instruction: &Instruction<'_>,
        opcode: Opcode,
        out: &mut impl FnMut(Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut memory, mut local) = (0, 0);
        let operands = opcode.operands;
        let sources = instruction.sources.as_slice().iter().enumerate();
        let sources = sources.map(|(index, first)| (*first, operands.source(index)));
        let destinations = instruction.destinations.as_slice().iter().map(|first| (*first, operands.destination()));
        for (first, count) in sources.chain(destinations) {
            memory = memory.max(self.memory.needed(first, count));
            local = local.max(self.local.needed(first, count));
        }
        let (vector_wait, scalar_wait) = (self.memory.wait_for(memory), self.local.wait_for(local));
        if vector_wait.is_some() || scalar_wait.is_some() {
            out(Row { vector_wait, scalar_wait, ..self.plain(Kind::Wait) })?;
        }
        Ok(())
    }

    /// The copy that must be complete for the immediate's number of groups to be outstanding.
    fn awaited_copy(&self, immediate: Option<i64>) -> u64 {
        let allowed = immediate.and_then(|groups| usize::try_from(groups).ok());
        match allowed {
            Some(allowed) if !self.copy_groups.is_empty() => {
                let index = self.copy_groups.len().checked_sub(allowed.saturating_add(1));
                index.map_or(0, |index| self.copy_groups[index])
            }
            _ => self.copied,
        }
    }

    /// A waiting instruction is a separate row, unless there is nothing to wait for.
    fn wait_or_count<E>(
        &mut self,
        vector_wait: Option<u8>,
        out: &mut impl FnMut(Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if vector_wait.is_some() {
            return out(Row { vector_wait, ..self.plain(Kind::Wait) });
        }
        self.counts.scalar_alu += 1;
        Ok(())
    }

    fn count(&mut self, class: Class, instruction: &Instruction<'_>, opcode: Opcode, notes: &mut Notes) {
        match class {
            Class::LocalData => {
                self.counts.local_data += 1;
                if instruction.mask != 0 {
                    self.local
                        .issue(instruction.destinations.as_slice().first().copied(), opcode.operands.destination());
                }
            }
            Class::Branch => self.counts.branch += 1,
            Class::Exit => self.exited = true,
            Class::VectorAlu => self.counts.vector_alu += 1,
            Class::Unrecorded => {
                notes.count("texture, surface and bulk accesses without addresses, counted as vector ALU", 1);
                self.counts.vector_alu += 1;
            }
            Class::Unknown => {
                notes.unknown(instruction.opcode);
                self.counts.vector_alu += 1;
            }
            Class::CopyGroup => {
                self.counts.scalar_alu += 1;
                if self.copy_groups.len() == COPY_GROUPS {
                    self.copy_groups.pop_front();
                }
                self.copy_groups.push_back(self.copied);
            }
            _ => self.counts.scalar_alu += 1,
        }
    }

    /// A row with the instructions counted since the one before.
    fn plain(&mut self, kind: Kind) -> Row<'static> {
        Row::plain(Key::default(), kind, std::mem::take(&mut self.counts))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::Warp;
    use crate::convert::accel_sim::header::Header;
    use crate::convert::accel_sim::instruction;
    use crate::convert::watch::Notes;

    /// Kinds of the rows of a warp, with the number that its waits leave outstanding.
    fn rows(lines: &[&str]) -> String {
        let (mut warp, mut notes, mut addresses) = (Warp::new(&Header::default()), Notes::default(), Vec::new());
        let mut found = Vec::new();
        let mut out = |row: crate::Row<'_>| {
            let waits = [row.vector_wait, row.scalar_wait].into_iter().flatten();
            found.push(waits.fold(row.kind.name().to_owned(), |text, wait| format!("{text} {wait}")));
            Ok::<(), Infallible>(())
        };
        for line in lines {
            let instruction = instruction::read(line.as_bytes(), 0, &mut addresses).unwrap();
            let Ok(()) = warp.take(&instruction, &addresses, &mut notes, &mut out);
        }
        let Ok(_) = warp.end(&mut out);
        found.join(", ")
    }

    const LOAD_4: &str = "0 1 1 R4 LDG.E 1 R2 4 2 0x100000000";
    const LOAD_5: &str = "0 1 1 R5 LDG.E 1 R2 4 2 0x100000000";
    const LOAD_PAIR: &str = "0 1 1 R6 LDG.E.64 1 R2 8 2 0x100000000";

    #[test]
    fn loads_into_neighbours_do_not_wait_for_each_other() {
        assert_eq!(rows(&[LOAD_4, LOAD_5, LOAD_PAIR, LOAD_4]), "load, load, load, wait 2, load, end");
        assert_eq!(rows(&[LOAD_4, LOAD_5, "0 1 1 R8 FADD 2 R5 R4 0"]), "load, load, wait 0, end");
        assert_eq!(rows(&[LOAD_4, LOAD_5, "0 1 1 R8 FADD 2 R4 R0 0"]), "load, load, wait 1, end");
        assert_eq!(rows(&[LOAD_PAIR, LOAD_4, "0 1 0 STG.E 2 R8 R7 4 2 0x100000000"]), "load, load, wait 1, store, end");
    }

    #[test]
    fn addresses_and_doubles_are_pairs() {
        assert_eq!(rows(&[LOAD_5, "0 1 1 R8 LDG.E 1 R4 4 2 0x100000000"]), "load, wait 0, load, end");
        assert_eq!(rows(&[LOAD_5, "0 1 1 R8 DADD 2 R4 R0 0"]), "load, wait 0, end");
        assert_eq!(rows(&[LOAD_5, "0 1 1 R8 IMAD.WIDE 3 R4 R0 R2 0"]), "load, end");
        assert_eq!(rows(&[LOAD_5, "0 1 1 R8 IMAD.WIDE 3 R0 R0 R4 0"]), "load, wait 0, end");
    }

    #[test]
    fn fences_wait_once_and_atomics_return() {
        let atomic = "0 1 1 R4 ATOMG.E.ADD.STRONG.GPU 2 R2 R8 4 2 0x100000000";
        let fence = "0 ffffffff 0 MEMBAR.SC.GPU 0 0";
        assert_eq!(rows(&[atomic, "0 1 1 R8 MOV 1 R4 0"]), "atomic, wait 0, end");
        assert_eq!(rows(&[fence, LOAD_4, fence, fence]), "load, wait 0, end");
    }
}
