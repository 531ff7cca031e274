//! What a tier is made of.

use octavo_manager::{MemoryConfig, OutstandingAccesses};
use octavo_registry::Choice;
use octavo_units::Bytes;

use crate::error::TierError;

/// The largest piece.
const MOST_PIECE: Bytes = Bytes(32 << 20);

/// What a tier is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// GPUs by their numbers; others than the first are its neighbours.
    pub devices: Vec<usize>,
    /// Bytes of each device's memory, or of all alike.
    pub memory: Vec<Bytes>,
    /// Bytes of the host's memory, which must hold all that is allocated.
    pub host: Bytes,
    /// Bytes that move together: a power of two up to 32 MiB that the driver has pieces of.
    pub piece: Bytes,
    /// Whether a device reaches pieces that left it where they are, on the host; then no device keeps pieces for others,
    /// and launches may use memory that is not on the device.
    pub mapped: bool,
    /// Whether the devices are not there, and a stand-in takes their place.
    pub stand_in: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            devices: vec![0],
            memory: Vec::new(),
            host: Bytes(0),
            piece: Bytes(2 << 20),
            mapped: false,
            stand_in: false,
        }
    }
}

impl Settings {
    /// Reads `devices=0,1 memory=4GiB host=8GiB piece=2MiB mapped=no stand-in=no`: words in any order, the last three
    /// only if they differ from that. Memory is whole pieces: a rest is not used.
    ///
    /// # Errors
    /// Names the word that cannot be used.
    pub fn read(text: &str) -> Result<Self, TierError> {
        let mut settings = Self::default();
        for word in text.split_whitespace() {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            match key {
                "devices" => settings.devices = list("devices", value, "numbers of GPUs, such as 0,1", number)?,
                "memory" => settings.memory = list("memory", value, "sizes, such as 4GiB or 4GiB,2GiB", bytes)?,
                "host" => settings.host = one("host", value, "a size, such as 8GiB", bytes)?,
                "piece" => settings.piece = one("piece", value, "a size, such as 2MiB", bytes)?,
                "mapped" => settings.mapped = one("mapped", value, "yes or no", yes)?,
                "stand-in" => settings.stand_in = one("stand-in", value, "yes or no", yes)?,
                _ => return Err(unusable("settings", "devices, memory, host, piece, mapped or stand-in", word)),
            }
        }
        Ok(settings)
    }

    /// Pieces of each device and of the host.
    ///
    /// # Errors
    /// Names the setting that cannot be used with a driver that has pieces of `granularity`.
    pub fn pieces(&self, granularity: u64) -> Result<(Vec<u32>, u32), TierError> {
        let (devices, piece) = (&self.devices, self.piece);
        let twice = (1..devices.len()).any(|at| devices[..at].contains(&devices[at]));
        // As many as memories have numbers for, less the host's.
        if devices.is_empty() || twice || devices.len() > octavo_manager::MAX_GPUS {
            let expected = format!("1 to {} GPUs, each once", octavo_manager::MAX_GPUS);
            return Err(unusable("devices", expected, format!("{devices:?}")));
        }
        if !piece.0.is_power_of_two() || !piece.0.is_multiple_of(granularity) || piece > MOST_PIECE {
            let least = Bytes(granularity);
            return Err(unusable("piece", format!("a power of two, {least} to {MOST_PIECE}"), piece.to_string()));
        }
        let memory: Vec<Bytes> = match self.memory[..] {
            [all] => vec![all; devices.len()],
            _ => self.memory.clone(),
        };
        if memory.len() != devices.len() {
            let expected = format!("one size, or one for each of {} devices", devices.len());
            return Err(unusable("memory", expected, format!("{} sizes", memory.len())));
        }
        let of_devices = memory.iter().map(|&bytes| self.count("memory", bytes)).collect::<Result<_, _>>()?;
        Ok((of_devices, self.count("host", self.host)?))
    }

    /// Pieces come to the device that needs them, and those that were needed longest ago leave: for a neighbour with idle
    /// memory first, and for the host in the background.
    pub(crate) fn memory_system(&self) -> MemoryConfig {
        let mut config = MemoryConfig {
            // A page is a piece, whatever its size: the largest page there is.
            page_size: Bytes(2 << 20),
            // Where a piece must stay within reach of its own device, another's launch reaches it, too.
            placement: Choice::named(if self.mapped { "first-touch" } else { "on-touch" }),
            eviction: Choice::named("lru-block"),
            outstanding: OutstandingAccesses::Stay,
            ..MemoryConfig::default()
        };
        config.eviction.options.insert("recency".to_owned(), "access".into());
        if self.mapped {
            config.demotion.options.insert("stays_mapped".to_owned(), true.into());
        } else if self.devices.len() > 1 {
            config.demotion = Choice::named("spare-memory");
            config.demotion.options.insert("reserve".to_owned(), "0B".into());
        }
        config
    }

    fn count(&self, key: &'static str, bytes: Bytes) -> Result<u32, TierError> {
        let pieces = u32::try_from(bytes.0 / self.piece.0).unwrap_or(u32::MAX);
        if pieces == 0 || pieces == u32::MAX {
            return Err(unusable(key, format!("at least one piece of {}", self.piece), bytes.to_string()));
        }
        Ok(pieces)
    }
}

pub(crate) fn unusable(key: &'static str, expected: impl Into<String>, found: impl Into<String>) -> TierError {
    TierError::Setting { key, expected: expected.into(), found: found.into() }
}

fn one<T>(key: &'static str, value: &str, expected: &str, read: fn(&str) -> Option<T>) -> Result<T, TierError> {
    read(value).ok_or_else(|| unusable(key, expected, format!("`{value}`")))
}

fn list<T>(key: &'static str, value: &str, expected: &str, read: fn(&str) -> Option<T>) -> Result<Vec<T>, TierError> {
    value.split(',').map(|one_of| one(key, one_of, expected, read)).collect()
}

fn number(text: &str) -> Option<usize> {
    text.parse().ok()
}

fn bytes(text: &str) -> Option<Bytes> {
    text.parse().ok()
}

fn yes(text: &str) -> Option<bool> {
    ["no", "yes"].iter().position(|word| *word == text).map(|at| at == 1)
}
