//! `octavo-probe`: the probes of real GPUs in one file that opens nothing but the driver.
//!
//! `octavo calibrate --samples` decides what the samples mean.

mod arguments;
mod child;
mod digest;
mod failure;
mod folder;
mod kernels;
mod list;
mod lock;
mod measure;
mod messages;
mod origin;
mod plain;
mod report;
mod run;
mod table;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(found) => found,
        Err(error) if error.use_stderr() => {
            eprint!("{}", plain::visible(&error.to_string()));
            return ExitCode::from(2);
        }
        Err(help) => help.exit(),
    };
    let done = match arguments.command {
        Command::List { json } => list::print(json),
        Command::Run(wanted) => run::run(&wanted),
        Command::Measure(wanted) => measure::run(&wanted),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("octavo-probe: {}", plain::visible(&failure.to_string()));
            ExitCode::FAILURE
        }
    }
}
