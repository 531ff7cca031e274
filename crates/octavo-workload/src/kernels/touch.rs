//! Touches of memory in a pattern that options describe: the accesses of the probes of a real GPU, for its simulated
//! node.
//!
//! Threads take touches in turn, neighbouring threads neighbouring touches, as grid-stride loops do. A touch is at a
//! place; places lie `stride` bytes apart, in ascending or pseudo-random order. Runs of `run` bytes begin `spacing`
//! bytes apart, so that a part of the memory is left out. Address arithmetic is left out: on a GPU it hides behind the
//! accesses.
//!
//! One thread with one load in flight is a pointer chase. Many with several are a stream, one thread of each group and
//! a stride of a block of the driver are lone faults, and `intensity` makes it the kernel of the roofline with the
//! interconnect.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, LINE_BYTES, Launch, Op, OpSink, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_lanes, steps, store_lanes};
use crate::random::permuted;
use crate::scale;

/// Bytes at scale 1, this project's choice.
const USUAL_BYTES: u64 = 64 * scale::MEGABYTE;
/// Most of everything that is counted, so that products of counts fit.
const MOST: u64 = 1 << 24;
/// Most launches, each of which may have memory of its own.
const MOST_LAUNCHES: u32 = 1 << 10;
/// Operations of a fused multiply-add.
const FMA: f64 = 2.0;

/// The order in which places are touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// One after another.
    #[default]
    Ascending,
    /// Each once, in an order that looks like none; the number of places is a power of two.
    Random,
}

/// The action at each place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Loads.
    #[default]
    Read,
    /// Stores.
    Write,
    /// Loads, and stores at the same place of a second buffer.
    Copy,
}

/// Options of `touch`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TouchOptions {
    /// Bytes that places lie in, a multiple of `stride`. Default: 64 MB times the scale (this project's choice).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Bytes that each thread touches at a place, a power of two from 1 to 64. Default 4.
    pub width: u64,
    /// Bytes from one place to the next, a multiple of `width`. Default: `width`, that is every byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stride: Option<u64>,
    /// Places in a row, in bytes, between which memory is left out; a multiple of `stride`. Default: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<u64>,
    /// Bytes from the beginning of one such run to the next, at least `run`. Default: `run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spacing: Option<u64>,
    /// `ascending` or `random`. Default `ascending`.
    pub order: Order,
    /// `read`, `write` or `copy`. Default `read`.
    pub operation: Operation,
    /// How many touches there are, beginning again at the first place after the last; with 0 the kernel is empty.
    /// Default: each place once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub touches: Option<u64>,
    /// Work-groups. Default 256.
    pub groups: u32,
    /// Wavefronts of each work-group, 1 to 16. Default 4.
    pub wavefronts: u32,
    /// Threads of each wavefront that touch anything, 1 to 64. Default 64.
    pub lanes: u32,
    /// Touches of a thread before it waits for them, 1 to 32. Default 4.
    pub in_flight: u32,
    /// Operations for each byte touched, two in a fused multiply-add, 0 to 1024. Default 0.
    pub intensity: f64,
    /// Launches, 1 to 1024. Default 1.
    pub launches: u32,
    /// Whether each launch has its own memory instead of the first launch's. Default `false`.
    pub fresh: bool,
    /// Work-groups by which touches go round the grid from one launch to the next. With one group a GPU and `turn` 1,
    /// GPU n touches what GPU n - 1 touched before. Default 0.
    #[serde(skip_serializing_if = "is_no_turn")]
    pub turn: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_no_turn(turn: &u32) -> bool {
    *turn == 0
}

impl Default for TouchOptions {
    fn default() -> Self {
        Self {
            bytes: None,
            width: 4,
            stride: None,
            run: None,
            spacing: None,
            order: Order::Ascending,
            operation: Operation::Read,
            touches: None,
            groups: 256,
            wavefronts: 4,
            lanes: WAVEFRONT_LANES,
            in_flight: 4,
            intensity: 0.0,
            launches: 1,
            fresh: false,
            turn: 0,
        }
    }
}

/// The places of one buffer.
#[derive(Clone, Copy, Debug)]
struct Places {
    count: u64,
    stride: u64,
    run: u64,
    spacing: u64,
    /// Mixed into the order, if that looks like none.
    seed: Option<u64>,
}

impl Places {
    fn of(options: &TouchOptions, bytes: u64, seed: u64) -> Result<Self, OptionError> {
        let TouchOptions { width, order, .. } = *options;
        let stride = options.stride.unwrap_or(width);
        multiple_of("stride", stride, width)?;
        multiple_of("bytes", bytes, stride)?;
        let run = options.run.unwrap_or(bytes);
        multiple_of("run", run, stride)?;
        let spacing = options.spacing.unwrap_or(run);
        if spacing < run || spacing > 1 << 38 || !spacing.is_multiple_of(width) {
            let expected = format!("expected a multiple of {width} from {run} to 2^38, found {spacing}");
            return Err(OptionError::new("spacing", expected));
        }
        let count = bytes / stride;
        if order == Order::Random && !count.is_power_of_two() {
            let found = format!("expected a power of two of places {stride} bytes apart, found {count}");
            return Err(OptionError::new("bytes", found));
        }
        let seed = (order == Order::Random).then_some(seed);
        Ok(Self { count, stride, run, spacing, seed })
    }

    /// Bytes of a buffer that all of them lie in.
    fn extent(&self) -> u64 {
        let bytes = self.count * self.stride;
        (bytes.div_ceil(self.run) - 1) * self.spacing + self.run.min(bytes)
    }

    /// The place of the touch with that number, from the beginning of the buffer.
    #[inline]
    fn at(&self, touch: u64) -> u64 {
        let place = touch % self.count;
        let place = self.seed.map_or(place, |seed| permuted(place, self.count, seed));
        let within = place * self.stride;
        within / self.run * self.spacing + within % self.run
    }
}

/// Touches in a pattern.
pub struct Touch {
    options: TouchOptions,
    places: Places,
    /// Touches of each launch.
    touches: u64,
    buffers: Vec<Buffer>,
}

impl Touch {
    /// Touches as `options` say, of memory of `bytes` bytes that places lie in.
    ///
    /// # Errors
    /// Options out of their range, or that do not go together.
    pub fn new(options: TouchOptions, bytes: u64, seed: u64) -> Result<Self, OptionError> {
        if !options.width.is_power_of_two() || options.width > LINE_BYTES {
            let expected = format!("expected a power of two from 1 to {LINE_BYTES}, found {}", options.width);
            return Err(OptionError::new("width", expected));
        }
        within("groups", options.groups, MOST as u32)?;
        within("wavefronts", options.wavefronts, 16)?;
        within("lanes", options.lanes, WAVEFRONT_LANES)?;
        within("in_flight", options.in_flight, 32)?;
        within("launches", options.launches, MOST_LAUNCHES)?;
        if !(0.0..=1024.0).contains(&options.intensity) {
            let expected = format!("expected 0 to 1024 operations a byte, found {}", options.intensity);
            return Err(OptionError::new("intensity", expected));
        }
        scale::given("bytes", bytes)?;
        let places = Places::of(&options, bytes, seed)?;
        let touches = options.touches.map_or(Ok(places.count), given_or_none)?;
        let buffers = buffers(&options, &places);
        let touch = Self { options, places, touches, buffers };
        if touch.rounds() > u64::from(u32::MAX) / 4 {
            return Err(OptionError::new("touches", "expected at most 2^30 for each thread, found more"));
        }
        Ok(touch)
    }

    fn threads(&self) -> u64 {
        u64::from(self.options.groups) * u64::from(self.options.wavefronts) * u64::from(self.options.lanes)
    }

    /// Touches of each thread, the last of which some may not have.
    fn rounds(&self) -> u64 {
        self.touches.div_ceil(self.threads())
    }

    /// Vector instructions that a wavefront's touch asks for, one more now and then so that they sum up.
    fn instructions(&self, round: u64) -> u64 {
        let each = self.options.intensity * self.options.width as f64 / FMA;
        let until = |rounds: u64| (rounds as f64 * each) as u64;
        until(round + 1) - until(round)
    }

    /// The buffer that a launch reads or writes, and with [`Operation::Copy`] also the buffer that it writes.
    fn buffers_of(&self, launch: u32) -> &[Buffer] {
        let each = if self.options.operation == Operation::Copy { 2 } else { 1 };
        let first = if self.options.fresh { launch as usize * each } else { 0 };
        &self.buffers[first..first + each]
    }
}

/// This many vector instructions.
fn compute(out: &mut OpSink<'_>, mut instructions: u64) {
    while instructions > 0 {
        let some = instructions.min(Op::MAX_COUNT.into());
        out.push(Op::compute(some as u32));
        instructions -= some;
    }
}

fn buffers(options: &TouchOptions, places: &Places) -> Vec<Buffer> {
    let mut space = AddressSpace::default();
    let names: &[&str] = if options.operation == Operation::Copy { &["from", "to"] } else { &["memory"] };
    for copy in 0..if options.fresh { options.launches } else { 1 } {
        for name in names {
            let name = if options.fresh { format!("{name} {copy}") } else { (*name).to_owned() };
            space.allocate(&name, places.extent());
        }
    }
    space.buffers().to_vec()
}

/// No touches, or a number of them that can be numbered.
fn given_or_none(touches: u64) -> Result<u64, OptionError> {
    if touches == 0 { Ok(0) } else { scale::given("touches", touches) }
}

fn within(key: &str, found: u32, most: u32) -> Result<(), OptionError> {
    if (1..=most).contains(&found) {
        return Ok(());
    }
    Err(OptionError::new(key, format!("expected 1 to {most}, found {found}")))
}

fn multiple_of(key: &str, found: u64, of: u64) -> Result<(), OptionError> {
    if found > 0 && found.is_multiple_of(of) {
        return Ok(());
    }
    Err(OptionError::new(key, format!("expected a multiple of {of}, found {found}")))
}

impl Workload for Touch {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// Memory that is read first belongs to the host; it reads nothing in the end.
    fn host_side(&self) -> HostSide {
        let stored = |buffer: &&Buffer| self.options.operation == Operation::Write || buffer.name.starts_with("to");
        let (stored, loaded): (Vec<&Buffer>, Vec<&Buffer>) = self.buffers.iter().partition(stored);
        let [loaded, stored] = [loaded, stored].map(|buffers| buffers.into_iter().map(|buffer| buffer.name.as_str()));
        HostSide::of(self.buffers()).inputs(loaded).scratch(stored).build()
    }

    fn launches(&self) -> u32 {
        self.options.launches
    }

    fn launch(&self, _index: u32) -> Launch {
        let TouchOptions { groups, wavefronts, .. } = self.options;
        Launch { kernel: "touch".into(), work_groups: groups, wavefronts_per_group: wavefronts }
    }

    /// Steps: the touches that may be in flight, a wait, the computation, and with a copy the same number of stores.
    fn fill(&self, launch: u32, group: u32, wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let TouchOptions { groups, wavefronts, lanes, in_flight, operation, width, turn, .. } = self.options;
        let buffers = self.buffers_of(launch);
        let turned = u64::from(launch) * u64::from(turn) % u64::from(groups);
        let group = (u64::from(group) + u64::from(groups) - turned) % u64::from(groups);
        let first = (group * u64::from(wavefronts) + u64::from(wavefront)) * u64::from(lanes);
        let phases = buffers.len() as u32;
        let turns = (self.rounds() as u32).div_ceil(in_flight);
        steps(cursor, out, turns * in_flight * phases, |step, out| {
            let (turn, part) = (step / (in_flight * phases), step % (in_flight * phases));
            let (phase, part) = (part / in_flight, part % in_flight);
            let round = u64::from(turn * in_flight + part);
            let begin = first + round * self.threads();
            let end = (begin + u64::from(lanes)).min(self.touches);
            let addresses = (begin..end.max(begin)).map(|touch| buffers[phase as usize].base + self.places.at(touch));
            if operation == Operation::Write || phase == 1 {
                store_lanes(out, addresses, width);
            } else {
                load_lanes(out, addresses);
            }
            if part + 1 == in_flight && phase == 0 {
                out.push(Op::WAIT);
                let touched = (0..u64::from(in_flight)).map(|part| u64::from(turn * in_flight) + part);
                let begun = touched.filter(|round| first + round * self.threads() < self.touches);
                compute(out, begun.map(|round| self.instructions(round)).sum());
            }
        });
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "touch",
    summary: "touches of memory in a given pattern: chases, streams, lone faults, the roofline's kernel",
    source: "what the probes of `octavo calibrate` do on a real GPU",
    schema: typed::schema::<TouchOptions>,
    resolve: typed::resolve::<TouchOptions>,
    build: |options, size: &Size| {
        let options: TouchOptions = typed::parse(options)?;
        let granule = options.stride.unwrap_or(options.width).max(1);
        let bytes = options.bytes.map_or_else(|| scale::length(USUAL_BYTES, size.scale, granule), Ok)?;
        Ok(Box::new(Touch::new(options, bytes, size.seed)?))
    },
};
