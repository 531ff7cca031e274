//! Matrix Market: a header, the sizes, then one entry a line, vertices from 1. Entry (i, j) is an edge from i to j; of
//! symmetric matrices, an edge without direction.

use crate::graphs::edges::{Edges, List};
use crate::graphs::files::text::{Wrong, number};

pub fn parse(text: &str) -> Result<Edges, Wrong> {
    let mut lines = text.lines().enumerate().map(|(line, content)| (line + 1, content.trim()));
    let header = lines.next().map_or("", |(_, header)| header);
    let directed = direction(header).map_err(|message| (1, message))?;
    let mut contents = lines.filter(|(_, content)| !content.is_empty() && !content.starts_with('%'));
    let Some((line, sizes)) = contents.next() else {
        return Err((text.lines().count(), "expected rows, columns and entries, found the end of the file".to_owned()));
    };
    let (vertices, entries) = sizes_of(sizes).map_err(|message| (line, message))?;
    let mut edges = Vec::new();
    let mut last = line;
    for (line, content) in contents {
        let mut words = content.split_ascii_whitespace();
        let mut vertex = || within(number(words.next(), "a vertex")?, vertices);
        let mut edge = || Ok((vertex()?, vertex()?));
        edges.push(edge().map_err(|message| (line, message))?);
        last = line;
    }
    if edges.len() as u64 != entries {
        return Err((last, format!("expected {entries} entries, found {}", edges.len())));
    }
    Ok(Edges { vertices: vertices as u32, directed, list: List::Here(edges) })
}

fn direction(header: &str) -> Result<bool, String> {
    let words: Vec<String> = header.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["%%matrixmarket", "matrix", "coordinate", _, "general"] => Ok(true),
        ["%%matrixmarket", "matrix", "coordinate", _, "symmetric"] => Ok(false),
        _ => Err(format!(
            "expected `%%MatrixMarket matrix coordinate`, a kind of number, and `general` or `symmetric`, found `{header}`"
        )),
    }
}

fn sizes_of(content: &str) -> Result<(u64, u64), String> {
    let mut words = content.split_ascii_whitespace();
    let mut next = |what| number(words.next(), what);
    let (rows, columns, entries) = (next("rows")?, next("columns")?, next("entries")?);
    if rows != columns || rows > 1 << 31 {
        return Err(format!("expected as many rows as columns, at most 2^31, found {rows} and {columns}"));
    }
    Ok((rows, entries))
}

fn within(vertex: u64, vertices: u64) -> Result<u32, String> {
    if (1..=vertices).contains(&vertex) {
        return Ok((vertex - 1) as u32);
    }
    Err(format!("expected a vertex from 1 to {vertices}, found {vertex}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "%%MatrixMarket matrix coordinate pattern symmetric\n% comment\n";

    #[test]
    fn symmetric_matrices_are_graphs_without_direction() {
        let parsed = parse(&format!("{HEADER}4 4 2\n2 1\n4 1\n")).expect("a graph");
        assert_eq!(parsed, Edges { vertices: 4, directed: false, list: List::Here(vec![(1, 0), (3, 0)]) });
        let general = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 0.5\n";
        assert!(parse(general).expect("a graph").directed);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |rest: &str| parse(&format!("{HEADER}{rest}")).unwrap_err();
        assert_eq!(wrong("4 4 1\n5 1\n"), (4, "expected a vertex from 1 to 4, found 5".to_owned()));
        assert_eq!(wrong("4 4 1\n0 1\n"), (4, "expected a vertex from 1 to 4, found 0".to_owned()));
        assert_eq!(wrong("4 4 3\n1 2\n"), (4, "expected 3 entries, found 1".to_owned()));
        assert_eq!(wrong("4 5 1\n").1, "expected as many rows as columns, at most 2^31, found 4 and 5");
        assert_eq!(wrong("").0, 2);
        assert!(parse("%%MatrixMarket matrix array real general\n").unwrap_err().1.starts_with("expected `%%Matrix"));
    }
}
