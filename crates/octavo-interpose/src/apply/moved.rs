//! Memory that is of another kind than the program asked for, by address.

use std::collections::BTreeMap;
use std::ffi::c_void;

use crate::kind::Kind;

/// What lies there.
#[derive(Clone, Copy, Debug)]
struct Piece {
    end: u64,
    kind: Kind,
}

/// All of it; no two pieces overlap.
#[derive(Debug, Default)]
pub struct Moved {
    pieces: BTreeMap<u64, Piece>,
}

impl Moved {
    /// Memory was made there; what was there before is gone, by a call that has no hook.
    pub fn add(&mut self, pointer: *const c_void, bytes: usize, kind: Kind) {
        self.forget(pointer, bytes);
        let begin = pointer as u64;
        self.pieces.insert(begin, Piece { end: begin.saturating_add(bytes.max(1) as u64), kind });
    }

    /// Memory was made there that is what the program asked for.
    pub fn forget(&mut self, pointer: *const c_void, bytes: usize) {
        let begin = pointer as u64;
        let end = begin.saturating_add(bytes.max(1) as u64);
        while let Some(old) = self.pieces.range(..end).next_back().map(|(old, _)| *old) {
            if self.pieces[&old].end <= begin {
                return;
            }
            self.pieces.remove(&old);
        }
    }

    /// The kind of what begins there, which is about to be freed.
    pub fn take(&mut self, pointer: *const c_void) -> Option<Kind> {
        self.pieces.remove(&(pointer as u64)).map(|piece| piece.kind)
    }

    /// The kind of what lies there.
    pub fn kind(&self, pointer: *const c_void) -> Option<Kind> {
        let (_, piece) = self.pieces.range(..=pointer as u64).next_back()?;
        ((pointer as u64) < piece.end).then_some(piece.kind)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;

    use super::Moved;
    use crate::kind::Kind;

    #[test]
    fn pieces_end_where_others_begin() {
        let at = |address: usize| address as *const c_void;
        let mut moved = Moved::default();
        moved.add(at(100), 50, Kind::Managed);
        moved.add(at(150), 50, Kind::Pinned);
        let kinds = |moved: &Moved| [99, 100, 149, 150, 199, 200].map(|address| moved.kind(at(address)));
        let (managed, pinned) = (Some(Kind::Managed), Some(Kind::Pinned));
        assert_eq!(kinds(&moved), [None, managed, managed, pinned, pinned, None]);
        assert_eq!((moved.take(at(120)), moved.take(at(150)), moved.take(at(150))), (None, pinned, None));
        moved.forget(at(140), 1);
        assert_eq!(kinds(&moved), [None; 6]);
    }
}
