//! Launches recorded once and repeated as one.

use cudarc::driver::{result, sys};

use crate::driver::stream::Stream;
use crate::error::{Called, GpuError};

/// The recorded work of a stream.
pub(crate) struct Graph {
    graph: sys::CUgraph,
    ready: sys::CUgraphExec,
}

impl Graph {
    /// Records the work that `work` puts into the stream, without running it.
    pub(crate) fn record(stream: &Stream, work: impl FnOnce() -> Result<(), GpuError>) -> Result<Self, GpuError> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is alive, and recording ends below whatever `work` does.
        unsafe { result::stream::begin_capture(stream.handle(), mode) }.called("cuStreamBeginCapture")?;
        let worked = work();
        // SAFETY: recording began above.
        let graph = unsafe { result::stream::end_capture(stream.handle()) }.called("cuStreamEndCapture");
        worked?;
        let graph = graph?;
        let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        // SAFETY: the graph was made just now.
        match unsafe { result::graph::instantiate(graph, flags) }.called("cuGraphInstantiate") {
            Ok(ready) => Ok(Self { graph, ready }),
            Err(error) => {
                // SAFETY: destroyed once.
                let _ = unsafe { result::graph::destroy(graph) };
                Err(error)
            }
        }
    }

    /// Puts all of it into the stream.
    pub(crate) fn launch(&self, stream: &Stream) -> Result<(), GpuError> {
        // SAFETY: graph and stream are alive.
        unsafe { result::graph::launch(self.ready, stream.handle()) }.called("cuGraphLaunch")
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: destroyed once.
        let _ = unsafe { result::graph::exec_destroy(self.ready) };
        // SAFETY: destroyed once.
        let _ = unsafe { result::graph::destroy(self.graph) };
    }
}
