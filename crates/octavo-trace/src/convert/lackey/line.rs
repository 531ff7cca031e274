//! A line of Lackey's output.

use crate::convert::text::{decimal, hexadecimal, shown};

/// Bytes of an access, at most: the tool's own limit.
const MOST_BYTES: u64 = 512;
/// Programs have no addresses from here on: the upper half of all is the kernel's.
const ADDRESSES_END: u64 = 1 << 63;

/// A load, a store, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub address: u64,
    pub bytes: u64,
    pub writes: bool,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Access(Access),
    /// An instruction is fetched.
    Instruction,
    /// It is not about memory.
    Other,
}

/// Reads a line: `I  address,size` for an instruction; ` L `, ` S ` and ` M ` (loads and stores the same bytes) for
/// data. Addresses are hexadecimal.
///
/// # Errors
/// It begins like one of these, and does not go on so.
pub(super) fn read(text: &[u8]) -> Result<Line, String> {
    let Some((kind, rest)) = text.split_first_chunk::<3>() else { return Ok(Line::Other) };
    let writes = match kind {
        b"I  " | b" L " => false,
        b" S " | b" M " => true,
        _ => return Ok(Line::Other),
    };
    let unlike = || format!("expected `address,size` after `{}`, found {}", String::from_utf8_lossy(kind), shown(rest));
    let comma = rest.iter().position(|byte| *byte == b',').ok_or_else(unlike)?;
    let address = hexadecimal(&rest[..comma]).ok_or_else(unlike)?;
    let bytes = decimal(&rest[comma + 1..]).ok_or_else(unlike)?;
    if bytes == 0 || bytes > MOST_BYTES || address >= ADDRESSES_END - MOST_BYTES {
        return Err(format!(
            "expected 1 to {MOST_BYTES} bytes at an address of a program, found {bytes} at {address:#x}"
        ));
    }
    Ok(if kind == b"I  " { Line::Instruction } else { Line::Access(Access { address, bytes, writes }) })
}

#[cfg(test)]
mod tests {
    use super::{Access, Line, read};

    #[test]
    fn accesses_are_told_from_other_lines() {
        let access = |address, bytes, writes| Ok(Line::Access(Access { address, bytes, writes }));
        assert_eq!(read(b" L 1ffeffe7e0,8"), access(0x1f_feff_e7e0, 8, false));
        assert_eq!([read(b" S 04222cac,4"), read(b" M 04222cac,4")], [(); 2].map(|()| access(0x0422_2cac, 4, true)));
        assert_eq!(read(b"I  04001090,3"), Ok(Line::Instruction));
        for text in [&b"==7== Lackey, an example Valgrind tool"[..], b"", b"SB 04001090", b"hello"] {
            assert_eq!(read(text), Ok(Line::Other));
        }
        for text in
            [&b" L 10"[..], b" L ,8", b" L 10,", b" S xyz,8", b"I  10,0", b" M 10,513", b" L ffffffffffffffff,8"]
        {
            assert!(read(text).is_err(), "{}", text.escape_ascii());
        }
    }
}
