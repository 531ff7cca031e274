//! A process that measures one probe, and the time it has for that.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::messages::Told;

/// How long a killed process may take to end: one that waits for the driver cannot end before the driver answers.
const GRACE: Duration = Duration::from_secs(5);

/// Runs it to its end, or to the end of its time; how many rows it wrote, or why it did not.
pub fn run(mut command: Command, limit: Duration, step: &mut dyn FnMut(usize, usize, &str)) -> Result<usize, String> {
    let ends = Instant::now() + limit;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("its process could not be started: {error}"))?;
    let lines = lines_of(child.stdout.take().expect("it was asked for"));
    let result = loop {
        match lines.recv_timeout(ends.saturating_duration_since(Instant::now())) {
            Ok(Told::Step { done, of, what }) => step(done, of, &what),
            Ok(Told::Finished { rows }) => break Ok(rows),
            Ok(Told::Failed { reason }) => break Err(reason),
            Err(RecvTimeoutError::Timeout) => {
                break Err(format!("it took longer than {}, see --limit", humantime::format_duration(limit)));
            }
            Err(RecvTimeoutError::Disconnected) => break Err(ended_early(&mut child)),
        }
    };
    end(&mut child);
    result
}

/// Lines arrive by a thread of their own, as only that lets them be waited for with an end.
fn lines_of(out: ChildStdout) -> Receiver<Told> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut told = BufReader::new(out).lines().map_while(Result::ok).filter_map(|line| Told::heard(&line));
        // A reader that has closed the pipe needs no more.
        let _ = told.try_for_each(|told| sender.send(told));
    });
    receiver
}

fn ended_early(child: &mut Child) -> String {
    let status = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
    format!("its process ended before it had measured everything ({status})")
}

/// Ends it if it has not, and waits for that a while.
fn end(child: &mut Child) {
    let _ = child.kill();
    let began = Instant::now();
    while began.elapsed() < GRACE && matches!(child.try_wait(), Ok(None)) {
        thread::sleep(Duration::from_millis(10));
    }
}
