//! Which requests each step serves, and which blocks of the cache their tokens have: continuous batching.
//!
//! Where the contents of prompts' blocks are known, a prompt takes the first of them from the cache if they are
//! present, and computes the others (vLLM's prefix caching).

use std::collections::{HashMap, VecDeque};

use super::requests::Request;

/// Prompt tokens that one step takes at most, unless a single prompt is longer (vLLM's `max_num_batched_tokens`).
pub const PROMPT_TOKENS: u32 = 2048;

/// The capacity of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Requests that are served at the same time.
    pub batch: usize,
    /// Tokens of a block of the cache.
    pub block: u32,
    /// Blocks of the cache.
    pub blocks: u32,
}

/// A step: either prompts, or a token for each request in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// When, in steps from the beginning of all.
    pub at: u64,
    /// The requests that it serves.
    pub sequences: Vec<Sequence>,
}

/// A request in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// Number of the request.
    pub request: usize,
    /// When it arrived, in steps from the beginning of all.
    pub arrived: u64,
    /// Whether this is its prompt, which makes its first token.
    pub is_prompt: bool,
    /// Tokens in the cache before: of a prompt, those whose blocks the cache has.
    pub before: u32,
    /// Tokens that this step adds.
    pub adds: u32,
    /// Blocks of the cache, in the order of its tokens.
    pub blocks: Vec<u32>,
}

/// A server at work.
pub struct Schedule<I: Iterator<Item = Request>> {
    limits: Limits,
    coming: std::iter::Peekable<I>,
    waiting: VecDeque<(usize, Request)>,
    running: Vec<Running>,
    /// Free blocks; the block that has been free longest is taken first (vLLM's queue of free blocks).
    free: VecDeque<u32>,
    /// How many requests in progress have each block.
    users: Vec<u32>,
    /// The content of whole blocks of prompts, by number of the request; empty if it is unknown.
    prefixes: Vec<Vec<Content>>,
    /// Blocks whose content is known, and the content of each.
    kept: HashMap<Content, u32>,
    content: Vec<Option<Content>>,
    /// Blocks that requests in progress may need before they end.
    promised: u32,
    arrived: usize,
    now: u64,
}

/// The content of a block: blocks with equal content hold the same tokens after the same tokens.
pub type Content = (u64, u32);

struct Running {
    number: usize,
    request: Request,
    made: u32,
    blocks: Vec<u32>,
}

impl Running {
    fn tokens(&self) -> u32 {
        self.request.prompt + self.made
    }
}

impl<I: Iterator<Item = Request>> Schedule<I> {
    /// A server that requests come to. No request may need more blocks than there are.
    pub fn new(limits: Limits, requests: I) -> Self {
        Self {
            limits,
            coming: requests.peekable(),
            waiting: VecDeque::new(),
            running: Vec::new(),
            free: (0..limits.blocks).collect(),
            users: vec![0; limits.blocks as usize],
            prefixes: Vec::new(),
            kept: HashMap::new(),
            content: vec![None; limits.blocks as usize],
            promised: 0,
            arrived: 0,
            now: 0,
        }
    }

    /// With the known contents of the whole blocks of each prompt, in the order of requests.
    #[must_use]
    pub fn with_prefixes(self, prefixes: Vec<Vec<Content>>) -> Self {
        Self { prefixes, ..self }
    }

    /// Blocks that hold something of use, in order: those in use, and those whose content a prompt may share.
    pub fn in_use(&self) -> Vec<u32> {
        let is_used = |block: &u32| self.users[*block as usize] > 0 || self.content[*block as usize].is_some();
        (0..self.limits.blocks).filter(is_used).collect()
    }

    /// Whether all requests have been served, and no more will come.
    pub fn is_over(&mut self) -> bool {
        self.running.is_empty() && self.waiting.is_empty() && self.coming.peek().is_none()
    }

    /// The next step; there is one unless [all have ended](Self::is_over). Prompts go first (vLLM): while some are
    /// admitted, no other request gets a token.
    pub fn step(&mut self) -> Step {
        if self.running.is_empty() && self.waiting.is_empty() {
            self.now = self.now.max(self.coming.peek().expect("a request comes").arrives);
        }
        self.arrive();
        let admitted = self.admit();
        let sequences = if admitted > 0 { self.prompts(admitted) } else { self.tokens() };
        let step = Step { at: self.now, sequences };
        self.leave();
        self.now += 1;
        step
    }

    fn arrive(&mut self) {
        while let Some(request) = self.coming.next_if(|request| request.arrives <= self.now) {
            self.waiting.push_back((self.arrived, request));
            self.arrived += 1;
        }
    }

    /// Blocks that a request has in the end. No admitted request is preempted for want of blocks.
    fn needs(&self, request: Request) -> u32 {
        (request.prompt + request.reply - 1).div_ceil(self.limits.block)
    }

    /// Admits who waits, first come first, and says how many.
    fn admit(&mut self) -> usize {
        let (before, mut tokens) = (self.running.len(), 0);
        while let Some(&(number, request)) = self.waiting.front() {
            let fits = tokens == 0 || tokens + request.prompt <= PROMPT_TOKENS;
            let room = self.promised + self.needs(request) <= self.limits.blocks;
            if self.running.len() == self.limits.batch || !fits || !room {
                break;
            }
            tokens += request.prompt;
            self.promised += self.needs(request);
            self.waiting.pop_front();
            self.running.push(Running { number, request, made: 0, blocks: Vec::new() });
        }
        self.running.len() - before
    }

    fn prompts(&mut self, admitted: usize) -> Vec<Sequence> {
        let from = self.running.len() - admitted;
        let mut each = |index: usize| {
            let before = self.share(index);
            self.advance(index, before, self.running[index].request.prompt - before)
        };
        (from..from + admitted).map(&mut each).collect()
    }

    /// A prompt takes the blocks that the cache has, all but what makes its first token; how many tokens they hold.
    fn share(&mut self, index: usize) -> u32 {
        let one = &mut self.running[index];
        let most = (one.request.prompt - 1) / self.limits.block;
        let known = self.prefixes.get(one.number).into_iter().flatten().take(most as usize);
        for &block in known.map_while(|content| self.kept.get(content)) {
            if self.users[block as usize] == 0 {
                self.free.retain(|free| *free != block);
            }
            self.users[block as usize] += 1;
            one.blocks.push(block);
        }
        one.blocks.len() as u32 * self.limits.block
    }

    /// Takes the block that has been free longest, whose contents nobody shares any more.
    fn take(&mut self) -> u32 {
        let block = self.free.pop_front().expect("blocks were promised");
        self.users[block as usize] = 1;
        if let Some(content) = self.content[block as usize].take() {
            self.kept.remove(&content);
        }
        block
    }

    /// The content of whole blocks of a prompt is known from now on.
    fn keep(&mut self, index: usize) {
        let one = &self.running[index];
        for (content, &block) in self.prefixes.get(one.number).into_iter().flatten().zip(&one.blocks) {
            if !self.kept.contains_key(content) {
                self.kept.insert(*content, block);
                self.content[block as usize] = Some(*content);
            }
        }
    }

    fn tokens(&mut self) -> Vec<Sequence> {
        // The token that a step made enters the cache in the next one.
        (0..self.running.len()).map(|index| self.advance(index, self.running[index].tokens() - 1, 1)).collect()
    }

    /// A request gets blocks for tokens behind this many, and makes one more token of its reply.
    fn advance(&mut self, index: usize, before: u32, adds: u32) -> Sequence {
        while (self.running[index].blocks.len() as u32) < (before + adds).div_ceil(self.limits.block) {
            let block = self.take();
            self.running[index].blocks.push(block);
        }
        let is_prompt = self.running[index].made == 0;
        if is_prompt {
            self.keep(index);
        }
        let one = &mut self.running[index];
        one.made += 1;
        let (request, arrived, blocks) = (one.number, one.request.arrives, one.blocks.clone());
        Sequence { request, arrived, is_prompt, before, adds, blocks }
    }

    fn leave(&mut self) {
        let under_way = std::mem::take(&mut self.running);
        let (done, running): (Vec<_>, _) = under_way.into_iter().partition(|one| one.made == one.request.reply);
        self.running = running;
        for one in done {
            self.promised -= self.needs(one.request);
            for &block in &one.blocks {
                self.users[block as usize] -= 1;
                if self.users[block as usize] == 0 {
                    self.free.push_back(block);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(arrives: u64, prompt: u32, reply: u32) -> Request {
        Request { arrives, prompt, reply }
    }

    fn server(limits: Limits, requests: Vec<Request>) -> Schedule<impl Iterator<Item = Request> + use<>> {
        let never = std::iter::repeat(request(u64::MAX, 1, 1));
        Schedule::new(limits, requests.into_iter().chain(never))
    }

    fn whom(step: &Step) -> Vec<(usize, u32, u32, Vec<u32>)> {
        step.sequences.iter().map(|one| (one.request, one.before, one.adds, one.blocks.clone())).collect()
    }

    #[test]
    fn requests_arrive_grow_and_leave() {
        let limits = Limits { batch: 2, block: 4, blocks: 5 };
        let mut server = server(limits, vec![request(3, 4, 3), request(4, 5, 2), request(4, 1, 1)]);
        let steps: Vec<_> = (0..5).map(|_| server.step()).collect();
        assert_eq!(steps.iter().map(|step| step.at).collect::<Vec<_>>(), [3, 4, 5, 6, 7]);
        assert_eq!(whom(&steps[0]), [(0, 0, 4, vec![0])], "nothing to do before");
        assert_eq!(
            whom(&steps[1]),
            [(1, 0, 5, vec![1, 2])],
            "a prompt goes first; the third request finds two under way"
        );
        assert_eq!(whom(&steps[2]), [(0, 4, 1, vec![0, 3]), (1, 5, 1, vec![1, 2])], "the first needs a second block");
        assert_eq!(whom(&steps[3]), [(2, 0, 1, vec![4])], "the second has left, the third comes");
        assert_eq!(whom(&steps[4]), [(0, 5, 1, vec![0, 3])]);
        assert_eq!(server.free, [1, 2, 4, 0, 3], "first given back, first taken");
        assert_eq!(server.promised, 0);
    }

    #[test]
    fn a_prompt_shares_the_blocks_that_the_cache_has() {
        let limits = Limits { batch: 4, block: 4, blocks: 5 };
        let prefixes = vec![vec![(0, 0), (1, 0)], vec![(0, 0)], vec![(0, 0), (1, 0)], vec![(7, 0)]];
        let requests = vec![request(0, 8, 3), request(1, 7, 1), request(9, 8, 1), request(20, 17, 1)];
        let mut server = Schedule::new(limits, requests.into_iter()).with_prefixes(prefixes);
        assert_eq!(whom(&server.step()), [(0, 0, 8, vec![0, 1])]);
        assert_eq!(whom(&server.step()), [(1, 4, 3, vec![0, 2])], "three blocks in all, not four");
        assert_eq!(server.in_use(), [0, 1], "what the second left is free, and nobody knows it");
        drop((server.step(), server.step()));
        // The cache still knows both blocks; the last one is computed again, as a token has to be made.
        assert_eq!(whom(&server.step()), [(2, 4, 4, vec![0, 4])]);
        let last = server.step();
        assert_eq!((last.at, last.sequences[0].before, last.sequences[0].blocks.len()), (20, 0, 5));
        assert!(last.sequences[0].is_prompt && server.is_over());
    }

    #[test]
    fn nobody_is_admitted_whose_reply_might_not_fit() {
        let limits = Limits { batch: 9, block: 4, blocks: 4 };
        let mut server = server(limits, vec![request(0, 4, 5), request(0, 4, 6), request(0, 1, 1)]);
        assert_eq!(server.step().sequences.len(), 1, "two blocks, then three of which two are left");
        let left = (1..6).map(|_| server.step()).find(|step| step.sequences[0].request != 0).unwrap();
        assert_eq!(left.at, 5, "first come, first served: the third waits behind the second");
        assert_eq!(left.sequences.len(), 2);
    }
}
