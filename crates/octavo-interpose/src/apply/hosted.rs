//! Device memory that lies on the host instead, in managed memory that the device reaches over the link. What the program
//! copies to it and from it needs no copy over the link: the host stores it itself. Its address means the same to kernels,
//! the driver and the host, so nothing that the program does with it can go wrong.

use std::ffi::c_void;

use crate::apply::batch::Batch;
use crate::apply::substitutes::Home;
use crate::ranges::Ranges;

/// All of it.
#[derive(Debug, Default)]
pub struct Hosted {
    pieces: Ranges<Piece>,
    /// Work was given to a stream for which a copy does not wait, so that the host must not wait for all of it.
    pub apart: bool,
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
    /// The end that lies elsewhere, if any.
    pub other: Option<*const c_void>,
}

impl Hosted {
    /// Memory of a buffer's was allocated.
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

    /// A copy that the host can make, if it can make this one.
    pub fn copy(&mut self, to: *const c_void, from: *const c_void, size: usize) -> Option<Copy> {
        let [to_piece, from_piece] = [to, from].map(|pointer| self.whole(pointer, size));
        let Piece { buffer, home } = to_piece.or(from_piece)?;
        let other = if to_piece.is_none() { Some(to) } else { from_piece.is_none().then_some(from) };
        (!self.apart).then_some(Copy { buffer, home, other })
    }

    /// The piece that contains a range.
    fn whole(&mut self, pointer: *const c_void, size: usize) -> Option<Piece> {
        let (begin, bytes, piece) = self.pieces.at(pointer as u64)?;
        (pointer as u64 - begin + size as u64 <= bytes).then_some(*piece)
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
