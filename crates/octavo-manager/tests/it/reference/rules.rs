//! Which memory system the model plays, and the manager's configuration for the same one.

use std::collections::BTreeMap;

use octavo_manager::{
    Advice, Kind, Manager, MemoryConfig, MemoryId, MemorySpec, PrefetchPlan, SpaceConfig, SystemConfig, Topology,
};
use octavo_registry::Choice;
use octavo_units::Bytes;
use serde_json::{Value, json};

use super::sizes::rules::Sizes;

/// The names of the applications.
const NAMES: [&str; 2] = ["one", "two"];

/// A node and its memory system.
#[derive(Clone, Debug)]
pub struct Rules {
    pub page_size: u64,
    /// The base page, where all pages are large ones of `page_size` (`sizing.name = "large"`).
    pub base_page: Option<u64>,
    /// Frames with numbers, where there are any.
    pub sizes: Option<Sizes>,
    /// Pages each GPU's memory holds.
    pub capacity: Vec<u32>,
    /// Pages each memory of the host holds, the nearest first; empty for one without a limit.
    pub hosts: Vec<u32>,
    /// Pages of each GPU's memory that are kept free.
    pub reserve: u32,
    pub placement: Placement,
    pub prefetch: Prefetch,
    /// Prefetched pages come by a plan of their own, after the faults' plan.
    pub own_plan: bool,
    pub eviction: Eviction,
    /// Accesses count as uses.
    pub sees_accesses: bool,
    /// Eighths of each GPU's memory that are guaranteed to the two applications, if they ask for a share; `None` if
    /// applications are not told apart.
    pub quota: Option<[Option<u32>; 2]>,
    /// Decides about the operating system's memory; must be a strategy without state.
    pub system: Placement,
    /// Decides about managed pages of the second application, if not `placement`; it may be the same.
    pub second_placement: Option<Placement>,
    /// What guards against thrashing.
    pub guard: Option<Guard>,
    /// What the second application allocates.
    pub second_kind: Kind,
    /// The advice on it.
    pub second_advice: Advice,
}

/// A prefetcher that the model knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefetch {
    Nothing,
    /// The production driver's; per cent of a subtree that must be there for the rest to come.
    Tree(u32),
    TreeNeighborhood,
    SequentialLocal,
    /// From this seed.
    RandomPage(u32),
}

/// An eviction strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    LruPage,
    LruBlock,
    LfuBlock,
    /// Per cent of the leaves that leave after all others.
    SequentialLocal(u32),
    TreeNeighborhood(u32),
    /// From this seed.
    RandomPage(u32),
    Nothing,
}

/// A placement strategy with the options the model knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    OnTouch,
    FirstTouch,
    AccessCounter(Remote),
    Duplication,
    Ideal,
    Grit(Grit),
    /// With this many profiled kernels.
    Gps(u32),
    Griffin(Griffin),
    /// From this GPU on, counted from 1; 0 is the last.
    Interleaved(u32),
}

/// Griffin's page classification. Ratios and shares are in hundredths: the compared numbers must be the same to the
/// last bit on both sides, which halves are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Griffin {
    pub smoothing: u32,
    pub touched: u32,
    pub dedicated: u32,
    pub shifting: u32,
    /// Most pages that move after one report.
    pub batch: u32,
    /// By how many pages a GPU must lead for its first touches to be delayed.
    pub lead: u32,
}

/// The production driver's guard against thrashing; times are in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    pub threshold: u8,
    pub pin_threshold: u8,
    pub lapse: u64,
    /// The lapse grows with moves that follow one another.
    pub adapts: bool,
    pub nap: u64,
    /// How long a page is pinned; 0 for ever.
    pub pin: u64,
    pub epoch: u64,
    pub max_resets: u8,
    pub links: Links,
}

/// Which memories processors reach by fast links, as the option says or the node: each other's, if these are GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    #[default]
    Node,
    None,
    Gpus,
    All,
}

impl Guard {
    fn choice(self) -> Choice {
        let time = |picoseconds: u64| format!("{picoseconds}ps");
        let links = match self.links {
            Links::Node => "node",
            Links::None => "none",
            Links::Gpus => "gpus",
            Links::All => "all",
        };
        let options = json!({
            "threshold": self.threshold, "pin_threshold": self.pin_threshold, "lapse": time(self.lapse),
            "adaptive_lapse": self.adapts, "nap": time(self.nap), "pin": time(self.pin), "epoch": time(self.epoch),
            "max_resets": self.max_resets, "fast_links": links,
        });
        choice("stock-driver", options)
    }
}

/// How the access-counter scheme treats its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Pages on the host are mapped over the host link, not migrated at a touch.
    pub map_host: bool,
    /// A counter moves its whole 64 KiB group, not only the touched page.
    pub moves_group: bool,
}

/// GRIT, and which of its components are switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grit {
    pub threshold: u32,
    pub cached: bool,
    pub prediction: bool,
    pub remote: Remote,
}

impl Default for Grit {
    fn default() -> Self {
        let remote = Remote { map_host: false, moves_group: false };
        Self { threshold: 4, cached: true, prediction: true, remote }
    }
}

impl Rules {
    /// A node with this many GPUs and no limit to their memory.
    pub fn unlimited(gpus: usize, placement: Placement) -> Self {
        let capacity = vec![u32::MAX; gpus];
        Self {
            page_size: 4 << 10,
            base_page: None,
            sizes: None,
            capacity,
            hosts: Vec::new(),
            reserve: 0,
            placement,
            prefetch: Prefetch::Nothing,
            own_plan: false,
            eviction: Eviction::LruPage,
            sees_accesses: false,
            quota: None,
            system: Placement::OnTouch,
            second_placement: None,
            guard: None,
            second_kind: Kind::Managed,
            second_advice: Advice::default(),
        }
    }

    /// Whether foreign data leaves room.
    pub fn is_possible(&self) -> bool {
        Manager::new(&self.config(), &self.topology()).is_ok()
    }

    pub fn gpus(&self) -> usize {
        self.capacity.len()
    }

    pub fn block_pages(&self) -> u32 {
        ((2 << 20) / self.page_size) as u32
    }

    pub fn big_page(&self) -> u32 {
        ((64 << 10) / self.page_size).max(1) as u32
    }

    pub fn topology(&self) -> Topology {
        let mut topology = Topology::of(self.capacity.clone());
        for (index, &capacity_pages) in self.hosts.iter().enumerate() {
            match index {
                0 => topology.memories[0].capacity_pages = capacity_pages,
                _ => topology.memories.push(MemorySpec { id: MemoryId::host(index), capacity_pages }),
            }
        }
        topology
    }

    /// The two applications, by name.
    pub fn spaces(&self) -> Vec<SpaceConfig> {
        let own = [None, self.second_placement.map(Placement::choice)];
        let named = |(name, placement): (&str, Option<Choice>)| SpaceConfig {
            name: name.to_owned(),
            placement,
            ..SpaceConfig::default()
        };
        NAMES.into_iter().zip(own).map(named).collect()
    }

    pub fn config(&self) -> MemoryConfig {
        let free = format!("{}B", u64::from(self.reserve) * self.page_size);
        let demotion =
            if self.reserve > 0 { choice("reserve", json!({ "free": free })) } else { choice("host", json!({})) };
        let config = MemoryConfig {
            demotion,
            guard: self.guard.map_or_else(|| choice("none", json!({})), Guard::choice),
            page_size: Bytes(self.base_page.unwrap_or(self.page_size)),
            sizing: self.sizing(),
            placement: self.placement.choice(),
            prefetch: self.prefetch.choice(),
            prefetch_plan: if self.own_plan { PrefetchPlan::Own } else { PrefetchPlan::Shared },
            eviction: self.eviction.choice(self.sees_accesses),
            system: SystemConfig { placement: self.system.choice(), ..SystemConfig::default() },
            sharing: self.quota.map_or_else(|| choice("free-for-all", json!({})), shares),
            ..MemoryConfig::default()
        };
        match &self.sizes {
            Some(sizes) => {
                MemoryConfig { allocator: sizes.allocator.choice(), fragmentation: sizes.fragmentation, ..config }
            }
            None => config,
        }
    }

    fn sizing(&self) -> Choice {
        match (&self.sizes, self.base_page) {
            (Some(sizes), _) => sizes.sizing.choice(self.page_size),
            (None, Some(_)) => choice("large", json!({ "large_page": Bytes(self.page_size).to_string() })),
            (None, None) => choice("base", json!({})),
        }
    }
}

fn shares(eighths: [Option<u32>; 2]) -> Choice {
    let said = NAMES.into_iter().zip(eighths).filter_map(|(name, part)| Some((name, f64::from(part?) / 8.0)));
    choice("quota", json!({ "shares": said.collect::<BTreeMap<_, _>>() }))
}

impl Prefetch {
    fn choice(self) -> Choice {
        match self {
            Self::Nothing => choice("none", json!({})),
            Self::Tree(threshold) => choice("tree", json!({ "threshold": threshold })),
            Self::TreeNeighborhood => choice("tree-neighborhood", json!({})),
            Self::SequentialLocal => choice("sequential-local", json!({})),
            Self::RandomPage(seed) => choice("random-page", json!({ "seed": seed })),
        }
    }
}

impl Eviction {
    fn choice(self, sees_accesses: bool) -> Choice {
        let mut choice = match self {
            Self::LruPage => choice("lru-page", json!({})),
            Self::LruBlock => choice("lru-block", json!({})),
            Self::LfuBlock => return choice("lfu-block", json!({})),
            Self::SequentialLocal(reserved) => choice("sequential-local", json!({ "reserved_percent": reserved })),
            Self::TreeNeighborhood(reserved) => choice("tree-neighborhood", json!({ "reserved_percent": reserved })),
            Self::RandomPage(seed) => return choice("random-page", json!({ "seed": seed })),
            Self::Nothing => return choice("none", json!({})),
        };
        if sees_accesses {
            choice.options.insert("recency".to_owned(), json!("access"));
        }
        choice
    }
}

impl Placement {
    fn choice(self) -> Choice {
        match self {
            Self::OnTouch => choice("on-touch", json!({})),
            Self::FirstTouch => choice("first-touch", json!({})),
            Self::Duplication => choice("duplication", json!({})),
            Self::Ideal => choice("ideal", json!({})),
            Self::AccessCounter(remote) => choice("access-counter", remote.options("moves")),
            Self::Grit(grit) => {
                let mut options = grit.remote.options("counter_moves");
                options["fault_threshold"] = json!(grit.threshold);
                options["pa_cache"] = json!(grit.cached);
                options["prediction"] = json!(grit.prediction);
                choice("grit", options)
            }
            Self::Gps(kernels) => choice("gps", json!({ "profile_kernels": kernels })),
            Self::Griffin(griffin) => choice("griffin-dpc", griffin.options()),
            Self::Interleaved(first) => choice("interleaved", json!({ "first_gpu": first })),
        }
    }
}

impl Griffin {
    fn options(self) -> Value {
        let share = |hundredths: u32| f64::from(hundredths) / 100.0;
        json!({
            "smoothing": share(self.smoothing), "touched": share(self.touched), "dedicated": share(self.dedicated),
            "shifting": share(self.shifting), "batch_pages": self.batch, "lead_pages": self.lead,
        })
    }
}

impl Remote {
    fn options(self, moves: &str) -> Value {
        json!({
            "host_pages": if self.map_host { "map" } else { "migrate" },
            moves: if self.moves_group { "group" } else { "page" },
        })
    }
}

pub(super) fn choice(name: &str, options: Value) -> Choice {
    let Value::Object(options) = options else { unreachable!("options are a table") };
    Choice { name: name.to_owned(), options }
}
