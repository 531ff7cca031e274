//! An executor that follows a test's script and records its orders.

use std::collections::VecDeque;

use octavo_driver::{Alarm, Begun, Driver, Executor, FaultId, Happening, Outstanding, Service, Ticket, Wake};
use octavo_manager::{
    Access, Fault, Manager, MemoryConfig, PageId, PageRun, Plan, Prefix, ProcessorId, Refusal, Step, Topology, Why,
};
use octavo_registry::Choice;
use octavo_units::Time;

/// Steps take the time that the test gives, by the name of the step.
#[derive(Default)]
pub struct Scripted {
    pub log: Vec<String>,
    /// The time of each step by its name; others take none.
    pub durations: Vec<(&'static str, u64)>,
    /// Steps whose end the test reports itself.
    pub later: Vec<&'static str>,
    /// Refused steps: the name, how many of that name are done before, and the reason.
    pub refused: Vec<(&'static str, u32, Refusal)>,
    /// A step that is refused whenever it starts, and the reason.
    pub never: Option<(&'static str, Why)>,
    /// Wakes whose arrival the test reports itself.
    pub slow_wakes: bool,
    pub under_way: VecDeque<Ticket>,
    pub wakes: VecDeque<FaultId>,
    pub freed: Vec<u64>,
}

impl Scripted {
    fn write(&mut self, now: Time, what: impl std::fmt::Display) {
        self.log.push(format!("{} {what}", now.0));
    }

    fn refusal(&mut self, name: &str) -> Option<Refusal> {
        if let Some((_, why)) = self.never.filter(|(step, _)| *step == name) {
            return Some(Refusal { done: Prefix::NONE, why });
        }
        let at = self.refused.iter().position(|(step, ..)| *step == name)?;
        match &mut self.refused[at].1 {
            0 => Some(self.refused.remove(at).2),
            before => {
                *before -= 1;
                None
            }
        }
    }

    /// Orders since the last call.
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }
}

impl Executor for Scripted {
    fn admit(&mut self, now: Time, _ticket: Ticket, plan: &Plan) -> Begun {
        match plan.steps.first() {
            Some(Step::Consult { accesses, beside_walk }) => {
                Begun::At(1, now + Time(u64::from(accesses + beside_walk) * 100))
            }
            _ => Begun::Done(0),
        }
    }

    fn begin(&mut self, now: Time, ticket: Ticket, left: &[Step]) -> Begun {
        let name = name(&left[0]);
        self.write(now, name);
        if let Some(refusal) = self.refusal(name) {
            return Begun::Refused(refusal);
        }
        if self.later.contains(&name) {
            self.under_way.push_back(ticket);
            return Begun::Later(1);
        }
        match self.durations.iter().find(|(step, _)| *step == name) {
            Some((_, duration)) => Begun::At(1, now + Time(*duration)),
            None => Begun::Done(1),
        }
    }

    fn wake(&mut self, now: Time, id: FaultId, fault: &Outstanding) -> Wake {
        self.write(now, format!("wake {} {} evicting {}", fault.processor, fault.page.0, fault.evicting.0));
        if self.slow_wakes {
            self.wakes.push_back(id);
            return Wake::UnderWay;
        }
        Wake::Arrived
    }

    fn kill(&mut self, now: Time, _id: FaultId, fault: &Outstanding) {
        self.write(now, format!("kill {} {}", fault.processor, fault.page.0));
    }

    fn free(&mut self, now: Time, run: PageRun, token: u64, manager: &Manager) {
        assert!(run.iter().all(|page| manager.page(page).allocated), "the manager still knows the pages");
        self.write(now, format!("free {}x{}", run.first.0, run.count));
        self.freed.push(token);
    }

    fn remind(&mut self, at: Time, alarm: Alarm) -> bool {
        self.log.push(format!("remind {} {alarm:?}", at.0));
        false
    }

    fn hear(&mut self, now: Time, happening: Happening<'_>) {
        match happening {
            Happening::BatchBegins { requests, .. } => self.write(now, format!("batch of {}", requests.len())),
            Happening::BatchEnds(_) => self.write(now, "batch ends"),
            Happening::PlanEnds { .. } => self.write(now, "plan ends"),
            Happening::PlanBegins { .. } | Happening::Served(..) => {}
        }
    }
}

fn name(step: &Step) -> &'static str {
    match step {
        Step::Drain { .. } => "drain",
        Step::Invalidate { .. } => "invalidate",
        Step::Protect { .. } => "protect",
        Step::Populate { .. } => "populate",
        Step::Copy { .. } => "copy",
        Step::Consult { .. } => "consult",
        Step::Release { .. } => "release",
        Step::Map { .. } => "map",
        Step::Coalesce { .. } => "coalesce",
        Step::Splinter { .. } => "splinter",
        Step::Compact { .. } => "compact",
        Step::ClearCounters { .. } => "clear",
        Step::Wake { .. } => "wake",
    }
}

/// A driver of pages 0 to 63 that move where they are touched, on GPUs with room for this many pages.
pub fn driver(service: Service, capacity: &[u32], to: &mut Scripted) -> Driver {
    let config = MemoryConfig { placement: Choice::named("on-touch"), ..MemoryConfig::default() };
    driver_of(&config, service, capacity, to)
}

pub fn driver_of(config: &MemoryConfig, service: Service, capacity: &[u32], to: &mut Scripted) -> Driver {
    let topology = Topology::of(capacity.to_vec());
    let mut driver = Driver::new(Manager::new(config, &topology).unwrap(), service);
    driver.allocate(Time::ZERO, PageRun { first: PageId(0), count: 64 }.into(), to);
    assert_eq!(to.take(), [""; 0]);
    driver
}

pub fn fault(gpu: usize, page: u32, access: Access) -> Fault {
    Fault { processor: ProcessorId::gpu(gpu), page: PageId(page), access }
}

pub fn read(gpu: usize, page: u32) -> Fault {
    fault(gpu, page, Access::Read)
}

/// Calls the driver for all its alarms.
pub fn run_until(driver: &mut Driver, to: &mut Scripted, time: Time) {
    while let Some(at) = driver.deadline().filter(|&at| at < time) {
        driver.tick(at, to);
    }
}

pub fn run_alarms(driver: &mut Driver, to: &mut Scripted) {
    while let Some(at) = driver.deadline() {
        driver.tick(at, to);
    }
}
