//! Tracks side by side under one name: slices of one track nest, so those that overlap need separate tracks.

use crate::observe::spans::write::Writer;

pub(crate) struct Lanes {
    parent: u64,
    name: String,
    lanes: Vec<Lane>,
}

struct Lane {
    track: u64,
    /// The end of its last slice.
    until: u64,
}

/// End of a slice that is still open.
const OPEN: u64 = u64::MAX;

impl Lanes {
    pub fn new(parent: u64, name: impl Into<String>) -> Self {
        Self { parent, name: name.into(), lanes: Vec::new() }
    }

    /// The first track that is free at `began`, taken until `ended`.
    pub fn take(&mut self, writer: &mut Writer<'_>, began: u64, ended: u64) -> u64 {
        if let Some(lane) = self.lanes.iter_mut().find(|lane| lane.until <= began) {
            lane.until = ended;
            return lane.track;
        }
        let track = writer.track(Some(self.parent), &self.name);
        self.lanes.push(Lane { track, until: ended });
        track
    }

    /// The first track that is free at `began`, taken until it is [released](Self::release).
    pub fn open(&mut self, writer: &mut Writer<'_>, began: u64) -> u64 {
        self.take(writer, began, OPEN)
    }

    /// Ends everything that is open when the run ends.
    pub fn close(&mut self, writer: &mut Writer<'_>, time: u64) {
        for lane in self.lanes.iter().filter(|lane| lane.until == OPEN) {
            writer.end_with_run(lane.track, time);
        }
    }

    pub fn release(&mut self, track: u64, ended: u64) {
        if let Some(lane) = self.lanes.iter_mut().find(|lane| lane.track == track) {
            lane.until = ended;
        }
    }
}
