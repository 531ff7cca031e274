//! From a user's text to a fully resolved scenario.

use std::sync::LazyLock;

use octavo_manager::{ConfigError, MemoryConfig, SpaceConfig, SystemConfig};
use octavo_registry::{Choice, OptionError, Options, in_words};
use serde_json::{Map, Value};

use crate::check::{check, inline_schema};
use crate::check_executor::check_executor;
use crate::check_jobs::check_jobs;
use crate::check_program::{check_programs, settle_recorded};
use crate::error::{Code, Problem};
use crate::executor::ExecutorChoice;
use crate::layer::{Layer, lookup, nth};
use crate::merge::Merged;
use crate::nodes::{self, Named, Reader};
use crate::spell_jobs::{OF_ALL, spell_out_jobs};
use crate::workloads::WorkloadChoice;
use crate::{Origin, Scenario, ScenarioError, WORKLOADS, about, presets, release};

/// The largest footprint a scenario may ask for, relative to the published one.
const MAX_SCALE: f64 = 1024.0;
/// First line of every resolved scenario.
const HEADING: &str =
    "# A resolved scenario: every value is spelled out, nothing is taken from a preset or a default.\n\n";

/// A scenario file, read by the caller.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its name, for messages.
    pub name: &'a str,
    /// Its contents.
    pub text: &'a str,
}

/// A scenario ready to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// Everything spelled out.
    pub scenario: Scenario,
    /// The same as TOML; loading it again gives the same scenario and the same text.
    pub toml: String,
}

/// Reads a scenario: defaults, then presets, then the file, then `overrides` (`key=value`), the later ones winning.
/// Nodes are presets; [`resolve_with`] takes them from files, too.
///
/// # Errors
/// The first value that cannot be used: where it was written, its key, what was expected, what was found and what was
/// probably meant.
pub fn resolve(source: Source<'_>, overrides: &[String]) -> Result<Resolved, ScenarioError> {
    resolve_with(source, overrides, &no_files)
}

/// Like [`resolve`], with a node from a file that `read` returns for `node.preset`.
///
/// # Errors
/// As for [`resolve`]; and what `read` says, or what cannot be used of a file that it gave.
pub fn resolve_with(source: Source<'_>, overrides: &[String], read: &Reader<'_>) -> Result<Resolved, ScenarioError> {
    let mut written = vec![Layer::parse(source.name, source.text)?];
    for assignment in overrides {
        written.push(Layer::set(assignment)?);
    }
    spell_out(source.name, written, read)
}

/// Reads a scenario that names no files, such as the text of a resolved one.
///
/// # Errors
/// As for [`resolve`].
pub fn load(source: Source<'_>) -> Result<Scenario, ScenarioError> {
    complete(source.name, vec![Layer::parse(source.name, source.text)?], &no_files)
}

fn no_files(place: &str, _: Option<&str>) -> Result<(String, String), String> {
    Err(format!("cannot read {place}: nodes are not taken from files here"))
}

fn spell_out(main: &str, written: Vec<Layer>, read: &Reader<'_>) -> Result<Resolved, ScenarioError> {
    let scenario = complete(main, written, read)?;
    let body = toml::to_string(&scenario).expect("a scenario can be written as TOML");
    Ok(Resolved { scenario, toml: format!("{HEADING}{body}") })
}

/// The scenario with all its defaults, or the first mistake in it.
fn complete(main: &str, written: Vec<Layer>, read: &Reader<'_>) -> Result<Scenario, ScenarioError> {
    let refused = match completed(main, written.clone(), read) {
        Err(error) if error.origin.source == main && error.origin.line.is_some() => error,
        other => return other,
    };
    Err(first_in_file(main, written, read, refused))
}

/// The most flaws of a file among which the first is looked for. Chosen.
const MOST_FLAWS: usize = 16;

/// The first mistake in the scenario's file: one mistake after another is removed.
fn first_in_file(main: &str, mut written: Vec<Layer>, read: &Reader<'_>, refused: ScenarioError) -> ScenarioError {
    let (mut first, mut last) = (refused.clone(), refused);
    for _ in 0..MOST_FLAWS {
        if !written[0].take_nearest(&last.key) {
            break;
        }
        match completed(main, written.clone(), read) {
            Err(next) if next.origin.source == main && next.origin.line.is_some() => last = next,
            Ok(_) | Err(_) => break,
        }
        if last.origin.line < first.origin.line {
            first = last.clone();
        }
    }
    first
}

fn completed(main: &str, written: Vec<Layer>, read: &Reader<'_>) -> Result<Scenario, ScenarioError> {
    let mut merged = merge(main, written, read)?;
    take_page_size_of_kernel(&mut merged.values);
    release::spell_out(&mut merged.values);
    spell_out_jobs(&mut merged).map_err(|problem| merged.locate(problem))?;
    let mut scenario = spelled_out(&merged).map_err(|problem| merged.locate(problem))?;
    fill_in(&mut scenario, merged.get("program.kind").is_some()).map_err(|problem| merged.locate(problem))?;
    about::leave_out_defaults(&mut scenario.node);
    Ok(scenario)
}

/// Pages of a scenario that says nothing of them have the first size that the kernel of its host has.
fn take_page_size_of_kernel(scenario: &mut Map<String, Value>) {
    const KEY: &str = "page_size";
    let sizes = lookup(scenario, "node.host.page_sizes").and_then(Value::as_array);
    // Another size is refused by its own key later.
    let usable = |size: &&Value| size.as_str().is_some_and(|size| ["4KiB", "64KiB", "2MiB"].contains(&size));
    let Some(first) = sizes.and_then(|sizes| sizes.first()).filter(usable).cloned() else { return };
    let memory = scenario.get_mut("memory").and_then(Value::as_object_mut);
    if let Some(memory) = memory.filter(|memory| !memory.contains_key(KEY)) {
        memory.insert(KEY.to_owned(), first);
    }
}

/// The memory system of a node, which a scenario has that names none.
const NODES_MEMORY: &str = "node.memory_preset";

/// Whether memory in bytes shrinks with the program: a node says so for its GPUs' memory.
const SHRINKS: &str = "node.capacity.shrinks";

/// The same for the host's memory.
const HOST_SHRINKS: &str = "node.host.memory.shrinks";

/// The keys of `SHRINKS` and `HOST_SHRINKS` whose memory the scenario itself gives in bytes, without saying that they
/// shrink: they are taken literally.
fn taken_as_said(written: &[Layer]) -> impl Iterator<Item = &'static str> {
    let says = |key: &str| written.iter().rposition(|layer| lookup(&layer.values, key).is_some());
    let memories = [("node.capacity.bytes", SHRINKS), ("node.host.memory.capacity", HOST_SHRINKS)];
    memories.into_iter().filter(move |(bytes, shrinks)| says(bytes) > says(shrinks)).map(|(_, shrinks)| shrinks)
}

/// Puts the presets that the scenario names below its own settings.
fn merge(main: &str, mut written: Vec<Layer>, read: &Reader<'_>) -> Result<Merged, ScenarioError> {
    release::replace_selected(&mut written);
    let mut node = node_layers(main, &written, read)?;
    let located = |problem: Problem| Merged::of(main, &written).locate(problem);
    let memory = named(&written, "memory.preset")
        .or(named(&written, NODES_MEMORY))
        .or(named(&node, NODES_MEMORY))
        .map(presets::memory);
    let memory: Vec<Layer> = memory.transpose().map_err(located)?.into_iter().collect();
    let driver = part(&DRIVER, main, &mut written, &mut node)?;
    let host = part(&HOST, main, &mut written, &mut node)?;
    let executor = executor(&mut written);
    replace_below(&mut written, "memory", &memory);
    replace_node(&mut written);
    let below = driver.below.into_iter().chain(host.below);
    let above = driver.above.into_iter().chain(host.above);
    let presets = [presets::defaults()].into_iter().chain(executor).chain(memory).chain(below).chain(node).chain(above);
    let below: Vec<Layer> = presets.collect();
    let mut merged = Merged::of(main, below.iter().chain(&written));
    taken_as_said(&written).for_each(|key| drop(merged.take(key)));
    for key in ["memory.preset", "node.preset", NODES_MEMORY, DRIVER.preset, HOST.preset] {
        if let Some(found) = merged.take(key).filter(|value| !value.is_string()) {
            return Err(Problem::mismatch(key, "the name of a preset", found).at(merged.origin(key)));
        }
    }
    let own: Vec<&Layer> = written.iter().filter(|layer| !spells_out_node(layer)).collect();
    about::spell_out(&mut merged.values, &below, &written, &own);
    Ok(merged)
}

/// What is recorded by default where there is no time. If an override requests it, it replaces settings of a file
/// without it: a resolved scenario spells out what is recorded about simulated time.
fn executor(written: &mut [Layer]) -> Option<Layer> {
    const KEY: &str = "executor.kind";
    if named(written, KEY) != Some(ExecutorChoice::INSTANT) {
        return None;
    }
    let preset = presets::instant();
    if written[0].text(KEY).is_none() {
        drop_provided(&mut written[..1], "record", std::slice::from_ref(&preset));
    }
    Some(preset)
}

/// A part of a node that has presets of its own.
struct Part {
    /// The key that names one.
    preset: &'static str,
    /// The table that it fills.
    table: &'static str,
    find: fn(&str) -> Result<Layer, Problem>,
    /// The node of a scenario that names none.
    default: Option<&'static str>,
}

const DRIVER: Part = Part { preset: "node.driver.preset", table: "node.driver", find: presets::driver, default: None };
const HOST: Part =
    Part { preset: "node.host.preset", table: "node.host", find: presets::host, default: Some(presets::DEFAULT_HOST) };

/// The preset of a part of the node. A preset that the scenario names overrides the node; the node overrides a preset
/// of its own.
struct PartLayers {
    below: Option<Layer>,
    above: Option<Layer>,
}

fn part(part: &Part, main: &str, written: &mut [Layer], node: &mut [Layer]) -> Result<PartLayers, ScenarioError> {
    let asked = named(written, part.preset).map(part.find).transpose();
    let above = asked.map_err(|problem| Merged::of(main, &*written).locate(problem))?;
    if let Some(layer) = &above {
        // The scenario's choice replaces the node's own.
        node.iter_mut().for_each(|layer| drop(layer.take(part.preset)));
        drop_provided(node, part.table, std::slice::from_ref(layer));
        replace_below(written, part.table, std::slice::from_ref(layer));
    }
    let speaks_of_it = |layer: &Layer| lookup(&layer.values, part.table).is_some();
    let default = part.default.filter(|_| node.iter().chain(written.iter()).any(speaks_of_it));
    let own = named(node, part.preset).or(default).map(part.find).transpose();
    let below = own.map_err(|problem| Merged::of(main, &*node).locate(problem))?;
    if let (Some(layer), Some(at)) = (&below, node.iter().rposition(|layer| layer.text(part.preset).is_some())) {
        // A named preset (even the same as before) overrides the nodes below it, entry by entry of the table, with all
        // that an entry contains. Entries that the preset does not mention stay.
        drop_provided(&mut node[..at], part.table, std::slice::from_ref(layer));
    }
    Ok(PartLayers { below, above })
}

/// The layers of the node that was named last; of the default one, where the scenario's file says nothing of a node.
fn node_layers(main: &str, written: &[Layer], read: &Reader<'_>) -> Result<Vec<Layer>, ScenarioError> {
    const KEY: &str = "node.preset";
    let Some(at) = written.iter().rposition(|layer| layer.text(KEY).is_some()) else {
        let spelled_out = lookup(&written[0].values, "node").is_some();
        return Ok(if spelled_out { Vec::new() } else { nodes::of_default() });
    };
    let layer = &written[at];
    // The first layer is the scenario's file, the others are overrides.
    let file = (at == 0).then(|| main.to_owned());
    let origin = Origin { source: layer.source.clone(), line: layer.lines.get(KEY).copied() };
    nodes::layers(layer.text(KEY).unwrap_or_default(), &Named { key: KEY.to_owned(), origin, file }, read)
}

/// The text at `key` in the last layer that has one.
fn named<'a>(layers: &'a [Layer], key: &str) -> Option<&'a str> {
    layers.iter().rev().find_map(|layer| layer.text(key))
}

/// Whether a layer says all that a node needs, as the file of a resolved scenario does. A node with fewer settings
/// changes the named one.
fn spells_out_node(layer: &Layer) -> bool {
    let Some(node) = layer.values.get("node").and_then(Value::as_object) else { return false };
    let needed = SCHEMA["properties"]["node"]["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    needed.into_iter().all(|key| node.contains_key(key))
}

/// Lets a node that an override names replace the one that the scenario's file spells out.
fn replace_node(written: &mut [Layer]) {
    let is_named = written[1..].iter().any(|layer| layer.text("node.preset").is_some());
    if is_named && written[0].text("node.preset").is_none() && spells_out_node(&written[0]) {
        written[0].values.shift_remove("node");
    }
}

/// Lets a preset named in an override replace values that a file without a preset spells out; settings of a file with
/// its own preset stay.
fn replace_below(written: &mut [Layer], key: &str, preset: &[Layer]) {
    let Some(first) = written.iter().position(|layer| layer.text(&format!("{key}.preset")).is_some()) else { return };
    drop_provided(&mut written[..first], key, preset);
}

/// Removes from `layers` what `preset` provides below `key`.
fn drop_provided(layers: &mut [Layer], key: &str, preset: &[Layer]) {
    let provided =
        preset.iter().filter_map(|layer| lookup(&layer.values, key)?.as_object()).flat_map(|table| table.keys());
    for name in provided {
        layers.iter_mut().for_each(|layer| drop(layer.take(&format!("{key}.{name}"))));
    }
}

/// The schema of a scenario that is spelled out.
static SCHEMA: LazyLock<Value> = LazyLock::new(inline_schema::<Scenario>);

fn spelled_out(merged: &Merged) -> Result<Scenario, Problem> {
    let values = Value::Object(merged.values.clone());
    check("", &values, &SCHEMA)?;
    serde_path_to_error::deserialize(values)
        .map_err(|error| Problem::new(error.path().to_string(), in_words(&error.into_inner().to_string())))
}

/// Checks the properties that types cannot express, and fills in the defaults of named things.
fn fill_in(scenario: &mut Scenario, kind_written: bool) -> Result<(), Problem> {
    scenario.workload.as_ref().map_or(Ok(()), |workload| check_scale("", workload))?;
    scenario.node.validate().map_err(|error| Problem::found_below("node", &error.key, &error.message))?;
    check_page_size(scenario)?;
    let memory = scenario.memory.resolve().map_err(|error| below("memory", &error))?;
    scenario.memory = without_unset(memory);
    if let Some(workload) = &mut scenario.workload {
        // A trace with a digest was resolved before: it is not resolved again.
        let settled = workload.options.get("digest").is_some_and(|digest| !digest.is_null());
        fill_in_workload("", workload)?;
        if workload.name == octavo_trace::ENTRY.name && !settled {
            settle_recorded(workload, &mut scenario.program, kind_written)?;
        }
    }
    for (index, job) in scenario.job.iter_mut().enumerate() {
        let key = nth("job", index) + ".";
        check_scale(&key, &job.workload)?;
        fill_in_workload(&key, &mut job.workload)?;
    }
    fill_in_spaces(scenario)?;
    check_numa(scenario)?;
    check_jobs(scenario)?;
    check_programs(scenario)?;
    check_executor(scenario)
}

/// The jobs' settings for their own memory: each together with those before it.
fn fill_in_spaces(scenario: &mut Scenario) -> Result<(), Problem> {
    let mut before: Vec<SpaceConfig> = Vec::new();
    for (index, job) in scenario.job.iter_mut().enumerate().filter(|(_, job)| !job.memory.is_common()) {
        let below = |error: ConfigError| below(&format!("{}.memory", nth("job", index)), &error);
        let SpaceConfig { name, placement, prefetch, eviction } =
            job.memory.resolve(&scenario.memory, &before).map_err(below)?;
        job.memory = SpaceConfig {
            name,
            placement: placement.map(set),
            prefetch: prefetch.map(set),
            eviction: eviction.map(set),
        };
        before.push(job.memory.clone());
    }
    Ok(())
}

/// The memory system's objection to a value below `prefix`.
fn below(prefix: &str, error: &ConfigError) -> Problem {
    let problem = Problem::found_below(prefix, &error.key, &error.message);
    if error.is_unknown { problem.of(Code::UnknownKey) } else { problem }
}

/// Pages are of a size that the host's kernel can have.
fn check_page_size(scenario: &Scenario) -> Result<(), Problem> {
    let (found, sizes) = (scenario.memory.page_size, &scenario.node.host.page_sizes);
    if sizes.is_empty() || sizes.contains(&found) {
        return Ok(());
    }
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    let expected = format!("one of {}, the host's (`node.host.page_sizes`)", sizes.join(", "));
    Err(Problem::mismatch("memory.page_size", expected, found))
}

/// Checks that the NUMA policy names nodes that exist.
fn check_numa(scenario: &Scenario) -> Result<(), Problem> {
    let below = |error: ConfigError| below("memory", &error);
    let page = scenario.memory.decision_size().map_err(below)?;
    let topology = scenario.node.topology(None, page.0);
    let topology = topology.map_err(|error| Problem::found_below("node", &error.key, &error.message))?;
    scenario.memory.system.numa.on(&topology).map(drop).map_err(below)
}

fn check_scale(prefix: &str, workload: &WorkloadChoice) -> Result<(), Problem> {
    let scale = workload.scale;
    if workload.name == octavo_trace::ENTRY.name && scale != 1.0 {
        let expected = "1, as a trace has the size with which it was recorded";
        return Err(Problem::mismatch(format!("{prefix}workload.scale"), expected, scale));
    }
    if scale > 0.0 && scale <= MAX_SCALE {
        return Ok(());
    }
    Err(Problem::mismatch(format!("{prefix}workload.scale"), format!("more than 0 and at most {MAX_SCALE}"), scale))
}

fn fill_in_workload(prefix: &str, workload: &mut WorkloadChoice) -> Result<(), Problem> {
    let resolved = WORKLOADS.resolve(&workload.choice());
    let below = |error: OptionError| {
        let problem = Problem::found_below(&format!("{prefix}workload"), &error.key, &error.message);
        let of_all = problem.hint.is_none() && error.is_unknown;
        let problem = if of_all { problem.meant(&error.key, OF_ALL) } else { problem };
        if error.is_unknown { problem.of(Code::UnknownKey) } else { problem }
    };
    workload.options = without_nulls(resolved.map_err(below)?.options);
    Ok(())
}

/// TOML has no null: an option that is not set is left out.
fn without_unset(memory: MemoryConfig) -> MemoryConfig {
    MemoryConfig {
        page_size: memory.page_size,
        placement: set(memory.placement),
        prefetch: set(memory.prefetch),
        prefetch_plan: memory.prefetch_plan,
        system: SystemConfig {
            placement: set(memory.system.placement),
            prefetch: set(memory.system.prefetch),
            huge_pages: memory.system.huge_pages,
            numa: memory.system.numa,
        },
        eviction: set(memory.eviction),
        outstanding: memory.outstanding,
        demotion: set(memory.demotion),
        host_frames: memory.host_frames,
        padding: memory.padding,
        synchronisation: memory.synchronisation,
        sharing: set(memory.sharing),
        guard: set(memory.guard),
        allocator: set(memory.allocator),
        sizing: set(memory.sizing),
        fragmentation: memory.fragmentation,
    }
}

fn set(choice: Choice) -> Choice {
    Choice { options: without_nulls(choice.options), ..choice }
}

fn without_nulls(options: Options) -> Options {
    options.into_iter().filter(|(_, value)| !value.is_null()).collect()
}
