//! Requests in files: Azure's and `BurstGPT`'s CSV, Mooncake's JSON lines.

use std::collections::BTreeSet;

use octavo_registry::OptionError;

use self::arrival::Wrong;
pub use self::arrival::{Arrival, HASHED_TOKENS};
use super::requests::Request;
use crate::graphs::files::read_unpacked;
use crate::notes;

mod arrival;
mod csv;
mod mooncake;
mod time;

/// All requests of a file, in the order in which they arrive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// The requests, at least one.
    pub arrivals: Vec<Arrival>,
    /// Remarks about what the reader assumed or did not use.
    notes: Vec<String>,
}

impl Recorded {
    /// Reads a file, plain or packed with gzip or zstd.
    ///
    /// # Errors
    /// Names file, line, what was expected and what was found.
    pub fn read(file: &str) -> Result<Self, OptionError> {
        let refused = |message: String| OptionError::new("trace", message);
        let bytes = read_unpacked(file).map_err(|why| refused(format!("cannot read {file}: {why}")))?;
        let text = std::str::from_utf8(&bytes);
        let text = text.map_err(|_| refused(format!("{file}: expected text, found other bytes")))?;
        let recorded =
            Self::parse(text).map_err(|(line, message)| refused(format!("{file}, line {line}: {message}")))?;
        recorded.notes.iter().for_each(|note| notes::add(file, note));
        Ok(recorded)
    }

    fn parse(text: &str) -> Result<Self, Wrong> {
        let text = text.trim_start_matches('\u{feff}');
        let is_json = text.trim_start().starts_with('{');
        let (arrivals, notes) = if is_json { mooncake::parse(text)? } else { csv::parse(text)? };
        let mut recorded = Self { arrivals, notes };
        if recorded.arrivals.is_empty() {
            return Err((text.lines().count().max(1), "expected a request, found none with a reply".to_owned()));
        }
        recorded.in_order();
        Ok(recorded)
    }

    /// Requests in order of time, which begins with the first.
    fn in_order(&mut self) {
        let late = self.arrivals.windows(2).filter(|pair| pair[1].seconds < pair[0].seconds).count();
        if late > 0 {
            self.arrivals.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
            self.notes.push(format!("{late} requests stand before earlier ones; they are taken in order of time"));
        }
        let first = self.arrivals[0].seconds;
        self.arrivals.iter_mut().for_each(|one| one.seconds -= first);
    }

    /// Different blocks of [`HASHED_TOKENS`] that prompts have, where the file names them.
    #[must_use]
    pub fn different_blocks(&self) -> usize {
        self.arrivals.iter().flat_map(|one| &one.blocks).collect::<BTreeSet<_>>().len()
    }

    /// Tokens of the longest prompt with its reply.
    #[must_use]
    pub fn longest(&self) -> u32 {
        self.arrivals.iter().map(|one| one.prompt + one.reply).max().unwrap_or_default()
    }

    /// The requests of a server whose steps take this many seconds.
    pub fn requests(&self, step: f64) -> impl Iterator<Item = Request> + use<> {
        let of =
            move |one: &Arrival| Request { arrives: (one.seconds / step) as u64, prompt: one.prompt, reply: one.reply };
        self.arrivals.iter().map(of).collect::<Vec<_>>().into_iter()
    }

    /// The content of each whole block of `tokens` of each prompt.
    ///
    /// # Errors
    /// The file names blocks that cannot be cut into such.
    pub fn prefixes(&self, tokens: u32) -> Result<Vec<Vec<(u64, u32)>>, OptionError> {
        if self.arrivals.iter().all(|one| one.blocks.is_empty()) {
            return Ok(Vec::new());
        }
        if !HASHED_TOKENS.is_multiple_of(tokens) {
            let message = format!("expected a part of the {HASHED_TOKENS} tokens that `hash_ids` name, found {tokens}");
            return Err(OptionError::new("block", message));
        }
        let parts = HASHED_TOKENS / tokens;
        let of = |one: &Arrival| {
            let whole = (one.prompt / tokens) as usize;
            let all = one.blocks.iter().flat_map(|&block| (0..parts).map(move |part| (block, part)));
            all.take(whole).collect()
        };
        Ok(self.arrivals.iter().map(of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AZURE: &str = "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-01-01 00:00:00.0000000,374,44\n\
        2024-01-01 00:00:04.3148790,396,109\n2024-01-01 00:00:04.5421770,879,55\n";
    const BURST: &str = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n\
        5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT,1087,0,1087,API log\n118,GPT-4,417,276,693,API log\n";
    const MOONCAKE: &str = "{\"timestamp\": 0, \"input_length\": 1024, \"output_length\": 5, \"hash_ids\": [0, 1]}\n\
        {\"timestamp\": 3000, \"input_length\": 900, \"output_length\": 7, \"hash_ids\": [0, 2]}\n";

    fn read(text: &str) -> Vec<(u64, u32, u32)> {
        let recorded = Recorded::parse(text).expect("requests");
        recorded.arrivals.iter().map(|one| ((one.seconds * 1e6).round() as u64, one.prompt, one.reply)).collect()
    }

    #[test]
    fn three_formats() {
        assert_eq!(read(AZURE), [(0, 374, 44), (4_314_879, 396, 109), (4_542_177, 879, 55)]);
        assert_eq!(read(BURST), [(0, 472, 18), (113_000_000, 417, 276)]);
        assert_eq!(read(MOONCAKE), [(0, 1024, 5), (3_000_000, 900, 7)]);
        assert_eq!(read(&AZURE.replace("0000000,", "0000000+02:00,").replace('\n', "\r\n")).len(), 3);
    }

    #[test]
    fn whole_blocks_of_a_prompt_are_those_that_others_may_share() {
        let prefixes = Recorded::parse(MOONCAKE).expect("requests").prefixes(512).expect("blocks");
        assert_eq!(prefixes, [vec![(0, 0), (1, 0)], vec![(0, 0)]]);
        let recorded = Recorded::parse(MOONCAKE).expect("requests");
        assert_eq!(recorded.different_blocks(), 3, "of four");
        assert_eq!(recorded.prefixes(16).expect("blocks")[1].len(), 56);
        assert!(recorded.prefixes(48).is_err());
        assert_eq!(Recorded::parse(AZURE).expect("requests").prefixes(48), Ok(Vec::new()));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let changed = |text: &str, from: &str, to: &str| Recorded::parse(&text.replace(from, to)).unwrap_err().0;
        assert_eq!(changed(AZURE, "ContextTokens", "Prompt"), 1);
        assert_eq!(changed(AZURE, "04.3148790", "64.3148790"), 3);
        assert_eq!(changed(AZURE, ",109", ",many"), 3);
        assert_eq!(changed(AZURE, "879,55", "879"), 4);
        assert_eq!(changed(BURST, "490", "491"), 2);
        assert_eq!(changed(MOONCAKE, "[0, 2]", "[0]"), 2);
        assert_eq!(changed(MOONCAKE, "\"output_length\": 7, ", ""), 2);
        assert_eq!(Recorded::parse("").unwrap_err().0, 1);
        assert_eq!(Recorded::parse(AZURE.lines().next().expect("a header")).unwrap_err().0, 1);
    }

    #[test]
    fn what_is_left_out_or_assumed_is_said() {
        let notes = |text: &str| Recorded::parse(text).expect("requests").notes.len();
        assert_eq!((notes(AZURE), notes(MOONCAKE)), (0, 0));
        assert_eq!(notes(BURST), 2, "a request without reply, the columns that are not used");
        assert_eq!(notes(&AZURE.replace("04.5", "01.5")), 1, "out of order");
        assert_eq!(notes(&MOONCAKE.replace("\"hash_ids\": [0, 1]", "\"user\": 1")), 2);
    }
}
