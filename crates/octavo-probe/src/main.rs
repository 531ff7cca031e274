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
mod measure;
mod origin;
mod report;
mod run;
mod table;
mod told;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::List { json } => list::print(json),
        Command::Run(wanted) => run::run(&wanted),
        Command::Measure(wanted) => measure::run(&wanted),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("octavo-probe: {failure}");
            ExitCode::FAILURE
        }
    }
}
