//! The addresses of a memory instruction, in three encodings.

use crate::convert::sass::MAX_ADDRESS;
use crate::convert::text::{Words, decimal, hexadecimal, shown, signed};

/// Reads the encoding and its addresses from `words`: one for each lane of `mask`, in lane order.
pub(super) fn read(words: &mut Words<'_>, mask: u32, addresses: &mut Vec<u64>) -> Result<(), String> {
    addresses.clear();
    let format = words.next().ok_or("ends before its address format")?;
    match decimal(format) {
        Some(0) => list(words, mask, addresses)?,
        Some(1) => stride(words, mask, addresses)?,
        Some(2) => deltas(words, mask, addresses)?,
        _ => return Err(format!("expected an address format of 0, 1 or 2, found {}", shown(format))),
    }
    match addresses.iter().find(|address| **address >= MAX_ADDRESS) {
        Some(address) => Err(format!("address {address:#x} lies beyond any address of a GPU")),
        None => Ok(()),
    }
}

/// Each address.
fn list(words: &mut Words<'_>, mask: u32, addresses: &mut Vec<u64>) -> Result<(), String> {
    for _ in 0..mask.count_ones() {
        addresses.push(address(words, mask)?);
    }
    Ok(())
}

/// The first address, and how far each is from the one before: for lanes without a gap alone.
fn stride(words: &mut Words<'_>, mask: u32, addresses: &mut Vec<u64>) -> Result<(), String> {
    let base = address(words, mask)?;
    let stride = delta(words, mask)?;
    let lanes = mask.count_ones();
    if lanes == 0 {
        return Ok(());
    }
    if mask >> mask.trailing_zeros() != u32::MAX >> (32 - lanes) {
        return Err(format!("base and stride (address format 1) with gaps in the mask {mask:08x}"));
    }
    for lane in 0..i64::from(lanes) {
        let offset = stride.checked_mul(lane);
        addresses.push(offset.and_then(|offset| base.checked_add_signed(offset)).ok_or("a stride beyond 64 bits")?);
    }
    Ok(())
}

/// The first address, then the difference of each to the one before.
fn deltas(words: &mut Words<'_>, mask: u32, addresses: &mut Vec<u64>) -> Result<(), String> {
    let mut last = address(words, mask)?;
    if mask != 0 {
        addresses.push(last);
    }
    for _ in 1..mask.count_ones() {
        last = last.checked_add_signed(delta(words, mask)?).ok_or("a difference beyond 64 bits")?;
        addresses.push(last);
    }
    Ok(())
}

fn address(words: &mut Words<'_>, mask: u32) -> Result<u64, String> {
    let word = words.next().ok_or_else(|| missing(mask))?;
    hexadecimal(word).ok_or_else(|| format!("expected an address in hexadecimal, found {}", shown(word)))
}

fn delta(words: &mut Words<'_>, mask: u32) -> Result<i64, String> {
    let word = words.next().ok_or_else(|| missing(mask))?;
    signed(word).ok_or_else(|| format!("expected a difference of addresses, found {}", shown(word)))
}

fn missing(mask: u32) -> String {
    format!("ends before the addresses of {} active lanes", mask.count_ones())
}
