//! One row of `instructions.parquet`.

/// What an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// Vector load.
    Load,
    /// Vector store.
    Store,
    /// Vector atomic.
    Atomic,
    /// Load by the scalar unit.
    Scalar,
    /// Barrier of the work-group.
    Barrier,
    /// Wait for outstanding memory instructions.
    Wait,
    /// The wavefront ends.
    End,
}

impl Kind {
    /// Every kind, in the order of their codes.
    pub const ALL: [Self; 7] =
        [Self::Load, Self::Store, Self::Atomic, Self::Scalar, Self::Barrier, Self::Wait, Self::End];

    /// The name in the format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic",
            Self::Scalar => "scalar",
            Self::Barrier => "barrier",
            Self::Wait => "wait",
            Self::End => "end",
        }
    }

    /// The kind that the format spells `name`.
    #[must_use]
    pub fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"load" => Some(Self::Load),
            b"store" => Some(Self::Store),
            b"atomic" => Some(Self::Atomic),
            b"scalar" => Some(Self::Scalar),
            b"barrier" => Some(Self::Barrier),
            b"wait" => Some(Self::Wait),
            b"end" => Some(Self::End),
            _ => None,
        }
    }

    /// Whether lanes move bytes: load, store or atomic.
    #[must_use]
    pub const fn is_vector(self) -> bool {
        matches!(self, Self::Load | Self::Store | Self::Atomic)
    }

    /// Whether memory changes.
    #[must_use]
    pub const fn is_written(self) -> bool {
        matches!(self, Self::Store | Self::Atomic)
    }

    /// Whether bytes move at all.
    #[must_use]
    pub const fn is_memory(self) -> bool {
        self.is_vector() || matches!(self, Self::Scalar)
    }
}

/// The position of a row; rows are sorted by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Index into the launch table.
    pub launch: u32,
    /// Work-group, flattened.
    pub group: u32,
    /// Wavefront within the work-group.
    pub wavefront: u16,
    /// Position within the wavefront.
    pub sequence: u32,
}

/// Instructions since the row before that have no separate row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Vector-ALU instructions.
    pub vector_alu: u32,
    /// Scalar-ALU and other instructions.
    pub scalar_alu: u32,
    /// Local-data-share instructions.
    pub local_data: u32,
    /// Branches, taken or not.
    pub branch: u32,
}

impl Counts {
    /// Instructions of all classes.
    #[must_use]
    #[inline]
    pub fn total(self) -> u64 {
        [self.vector_alu, self.scalar_alu, self.local_data, self.branch].map(u64::from).iter().sum()
    }

    /// Both together; `None` if a count cannot hold that.
    #[must_use]
    pub fn checked_add(self, more: Self) -> Option<Self> {
        Some(Self {
            vector_alu: self.vector_alu.checked_add(more.vector_alu)?,
            scalar_alu: self.scalar_alu.checked_add(more.scalar_alu)?,
            local_data: self.local_data.checked_add(more.local_data)?,
            branch: self.branch.checked_add(more.branch)?,
        })
    }
}

/// The memory that a memory instruction touches; [`Touched::NOTHING`] for all other rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched<'a> {
    /// Numbers (address / 64) of distinct lines, in the order in which lanes first touch them.
    Lines(&'a [u64]),
    /// Byte address of each active lane, in lane order.
    Addresses(&'a [u64]),
}

impl Touched<'_> {
    /// No line at all.
    pub const NOTHING: Touched<'static> = Touched::Lines(&[]);

    /// The raw numbers, without their meaning.
    #[must_use]
    pub const fn values(&self) -> &[u64] {
        match self {
            Self::Lines(values) | Self::Addresses(values) => values,
        }
    }
}

/// One row: an instruction with the instructions before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// Where it belongs.
    pub key: Key,
    /// What it is.
    pub kind: Kind,
    /// Lines (64 bytes) of the kernel's code, from its start, in which the wavefront executed an instruction for the
    /// first time since the row before, in that order; empty when not recorded.
    pub code_lines: &'a [u64],
    /// Bytes that each lane, or the scalar load, moves; 0 for other kinds.
    pub bytes: u16,
    /// Active lanes of a vector memory instruction; 0 for other kinds.
    pub lanes: u8,
    /// What it touches.
    pub touched: Touched<'a>,
    /// Stores and atomics by [`Touched::Lines`] only: positions among them, ascending, of the lines of which some bytes
    /// stay as they were. Empty for all other rows: it follows from addresses.
    pub partial: &'a [u64],
    /// Instructions since the row before.
    pub counts: Counts,
    /// `wait` only: vector memory instructions that may stay outstanding.
    pub vector_wait: Option<u8>,
    /// `wait` only: scalar and local-data instructions that may stay outstanding.
    pub scalar_wait: Option<u8>,
}

impl Row<'_> {
    /// Whether it is no instruction: a wait for nothing, which shows that vector instructions follow others.
    #[must_use]
    pub fn tells_order(&self) -> bool {
        self.kind == Kind::Wait && self.vector_wait.is_none() && self.scalar_wait.is_none()
    }

    /// A row without memory: a barrier, a wait or an end.
    #[must_use]
    pub const fn plain(key: Key, kind: Kind, counts: Counts) -> Row<'static> {
        Row {
            key,
            kind,
            code_lines: &[],
            bytes: 0,
            lanes: 0,
            touched: Touched::NOTHING,
            partial: &[],
            counts,
            vector_wait: None,
            scalar_wait: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn kinds_are_found_by_their_names() {
        assert!(Kind::ALL.into_iter().all(|kind| Kind::named(kind.name().as_bytes()) == Some(kind)));
        assert!(Kind::ALL.is_sorted() && Kind::named(b"Load").is_none());
    }
}
