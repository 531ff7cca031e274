//! `instructions.parquet`, decoded a row group at a time.

use std::path::Path;

use super::column::{Column, Holds};
use super::footer::ParquetFile;
use crate::rows::Lists;
use crate::{Key, Kind, Rows, TraceError};

/// The open file and where its columns are.
pub(super) struct Instructions {
    pub file: ParquetFile,
    launch: Column,
    group: Column,
    wavefront: Column,
    sequence: Column,
    kind: Column,
    code_lines: Option<Column>,
    bytes: Column,
    lanes: Column,
    /// One of the two, or both.
    lines: Option<Column>,
    addresses: Option<Column>,
    vector_alu: Column,
    scalar_alu: Column,
    local_data: Column,
    branch: Column,
    vector_wait: Column,
    scalar_wait: Column,
}

impl Instructions {
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let file = ParquetFile::open(path)?;
        let unsigned = |name, bits| Column::required(&file, name, None, Holds::Unsigned(bits), false);
        let list = |name| Column::find(&file, name, None, Holds::Unsigned(64), true);
        let (lines, addresses) = (list("lines")?, list("addresses")?);
        if lines.is_none() && addresses.is_none() {
            return Err(TraceError::new(path, "column `lines` is missing, and so is `addresses`"));
        }
        Ok(Self {
            launch: unsigned("launch", 32)?,
            group: unsigned("group", 32)?,
            wavefront: unsigned("wavefront", 16)?,
            sequence: unsigned("sequence", 32)?,
            kind: Column::required(&file, "kind", None, Holds::Text, false)?,
            code_lines: list("code_lines")?,
            bytes: unsigned("bytes", 16)?,
            lanes: unsigned("lanes", 8)?,
            lines,
            addresses,
            vector_alu: unsigned("vector_alu", 32)?,
            scalar_alu: unsigned("scalar_alu", 32)?,
            local_data: unsigned("local_data", 32)?,
            branch: unsigned("branch", 32)?,
            vector_wait: unsigned("vector_wait", 8)?,
            scalar_wait: unsigned("scalar_wait", 8)?,
            file,
        })
    }

    /// Key of the first row of a row group that has one.
    pub fn first_key(&self, group: usize) -> Result<Key, TraceError> {
        let first = |column: &Column| self.numbers(column, group, 1).map(|values| values[0]);
        Ok(Key {
            launch: first(&self.launch)?,
            group: first(&self.group)?,
            wavefront: self.narrow(&[first(&self.wavefront)?], group, "wavefront")?[0],
            sequence: first(&self.sequence)?,
        })
    }

    /// All rows of a row group.
    pub fn rows(&self, group: usize) -> Result<Rows, TraceError> {
        let rows = self.file.group_rows(group);
        if rows == 0 {
            return Ok(Rows::default());
        }
        let numbers = |column: &Column| self.numbers(column, group, rows);
        let none = || Lists { values: Vec::new(), ends: vec![0; rows] };
        let lists = |column: &Option<Column>| {
            column.as_ref().map_or_else(|| Ok(none()), |column| column.lists(&self.file, group, rows))
        };
        let decoded = Rows {
            launch: numbers(&self.launch)?,
            group: numbers(&self.group)?,
            wavefront: self.narrow(&numbers(&self.wavefront)?, group, "wavefront")?,
            sequence: numbers(&self.sequence)?,
            kind: self.kinds(group, rows)?,
            code_lines: lists(&self.code_lines)?,
            bytes: self.narrow(&numbers(&self.bytes)?, group, "bytes")?,
            lanes: self.narrow(&numbers(&self.lanes)?, group, "lanes")?,
            lines: lists(&self.lines)?,
            addresses: lists(&self.addresses)?,
            vector_alu: numbers(&self.vector_alu)?,
            scalar_alu: numbers(&self.scalar_alu)?,
            local_data: numbers(&self.local_data)?,
            branch: numbers(&self.branch)?,
            vector_wait: self.waits(&self.vector_wait, group, rows)?,
            scalar_wait: self.waits(&self.scalar_wait, group, rows)?,
        };
        self.one_or_the_other(&decoded, group)?;
        Ok(decoded)
    }

    fn numbers(&self, column: &Column, group: usize, rows: usize) -> Result<Vec<u32>, TraceError> {
        Ok(column.numbers(&self.file, group, rows)?.into_iter().map(|value| value as u32).collect())
    }

    /// Numbers as a smaller type, which they fit in unless the file is damaged.
    fn narrow<T: TryFrom<u32> + Default>(
        &self,
        values: &[u32],
        group: usize,
        name: &str,
    ) -> Result<Vec<T>, TraceError> {
        let mut too_large = None;
        let narrow = |(row, value): (usize, &u32)| {
            T::try_from(*value).unwrap_or_else(|_| {
                too_large.get_or_insert((row, *value));
                T::default()
            })
        };
        let narrowed = values.iter().enumerate().map(narrow).collect();
        match too_large {
            None => Ok(narrowed),
            Some((row, value)) => Err(self.wrong(group, row, format!("`{name}` is {value}, more than its type holds"))),
        }
    }

    fn kinds(&self, group: usize, rows: usize) -> Result<Vec<Kind>, TraceError> {
        let mut kinds = Vec::with_capacity(rows);
        for (row, name) in self.kind.texts(&self.file, group, rows)?.iter().enumerate() {
            let kind = Kind::named(name.data()).ok_or_else(|| {
                let expected = Kind::ALL.map(Kind::name).join(", ");
                let found = String::from_utf8_lossy(&name.data()[..name.len().min(40)]).into_owned();
                self.wrong(group, row, format!("unknown kind `{found}`, expected one of {expected}"))
            })?;
            kinds.push(kind);
        }
        Ok(kinds)
    }

    fn waits(&self, column: &Column, group: usize, rows: usize) -> Result<Vec<Option<u8>>, TraceError> {
        let values = column.optional(&self.file, group, rows)?;
        if values.len() != rows {
            return Err(self.wrong(group, 0, format!("a wait column has {} of {rows} rows", values.len())));
        }
        let wide = |value: &Option<i32>| value.is_some_and(|value| u8::try_from(value).is_err());
        if let Some(row) = values.iter().position(wide) {
            let reason = format!("a wait for {} instructions, expected 0 to 255", values[row].unwrap_or_default());
            return Err(self.wrong(group, row, reason));
        }
        Ok(values.into_iter().map(|value| value.map(|value| value as u8)).collect())
    }

    fn one_or_the_other(&self, rows: &Rows, group: usize) -> Result<(), TraceError> {
        if rows.lines.values.is_empty() || rows.addresses.values.is_empty() {
            return Ok(());
        }
        let both = |row: &usize| !rows.lines.get(*row).is_empty() && !rows.addresses.get(*row).is_empty();
        match (0..rows.len()).find(both) {
            Some(row) => Err(self.wrong(group, row, "has both `lines` and `addresses`".to_owned())),
            None => Ok(()),
        }
    }

    fn wrong(&self, group: usize, row: usize, reason: String) -> TraceError {
        TraceError::at(self.file.path(), self.file.first_row(group) + row as u64, reason)
    }
}
