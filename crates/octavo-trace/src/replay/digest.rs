//! A number that identifies traces.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::TraceError;
use crate::read::check_folder;
use crate::schema::{ACTIONS, Version};

const BLOCK: usize = 1 << 16;

/// Sixteen hexadecimal digits of all bytes of a trace: against mistakes, not against malice.
pub(super) fn digest(path: &Path) -> Result<String, TraceError> {
    check_folder(path)?;
    let mut sum = Sum(0);
    let version = if path.join(ACTIONS).is_file() { Version::Program } else { Version::Launches };
    for name in version.files() {
        let name = path.join(name);
        let read = File::open(&name).and_then(|file| add_file(file, &mut sum));
        read.map_err(|error| TraceError::new(&name, format!("cannot be read: {error}")))?;
    }
    Ok(format!("{:016x}", sum.finish()))
}

fn add_file(mut file: File, sum: &mut Sum) -> std::io::Result<()> {
    let mut block = vec![0; BLOCK];
    let mut length = 0u64;
    loop {
        let mut filled = 0;
        while filled < BLOCK {
            match file.read(&mut block[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        length += filled as u64;
        block[filled..].fill(0);
        block.chunks_exact(8).take(filled.div_ceil(8)).for_each(|word| {
            sum.add(u64::from_le_bytes([word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7]]));
        });
        if filled < BLOCK {
            sum.add(length);
            return Ok(());
        }
    }
}

/// A multiplicative hash of words.
struct Sum(u64);

impl Sum {
    #[inline]
    fn add(&mut self, word: u64) {
        // Golden ratio; the rotation brings the well mixed high bits down.
        self.0 = (self.0.rotate_left(29) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(mut self) -> u64 {
        (0..4).for_each(|round| self.add(round));
        self.0 ^ self.0 >> 32
    }
}
