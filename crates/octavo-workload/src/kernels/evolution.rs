//! An evolutionary program on two islands (Hetero-Mark `ep`): the GPU evaluates and mutates, the host selects and
//! crosses.
//!
//! A creature is its fitness and 500 parameters, 4008 bytes of doubles one after another; an island is half of the
//! population. In a generation, `evaluate` gives each creature of an island its fitness, one thread for each creature:
//! a polynomial of its parameters whose degree grows with their number, each power computed by that many
//! multiplications. The host sorts the creatures by fitness and makes a new one of each and one of the best ten.
//! `mutate` halves one parameter of every seventh. Work-groups of 64.
//!
//! Hetero-Mark's pipeline works on one island on the host while the other is on the GPU; here they take turns in the
//! same order. Its creatures begin alike, so that all have one fitness; here they are drawn.

mod island;

use octavo_program::{
    AddressSpace, Buffer, Cursor, HostSide, Launch, Op, OpSink, Resources, Size, Workload, WorkloadEntry,
};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::island::{Evolution, Island, PARAMETERS};
use crate::emit::{WAVEFRONT_LANES, load_lanes, load_scalar, push_all, steps, store_lanes};
use crate::scale;

/// Bytes of a number, of a creature.
const DOUBLE: u64 = 8;
const CREATURE: u64 = DOUBLE * (1 + PARAMETERS as u64);
/// Threads of a work-group, which is one wavefront.
const LANES: u64 = WAVEFRONT_LANES as u64;
/// Every this many creatures, one is mutated (Hetero-Mark).
const MUTATED: u64 = island::MUTATED as u64;
/// Creatures at scale 1: 32 MB. At most.
const USUAL_POPULATION: u64 = 32 * scale::MEGABYTE / CREATURE;
const MOST_POPULATION: u64 = 1 << 24;
/// Launches of a generation: each island is evaluated, then each is mutated.
const GENERATION: u32 = 4;
const NAMES: [&str; 2] = ["island_1", "island_2"];

/// Instructions between memory accesses, counted by hand from the algorithm, not from a compiled kernel: vector,
/// scalar, local data, branch.
mod cost {
    use octavo_program::Op;

    pub const LOCATE: Op = Op::mix(4, 2, 0, 1);
    pub const ADDRESS: Op = Op::mix(2, 1, 0, 0);
    pub const HALVE: Op = Op::mix(1, 0, 0, 0);

    /// A parameter's power, a multiplication in each turn of a loop, and its part of the sum.
    pub const fn power(exponent: u32) -> Op {
        Op::mix(exponent + 1, 2 * exponent + 2, 0, exponent + 1)
    }
}

/// Options of `evolution`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EvolutionOptions {
    /// Creatures on both islands, a multiple of 2, at least 2. Default: enough for 32 MB times the scale (this
    /// project's choice; Hetero-Mark 1024, which are 4 MB).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub population: Option<u64>,
    /// Generations, 1 to 1000. Default 5 (this project's choice; Hetero-Mark 100).
    pub generations: u32,
}

impl Default for EvolutionOptions {
    fn default() -> Self {
        Self { population: None, generations: 5 }
    }
}

/// The evolution of two islands.
pub struct Evolving {
    /// Creatures of an island.
    creatures: u64,
    generations: u32,
    seed: u64,
    islands: [Buffer; 2],
    coefficients: Buffer,
    buffers: Vec<Buffer>,
}

impl Evolving {
    /// `creatures` creatures on each island, at least one, for `generations` generations, at least one.
    #[must_use]
    pub fn new(creatures: u64, generations: u32, seed: u64) -> Self {
        let mut space = AddressSpace::default();
        let islands = NAMES.map(|name| space.allocate(name, creatures * CREATURE));
        let coefficients = space.allocate("fitness_function", PARAMETERS as u64 * DOUBLE);
        Self { creatures, generations, seed, islands, coefficients, buffers: space.buffers().to_vec() }
    }

    /// Address of a number of a creature: the fitness is number 0.
    fn number(&self, island: usize, creature: u64, number: u64) -> u64 {
        self.islands[island].at(creature, CREATURE) + number * DOUBLE
    }

    fn evaluate(&self, island: usize, creatures: &std::ops::Range<u64>, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let each = |number: u64| creatures.clone().map(move |creature| self.number(island, creature, number));
        let last = PARAMETERS as u32 + 1;
        steps(cursor, out, last + 1, |step, out| match u64::from(step) {
            0 => push_all(out, &[Op::WAIT, cost::LOCATE]),
            _ if step == last => store_lanes(out, each(0), DOUBLE),
            parameter => {
                out.push(cost::ADDRESS);
                load_lanes(out, each(parameter));
                load_scalar(out, self.coefficients.at(parameter - 1, DOUBLE));
                push_all(out, &[Op::WAIT, cost::power(step)]);
            }
        });
    }

    fn mutate(&self, island: usize, creatures: &std::ops::Range<u64>, out: &mut OpSink<'_>) {
        let mutated = creatures.clone().filter(|creature| creature.is_multiple_of(MUTATED));
        let parameters = mutated.map(|creature| self.number(island, creature, 1 + creature % PARAMETERS as u64));
        push_all(out, &[Op::WAIT, cost::LOCATE]);
        load_lanes(out, parameters.clone());
        push_all(out, &[Op::WAIT, cost::HALVE]);
        store_lanes(out, parameters, DOUBLE);
    }
}

impl Workload for Evolving {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// Between the evaluation and the mutation of an island, the host reads and writes all of it.
    fn host_side(&self) -> HostSide {
        let mut side = HostSide::of(self.buffers()).inputs(NAMES).inputs(["fitness_function"]).outputs(NAMES);
        for generation in 0..self.generations {
            for (launch, island) in (generation * GENERATION + 2..).zip(NAMES) {
                side = side.reads_before(launch, [island]).writes_before(launch, [island]);
            }
        }
        side.build()
    }

    fn launches(&self) -> u32 {
        GENERATION * self.generations
    }

    fn launch(&self, index: u32) -> Launch {
        let kernel = if index % GENERATION < 2 { "evaluate" } else { "mutate" };
        Launch { kernel: kernel.into(), work_groups: self.creatures.div_ceil(LANES) as u32, wavefronts_per_group: 1 }
    }

    fn resources(&self, _index: u32) -> Resources {
        // By hand: doubles take two registers.
        Resources { vector_registers: 16, scalar_registers: 20, local_data_bytes: 0 }
    }

    fn tells_dependences(&self) -> bool {
        true
    }

    fn fill(&self, launch: u32, group: u32, _wavefront: u32, cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let first = u64::from(group) * LANES;
        let creatures = first..self.creatures.min(first + LANES);
        let island = launch as usize % 2;
        if launch % GENERATION < 2 {
            self.evaluate(island, &creatures, cursor, out);
        } else {
            steps(cursor, out, 1, |_, out| self.mutate(island, &creatures, out));
        }
    }

    fn result(&self) -> Vec<(&'static str, Vec<f64>)> {
        let mut found = Evolution::new(self.creatures as usize, self.seed);
        let [first, second]: [Vec<f64>; 2] =
            (0..self.generations).map(|_| found.generation()).map(|[one, other]| (one, other)).unzip().into();
        vec![("best_of_island_1", first), ("best_of_island_2", second)]
    }
}

/// The registered workload.
pub static ENTRY: WorkloadEntry = WorkloadEntry {
    name: "evolution",
    summary: "an evolutionary program: creatures of 4 KB a lane, much arithmetic, host and GPU in turns",
    source: "Hetero-Mark ep; one of MemMap's applications (PACT 2020), size of this project's choice",
    schema: typed::schema::<EvolutionOptions>,
    resolve: typed::resolve::<EvolutionOptions>,
    build: |options, size: &Size| {
        let EvolutionOptions { population, generations } = typed::parse(options)?;
        let population = scale::chosen("population", population, USUAL_POPULATION, size.scale, 2, MOST_POPULATION)?;
        if !(1..=1000).contains(&generations) {
            return Err(OptionError::new("generations", format!("expected 1 to 1000, found {generations}")));
        }
        Ok(Box::new(Evolving::new(population / 2, generations, size.seed)))
    },
};
