//! A scenario of settings, each a line of TOML. Settings that conflict with others are left out, so that the rest is
//! valid.

use std::fmt;

use octavo_scenario::{Resolved, ScenarioError, Source, resolve};

use super::draw::Draw;
use super::parts;

/// A key and its value, as TOML writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub key: String,
    pub value: String,
}

/// The name of the scenario in messages.
const NAME: &str = "drawn";
/// A program that every node runs.
const ANY_PROGRAM: &str = "{ name = 'fir', scale = 0.0005 }";

/// A scenario as its author would write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn(pub Vec<Setting>);

impl Drawn {
    /// Returns the scenario with this number, and its description.
    pub fn of(number: u64) -> (Self, Resolved) {
        let draw = &mut Draw::of(number);
        let mut drawn = Self(Vec::new());
        parts::node(&mut drawn, draw);
        parts::memory(&mut drawn, draw);
        parts::capacity(&mut drawn, draw);
        parts::driver(&mut drawn, draw);
        parts::execution(&mut drawn, draw);
        parts::programs(&mut drawn, draw);
        loop {
            match drawn.resolved() {
                Ok(resolved) => return (drawn, resolved),
                Err(error) => drawn.leave_out(&error),
            }
        }
    }

    /// Without a key's settings that a run refuses; nothing if no setting does.
    pub fn without(&self, key: &str) -> Option<Self> {
        let at = self.0.iter().rposition(|setting| is_below(key, &setting.key) || is_below(&setting.key, key));
        let at = at.filter(|at| (1..self.0.len() - 1).contains(at))?;
        let mut left = self.clone();
        left.0.remove(at);
        left.resolved().is_ok().then_some(left)
    }

    pub fn set(&mut self, key: &str, value: impl fmt::Display) {
        self.0.push(Setting { key: key.to_owned(), value: value.to_string() });
    }

    /// Sets one of several values.
    pub fn set_one(&mut self, key: &str, of: &[&str], draw: &mut Draw) {
        let value = draw.one(of);
        self.set(key, value);
    }

    /// The meaning of the settings so far.
    pub fn resolved(&self) -> Result<Resolved, ScenarioError> {
        resolve(Source { name: NAME, text: &self.to_string() }, &[])
    }

    /// The number of GPUs of its node, if it is known.
    pub fn resolved_gpus(&self) -> u32 {
        let node: Vec<Setting> = self.0.iter().filter(|setting| setting.key.starts_with("node.")).cloned().collect();
        let mut drawn = Self(node);
        drawn.set("workload", ANY_PROGRAM);
        loop {
            match drawn.resolved() {
                Ok(resolved) => return resolved.scenario.node.gpus,
                Err(error) => drawn.leave_out(&error),
            }
        }
    }

    /// Leaves out the refused setting: the one that the message names, or the last one before the program. The node
    /// stays, as the others have to fit it. A program that is refused by itself becomes another.
    fn leave_out(&mut self, error: &ScenarioError) {
        let last = self.0.len() - 1;
        let named = |setting: &Setting| {
            let plain = setting.key.replace('"', "");
            is_below(&error.key, &plain) || is_below(&plain, &error.key)
        };
        let written = Some(error.origin.line).filter(|_| error.origin.source == NAME).flatten();
        let of_line = written.map(|line| line - 1).filter(|at| *at < self.0.len());
        match of_line.or_else(|| self.0.iter().rposition(named)).filter(|at| *at > 0) {
            Some(at) if at < last => drop(self.0.remove(at)),
            None if last > 1 => drop(self.0.remove(last - 1)),
            _ => {
                assert_ne!(self.0[last].value, ANY_PROGRAM, "it fits every node: {error}\n{self}");
                self.0[last] = Setting { key: "workload".to_owned(), value: ANY_PROGRAM.to_owned() };
            }
        }
    }
}

/// Whether a key is another one or lies below it.
fn is_below(key: &str, other: &str) -> bool {
    key.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|Setting { key, value }| writeln!(f, "{key} = {value}"))
    }
}
