//! Decodes every row group of traces and prints how fast: `cargo run --release --example decode -- TRACE...`.

use std::path::Path;
use std::time::Instant;

use octavo_trace::{RowRules, TraceError, TraceReader};

fn main() -> Result<(), TraceError> {
    for path in std::env::args().skip(1) {
        let opened = Instant::now();
        let reader = TraceReader::open(Path::new(&path))?;
        let open = opened.elapsed();
        let started = Instant::now();
        let (mut rows, mut lines) = (0, 0);
        let mut rules = RowRules::new(reader.header().lanes);
        for group in 0..reader.row_groups() {
            let decoded = reader.rows(group)?;
            rows += decoded.len();
            lines += decoded.touched();
            if std::env::var_os("CHECK").is_some() {
                for (index, row) in decoded.iter().enumerate() {
                    let number = reader.first_row(group) + index as u64;
                    rules.take(&row).map_err(|reason| TraceError::at(reader.instructions_path(), number, reason))?;
                }
            }
        }
        let seconds = started.elapsed().as_secs_f64();
        println!(
            "{path}: {rows} rows, {lines} lines in {:.1} ms ({:.1} M lines/s, {:.1} M rows/s), opened in {open:?}",
            seconds * 1e3,
            lines as f64 / seconds / 1e6,
            rows as f64 / seconds / 1e6
        );
    }
    Ok(())
}
