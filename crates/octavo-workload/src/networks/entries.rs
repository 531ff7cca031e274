//! Networks by the names that users type.

use std::path::Path;

use octavo_program::{Size, Workload, WorkloadEntry};
use octavo_registry::{OptionError, Options, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::digest::digest;
use super::file::File;
use super::replay::{Extent, Replay};
use super::stages::Cut;

/// Most iterations.
const MOST_ITERATIONS: u32 = 1000;
/// Most replicas.
const MOST_REPLICAS: u32 = 64;

/// Options of the networks that come with Octavo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkOptions {
    /// Samples of a batch, at most 2^20. Default: the published one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// Steps, one after another, 1 to 1000. Default 1.
    pub iterations: u32,
    /// Copies of the network with memory and a batch of their own: 1, or one for each GPU that it runs on, at most 64.
    /// Default 1.
    pub replicas: u32,
    /// Whether replicas sum their gradients before the optimizer uses them, by a ring. Default false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all_reduce: bool,
    /// Parts that the network is split into by layer: 1, or one for each GPU that it runs on, at most 64. Default 1.
    #[serde(skip_serializing_if = "is_one")]
    pub stages: u32,
    /// Which part each of them gets: `work`, about as much to do, or `layers`, about as many tensors of
    /// parameters (a layer's weights are one, its bias another). Default `work`.
    #[serde(skip_serializing_if = "is_work")]
    pub cut: Cut,
}

impl Default for NetworkOptions {
    fn default() -> Self {
        Self { batch: None, iterations: 1, replicas: 1, all_reduce: false, stages: 1, cut: Cut::Work }
    }
}

/// Options of `step`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StepOptions {
    /// File of the recorded step, relative to the working directory. No default: it is required.
    pub path: Option<String>,
    /// Samples of a batch, at most 2^20, if the recording lets one choose. Default: as the file says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// Steps, one after another, 1 to 1000. Default 1.
    pub iterations: u32,
    /// Copies of the network with memory and a batch of their own: 1, or one for each GPU that it runs on, at most 64.
    /// Default 1.
    pub replicas: u32,
    /// Whether replicas sum their gradients before the optimizer uses them, by a ring. Default false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all_reduce: bool,
    /// Parts that the network is split into by layer: 1, or one for each GPU that it runs on, at most 64. Default 1.
    #[serde(skip_serializing_if = "is_one")]
    pub stages: u32,
    /// Which part each of them gets: `work`, about as much to do, or `layers`, about as many tensors of
    /// parameters (a layer's weights are one, its bias another). Default `work`.
    #[serde(skip_serializing_if = "is_work")]
    pub cut: Cut,
    /// Digest of the file, so that results of another file are not reused. Default: computed.
    pub digest: Option<String>,
}

impl Default for StepOptions {
    fn default() -> Self {
        Self {
            path: None,
            batch: None,
            iterations: 1,
            replicas: 1,
            all_reduce: false,
            stages: 1,
            cut: Cut::Work,
            digest: None,
        }
    }
}

/// Results of networks that are not split need not say so.
fn is_one(stages: &u32) -> bool {
    *stages == 1
}

/// Nor those that are split by work.
fn is_work(cut: &Cut) -> bool {
    *cut == Cut::Work
}

fn replay(file: &File, batch: Option<u32>, extent: Extent) -> Result<Box<dyn Workload>, OptionError> {
    for (key, most, found) in [
        ("iterations", MOST_ITERATIONS, extent.iterations),
        ("replicas", MOST_REPLICAS, extent.replicas),
        ("stages", MOST_REPLICAS, extent.stages),
    ] {
        if !(1..=most).contains(&found) {
            return Err(OptionError::new(key, format!("expected 1 to {most}, found {found}")));
        }
    }
    if extent.all_reduce && extent.replicas == 1 {
        return Err(OptionError::new("all_reduce", "expected at least 2 replicas (`replicas`) beside it, found 1"));
    }
    if extent.stages > 1 && extent.replicas > 1 {
        let (replicas, stages) = (extent.replicas, extent.stages);
        let message = format!("expected 1 beside several replicas (`replicas`), found {stages} beside {replicas}");
        return Err(OptionError::new("stages", message));
    }
    if extent.cut != Cut::Work && extent.stages == 1 {
        return Err(OptionError::new("cut", "expected at least 2 stages (`stages`) beside it, found 1"));
    }
    let step = file.step(batch).map_err(|why| OptionError::new("batch", why))?;
    Ok(Box::new(Replay::new(&step, extent)?))
}

fn shipped(bytes: &[u8], options: &Options, size: &Size) -> Result<Box<dyn Workload>, OptionError> {
    let NetworkOptions { batch, iterations, replicas, all_reduce, stages, cut } = typed::parse(options)?;
    let file = File::parse(bytes).map_err(|why| OptionError::new("", why))?;
    replay(&file, batch, Extent { iterations, replicas, all_reduce, stages, cut, scale: size.scale })
}

/// A network whose recorded step comes with Octavo.
macro_rules! network {
    ($entry:ident, $name:literal, $summary:literal, $source:literal) => {
        #[doc = $summary]
        pub static $entry: WorkloadEntry = WorkloadEntry {
            name: $name,
            summary: $summary,
            source: $source,
            schema: typed::schema::<NetworkOptions>,
            resolve: typed::resolve::<NetworkOptions>,
            build: |options, size: &Size| shipped(include_bytes!(concat!("recorded/", $name, ".step")), options, size),
        };
    };
}

network!(VGG16, "vgg16", "VGG16, a training step: 138 million parameters, large activations", "arXiv 1409.1556, D");
network!(RESNET18, "resnet18", "ResNet18, a training step: 12 million parameters", "arXiv 1512.03385, table 1");
network!(RESNET50, "resnet50", "ResNet50, a training step: 26 million parameters", "arXiv 1512.03385, table 1");
network!(
    RESNET101,
    "resnet101",
    "ResNet101, a training step: 45 million parameters, many operators",
    "arXiv 1512.03385, table 1"
);
network!(
    MOBILENET_V3_LARGE,
    "mobilenet_v3_large",
    "MobileNetV3-large, a training step: 5 million parameters, small operators",
    "arXiv 1905.02244, table 1"
);
network!(
    GNMT16,
    "gnmt16",
    "GNMT of 8 and 8 layers, a training step: 245 million parameters, long chains of small operators",
    "arXiv 1609.08144, section 3"
);

/// A recorded step in a file.
pub static STEP: WorkloadEntry = WorkloadEntry {
    name: "step",
    summary: "A recorded step of a PyTorch program, replayed: `workload.path` names the file",
    source: "docs/own-workload.md",
    schema: typed::schema::<StepOptions>,
    resolve: |options| {
        let mut parsed: StepOptions = typed::parse(options)?;
        // A scenario with a digest is a resolved one: it stays what it is, wherever its file has gone.
        if parsed.digest.is_none() {
            parsed.digest = Some(open(&parsed)?.1);
        }
        let mut resolved = typed::resolve::<StepOptions>(options)?;
        resolved.insert("digest".to_owned(), parsed.digest.into());
        Ok(resolved)
    },
    build: |options, size: &Size| {
        let options: StepOptions = typed::parse(options)?;
        let (file, found) = open(&options)?;
        if let Some(expected) = options.digest.filter(|expected| *expected != found) {
            let message = format!("another file than the scenario is about: {found}, expected {expected}");
            return Err(OptionError::new("digest", message));
        }
        let StepOptions { batch, iterations, replicas, all_reduce, stages, cut, .. } = options;
        replay(&file, batch, Extent { iterations, replicas, all_reduce, stages, cut, scale: size.scale })
    },
};

fn open(options: &StepOptions) -> Result<(File, String), OptionError> {
    let missing = || OptionError::new("path", "missing; expected the file of a recorded step");
    let path = options.path.as_ref().ok_or_else(missing)?;
    let (file, bytes) = File::open(Path::new(path)).map_err(|why| OptionError::new("path", why))?;
    Ok((file, digest(&bytes)))
}
