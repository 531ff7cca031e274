//! Pieces of memory that hold something or wait to: each has an address of its own, for copies by any device.

use octavo_gpu::{GpuError, Location};

use crate::tally::{self, Costs};
use crate::vmm::Vmm;

/// A piece of memory, and the address at which all devices can read and write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub piece: u64,
    pub address: u64,
}

/// What is to be given back to the driver, and how. Such a call may fail; it is made again later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Debt {
    Mapping { address: u64, bytes: u64 },
    Range { address: u64, bytes: u64 },
    Piece(u64),
}

/// The driver, and what is owed to it.
pub(crate) struct Frames {
    vmm: Box<dyn Vmm>,
    /// Bytes of a piece.
    piece: u64,
    devices: Vec<usize>,
    /// Those that hold nothing, by memory: the host's, then each device's.
    free: Vec<Vec<Frame>>,
    /// How many there are in all, by memory.
    owned: Vec<u32>,
    debts: Vec<Debt>,
    /// What the driver refused last.
    refused: Option<GpuError>,
    refusals: u64,
    costs: Costs,
}

impl Frames {
    pub fn new(vmm: Box<dyn Vmm>, devices: usize, piece: u64) -> Self {
        Self {
            vmm,
            piece,
            devices: (0..devices).collect(),
            free: vec![Vec::new(); devices + 1],
            owned: vec![0; devices + 1],
            debts: Vec::new(),
            refused: None,
            refusals: 0,
            costs: Costs::new(),
        }
    }

    pub fn piece(&self) -> u64 {
        self.piece
    }

    pub fn owned(&self, memory: usize) -> u32 {
        self.owned[memory]
    }

    pub fn free(&self, memory: usize) -> u32 {
        self.free[memory].len() as u32
    }

    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    pub fn refusals(&self) -> u64 {
        self.refusals
    }

    /// What the driver refused since the last question.
    pub fn take_refused(&mut self) -> Option<GpuError> {
        self.refused.take()
    }

    /// Calls the driver.
    pub fn call<T>(
        &mut self,
        kind: &'static str,
        bytes: u64,
        call: impl FnOnce(&mut dyn Vmm) -> Result<T, GpuError>,
    ) -> Result<T, GpuError> {
        let begun = self.vmm.clock();
        let answer = call(&mut *self.vmm);
        match &answer {
            Ok(_) => tally::add(&mut self.costs, kind, bytes, self.vmm.clock() - begun),
            Err(error) => {
                self.refusals += 1;
                self.refused = Some(copy_of(error));
            }
        }
        answer
    }

    /// A range of addresses for this many pieces.
    pub fn reserve(&mut self, pieces: u64) -> Result<u64, GpuError> {
        let (bytes, piece) = (pieces * self.piece, self.piece);
        self.call("reserve", bytes, |vmm| vmm.reserve(bytes, piece))
    }

    /// Maps a frame at a further address, for one device.
    pub fn map(&mut self, address: u64, frame: Frame, device: usize, writes: bool) -> Result<(), GpuError> {
        if !self.debts.is_empty() {
            self.settle(); // perhaps a mapping there
        }
        let bytes = self.piece;
        self.call("map", bytes, |vmm| vmm.map(address, bytes, frame.piece))?;
        let allowed = self.allow(address, &[device], writes);
        if allowed.is_err() {
            self.drop_mapping(address);
        }
        allowed
    }

    /// Changes what one device, or all, may do there.
    pub fn allow(&mut self, address: u64, who: &[usize], writes: bool) -> Result<(), GpuError> {
        let bytes = self.piece;
        self.call("set access", bytes, |vmm| vmm.set_access(address, bytes, who, writes))
    }

    pub fn unmap(&mut self, address: u64) -> Result<(), GpuError> {
        let bytes = self.piece;
        self.call("unmap", bytes, |vmm| vmm.unmap(address, bytes))
    }

    /// A frame that holds nothing: one that waits, or else a new one.
    pub fn take(&mut self, memory: usize) -> Result<Frame, GpuError> {
        if let Some(frame) = self.free[memory].pop() { Ok(frame) } else { self.create(memory) }
    }

    /// A frame that holds nothing any more.
    pub fn put(&mut self, memory: usize, frame: Frame) {
        self.free[memory].push(frame);
    }

    /// Has a memory own this many frames, if it has fewer.
    pub fn fill(&mut self, memory: usize, count: u32) -> Result<(), GpuError> {
        while self.owned[memory] < count {
            let frame = self.create(memory)?;
            self.put(memory, frame);
        }
        Ok(())
    }

    /// Gives free frames back until a memory owns no more than this many, or has none that is free.
    pub fn trim(&mut self, memory: usize, count: u32) {
        while self.owned[memory] > count
            && let Some(frame) = self.free[memory].pop()
        {
            self.owned[memory] -= 1;
            self.drop_mapping(frame.address);
            self.owe(Debt::Piece(frame.piece));
            self.drop_range(frame.address, 1);
        }
    }

    fn create(&mut self, memory: usize) -> Result<Frame, GpuError> {
        let (bytes, location) = (self.piece, memory.checked_sub(1).map_or(Location::Host, Location::Device));
        let address = self.reserve(1)?;
        let created = self.call("create", bytes, |vmm| vmm.create(location, bytes));
        let piece = created.inspect_err(|_| self.drop_range(address, 1))?;
        let frame = Frame { piece, address };
        let mapped = self.call("map", bytes, |vmm| vmm.map(address, bytes, piece)).and_then(|()| {
            let devices = std::mem::take(&mut self.devices);
            let allowed = self.allow(address, &devices, true);
            self.devices = devices;
            allowed.inspect_err(|_| self.drop_mapping(address))
        });
        if let Err(error) = mapped {
            self.owe(Debt::Piece(piece));
            self.drop_range(address, 1);
            return Err(error);
        }
        self.owned[memory] += 1;
        Ok(frame)
    }

    /// A mapping goes, now or later.
    pub fn drop_mapping(&mut self, address: u64) {
        self.owe(Debt::Mapping { address, bytes: self.piece });
    }

    /// A range of addresses goes once nothing is mapped there.
    pub fn drop_range(&mut self, address: u64, pieces: u64) {
        self.owe(Debt::Range { address, bytes: pieces * self.piece });
    }

    fn owe(&mut self, debt: Debt) {
        self.debts.push(debt);
        self.settle();
    }

    /// Gives back what can be: whether nothing is owed any more.
    pub fn settle(&mut self) -> bool {
        // Mappings first: pieces and ranges wait for them.
        let mut debts = std::mem::take(&mut self.debts);
        debts.sort_by_key(|debt| !matches!(debt, Debt::Mapping { .. }));
        for debt in debts {
            let done = match debt {
                Debt::Mapping { address, bytes } => self.call("unmap", bytes, |vmm| vmm.unmap(address, bytes)),
                Debt::Piece(_) | Debt::Range { .. } if self.owes_a_mapping() => {
                    self.debts.push(debt);
                    continue;
                }
                Debt::Piece(piece) => self.call("release", self.piece, |vmm| vmm.release(piece)),
                Debt::Range { address, bytes } => self.call("give back", bytes, |vmm| vmm.give_back(address, bytes)),
            };
            if done.is_err() {
                self.debts.push(debt);
            }
        }
        self.debts.is_empty()
    }

    fn owes_a_mapping(&self) -> bool {
        self.debts.iter().any(|debt| matches!(debt, Debt::Mapping { .. }))
    }
}

/// The driver's errors are of one kind; others come from what no longer changes here.
fn copy_of(error: &GpuError) -> GpuError {
    match error {
        GpuError::Call { call, name, text } => GpuError::Call { call, name: name.clone(), text: text.clone() },
        other => GpuError::Call { call: "the driver", name: "error".to_owned(), text: other.to_string() },
    }
}
