//! The large frame to empty, and the destinations of its base pages.

use crate::contract::ids::PageId;
use crate::memories::content::Content;
use crate::memories::large_frame::Holder;
use crate::memories::store::FrameStore;

/// Base pages that leave a large frame.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Evacuation {
    /// Base frames: from where, to where.
    pub moves: Vec<(u32, u32)>,
}

/// Free base frames of those large frames of one holder in one channel that take part.
type Room = Vec<((Holder, u32), u32)>;

impl FrameStore {
    /// Empties the large frame with the fewest base frames in use, into others of the same holder in the same channel.
    /// Homes that hold nothing but their block are left alone if anything else can be emptied. Takes up at most
    /// `spare` free base frames.
    pub(crate) fn emptiest(&self, channels: u32, spare: u32, movable: &dyn Fn(PageId) -> bool) -> Option<Evacuation> {
        let attempt = |pure: bool| {
            let room = self.room(channels, pure);
            let numbers = 0..self.frames.len() as u32;
            let mut candidates: Vec<u32> = numbers.filter(|&large| self.can_empty(large, pure)).collect();
            candidates.sort_by_key(|&large| self.frames[large as usize].used);
            let fits = |&large: &u32| {
                let frame = &self.frames[large as usize];
                let around = room.iter().find(|(key, _)| *key == (frame.holder, large % channels));
                let holes = around.map_or(0, |(_, holes)| *holes) - (self.span - u32::from(frame.used));
                holes >= u32::from(frame.used) && u32::from(frame.used) <= spare
            };
            let mut fitting = candidates.into_iter().filter(fits);
            fitting.find(|&large| self.all_movable(large, movable)).map(|large| self.moves(large, channels, pure))
        };
        attempt(false).or_else(|| attempt(true))
    }

    /// Empties this large frame, if that is possible.
    pub(crate) fn evacuation(
        &self,
        large: u32,
        channels: u32,
        spare: u32,
        movable: &dyn Fn(PageId) -> bool,
    ) -> Option<Evacuation> {
        let used = usize::from(self.frames[large as usize].used);
        if !self.can_empty(large, true) || used > spare as usize || !self.all_movable(large, movable) {
            return None;
        }
        let attempt = |pure| Some(self.moves(large, channels, pure)).filter(|found| found.moves.len() == used);
        attempt(false).or_else(|| attempt(true))
    }

    /// Whether pages may be moved out of, or into, a large frame.
    fn takes_part(&self, large: u32, pure: bool) -> bool {
        let frame = &self.frames[large as usize];
        !frame.coalesced && frame.kept == 0 && (pure || !frame.pure())
    }

    fn can_empty(&self, large: u32, pure: bool) -> bool {
        let frame = &self.frames[large as usize];
        let whole = (large + 1) * self.span <= self.total;
        let known = matches!(frame.holder, Holder::Space(_) | Holder::Foreign);
        self.takes_part(large, pure) && whole && known && frame.used > 0 && frame.leaving == 0
    }

    fn all_movable(&self, large: u32, movable: &dyn Fn(PageId) -> bool) -> bool {
        self.contents_of(large).all(|(_, content)| match content {
            Content::Page(page) => movable(page),
            _ => true,
        })
    }

    fn room(&self, channels: u32, pure: bool) -> Room {
        let mut room = Room::new();
        for large in self.holes.iter().filter(|&large| self.takes_part(large, pure)) {
            let frame = &self.frames[large as usize];
            let (key, holes) = ((frame.holder, large % channels), self.span - u32::from(frame.used));
            match room.iter_mut().find(|(known, _)| *known == key) {
                Some((_, sum)) => *sum += holes,
                None => room.push((key, holes)),
            }
        }
        room
    }

    /// Frames that are no home are filled first, in their order, then homes, those with the fewest pages first.
    fn moves(&self, large: u32, channels: u32, pure: bool) -> Evacuation {
        let holder = self.frames[large as usize].holder;
        let fits = |&other: &u32| {
            let alike = self.frames[other as usize].holder == holder && other % channels == large % channels;
            other != large && alike && self.takes_part(other, pure)
        };
        let mut targets: Vec<u32> = self.holes.iter().filter(fits).collect();
        targets.sort_by_key(|&other| {
            let frame = &self.frames[other as usize];
            if frame.pure() { (true, frame.used) } else { (false, 0) }
        });
        let holes = targets.into_iter().flat_map(|other| self.contents_of(other));
        let holes = holes.filter(|(_, content)| *content == Content::Free).map(|(frame, _)| frame);
        let from = self.contents_of(large).filter(|(_, content)| *content != Content::Free).map(|(frame, _)| frame);
        Evacuation { moves: from.zip(holes).collect() }
    }

    /// The contents of the base frames of a large frame, in order.
    pub(crate) fn contents_of(&self, large: u32) -> impl Iterator<Item = (u32, Content)> + '_ {
        (large * self.span..(large + 1) * self.span).map(|frame| (frame, self.content(frame)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ids::SpaceId;

    fn memory(large_frames: u32) -> FrameStore {
        let mut memory = FrameStore::new(4, 4 * large_frames);
        memory.grow(64);
        while memory.add_large_frame() {}
        memory
    }

    #[test]
    fn the_emptiest_frame_goes_into_others_of_its_channel() {
        let mut memory = memory(6);
        (0..6).for_each(|large| _ = memory.put_foreign(4 * large));
        (2..6).for_each(|large| _ = memory.put_foreign(4 * large + 1));
        let found = memory.emptiest(2, 24, &|_| true).unwrap();
        assert_eq!(found.moves, [(0, 10)], "frame 1 is as empty, but comes later and lies in the other channel");
        assert_eq!(memory.emptiest(6, 24, &|_| true), None, "each in a channel of its own");
        assert_eq!(memory.emptiest(2, 0, &|_| true), None, "while pages move they are in two frames");
    }

    #[test]
    fn pages_do_not_go_into_holes_of_large_pages() {
        let mut memory = memory(3);
        (0..4).for_each(|page| _ = memory.put(PageId(page), SpaceId(0), page, true));
        memory.set_coalesced(0, true);
        memory.replace(0, Content::Free);
        memory.put(PageId(5), SpaceId(0), 4, false);
        assert_eq!(memory.emptiest(1, 12, &|_| true), None);
        memory.put(PageId(9), SpaceId(0), 8, false);
        assert_eq!(memory.emptiest(1, 12, &|_| true).unwrap().moves, [(4, 9)]);
        assert_eq!(memory.emptiest(1, 12, &|page| page != PageId(5)).unwrap().moves, [(8, 5)], "page 5 is busy");
    }

    #[test]
    fn holes_of_all_frames_count_together() {
        let mut memory = memory(3);
        (0..2).for_each(|large| (0..3).for_each(|base| _ = memory.put_foreign(4 * large + base)));
        (8..10).for_each(|frame| _ = memory.put_foreign(frame));
        assert_eq!(memory.emptiest(1, 12, &|_| true).unwrap().moves, [(8, 3), (9, 7)]);
    }

    #[test]
    fn homes_are_left_alone_as_long_as_anything_else_can_be_emptied() {
        let mut memory = memory(3);
        memory.put(PageId(0), SpaceId(0), 0, true);
        for frame in [4, 5, 8, 9] {
            memory.put(PageId(frame + 3), SpaceId(0), frame, false);
        }
        assert_eq!(memory.emptiest(1, 12, &|_| true).unwrap().moves, [(4, 10), (5, 11)], "page 0 alone is fewer");
    }

    #[test]
    fn a_frame_that_lies_partly_beyond_the_memory_is_not_emptied() {
        let mut memory = FrameStore::new(4, 6);
        memory.grow(64);
        while memory.add_large_frame() {}
        memory.put(PageId(9), SpaceId(0), 4, false);
        memory.put(PageId(13), SpaceId(0), 0, false);
        assert_eq!(memory.evacuation(1, 1, 6, &|_| true), None);
        assert_eq!(memory.evacuation(0, 1, 6, &|_| true).unwrap().moves, [(0, 5)], "but pages can go there");
    }

    #[test]
    fn a_frame_is_emptied_as_a_whole_or_not_at_all() {
        let mut memory = memory(4);
        (4..6).for_each(|frame| _ = memory.put(PageId(frame + 3), SpaceId(0), frame, false));
        memory.put(PageId(13), SpaceId(0), 8, false);
        let moves = |spare, busy| memory.evacuation(1, 1, spare, &|page| page != PageId(busy)).map(|found| found.moves);
        assert_eq!(moves(2, 99), Some(vec![(4, 9), (5, 10)]));
        assert_eq!(moves(1, 99), None, "while pages move they are in two frames");
        assert_eq!(moves(2, 8), None, "page 8 is busy");
    }

    #[test]
    fn a_frame_of_several_holders_is_not_emptied() {
        let mut memory = memory(2);
        for large in 0..2 {
            memory.put_foreign(4 * large);
            memory.put(PageId(9 + large), SpaceId(0), 4 * large + 1, false);
        }
        assert_eq!(memory.evacuation(0, 1, 8, &|_| true), None);
        assert_eq!(memory.emptiest(1, 8, &|_| true), None);
    }
}
