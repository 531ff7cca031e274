//! Device memory that lies on the host instead, in managed memory that the device reaches over the link. What the program
//! copies to it and from it needs no copy over the link: the host stores it itself. Its address means the same to kernels,
//! the driver and the host. What the driver allows for memory of the device alone fails, such as `cudaIpcGetMemHandle`.

use std::ffi::c_void;

use crate::apply::batch::Batch;
use crate::apply::substitutes::Home;
use crate::ranges::Ranges;

/// All of it.
#[derive(Debug, Default)]
pub struct HostedMemory {
    pieces: Ranges<Piece>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    buffer: usize,
    home: Home,
}

/// A copy that the host can make.
#[derive(Clone, Copy)]
pub struct Copy {
    /// The buffer's number, and where its memory was made.
    pub buffer: usize,
    pub home: Home,
    /// Where it begins to write and to read.
    pub ends: [End; 2],
}

/// An end of a copy.
#[derive(Clone, Copy)]
pub struct End {
    pub pointer: *const c_void,
    /// Whether it was made as memory of this sort.
    pub hosted: bool,
}

impl HostedMemory {
    /// Memory of a buffer was allocated.
    pub fn add(&mut self, pointer: *const c_void, bytes: usize, buffer: usize, home: Home) {
        self.pieces.add(pointer as u64, bytes as u64, Piece { buffer, home });
    }

    /// Memory was freed, or something else lies there.
    pub fn forget(&mut self, pointer: *const c_void, bytes: usize) {
        self.pieces.forget(pointer as u64, bytes as u64);
    }

    /// Memory that was made in some places is gone.
    pub fn forget_all(&mut self, gone: impl Fn(Home) -> bool) {
        self.pieces.retain(|piece| !gone(piece.home));
    }

    /// Whether there is any.
    pub fn is_there(&mut self) -> bool {
        self.pieces.each().next().is_some()
    }

    /// A copy that the host can make, if it can make this one: no end lies in another home than the other one.
    pub fn copy(&mut self, to: *const c_void, from: *const c_void, size: usize) -> Option<Copy> {
        let pieces = [to, from].map(|pointer| self.whole(pointer, size));
        let [to_piece, from_piece] = pieces;
        let Piece { buffer, home } = to_piece.or(from_piece)?;
        let end = |pointer, piece: Option<Piece>| End { pointer, hosted: piece.is_some() };
        let here = pieces.iter().flatten().all(|piece| piece.home == home);
        here.then(|| Copy { buffer, home, ends: [end(to, to_piece), end(from, from_piece)] })
    }

    /// The piece that contains a range.
    fn whole(&mut self, pointer: *const c_void, size: usize) -> Option<Piece> {
        let (begin, bytes, piece) = self.pieces.at(pointer as u64)?;
        (size as u64 <= bytes - (pointer as u64 - begin)).then_some(*piece)
    }

    /// Pieces that go to the device, since it does not help that they lie on the host.
    pub fn withdrawn(&mut self, home: Home) -> Batch {
        let mut batch = Batch::default();
        for (begin, bytes, _) in self.pieces.each().filter(|(_, _, piece)| piece.home == home) {
            batch.add(begin, bytes);
        }
        batch.each().for_each(|(begin, bytes)| self.forget(begin, bytes));
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: Home = Home { context: 1, device: 0 };
    const OTHER: Home = Home { context: 2, device: 1 };

    fn at(address: usize) -> *const c_void {
        address as *const c_void
    }

    fn pieces() -> HostedMemory {
        let mut all = HostedMemory::default();
        for (number, home) in [HOME, HOME, OTHER].into_iter().enumerate() {
            all.add(at(0x1000 * (number + 1)), 0x100, number, home);
        }
        all
    }

    #[test]
    fn both_ends_of_a_copy_have_one_home() {
        let mut all = pieces();
        for (to, from, made) in [(0x1000, 0x2000, Some(0)), (0x9000, 0x2000, Some(1)), (0x3000, 0x9000, Some(2))] {
            assert_eq!(all.copy(at(to), at(from), 0x100).map(|copy| copy.buffer), made);
        }
        assert!(all.copy(at(0x1000), at(0x3000), 8).is_none() && all.copy(at(0x3000), at(0x1000), 8).is_none());
        let ends = all.copy(at(0x9000), at(0x2000), 8).unwrap().ends;
        assert_eq!(ends.map(|end| (end.pointer, end.hosted)), [(at(0x9000), false), (at(0x2000), true)]);
    }

    #[test]
    fn a_copy_that_goes_past_a_piece_is_left_to_the_driver() {
        let mut all = pieces();
        for (begin, size) in [(0x1000, 0x101), (0x1001, usize::MAX), (0x10ff, usize::MAX - 0xfe), (0x1000, usize::MAX)]
        {
            assert!(all.copy(at(begin), at(0x9000), size).is_none(), "{begin:#x} {size:#x}");
        }
        assert!(all.copy(at(0x10ff), at(0x9000), 1).is_some());
    }
}
