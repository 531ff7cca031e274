//! One line of the tool's output.

use crate::convert::sass::MAX_ADDRESS;
use crate::convert::text::{Words, decimal, hexadecimal, shown, triple};

/// Lanes of a warp, each with an address on every line.
const LANES: usize = 32;
/// The beginning of the tool's lines; older versions have no such mark.
const MARK: &[u8] = b"MEMTRACE: CTX ";

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Launch(Launch),
    Access(Access<'a>),
    /// Printed by the program, or of no interest.
    Other,
}

/// A kernel that is launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    /// The CUDA context, 0 where the tool does not say it.
    pub context: u64,
    /// Number of the launch, if the tool counts them.
    pub id: Option<u64>,
    pub kernel: String,
    /// Thread blocks in each dimension, and threads of each.
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub registers: u16,
    pub shared_bytes: u32,
}

/// A memory instruction of a warp; its addresses are handed out separately.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Access<'a> {
    pub context: u64,
    pub id: Option<u64>,
    /// Thread block.
    pub block: [u32; 3],
    /// Slot that the warp takes in its multiprocessor.
    pub warp: u32,
    pub opcode: &'a [u8],
}

/// Reads a line; the addresses of lanes that have one go to `addresses`.
pub(super) fn read<'a>(line: &'a [u8], addresses: &mut Vec<u64>) -> Result<Line<'a>, String> {
    addresses.clear();
    // Output of the program itself may precede the mark on the same line.
    let Some(start) = find(line, MARK) else { return unmarked(line, addresses) };
    let line = &line[start + MARK.len()..];
    let Some((context, rest)) = split(line, b" - ") else { return Ok(Line::Other) };
    if let Some(launch) = rest.strip_prefix(b"LAUNCH - ") {
        let Some((_, named)) = split(launch, b"Kernel name ") else { return Err(unlike_launch()) };
        let at = rfind(named, b" - grid launch id ").ok_or_else(unlike_launch)?;
        let (id, sizes) = split(&named[at + 18..], b" - ").ok_or_else(unlike_launch)?;
        let id = Some(decimal(id.trim_ascii()).ok_or_else(unlike_launch)?);
        return Ok(Line::Launch(Launch { context: handle(context)?, ..read_launch(id, &named[..at], sizes)? }));
    }
    let Some(counted) = rest.strip_prefix(b"grid_launch_id ") else { return Ok(Line::Other) };
    let (id, access) = split(counted, b" - ").ok_or_else(unlike_access)?;
    let id = decimal(id).ok_or_else(|| format!("expected a number as grid_launch_id, found {}", shown(id)))?;
    Ok(Line::Access(Access { context: handle(context)?, ..read_access(Some(id), access, addresses)? }))
}

fn handle(context: &[u8]) -> Result<u64, String> {
    hexadecimal(context.trim_ascii())
        .ok_or_else(|| format!("expected a CUDA context in hexadecimal, found {}", shown(context)))
}

/// Lines of versions before 1.5, which do not number launches.
fn unmarked<'a>(line: &'a [u8], addresses: &mut Vec<u64>) -> Result<Line<'a>, String> {
    if line.starts_with(b"CTA ") && find(line, b" - warp ").is_some() {
        return Ok(Line::Access(read_access(None, line, addresses)?));
    }
    if let Some(named) = line.strip_prefix(b"Kernel ")
        && let Some(at) = rfind(named, b" - grid size ")
        && find(&named[at..], b" - block size ").is_some()
    {
        return Ok(Line::Launch(read_launch(None, &named[..at], &named[at + 3..])?));
    }
    Ok(Line::Other)
}

/// `CTA X,Y,Z - warp W - OPCODE - ADDRESS …`.
fn read_access<'a>(id: Option<u64>, text: &'a [u8], addresses: &mut Vec<u64>) -> Result<Access<'a>, String> {
    let (block, rest) = split(text, b" - ").ok_or_else(unlike_access)?;
    let (warp, rest) = split(rest, b" - ").ok_or_else(unlike_access)?;
    let (opcode, rest) = split(rest, b" - ").ok_or_else(unlike_access)?;
    let block = block.strip_prefix(b"CTA ").and_then(triple).ok_or_else(unlike_access)?;
    let warp = warp.strip_prefix(b"warp ").and_then(decimal).and_then(|warp| u32::try_from(warp).ok());
    let warp = warp.ok_or_else(unlike_access)?;
    if !opcode.first().is_some_and(u8::is_ascii_uppercase) {
        return Err(format!("expected an opcode such as `LDG.E`, found {}", shown(opcode)));
    }
    let mut found = 0;
    for word in Words::new(rest) {
        let address = hexadecimal(word).ok_or_else(|| format!("expected an address, found {}", shown(word)))?;
        if address >= MAX_ADDRESS {
            return Err(format!("address {address:#x} lies beyond any address of a GPU"));
        }
        if address != 0 {
            addresses.push(address);
        }
        found += 1;
        if found > LANES {
            break;
        }
    }
    if found != LANES {
        let found = if found > LANES { "more".to_owned() } else { found.to_string() };
        return Err(format!("expected {LANES} addresses, found {found}"));
    }
    Ok(Access { context: 0, id, block, warp, opcode })
}

/// `grid size X,Y,Z - block size X,Y,Z - nregs N - shmem N - …`.
fn read_launch(id: Option<u64>, kernel: &[u8], sizes: &[u8]) -> Result<Launch, String> {
    let value = |key: &[u8]| {
        let start = find(sizes, key)? + key.len();
        Some(split(&sizes[start..], b" - ").map_or(&sizes[start..], |(value, _)| value).trim_ascii())
    };
    let number = |key: &[u8]| value(key).and_then(decimal);
    Ok(Launch {
        context: 0,
        id,
        kernel: String::from_utf8_lossy(kernel.trim_ascii()).into_owned(),
        grid: value(b"grid size ").and_then(triple).ok_or_else(unlike_launch)?,
        block: value(b"block size ").and_then(triple).ok_or_else(unlike_launch)?,
        registers: number(b"nregs ").and_then(|count| u16::try_from(count).ok()).ok_or_else(unlike_launch)?,
        shared_bytes: number(b"shmem ").and_then(|bytes| u32::try_from(bytes).ok()).ok_or_else(unlike_launch)?,
    })
}

fn unlike_launch() -> String {
    "expected `Kernel name NAME - grid launch id N - grid size X,Y,Z - block size X,Y,Z - nregs N - shmem N`".to_owned()
}

fn unlike_access() -> String {
    "expected `CTA X,Y,Z - warp N - OPCODE - ` and 32 addresses".to_owned()
}

fn split<'a>(text: &'a [u8], at: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    find(text, at).map(|start| (&text[..start], &text[start + at.len()..]))
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

fn rfind(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).rposition(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::{Line, read};

    const LAUNCH: &str = "MEMTRACE: CTX 0x0000000000000a00 - LAUNCH - Kernel pc 0x00000000000b0000 - Kernel name \
        add(int*, int - 1) - grid launch id 3 - grid size 2,1,1 - block size 64,1,1 - nregs 12 - shmem 256 - cuda stream \
        id 0";

    #[test]
    fn launches_and_accesses() {
        let mut addresses = Vec::new();
        let Line::Launch(launch) = read(LAUNCH.as_bytes(), &mut addresses).unwrap() else { panic!() };
        assert_eq!((launch.id, launch.kernel.as_str()), (Some(3), "add(int*, int - 1)"));
        assert_eq!(
            (launch.grid, launch.block, launch.registers, launch.shared_bytes),
            ([2, 1, 1], [64, 1, 1], 12, 256)
        );
        let old = b"Kernel add - grid size 1,2,3 - block size 32,1,1 - nregs 8 - shmem 0 - cuda stream id 0";
        let Line::Launch(launch) = read(old, &mut addresses).unwrap() else { panic!() };
        assert_eq!((launch.id, launch.kernel.as_str(), launch.grid), (None, "add", [1, 2, 3]));
        let lanes = "0x0000000000000100 ".repeat(31);
        let text = format!("done: 3MEMTRACE: CTX 0x1 - grid_launch_id 3 - CTA 1,0,0 - warp 7 - LDG.E.64 - 0x0 {lanes}");
        let Line::Access(access) = read(text.as_bytes(), &mut addresses).unwrap() else { panic!() };
        assert_eq!((access.context, access.id, access.block, access.warp), (1, Some(3), [1, 0, 0], 7));
        assert_eq!(access.opcode, b"LDG.E.64");
        assert_eq!(addresses, [0x100; 31]);
    }

    #[test]
    fn other_output_is_let_through_and_damage_is_not() {
        let mut addresses = Vec::new();
        for text in ["", "hello", "Kernel of the matter", "MEMTRACE: CTX 0x1, Inspecting CUfunction", "CTA scan"] {
            assert_eq!(read(text.as_bytes(), &mut addresses), Ok(Line::Other), "{text}");
        }
        for (text, reason) in [
            ("grid_launch_id x - CTA 0,0,0 - warp 1 - LDG - 0x0", "expected a number as grid_launch_id, found `x`"),
            ("grid_launch_id 0 - CTA 0,0,0 - warp 1 - LDG - 0x0 0x1", "expected 32 addresses, found 2"),
            ("grid_launch_id 0 - CTA 0,0 - warp 1 - LDG - 0x0 0x1", "expected `CTA X,Y,Z"),
            ("grid_launch_id 0 - CTA 0,0,0 - warp 1 - LDG - zz", "expected an address, found `zz`"),
            ("grid_launch_id 0 - CTA 0,0,0 - warp 1 - LDG - 0xffffffffffffffff", "beyond any address"),
            ("LAUNCH - Kernel pc 0x1", "expected `Kernel name NAME"),
        ] {
            let error = read(format!("MEMTRACE: CTX 0x1 - {text}").as_bytes(), &mut addresses).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
