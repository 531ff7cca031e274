//! Lists of edges: two vertices a line, from 0, apart by spaces, tabs or commas; lines that begin with `#` or `%` count
//! for nothing, nor does what follows in a line. Edges have no direction unless the first line is `# directed`.

use crate::graphs::edges::{Edges, List};
use crate::graphs::files::text::{Wrong, number};

pub fn parse(text: &str) -> Result<Edges, Wrong> {
    let mut edges = Vec::new();
    let mut vertices = 0;
    for (line, content) in text.lines().enumerate() {
        let content = content.trim();
        if content.is_empty() || content.starts_with(['#', '%']) {
            continue;
        }
        let [from, to] = ends(content).map_err(|message| (line + 1, message))?;
        vertices = vertices.max(from + 1).max(to + 1);
        edges.push((from, to));
    }
    let directed = text.lines().next().is_some_and(|line| line.trim() == "# directed");
    Ok(Edges { vertices, directed, list: List::Here(edges) })
}

fn ends(content: &str) -> Result<[u32; 2], String> {
    let mut words = content.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    let mut vertex = || {
        let found = number(words.next(), "a vertex")?;
        u32::try_from(found)
            .ok()
            .filter(|&vertex| vertex < 1 << 31)
            .ok_or(format!("expected a vertex below 2^31, found {found}"))
    };
    Ok([vertex()?, vertex()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_and_comments() {
        let parsed = parse("# directed\n% more\n\n0 3 0.5\n2,1\n3\t0\n").expect("a graph");
        assert_eq!(parsed, Edges { vertices: 4, directed: true, list: List::Here(vec![(0, 3), (2, 1), (3, 0)]) });
        assert!(!parse("0 1").expect("a graph").directed);
        assert_eq!(
            parse("0 1\n0 4294967296").unwrap_err(),
            (2, "expected a vertex below 2^31, found 4294967296".to_owned())
        );
    }
}
