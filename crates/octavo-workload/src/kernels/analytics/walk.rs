//! A launch over all rows and their edges, edge-balanced: what each wavefront does from the search for its share on.

use std::ops::Range;

use octavo_program::{Buffer, Cursor, Op, OpSink};

use super::balance::{LANES, Parts, Share};
use super::cost;
use crate::emit::{load_lanes, parts, push_all};

/// A wavefront's work on its share.
pub trait Visit {
    /// Parts of a turn over one edge for each lane, each of at most one access by lanes.
    const PARTS: u32;

    /// Before the edges: what rows of the share need.
    fn rows(&self, share: &Share, out: &mut OpSink<'_>);

    /// One part of a turn over some of its edges, none of which lies before row `from`.
    fn edges(&self, from: u32, edges: Range<u32>, part: u32, out: &mut OpSink<'_>);

    /// Behind the edges.
    fn close(&self, _share: &Share, _out: &mut OpSink<'_>) {}
}

/// The share is found, looked up once and kept in the cursor.
pub fn walk<V: Visit>(
    (all, ends): (Parts<'_>, &Buffer),
    wavefront: u32,
    cursor: &mut Cursor,
    out: &mut OpSink<'_>,
    visit: &V,
) {
    if cursor.0[0] == 0 {
        let Share { rows, edges } = all.share(wavefront.into());
        cursor.0[1..].copy_from_slice(&[rows.start, rows.end, edges.start]);
    }
    let share = all.rest_of(cursor.0[1]..cursor.0[2], cursor.0[3]);
    let (search, turns) = (all.search_steps(), (share.edges.len() as u32).div_ceil(LANES) * V::PARTS);
    parts(cursor, out, |part, out| match part {
        _ if share.rows.is_empty() && share.edges.is_empty() => out.push(Op::END),
        part if part < search => look(all, ends, (wavefront, part), out),
        part if part == search => visit.rows(&share, out),
        part if part - search <= turns => turn(visit, &share, part - search - 1, out),
        part if part - search == turns + 1 => visit.close(&share, out),
        _ => out.push(Op::END),
    });
}

fn turn<V: Visit>(visit: &V, share: &Share, number: u32, out: &mut OpSink<'_>) {
    let first = share.edges.start + number / V::PARTS * LANES;
    let edges = first..share.edges.end.min(first + LANES);
    visit.edges(share.rows.start, edges, number % V::PARTS, out);
}

/// One step of the search, in the rows' ends.
fn look(all: Parts<'_>, ends: &Buffer, (wavefront, step): (u32, u32), out: &mut OpSink<'_>) {
    let before = out.len();
    load_lanes(out, all.looked_at(wavefront.into(), step).map(|row| ends.at(u64::from(row) + 1, 4)));
    if out.len() > before {
        push_all(out, &[Op::WAIT, cost::SEARCH]);
    }
}
