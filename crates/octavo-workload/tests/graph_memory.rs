//! The memory of graph programs, by entry of the rows and by vertex: graphs of 10^9 edges have to fit 16 GB.

#![allow(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use octavo_program::{Size, Workload};
use octavo_workload::graphs::choice::{DrawnGraph, GraphChoice};
use octavo_workload::kernels::analytics::pagerank::{PageRank, PageRankOptions};

/// Counts bytes in use, and their maximum.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, shape: Layout) -> *mut u8 {
        let used = USED.fetch_add(shape.size(), Ordering::Relaxed) + shape.size();
        PEAK.fetch_max(used, Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(shape) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, shape: Layout) {
        USED.fetch_sub(shape.size(), Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, shape) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Whatever does not grow with the graph.
const REST: usize = 64 << 10;

/// Most bytes while the program is built, and bytes that it keeps.
fn built(vertices: u64, edges: u64) -> (usize, usize) {
    let graph = DrawnGraph {
        vertices,
        edges,
        directed: true,
        quadrants: [0.57, 0.19, 0.19],
        shuffled: true,
        parts: 1,
        largest: None,
    };
    let options = PageRankOptions { graph: GraphChoice::Drawn(graph), rounds: 2, ..PageRankOptions::default() };
    let drawn = options.graph.edges(&Size { scale: 1.0, seed: 1 }).expect("a graph");
    let before = USED.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let program = PageRank::new(&options, &drawn).expect("ranks");
    assert_eq!(program.launches(), 5, "it has two rounds");
    (PEAK.load(Ordering::Relaxed) - before, USED.load(Ordering::Relaxed) - before)
}

/// Four bytes for each entry; for each vertex its first entry, its rank, its share, and the number of its outgoing
/// edges. So 10^9 edges of
/// 62.5 million vertices take 5.5 GB.
#[test]
fn page_rank_takes_four_bytes_an_edge_and_twenty_four_a_vertex() {
    for (vertices, edges) in [(1000, 1_000_000), (300_000, 400_000)] {
        let (most, kept) = built(vertices, edges);
        let (vertices, edges) = (vertices as usize, edges as usize);
        assert!(most <= 4 * edges + 24 * vertices + REST, "{most} bytes for {edges} edges of {vertices} vertices");
        assert!(kept <= 4 * edges + 12 * vertices + REST, "{kept} bytes are kept");
    }
}
