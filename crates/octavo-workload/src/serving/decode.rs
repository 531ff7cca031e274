//! Steps of a server as launches: of each layer one for attention and one for what follows, then one that makes tokens.
//!
//! A launch streams its weights once for a batch of any size: each part (attention, an expert, the head) in equal
//! contiguous shares of work-groups of its own. Attention has more work-groups for each request, one for each 512 of
//! its tokens (as vLLM's paged attention, version 2, divides them). They read the request's blocks of keys and values
//! and write blocks for its new tokens. Activations are left out: they are small and stay in caches.

use std::ops::Range;

use octavo_program::{AddressSpace, Buffer, Cursor, HostSide, LINE_BYTES, Launch, Op, OpSink, Workload};
use octavo_registry::OptionError;

use super::experts::Experts;
use super::models::{ELEMENT, Model};
use super::request_files::Recorded;
use super::requests::Request;
use super::schedule::{Limits, Schedule, Sequence, Step};
use crate::emit::{WAVEFRONT_LANES, share, steps};

/// Wavefronts of a work-group: 256 threads (our choice).
const WAVEFRONTS: u32 = 4;
/// Lines of weights that a wavefront has, where there are enough (our choice).
const LINES_EACH: u64 = 64;
/// Lines that one instruction loads: 64 lanes with 16 bytes each.
const LINES_AT_ONCE: u64 = WAVEFRONT_LANES as u64 * 16 / LINE_BYTES;
/// Operations of one instruction: a multiply-add of each lane, on tensor cores, which do 8 times as many as the others
/// (V100: 125 over 15.7 TFLOPS; later ones more).
const OPERATIONS: u64 = 2 * WAVEFRONT_LANES as u64 * 8;
/// Tokens of a request that one work-group attends to: vLLM's paged attention, version 2.
const TOKENS_EACH: u32 = 512;
/// Most lines of all buffers together.
const MOST_LINES: f64 = (1u64 << Op::LINE_BITS) as f64;

/// Which steps of a server are replayed.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Steps that have ended when it begins.
    pub after: u32,
    /// Steps in it; at least one.
    pub steps: u32,
}

/// A window of steps.
pub struct Decode {
    model: Model,
    sizes: Sizes,
    buffers: Vec<Buffer>,
    side: HostSide,
    planned: Vec<Planned>,
    /// The requests, where a file has them.
    recorded: Option<Recorded>,
}

/// Lines of everything.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    scale: f64,
    attention: u64,
    expert: u64,
    head: u64,
    /// A block of the cache in one layer.
    block: u64,
    /// Tokens of a block.
    tokens: u64,
    /// Blocks of the cache.
    blocks: u64,
}

/// A step, and which experts it passes.
struct Planned {
    step: Step,
    tokens: u64,
    /// By layer.
    experts: Vec<Vec<u32>>,
    /// Blocks of a request that a work-group attends to.
    blocks_each: u32,
    /// Work-groups that attend to this request and those before it.
    attending: Vec<u32>,
}

/// Weights of a launch: this many parts of the same length.
struct Parts {
    kernel: &'static str,
    /// First line of each.
    first: Vec<u64>,
    lines: u64,
    /// Vector instructions of each part.
    instructions: u64,
}

impl Parts {
    fn groups_each(&self) -> u32 {
        self.lines.div_ceil(LINES_EACH * u64::from(WAVEFRONTS)) as u32
    }
}

impl Decode {
    /// A window of a server's work on `requests`, with everything `scale` times as large.
    ///
    /// # Errors
    /// A scale that leaves nothing of a block, or is too large.
    pub fn new(
        model: Model,
        experts: &Experts,
        limits: Limits,
        requests: impl Iterator<Item = Request>,
        window: Window,
        scale: f64,
    ) -> Result<Self, OptionError> {
        Self::of_server(model, experts, (limits, Schedule::new(limits, requests)), window, scale)
    }

    /// Like [`Self::new`], with the requests of a file and a server whose steps take `step` seconds. The window ends
    /// with the last request.
    ///
    /// # Errors
    /// As there; blocks that cannot be shared as the file says, a window that begins behind the last request.
    pub fn of_file(
        model: Model,
        experts: &Experts,
        limits: Limits,
        (recorded, step): (Recorded, f64),
        window: Window,
        scale: f64,
    ) -> Result<Self, OptionError> {
        let server = Schedule::new(limits, recorded.requests(step)).with_prefixes(recorded.prefixes(limits.block)?);
        let decode = Self::of_server(model, experts, (limits, server), window, scale)?;
        Ok(Self { recorded: Some(recorded), ..decode })
    }

    fn of_server<I: Iterator<Item = Request>>(
        model: Model,
        experts: &Experts,
        (limits, mut server): (Limits, Schedule<I>),
        window: Window,
        scale: f64,
    ) -> Result<Self, OptionError> {
        let sizes = Sizes::new(&model, limits, crate::scale::checked(scale)?)?;
        let mut space = AddressSpace::default();
        space.allocate("weights", (u64::from(model.layers) * sizes.layer(&model) + sizes.head) * LINE_BYTES);
        space.allocate("cache", u64::from(model.layers) * sizes.blocks * sizes.block * LINE_BYTES);
        let buffers = space.buffers().to_vec();
        let mut before = 0;
        while before < window.after && !server.is_over() {
            drop(server.step());
            before += 1;
        }
        if server.is_over() {
            let message =
                format!("expected less than the {before} steps that all requests take, found {}", window.after);
            return Err(OptionError::new("after", message));
        }
        let side = host_side(&buffers, &model, sizes, &server.in_use());
        let mut planned = Vec::new();
        while planned.len() < window.steps as usize && !server.is_over() {
            planned.push(Planned::new(server.step(), experts, limits));
        }
        Ok(Self { model, sizes, buffers, side, planned, recorded: None })
    }

    /// Launches of a step.
    fn each(&self) -> u32 {
        2 * self.model.layers + 1
    }

    /// The step of a launch, and its number among the launches of the step.
    fn place(&self, launch: u32) -> (&Planned, u32) {
        (&self.planned[(launch / self.each()) as usize], launch % self.each())
    }

    /// The weights of a launch: of layer `number / 2`, attention first; behind the last layer the head.
    fn parts(&self, planned: &Planned, number: u32) -> Parts {
        let (model, sizes) = (&self.model, self.sizes);
        let layer = u64::from(number / 2);
        let base = self.buffers[0].base / LINE_BYTES + layer * sizes.layer(model);
        let products = |parameters: u64, tokens: f64| sizes.instructions(2.0 * parameters as f64 * tokens);
        let tokens = planned.tokens as f64;
        if layer == u64::from(model.layers) {
            // Only the last token of each prompt is continued.
            let made = planned.step.sequences.len() as f64;
            let instructions = products(model.head(), made);
            return Parts { kernel: "head", first: vec![base], lines: sizes.head, instructions };
        }
        if number.is_multiple_of(2) {
            let instructions = products(model.attention(), tokens);
            return Parts { kernel: "attention", first: vec![base], lines: sizes.attention, instructions };
        }
        let passed = &planned.experts[layer as usize];
        // Tokens are taken to be spread evenly over the experts that any of them passes.
        let share = tokens * f64::from(model.chosen) / passed.len() as f64;
        let first = passed.iter().map(|&expert| base + sizes.attention + u64::from(expert) * sizes.expert);
        let kernel = if model.experts > 1 { "experts" } else { "feed-forward" };
        Parts { kernel, first: first.collect(), lines: sizes.expert, instructions: products(model.expert(), share) }
    }

    /// The requests of a file, and the blocks that each step's have.
    fn of_requests(&self, recorded: &Recorded) -> [(&'static str, Vec<f64>); 5] {
        let blocks = |planned: &Planned| {
            let all = planned.step.sequences.iter().flat_map(|one| &one.blocks);
            all.collect::<std::collections::BTreeSet<_>>().len() as f64
        };
        let all = &recorded.arrivals;
        [
            ("arrives_s", all.iter().map(|one| one.seconds).collect()),
            ("prompt_tokens", all.iter().map(|one| one.prompt.into()).collect()),
            ("reply_tokens", all.iter().map(|one| one.reply.into()).collect()),
            ("prompt_blocks", vec![recorded.different_blocks() as f64]),
            ("cache_blocks", self.planned.iter().map(blocks).collect()),
        ]
    }

    /// Lines of a block of the cache in one layer.
    fn block(&self, layer: u32, block: u32) -> Range<u64> {
        let first = self.buffers[1].base / LINE_BYTES;
        let first = first + (u64::from(layer) * self.sizes.blocks + u64::from(block)) * self.sizes.block;
        first..first + self.sizes.block
    }

    /// A wavefront's part `number` of a request's attention in a layer: pieces of its blocks from `first` on, every
    /// fourth of which it has.
    fn attend(&self, sequence: &Sequence, layer: u32, first: u32, number: u32, out: &mut OpSink<'_>) {
        let pieces = self.sizes.block.div_ceil(LINES_AT_ONCE) as u32;
        let index = (first + number / pieces * WAVEFRONTS) as usize;
        let begin = index as u64 * self.sizes.tokens;
        let block = self.block(layer, sequence.blocks[index]);
        let piece = Range {
            start: block.start + u64::from(number % pieces) * LINES_AT_ONCE,
            end: block.end.min(block.start + u64::from(number % pieces + 1) * LINES_AT_ONCE),
        };
        let (before, after) = (u64::from(sequence.before), u64::from(sequence.before + sequence.adds));
        // Tokens of the whole request as bytes of this block, in lines: what was there is read, what comes is written.
        let edge = |token: u64| token.saturating_sub(begin).min(self.sizes.tokens) * self.sizes.block;
        let read = block.start..block.start + edge(before).div_ceil(self.sizes.tokens);
        let written =
            block.start + edge(before) / self.sizes.tokens..block.start + edge(after).div_ceil(self.sizes.tokens);
        let (read, written) = (common(&piece, &read), common(&piece, &written));
        if !read.is_empty() {
            out.push(Op::load(read.start, (read.end - read.start) as u32));
            out.push(Op::WAIT);
            out.push(Op::compute(self.sizes.of_scores(&self.model, pieces)));
        }
        if edge(after) > edge(before) && !written.is_empty() {
            let ragged = |token: u64| !edge(token).is_multiple_of(self.sizes.tokens);
            let first = ragged(before) && written.start == block.start + edge(before) / self.sizes.tokens;
            let last = ragged(after) && written.end == block.start + edge(after).div_ceil(self.sizes.tokens);
            out.push(Op::store(written.start, (written.end - written.start) as u32).ragged(first, last));
        }
    }
}

impl Sizes {
    fn new(model: &Model, limits: Limits, scale: f64) -> Result<Self, OptionError> {
        let lines = |bytes: u64| (bytes as f64 * scale / LINE_BYTES as f64).round();
        let block = lines(u64::from(limits.block) * model.cached());
        let blocks = u64::from(limits.blocks);
        let all = lines(model.parameters() * ELEMENT) + f64::from(model.layers) * blocks as f64 * block;
        if block < 1.0 || all >= MOST_LINES {
            let message = format!(
                "expected what leaves a line ({LINE_BYTES} bytes) of each block of the cache and makes 64 TiB at most, found {scale}"
            );
            return Err(OptionError::new("scale", message));
        }
        let part = |parameters: u64| lines(parameters * ELEMENT).max(1.0) as u64;
        Ok(Self {
            scale,
            attention: part(model.attention()),
            expert: part(model.expert()),
            head: part(model.head()),
            block: block as u64,
            tokens: limits.block.into(),
            blocks,
        })
    }

    /// Lines of a layer.
    fn layer(&self, model: &Model) -> u64 {
        self.attention + u64::from(model.experts) * self.expert
    }

    /// Instructions for this many operations of the full size.
    fn instructions(&self, operations: f64) -> u64 {
        (operations * self.scale / OPERATIONS as f64).ceil() as u64
    }

    /// Instructions for one piece of a block: products of the new token's queries with its keys, and of the results
    /// with its values. Each request with tokens in the cache adds one.
    fn of_scores(&self, model: &Model, pieces: u32) -> u32 {
        let whole = self.instructions(4.0 * (model.queries * self.tokens) as f64);
        whole.div_ceil(pieces.into()).clamp(1, Op::MAX_COUNT.into()) as u32
    }
}

fn common(one: &Range<u64>, other: &Range<u64>) -> Range<u64> {
    one.start.max(other.start)..one.end.min(other.end)
}

impl Planned {
    fn new(step: Step, experts: &Experts, limits: Limits) -> Self {
        let tokens = step.sequences.iter().map(|one| one.adds).sum();
        let experts = experts.of_step(step.at, tokens);
        let blocks_each = (TOKENS_EACH / limits.block).max(1);
        let groups = |one: &Sequence| (one.blocks.len() as u32).div_ceil(blocks_each).max(1);
        let attending = step.sequences.iter().scan(0, |sum, one| {
            *sum += groups(one);
            Some(*sum)
        });
        let attending = attending.collect();
        Self { step, tokens: tokens.into(), experts, blocks_each, attending }
    }

    /// The request that the `group`-th of the attending work-groups attends to, and which of its blocks.
    fn attended(&self, group: u32) -> (&Sequence, Range<u32>) {
        let request = self.attending.partition_point(|&end| end <= group);
        let before = if request == 0 { 0 } else { self.attending[request - 1] };
        let sequence = &self.step.sequences[request];
        let first = (group - before) * self.blocks_each;
        (sequence, first..(first + self.blocks_each).min(sequence.blocks.len() as u32))
    }
}

/// The host writes the weights, and the content of the cache when the window begins.
fn host_side(buffers: &[Buffer], model: &Model, sizes: Sizes, in_use: &[u32]) -> HostSide {
    let mut side = HostSide::of(buffers).inputs(["weights"]).scratch(["cache"]);
    let runs: Vec<Range<u64>> = in_use.chunk_by(|one, next| one + 1 == *next).map(run).collect();
    for layer in 0..u64::from(model.layers) {
        for blocks in &runs {
            let bytes = |block: u64| (layer * sizes.blocks + block) * sizes.block * LINE_BYTES;
            side = side.writes_bytes_before(0, "cache", bytes(blocks.start)..bytes(blocks.end));
        }
    }
    side.build()
}

fn run(blocks: &[u32]) -> Range<u64> {
    blocks[0].into()..u64::from(blocks[blocks.len() - 1]) + 1
}

impl Parts {
    /// Step `number` of a wavefront of part `part`: a load, and the computation with it.
    fn stream(&self, part: usize, wavefront: u64, number: u32, out: &mut OpSink<'_>) {
        let shares = u64::from(self.groups_each()) * u64::from(WAVEFRONTS) * u64::from(self.steps());
        let index = wavefront * u64::from(self.steps()) + u64::from(number);
        let (lines, instructions) = (share(self.lines, index, shares), share(self.instructions, index, shares));
        if !lines.is_empty() {
            out.push(Op::load(self.first[part] + lines.start, (lines.end - lines.start) as u32));
            out.push(Op::WAIT);
        }
        if !instructions.is_empty() {
            out.push(Op::compute((instructions.end - instructions.start) as u32));
        }
    }

    /// Steps of each wavefront.
    fn steps(&self) -> u32 {
        let shares = u64::from(self.groups_each()) * u64::from(WAVEFRONTS);
        let most = |amount: u64, each: u64| amount.div_ceil(shares).div_ceil(each);
        most(self.lines, LINES_AT_ONCE).max(most(self.instructions, Op::MAX_COUNT.into())) as u32
    }
}

impl Workload for Decode {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        self.side.clone()
    }

    fn launches(&self) -> u32 {
        self.each() * self.planned.len() as u32
    }

    fn launch(&self, index: u32) -> Launch {
        let (planned, number) = self.place(index);
        let parts = self.parts(planned, number);
        let attending = if parts.kernel == "attention" { planned.attending.last().copied() } else { None };
        let work_groups = parts.first.len() as u32 * parts.groups_each() + attending.unwrap_or(0);
        Launch { kernel: parts.kernel.into(), work_groups, wavefronts_per_group: WAVEFRONTS }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let (planned, number) = self.place(launch);
        let parts = self.parts(planned, number);
        let (each, layer) = (parts.groups_each(), number / 2);
        if let Some(attending) = group.checked_sub(parts.first.len() as u32 * each) {
            let (sequence, blocks) = planned.attended(attending);
            let count = (blocks.end - blocks.start + WAVEFRONTS - 1 - wavefront) / WAVEFRONTS;
            let count = count * self.sizes.block.div_ceil(LINES_AT_ONCE) as u32;
            let first = blocks.start + wavefront;
            return steps(cursor, out, count, |number, out| self.attend(sequence, layer, first, number, out));
        }
        let place = u64::from(group % each) * u64::from(WAVEFRONTS) + u64::from(wavefront);
        steps(cursor, out, parts.steps(), |number, out| parts.stream((group / each) as usize, place, number, out));
    }

    /// The tokens that are made, one entry each: `request` is whose token it is, `made` the step that made it (counted
    /// from the first of the window). `before` is the step that made the request's previous token, infinite for the
    /// first in the window. `arrived` is the step before which the request arrived. It is infinite except for a first
    /// token whose request arrived within the window. `launches` are those of a step. For requests in a file, there are
    /// also `arrives_s`, `prompt_tokens` and `reply_tokens` of each, `prompt_blocks`, how many different blocks of 512
    /// tokens the file names, and `cache_blocks`: different blocks that the requests of each step have.
    fn result(&self) -> Vec<(&'static str, Vec<f64>)> {
        let begins = self.planned[0].step.at;
        let mut last = std::collections::BTreeMap::new();
        let [mut requests, mut made, mut before, mut arrived] = [const { Vec::new() }; 4];
        for (index, planned) in self.planned.iter().enumerate() {
            for one in &planned.step.sequences {
                let since = one.arrived.checked_sub(begins).filter(|_| one.is_prompt);
                let since = since.and_then(|_| self.planned.iter().position(|step| step.step.at == one.arrived));
                let known = |step: Option<usize>| step.map_or(f64::INFINITY, |step| step as f64);
                requests.push(one.request as f64);
                made.push(index as f64);
                before.push(known(last.insert(one.request, index)));
                arrived.push(known(since));
            }
        }
        let launches = vec![f64::from(self.each())];
        let mut found = vec![
            ("request", requests),
            ("made", made),
            ("before", before),
            ("arrived", arrived),
            ("launches", launches),
        ];
        found.extend(self.recorded.iter().flat_map(|recorded| self.of_requests(recorded)));
        found
    }
}
