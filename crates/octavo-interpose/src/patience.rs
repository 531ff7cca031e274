//! Locks that a thread may hold for ever.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// How long the end of a process waits for busy threads; our choice.
const PATIENCE: Duration = Duration::from_secs(1);

/// A lock, unless others hold it for longer than one waits.
pub fn patiently<T>(lock: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    let begun = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(guard)) => return Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) if begun.elapsed() > PATIENCE => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::patiently;

    #[test]
    fn nobody_waits_for_ever() {
        let (said, heard) = channel();
        std::thread::spawn(move || {
            let lock = Mutex::new(());
            let held = lock.lock();
            let while_held = patiently(&lock).is_some();
            drop(held);
            said.send((while_held, patiently(&lock).is_some()))
        });
        assert_eq!(heard.recv_timeout(Duration::from_secs(60)), Ok((false, true)));
    }
}
