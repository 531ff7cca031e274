//! The loads and stores of one level's kernels.

use std::ops::Range;

use octavo_program::{AddressSpace, Buffer, Op, OpSink};

use super::communities::Level;
use crate::emit::{load_lanes, load_span, push_all, store_lanes, store_span};
use crate::kernels::analytics::balance::{Parts, Share};
use crate::kernels::analytics::cost;
use crate::kernels::analytics::walk::Visit;

pub const WORD: u64 = 4;

/// The arrays of a level.
pub struct Arrays {
    pub offsets: Buffer,
    neighbours: Buffer,
    weights: Buffer,
    /// By vertex: the sum of its arcs' weights, its community, where it wants to go.
    degrees: Buffer,
    pub communities: Buffer,
    best: Buffer,
    /// By community: the sum of its vertices' degrees.
    totals: Buffer,
}

impl Arrays {
    /// Buffers of the first level have names without a number.
    pub fn new(level: &Level, number: usize, space: &mut AddressSpace) -> Self {
        let (vertices, arcs) = (u64::from(level.rows.nodes()), (level.rows.edges.len() as u64).max(1));
        let mut allocate = |name: &str, count: u64| {
            let name = if number == 0 { name.to_owned() } else { format!("{name}_{number}") };
            space.allocate(&name, count * WORD)
        };
        Self {
            offsets: allocate("offsets", vertices + 1),
            neighbours: allocate("neighbours", arcs),
            weights: allocate("weights", arcs),
            degrees: allocate("degrees", vertices),
            communities: allocate("communities", vertices),
            best: allocate("best", vertices),
            totals: allocate("totals", vertices),
        }
    }

    /// The graph.
    pub fn graph(&self) -> [&Buffer; 3] {
        [&self.offsets, &self.neighbours, &self.weights]
    }

    /// The buffers that only the GPUs use.
    pub fn own(&self) -> [&Buffer; 4] {
        [&self.degrees, &self.communities, &self.best, &self.totals]
    }

    /// Every vertex is a community of its own.
    pub fn start(&self, lanes: &Range<u32>, out: &mut OpSink<'_>) {
        if lanes.is_empty() {
            return;
        }
        load_span(out, self.degrees.at(lanes.start.into(), WORD), span(lanes));
        push_all(out, &[Op::WAIT, cost::VERTEX]);
        store_span(out, self.communities.at(lanes.start.into(), WORD), span(lanes));
        store_span(out, self.totals.at(lanes.start.into(), WORD), span(lanes));
    }

    /// Vertices that go elsewhere say so, and change the totals of both communities.
    pub fn moves(&self, before: &[u32], after: &[u32], lanes: &Range<u32>, part: u32, out: &mut OpSink<'_>) {
        let who = lanes.clone().filter(|&vertex| before[vertex as usize] != after[vertex as usize]);
        let total = |community: u32| self.totals.at(community.into(), WORD);
        match part {
            _ if lanes.is_empty() => {}
            0 => {
                for buffer in [&self.best, &self.communities, &self.degrees] {
                    load_span(out, buffer.at(lanes.start.into(), WORD), span(lanes));
                }
                push_all(out, &[Op::WAIT, cost::VERTEX]);
                store_lanes(out, who.map(|vertex| self.communities.at(vertex.into(), WORD)), WORD);
            }
            1 => store_lanes(out, who.map(|vertex| total(before[vertex as usize])), WORD),
            _ => store_lanes(out, who.map(|vertex| total(after[vertex as usize])), WORD),
        }
    }

    fn load_rows(&self, level: &Level, Share { rows, .. }: &Share, out: &mut OpSink<'_>) -> u64 {
        out.push(cost::SET_UP);
        let count = u64::from((rows.end + 1).min(level.rows.nodes()) - rows.start);
        load_span(out, self.offsets.at(rows.start.into(), WORD), (count + 1) * WORD);
        count
    }

    fn store_rows(&self, buffer: &Buffer, level: &Level, Share { rows, edges }: &Share, out: &mut OpSink<'_>) {
        let all = Parts::new(&level.rows.offsets);
        out.push(cost::CLOSE);
        if !rows.is_empty() {
            store_span(out, buffer.at(rows.start.into(), WORD), span(rows));
        }
        if rows.end < all.rows() && edges.end > all.first(rows.end) && !edges.is_empty() {
            store_lanes(out, [buffer.at(rows.end.into(), WORD)], WORD);
        }
    }
}

/// `weigh`: the weights of each row are summed up.
pub struct Weigh<'a>(pub &'a Level, pub &'a Arrays);

impl Visit for Weigh<'_> {
    const PARTS: u32 = 1;

    fn rows(&self, share: &Share, out: &mut OpSink<'_>) {
        self.1.load_rows(self.0, share, out);
        out.push(Op::WAIT);
    }

    fn edges(&self, _from: u32, edges: Range<u32>, _part: u32, out: &mut OpSink<'_>) {
        load_span(out, self.1.weights.at(edges.start.into(), WORD), span(&edges));
        push_all(out, &[Op::WAIT, cost::REDUCE]);
    }

    fn close(&self, share: &Share, out: &mut OpSink<'_>) {
        self.1.store_rows(&self.1.degrees, self.0, share, out);
    }
}

/// `gather`: arcs are summed up by the community that they lead to, in local memory, and the best one is stored.
pub struct Gather<'a> {
    pub level: &'a Level,
    pub arrays: &'a Arrays,
    /// Communities before the round.
    pub before: &'a [u32],
}

impl Visit for Gather<'_> {
    const PARTS: u32 = 2;

    fn rows(&self, share: &Share, out: &mut OpSink<'_>) {
        let count = self.arrays.load_rows(self.level, share, out);
        for buffer in [&self.arrays.degrees, &self.arrays.communities] {
            load_span(out, buffer.at(share.rows.start.into(), WORD), count * WORD);
        }
        out.push(Op::WAIT);
    }

    fn edges(&self, _from: u32, edges: Range<u32>, part: u32, out: &mut OpSink<'_>) {
        let neighbours = &self.level.rows.edges[edges.start as usize..edges.end as usize];
        if part == 0 {
            for buffer in [&self.arrays.weights, &self.arrays.neighbours] {
                load_span(out, buffer.at(edges.start.into(), WORD), span(&edges));
            }
            push_all(out, &[Op::WAIT, cost::ADDRESS]);
            load_lanes(out, neighbours.iter().map(|&vertex| self.arrays.communities.at(vertex.into(), WORD)));
            push_all(out, &[Op::WAIT, cost::ADDRESS]);
        } else {
            let community = |&vertex: &u32| u64::from(self.before[vertex as usize]);
            load_lanes(out, neighbours.iter().map(|vertex| self.arrays.totals.at(community(vertex), WORD)));
            push_all(out, &[Op::WAIT, cost::REDUCE]);
        }
    }

    fn close(&self, share: &Share, out: &mut OpSink<'_>) {
        self.arrays.store_rows(&self.arrays.best, self.level, share, out);
    }
}

/// `contract`: each arc joins that of the next level's graph which it becomes a part of, found by hashing: its end is
/// stored, and its weight added.
pub struct Contract<'a> {
    pub level: &'a Level,
    pub arrays: &'a Arrays,
    pub next: (&'a Level, &'a Arrays),
}

impl Contract<'_> {
    fn becomes(&self, from: u32, edges: Range<u32>) -> impl Iterator<Item = u64> {
        let all = Parts::new(&self.level.rows.offsets);
        let mut row = from;
        edges.map(move |edge| {
            row = all.row_of(edge, row);
            self.level.becomes(&self.next.0.rows, row, edge).into()
        })
    }
}

impl Visit for Contract<'_> {
    const PARTS: u32 = 3;

    fn rows(&self, share: &Share, out: &mut OpSink<'_>) {
        let count = self.arrays.load_rows(self.level, share, out);
        load_span(out, self.arrays.communities.at(share.rows.start.into(), WORD), count * WORD);
        out.push(Op::WAIT);
    }

    fn edges(&self, from: u32, edges: Range<u32>, part: u32, out: &mut OpSink<'_>) {
        let next = self.next.1;
        match part {
            0 => {
                for buffer in [&self.arrays.weights, &self.arrays.neighbours] {
                    load_span(out, buffer.at(edges.start.into(), WORD), span(&edges));
                }
                push_all(out, &[Op::WAIT, cost::ADDRESS]);
                let neighbours = &self.level.rows.edges[edges.start as usize..edges.end as usize];
                load_lanes(out, neighbours.iter().map(|&vertex| self.arrays.communities.at(vertex.into(), WORD)));
                push_all(out, &[Op::WAIT, cost::ADDRESS]);
            }
            1 => store_lanes(out, self.becomes(from, edges).map(|arc| next.neighbours.at(arc, WORD)), WORD),
            _ => store_lanes(out, self.becomes(from, edges).map(|arc| next.weights.at(arc, WORD)), WORD),
        }
    }
}

pub fn span(lanes: &Range<u32>) -> u64 {
    u64::from(lanes.end - lanes.start) * WORD
}
