//! The places of tensors in a program's buffers: the segments of each pool of each GPU's allocator, one buffer each,
//! and all of that again for each replica.

use std::ops::Range;

use octavo_program::{AddressSpace, Buffer, HostSide, LINE_BYTES};

use super::grain::LINES_AT_ONCE;
use super::places::Places;
use super::shrink::Shrink;
use super::step::{Role, Step};

/// Buffers of each pool.
const POOLS: [&str; 2] = ["small-segments", "large-segments"];

/// Buffers of all replicas, one after another, and where tensors lie in the first replica's buffers.
pub(super) struct Layout<'a> {
    places: &'a Places,
    shrink: Shrink,
    /// By GPU and pool: its buffer, if it has one.
    of_pool: Vec<[Option<usize>; 2]>,
    pub buffers: Vec<Buffer>,
    /// Buffers of each replica.
    each: usize,
    pub replicas: u32,
    /// Lines from the memory of one replica to the memory of the next.
    pub apart: u64,
}

impl<'a> Layout<'a> {
    /// Buffers for places at a scale. Names of buffers of one GPU among several, and of one replica, end in its number.
    pub fn new(places: &'a Places, shrink: Shrink, replicas: u32) -> Self {
        let gpus = places.reserved().len() as u32;
        let mut space = AddressSpace::default();
        let mut of_pool = vec![[None; 2]; gpus as usize];
        let (mut apart, mut owners) = (0, Vec::new());
        for (replica, gpu) in (0..replicas).flat_map(|replica| (0..gpus).map(move |gpu| (replica, gpu))) {
            for (pool, name) in POOLS.into_iter().enumerate() {
                let reserved = places.reserved()[gpu as usize][pool];
                if reserved > 0 {
                    of_pool[gpu as usize][pool].get_or_insert(space.buffers().len());
                    let alone = replicas.max(gpus) == 1;
                    let name = if alone { name.to_owned() } else { format!("{name}-{}", replica.max(gpu)) };
                    space.allocate(&name, shrink.lines(reserved) * LINE_BYTES);
                    owners.push(if gpus > 1 { gpu as u8 + 1 } else { 0 });
                }
            }
            apart = if replica == 0 { space.end() / LINE_BYTES } else { apart };
        }
        let mut buffers = space.buffers().to_vec();
        buffers.iter_mut().zip(owners).for_each(|(buffer, gpu)| buffer.gpu = gpu);
        let each = buffers.len() / replicas as usize;
        Self { places, shrink, of_pool, buffers, each, replicas, apart }
    }

    /// Adds a buffer for the data sent to each replica, in memory of its GPU; returns their first lines.
    pub fn add_received(&mut self, lines: u64) -> Vec<u64> {
        let mut space = AddressSpace::default();
        for buffer in &self.buffers {
            let base = space.allocate(&buffer.name, buffer.bytes).base;
            debug_assert_eq!(base, buffer.base, "`{}` moves", buffer.name);
        }
        let mut received = Vec::new();
        for (replica, gpu) in (0..self.replicas).zip(1..) {
            let buffer = space.allocate(&format!("received-{replica}"), lines * LINE_BYTES);
            received.push(buffer.base / LINE_BYTES);
            self.buffers.push(Buffer { gpu, ..buffer });
        }
        received
    }

    /// The lines, in the first replica, of bytes of a tensor as an operator of an iteration finds it.
    pub fn lines(&self, (iteration, operator): (u32, usize), tensor: usize, bytes: &Range<u64>) -> Range<u64> {
        let (buffer, lines) = self.span(tensor, self.places.at(iteration, operator, tensor), bytes);
        let first = self.buffers[buffer].base / LINE_BYTES;
        first + lines.start..first + lines.end
    }

    /// The host writes parameters and constants before the first launch, samples before each iteration of this many.
    pub fn host_side(&self, step: &Step, iterations: u32, launches: u32) -> HostSide {
        let mut side = HostSide::of(&self.buffers).scratch(self.buffers.iter().map(|buffer| buffer.name.as_str()));
        let of_replicas = self.each * self.replicas as usize;
        for iteration in 0..iterations {
            let written = |role| role == Role::Input || role == Role::Parameter && iteration == 0;
            for (buffer, lines) in self.written(step, written) {
                let bytes = lines.start * LINE_BYTES..lines.end * LINE_BYTES;
                for of_replica in self.buffers[buffer..of_replicas].iter().step_by(self.each) {
                    side = side.writes_bytes_before(iteration * launches, &of_replica.name, bytes.clone());
                }
            }
        }
        side.build()
    }

    /// The buffer of the first replica, and the lines from its first, of bytes of a tensor at a place.
    fn span(&self, tensor: usize, place: super::allocator::Place, bytes: &Range<u64>) -> (usize, Range<u64>) {
        let (home, pool) = (self.places.home(tensor), place.pool as usize);
        let bytes = place.address + bytes.start..place.address + bytes.end;
        let buffer = self.of_pool[home][pool].expect("a pool with places has a buffer");
        (buffer, self.shrink.span(bytes, self.places.reserved()[home][pool]))
    }

    /// Lines of tensors with such roles, neighbours together, by buffer.
    fn written(&self, step: &Step, role: impl Fn(Role) -> bool) -> Vec<(usize, Range<u64>)> {
        let chosen = step.tensors.iter().enumerate().filter(|(_, one)| role(one.role));
        let placed = chosen.filter_map(|(tensor, one)| Some((tensor, self.places.before(tensor)?, one)));
        let mut spans: Vec<_> = placed.map(|(tensor, place, one)| self.span(tensor, place, &(0..one.bytes))).collect();
        spans.sort_unstable_by_key(|(buffer, lines)| (*buffer, lines.start));
        let mut joined: Vec<(usize, Range<u64>)> = Vec::new();
        // Blocks begin at multiples of 512 bytes: a smaller gap between two belongs to none.
        let apart = LINES_AT_ONCE * 2;
        for (buffer, lines) in spans {
            match joined.last_mut() {
                Some((of, last)) if *of == buffer && lines.start < last.end + apart => {
                    last.end = last.end.max(lines.end);
                }
                _ => joined.push((buffer, lines)),
            }
        }
        joined
    }
}
