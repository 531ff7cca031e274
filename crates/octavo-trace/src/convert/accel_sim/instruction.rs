//! One instruction of a warp, from its line.

use super::addresses;
use crate::convert::text::{Words, decimal, hexadecimal, shown, signed};

/// Registers that a line may name on either side; the tracer writes one and five.
const MAX_REGISTERS: usize = 8;
/// Bytes that a lane moves, at most.
const MAX_WIDTH: u64 = 256;

/// The register that always holds zero, of which a thread has none.
const ZERO_REGISTER: u8 = 255;
/// Bytes of a register.
const REGISTER_BYTES: u16 = 4;

/// General registers, first of each operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Registers {
    numbers: [u8; MAX_REGISTERS],
    count: usize,
}

impl Registers {
    pub fn as_slice(&self) -> &[u8] {
        &self.numbers[..self.count]
    }
}

/// An instruction without its addresses.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Instruction<'a> {
    /// Lanes that execute it.
    pub mask: u32,
    pub destinations: Registers,
    pub opcode: &'a [u8],
    pub sources: Registers,
    /// Bytes that each lane moves, as recorded; 0 for instructions without an address.
    pub width: u16,
    /// The last immediate operand, from tracers that record it.
    pub immediate: Option<i64>,
}

impl Instruction<'_> {
    /// One more than the highest register that it names, or that holds its data.
    pub fn registers(&self) -> u16 {
        let more = self.width.div_ceil(REGISTER_BYTES).saturating_sub(1);
        let named = |registers: &Registers| {
            registers.as_slice().iter().copied().filter(|number| *number != ZERO_REGISTER).max()
        };
        // Addresses come first among the sources, what is stored last; the destination is what is loaded.
        let loaded = named(&self.destinations).map_or(0, |number| u16::from(number) + 1 + more);
        let stored = self.sources.as_slice().last().filter(|number| **number != ZERO_REGISTER);
        let stored = stored.filter(|_| self.destinations.count == 0).map_or(0, |number| u16::from(*number) + 1 + more);
        let others = named(&self.sources).map_or(0, |number| u16::from(number) + 1);
        loaded.max(stored).max(others).min(u16::from(ZERO_REGISTER))
    }
}

/// Reads a line after skipping `skipped` words; addresses of active lanes go to `addresses`.
pub(super) fn read<'a>(line: &'a [u8], skipped: usize, addresses: &mut Vec<u64>) -> Result<Instruction<'a>, String> {
    addresses.clear();
    let mut words = Words::new(line);
    words.by_ref().take(skipped).for_each(drop);
    let words = &mut words;
    expect(words, "program counter", hexadecimal)?;
    let mask = expect(words, "mask of 8 hexadecimal digits", |word| u32::try_from(hexadecimal(word)?).ok())?;
    let destinations = registers(words, "destination")?;
    let opcode = words.next().ok_or("ends before its opcode")?;
    if !opcode[0].is_ascii_uppercase() {
        return Err(format!("expected an opcode such as `LDG.E`, found {}", shown(opcode)));
    }
    let sources = registers(words, "source")?;
    let width = expect(words, "width of memory accesses", |word| decimal(word).filter(|width| *width <= MAX_WIDTH))?;
    let mut instruction = Instruction { mask, destinations, opcode, sources, width: width as u16, immediate: None };
    if bulk(opcode) {
        return Ok(instruction);
    }
    if width > 0 {
        addresses::read(words, mask, addresses)?;
    }
    instruction.immediate = immediate(words)?;
    Ok(instruction)
}

/// Bulk copies have their own ways to name their destination.
fn bulk(opcode: &[u8]) -> bool {
    opcode.starts_with(b"UTMA") || opcode.starts_with(b"UBLK")
}

fn immediate(words: &mut Words<'_>) -> Result<Option<i64>, String> {
    let Some(word) = words.next() else { return Ok(None) };
    let immediate = signed(word).ok_or_else(|| format!("expected an immediate or nothing, found {}", shown(word)))?;
    match words.next() {
        Some(word) => Err(format!("goes on with {} after its immediate", shown(word))),
        None => Ok(Some(immediate)),
    }
}

fn registers(words: &mut Words<'_>, what: &str) -> Result<Registers, String> {
    let most = MAX_REGISTERS as u64;
    let count = expect(words, &format!("number of {what} registers"), |word| decimal(word).filter(|n| *n <= most))?;
    let mut registers = Registers::default();
    for _ in 0..count {
        let word = words.next().ok_or_else(|| format!("ends before its {what} registers"))?;
        // Uniform and predicate registers wait for no load.
        if let Some(digits) = word.strip_prefix(b"R") {
            let number = decimal(digits).and_then(|number| u8::try_from(number).ok());
            registers.numbers[registers.count] = number.ok_or_else(|| format!("{} is no register", shown(word)))?;
            registers.count += 1;
        } else if !matches!(word[0], b'U' | b'P') {
            return Err(format!("expected a {what} register, found {}", shown(word)));
        }
    }
    Ok(registers)
}

fn expect<T>(words: &mut Words<'_>, what: &str, parse: impl Fn(&[u8]) -> Option<T>) -> Result<T, String> {
    let word = words.next().ok_or_else(|| format!("ends before its {what}"))?;
    parse(word).ok_or_else(|| format!("expected a {what}, found {}", shown(word)))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn the_three_encodings_agree() {
        let mut addresses = Vec::new();
        for (mask, text, expected) in [
            ("0000000f", "0 0x100 0x104 0x108 0x10c", &[0x100u64, 0x104, 0x108, 0x10c][..]),
            ("0000000f", "1 0x100 4", &[0x100, 0x104, 0x108, 0x10c]),
            ("000001e0", "1 0x100 4", &[0x100, 0x104, 0x108, 0x10c]),
            ("0000000f", "2 0x100 4 4 4", &[0x100, 0x104, 0x108, 0x10c]),
            ("80000101", "0 0x100 0x80 0x1000", &[0x100, 0x80, 0x1000]),
            ("80000101", "2 0x100 -128 3968", &[0x100, 0x80, 0x1000]),
            ("80000000", "2 0x100", &[0x100]),
            ("ffffffff", "1 0x7f0 0", &[0x7f0; 32]),
            ("00000000", "1 0x0 0", &[]),
            ("00000000", "0", &[]),
            ("00000000", "2 0x0", &[]),
        ] {
            for immediate in ["", " 7"] {
                let line = format!("00a0 {mask} 1 R4 LDG.E 1 R2 4 {text}{immediate}");
                let instruction = read(line.as_bytes(), 0, &mut addresses).unwrap();
                assert_eq!(addresses, expected, "{line}");
                assert_eq!(instruction.immediate.is_some(), !immediate.is_empty(), "{line}");
            }
        }
    }

    #[test]
    fn registers_are_counted_with_those_that_hold_what_moves() {
        for (line, expected) in [
            ("0 1 1 R12 LDG.E.128 1 R2 16 0 0x10", 16),
            ("0 1 0 STG.E.128 2 R8 R4 16 0 0x10", 9),
            ("0 1 0 STG.E.128 2 R4 R14 16 0 0x10", 18),
            ("0 1 1 R7 MOV 2 R255 R9 0", 10),
            ("0 1 1 R254 MOV 0 0", 255),
            ("0 1 0 EXIT 0 0", 0),
        ] {
            assert_eq!(read(line.as_bytes(), 0, &mut Vec::new()).unwrap().registers(), expected, "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, reason) in [
            ("", "ends before its program counter"),
            ("00a0 fffffffff 0 NOP 0 0", "expected a mask of 8 hexadecimal digits, found `fffffffff`"),
            ("00a0 1 9 NOP 0 0", "expected a number of destination registers, found `9`"),
            ("00a0 1 0 nop 0 0", "expected an opcode such as `LDG.E`, found `nop`"),
            ("00a0 1 1 R256 MOV 0 0", "`R256` is no register"),
            ("00a0 1 0 MOV 1 x 0", "expected a source register, found `x`"),
            ("00a0 1 0 MOV 1", "ends before its source registers"),
            ("00a0 1 0 LDG 0 99999", "expected a width of memory accesses, found `99999`"),
            ("00a0 1 0 LDG 0 4 5 0x0", "expected an address format of 0, 1 or 2, found `5`"),
            ("00a0 3 0 LDG 0 4 0 0x10", "ends before the addresses of 2 active lanes"),
            ("00a0 3 0 LDG 0 4 0 0x10 zz", "expected an address in hexadecimal, found `zz`"),
            ("00a0 5 0 LDG 0 4 1 0x10 4", "base and stride (address format 1) with gaps in the mask 00000005"),
            ("00a0 3 0 LDG 0 4 1 0x10 -99", "a stride beyond 64 bits"),
            ("00a0 7 0 LDG 0 4 1 0x10 9223372036854775807", "a stride beyond 64 bits"),
            ("00a0 3 0 LDG 0 4 2 0x10 -17", "a difference beyond 64 bits"),
            ("00a0 1 0 LDG 0 4 2 0xffffffffffffffff", "address 0xffffffffffffffff lies beyond any address of a GPU"),
            ("00a0 1 0 MOV 0 0 7 8", "goes on with `8` after its immediate"),
            ("00a0 1 0 MOV 0 0 x", "expected an immediate or nothing, found `x`"),
        ] {
            assert_eq!(read(line.as_bytes(), 0, &mut Vec::new()).unwrap_err(), reason, "{line}");
        }
    }
}
