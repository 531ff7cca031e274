//! The state of a run: its progress, its end, its output.

use octavo_driver::Driver;
use octavo_manager::{Manager, MemoryUse};
use octavo_node::{Fidelity, NodeConfig};

use crate::bound::Recorded;
use crate::cpu::cores::{Cpu, HostAccesses};
use crate::fabric::links::LinkUse;
use crate::gpu::counts::Accesses;
use crate::machine::hardware::Hardware;
use crate::machine::jobs::Running;
use crate::machine::node::Node;
use crate::machine::occurrence::{Happening, Listen};
use crate::rounds::Rounds;
use crate::stall::Progress;

/// The outcome of a run.
pub(crate) struct Outcome {
    /// How closely accesses to GPUs' own memory were followed.
    pub fidelity: Fidelity,
    /// The end of the last kernel, or of the last whole program.
    pub ended: u64,
    /// Launches that have ended, of all programs.
    pub launches: u32,
    pub accesses: Accesses,
    /// The work of the host's cores, if the host computed.
    pub host: Option<HostAccesses>,
    pub driver: Driver,
    pub links: Vec<LinkUse>,
    pub programs: Vec<Running>,
    pub rounds: Rounds,
    /// By GPU: how its memory was used when it held most at the end of a program.
    pub most_used: Vec<Option<MemoryUse>>,
}

impl<L: Listen> Node<'_, L> {
    /// Picoseconds of simulated time.
    pub const fn now(&self) -> u64 {
        self.hardware.clock.now()
    }

    /// Whether every program has ended as often as it must. False if the driver has stopped.
    pub const fn is_finished(&self) -> bool {
        self.finished && !self.in_vain
    }

    /// Launches that have ended, of all programs.
    pub const fn launches_done(&self) -> u32 {
        self.jobs.launches_done
    }

    /// Work-groups that have ended.
    pub const fn groups_done(&self) -> u64 {
        self.jobs.groups_done
    }

    /// Line accesses issued.
    pub const fn lines(&self) -> u64 {
        self.hardware.accesses.load_lines + self.hardware.accesses.store_lines
    }

    /// A value that changes with all progress.
    pub fn progress(&self) -> Progress {
        let accesses = &self.hardware.accesses;
        let host = self.hardware.cpu.as_ref().map(Cpu::accesses).map_or(0, |host| host.load_lines + host.store_lines);
        let work = accesses.compute_instructions + accesses.scalar_instructions + accesses.local_data_instructions;
        let flow = accesses.branches + accesses.scalar_loads + accesses.code_lines;
        let ends = self.groups_done() + u64::from(self.launches_done()) + self.programs.done();
        Progress {
            done: self.lines() + work + flow + ends + host + self.hardware.replays.useful(),
            vain: accesses.wakes_in_vain,
            open: self.driver.outstanding().len() as u64,
            looks: self.hardware.clock.looks(),
        }
    }

    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// Faults that are outstanding.
    pub fn open_faults(&self) -> usize {
        self.driver.outstanding().len()
    }

    pub const fn config(&self) -> &NodeConfig {
        self.hardware.config
    }

    pub fn manager(&self) -> &Manager {
        self.driver.manager()
    }

    /// Name of the program with that address space; empty for a program alone.
    pub fn program_name(&self, space: usize) -> &str {
        &self.jobs.running[space].program.name
    }

    /// How much the listeners have recorded.
    pub fn recorded(&self) -> Recorded {
        self.hardware.listeners.recorded()
    }

    /// Lets listeners examine the state of the run.
    pub fn pause(&mut self) {
        let Hardware { clock, links, listeners, .. } = &mut self.hardware;
        listeners.hear(clock.now(), Happening::Moment { manager: self.driver.manager(), links });
    }

    /// The run has ended: its results, and its listeners.
    pub fn end(mut self) -> (Outcome, L) {
        debug_assert_eq!(self.check_agreement(), Ok(()));
        if self.hardware.listeners.interval().is_some() {
            self.hardware.sample(&self.driver);
        }
        let hardware = self.hardware;
        let outcome = Outcome {
            fidelity: hardware.config.fidelity,
            ended: self.jobs.ended,
            launches: self.jobs.launches_done,
            accesses: hardware.accesses,
            host: hardware.cpu.as_ref().map(Cpu::accesses),
            driver: self.driver,
            links: hardware.links.usage(),
            programs: self.jobs.running,
            rounds: self.jobs.rounds,
            most_used: self.jobs.most_used,
        };
        (outcome, hardware.listeners)
    }
}
