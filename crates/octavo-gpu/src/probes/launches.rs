//! Cost of launching a kernel.

use crate::driver::graph::Graph;
use crate::driver::kernel::{Grid, Kernel};
use crate::driver::source::Source;
use crate::error::GpuError;
use crate::session::probe::Probe;
use crate::session::samples::Row;
use crate::session::{Session, host_seconds};

/// Kernel launch overhead, with and without graphs.
pub(crate) struct Launches;

/// Launches timed together; the slope over them is the cost of one.
const QUICK: &[u32] = &[1, 16, 256];
const FULL: &[u32] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

impl Probe for Launches {
    fn name(&self) -> &'static str {
        "launches"
    }

    fn title(&self) -> &'static str {
        "kernel launch overhead, with and without graphs"
    }

    fn about(&self) -> &'static str {
        "An empty kernel of one block is launched 1 to 1024 times into a stream, one by one and as a recorded graph, and \
         waited for once; the host's clock runs from the first launch to the end of the wait. The slope over the number \
         of launches is the cost of one. A single launch with its wait is timed apart."
    }

    fn source(&self) -> Source {
        Source { name: "launches.cu", body: include_str!("launches.cu") }
    }

    fn measure(&self, session: &mut Session<'_>) -> Result<(), GpuError> {
        let counts = session.choose(QUICK, FULL);
        session.steps(2 * counts.len() + 2);
        let empty = session.kernel("empty")?;
        for &count in counts {
            session.step(&format!("{count} launches"))?;
            let row = Row::of("launch").word("how", "stream").count(count.into());
            session.repeat(&row, |session| host_seconds(|| launch_all(session, &empty, count)))?;
        }
        for &count in counts {
            session.step(&format!("a graph of {count} launches"))?;
            let graph = Graph::record(&session.stream, || put_all(session, &empty, count))?;
            let row = Row::of("launch").word("how", "graph").count(count.into());
            session.repeat(&row, |session| host_seconds(|| launch_graph(session, &graph)))?;
        }
        alone(session, &empty)
    }
}

fn alone(session: &mut Session<'_>, empty: &Kernel) -> Result<(), GpuError> {
    session.step("one launch and its wait")?;
    let row = Row::of("launch_wait").word("how", "stream").count(1);
    session.repeat(&row, |session| host_seconds(|| launch_all(session, empty, 1)))?;
    session.step("a graph of one launch and its wait")?;
    let graph = Graph::record(&session.stream, || put_all(session, empty, 1))?;
    let row = Row::of("launch_wait").word("how", "graph").count(1);
    session.repeat(&row, |session| host_seconds(|| launch_graph(session, &graph)))
}

fn put_all(session: &Session<'_>, empty: &Kernel, count: u32) -> Result<(), GpuError> {
    (0..count).try_for_each(|_| empty.launch(&session.stream, Grid::new(1, 32), &[]))
}

fn launch_all(session: &Session<'_>, empty: &Kernel, count: u32) -> Result<(), GpuError> {
    put_all(session, empty, count)?;
    session.stream.wait()
}

fn launch_graph(session: &Session<'_>, graph: &Graph) -> Result<(), GpuError> {
    graph.launch(&session.stream)?;
    session.stream.wait()
}
