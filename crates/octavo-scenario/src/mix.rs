//! `mix`: several programs side by side, by their names.

use octavo_program::{Mix, Size, Workload, WorkloadEntry};
use octavo_registry::{Choice, OptionError, Options, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WORKLOADS;

/// The most programs in a mix.
const MOST: usize = 64;

/// Options of `mix`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct MixOptions {
    /// The programs: names of workloads, or tables of a name and its options; 1 to 64. All have the scale and seed of
    /// the mix. No default: they must be given.
    applications: Vec<Program>,
}

/// A program of a mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Program {
    /// With default options.
    Named(String),
    /// With options.
    Chosen(Choice),
}

impl Program {
    fn choice(self) -> Choice {
        match self {
            Self::Named(name) => Choice::named(&name),
            Self::Chosen(choice) => choice,
        }
    }
}

/// Several programs side by side.
pub(crate) static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "mix",
    summary: "Several programs at once, each on its share of every GPU's compute units: `hs+gups` in short",
    source: "Mosaic (MICRO 2017), section 5: SMs divided equally, each program restarts until all have run once",
    schema: typed::schema::<MixOptions>,
    resolve: |options| {
        let programs = programs(options)?;
        let resolved = programs.iter().enumerate().map(|(index, program)| {
            let choice = WORKLOADS.resolve(program).map_err(|error| below(index, error))?;
            serde_json::to_value(choice).map_err(|error| OptionError::new(&key(index), error.to_string()))
        });
        let resolved: Vec<serde_json::Value> = resolved.collect::<Result<_, _>>()?;
        Ok(Options::from_iter([("applications".to_owned(), resolved.into())]))
    },
    build: |options, size| build(&programs(options)?, size),
};

fn programs(options: &Options) -> Result<Vec<Choice>, OptionError> {
    let MixOptions { applications } = typed::parse(options)?;
    if applications.is_empty() || applications.len() > MOST {
        let message = format!("expected 1 to {MOST} programs, found {}", applications.len());
        return Err(OptionError::new("applications", message));
    }
    let programs: Vec<Choice> = applications.into_iter().map(Program::choice).collect();
    if let Some(index) = programs.iter().position(|program| program.name == ENTRY.name) {
        return Err(OptionError::new(&key(index), "a mix is not part of another"));
    }
    Ok(programs)
}

fn build(programs: &[Choice], size: &Size) -> Result<Box<dyn Workload>, OptionError> {
    let program = |(index, choice): (usize, &Choice)| {
        let workload = WORKLOADS.build(choice, size).map_err(|error| below(index, error))?;
        Ok((choice.name.clone(), workload))
    };
    let programs = programs.iter().enumerate().map(program).collect::<Result<_, OptionError>>()?;
    Ok(Box::new(Mix::new(programs)))
}

fn key(index: usize) -> String {
    format!("applications[{index}]")
}

fn below(index: usize, error: OptionError) -> OptionError {
    let OptionError { key: own, message } = error;
    OptionError { key: if own.is_empty() { key(index) } else { format!("{}.{own}", key(index)) }, message }
}
