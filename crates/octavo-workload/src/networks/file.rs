//! Files of recorded steps: JSON, plain or compressed by gzip or zstd. `docs/trace-format.md` has the format.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde::Deserialize;

use super::step::{Operand, Operator, Role, Step, Tensor};

/// The version that is read.
const VERSION: u32 = 1;
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The most bytes of text that a file may unpack to: a thousand times the need of a large network.
const MOST_TEXT: u64 = 1 << 30;
/// Most samples of a batch.
pub const MOST_SAMPLES: u32 = 1 << 20;

/// A count that grows with the batch: so much, and so much more for each sample.
type Linear = (i64, i64);

/// A recorded step, as its file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    octavo_step: u32,
    /// The recorder, with version.
    pub source: String,
    /// The command that recorded it.
    pub command: String,
    /// Elements of the model's parameters.
    pub parameters: u64,
    /// Samples of a batch by default; none if the step was recorded with one batch size.
    pub batch: Option<u32>,
    tensors: Vec<(Role, Linear)>,
    operators: Vec<Recorded>,
    /// The history of the program's memory, which replays do not need.
    #[serde(default, rename = "memory")]
    _memory: serde::de::IgnoredAny,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    name: String,
    #[serde(default)]
    flops: Linear,
    #[serde(default)]
    reads: Vec<Touched>,
    #[serde(default)]
    writes: Vec<Touched>,
    #[serde(default)]
    allocates: Vec<usize>,
    #[serde(default)]
    frees: Vec<usize>,
}

/// A whole tensor, or bytes of it from an offset on.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Touched {
    Whole(usize),
    Part(usize, Linear, Linear),
}

impl File {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// Names the file and what was expected.
    pub fn open(path: &Path) -> Result<(Self, Vec<u8>), String> {
        let bytes = std::fs::read(path).map_err(|why| format!("cannot read {}: {why}", path.display()))?;
        let file = Self::parse(&bytes).map_err(|why| format!("{}: {why}", path.display()))?;
        Ok((file, bytes))
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    /// What was expected and found.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let not_one = |why: String| format!("expected a recorded step (docs/trace-format.md), {why}");
        let text = unpack(bytes).map_err(|why| not_one(format!("found a file that is cut off or damaged: {why}")))?;
        let file: Self =
            serde_json::from_slice(&text).map_err(|why| not_one(format!("found something else: {why}")))?;
        if file.octavo_step != VERSION {
            return Err(format!("expected version {VERSION} of recorded steps, found {}", file.octavo_step));
        }
        Ok(file)
    }

    /// The step with `batch` samples, or with the recorded number.
    ///
    /// # Errors
    /// A batch that cannot be chosen, or a step that cannot be.
    pub fn step(&self, batch: Option<u32>) -> Result<Step, String> {
        let samples = match (batch, self.batch) {
            (Some(_), None) => return Err("the step was recorded with one batch size: expected no other".to_owned()),
            (Some(batch), _) if !(1..=MOST_SAMPLES).contains(&batch) => {
                return Err(format!("expected 1 to {MOST_SAMPLES} samples, found {batch}"));
            }
            (None, Some(batch)) if !(1..=MOST_SAMPLES).contains(&batch) => {
                return Err(format!("the step was recorded for {batch} samples: expected 1 to {MOST_SAMPLES}"));
            }
            (chosen, usual) => i64::from(chosen.or(usual).unwrap_or(0)),
        };
        let at = |amount: Linear| at(amount, samples);
        let tensor = |(index, &(role, bytes)): (usize, &(Role, Linear))| match at(bytes) {
            Some(bytes) if bytes > 0 => Ok(Tensor { role, bytes }),
            _ => Err(format!("tensor {index}: expected at least one byte")),
        };
        let tensors: Vec<Tensor> = self.tensors.iter().enumerate().map(tensor).collect::<Result<_, String>>()?;
        let operators = self.operators.iter().enumerate().map(|(index, recorded)| {
            let whole = |tensor: usize| tensors.get(tensor).map_or(0, |tensor| tensor.bytes);
            recorded.at(&at, &whole).ok_or_else(|| format!("operator {index} ({}): a count below 0", recorded.name))
        });
        let operators = operators.collect::<Result<_, String>>()?;
        let step = Step { tensors, operators };
        step.check()?;
        Ok(step)
    }
}

impl Recorded {
    fn at(&self, at: &impl Fn(Linear) -> Option<u64>, whole: &impl Fn(usize) -> u64) -> Option<Operator> {
        let operand = |touched: &Touched| match *touched {
            Touched::Whole(tensor) => Some(Operand { tensor, bytes: 0..whole(tensor) }),
            Touched::Part(tensor, offset, bytes) => {
                let offset = at(offset)?;
                Some(Operand { tensor, bytes: offset..offset.checked_add(at(bytes)?)? })
            }
        };
        Some(Operator {
            name: self.name.clone(),
            flops: at(self.flops)?,
            reads: self.reads.iter().map(operand).collect::<Option<_>>()?,
            writes: self.writes.iter().map(operand).collect::<Option<_>>()?,
            allocates: self.allocates.clone(),
            frees: self.frees.clone(),
        })
    }
}

/// `amount` with this many samples, unless it is below 0 or too large to count.
fn at((fixed, per_sample): Linear, samples: i64) -> Option<u64> {
    u64::try_from(per_sample.checked_mul(samples)?.checked_add(fixed)?).ok()
}

fn unpack(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let reader: Box<dyn Read + '_> = match () {
        () if bytes.starts_with(&GZIP) => Box::new(GzDecoder::new(bytes)),
        () if bytes.starts_with(&ZSTD) => Box::new(zstd::Decoder::with_buffer(bytes)?),
        () => return Ok(bytes.to_vec()),
    };
    let mut text = Vec::new();
    reader.take(MOST_TEXT).read_to_end(&mut text)?;
    Ok(text)
}
