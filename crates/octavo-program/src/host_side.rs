//! The host's use of a workload's buffers before, between and after its launches.
//!
//! Every workload states this once; [`lower`](crate::lower::lower) makes a whole program of it for each kind of memory.

use std::ops::Range;

use crate::buffer::Buffer;

/// The use of a buffer by the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// The host writes all of it before the first launch.
    pub input: bool,
    /// The host reads all of it after the last launch.
    pub output: bool,
}

/// Bytes that the host reads or writes between two launches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The launch that comes next.
    pub before: u32,
    /// The buffer of the workload.
    pub buffer: usize,
    /// The range of its bytes, from its start.
    pub bytes: Range<u64>,
    /// Whether the host writes them; it reads them otherwise.
    pub writes: bool,
    /// Whether it reads data that it wrote itself and no kernel has changed: nothing need come back from GPU memory.
    pub unchanged: bool,
}

/// The host's side of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSide {
    /// By buffer.
    roles: Vec<Role>,
    /// In the order in which they happen.
    exchanges: Vec<Exchange>,
}

impl HostSide {
    /// Buffers that the host never touches: scratch memory of the GPUs.
    #[must_use]
    pub fn none(buffers: usize) -> Self {
        Self::of_roles(vec![Role::default(); buffers])
    }

    /// Buffers that the host touches before the first launch and after the last alone.
    pub(crate) fn of_roles(roles: Vec<Role>) -> Self {
        Self { roles, exchanges: Vec::new() }
    }

    /// A statement about `buffers`, each of which must be named.
    #[must_use]
    pub fn of(buffers: &[Buffer]) -> HostSideBuilder<'_> {
        HostSideBuilder::new(buffers)
    }

    /// By buffer: its use by the host.
    #[must_use]
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// The host's actions between launches, in order.
    #[must_use]
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// The host's actions just before `launch`, in order; the number of launches stands for after the last one.
    pub(crate) fn exchanges_before(&self, launch: u32) -> &[Exchange] {
        let first = self.exchanges.partition_point(|exchange| exchange.before < launch);
        let end = self.exchanges.partition_point(|exchange| exchange.before <= launch);
        &self.exchanges[first..end]
    }

    /// Appends the host's side of a workload whose launches and buffers come after `launches` and the present ones.
    pub(crate) fn append(&mut self, other: &Self, launches: u32) {
        let buffers = self.roles.len();
        self.roles.extend_from_slice(&other.roles);
        self.exchanges.extend(other.exchanges.iter().cloned().map(|exchange| Exchange {
            before: exchange.before + launches,
            buffer: exchange.buffer + buffers,
            ..exchange
        }));
    }
}

/// States the host's side of a workload by the names of its buffers, each of which is named.
#[derive(Debug)]
pub struct HostSideBuilder<'a> {
    buffers: &'a [Buffer],
    named: Vec<bool>,
    side: HostSide,
}

impl<'a> HostSideBuilder<'a> {
    /// Buffers about which nothing has been said yet.
    fn new(buffers: &'a [Buffer]) -> Self {
        Self { buffers, named: vec![false; buffers.len()], side: HostSide::none(buffers.len()) }
    }

    /// The host writes these before the first launch.
    ///
    /// # Panics
    /// When there is no buffer of that name, as all that follow.
    #[must_use]
    pub fn inputs<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.each(names, |role| role.input = true)
    }

    /// The host reads these after the last launch.
    #[must_use]
    pub fn outputs<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.each(names, |role| role.output = true)
    }

    /// The host never touches these, but perhaps between launches.
    #[must_use]
    pub fn scratch<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.each(names, |_| {})
    }

    /// Just before launch `launch` (the number of launches for after the last one), and after its earlier actions, the
    /// host reads these.
    #[must_use]
    pub fn reads_before<'n>(self, launch: u32, names: impl IntoIterator<Item = &'n str>) -> Self {
        names.into_iter().fold(self, |side, name| side.exchange(launch, name, None, false))
    }

    /// Like [`reads_before`](Self::reads_before), but the host writes them.
    #[must_use]
    pub fn writes_before<'n>(self, launch: u32, names: impl IntoIterator<Item = &'n str>) -> Self {
        names.into_iter().fold(self, |side, name| side.exchange(launch, name, None, true))
    }

    /// Like [`reads_before`](Self::reads_before), but only the first `bytes`.
    #[must_use]
    pub fn reads_part_before(self, launch: u32, name: &str, bytes: u64) -> Self {
        self.exchange(launch, name, Some(0..bytes), false)
    }

    /// Like [`reads_before`](Self::reads_before), but only those `bytes`.
    #[must_use]
    pub fn reads_bytes_before(self, launch: u32, name: &str, bytes: Range<u64>) -> Self {
        self.exchange(launch, name, Some(bytes), false)
    }

    /// Like [`reads_bytes_before`](Self::reads_bytes_before), for bytes that the host wrote itself and no kernel has
    /// changed: a program with a copy of them in GPU memory does not copy them back.
    #[must_use]
    pub fn looks_again_before(mut self, launch: u32, name: &str, bytes: Range<u64>) -> Self {
        let buffer = self.index(name);
        self.side.exchanges.push(Exchange { before: launch, buffer, bytes, writes: false, unchanged: true });
        self
    }

    /// Like [`writes_before`](Self::writes_before), but only the first `bytes`.
    #[must_use]
    pub fn writes_part_before(self, launch: u32, name: &str, bytes: u64) -> Self {
        self.exchange(launch, name, Some(0..bytes), true)
    }

    /// Like [`writes_before`](Self::writes_before), but only those `bytes`.
    #[must_use]
    pub fn writes_bytes_before(self, launch: u32, name: &str, bytes: Range<u64>) -> Self {
        self.exchange(launch, name, Some(bytes), true)
    }

    /// What was stated.
    ///
    /// # Panics
    /// When nothing was said of some buffer.
    #[must_use]
    pub fn build(mut self) -> HostSide {
        let silent = self.buffers.iter().zip(&self.named).find(|(_, named)| !**named);
        assert!(silent.is_none(), "nothing says what `{}` is to the host", silent.unwrap().0.name);
        self.side.exchanges.sort_by_key(|exchange| exchange.before);
        self.side
    }

    fn each<'n>(mut self, names: impl IntoIterator<Item = &'n str>, set: impl Fn(&mut Role)) -> Self {
        for name in names {
            let index = self.index(name);
            self.named[index] = true;
            set(&mut self.side.roles[index]);
        }
        self
    }

    fn exchange(mut self, before: u32, name: &str, bytes: Option<Range<u64>>, writes: bool) -> Self {
        let buffer = self.index(name);
        let bytes = bytes.unwrap_or(0..self.buffers[buffer].bytes);
        self.side.exchanges.push(Exchange { before, buffer, bytes, writes, unchanged: false });
        self
    }

    fn index(&self, name: &str) -> usize {
        let found = self.buffers.iter().position(|buffer| buffer.name == name);
        found.unwrap_or_else(|| panic!("no buffer is called `{name}`"))
    }
}
