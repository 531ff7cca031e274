//! Background extraction (Hetero-Mark `be`): the host produces frame after frame, the GPU takes out what moves.
//!
//! A thread for each byte of a frame, work-groups of 64. It loads its byte and the background's (a float), stores the
//! byte to the foreground where the two differ by more than 10, 0 otherwise, and moves the background a little towards
//! the frame. The host writes a frame before each launch and reads the foreground behind it. The first frame is the
//! background to begin with. Hetero-Mark decodes one frame while the GPU works on another; here the two take turns.
//!
//! The video is drawn: a still picture, noise, and a tenth of the picture that is brighter and moves on from frame to
//! frame.

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::{WAVEFRONT_LANES, load_span, push_all, store_span};
use crate::random;
use crate::scale;

/// Bytes of a pixel of three colours, and of a colour of the background.
const PIXEL: u64 = 3;
const FLOAT: u64 = 4;
/// Threads of a work-group, which is one wavefront.
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Pixels at scale 1 (1920 x 1080), and at most.
const USUAL_PIXELS: u64 = 1920 * 1080;
const MOST_PIXELS: u64 = 1 << 30;
/// Pixels that differ by more belong to the foreground; and the share of a frame that joins the background
/// (Hetero-Mark).
const THRESHOLD: u8 = 10;
const LEARNT: f32 = 0.03;

/// Instructions between memory accesses, counted by hand from the algorithm, not from a compiled kernel: vector,
/// scalar, local data, branch.
const LOCATE: Op = Op::mix(5, 2, 0, 1);
/// The difference, the choice, and the new background.
const COMPARE: Op = Op::mix(10, 0, 0, 0);

/// Options of `background`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BackgroundOptions {
    /// Pixels of a frame. Default: 1920 x 1080 times the scale (this project's choice).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pixels: Option<u64>,
    /// Frames after the first, 1 to 1000. Default 10 (this project's choice; Hetero-Mark takes all of a video).
    pub frames: u32,
}

impl Default for BackgroundOptions {
    fn default() -> Self {
        Self { pixels: None, frames: 10 }
    }
}

/// The extraction from one video.
pub struct Background {
    /// Bytes of a frame.
    bytes: u64,
    frames: u32,
    seed: u64,
    frame: Buffer,
    background: Buffer,
    foreground: Buffer,
    buffers: Vec<Buffer>,
}

impl Background {
    /// `frames` frames of `pixels` pixels, neither zero, after the first.
    #[must_use]
    pub fn new(pixels: u64, frames: u32, seed: u64) -> Self {
        let bytes = pixels * PIXEL;
        let mut space = AddressSpace::default();
        let frame = space.allocate("frame", bytes);
        let background = space.allocate("background", bytes * FLOAT);
        let foreground = space.allocate("foreground", bytes);
        Self { bytes, frames, seed, frame, background, foreground, buffers: space.buffers().to_vec() }
    }

    /// The frame with this number, from 0.
    #[must_use]
    pub fn frame(&self, number: u32) -> Vec<u8> {
        let tenth = self.bytes.div_ceil(10);
        let first = u64::from(number) * (tenth / 4 + 1) % self.bytes;
        let byte = |at: u64| {
            let still = 20 + (random::mixed(self.seed ^ at) % 160) as u8;
            let noise = (random::mixed(random::mixed(self.seed ^ at) ^ u64::from(number)) % 7) as u8;
            let moves = number > 0 && (at + self.bytes - first) % self.bytes < tenth;
            still + noise + if moves { 60 } else { 0 }
        };
        (0..self.bytes).map(byte).collect()
    }

    /// The foreground of the last frame, and the background after it.
    #[must_use]
    pub fn extracted(&self) -> (Vec<u8>, Vec<f32>) {
        let mut background: Vec<f32> = self.frame(0).into_iter().map(f32::from).collect();
        let mut foreground = vec![0; background.len()];
        for number in 1..=self.frames {
            for ((byte, kept), found) in self.frame(number).into_iter().zip(&mut background).zip(&mut foreground) {
                // The kernel cuts the difference to a byte.
                let differs = (f32::from(byte) - *kept).abs() as u8 > THRESHOLD;
                *found = if differs { byte } else { 0 };
                *kept = *kept * (1.0 - LEARNT) + f32::from(byte) * LEARNT;
            }
        }
        (foreground, background)
    }
}

impl Workload for Background {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn host_side(&self) -> HostSide {
        let mut side = HostSide::of(self.buffers()).inputs(["background"]).scratch(["frame", "foreground"]);
        for launch in 0..self.frames {
            side = side.writes_before(launch, ["frame"]).reads_before(launch + 1, ["foreground"]);
        }
        side.build()
    }

    fn launches(&self) -> u32 {
        self.frames
    }

    fn launch(&self, _index: u32) -> Launch {
        let work_groups = self.bytes.div_ceil(LANES) as u32;
        Launch { kernel: "BackgroundExtraction".into(), work_groups, wavefronts_per_group: 1 }
    }

    fn resources(&self, _index: u32) -> Resources {
        // By hand: addresses, the byte, the background.
        Resources { vector_registers: 8, scalar_registers: 16, local_data_bytes: 0 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, _launch: u32, group: u32, _wavefront: u32, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let first = u64::from(group) * LANES;
        let lanes = LANES.min(self.bytes - first);
        push_all(out, &[Op::WAIT, LOCATE]);
        load_span(out, self.frame.at(first, 1), lanes);
        load_span(out, self.background.at(first, FLOAT), lanes * FLOAT);
        push_all(out, &[Op::WAIT, COMPARE]);
        store_span(out, self.foreground.at(first, 1), lanes);
        store_span(out, self.background.at(first, FLOAT), lanes * FLOAT);
        out.push(Op::END);
    }

    fn result(&self) -> Vec<(&'static str, Vec<f64>)> {
        let (foreground, background) = self.extracted();
        let frames = (0..=self.frames).flat_map(|number| self.frame(number));
        vec![
            ("foreground", foreground.into_iter().map(f64::from).collect()),
            ("background", background.into_iter().map(f64::from).collect()),
            ("frames", frames.map(f64::from).collect()),
        ]
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "background",
    summary: "background extraction from a video: the host makes frames, the GPU streams over each once",
    source: "Hetero-Mark be; one of MemMap's applications (PACT 2020), size of this project's choice",
    schema: typed::schema::<BackgroundOptions>,
    resolve: typed::resolve::<BackgroundOptions>,
    build: |options, size: &Size| {
        let BackgroundOptions { pixels, frames } = typed::parse(options)?;
        if !(1..=1000).contains(&frames) {
            return Err(OptionError::new("frames", format!("expected 1 to 1000, found {frames}")));
        }
        let pixels = scale::chosen("pixels", pixels, USUAL_PIXELS, size.scale, 1, MOST_PIXELS)?;
        Ok(Box::new(Background::new(pixels, frames, size.seed)))
    },
};
