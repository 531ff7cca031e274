//! Where victims go, and when they leave, by hand.

use crate::common::{choice, fault, show};
use octavo_manager::{
    Access, Demotion, Event, Manager, MemoryConfig, MemoryId, Occupancy, PageId, PageRun, Plan, Topology,
};
use octavo_units::Time;

fn manager(demotion: &str, gpus: &[u32]) -> Manager {
    let config = MemoryConfig { demotion: choice("reserve", demotion), ..MemoryConfig::default() };
    allocated(Manager::new(&config, &Topology::of(gpus.to_vec())).unwrap())
}

fn allocated(mut manager: Manager) -> Manager {
    manager.handle(Time::ZERO, Event::Allocate(PageRun { first: PageId(0), count: 64 }.into()), &mut Vec::new());
    manager
}

/// GPU 0 writes a page: the plans, which are done in order.
fn write(manager: &mut Manager, page: u32) -> Vec<Plan> {
    let (mut plans, mut all) = (Vec::new(), Vec::new());
    manager.handle(Time::ZERO, Event::Faults(&[fault(0, page, Access::Write)]), &mut plans);
    while !plans.is_empty() {
        let plan = plans.remove(0);
        manager.complete(Time::ZERO, plan.id, &mut plans);
        all.push(plan);
    }
    manager.check().unwrap();
    all
}

fn copies(plans: &[Plan]) -> Vec<Vec<String>> {
    let copies = |plan: &Plan| plan.steps.iter().map(show).filter(|step| step.starts_with("copy")).collect();
    plans.iter().map(copies).collect()
}

#[test]
fn victims_leave_by_plans_of_their_own_before_their_frames_are_needed() {
    let mut manager = manager(r#"{"free": "8KiB"}"#, &[4]);
    for page in [0, 1] {
        assert_eq!(copies(&write(&mut manager, page)), [[format!("copy {page} host gpu0 migration")]]);
    }
    // Two of four frames are free. One more page is one too many: page 0 goes, and nobody waits for that.
    let plans = write(&mut manager, 2);
    assert_eq!(copies(&plans), [["copy 2 host gpu0 migration"], ["copy 0 gpu0 host eviction"]]);
    assert_eq!(plans[0].room_steps, 0);
    assert_eq!(manager.frames_held(MemoryId::gpu(0)), 2);
}

#[test]
fn at_most_half_of_a_memory_is_kept_free() {
    let mut manager = manager("{}", &[3]);
    (0..8).for_each(|page| _ = write(&mut manager, page));
    assert_eq!(manager.frames_held(MemoryId::gpu(0)), 2, "100 MiB are more than there is");
}

/// Victims go to the next GPU.
struct Neighbour;

impl Demotion for Neighbour {
    fn destination(&mut self, from: MemoryId, memories: &Occupancy<'_>) -> MemoryId {
        let next = MemoryId::gpu(1 - from.gpu_index().unwrap());
        assert_eq!(memories.capacity(next), 2);
        next
    }
}

#[test]
fn victims_go_to_a_neighbour_while_it_has_room_and_then_to_the_host() {
    let manager = Manager::new(&MemoryConfig::default(), &Topology::of(vec![1, 2])).unwrap();
    let mut manager = allocated(manager.with_demotion(Box::new(Neighbour)));
    write(&mut manager, 0);
    assert_eq!(copies(&write(&mut manager, 1))[0][0], "copy 0 gpu0 gpu1 eviction");
    assert_eq!(copies(&write(&mut manager, 2))[0][0], "copy 1 gpu0 gpu1 eviction");
    assert_eq!(copies(&write(&mut manager, 3))[0][0], "copy 2 gpu0 host eviction", "the neighbour is full");
    // What lies there comes back from there.
    assert_eq!(copies(&write(&mut manager, 0))[0], ["copy 3 gpu0 host eviction", "copy 0 gpu1 gpu0 migration"]);
}
