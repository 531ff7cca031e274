//! Progress, for people or as lines of JSON.

use std::io::{self, IsTerminal, Write};

use serde_json::json;

use crate::plain::{escaped, visible};

/// Where progress goes.
pub struct Report {
    json: bool,
    /// Whether a line can be written over.
    terminal: bool,
    of: usize,
    probe: &'static str,
    number: usize,
}

impl Report {
    /// For this many probes.
    pub fn new(json: bool, of: usize) -> Self {
        Self { json, terminal: io::stderr().is_terminal(), of, probe: "", number: 0 }
    }

    /// The GPU that is measured.
    pub fn gpu(&self, index: usize, gpus: usize, name: &str) {
        let others = if gpus > 1 { format!(" of {gpus}") } else { String::new() };
        self.say(&json!({"event": "gpu", "gpu": index, "gpus": gpus, "name": name}), || {
            format!("Measuring GPU {index}{others}: {name}")
        });
    }

    /// The next probe.
    pub fn next(&mut self, probe: &'static str) {
        self.probe = probe;
        self.number += 1;
    }

    /// The probe has samples already.
    pub fn kept(&self) {
        self.say(&json!({"event": "kept", "probe": self.probe}), || format!("{}: finished before, kept", self.head()));
    }

    /// A step of it begins.
    pub fn step(&self, done: usize, of: usize, what: &str) {
        let value = json!({"event": "step", "probe": self.probe, "done": done, "of": of, "what": what});
        if self.json {
            say_json(&value);
        } else if self.terminal {
            eprint!("\r\x1b[K{}: {}/{of} {}", self.head(), done + 1, visible(what));
        }
    }

    /// The probe has finished.
    pub fn finished(&self, rows: usize, seconds: f64) {
        let value = json!({"event": "finished", "probe": self.probe, "rows": rows, "seconds": seconds});
        self.say(&value, || format!("{}: {rows} rows in {seconds:.1} s", self.head()));
    }

    /// The probe has failed.
    pub fn failed(&self, reason: &str) {
        let value = json!({"event": "failed", "probe": self.probe, "reason": reason});
        self.say(&value, || format!("{}: failed: {reason}", self.head()));
    }

    fn head(&self) -> String {
        format!("[{}/{}] {}", self.number, self.of, self.probe)
    }

    fn say(&self, value: &serde_json::Value, words: impl FnOnce() -> String) {
        if self.json {
            say_json(value);
        } else {
            let begin = if self.terminal { "\r\x1b[K" } else { "" };
            eprintln!("{begin}{}", visible(&words()));
        }
    }
}

/// A failure to print does not stop the measurement.
fn say_json(value: &serde_json::Value) {
    let text = value.to_string();
    let _ = writeln!(io::stdout().lock(), "{}", escaped(&text));
}
