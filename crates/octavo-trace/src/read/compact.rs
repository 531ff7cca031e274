//! Just enough of Thrift's compact protocol to look at lengths before anything is allocated for them.

/// Structures within structures, at most; Parquet's own go six deep.
const MAX_DEPTH: u32 = 24;

/// Types of values, as field and list headers name them.
pub(super) mod kind {
    pub const STOP: u8 = 0;
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const BYTE: u8 = 3;
    pub const I16: u8 = 4;
    pub const I32: u8 = 5;
    pub const I64: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const MAP: u8 = 11;
    pub const STRUCT: u8 = 12;
}

/// A reader with a position in a buffer.
pub(super) struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
}

type Parsed<T> = Result<T, &'static str>;

const CUT: &str = "ends in the middle of a header";

impl<'a> Compact<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes that were read.
    pub fn position(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Parsed<u8> {
        let byte = *self.bytes.get(self.at).ok_or(CUT)?;
        self.at += 1;
        Ok(byte)
    }

    fn advance(&mut self, count: u64) -> Parsed<()> {
        if count > (self.bytes.len() - self.at) as u64 {
            return Err(CUT);
        }
        self.at += count as usize;
        Ok(())
    }

    fn varint(&mut self) -> Parsed<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("has a number of more than 64 bits")
    }

    /// A signed number.
    pub fn number(&mut self) -> Parsed<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Calls `field` with the number and type of each field of a structure; it must read or skip the value.
    pub fn fields(&mut self, mut field: impl FnMut(&mut Self, i16, u8) -> Parsed<()>) -> Parsed<()> {
        let mut last = 0i16;
        loop {
            let header = self.byte()?;
            let (delta, kind) = (i16::from(header >> 4), header & 0xf);
            if kind == kind::STOP {
                return Ok(());
            }
            last = if delta == 0 { self.number()? as i16 } else { last.wrapping_add(delta) };
            field(self, last, kind)?;
        }
    }

    /// Type and number of the elements of a list.
    pub fn list(&mut self) -> Parsed<(u8, u64)> {
        let header = self.byte()?;
        let count = if header >> 4 == 15 { self.varint()? } else { u64::from(header >> 4) };
        // Every element takes at least a byte.
        if count > (self.bytes.len() - self.at) as u64 { Err(CUT) } else { Ok((header & 0xf, count)) }
    }

    /// Steps over a value of a field.
    pub fn skip(&mut self, kind: u8) -> Parsed<()> {
        match kind {
            kind::TRUE | kind::FALSE => Ok(()),
            _ => self.skip_element(kind, MAX_DEPTH),
        }
    }

    fn skip_element(&mut self, kind: u8, depth: u32) -> Parsed<()> {
        let depth = depth.checked_sub(1).ok_or("is nested too deeply")?;
        match kind {
            kind::TRUE | kind::FALSE | kind::BYTE => self.advance(1),
            kind::I16 | kind::I32 | kind::I64 => self.varint().map(drop),
            kind::DOUBLE => self.advance(8),
            kind::BINARY => {
                let length = self.varint()?;
                self.advance(length)
            }
            kind::LIST | kind::SET => {
                let (kind, count) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(kind, depth))
            }
            kind::STRUCT => self.fields(|reader, _, kind| match kind {
                kind::TRUE | kind::FALSE => Ok(()),
                _ => reader.skip_element(kind, depth),
            }),
            kind::MAP => Err("has a map, which Parquet never has"),
            _ => Err("has a value of unknown type"),
        }
    }
}
