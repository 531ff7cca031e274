//! Foreign traces become ours, as `docs/own-workload.md` describes.
//!
//! Each converter streams: text in, rows out, with memory that the input's size does not change. The folder appears
//! whole or not at all.

mod accel_sim;
mod assemble;
mod converter;
mod error;
mod footprint;
mod lackey;
mod mem_trace;
mod open;
mod sass;
mod scoreboard;
mod sort;
mod text;
mod watch;

use std::path::Path;

pub use converter::{Conversion, Converter, Summary};
pub use error::ConvertError;
pub use watch::Progress;

use self::watch::Watch;

/// Every converter, in the order listings show them and detection asks them.
pub static CONVERTERS: &[&Converter] = &[&accel_sim::CONVERTER, &mem_trace::CONVERTER, &lackey::CONVERTER];

impl Conversion<'_> {
    /// Converts. `progress` is called now and then; the conversion stops when it breaks.
    ///
    /// # Errors
    /// The format is unknown, the input is damaged (file, line and reason), the output cannot be written, or
    /// `progress` said so. Nothing is left behind then.
    pub fn run(
        &self,
        progress: &mut dyn FnMut(Progress) -> std::ops::ControlFlow<()>,
    ) -> Result<Summary, ConvertError> {
        let converter = self.converter()?;
        let mut summary = (converter.convert)(self, &mut Watch::new(progress))?;
        summary.format = converter.name;
        Ok(summary)
    }

    fn converter(&self) -> Result<&'static Converter, ConvertError> {
        let names: Vec<_> = CONVERTERS.iter().map(|converter| converter.name).collect();
        let names = names.join(", ");
        if let Err(error) = std::fs::metadata(self.input) {
            return Err(ConvertError::file(self.input, format!("cannot be read: {error}")));
        }
        let found = match self.format {
            Some(format) => CONVERTERS.iter().find(|converter| converter.name == format),
            None => CONVERTERS.iter().find(|converter| (converter.detect)(self.input)),
        };
        found.copied().ok_or_else(|| match self.format {
            Some(format) => ConvertError::Format(format!("unknown format `{format}`, expected one of {names}")),
            None => {
                let input = self.input.display();
                ConvertError::Format(format!("{input} looks like none of {names}; name its format if it is one"))
            }
        })
    }
}

/// Converts the foreign trace `input` into the trace folder `output`, which must not exist: see [`Conversion::run`].
///
/// # Errors
/// As for [`Conversion::run`].
pub fn convert(
    format: Option<&str>,
    input: &Path,
    output: &Path,
    progress: &mut dyn FnMut(Progress) -> std::ops::ControlFlow<()>,
) -> Result<Summary, ConvertError> {
    Conversion { format, input, output, replace: false }.run(progress)
}
