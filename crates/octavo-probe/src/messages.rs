//! Messages of a measuring process to its parent: one line of JSON each.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

/// One line.
#[derive(Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// Step `done` of `of` begins.
    Step { done: usize, of: usize, what: String },
    /// All samples are written.
    Finished { rows: usize },
    /// They are not.
    Failed { reason: String },
}

impl Told {
    /// Fails when the parent no longer reads.
    pub fn tell(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        serde_json::to_writer(&mut out, self)?;
        out.write_all(b"\n")?;
        out.flush()
    }

    /// Reads a message; other lines, such as those that libraries print, give `None`.
    pub fn heard(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Told;

    #[test]
    fn lines_of_others_are_passed_over() {
        assert_eq!(Told::heard(r#"{"finished":{"rows":3}}"#), Some(Told::Finished { rows: 3 }));
        assert_eq!(Told::heard("warning: something"), None);
        assert_eq!(Told::heard(""), None);
    }
}
