//! Measured values: rows of a series, with its parameters.

/// One column of a table of samples.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Words.
    Words(Vec<Option<String>>),
}

/// The value of one parameter in a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Integer(i64),
    Number(f64),
    Word(String),
}

/// A row on its way into [`Samples`].
#[must_use]
#[derive(Clone, Debug)]
pub struct Row {
    series: &'static str,
    parameters: Vec<(&'static str, Value)>,
    bytes: Option<u64>,
    count: Option<u64>,
}

impl Row {
    /// A row of that series.
    pub(crate) fn of(series: &'static str) -> Self {
        Self { series, parameters: Vec::new(), bytes: None, count: None }
    }

    /// A parameter that is a word.
    pub(crate) fn word(self, name: &'static str, value: impl Into<String>) -> Self {
        self.with(name, Value::Word(value.into()))
    }

    /// A parameter that is a whole number.
    pub(crate) fn integer(self, name: &'static str, value: u64) -> Self {
        self.with(name, Value::Integer(i64::try_from(value).unwrap_or(i64::MAX)))
    }

    /// A parameter that is a number.
    pub(crate) fn number(self, name: &'static str, value: f64) -> Self {
        self.with(name, Value::Number(value))
    }

    /// Bytes that were moved, and wanted.
    pub(crate) fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// The number of calls, launches, accesses or operations that were timed together.
    pub(crate) fn count(mut self, count: u64) -> Self {
        self.count = Some(count);
        self
    }

    fn with(mut self, name: &'static str, value: Value) -> Self {
        self.parameters.push((name, value));
        self
    }
}

/// A table of samples: `series`, `repetition`, `seconds`, `bytes`, `count` and one column for each parameter.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    rows: Vec<(Row, u32, Option<f64>)>,
}

impl Samples {
    /// One measurement of a row; `seconds` is missing if nothing was timed.
    pub(crate) fn push(&mut self, row: Row, repetition: u32, seconds: Option<f64>) {
        self.rows.push((row, repetition, seconds));
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Columns by name; parameters that a series does not have are missing in its rows.
    #[must_use]
    pub fn columns(&self) -> Vec<(&'static str, Column)> {
        let mut columns = vec![("series", self.words(|row| Some(row.series.to_owned())))];
        columns.extend(self.parameters().into_iter().map(|name| (name, self.parameter(name))));
        let repetition = |(_, repetition, _): &(Row, u32, Option<f64>)| Some(i64::from(*repetition));
        columns.push(("repetition", Column::Integers(self.rows.iter().map(repetition).collect())));
        columns.push(("seconds", Column::Numbers(self.rows.iter().map(|(_, _, seconds)| *seconds).collect())));
        columns.push(("bytes", self.integers(|row| row.bytes)));
        columns.push(("count", self.integers(|row| row.count)));
        columns
    }

    /// In the order in which they come up.
    fn parameters(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for (name, _) in self.rows.iter().flat_map(|(row, _, _)| &row.parameters) {
            if !names.contains(name) {
                names.push(*name);
            }
        }
        names
    }

    fn parameter(&self, name: &str) -> Column {
        let find = |row: &Row| row.parameters.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        let values: Vec<Option<Value>> = self.rows.iter().map(|(row, _, _)| find(row)).collect();
        match values.iter().flatten().next() {
            Some(Value::Word(_)) => {
                Column::Words(values.into_iter().map(|value| value.and_then(Value::into_word)).collect())
            }
            Some(Value::Number(_)) => {
                Column::Numbers(values.into_iter().map(|value| value.and_then(Value::into_number)).collect())
            }
            _ => Column::Integers(values.into_iter().map(|value| value.and_then(Value::into_integer)).collect()),
        }
    }

    fn words(&self, value: impl Fn(&Row) -> Option<String>) -> Column {
        Column::Words(self.rows.iter().map(|(row, _, _)| value(row)).collect())
    }

    fn integers(&self, value: impl Fn(&Row) -> Option<u64>) -> Column {
        let value = |row: &Row| value(row).map(|value| i64::try_from(value).unwrap_or(i64::MAX));
        Column::Integers(self.rows.iter().map(|(row, _, _)| value(row)).collect())
    }
}

impl Value {
    fn into_word(self) -> Option<String> {
        if let Self::Word(value) = self { Some(value) } else { None }
    }

    fn into_number(self) -> Option<f64> {
        if let Self::Number(value) = self { Some(value) } else { None }
    }

    fn into_integer(self) -> Option<i64> {
        if let Self::Integer(value) = self { Some(value) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::{Column, Row, Samples};

    #[test]
    fn columns_hold_every_parameter_and_miss_what_a_series_lacks() {
        let mut samples = Samples::default();
        samples.push(Row::of("copy").word("direction", "h2d").integer("size", 4096).bytes(4096), 0, Some(1e-6));
        samples.push(Row::of("peak").number("alpha", 0.25).count(7), 3, None);
        let columns = samples.columns();
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["series", "direction", "size", "alpha", "repetition", "seconds", "bytes", "count"]);
        assert_eq!(columns[1].1, Column::Words(vec![Some("h2d".to_owned()), None]));
        assert_eq!(columns[2].1, Column::Integers(vec![Some(4096), None]));
        assert_eq!(columns[3].1, Column::Numbers(vec![None, Some(0.25)]));
        assert_eq!(columns[4].1, Column::Integers(vec![Some(0), Some(3)]));
        assert_eq!(columns[5].1, Column::Numbers(vec![Some(1e-6), None]));
        assert_eq!(columns[7].1, Column::Integers(vec![None, Some(7)]));
    }
}
