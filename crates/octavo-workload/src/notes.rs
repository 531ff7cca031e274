//! Remarks of file readers about what they assumed or did not use, for the next caller. Nothing here shapes a result.

use std::sync::{Mutex, PoisonError};

/// Notes that are kept, at most: each file has a few.
const MOST: usize = 64;

static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps remarks about what was assumed or not used, without repetition.
pub fn add(file: &str, text: &str) {
    let note = format!("{file}: {text}");
    let mut notes = NOTES.lock().unwrap_or_else(PoisonError::into_inner);
    if notes.len() < MOST && !notes.contains(&note) {
        notes.push(note);
    }
}

/// Notes since the last call, in order.
pub fn take() -> Vec<String> {
    std::mem::take(&mut *NOTES.lock().unwrap_or_else(PoisonError::into_inner))
}
