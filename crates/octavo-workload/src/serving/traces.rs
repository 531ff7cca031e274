//! Statistics of public traces of requests: how long prompts and replies are, and how unevenly requests arrive.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graphs::files::is_file;

/// A public trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trace {
    /// Azure's of 2023, conversations: 19,366 requests.
    #[default]
    AzureChat,
    /// Azure's of 2023, code: 8,819 requests that arrive in bursts, long prompts, short replies.
    AzureCode,
}

/// A public trace whose statistics requests have, or a file of requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(!try_from, !into, untagged)]
pub enum TraceChoice {
    /// Requests are drawn.
    Statistics(Trace),
    /// Requests are replayed: a CSV file of Azure's or `BurstGPT`'s, or Mooncake's JSON lines, also packed (`.gz`,
    /// `.zst`).
    File(String),
}

impl Default for TraceChoice {
    fn default() -> Self {
        Self::Statistics(Trace::default())
    }
}

impl TryFrom<String> for TraceChoice {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match name.as_str() {
            "azure-chat" => Ok(Self::Statistics(Trace::AzureChat)),
            "azure-code" => Ok(Self::Statistics(Trace::AzureCode)),
            file if is_file(file) => Ok(Self::File(name)),
            _ => Err(format!("expected `azure-chat`, `azure-code` or a file of requests, found `{name}`")),
        }
    }
}

impl From<TraceChoice> for String {
    fn from(choice: TraceChoice) -> Self {
        match choice {
            TraceChoice::Statistics(Trace::AzureChat) => "azure-chat".to_owned(),
            TraceChoice::Statistics(Trace::AzureCode) => "azure-code".to_owned(),
            TraceChoice::File(name) => name,
        }
    }
}

/// Lengths in tokens at shares of all requests: the least, half, nine tenths, 99 of a hundred, the greatest.
type Quantiles = [f64; 5];

/// Shares of requests that are at most as long.
const SHARES: Quantiles = [0.0, 0.5, 0.9, 0.99, 1.0];

impl Trace {
    /// Prompts. The code trace's maximum is taken from the other trace (not published; our choice).
    const fn prompts(self) -> Quantiles {
        match self {
            Self::AzureChat => [1.0, 1020.0, 2735.0, 4142.0, 14_050.0],
            Self::AzureCode => [1.0, 1469.0, 5194.0, 7436.0, 14_050.0],
        }
    }

    /// Replies. None is longer than the longest of a hundred (the tail is not published; our choice).
    const fn replies(self) -> Quantiles {
        match self {
            Self::AzureChat => [1.0, 129.0, 424.0, 601.0, 601.0],
            Self::AzureCode => [1.0, 13.0, 55.0, 252.0, 252.0],
        }
    }

    /// Standard deviation of the time between requests over its mean.
    const fn unevenness(self) -> f64 {
        match self {
            Self::AzureChat => 1.09,
            Self::AzureCode => 13.0,
        }
    }

    /// Tokens of the longest prompt with the longest reply.
    #[must_use]
    pub fn longest(self) -> u32 {
        (self.prompts()[4] + self.replies()[4]) as u32
    }

    /// Mean tokens of a reply, as they are drawn.
    #[must_use]
    pub fn mean_reply(self) -> f64 {
        mean(&self.replies())
    }

    /// Tokens of a prompt and of its reply.
    pub fn lengths(self, random: &mut ChaCha8Rng) -> (u32, u32) {
        let mut draw = |quantiles: &Quantiles| length(quantiles, random.random()).round() as u32;
        (draw(&self.prompts()), draw(&self.replies()))
    }

    /// Time between two requests, where its mean is 1.
    ///
    /// One of two exponential distributions, balanced: the mean and the deviation match the trace.
    pub fn gap(self, random: &mut ChaCha8Rng) -> f64 {
        let square = self.unevenness() * self.unevenness();
        let often = f64::midpoint(1.0, ((square - 1.0) / (square + 1.0)).sqrt());
        let share = if random.random::<f64>() < often { often } else { 1.0 - often };
        -(1.0 - random.random::<f64>()).ln() / (2.0 * share)
    }
}

/// The length that a share of requests does not exceed: geometric between the published ones.
fn length(quantiles: &Quantiles, share: f64) -> f64 {
    let upper = (1..SHARES.len() - 1).find(|&one| share < SHARES[one]).unwrap_or(SHARES.len() - 1);
    let along = (share - SHARES[upper - 1]) / (SHARES[upper] - SHARES[upper - 1]);
    quantiles[upper - 1] * (quantiles[upper] / quantiles[upper - 1]).powf(along)
}

/// The mean of [`length`] over all shares.
fn mean(quantiles: &Quantiles) -> f64 {
    let pieces = (1..SHARES.len()).map(|upper| {
        let (from, to) = (quantiles[upper - 1], quantiles[upper]);
        let mean = if to > from { (to - from) / (to / from).ln() } else { from };
        mean * (SHARES[upper] - SHARES[upper - 1])
    });
    pieces.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::generator;

    /// Means as published; long replies of chats are cut off, see above.
    #[test]
    fn means_that_nobody_put_in_come_out() {
        for (quantiles, published, off) in [
            (Trace::AzureChat.prompts(), 1155.0, 0.01),
            (Trace::AzureChat.replies(), 211.0, 0.23),
            (Trace::AzureCode.prompts(), 2048.0, 0.06),
            (Trace::AzureCode.replies(), 28.0, 0.01),
        ] {
            let found = mean(&quantiles) / published;
            assert!((found - 1.0).abs() < off, "{found} times {published}");
        }
    }

    #[test]
    fn draws_have_the_quantiles_the_mean_and_the_unevenness() {
        let mut random = generator(1, 0);
        let mut prompts: Vec<_> = (0..40_000).map(|_| Trace::AzureChat.lengths(&mut random).0).collect();
        prompts.sort_unstable();
        for (share, expected) in [(0.5, 1020.0), (0.9, 2735.0), (0.99, 4142.0)] {
            let found = f64::from(prompts[(share * 40_000.0) as usize]);
            assert!((found / expected - 1.0).abs() < 0.04, "{found} for {expected}");
        }
        for trace in [Trace::AzureChat, Trace::AzureCode] {
            let gaps: Vec<_> = (0..400_000).map(|_| trace.gap(&mut random)).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let square = gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len() as f64;
            let found = (square / (mean * mean) - 1.0).sqrt();
            assert!((mean - 1.0).abs() < 0.08 && (found / trace.unevenness() - 1.0).abs() < 0.08, "{mean} {found}");
        }
    }
}
