//! Many rows, column by column.

use crate::{Counts, Key, Kind, Row, Touched};

/// Rows column by column, as they are decoded from and encoded into row groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    pub(crate) launch: Vec<u32>,
    pub(crate) group: Vec<u32>,
    pub(crate) wavefront: Vec<u16>,
    pub(crate) sequence: Vec<u32>,
    pub(crate) kind: Vec<Kind>,
    pub(crate) code_lines: Lists,
    pub(crate) bytes: Vec<u16>,
    pub(crate) lanes: Vec<u8>,
    pub(crate) lines: Lists,
    pub(crate) addresses: Lists,
    pub(crate) partial: Lists,
    pub(crate) vector_alu: Vec<u32>,
    pub(crate) scalar_alu: Vec<u32>,
    pub(crate) local_data: Vec<u32>,
    pub(crate) branch: Vec<u32>,
    pub(crate) vector_wait: Vec<Option<u8>>,
    pub(crate) scalar_wait: Vec<Option<u8>>,
}

/// One list of numbers for each row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lists {
    pub values: Vec<u64>,
    /// The end of each row's list in `values`.
    pub ends: Vec<u32>,
}

impl Lists {
    pub fn push(&mut self, values: &[u64]) {
        self.values.extend_from_slice(values);
        self.ends.push(self.values.len() as u32);
    }

    #[inline]
    pub fn get(&self, row: usize) -> &[u64] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] as usize };
        &self.values[start..self.ends[row] as usize]
    }

    pub fn clear(&mut self) {
        self.values.clear();
        self.ends.clear();
    }
}

impl Rows {
    /// How many rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// Lines and addresses of all rows.
    #[must_use]
    pub fn touched(&self) -> usize {
        self.lines.values.len() + self.addresses.values.len()
    }

    /// Values of the longest list column, of which a row group has but this many.
    pub(crate) fn longest(&self) -> usize {
        let lists = [&self.lines, &self.addresses, &self.partial, &self.code_lines];
        lists.into_iter().map(|list| list.values.len()).max().unwrap_or(0)
    }

    /// Row `index`, below [`Rows::len`].
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> Row<'_> {
        let addresses = if self.addresses.ends.is_empty() { &[][..] } else { self.addresses.get(index) };
        Row {
            key: self.key(index),
            kind: self.kind[index],
            code_lines: self.code_lines.get(index),
            bytes: self.bytes[index],
            lanes: self.lanes[index],
            touched: if addresses.is_empty() {
                Touched::Lines(self.lines.get(index))
            } else {
                Touched::Addresses(addresses)
            },
            partial: self.partial.get(index),
            counts: Counts {
                vector_alu: self.vector_alu[index],
                scalar_alu: self.scalar_alu[index],
                local_data: self.local_data[index],
                branch: self.branch[index],
            },
            vector_wait: self.vector_wait[index],
            scalar_wait: self.scalar_wait[index],
        }
    }

    /// Key of row `index`.
    #[must_use]
    #[inline]
    pub fn key(&self, index: usize) -> Key {
        Key {
            launch: self.launch[index],
            group: self.group[index],
            wavefront: self.wavefront[index],
            sequence: self.sequence[index],
        }
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Appends a row.
    pub fn push(&mut self, row: Row<'_>) {
        let (lines, addresses) = match row.touched {
            Touched::Lines(lines) => (lines, &[][..]),
            Touched::Addresses(addresses) => (&[][..], addresses),
        };
        self.launch.push(row.key.launch);
        self.group.push(row.key.group);
        self.wavefront.push(row.key.wavefront);
        self.sequence.push(row.key.sequence);
        self.kind.push(row.kind);
        self.code_lines.push(row.code_lines);
        self.bytes.push(row.bytes);
        self.lanes.push(row.lanes);
        self.lines.push(lines);
        self.addresses.push(addresses);
        self.partial.push(row.partial);
        self.vector_alu.push(row.counts.vector_alu);
        self.scalar_alu.push(row.counts.scalar_alu);
        self.local_data.push(row.counts.local_data);
        self.branch.push(row.counts.branch);
        self.vector_wait.push(row.vector_wait);
        self.scalar_wait.push(row.scalar_wait);
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.launch.clear();
        self.group.clear();
        self.wavefront.clear();
        self.sequence.clear();
        self.kind.clear();
        self.code_lines.clear();
        self.bytes.clear();
        self.lanes.clear();
        self.lines.clear();
        self.addresses.clear();
        self.partial.clear();
        self.vector_alu.clear();
        self.scalar_alu.clear();
        self.local_data.clear();
        self.branch.clear();
        self.vector_wait.clear();
        self.scalar_wait.clear();
    }
}
