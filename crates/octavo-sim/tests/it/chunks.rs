//! The cost of a chunk of 2 MiB on `dgx-v100-4`, over PCIe and over one and two links: the preset contains none of
//! these numbers.

use octavo_manager::MemoryConfig;
use octavo_node::{CopyEngineConfig, NodeConfig};
use octavo_program::Op;
use octavo_scenario::{Source, resolve};
use octavo_sim::{RunOptions, RunResult, Values, simulate};
use octavo_units::{Bytes, Time};

use crate::support::{Script, events, link_bytes, memory};

const CHUNK: u64 = 2 << 20;
/// Lines of a chunk.
const LINES: u64 = CHUNK / 64;

fn preset(name: &str) -> NodeConfig {
    let text = format!("workload = \"fir\"\nnode.preset = \"{name}\"\nmemory.placement = \"on-touch\"\n");
    resolve(Source { name: "test", text: &text }, &[]).expect("a preset is valid").scenario.node
}

/// In each launch, each GPU of a list touches a line in each of a number of its own chunks, all at once: the first of
/// every list the same chunks, and so on.
fn touched(node: &NodeConfig, chunks: u64, launches: &[&[usize]]) -> RunResult {
    let touches = |place: usize| {
        let own = place as u64 * chunks..(place as u64 + 1) * chunks;
        own.map(|chunk| Op::load(chunk * LINES, 1)).chain([Op::WAIT]).collect::<Vec<_>>()
    };
    let launch = |who: &&[usize]| {
        let place = |gpu: usize| who.iter().position(|&other| other == gpu);
        (0..node.gpus as usize).map(|gpu| place(gpu).map_or_else(Vec::new, touches)).collect()
    };
    let most = launches.iter().map(|who| who.len() as u64).max().unwrap_or_default();
    let script = Script::on_gpus(most * chunks * CHUNK / 4096, launches.iter().map(launch).collect());
    let memory = MemoryConfig { page_size: Bytes(CHUNK), ..memory("on-touch") };
    let options = RunOptions { record_events: true, ..RunOptions::default() };
    simulate(node, &memory, &script, options).expect("it runs")
}

/// Microseconds from the driver's command to copy the chunks of the last launch until that launch ends.
fn moving(node: &NodeConfig, chunks: u64, launches: &[&[usize]]) -> f64 {
    let result = touched(node, chunks, launches);
    let kernels = result.tables.iter().find(|table| table.name == "kernels").expect("always there");
    let ended = kernels.columns.iter().find(|column| column.name == "ended_ps").expect("a column");
    let Values::U64(ended) = &ended.values else { panic!("times are numbers") };
    let moved = events(&result, "migration");
    let of_last = launches.last().map_or(0, |who| who.len()) * chunks as usize;
    (ended.last().expect("a launch") - moved[moved.len() - of_last].0) as f64 / 1e6
}

/// GB/s of one chunk after another, beyond the first: begins and ends are the same in both runs.
fn bandwidth(node: &NodeConfig, launches: &[&[usize]]) -> f64 {
    let more = 32;
    let [one, many] = [1, 1 + more].map(|chunks| moving(node, chunks, launches));
    (more * CHUNK) as f64 / (many - one) / 1e3
}

fn assert_near(found: f64, expected: f64, part: f64) {
    assert!((found - expected).abs() <= part * expected, "found {found}, expected {expected} within {part}");
}

const FROM_HOST: &[&[usize]] = &[&[0]];
const OVER_TWO_LINKS: &[&[usize]] = &[&[0], &[3]];
const OVER_ONE_LINK: &[&[usize]] = &[&[0], &[1]];

#[test]
fn chunks_in_a_row_take_what_links_give() {
    let node = preset("dgx-v100-4");
    // 14.4 GB/s, and 1.5 us beside each chunk.
    assert_near(bandwidth(&node, FROM_HOST), 14.25, 0.001);
    assert_near(bandwidth(&node, OVER_TWO_LINKS), 47.9, 0.005);
    assert_near(bandwidth(&node, OVER_ONE_LINK), 23.95, 0.005);
}

/// Published for a chunk (HUVM, USENIX ATC 2022): 12.3 GB/s over PCIe and 40.1 GB/s over NVLink. A single chunk takes
/// the command and the setup of its copy in addition to its bytes' time, then its mapping, the wake-up and the access
/// itself.
#[test]
fn a_chunk_alone_comes_slower_than_chunks_in_a_row() {
    let node = preset("dgx-v100-4");
    let alone = |launches: &[&[usize]]| CHUNK as f64 / moving(&node, 1, launches) / 1e3;
    assert_near(alone(FROM_HOST), 13.32, 0.001);
    assert_near(alone(OVER_TWO_LINKS), 38.60, 0.001);
    assert_near(alone(OVER_ONE_LINK), 21.38, 0.001);
}

#[test]
fn gpus_of_one_pcie_switch_share_its_link() {
    let shared = preset("dgx-v100-4");
    let mut own = shared.clone();
    own.host_switches = None;
    assert_near(bandwidth(&shared, &[&[0, 1]]), 14.4 / 2.0, 0.01);
    assert_near(bandwidth(&shared, &[&[1, 2]]), 14.25, 0.01);
    assert_near(bandwidth(&own, &[&[0, 1]]), 14.25, 0.01);
    let result = touched(&shared, 4, &[&[0, 1]]);
    assert_eq!(link_bytes(&result, "host->host-switch1", "migration"), 8 * CHUNK);
    assert_eq!(link_bytes(&result, "host->gpu1", "migration"), 4 * CHUNK);
}

#[test]
fn gpus_without_a_link_send_through_the_host() {
    let mut node = preset("dgx-v100-4");
    node.links = Some(Vec::new());
    assert_near(bandwidth(&node, OVER_TWO_LINKS), 14.4, 0.01);
    let far = touched(&node, 1, OVER_TWO_LINKS);
    let carried = ["gpu0->host", "host-switch1->host", "host->host-switch2", "host->gpu3"];
    assert_eq!(carried.map(|link| link_bytes(&far, link, "migration")), [CHUNK; 4]);
    let near = touched(&node, 1, OVER_ONE_LINK);
    assert_eq!(link_bytes(&near, "gpu0->host", "migration"), CHUNK, "up to the switch above both");
    assert_eq!(link_bytes(&near, "host-switch1->host", "migration"), 0);
}

#[test]
fn copies_commanded_together_are_set_up_together() {
    let with = preset("dgx-v100-4");
    let mut without = with.clone();
    let occupied = with.copy_engines.as_ref().and_then(|engines| engines.occupied.clone());
    without.copy_engines = Some(CopyEngineConfig { setup: Time::ZERO, piece: Time::ZERO, batched: false, occupied });
    for chunks in [1, 4] {
        let [with, without] = [&with, &without].map(|node| moving(node, chunks, FROM_HOST));
        assert_near(with - without, 6.0, 0.02);
    }
}

#[test]
fn fewer_gpus_have_the_links_among_them() {
    let mut node = preset("dgx-v100-4");
    node.gpus = 2;
    node.validate().expect("links to GPUs that are not there mean nothing");
    assert_near(bandwidth(&node, OVER_ONE_LINK), 23.95, 0.005);
}

#[test]
fn pairs_that_cannot_be_are_refused() {
    let refused = |change: fn(&mut NodeConfig)| {
        let mut node = preset("dgx-v100-4");
        change(&mut node);
        node.validate().expect_err("it cannot be").to_string()
    };
    let twice = refused(|node| node.links.as_mut().expect("links")[5].gpus = [1, 0]);
    assert_eq!(twice, "`links[5].gpus`: expected each pair once, found 1 and 0 in links[0] too");
    let itself = refused(|node| node.links.as_mut().expect("links")[1].gpus = [2, 2]);
    assert_eq!(itself, "`links[1].gpus`: expected two GPUs, found 2 twice");
    let none = refused(|node| node.links.as_mut().expect("links")[0].count = 0);
    assert_eq!(none, "`links[0].count`: expected 1 to 64, found 0");
    let far = refused(|node| node.links.as_mut().expect("links")[0].gpus[1] = 72);
    assert_eq!(far, "`links[0].gpus`: expected 0 to 71, found 72");
    let shared = refused(|node| node.gpu_link.sharing = octavo_node::LinkSharing::PerGpu);
    assert!(shared.starts_with("`gpu_link.sharing`: expected per-pair"), "{shared}");
    let mut node = preset("dgx-v100-4");
    node.links = None;
    node.validate().expect("without a list all are linked");
}
