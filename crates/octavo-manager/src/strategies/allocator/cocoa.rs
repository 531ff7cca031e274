//! `cocoa`: contiguity-conserving allocation. A whole block of an application gets a large frame to itself, and each of
//! its pages its own place there; everything else comes from large frames that the application has begun to use.

use octavo_registry::{Entry, OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FrameAllocator, FrameRequest};
use crate::contract::counts::NamedCounts;
use crate::contract::geometry::Geometry;
use crate::contract::ids::PageId;
use crate::memories::large_frame::Holder;
use crate::memories::store::FrameStore;

/// Options of `cocoa`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Memory channels, 1 to 64: large frame n lies in channel n modulo this, and pages are compacted within a channel;
    /// default 6 (Mosaic, MICRO 2017, table 1).
    channels: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { channels: 6 }
    }
}

pub(super) static ENTRY: Entry<Box<dyn FrameAllocator>, Geometry> = Entry {
    name: "cocoa",
    summary: "a large frame for each whole block of an application, with each page in its own place",
    source: "Mosaic (MICRO 2017): contiguity-conserving allocation",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, _| {
        let Options { channels } = typed::parse(options)?;
        if !(1..=64).contains(&channels) {
            return Err(OptionError::new("channels", format!("expected 1 to 64, found {channels}")));
        }
        Ok(Box::new(Cocoa { channels, counts: Counts::default() }))
    },
};

struct Cocoa {
    channels: u32,
    counts: Counts,
}

/// What it counts.
#[derive(Default)]
pub(super) struct Counts {
    /// Base pages that were put into a large frame with pages of another application.
    soft_guarantee_broken: u64,
    /// Base pages of a whole block that did not get their own place in a large frame.
    identity_missed: u64,
}

impl Counts {
    pub fn named(&self) -> NamedCounts {
        NamedCounts::default()
            .with("soft_guarantee_broken", self.soft_guarantee_broken)
            .with("identity_missed", self.identity_missed)
    }
}

impl FrameAllocator for Cocoa {
    fn needs_frames(&self) -> bool {
        true
    }

    fn sets_aside(&self) -> bool {
        true
    }

    fn channels(&self) -> u32 {
        self.channels
    }

    fn wants_large_frame(&self, memory: &FrameStore, request: &FrameRequest<'_>) -> bool {
        let wants = if request.whole { homeless(memory, request) } else { base_list(memory, request).is_none() };
        wants && memory.free.first().is_none()
    }

    fn choose(&mut self, memory: &FrameStore, request: &FrameRequest<'_>) -> Option<u32> {
        let frame = own_place(memory, request)
            .or_else(|| base_list(memory, request))
            .or_else(|| free_frame(memory, request))
            .or_else(|| emergency(memory, request))
            .or_else(|| reservation(memory, request))
            .or_else(|| taken_from_own(memory, request))
            .or_else(|| request.lowest(memory))
            .or_else(|| set_aside(memory, request))
            .or_else(|| request.taken_away(memory).next())?;
        let large = &memory.frames[(frame / memory.span) as usize];
        self.counts.soft_guarantee_broken += u64::from(!large.may_hold(request.space));
        Some(frame)
    }

    fn placed(&mut self, memory: &FrameStore, page: PageId, whole: bool) {
        self.counts.identity_missed += u64::from(whole && !memory.in_own_place(page));
    }

    fn counters(&self) -> NamedCounts {
        self.counts.named()
    }
}

/// Whether the page is the first of its block, which may yet have a large frame to itself.
fn homeless(memory: &FrameStore, request: &FrameRequest<'_>) -> bool {
    let block = memory.block_of(request.page);
    memory.home(block).is_none() && memory.held(block) == 0
}

/// The frame at the page's own place in its block's home; a free large frame may become that home.
fn own_place(memory: &FrameStore, request: &FrameRequest<'_>) -> Option<u32> {
    if !request.whole {
        return None;
    }
    let home = memory.home(memory.block_of(request.page));
    let new = || memory.free.first().filter(|_| homeless(memory, request));
    let large = home.or_else(new)?;
    let frame = large * memory.span + request.page.0 % memory.span;
    request.may_have(memory, frame).then_some(frame)
}

/// A hole in a large frame that this space has begun to use, or in the memory's last frame if that is not whole.
fn base_list(memory: &FrameStore, request: &FrameRequest<'_>) -> Option<u32> {
    if !request.may_take {
        return None;
    }
    let own = memory.bases.get(usize::from(request.space.0)).and_then(|bases| bases.first());
    let last = (memory.frames.len() as u32).checked_sub(1);
    let incomplete = last.filter(|&last| {
        let frame = &memory.frames[last as usize];
        frame.holder == Holder::Nobody && frame.used > 0
    });
    memory.hole(own.or(incomplete)?)
}

fn free_frame(memory: &FrameStore, request: &FrameRequest<'_>) -> Option<u32> {
    memory.hole(memory.free.first().filter(|_| request.may_take)?)
}

/// A hole in a large page of this space.
fn emergency(memory: &FrameStore, request: &FrameRequest<'_>) -> Option<u32> {
    let own = |&large: &u32| memory.frames[large as usize].holder == Holder::Space(request.space);
    memory.hole(memory.emergency.iter().filter(|_| request.may_take).find(own)?)
}

/// A place that one of this space's blocks has not used yet, in the home with the fewest pages.
fn reservation(memory: &FrameStore, request: &FrameRequest<'_>) -> Option<u32> {
    if !request.may_take {
        return None;
    }
    let own = |&large: &u32| memory.frames[large as usize].holder == Holder::Space(request.space);
    memory.hole(memory.holes.iter().filter(own).min_by_key(|&large| memory.frames[large as usize].used)?)
}

/// A hole in a large frame that was set aside, whoever it was for: there is no other.
fn set_aside(memory: &FrameStore, request: &FrameRequest<'_>) -> Option<u32> {
    memory.hole(memory.kept.first().filter(|_| request.may_take)?)
}

/// A frame that the same plan took from a page of this space.
fn taken_from_own(memory: &FrameStore, request: &FrameRequest<'_>) -> Option<u32> {
    let own = |&frame: &u32| memory.frames[(frame / memory.span) as usize].holder == Holder::Space(request.space);
    request.taken_away(memory).find(own)
}
