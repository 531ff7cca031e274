//! The executor: plans of the manager become calls of the driver.
//!
//! A page of the manager's is a piece. Each copy of it lies in a [`Frame`] of one memory. Each device sees the page in
//! a range of its own: the frame that its entry leads to is mapped there, or none. So every device can have a copy, or
//! reach another's, at an address that stays.

use std::collections::BTreeMap;

use octavo_driver::{Begun, Executor, FaultId, Outstanding, Ticket, Wake};
use octavo_gpu::GpuError;
use octavo_manager::{
    Cause, Fault, Manager, MappingMode, MemoryId, PageId, PageRun, Permission, Prefix, ProcessorId, ProcessorMask,
    Refusal, Step, Why,
};
use octavo_units::Time;

use crate::frames::{Frame, Frames};

/// Copies that go on while the program does.
const BEHIND: &str = "copy behind";

/// What a device can do at its address of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The memory whose frame is mapped there.
    pub target: MemoryId,
    /// Whether it can be written.
    pub permission: Permission,
}

/// Where a device sees a page.
#[derive(Clone, Copy, Debug)]
struct View {
    address: u64,
    entry: Option<Entry>,
}

/// A page that exists.
struct Page {
    /// Its copies, by memory.
    frames: Vec<Option<Frame>>,
    /// By device.
    views: Vec<View>,
}

/// A copy that is still under way.
struct Copying {
    ticket: Ticket,
    page: PageId,
    to: MemoryId,
    by: usize,
}

/// The executor.
pub struct Mover {
    pub(crate) frames: Frames,
    pages: BTreeMap<PageId, Page>,
    devices: usize,
    /// By device: whether it has been waited for since the last [`Self::launches_may_run`].
    waited: Vec<bool>,
    copying: Vec<Copying>,
    /// Whether copies that no access waits for may outlast the call that begins them.
    behind: bool,
    pub(crate) killed: Vec<Fault>,
    pub(crate) woken: Vec<Fault>,
}

impl Mover {
    pub(crate) fn new(frames: Frames, devices: usize) -> Self {
        Self {
            frames,
            pages: BTreeMap::new(),
            devices,
            waited: vec![false; devices],
            copying: Vec::new(),
            behind: false,
            killed: Vec::new(),
            woken: Vec::new(),
        }
    }

    /// From now on, copies that no access waits for end later: [`Self::copies_under_way`] has them.
    pub(crate) fn copies_behind(&mut self) {
        self.behind = true;
    }

    /// Pages come into being. Each device sees them from an address on.
    pub(crate) fn add(&mut self, run: PageRun, addresses: &[u64]) {
        for (offset, page) in (0..).zip(run.iter()) {
            let address = |begin: &u64| View { address: begin + offset * self.frames.piece(), entry: None };
            let views = addresses.iter().map(address).collect();
            self.pages.insert(page, Page { frames: vec![None; self.devices + 1], views });
        }
    }

    /// The mapping of a device.
    #[must_use]
    pub fn entry(&self, device: usize, page: PageId) -> Option<Entry> {
        self.pages.get(&page)?.views[device].entry
    }

    /// Whether a memory holds a page.
    #[must_use]
    pub fn holds(&self, memory: MemoryId, page: PageId) -> bool {
        self.pages.get(&page).is_some_and(|page| page.frames.get(memory.index()).is_some_and(Option::is_some))
    }

    /// The memories that hold a page.
    pub(crate) fn holders(&self, page: PageId) -> impl Iterator<Item = MemoryId> + '_ {
        let frames = self.pages.get(&page).into_iter().flat_map(|page| page.frames.iter().enumerate());
        frames.filter(|(_, frame)| frame.is_some()).map(|(index, _)| MemoryId(index as u8))
    }

    /// The address at which any device can copy from or to a page's frame.
    pub(crate) fn frame_address(&self, memory: MemoryId, page: PageId) -> Option<u64> {
        Some(self.pages.get(&page)?.frames[memory.index()]?.address)
    }

    /// A mapping goes behind the manager's back.
    pub(crate) fn take_entry_away(&mut self, device: usize, page: PageId) {
        if let Some(page) = self.pages.get_mut(&page)
            && page.views[device].entry.take().is_some()
        {
            self.frames.drop_mapping(page.views[device].address);
        }
    }

    /// Devices may have been given new work: who loses a mapping is waited for again.
    pub(crate) fn launches_may_run(&mut self) {
        self.waited.fill(false);
    }

    /// Waits until a device has nothing to do.
    pub(crate) fn wait_for(&mut self, device: usize) -> Result<(), GpuError> {
        if !self.waited[device] {
            self.frames.call("wait", 0, |vmm| vmm.wait(device))?;
            self.waited[device] = true;
        }
        Ok(())
    }

    /// Waits for all devices that can access a page.
    pub(crate) fn wait_for_users(&mut self, page: PageId) -> Result<(), GpuError> {
        (0..self.devices).try_for_each(
            |device| {
                if self.entry(device, page).is_some() { self.wait_for(device) } else { Ok(()) }
            },
        )
    }

    /// Waits for copies that are still under way; whom to tell, and whether they came about.
    pub(crate) fn copies_under_way(&mut self) -> Vec<(Ticket, Result<(), Refusal>)> {
        let copying = std::mem::take(&mut self.copying);
        copying.into_iter().map(|copying| (copying.ticket, self.end_copy(&copying))).collect()
    }

    fn end_copy(&mut self, &Copying { page, to, by, .. }: &Copying) -> Result<(), Refusal> {
        let ended = self.frames.call(BEHIND, 0, |vmm| vmm.end_copies(by));
        ended.map_err(|_| {
            self.give_up(page, to);
            Refusal { done: Prefix::NONE, why: Why::Again }
        })
    }

    fn carry_out(&mut self, step: &Step) -> Result<(), (u32, Why)> {
        match *step {
            Step::Drain { processors, pages } => self.drain(processors, pages),
            Step::Invalidate { processors, pages } => {
                self.drain(processors, pages)?;
                each(pages, |page| self.on_devices(processors, |mover, device| mover.unmap(device, page)))
            }
            Step::Protect { processors, pages } => {
                self.drain(processors, pages)?;
                each(pages, |page| self.on_devices(processors, |mover, device| mover.protect(device, page)))
            }
            Step::Populate { memory, pages, zeroed } => each(pages, |page| self.populate(page, memory, zeroed)),
            Step::Copy { pages, from, to, .. } => each(pages, |page| self.copy(page, from, to)),
            Step::Release { memory, pages } => {
                pages.iter().for_each(|page| self.give_up(page, memory));
                Ok(())
            }
            Step::Map { processors, pages, target, permission, mode } => {
                if mode == MappingMode::Broadcast {
                    return Err((0, Why::Broken)); // no store of a GPU goes to several memories
                }
                each(pages, |page| self.map_all(page, processors, target, permission))
            }
            Step::Consult { .. } | Step::ClearCounters { .. } | Step::Wake { .. } => Ok(()),
            Step::Coalesce { .. } | Step::Splinter { .. } | Step::Compact { .. } => Ok(()),
        }
    }

    /// Those of these that map some of the pages finish what they do.
    fn drain(&mut self, processors: ProcessorMask, pages: PageRun) -> Result<(), (u32, Why)> {
        for device in processors.iter().filter_map(ProcessorId::gpu_index) {
            if pages.iter().any(|page| self.entry(device, page).is_some()) {
                self.wait_for(device).map_err(|_| (0, Why::Again))?;
            }
        }
        Ok(())
    }

    fn on_devices(
        &mut self,
        processors: ProcessorMask,
        mut work: impl FnMut(&mut Self, usize) -> Result<(), GpuError>,
    ) -> Result<(), GpuError> {
        processors.iter().filter_map(ProcessorId::gpu_index).try_for_each(|device| work(self, device))
    }

    fn page(&mut self, page: PageId) -> &mut Page {
        self.pages.get_mut(&page).expect("plans are about pages that exist")
    }

    fn unmap(&mut self, device: usize, page: PageId) -> Result<(), GpuError> {
        let view = self.page(page).views[device];
        if view.entry.is_some() {
            self.frames.unmap(view.address)?;
            self.page(page).views[device].entry = None;
        }
        Ok(())
    }

    fn protect(&mut self, device: usize, page: PageId) -> Result<(), GpuError> {
        let view = self.page(page).views[device];
        if let Some(entry) = view.entry {
            self.frames.allow(view.address, &[device], false)?;
            self.page(page).views[device].entry = Some(Entry { permission: Permission::ReadOnly, ..entry });
        }
        Ok(())
    }

    /// Maps a page for all of these or for none: what the manager does not know of would outlive the copy that it leads to.
    fn map_all(
        &mut self,
        page: PageId,
        processors: ProcessorMask,
        target: Option<MemoryId>,
        permission: Permission,
    ) -> Result<(), GpuError> {
        let mut changed = Vec::new();
        let mapped = self.on_devices(processors, |mover, device| {
            let entry = Entry { target: target.unwrap_or(MemoryId::gpu(device)), permission };
            if mover.entry(device, page) == Some(entry) {
                return Ok(());
            }
            mover.map(device, page, entry)?;
            changed.push(device);
            Ok(())
        });
        mapped.inspect_err(|_| changed.into_iter().for_each(|device| self.take_entry_away(device, page)))
    }

    fn map(&mut self, device: usize, page: PageId, entry: Entry) -> Result<(), GpuError> {
        let view = self.page(page).views[device];
        let writes = entry.permission == Permission::ReadWrite;
        if view.entry.is_some_and(|before| before.target == entry.target) {
            self.frames.allow(view.address, &[device], writes)?;
        } else {
            let frame = self.page(page).frames[entry.target.index()].expect("a mapping leads to a copy");
            if view.entry.is_some() {
                self.wait_for(device)?;
                self.unmap(device, page)?;
            }
            self.frames.map(view.address, frame, device, writes)?;
        }
        self.page(page).views[device].entry = Some(entry);
        Ok(())
    }

    fn populate(&mut self, page: PageId, memory: MemoryId, zeroed: bool) -> Result<(), GpuError> {
        let (bytes, frame) = (self.frames.piece(), self.frames.take(memory.index())?);
        let by = memory.gpu_index().unwrap_or(0);
        let cleared =
            if zeroed { self.frames.call("clear", bytes, |vmm| vmm.clear(by, frame.address, bytes)) } else { Ok(()) };
        match cleared {
            Ok(()) => self.page(page).frames[memory.index()] = Some(frame),
            Err(_) => self.frames.put(memory.index(), frame),
        }
        cleared
    }

    /// Copies a page to a frame, which then is the page's. A page that has not arrived whole is not there.
    fn copy(&mut self, page: PageId, from: MemoryId, to: MemoryId) -> Result<(), GpuError> {
        let by = copied_by(from, to);
        let (bytes, [target, source]) = (self.frames.piece(), self.ends_of_copy(page, from, to)?);
        let done = self.frames.call(kind(from, to), bytes, |vmm| {
            vmm.begin_copy(by, target, source, bytes).and_then(|()| vmm.end_copies(by))
        });
        done.inspect_err(|_| self.give_up(page, to))
    }

    /// The same, not to its end.
    fn begin_copy(&mut self, ticket: Ticket, page: PageId, from: MemoryId, to: MemoryId) -> Result<(), GpuError> {
        let by = copied_by(from, to);
        let (bytes, [target, source]) = (self.frames.piece(), self.ends_of_copy(page, from, to)?);
        let begun = self.frames.call(BEHIND, bytes, |vmm| vmm.begin_copy(by, target, source, bytes));
        begun.inspect_err(|_| self.give_up(page, to))?;
        self.copying.push(Copying { ticket, page, to, by });
        Ok(())
    }

    /// The addresses to copy to and from.
    fn ends_of_copy(&mut self, page: PageId, from: MemoryId, to: MemoryId) -> Result<[u64; 2], GpuError> {
        let source = self.page(page).frames[from.index()].expect("what is copied is there").address;
        let frame = self.frames.take(to.index())?;
        let before = self.page(page).frames[to.index()].replace(frame);
        assert!(before.is_none(), "nothing is copied to where it is");
        Ok([frame.address, source])
    }

    fn give_up(&mut self, page: PageId, memory: MemoryId) {
        if let Some(frame) = self.page(page).frames[memory.index()].take() {
            self.frames.put(memory.index(), frame);
        }
    }
}

/// Does something to each page of a run; how many are done when one is refused.
fn each(pages: PageRun, mut work: impl FnMut(PageId) -> Result<(), GpuError>) -> Result<(), (u32, Why)> {
    (0..).zip(pages.iter()).try_for_each(|(done, page)| work(page).map_err(|_| (done, Why::Again)))
}

/// The device that copies: the one that the page leaves, if it leaves one.
fn copied_by(from: MemoryId, to: MemoryId) -> usize {
    from.gpu_index().or(to.gpu_index()).unwrap_or(0)
}

fn kind(from: MemoryId, to: MemoryId) -> &'static str {
    match (from.on_host(), to.on_host()) {
        (false, false) => "copy between devices",
        (false, true) => "copy to host",
        (true, _) => "copy from host",
    }
}

impl Executor for Mover {
    fn begin(&mut self, _now: Time, ticket: Ticket, left: &[Step]) -> Begun {
        let mut done = 0;
        for step in left.iter().take_while(|step| !matches!(step, Step::Wake { .. })) {
            let refused = match *step {
                Step::Copy { pages, from, to, cause: Cause::WriteBack } if self.behind && pages.count == 1 => {
                    if done > 0 {
                        break;
                    }
                    match self.begin_copy(ticket, pages.first, from, to) {
                        Ok(()) => return Begun::Later(1),
                        Err(_) => (0, Why::Again),
                    }
                }
                _ => match self.carry_out(step) {
                    Ok(()) => {
                        done += 1;
                        continue;
                    }
                    Err(refused) => refused,
                },
            };
            let (pages, why) = refused;
            return Begun::Refused(Refusal { done: Prefix { steps: done, pages }, why });
        }
        Begun::Done(done)
    }

    fn wake(&mut self, _now: Time, _id: FaultId, fault: &Outstanding) -> Wake {
        self.woken.push(fault.fault());
        Wake::Arrived
    }

    fn kill(&mut self, _now: Time, _id: FaultId, fault: &Outstanding) {
        self.killed.push(fault.fault());
    }

    fn free(&mut self, _now: Time, run: PageRun, _token: u64, _manager: &Manager) {
        for page in run.iter() {
            // A device that cannot be waited for works no more.
            _ = self.wait_for_users(page);
            (0..self.devices).for_each(|device| self.take_entry_away(device, page));
            let held = self.pages.remove(&page).into_iter().flat_map(|page| page.frames).enumerate();
            held.for_each(|(memory, frame)| frame.into_iter().for_each(|frame| self.frames.put(memory, frame)));
        }
    }
}

#[cfg(test)]
mod tests;
