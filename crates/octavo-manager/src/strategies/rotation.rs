//! How pages are dealt out to the GPUs, one in turn.

use crate::contract::ids::ProcessorId;
use crate::contract::masks::ProcessorMask;

/// Deals pages out to the GPUs of a program in turn: an allocation continues where the previous one for the same GPUs
/// ended.
pub(crate) struct Dealer {
    /// The GPU, counted among those of a program, that gets the first page of all; the last if there are fewer.
    first: u32,
    /// Pages dealt out so far to these GPUs; only the remainder matters.
    dealt: Vec<(ProcessorMask, u32)>,
}

/// Pages that were dealt out: to which address space's GPUs, their position among those, and after how many others.
#[derive(Clone, Copy)]
pub(crate) struct Dealt {
    pub whose: u8,
    pub before: u32,
}

impl Dealer {
    pub fn new(first: u32) -> Self {
        Self { first, dealt: Vec::new() }
    }

    /// Deals this many pages out to `gpus`, which are not none.
    pub fn deal(&mut self, gpus: ProcessorMask, pages: u32) -> Dealt {
        let known = self.dealt.iter().position(|(others, _)| *others == gpus);
        let at = known.unwrap_or_else(|| {
            self.dealt.push((gpus, 0));
            self.dealt.len() - 1
        });
        let dealt = Dealt { whose: at as u8, before: self.dealt[at].1 };
        self.dealt[at].1 = self.later(dealt, pages).before;
        dealt
    }

    /// The GPU that gets the page at `offset` after the first of `dealt`.
    pub fn home(&self, dealt: Dealt, offset: u32) -> ProcessorId {
        let gpus = self.dealt[usize::from(dealt.whose)].0;
        let count = gpus.len() as u32;
        let turn = u64::from(self.first.min(count - 1)) + u64::from(dealt.before) + u64::from(offset);
        let turn = (turn % u64::from(count)) as usize;
        gpus.iter().nth(turn).expect("a turn is one of the GPUs'")
    }

    /// The part of `dealt` that begins `offset` after its first.
    pub fn later(&self, dealt: Dealt, offset: u32) -> Dealt {
        let count = self.dealt[usize::from(dealt.whose)].0.len() as u32;
        Dealt { before: (dealt.before + offset % count) % count, ..dealt }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn homes(dealer: &mut Dealer, gpus: &[usize], pages: u32) -> Vec<usize> {
        let mask = gpus.iter().fold(ProcessorMask::EMPTY, |mask, gpu| mask.with(ProcessorId::gpu(*gpu)));
        let dealt = dealer.deal(mask, pages);
        (0..pages).filter_map(|offset| dealer.home(dealt, offset).gpu_index()).collect()
    }

    #[test]
    fn programs_take_turns_over_their_own_gpus() {
        let mut dealer = Dealer::new(3);
        assert_eq!(homes(&mut dealer, &[0, 1, 2, 3], 5), [3, 0, 1, 2, 3]);
        assert_eq!(homes(&mut dealer, &[1, 2], 3), [2, 1, 2], "the last of its own first");
        assert_eq!(homes(&mut dealer, &[1, 2], 2), [1, 2], "on from where it ended");
        assert_eq!(homes(&mut dealer, &[0, 1, 2, 3], 2), [0, 1], "not disturbed by the other");
        assert_eq!(homes(&mut dealer, &[1, 2], 5), [1, 2, 1, 2, 1]);
        assert_eq!(homes(&mut dealer, &[1, 2], 2), [2, 1], "five pages are two turns and one more");
        assert_eq!(homes(&mut Dealer::new(4), &[0, 1, 2], 3), [2, 0, 1]);
    }
}
