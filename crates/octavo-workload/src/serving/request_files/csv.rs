//! Tables of requests: Azure's (`AzurePublicDataset`, LLM inference traces of 2023 and 2024) and `BurstGPT`'s.

use super::arrival::{Arrival, Found, Wrong, tokens};
use super::time;

const AZURE: &[&str] = &["TIMESTAMP", "ContextTokens", "GeneratedTokens"];
const BURST: &[&str] = &["Timestamp", "Model", "Request tokens", "Response tokens", "Total tokens", "Log Type"];

/// Which column has what.
struct Columns {
    count: usize,
    time: usize,
    prompt: usize,
    reply: usize,
    /// Both together, where the table has it.
    total: Option<usize>,
    /// Whether times are dates rather than seconds.
    dates: bool,
    /// Names of the others.
    unused: Vec<String>,
}

pub fn parse(text: &str) -> Result<Found, Wrong> {
    let mut lines = text.lines().enumerate().map(|(line, content)| (line + 1, content.trim()));
    let columns = Columns::of(lines.next().map_or("", |(_, header)| header)).map_err(|message| (1, message))?;
    let (mut arrivals, mut without) = (Vec::new(), 0u64);
    for (line, content) in lines.filter(|(_, content)| !content.is_empty()) {
        match columns.arrival(content).map_err(|message| (line, message))? {
            one if one.prompt > 0 && one.reply > 0 => arrivals.push(one),
            _ => without += 1,
        }
    }
    let mut notes = Vec::new();
    if without > 0 {
        notes.push(format!("{without} requests without a prompt or a reply are left out"));
    }
    if !columns.unused.is_empty() {
        notes.push(format!("columns that are not used: {}", columns.unused.join(", ")));
    }
    Ok((arrivals, notes))
}

impl Columns {
    fn of(header: &str) -> Result<Self, String> {
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        let place = |name: &str| names.iter().position(|found| *found == name);
        let all = |wanted: &[&str]| wanted.iter().map(|name| place(name)).collect::<Option<Vec<_>>>();
        let others = |used: &[usize]| {
            let unused = (0..names.len()).filter(|column| !used.contains(column));
            unused.map(|column| names[column].to_owned()).collect()
        };
        if let Some(&[time, prompt, reply]) = all(AZURE).as_deref() {
            let unused = others(&[time, prompt, reply]);
            return Ok(Self { count: names.len(), time, prompt, reply, total: None, dates: true, unused });
        }
        if let Some(&[time, _, prompt, reply, total, _]) = all(BURST).as_deref() {
            let unused = others(&[time, prompt, reply, total]);
            return Ok(Self { count: names.len(), time, prompt, reply, total: Some(total), dates: false, unused });
        }
        let (azure, burst) = (AZURE.join(","), BURST.join(","));
        let found: String = header.chars().take(100).collect();
        Err(format!(
            "expected the columns `{azure}` (Azure) or `{burst}` (BurstGPT), or JSON lines (Mooncake), found `{found}`"
        ))
    }

    fn arrival(&self, content: &str) -> Result<Arrival, String> {
        let words: Vec<&str> = content.split(',').map(str::trim).collect();
        if words.len() != self.count {
            return Err(format!("expected {} values, found {}", self.count, words.len()));
        }
        let whole = |column: usize, what: &str| {
            let word = words[column];
            let found = word.parse().map_err(|_| format!("expected {what}, found `{word}`"))?;
            tokens(found, what)
        };
        let (prompt, reply) = (whole(self.prompt, "tokens of a prompt")?, whole(self.reply, "tokens of a reply")?);
        if let Some(total) = self.total {
            let total = whole(total, "tokens of both")?;
            if total != prompt + reply {
                return Err(format!("expected {} tokens in total, found {total}", prompt + reply));
            }
        }
        Ok(Arrival { seconds: self.seconds(words[self.time])?, prompt, reply, blocks: Vec::new() })
    }

    fn seconds(&self, word: &str) -> Result<f64, String> {
        let (found, what) = if self.dates {
            (time::seconds(word), "a date and a time")
        } else {
            (word.parse().ok().filter(|seconds: &f64| (0.0..1e12).contains(seconds)), "seconds")
        };
        found.ok_or_else(|| format!("expected {what}, found `{word}`"))
    }
}
