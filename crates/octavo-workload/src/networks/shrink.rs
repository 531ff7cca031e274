//! Places of a step at a scale: the same arrangement, stretched or shrunk as a whole.
//!
//! The allocator works at the recorded size, as its segments have sizes of their own; then every address is multiplied
//! by the scale and rounded to lines. So a tenth of a network has the same tensors side by side, each a tenth as long.

use std::ops::Range;

use octavo_program::LINE_BYTES;

/// How bytes of a pool become lines.
#[derive(Clone, Copy, Debug)]
pub struct Shrink {
    scale: f64,
}

impl Shrink {
    /// Everything `scale` times as long.
    pub fn new(scale: f64) -> Self {
        Self { scale }
    }

    /// Lines of a pool of `reserved` bytes; at least one if there are any.
    pub fn lines(self, reserved: u64) -> u64 {
        self.line(reserved, f64::ceil)
    }

    /// The lines, from the pool's first, of `bytes` of a pool of `reserved`: at least one, and none behind the pool.
    pub fn span(self, bytes: Range<u64>, reserved: u64) -> Range<u64> {
        let end = self.lines(reserved);
        let first = self.line(bytes.start, f64::floor).min(end - 1);
        first..self.line(bytes.end, f64::ceil).clamp(first + 1, end)
    }

    /// This many operations, shrunk as the bytes are.
    pub fn amount(self, operations: u64) -> u64 {
        (operations as f64 * self.scale).ceil() as u64
    }

    fn line(self, byte: u64, round: impl Fn(f64) -> f64) -> u64 {
        round(byte as f64 * self.scale / LINE_BYTES as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_full_size_a_span_is_its_lines() {
        let full = Shrink::new(1.0);
        assert_eq!(full.span(512..516, 1 << 21), 8..9);
        assert_eq!(full.span(500..1024, 1 << 21), 7..16);
        assert_eq!(full.lines(1 << 21), 1 << 15);
        assert_eq!(full.amount(7), 7);
    }

    #[test]
    fn shrunk_spans_keep_their_order_and_stay_inside() {
        let small = Shrink::new(0.01);
        assert_eq!(small.span(0..512, 2000), 0..1);
        assert_eq!(small.span(64_000..128_000, 1 << 21), 10..20);
        let end = small.lines(1 << 21);
        assert_eq!(small.span((1 << 21) - 512..1 << 21, 1 << 21), end - 1..end);
    }
}
