//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  octavo-probe list
  octavo-probe run -o samples --quick
  octavo-probe run -o samples --only copies,launches --limit 60s
  octavo-probe run -o samples --json

Then, on any machine with Octavo:
  octavo calibrate --samples samples -o machine.toml";

/// Measures the memory system of an NVIDIA GPU, with nothing but its driver.
///
/// Kernels lie in this file. Samples are written to a folder that `octavo calibrate --samples` evaluates elsewhere.
#[derive(Parser, Debug)]
#[command(name = "octavo-probe", version, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// List the probes and what each measures; needs no GPU.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Measure, each probe in a process of its own; finished probes are kept, and the same command resumes.
    #[command(after_help = EXAMPLES)]
    Run(Run),
    /// Measure one probe in this process.
    #[command(hide = true)]
    Measure(Measure),
}

#[derive(Args, Debug)]
pub struct Run {
    /// Folder of the samples.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Probes, repeated or separated by commas; all if left out.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Fewer sizes and repetitions: all of them in less than a minute.
    #[arg(long)]
    pub quick: bool,
    /// GPU to measure, by its number.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub gpu: usize,
    /// Longest time for one probe, such as 60s or 5m; a probe that takes longer is ended, and counts as failed.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = humantime::parse_duration)]
    pub limit: Duration,
    /// How long each point is repeated, such as 100ms: 3 times at least, 21 (with --quick 5) at most. 500ms if left
    /// out, 50ms with --quick.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub point_time: Option<Duration>,
    /// Measure finished probes anew.
    #[arg(long)]
    pub force: bool,
    /// Also open CUPTI, where the loader finds it, to record what the driver does with managed memory.
    #[arg(long)]
    pub cupti: bool,
    /// Print progress as lines of JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct Measure {
    pub probe: String,
    #[arg(long)]
    pub gpu: usize,
    #[arg(long)]
    pub quick: bool,
    #[arg(long)]
    pub cupti: bool,
    #[arg(long, value_parser = humantime::parse_duration)]
    pub point_time: Option<Duration>,
    #[arg(long)]
    pub output: PathBuf,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::{Arguments, Command};

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn limits_have_units_and_names_are_separated_by_commas() {
        let parse = |limit: &str| {
            Arguments::try_parse_from([
                "octavo-probe",
                "run",
                "-o",
                "x",
                "--only",
                "a,b",
                "--only",
                "c",
                "--limit",
                limit,
            ])
        };
        let Command::Run(run) = parse("90s").unwrap().command else { panic!("it runs") };
        assert_eq!((run.limit.as_secs(), run.only), (90, ["a", "b", "c"].map(str::to_owned).to_vec()));
        assert!(parse("90 parsecs").is_err());
    }
}
