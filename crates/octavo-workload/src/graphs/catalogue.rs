//! Published graphs by name: their sizes, and the R-MAT graphs that stand for them. They cannot be shipped; real ones
//! are read from files.

/// A published graph and its replacement.
#[derive(Debug)]
pub struct Named {
    /// Its name in its collection.
    pub name: &'static str,
    /// Vertices.
    pub vertices: u64,
    /// Edges; of an undirected graph, each counted once.
    pub edges: u64,
    /// Whether edges have a direction.
    pub directed: bool,
    /// Shares of the first three quadrants.
    pub quadrants: [f64; 3],
    /// Whether vertices are renamed at random.
    pub shuffled: bool,
    /// The source of the size, and what the quadrants match.
    pub source: &'static str,
}

/// Quadrants of Graph500.
const GRAPH500: [f64; 3] = [0.57, 0.19, 0.19];

/// The graphs of the study of memory harvesting (HUVM, USENIX ATC 2022).
pub const NAMED: &[Named] = &[
    Named {
        name: "soc-twitter-2010",
        vertices: 21_297_772,
        edges: 265_025_809,
        directed: false,
        quadrants: GRAPH500,
        shuffled: true,
        source: "Gunrock's table of data sets; Graph500's quadrants give its largest degree, 698,112",
    },
    Named {
        name: "soc-sinaweibo",
        vertices: 58_655_849,
        edges: 261_321_071,
        directed: false,
        quadrants: [0.56, 0.187, 0.187],
        shuffled: true,
        source: "Gunrock's table of data sets; quadrants from its largest degree, 278,491",
    },
    Named {
        name: "web-uk-2005",
        vertices: 39_459_925,
        edges: 936_364_282,
        directed: true,
        quadrants: [0.45, 0.17, 0.33],
        shuffled: false,
        source: "LAW; quadrants from its largest in-degree, 1,776,858, and out-degree, 5,213; numbered by URL, so not shuffled",
    },
    Named {
        name: "web-ClueWeb09-50m",
        vertices: 428_100_000,
        edges: 446_800_000,
        directed: false,
        quadrants: GRAPH500,
        shuffled: true,
        source: "listings of data sets, rounded; that edges have no direction and Graph500's quadrants are chosen",
    },
    Named {
        name: "wikipedia_link_en13",
        vertices: 27_200_000,
        edges: 543_200_000,
        directed: false,
        quadrants: GRAPH500,
        shuffled: true,
        source: "listings of data sets, rounded; Graph500's quadrants are chosen",
    },
    Named {
        name: "cc12-PayLevelDomain",
        vertices: 43_000_000,
        edges: 623_000_000,
        directed: true,
        quadrants: GRAPH500,
        shuffled: true,
        source: "listings of data sets, rounded; that edges have a direction and Graph500's quadrants are chosen",
    },
];
