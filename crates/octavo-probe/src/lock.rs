//! One measurement per folder: a lock that the system releases when its process ends in any way.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

/// The name that Octavo uses in folders that fill up.
const LOCK_FILE: &str = ".octavo-lock";

/// Keeps other measurements out of a folder while it lives. File systems without locks have no protection.
pub struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Fails with `WouldBlock` if another process has it.
    pub fn take(folder: &Path) -> io::Result<Self> {
        let path = folder.join(LOCK_FILE);
        loop {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
            let file = options.open(&path)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => return Err(io::ErrorKind::WouldBlock.into()),
                _ if is_still(&file, &path) => return Ok(Self { path, _file: file }),
                _ => {} // Its holder removed the name, then let go.
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn is_still(file: &File, path: &Path) -> bool {
    let (Ok(own), Ok(there)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    (own.dev(), own.ino()) == (there.dev(), there.ino())
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::Lock;

    #[test]
    fn a_folder_has_one_holder() {
        let place = tempfile::tempdir().unwrap();
        let held = Lock::take(place.path()).unwrap();
        assert_eq!(Lock::take(place.path()).err().unwrap().kind(), ErrorKind::WouldBlock);
        drop(held);
        drop(Lock::take(place.path()).unwrap());
        assert_eq!(place.path().read_dir().unwrap().count(), 0);
    }
}
