//! METIS and Chaco (`.graph`): a header `vertices edges [format [weights]]`, then a line for each vertex with its
//! neighbours, from 1; a vertex without any has an empty line. Each edge stands in two lines.
//!
//! Source: METIS 5.1 manual, section 4.1.

use crate::graphs::edges::{Edges, List, Weights};
use crate::graphs::files::text::{Found, Wrong, end, number, value, vertices, within};

/// What the header says.
struct Header {
    vertices: u64,
    edges: u64,
    /// Numbers of a line before its neighbours.
    before: u64,
    /// Whether a weight follows each neighbour.
    weighted: bool,
}

pub fn parse(text: &str) -> Result<Found, Wrong> {
    let mut lines = text.lines().enumerate().map(|(line, content)| (line + 1, content.trim()));
    let mut lines = lines.by_ref().filter(|(_, content)| !content.starts_with('%'));
    let Some((first, words)) = lines.find(|(_, content)| !content.is_empty()) else {
        return Err((1, "expected `vertices edges`, found the end of the file".to_owned()));
    };
    let header = Header::of(words).map_err(|message| (first, message))?;
    let (mut arcs, mut weights) = (Vec::new(), Vec::new());
    let (mut vertex, mut last) = (0, first);
    for (line, content) in lines {
        if vertex == header.vertices {
            end(content.split_ascii_whitespace().next()).map_err(|_| {
                (line, format!("expected {vertex} lines of vertices, as line {first} says, found another"))
            })?;
            continue;
        }
        header.neighbours(vertex as u32, content, &mut arcs, &mut weights).map_err(|message| (line, message))?;
        (vertex, last) = (vertex + 1, line);
    }
    if vertex != header.vertices {
        return Err((
            last,
            format!("expected {} lines of vertices, as line {first} says, found {vertex}", header.vertices),
        ));
    }
    let weights = same_both_ways(&arcs, &weights).map_err(|message| (first, message))?;
    let edges = both_ways(arcs, header.edges).map_err(|message| (first, message))?;
    let edges = Edges { vertices: header.vertices as u32, directed: false, list: List::Here(edges), weights };
    Ok(Found { edges, notes: header.notes() })
}

impl Header {
    fn of(content: &str) -> Result<Self, String> {
        let mut words = content.split_ascii_whitespace();
        let (vertices, edges) = (vertices(words.next())?, number(words.next(), "a number of edges")?);
        let format = words.next().unwrap_or("0");
        let flags = number(Some(format), "a format of three digits, each 0 or 1")?;
        let digits = [flags / 100, flags / 10 % 10, flags % 10];
        if digits.iter().any(|digit| *digit > 1) {
            return Err(format!("expected a format of three digits, each 0 or 1, found `{format}`"));
        }
        let weights = words.next().map_or(Ok(1), |word| number(Some(word), "a number of weights of each vertex"))?;
        end(words.next())?;
        let before = digits[0] + if digits[1] == 1 { weights } else { 0 };
        Ok(Self { vertices, edges, before, weighted: digits[2] == 1 })
    }

    fn neighbours(
        &self,
        vertex: u32,
        content: &str,
        arcs: &mut Vec<(u32, u32)>,
        weights: &mut Vec<f64>,
    ) -> Result<(), String> {
        let mut words = content.split_ascii_whitespace();
        for _ in 0..self.before {
            value(words.next(), "a size or weight of the vertex")?;
        }
        while let Some(word) = words.next() {
            let neighbour = within(number(Some(word), "a vertex")?, self.vertices)?;
            if neighbour == vertex {
                return Err(format!("expected neighbours, found vertex {} itself", vertex + 1));
            }
            arcs.push((vertex, neighbour));
            if self.weighted {
                weights.push(value(words.next(), "the weight of an edge")?);
            }
        }
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        let of_vertices = (self.before > 0).then_some("sizes and weights of vertices are not used");
        of_vertices.into_iter().map(str::to_owned).collect()
    }
}

/// Weights of edges, which stand at both arcs.
fn same_both_ways(arcs: &[(u32, u32)], values: &[f64]) -> Result<Weights, String> {
    let weights = Weights::of(false, arcs, values);
    let differs = |((from, to), value): &(&(u32, u32), &f64)| weights.between(*from, *to) != Some(**value as f32);
    match arcs.iter().zip(values).find(differs) {
        Some(((from, to), value)) => {
            let (one, other) = (from + 1, to + 1);
            Err(format!(
                "expected the same weight in both lines of the edge of {one} and {other}, found {value} in one"
            ))
        }
        None => Ok(weights),
    }
}

/// Edges of arcs that stand both ways.
fn both_ways(arcs: Vec<(u32, u32)>, edges: u64) -> Result<Vec<(u32, u32)>, String> {
    if Some(arcs.len() as u64) != edges.checked_mul(2) {
        return Err(format!("expected each of {edges} edges in two lines, found {} neighbours", arcs.len()));
    }
    let (mut up, mut down): (Vec<_>, Vec<_>) = arcs.into_iter().partition(|(from, to)| from < to);
    down.iter_mut().for_each(|arc| *arc = (arc.1, arc.0));
    up.sort_unstable();
    down.sort_unstable();
    // The first difference of two sorted lists is an arc that the other does not have.
    let other = up.iter().zip(&down).find(|(one, other)| one != other).map(|(one, other)| one.min(other));
    let alone = other.or_else(|| up.get(down.len())).or_else(|| down.get(up.len()));
    match alone {
        Some((one, other)) => {
            Err(format!("expected each edge in two lines, found that of {} and {} in one", one + 1, other + 1))
        }
        None => Ok(up),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (u32, Vec<(u32, u32)>, usize) {
        let Found { edges, notes } = parse(text).expect("a graph");
        let List::Here(list) = edges.list else { panic!("edges") };
        (edges.vertices, list, notes.len())
    }

    #[test]
    fn weights_isolated_vertices_and_comments() {
        let edges = vec![(0, 1), (1, 3)];
        assert_eq!(read("% a path\n4 2\n2\n1 4\n\n2\n"), (4, edges.clone(), 0));
        assert_eq!(read("4 2 1\n2 7\n1 7 4 9\n\n2 9\n\n"), (4, edges.clone(), 0));
        assert_eq!(parse("4 2 1\n2 7\n1 7 4 9\n\n2 8\n\n").unwrap_err().0, 1);
        assert_eq!(read("4 2 011 2\n5 5 2 7\n5 5 1 7 4 9\n5 5\n5 5 2 9\n"), (4, edges.clone(), 1));
        assert_eq!(read("4 2 100\n1 2\n1 1 4\n1\n1 2\n"), (4, edges, 1));
    }

    #[test]
    fn what_does_not_add_up_is_refused() {
        let wrong = |text: &str| parse(text).unwrap_err();
        for (line, text) in [
            (1, "3 2\n2\n1 3\n\n"),
            (1, "3 2\n2\n1 3\n1\n"),
            (2, "2 1\n0\n1\n"),
            (3, "2 1\n2\n3\n"),
            (2, "2 1\n1\n1\n"),
            (2, "2 1\n2\n"),
            (4, "2 1\n2\n1\n1\n"),
            (1, "2 1 7\n2\n1\n"),
            (2, "2 1 1\n2\n1\n"),
        ] {
            assert_eq!(wrong(text).0, line, "{text}: {:?}", wrong(text));
        }
    }
}
