//! Three tiers, where a page is a block: a GPU's own memory, idle memory of other GPUs that keeps what leaves it
//! (`spare-memory`, the GPUs in turn), and the host. Written from the publication's account and the design page.
//!
//! Each event ends before the next one begins: by then, every page that a GPU keeps has its copy on the host.

/// Where a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Host,
    /// A GPU's own.
    Own(usize),
    /// A GPU keeps it for others, and the host has a copy.
    Kept(usize),
}

/// The processors that mappings tell apart: the GPUs, and the host after them.
pub type Who = usize;

/// The model's counts, under the names of the manager's statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub migrations: u64,
    pub evictions_to_spare: u64,
    pub evictions_written: u64,
    pub written_back: u64,
    pub fetched_from_spare: u64,
    pub yielded: u64,
}

/// The node.
pub struct Tiers {
    pub capacity: Vec<usize>,
    /// Frames that a GPU has free or removable after it took a page of another; at most half of its memory.
    pub reserve: usize,
    /// Pages on a GPU stay there while others touch them.
    pub stays: bool,
    pub places: Vec<Place>,
    pub mapped: Vec<Vec<Who>>,
    pub counts: Counts,
    /// For each GPU, its own pages, the least recently used one first; and those that it keeps, in order of arrival.
    own: Vec<Vec<usize>>,
    kept: Vec<Vec<usize>>,
    /// The GPU that takes the next page.
    turn: usize,
    /// Pages that leave now: they have no copy on the host yet.
    leaving: Vec<usize>,
}

impl Tiers {
    /// All pages are on the host.
    pub fn new(capacity: Vec<usize>, reserve: usize, stays: bool, pages: usize) -> Self {
        Self {
            reserve,
            stays,
            places: vec![Place::Host; pages],
            mapped: vec![Vec::new(); pages],
            counts: Counts::default(),
            own: vec![Vec::new(); capacity.len()],
            kept: vec![Vec::new(); capacity.len()],
            turn: 0,
            leaving: Vec::new(),
            capacity,
        }
    }

    pub fn held(&self, gpu: usize) -> usize {
        self.own[gpu].len() + self.kept[gpu].len()
    }

    /// A processor touches a page that it does not map.
    pub fn fault(&mut self, who: Who, page: usize) {
        let gpus = self.capacity.len();
        match self.places[page] {
            Place::Host if who == gpus => self.mapped[page].push(who),
            Place::Own(owner) if self.stays && who != gpus => {
                self.mapped[page].push(who);
                self.use_own(owner, page);
            }
            // It has a copy, which is all that is left.
            Place::Kept(keeper) if who == keeper || who == gpus => self.come(who, page),
            from => {
                if who != gpus && self.held(who) == self.capacity[who] {
                    self.make_room(who, Some(page));
                    self.leaving.clear();
                }
                self.counts.migrations += 1;
                self.counts.fetched_from_spare += u64::from(matches!(from, Place::Kept(_)));
                self.come(who, page);
            }
        }
    }

    /// A memory has another size; what does not fit leaves.
    pub fn resize(&mut self, gpu: usize, pages: usize) {
        self.capacity[gpu] = pages;
        while self.held(gpu) > pages {
            self.make_room(gpu, None);
        }
        self.leaving.clear();
    }

    /// The page is at a processor, and only there.
    fn come(&mut self, who: Who, page: usize) {
        self.leave(page);
        self.mapped[page] = vec![who];
        if who < self.capacity.len() {
            self.places[page] = Place::Own(who);
            self.own[who].push(page);
        }
    }

    /// It is on the host, and nowhere else.
    fn leave(&mut self, page: usize) {
        self.own.iter_mut().chain(&mut self.kept).for_each(|pages| pages.retain(|other| *other != page));
        self.mapped[page].clear();
        self.places[page] = Place::Host;
    }

    fn use_own(&mut self, gpu: usize, page: usize) {
        self.own[gpu].retain(|other| *other != page);
        self.own[gpu].push(page);
    }

    /// Frees one page: what is kept for others goes before the GPU's own pages.
    fn make_room(&mut self, gpu: usize, for_page: Option<usize>) {
        if let Some(&kept) = self.kept[gpu].first() {
            self.leave(kept);
            self.counts.yielded += 1;
            return;
        }
        let victim = self.own[gpu][0];
        let taker = self.taker(gpu).filter(|&taker| self.has_room(taker, for_page));
        self.leave(victim);
        let Some(taker) = taker else {
            self.counts.evictions_written += 1;
            return;
        };
        if self.held(taker) == self.capacity[taker] {
            let gives_way = self.gives_way(taker, for_page).expect("it has room");
            self.leave(gives_way);
            self.counts.yielded += 1;
        }
        self.places[victim] = Place::Kept(taker);
        self.kept[taker].push(victim);
        self.leaving.push(victim);
        self.counts.evictions_to_spare += 1;
        self.counts.written_back += 1;
    }

    /// The next GPU that would have its reserve.
    fn taker(&mut self, other: usize) -> Option<usize> {
        let gpus = self.capacity.len();
        let mut in_turn = (0..gpus).map(|turn| (self.turn + turn) % gpus);
        let taker = in_turn.find(|&gpu| {
            let removable = self.kept[gpu].iter().filter(|page| !self.leaving.contains(page)).count();
            let available = (self.capacity[gpu] + removable).saturating_sub(self.held(gpu));
            gpu != other && available > self.reserve.min(self.capacity[gpu] / 2)
        })?;
        self.turn = (taker + 1) % gpus;
        Some(taker)
    }

    /// Nothing gives way to a page that is to come from there.
    fn has_room(&self, taker: usize, for_page: Option<usize>) -> bool {
        self.held(taker) < self.capacity[taker] || self.gives_way(taker, for_page).is_some()
    }

    fn gives_way(&self, taker: usize, for_page: Option<usize>) -> Option<usize> {
        self.kept[taker].iter().copied().find(|page| Some(*page) != for_page && !self.leaving.contains(page))
    }
}
