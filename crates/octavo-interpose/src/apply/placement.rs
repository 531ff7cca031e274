//! The placement file: which allocations should have another kind. `python/octavo/advice/placement_file.py` writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use crate::kind::Kind;
use crate::site::Frame;

/// The format that is read.
pub const FORMAT: u32 = 2;
/// The largest file that is read, in bytes; our choice: a thousand times the size of a hundred buffers.
const MOST: u64 = 64 << 20;
/// Calls whose memory can have another kind, and the kind that it has.
const CALLS: [(&str, Kind); 8] = [
    ("cudaMalloc", Kind::Device),
    ("cuMemAlloc", Kind::Device),
    ("cudaMallocManaged", Kind::Managed),
    ("cuMemAllocManaged", Kind::Managed),
    ("cudaMallocHost", Kind::Pinned),
    ("cudaHostAlloc", Kind::Pinned),
    ("cuMemAllocHost", Kind::Pinned),
    ("cuMemHostAlloc", Kind::Pinned),
];
/// Calls that are always passed on, even against the advice.
const PASSED_ON: [&str; 6] = [
    "cudaMallocAsync",
    "cudaMallocFromPoolAsync",
    "cudaMallocPitch",
    "cuMemAllocAsync",
    "cuMemAllocFromPoolAsync",
    "cuMemAllocPitch",
];

/// A hint for the driver about managed memory, given once it is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hint {
    /// The memory prefers the device.
    PreferDevice,
    /// The memory prefers the host.
    PreferHost,
    /// The device maps it, wherever it is.
    AccessedByDevice,
    /// The memory is mostly read.
    ReadMostly,
    /// Its pages are brought to the device at once.
    Prefetch,
}

/// When managed memory moves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moves {
    /// To the device before a launch that uses it, at first and whenever the host has touched it since.
    #[serde(default)]
    pub to_device: bool,
    /// To the host before it waits after this many launches of the process.
    #[serde(default)]
    pub to_host_after: BTreeSet<u64>,
    /// To the host before these launches of the process, counted from 0, which need the room.
    #[serde(default)]
    pub to_host_before: BTreeSet<u64>,
    /// What is in it is discarded before all of it is filled.
    #[serde(default)]
    pub discard_before_fill: bool,
}

/// A kernel with a shape, as it was recorded.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Its name; none if it has none.
    pub name: Option<String>,
    /// Thread blocks.
    pub blocks: u64,
    /// Threads of each.
    pub threads_per_block: u64,
}

/// The times of launches without the file, with which moves are compared.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// All kernels.
    pub kernels: Vec<Site>,
    /// The first launches, in order: the number of the kernel, nanoseconds that it ran, and that it began after the one
    /// before; null where that is not known.
    pub launches: Vec<(usize, Option<i64>, Option<i64>)>,
}

/// The wishes for the allocations of one place and size.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// For people.
    pub name: String,
    /// The function that the program calls.
    pub call: String,
    /// Bytes of each allocation.
    pub bytes: u64,
    /// The callers, nearest first.
    pub frames: Vec<Frame>,
    /// Which allocations of this place and size, 0 for the first of the process; all if left out.
    #[serde(default)]
    pub order: Option<BTreeSet<u64>>,
    /// The kind that it should have.
    pub placement: Kind,
    /// Hints for the driver, in this order.
    #[serde(default)]
    pub hints: Vec<Hint>,
    /// Whether the host itself stores what the program copies to it, and the like; only for device memory that becomes
    /// managed memory on the host.
    #[serde(default)]
    pub copied_by_host: bool,
    /// When it moves; only for managed memory.
    #[serde(default)]
    pub moves: Option<Moves>,
    /// Whether the host never reads or writes it by its address, so that it may lie in device memory.
    #[serde(default)]
    pub host_never_touches: bool,
}

#[derive(Deserialize)]
struct Version {
    octavo_placement: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "octavo_placement")]
    _format: u32,
    #[serde(default, rename = "program")]
    _program: Vec<String>,
    buffers: Vec<Buffer>,
    #[serde(default)]
    recorded: Recorded,
}

/// Buffers by call and size, as few allocations share both.
#[derive(Debug, Default)]
pub struct Placement {
    /// In the order of the file.
    pub buffers: Vec<Buffer>,
    /// What was recorded.
    pub recorded: Recorded,
    moves: bool,
    by_size: BTreeMap<(&'static str, u64), Vec<usize>>,
}

impl Placement {
    /// Reads a file.
    ///
    /// # Errors
    /// Why it is not applied: file, key, what was expected and what was found.
    pub fn read(path: &Path) -> Result<Self, String> {
        let say = |why: String| format!("{}: {why}", path.display());
        let about = std::fs::metadata(path).map_err(|error| say(error.to_string()))?;
        if !about.is_file() {
            let found = if about.is_dir() { "a folder" } else { "something else" };
            return Err(say(format!("expected a file, found {found}")));
        }
        if about.len() > MOST {
            return Err(say(format!("expected a file of at most {MOST} B, found {} B", about.len())));
        }
        let text = std::fs::read(path).map_err(|error| say(error.to_string()))?;
        Self::parse(&text).map_err(say)
    }

    fn parse(text: &[u8]) -> Result<Self, String> {
        let version: Version = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if version.octavo_placement != FORMAT {
            return Err(format!("octavo_placement: expected format {FORMAT}, found {}", version.octavo_placement));
        }
        let file: File = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if let Some((kernel, ..)) =
            file.recorded.launches.iter().find(|(kernel, ..)| *kernel >= file.recorded.kernels.len())
        {
            let count = file.recorded.kernels.len();
            return Err(format!("recorded.launches: expected numbers of {count} kernels, found {kernel}"));
        }
        let mut read = Self { recorded: file.recorded, ..Self::default() };
        for buffer in file.buffers {
            read.add(buffer)?;
        }
        Ok(read)
    }

    fn add(&mut self, buffer: Buffer) -> Result<(), String> {
        let key = key(&buffer)?;
        let number = self.buffers.len();
        let others = self.by_size.entry(key).or_default();
        if let Some(other) = others.iter().map(|other| &self.buffers[*other]).find(|other| both(other, &buffer)) {
            return Err(format!("buffers[{number}]: `{}` means allocations that `{}` means", buffer.name, other.name));
        }
        others.push(number);
        self.moves |= buffer.moves.is_some() || buffer.copied_by_host;
        self.buffers.push(buffer);
        Ok(())
    }

    /// Whether it moves anything, or lets the host copy.
    pub fn moves(&self) -> bool {
        self.moves
    }

    /// Whether any buffer has this call and size.
    pub fn may_mean(&self, call: &'static str, bytes: u64) -> bool {
        self.by_size.contains_key(&(call, bytes))
    }

    /// Buffers with this call and size and these callers.
    pub fn at(&self, call: &'static str, bytes: u64, frames: &[Frame]) -> Vec<usize> {
        let found = self.by_size.get(&(call, bytes)).into_iter().flatten().copied();
        found.filter(|number| same(&self.buffers[*number].frames, frames)).collect()
    }
}

/// The key of a buffer, if its wish can be fulfilled.
fn key(buffer: &Buffer) -> Result<(&'static str, u64), String> {
    let refuse = |key: &str, expected: &str, found: &str| {
        Err(format!("buffer `{}`: {key}: expected {expected}, found {found}", buffer.name))
    };
    if let Some(call) = PASSED_ON.iter().find(|call| **call == buffer.call) {
        return Ok((call, buffer.bytes));
    }
    let Some((call, made)) = CALLS.iter().find(|(call, _)| *call == buffer.call) else {
        let all: Vec<_> = CALLS.iter().map(|(call, _)| *call).chain(PASSED_ON).collect();
        return refuse("call", &format!("one of {}", all.join(", ")), &format!("`{}`", buffer.call));
    };
    if buffer.bytes == 0 || buffer.frames.is_empty() {
        return refuse("bytes and frames", "more than none", "none");
    }
    if buffer.placement != Kind::Managed && !buffer.hints.is_empty() {
        return refuse("hints", "none, as only managed memory has any", &format!("{}", buffer.hints.len()));
    }
    if buffer.placement != Kind::Managed && buffer.moves.is_some() {
        return refuse("moves", "none, as only managed memory moves", "some");
    }
    let on_host = [Hint::PreferHost, Hint::AccessedByDevice].iter().all(|hint| buffer.hints.contains(hint));
    if buffer.copied_by_host && !(*made == Kind::Device && on_host && buffer.moves.is_none()) {
        let expected =
            "hints `prefer-host` and `accessed-by-device`, no moves, and a call that allocates device memory";
        return refuse("copied_by_host", expected, "others");
    }
    if buffer.placement == Kind::Device && *made != Kind::Device && !buffer.host_never_touches {
        return refuse("host_never_touches", "true, for what the host may touch now to lie on the device", "false");
    }
    Ok((call, buffer.bytes))
}

/// Whether two buffers with the same call and size mean the same allocations.
fn both(one: &Buffer, other: &Buffer) -> bool {
    let apart = matches!((&one.order, &other.order), (Some(one), Some(other)) if one.is_disjoint(other));
    same(&one.frames, &other.frames) && !apart
}

/// Whether callers are the same ones: of files by their names, wherever they lie. Code without a file has no address
/// that stays. `python/octavo/advice/recording.py` tells them apart in the same way.
fn same(one: &[Frame], other: &[Frame]) -> bool {
    let name = |frame: &Frame| frame.module.rsplit('/').next().unwrap_or_default().to_owned();
    let alike = |(one, other): (&Frame, &Frame)| {
        name(one) == name(other) && (name(one).is_empty() || one.offset == other.offset)
    };
    one.len() == other.len() && one.iter().zip(other).all(alike)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Placement;

    fn buffer(changes: &Value) -> Value {
        let mut buffer = json!({
            "name": "a.c:1", "call": "cudaMalloc", "bytes": 64, "placement": "managed",
            "frames": [{"module": "/bin/a", "offset": 16}],
        });
        buffer.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        buffer
    }

    fn read(buffers: &[Value]) -> Result<Placement, String> {
        Placement::parse(json!({"octavo_placement": 2, "buffers": buffers}).to_string().as_bytes())
    }

    #[test]
    fn callers_are_found_wherever_their_files_lie() {
        let read = read(&[buffer(&json!({}))]).unwrap();
        let frame =
            |module: &str, offset| [serde_json::from_value(json!({"module": module, "offset": offset})).unwrap()];
        assert!(
            read.may_mean("cudaMalloc", 64) && !read.may_mean("cuMemAlloc", 64) && !read.may_mean("cudaMalloc", 65)
        );
        assert_eq!(read.at("cudaMalloc", 64, &frame("/elsewhere/a", 16)), [0]);
        assert!(read.at("cudaMalloc", 64, &frame("/bin/a", 17)).is_empty());
        assert!(read.at("cudaMalloc", 64, &frame("/bin/b", 16)).is_empty());
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let cases = [
            (json!({"call": "cudaMallocs"}), "call: expected one of cudaMalloc, cuMemAlloc"),
            (json!({"sort": 1}), "unknown field `sort`"),
            (json!({"placement": "host"}), "unknown variant `host`, expected one of `device`, `managed`, `pinned`"),
            (json!({"bytes": 0}), "bytes and frames: expected more than none"),
            (json!({"placement": "pinned", "hints": ["prefetch"]}), "hints: expected none"),
            (json!({"placement": "pinned", "moves": {"to_device": true}}), "moves: expected none"),
            (json!({"call": "cudaMallocManaged", "placement": "device"}), "host_never_touches: expected true"),
            (json!({"copied_by_host": true, "hints": ["prefer-host"]}), "copied_by_host: expected hints `prefer-host`"),
        ];
        for (changes, expected) in cases {
            let refused = read(&[buffer(&changes)]).unwrap_err();
            assert!(refused.contains(expected), "{refused}");
        }
        let other = Placement::parse(br#"{"octavo_placement": 1, "anything": 1}"#).unwrap_err();
        assert_eq!(other, "octavo_placement: expected format 2, found 1");
    }

    #[test]
    fn no_two_buffers_mean_an_allocation() {
        let ordered = |order: &[u64]| buffer(&json!({"order": order}));
        assert!(read(&[ordered(&[0, 2]), ordered(&[1])]).is_ok());
        assert!(read(&[ordered(&[0, 1]), ordered(&[1])]).unwrap_err().contains("means allocations that"));
        assert!(read(&[ordered(&[0]), buffer(&json!({}))]).is_err());
    }
}
