//! DIMACS: `c` lines are comments, `p KIND vertices edges` says the sizes, then a line for each edge, vertices from 1:
//! `a FROM TO WEIGHT` of shortest paths (`p sp`) and flows (`p max`), `e ONE OTHER` of colourings (`p edge`, `p col`).
//!
//! Source: the 9th DIMACS challenge (`.gr`), and the first and second (`.max`, `.col`).

use crate::graphs::edges::{Edges, List, Weights};
use crate::graphs::files::once;
use crate::graphs::files::text::{Found, Wrong, end, number, value, vertices, within};

/// Whether a text begins with such a header.
pub fn is_one(text: &str) -> bool {
    let is_comment = |line: &&str| line.is_empty() || *line == "c" || line.starts_with("c ");
    text.lines().map(str::trim).find(|line| !is_comment(line)).is_some_and(|line| line.starts_with("p "))
}

/// What the header says.
struct Header {
    line: usize,
    directed: bool,
    /// Whether numbers of edges are what they can carry, not how long they are.
    flows: bool,
    vertices: u64,
    edges: u64,
}

pub fn parse(text: &str) -> Result<Found, Wrong> {
    let mut header: Option<Header> = None;
    let (mut edges, mut weights) = (Vec::new(), Vec::new());
    for (line, content) in text.lines().enumerate().map(|(line, content)| (line + 1, content.trim())) {
        let mut words = content.split_ascii_whitespace();
        let place = |message: String| (line, message);
        match (words.next(), &header) {
            (None | Some("c"), _) => {}
            (Some("p"), None) => header = Some(Header::of(line, words).map_err(place)?),
            // Where a flow begins and ends.
            (Some("n"), Some(header)) if header.directed => {}
            (Some(kind @ ("a" | "e")), Some(header)) if header.directed == (kind == "a") => {
                let mut vertex = || within(number(words.next(), "a vertex")?, header.vertices);
                let edge = vertex().and_then(|from| Ok((from, vertex()?)));
                edges.push(edge.map_err(place)?);
                if let Some(word) = words.next() {
                    weights.push(value(Some(word), "a weight").map_err(place)?);
                }
                end(words.next()).map_err(place)?;
            }
            (Some(_), None) => return Err((line, format!("expected `p KIND vertices edges`, found `{content}`"))),
            (Some(_), Some(header)) => {
                let kind = if header.directed { "a" } else { "e" };
                return Err((line, format!("expected `{kind} VERTEX VERTEX`, found `{content}`")));
            }
        }
    }
    if weights.len() != edges.len() && !weights.is_empty() {
        return Err((1, format!("expected a weight of each of {} edges, found {}", edges.len(), weights.len())));
    }
    found(header, edges, &weights)
}

fn found(header: Option<Header>, mut edges: Vec<(u32, u32)>, weights: &[f64]) -> Result<Found, Wrong> {
    let header = header.ok_or((1, "expected `p KIND vertices edges`, found the end of the file".to_owned()))?;
    if edges.len() as u64 != header.edges {
        return Err((
            header.line,
            format!("expected {} edges, as this line says, found {}", header.edges, edges.len()),
        ));
    }
    let mut notes = Vec::new();
    let weights = if header.flows && !weights.is_empty() {
        notes.push("capacities of edges are not used".to_owned());
        Weights::default()
    } else {
        Weights::of(header.directed, &edges, weights)
    };
    if !header.directed {
        notes.extend(once::note(once::keep_once(&mut edges)));
    }
    let edges = Edges { vertices: header.vertices as u32, directed: header.directed, list: List::Here(edges), weights };
    Ok(Found { edges, notes })
}

impl Header {
    fn of<'a>(line: usize, mut words: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let (directed, flows) = match words.next() {
            Some("sp") => (true, false),
            Some("max") => (true, true),
            Some("edge" | "edges" | "col") => (false, false),
            found => {
                return Err(format!("expected `sp`, `max`, `edge` or `col`, found `{}`", found.unwrap_or_default()));
            }
        };
        let (vertices, edges) = (vertices(words.next())?, number(words.next(), "a number of edges")?);
        end(words.next())?;
        Ok(Self { line, directed, flows, vertices, edges })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_directions_and_colourings_have_none() {
        let found = parse("c roads\np sp 3 2\na 1 2 8\na 3 2 1\n").expect("a graph");
        let Edges { directed, list, weights, .. } = found.edges;
        assert!(directed && list == List::Here(vec![(0, 1), (2, 1)]) && weights.between(0, 1).is_some());
        assert_eq!(found.notes.len(), 0);
        let found = parse("p edge 3 3\ne 1 2\ne 2 1\ne 3 2\n").expect("a graph");
        let list = List::Here(vec![(0, 1), (1, 2)]);
        assert_eq!(found.edges, Edges { vertices: 3, directed: false, list, weights: Weights::default() });
        assert_eq!(found.notes.len(), 1, "an edge both ways");
        assert!(is_one("c x\n\np sp 1 1\n") && !is_one("1 2\n"));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (line, text) in [
            (1, "p sp 3 2\na 1 2 8\n"),
            (1, "a 1 2 8\n"),
            (1, "p cut 3 2\n"),
            (2, "p sp 3 1\na 0 1 1\n"),
            (2, "p sp 3 1\ne 1 2\n"),
            (2, "p sp 3 1\na 1 2 x\n"),
            (1, ""),
        ] {
            assert_eq!(parse(text).unwrap_err().0, line, "{text}");
        }
    }
}
