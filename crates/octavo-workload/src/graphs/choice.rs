//! The graph that a user names.

use octavo_program::Size;
use octavo_registry::{OptionError, nearest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graphs::catalogue::{NAMED, Named};
use crate::graphs::edges::{Edges, List, MOST_ARCS, Weights};
use crate::graphs::files;
use crate::graphs::rmat::Rmat;
use crate::random::mixed;
use crate::{notes, scale};

/// Most vertices.
const MOST_VERTICES: u64 = 1 << 31;

/// A published graph by name, one of one's own, or a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum GraphChoice {
    /// The name of a published graph, which is drawn at its size times the scale, or a file (a name with a `/` or a
    /// suffix), which is read as it is: Matrix Market (`.mtx`), rows in `.npz`, METIS (`.graph`), DIMACS (`.gr`, `.col`)
    /// or a list of edges (`.txt`, `.csv`, …), also packed (`.gz`, `.zst`).
    Name(String),
    /// A graph that is drawn as given, at any scale.
    Drawn(DrawnGraph),
}

/// An R-MAT graph of one's own, or several without an edge between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrawnGraph {
    /// Vertices, 2 to 2^31.
    pub vertices: u64,
    /// Edges, at least 1.
    pub edges: u64,
    /// Whether edges have a direction. Default `false`.
    #[serde(default)]
    pub directed: bool,
    /// Shares of the quadrants upper left, upper right and lower left. Default 0.57, 0.19, 0.19 (Graph500).
    #[serde(default = "graph500")]
    pub quadrants: [f64; 3],
    /// Whether vertices are renamed at random, each within its part. Default `true` (Graph500).
    #[serde(default = "yes")]
    pub shuffled: bool,
    /// Parts without an edge between them, each an R-MAT graph whose vertices are numbered one after another, at least
    /// 1. Vertices that no edge meets are components of their own besides. Default 1.
    #[serde(default = "one")]
    pub parts: u64,
    /// Share of vertices and edges in the first part, above 0; the other parts are alike. Default: all parts are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest: Option<f64>,
}

fn graph500() -> [f64; 3] {
    [0.57, 0.19, 0.19]
}

fn yes() -> bool {
    true
}

fn one() -> u64 {
    1
}

impl Default for GraphChoice {
    fn default() -> Self {
        Self::Name(NAMED[0].name.to_owned())
    }
}

impl GraphChoice {
    /// The edges, for a size; of weights in a file, a note says that they are not used.
    ///
    /// # Errors
    /// Names that stand for nothing, sizes that cannot be, files that cannot be read.
    pub fn edges(&self, size: &Size) -> Result<Edges, OptionError> {
        let mut edges = self.weighted(size)?;
        if let (Self::Name(name), false) = (self, edges.weights.is_empty()) {
            notes::add(name, "weights of edges are not used");
            edges.weights = Weights::default();
        }
        Ok(edges)
    }

    /// The edges, for a size, with the weights that a file gives.
    ///
    /// # Errors
    /// As [`Self::edges`].
    pub fn weighted(&self, size: &Size) -> Result<Edges, OptionError> {
        match self {
            Self::Name(name) => match NAMED.iter().find(|graph| graph.name == name) {
                Some(graph) => drawn(&at_scale(graph, size.scale)?, size.seed),
                None if files::is_file(name) => {
                    files::read(name).map_err(|why| OptionError::new("graph", why.to_string()))
                }
                None => Err(unknown(name)),
            },
            Self::Drawn(graph) => drawn(graph, size.seed),
        }
    }
}

fn at_scale(graph: &Named, scale: f64) -> Result<DrawnGraph, OptionError> {
    Ok(DrawnGraph {
        vertices: scale::length(graph.vertices, scale, 1)?,
        edges: scale::length(graph.edges, scale, 1)?,
        directed: graph.directed,
        quadrants: graph.quadrants,
        shuffled: graph.shuffled,
        parts: 1,
        largest: None,
    })
}

fn drawn(graph: &DrawnGraph, seed: u64) -> Result<Edges, OptionError> {
    let DrawnGraph { vertices, edges, directed, quadrants, .. } = *graph;
    let refuse = |key: &str, message: String| Err(OptionError::new(&format!("graph.{key}"), message));
    if !(2..=MOST_VERTICES).contains(&vertices) {
        return refuse("vertices", format!("expected 2 to 2^31 vertices, found {vertices}"));
    }
    if edges == 0 || edges > MOST_ARCS / 2 {
        return refuse("edges", format!("expected 1 to 2^31 edges, found {edges}"));
    }
    let rest = 1.0 - quadrants.iter().sum::<f64>();
    // Where one quadrant of the diagonal has everything, each edge would lead from a vertex to itself.
    if quadrants.iter().any(|share| !(0.0..1.0).contains(share)) || rest < -1e-9 || quadrants[1] + quadrants[2] < 0.01 {
        let expected = "expected three shares below 1 that sum up to at most 1, the last two to at least 0.01";
        return refuse("quadrants", format!("{expected}, found {quadrants:?}"));
    }
    let list = List::Drawn(parts(graph, seed)?);
    Ok(Edges { vertices: vertices as u32, directed, list, weights: Weights::default() })
}

/// The graphs that a drawn one consists of, edges shared out as vertices are. One part is the same whatever the others.
fn parts(graph: &DrawnGraph, seed: u64) -> Result<Vec<Rmat>, OptionError> {
    let DrawnGraph { vertices, edges, quadrants, shuffled, parts, largest, .. } = *graph;
    if parts == 0 || parts > vertices / 2 || parts > edges {
        let most = (vertices / 2).min(edges);
        let message = format!("expected 1 to {most} parts of two vertices and an edge at least, found {parts}");
        return Err(OptionError::new("graph.parts", message));
    }
    let first = largest.unwrap_or(1.0 / parts as f64);
    if !(first > 0.0 && (parts > 1 || first == 1.0) && (parts == 1 || first < 1.0)) {
        let expected = if parts == 1 { "1, the share of the only part," } else { "a share above 0 and below 1," };
        return Err(OptionError::new("graph.largest", format!("expected {expected} found {first}")));
    }
    let end = |part: u64, of: u64| match (part, of as f64 * first) {
        (0, _) => 0,
        (part, _) if part == parts => of,
        (part, first) => (first + (of as f64 - first) * (part - 1) as f64 / (parts - 1) as f64).round() as u64,
    };
    (0..parts)
        .map(|part| {
            let [vertices, edges] = [vertices, edges].map(|of| end(part + 1, of) - end(part, of));
            if vertices < 2 || edges == 0 {
                let message =
                    format!("expected parts of two vertices and an edge at least, found one of {vertices} and {edges}");
                return Err(OptionError::new("graph.largest", message));
            }
            let seed = if part == 0 { seed } else { mixed(seed ^ mixed(part)) };
            Ok(Rmat { vertices: vertices as u32, edges, quadrants, shuffled, seed })
        })
        .collect()
}

fn unknown(name: &str) -> OptionError {
    let known: Vec<&str> = NAMED.iter().map(|graph| graph.name).collect();
    let meant =
        nearest(name, known.iter().copied()).map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
    OptionError::new("graph", format!("unknown graph `{name}`, expected one of {} or a file{meant}", known.join(", ")))
}
