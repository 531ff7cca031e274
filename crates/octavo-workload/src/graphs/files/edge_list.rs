//! Lists of edges: two vertices a line, apart by spaces, tabs, commas or semicolons. Lines that begin with `#`, `%` or
//! `//` are comments; those of SNAP and KONECT say whether edges have a direction, as a first line `# directed` does.

use crate::graphs::edges::{Edges, List, Weights};
use crate::graphs::files::compact::compacted;
use crate::graphs::files::once;
use crate::graphs::files::text::{Found, Wrong, number, value};

const BETWEEN: [char; 4] = [' ', '\t', ',', ';'];

/// What comments say.
#[derive(Default)]
struct Said {
    directed: bool,
    /// Vertices and edges of SNAP's header.
    sizes: Option<(usize, u64, u64)>,
}

pub fn parse(text: &str) -> Result<Found, Wrong> {
    let (mut said, mut edges, mut weights, mut notes) = (Said::default(), Vec::new(), Vec::new(), Vec::new());
    let mut columns = None;
    for (line, content) in text.lines().enumerate().map(|(line, content)| (line + 1, content.trim())) {
        if content.is_empty() {
            continue;
        }
        if content.starts_with(['#', '%']) || content.starts_with("//") {
            said.comment(line, content).map_err(|message| (line, message))?;
            continue;
        }
        let words: Vec<&str> = content.split(BETWEEN).filter(|word| !word.is_empty()).collect();
        if columns.is_none() && words.len() >= 2 && words.iter().all(|word| word.starts_with(char::is_alphabetic)) {
            notes.push(format!("line {line} is taken as names of columns"));
        } else {
            let (ends, weight) = edge(&words).map_err(|message| (line, message))?;
            edges.push(ends);
            weights.extend(weight);
            let &mut (first, expected) = columns.get_or_insert((line, words.len()));
            if words.len() != expected {
                let message = format!("expected {expected} columns, as line {first} has, found {}", words.len());
                return Err((line, message));
            }
        }
        columns = columns.or(Some((line, words.len())));
    }
    if is_metis(&edges, text) {
        let message = "expected a list of edges, found lines as METIS has; name a METIS file `.graph`";
        return Err((columns.map_or(1, |(line, _)| line), message.to_owned()));
    }
    said.check(edges.len())?;
    if let Some((_, more @ 3..)) = columns {
        notes.push("column 3 is taken as the weights of edges".to_owned());
        if more > 3 {
            notes.push(format!("columns after 3 (of {more}) are not used"));
        }
    }
    found(&said, edges, &weights, notes)
}

fn found(said: &Said, edges: Vec<(u64, u64)>, weights: &[f64], mut notes: Vec<String>) -> Result<Found, Wrong> {
    let (vertices, mut edges, renumbered) = compacted(edges);
    notes.extend(renumbered);
    if let Some((_, nodes, _)) = said.sizes.filter(|(_, nodes, _)| *nodes != u64::from(vertices)) {
        notes.push(format!("the header counts {nodes} vertices, edges have {vertices}"));
    }
    let weights = Weights::of(said.directed, &edges, weights);
    if !said.directed {
        notes.extend(once::note(once::keep_once(&mut edges)));
    }
    let edges = Edges { vertices, directed: said.directed, list: List::Here(edges), weights };
    Ok(Found { edges, notes })
}

impl Said {
    fn comment(&mut self, line: usize, content: &str) -> Result<(), String> {
        let words: Vec<String> = content
            .split(|one: char| one.is_whitespace() || ":#%,/".contains(one))
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["directed"] if line == 1 => self.directed = true,
            ["directed", "graph", ..] | ["asym", ..] => self.directed = true,
            ["bip", ..] => return Err("expected edges among vertices of one kind, found a bipartite graph".to_owned()),
            ["nodes", nodes, "edges", edges, ..] => {
                let sizes = nodes.parse().ok().zip(edges.parse().ok());
                self.sizes = sizes.map(|(nodes, edges)| (line, nodes, edges));
            }
            _ => {}
        }
        Ok(())
    }

    fn check(&self, found: usize) -> Result<(), Wrong> {
        match self.sizes {
            Some((line, _, edges)) if edges != found as u64 => {
                Err((line, format!("expected {edges} edges, as this line says, found {found}")))
            }
            _ => Ok(()),
        }
    }
}

/// The two ends, and a weight if there is a third column.
fn edge(words: &[&str]) -> Result<((u64, u64), Option<f64>), String> {
    let mut words = words.iter().copied();
    let ends = (number(words.next(), "a vertex")?, number(words.next(), "a vertex")?);
    let weight = words.next().map(|word| value(Some(word), "a weight")).transpose()?;
    Ok((ends, weight))
}

/// Whether lines of two words are a METIS graph: its header, and the number of lines and neighbours that the header
/// announces.
fn is_metis(edges: &[(u64, u64)], text: &str) -> bool {
    let Some(&(vertices, count)) = edges.first() else { return false };
    let rest = &edges[1..];
    let within = |&(one, other): &(u64, u64)| (1..=vertices).contains(&one) && (1..=vertices).contains(&other);
    let lines = || text.lines().filter(|line| !line.trim_start().starts_with(['#', '%'])).count() as u64;
    rest.len() as u64 == count && rest.iter().all(within) && vertices + 1 == lines()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (u32, bool, Vec<(u32, u32)>, usize) {
        let Found { edges, notes } = parse(text).expect("a graph");
        let List::Here(list) = edges.list else { panic!("edges") };
        (edges.vertices, edges.directed, list, notes.len())
    }

    #[test]
    fn edges_and_comments() {
        let edges = vec![(0, 3), (2, 1), (3, 0)];
        assert_eq!(read("# directed\n% more\n\n// and\n0 3\n2,1\n3\t0\n"), (4, true, edges.clone(), 0));
        assert_eq!(read("% asym positive\n0;3;1\n2;1;1\n3;0;2\n"), (4, true, edges, 1));
        assert_eq!(read("# directed\nfrom,to\n0,1\n"), (2, true, vec![(0, 1)], 1));
        assert!(!read("0 1").1);
    }

    #[test]
    fn a_third_column_has_weights() {
        let weights = |text: &str| parse(text).expect("a graph").edges.weights;
        assert_eq!(weights("4 9 0.5\n9 7 3\n").between(2, 1), Some(3.0));
        assert_eq!(weights("4 9 0.5\n9 7 4\n").between(2, 1), Some(4.0));
        assert!(weights("4 9\n9 7\n").is_empty());
    }

    #[test]
    fn the_header_of_snap_says_direction_and_sizes() {
        let text = |kind: &str, edges: u32| format!("# {kind} graph: a.txt\n# Nodes: 3 Edges: {edges}\n5 9\n9 7\n");
        assert_eq!(read(&text("Directed", 2)), (3, true, vec![(0, 2), (2, 1)], 1));
        assert_eq!(read(&text("Undirected", 2)), (3, false, vec![(0, 2), (2, 1)], 1));
        assert_eq!(parse(&text("Directed", 3)).unwrap_err().0, 2);
    }

    #[test]
    fn an_edge_both_ways_counts_once_where_edges_have_no_direction() {
        assert_eq!(read("0 1\n1 0\n1 2\n"), (3, false, vec![(0, 1), (1, 2)], 1));
        assert_eq!(read("# directed\n0 1\n1 0\n1 2\n").2.len(), 3);
    }

    #[test]
    fn other_formats_are_no_lists() {
        for (line, text) in [
            (2, "0 1\n0 1 2\n"),
            (1, "3 3\n2 3\n1 3\n1 2\n"),
            (1, "% bip\n1 1\n"),
            (1, "0 1 x\n"),
            (1, "-1 0\n"),
            (3, "a b\n0 1\nc d\n"),
        ] {
            assert_eq!(parse(text).unwrap_err().0, line, "{text}");
        }
    }
}
