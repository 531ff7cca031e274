//! Serving: the accesses of each step, token by token, compared with the streams.

use std::collections::BTreeSet;
use std::ops::Range;

use octavo_program::{Buffer, LINE_BYTES, Size, Workload};
use octavo_registry::{Choice, OptionError};
use octavo_workload::WORKLOADS;
use octavo_workload::serving::decode::{Decode, Window};
use octavo_workload::serving::experts::Experts;
use octavo_workload::serving::models::{Dense, ELEMENT, Mixture, Model};
use octavo_workload::serving::requests::{Request, requests};
use octavo_workload::serving::schedule::{Limits, PROMPT_TOKENS, Schedule, Sequence};
use octavo_workload::serving::traces::Trace;

use crate::lanes::{accesses, stream, wavefronts};

/// 96 bytes of keys and values for each token, one line and a half: blocks of four tokens are six lines.
const TINY: Model =
    Model { layers: 2, hidden: 64, queries: 64, keys: 24, inner: 96, vocabulary: 100, experts: 4, chosen: 2 };
const LIMITS: Limits = Limits { batch: 3, block: 4, blocks: 12 };
const WINDOW: Window = Window { after: 3, steps: 30 };

fn coming() -> impl Iterator<Item = Request> + Clone {
    (0..).map(|number| Request {
        arrives: number * 3 / 2,
        prompt: 1 + (number * 5 % 11) as u32,
        reply: 1 + number as u32 % 6,
    })
}

fn tiny() -> (Decode, Experts) {
    let experts = || Experts::new(TINY.layers, TINY.experts, TINY.chosen, 1.0, 3);
    (Decode::new(TINY, &experts(), LIMITS, coming(), WINDOW, 1.0).unwrap(), experts())
}

/// Lines loaded and stored by a launch, each as often as it is.
fn touched(workload: &dyn Workload, launch: u32) -> [Vec<u64>; 2] {
    let mut lines = [Vec::new(), Vec::new()];
    for (group, wavefront) in wavefronts(workload, launch) {
        for access in accesses(&stream(workload, launch, group, wavefront, 512)) {
            lines[usize::from(access.store)].extend(access.lines);
        }
    }
    lines.iter_mut().for_each(|lines| lines.sort_unstable());
    lines
}

/// Lines of such bytes of a buffer.
fn lines(buffer: &Buffer, bytes: Range<u64>) -> Range<u64> {
    (buffer.base + bytes.start) / LINE_BYTES..(buffer.base + bytes.end).div_ceil(LINE_BYTES)
}

/// Lines of tokens of a request in a layer, one token after another.
fn of_tokens(cache: &Buffer, sequence: &Sequence, layer: u64, tokens: Range<u32>) -> BTreeSet<u64> {
    let (token, block) = (TINY.cached(), TINY.cached() * u64::from(LIMITS.block));
    let place = |number: u32| {
        let index = u64::from(sequence.blocks[(number / LIMITS.block) as usize]);
        let first = (layer * u64::from(LIMITS.blocks) + index) * block + u64::from(number % LIMITS.block) * token;
        lines(cache, first..first + token)
    };
    tokens.flat_map(place).collect()
}

#[test]
fn a_step_touches_its_weights_once_and_the_tokens_of_its_requests() {
    let (decode, experts) = tiny();
    let [weights, cache] = decode.buffers() else { panic!("two buffers") };
    let mut server = Schedule::new(LIMITS, coming());
    (0..WINDOW.after).for_each(|_| drop(server.step()));
    let part = |parameters: u64| (parameters * ELEMENT) as f64 / LINE_BYTES as f64;
    let [attention, expert, head] =
        [TINY.attention(), TINY.expert(), TINY.head()].map(|parameters| part(parameters).round() as u64);
    let layer_lines = attention + 4 * expert;
    let base = weights.base / LINE_BYTES;
    for step_number in 0..WINDOW.steps {
        let step = server.step();
        let first = step_number * 5;
        let passed = experts.of_step(step.at, step.sequences.iter().map(|one| one.adds).sum());
        for layer in 0..2u64 {
            let from = base + layer * layer_lines;
            let mut loads: Vec<u64> = (from..from + attention).collect();
            let mut stores = Vec::new();
            for one in &step.sequences {
                loads.extend(of_tokens(cache, one, layer, 0..one.before));
                stores.extend(of_tokens(cache, one, layer, one.before..one.before + one.adds));
            }
            loads.sort_unstable();
            stores.sort_unstable();
            assert_eq!(touched(&decode, first + 2 * layer as u32), [loads, stores], "step {step_number}");
            let chosen = passed[layer as usize].iter().flat_map(|&one| {
                let from = from + attention + u64::from(one) * expert;
                from..from + expert
            });
            assert_eq!(touched(&decode, first + 2 * layer as u32 + 1), [chosen.collect(), vec![]]);
        }
        let from = base + 2 * layer_lines;
        assert_eq!(touched(&decode, first + 4), [(from..from + head).collect(), vec![]]);
    }
    assert_eq!(decode.launches(), 5 * WINDOW.steps);
}

#[test]
fn tokens_say_who_made_them_and_since_when_they_were_awaited() {
    let (decode, _) = tiny();
    let found = decode.result();
    let list = |name: &str| &found.iter().find(|(other, _)| *other == name).unwrap().1;
    assert_eq!(list("launches"), &[5.0]);
    let (mut server, mut rows) = (Schedule::new(LIMITS, coming()), Vec::new());
    (0..WINDOW.after).for_each(|_| drop(server.step()));
    let steps: Vec<_> = (0..WINDOW.steps).map(|_| server.step()).collect();
    for (made, step) in steps.iter().enumerate() {
        for one in &step.sequences {
            let earlier =
                steps[..made].iter().rposition(|step| step.sequences.iter().any(|two| two.request == one.request));
            let came = steps.iter().position(|step| step.at == one.arrived).filter(|_| one.before == 0);
            rows.push([Some(one.request), Some(made), earlier, came]);
        }
    }
    for (column, name) in ["request", "made", "before", "arrived"].into_iter().enumerate() {
        let expected: Vec<_> = rows.iter().map(|row| row[column].map_or(f64::INFINITY, |one| one as f64)).collect();
        assert_eq!(list(name), &expected, "{name}");
    }
    assert!(rows.iter().any(|row| row[3].is_some_and(|came| Some(came) < row[1])), "somebody waits");
}

#[test]
fn blocks_belong_to_one_request_and_promises_are_kept() {
    let limits = Limits { batch: 40, block: 16, blocks: 1200 };
    let mut server = Schedule::new(limits, requests(Trace::AzureChat, 64.0, 9));
    let mut tokens = std::collections::BTreeMap::new();
    for _ in 0..3000 {
        let step = server.step();
        let mut blocks: Vec<u32> = step.sequences.iter().flat_map(|one| one.blocks.iter().copied()).collect();
        let count = blocks.len();
        blocks.sort_unstable();
        blocks.dedup();
        assert!(blocks.len() == count && count <= 1200 && step.sequences.len() <= 40);
        let prompts: Vec<_> = step.sequences.iter().filter(|one| one.before == 0).collect();
        assert!(prompts.is_empty() || prompts.len() == step.sequences.len(), "prompts or tokens");
        assert!(prompts.len() < 2 || prompts.iter().map(|one| one.adds).sum::<u32>() <= PROMPT_TOKENS);
        for one in &step.sequences {
            let before = tokens.insert(one.request, one.before + one.adds).unwrap_or(0);
            assert_eq!(before, one.before, "a request grows by what the step before added");
            assert_eq!(one.blocks.len() as u32, (one.before + one.adds).div_ceil(16));
        }
    }
}

fn refused(name: &str, key: &str, value: serde_json::Value, scale: f64) -> OptionError {
    let mut choice = Choice::named(name);
    choice.options.insert(key.to_owned(), value);
    match WORKLOADS.build(&choice, &Size { scale, seed: 0 }) {
        Ok(_) => panic!("{key} is refused"),
        Err(error) => error,
    }
}

#[test]
fn what_cannot_be_served_is_refused_in_words() {
    for (name, key, value, expected) in [
        (
            "llm-decode",
            "cache",
            14655.into(), // The longest has 14651 tokens, of 916 blocks.
            "expected at least 14656, the longest request with its reply, found 14655",
        ),
        ("llm-decode", "load", 0.into(), "expected 0.001 to 4096, found 0"),
        ("llm-decode", "load", 0.0005.into(), "expected 0.001 to 4096, found 0.0005"),
        ("llm-decode", "steps", 0.into(), "expected 1 to 10000, found 0"),
        ("llm-decode", "block", 0.into(), "expected 1 to 1024, found 0"),
        ("moe-decode", "skew", 3.into(), "expected 0 to 2, found 3"),
    ] {
        let error = refused(name, key, value, 0.01);
        assert_eq!((error.key.as_str(), error.message.as_str()), (key, expected));
    }
    assert_eq!(refused("llm-decode", "steps", 2.into(), 1e-5).key, "scale");
}

#[test]
fn models_have_the_footprint_of_their_weights_and_their_cache() {
    let size = Size { scale: 0.01, seed: 0 };
    for (name, model, tokens) in
        [("llm-decode", Dense::Llama8.model(), 1 << 17), ("moe-decode", Mixture::Qwen30.model(), 1 << 15)]
    {
        let workload = WORKLOADS.build(&Choice::named(name), &size).unwrap();
        let weights = (model.parameters() - model.head()) * ELEMENT;
        let expected = (weights + tokens * u64::from(model.layers) * model.cached()) as f64 * size.scale;
        assert!((workload.footprint() as f64 / expected - 1.0).abs() < 0.02, "{name}: {}", workload.footprint());
    }
}
