//! A thread of a host phase: which lines it touches next.

use octavo_manager::Access;
use octavo_program::{ActionId, HostPhase, LINE_BYTES, Piece, ProgramBuffer};

/// Lines of one page that a thread touches one after another. For accesses with gaps between them, the lines are taken
/// to follow one another from the first on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub page: u32,
    /// Whether one entry leads to the page and all of its block of 2 MiB.
    pub huge: bool,
    /// The first of them, counted from the page's first.
    pub first: u64,
    pub lines: u64,
    pub write: bool,
}

/// A thread in execution.
pub(crate) struct Thread {
    /// The job and the phase that it is part of.
    pub doing: (usize, ActionId),
    pub core: usize,
    /// When the last of its lines has arrived.
    pub done: u64,
    /// The ranges that it touches, the last piece first, in addresses of the program.
    pieces: Vec<Stretch>,
    /// Address of its next access.
    at: u64,
}

/// A piece of a buffer by addresses.
#[derive(Clone, Copy)]
struct Stretch {
    first: u64,
    end: u64,
    width: u64,
    stride: u64,
    write: bool,
}

impl Thread {
    /// Thread `number` of a phase, on a core.
    pub fn new(
        doing: (usize, ActionId),
        phase: &HostPhase,
        number: u32,
        core: usize,
        buffers: &[ProgramBuffer],
    ) -> Self {
        let stretch = |piece: Piece| {
            let base = buffers[piece.buffer.index()].buffer.base;
            let (first, end) = (base + piece.bytes.start, base + piece.bytes.end);
            Stretch { first, end, width: piece.width, stride: piece.stride, write: piece.access == Access::Write }
        };
        let mut pieces: Vec<Stretch> = phase.pieces(number).map(stretch).collect();
        pieces.reverse();
        let at = pieces.last().map_or(0, |piece| piece.first);
        Self { doing, core, done: 0, pieces, at }
    }

    /// Its next touch, in one page of `1 << page_shift` bytes; nothing at its end. The second is where it continues
    /// once that is done.
    pub fn next(&self, page_shift: u32) -> Option<(Chunk, u64)> {
        let piece = self.pieces.last()?;
        let page = self.at >> page_shift;
        let end = ((page + 1) << page_shift).min(piece.end);
        let (lines, next) = if piece.stride == piece.width {
            (end.div_ceil(LINE_BYTES) - self.at / LINE_BYTES, end)
        } else {
            let (lines, next) = self.scattered(piece, end);
            // An access that reaches into the next page is taken to end with its own.
            (lines.min(((page + 1) << page_shift) / LINE_BYTES - self.at / LINE_BYTES), next)
        };
        let first = (self.at - (page << page_shift)) / LINE_BYTES;
        Some((Chunk { page: page as u32, huge: false, first, lines, write: piece.write }, next))
    }

    /// Lines of accesses that begin before `end`, a line that follows itself counted once.
    fn scattered(&self, piece: &Stretch, end: u64) -> (u64, u64) {
        let (mut lines, mut beyond, mut at) = (0, 0, self.at);
        while at < end {
            let first = (at / LINE_BYTES).max(beyond);
            beyond = (at + piece.width).min(piece.end).div_ceil(LINE_BYTES);
            lines += beyond.saturating_sub(first);
            at += piece.stride;
        }
        (lines, at)
    }

    /// The thread has touched its [next](Self::next) chunk.
    pub fn go_on(&mut self, next: u64) {
        self.at = next;
        if self.pieces.last().is_some_and(|piece| next >= piece.end) {
            self.pieces.pop();
            self.at = self.pieces.last().map_or(0, |piece| piece.first);
        }
    }
}

#[cfg(test)]
mod tests {
    use octavo_manager::{Kind, Spread};
    use octavo_program::{Buffer, BufferId, Span, Sweep, Threads};

    use super::*;

    fn chunks(sweeps: Vec<Sweep>) -> Vec<(u32, u64, u64, bool)> {
        let buffer = Buffer { name: "b".into(), base: 8192, bytes: 20_000, gpu: 0 };
        let buffers = [ProgramBuffer { buffer, kind: Kind::Managed, spread: Spread::Interleaved }];
        let phase = HostPhase { name: "test".into(), threads: 1, sweeps };
        let mut thread = Thread::new((0, ActionId(0)), &phase, 0, 0, &buffers);
        let mut all = Vec::new();
        while let Some((chunk, next)) = thread.next(12) {
            all.push((chunk.page, chunk.first, chunk.lines, chunk.write));
            thread.go_on(next);
        }
        all
    }

    #[test]
    fn dense_sweeps_touch_every_line_of_their_pages() {
        let span = Span { buffer: BufferId(0), bytes: 100..8300 };
        let read = Sweep::over(span.clone(), Access::Read);
        let write = Sweep::over(span, Access::Write);
        let once = [(2, 1, 63, false), (3, 0, 64, false), (4, 0, 2, false)];
        let again = once.map(|(page, first, lines, _)| (page, first, lines, true));
        assert_eq!(chunks(vec![read, write]), [once, again].concat());
    }

    #[test]
    fn sparse_sweeps_touch_a_line_an_access_or_less() {
        let sweep = |width, stride| Sweep {
            span: Span { buffer: BufferId(0), bytes: 0..8192 },
            access: Access::Read,
            width,
            stride,
            by: Threads::Shared,
        };
        assert_eq!(chunks(vec![sweep(4, 1024)]), [(2, 0, 4, false), (3, 0, 4, false)]);
        assert_eq!(chunks(vec![sweep(4, 16)]), [(2, 0, 64, false), (3, 0, 64, false)]);
        assert_eq!(chunks(vec![sweep(128, 2048)]), [(2, 0, 4, false), (3, 0, 4, false)]);
        // Bytes 4032 to 4160 are the last line of a page and the first of the next.
        assert_eq!(chunks(vec![sweep(128, 130)]).iter().map(|chunk| chunk.1 + chunk.2).max(), Some(64));
    }
}
