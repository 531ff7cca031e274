//! Memory whose kind differs from the program's request, by address.

use std::ffi::c_void;

use crate::kind::Kind;
use crate::ranges::Ranges;

/// Where memory was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Home {
    /// The context's address; 0 if there is none.
    pub context: usize,
    /// The context's device.
    pub device: i32,
}

/// What lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    bytes: u64,
    /// What it really is.
    pub kind: Kind,
    /// Where it was made.
    pub home: Home,
}

/// All of it.
#[derive(Debug, Default)]
pub struct Moved {
    pieces: Ranges<Piece>,
}

impl Moved {
    /// Memory was allocated there; an earlier allocation was freed by a call that has no hook.
    pub fn add(&mut self, pointer: *const c_void, bytes: usize, kind: Kind, home: Home) {
        let bytes = bytes as u64;
        self.pieces.add(pointer as u64, bytes, Piece { bytes, kind, home });
    }

    /// Memory was allocated there as the program requested.
    pub fn forget(&mut self, pointer: *const c_void, bytes: usize) {
        self.pieces.forget(pointer as u64, bytes as u64);
    }

    /// Memory that was made in some places is gone.
    pub fn forget_all(&mut self, gone: impl Fn(Home) -> bool) {
        self.pieces.retain(|piece| !gone(piece.home));
    }

    /// The memory that begins there and is about to be freed.
    pub fn take(&mut self, pointer: *const c_void) -> Option<Piece> {
        self.pieces.take(pointer as u64).map(|(_, piece)| piece)
    }

    /// The memory was not freed. Another allocation can only be in its place if a call without a hook freed it.
    pub fn put_back(&mut self, pointer: *const c_void, piece: Piece) {
        let begin = pointer as u64;
        if self.pieces.each().all(|(other, bytes, _)| other + bytes <= begin || begin + piece.bytes.max(1) <= other) {
            self.pieces.add(begin, piece.bytes, piece);
        }
    }

    /// The kind of memory at an address.
    pub fn kind(&mut self, pointer: *const c_void) -> Option<Kind> {
        self.pieces.at(pointer as u64).map(|(.., piece)| piece.kind)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;

    use super::{Home, Moved};
    use crate::kind::Kind;

    fn at(address: usize) -> *const c_void {
        address as *const c_void
    }

    #[test]
    fn pieces_end_where_others_begin() {
        let mut moved = Moved::default();
        moved.add(at(100), 50, Kind::Managed, Home::default());
        moved.add(at(150), 50, Kind::Pinned, Home::default());
        let kinds = |moved: &mut Moved| [99, 100, 149, 150, 199, 200].map(|address| moved.kind(at(address)));
        let (managed, pinned) = (Some(Kind::Managed), Some(Kind::Pinned));
        assert_eq!(kinds(&mut moved), [None, managed, managed, pinned, pinned, None]);
        let mut take = |address| moved.take(at(address)).map(|piece| piece.kind);
        assert_eq!((take(120), take(150), take(150)), (None, pinned, None));
        moved.forget(at(140), 1);
        assert_eq!(kinds(&mut moved), [None; 6]);
    }

    #[test]
    fn what_was_not_freed_is_there_again_unless_something_else_is() {
        let mut moved = Moved::default();
        moved.add(at(100), 50, Kind::Pinned, Home::default());
        let piece = moved.take(at(100)).unwrap();
        moved.put_back(at(100), piece);
        assert_eq!(moved.take(at(100)), Some(piece));
        moved.add(at(140), 50, Kind::Managed, Home::default());
        moved.put_back(at(100), piece);
        assert_eq!((moved.kind(at(100)), moved.kind(at(140))), (None, Some(Kind::Managed)));
    }

    #[test]
    fn what_a_device_held_goes_with_it() {
        let mut moved = Moved::default();
        for device in 0..2 {
            let home = Home { context: 0, device };
            moved.add(at(100 * (device as usize + 1)), 50, Kind::Pinned, home);
        }
        moved.forget_all(|home| home.device == 1);
        assert_eq!((moved.kind(at(100)), moved.kind(at(200))), (Some(Kind::Pinned), None));
    }
}
