//! The numbers of a workload on programs so small that they can be counted by hand, and published remarks.

use std::num::NonZeroU32;

use octavo_program::{
    AddressSpace, Buffer, Characteristics, Cursor, Dispatch, HostSide, Launch, Op, OpSink, PageClass, Setting, Size,
    Traffic, Workload, characterise, characterise_filled,
};
use octavo_registry::Choice;
use octavo_workload::WORKLOADS;
use octavo_workload::kernels::{bitonicsort::BitonicSort, fir::Fir};

fn pages(pages: u64, accesses: u64) -> PageClass {
    PageClass { pages, accesses, stores: 0 }
}

fn written(pages: u64, accesses: u64, stores: u64) -> PageClass {
    PageClass { pages, accesses, stores }
}

/// Four groups of one wavefront: each reads its own page and the first page of a table, group 3 also writes page 0.
struct Toy {
    buffers: Vec<Buffer>,
}

impl Workload for Toy {
    fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn launches(&self) -> u32 {
        2
    }

    fn launch(&self, _index: u32) -> Launch {
        Launch { kernel: "toy".into(), work_groups: 4, wavefronts_per_group: 1 }
    }

    fn host_side(&self) -> HostSide {
        HostSide::of_launches(self)
    }

    fn fill(&self, _launch: u32, group: u32, _wavefront: u32, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let table = self.buffers[1].base / 64;
        out.push(Op::load(u64::from(group) * 64, 3).continued());
        out.push(Op::load(table, 1));
        out.push(Op::compute(10));
        out.push(Op::WAIT);
        if group == 3 {
            out.push(Op::store(63, 2));
        }
        out.push(Op::END);
    }
}

fn toy() -> Toy {
    let mut space = AddressSpace::default();
    space.allocate("data", 5 * 4096);
    space.allocate("table", 100);
    Toy { buffers: space.buffers().to_vec() }
}

#[test]
fn a_toy_counted_by_hand() {
    let found = characterise(&toy(), &Setting::default()).unwrap();
    assert_eq!((found.launches, found.work_groups, found.wavefronts, found.footprint_bytes), (2, 8, 8, 5 * 4096 + 100));
    let counted = found.instructions;
    assert_eq!((counted.compute, counted.loads, counted.stores, counted.barriers), (80, 8, 2, 0));
    let [data, table] = &found.buffers[..] else { panic!("{found:?}") };

    // Pages 0 and 1 are read by GPUs 0 and 1 and written by GPU 3; page 4 is untouched.
    assert_eq!((data.name.as_str(), data.bytes, data.traffic.touched_bytes), ("data", 5 * 4096, (12 + 1) * 64));
    assert_eq!((data.traffic.accesses, data.traffic.loads, data.traffic.stores), (28, 24, 4));
    assert_eq!((data.traffic.private, data.traffic.shared), (pages(2, 12), written(2, 16, 4)));
    assert_eq!((data.traffic.shared_read_only, data.traffic.shared_read_write), (pages(0, 0), written(2, 16, 4)));
    assert_eq!(data.traffic.by_gpus, [pages(2, 12), written(2, 16, 4), pages(0, 0), pages(0, 0)]);
    assert_eq!(table.traffic.shared_read_only, pages(1, 8));
    assert_eq!(table.traffic.by_gpus[3], pages(1, 8));
    // Every launch does the same: several GPUs use a shared page in one launch, and no launch but reads what another writes.
    assert_eq!((&found.total.in_turn, found.total.phased), (&vec![pages(0, 0); 4], pages(0, 0)));

    let total = &found.total;
    assert_eq!((total.accesses, total.touched_bytes, total.store_share), (36, 14 * 64, 4.0 / 36.0));
    assert_eq!((total.private, total.shared), (pages(2, 12), written(3, 24, 4)));
}

#[test]
fn larger_pages_share_falsely_and_one_gpu_shares_nothing() {
    let large = characterise(&toy(), &Setting { page_bytes: 2 << 20, ..Setting::default() }).unwrap();
    assert_eq!((large.total.private, large.total.shared), (pages(0, 0), written(2, 36, 4)));
    let alone = characterise(&toy(), &Setting { gpus: 1, ..Setting::default() }).unwrap();
    assert_eq!((alone.total.private, alone.total.shared), (written(5, 36, 4), pages(0, 0)));
    let filled = characterise(&toy(), &Setting { dispatch: Dispatch::UnitMultiples, ..Setting::default() }).unwrap();
    assert_eq!(filled.total.private, alone.total.private);
}

/// Eight groups of one wavefront. In the first launch two neighbours read two lines each of their page, first to last; in
/// the second they write one line each, and pages are given out from the last to the first.
struct ThereAndBack(Vec<Buffer>);

impl Workload for ThereAndBack {
    fn buffers(&self) -> &[Buffer] {
        &self.0
    }

    fn launches(&self) -> u32 {
        2
    }

    fn launch(&self, _index: u32) -> Launch {
        Launch { kernel: "there and back".into(), work_groups: 8, wavefronts_per_group: 1 }
    }

    fn host_side(&self) -> HostSide {
        HostSide::of_launches(self)
    }

    fn fill(&self, launch: u32, group: u32, _wavefront: u32, _cursor: &mut Cursor, out: &mut OpSink<'_>) {
        let page = u64::from(group / 2);
        out.push(if launch == 0 { Op::load(page * 64, 2) } else { Op::store((3 - page) * 64, 1) });
        out.push(Op::END);
    }
}

/// Two GPUs of three units, each with room for `room` groups a unit.
fn there_and_back(dispatch: Dispatch, room: u32) -> Traffic {
    let mut space = AddressSpace::default();
    space.allocate("data", 4 * 4096);
    let setting = Setting { gpus: 2, compute_units_per_gpu: 3, dispatch, page_bytes: 4096 };
    let found = characterise_filled(&ThereAndBack(space.buffers().to_vec()), &setting, &|_, _| room).unwrap().total;
    assert_eq!((found.accesses, found.stores), (24, 8), "{dispatch:?}");
    assert_eq!(found.phased.pages, found.shared.pages, "each page is read in one launch and written in the other");
    found
}

/// Each page has four lines loaded and two stored, by any GPU.
#[test]
fn every_dispatch_counted_by_hand() {
    let (none, half, all) = (pages(0, 0), written(2, 12, 4), written(4, 24, 8));
    let expect = |dispatch, room, private: PageClass, shared: PageClass, in_turn: PageClass| {
        let found = there_and_back(dispatch, room);
        assert_eq!((found.private, found.shared, found.in_turn[1]), (private, shared, in_turn), "{dispatch:?}");
        assert_eq!(found.by_gpus, [private, shared], "{dispatch:?}");
    };
    // Groups 0-3 and 4-7: pages 0 and 1 are read by the first GPU and written by the second, 2 and 3 the other way round.
    expect(Dispatch::EvenSplit, 1, none, all, all);
    // Groups 0-5 and 6-7: the second GPU has page 3 first and page 0 then.
    expect(Dispatch::UnitMultiples, 1, half, half, half);
    // Both GPUs are at every page in both launches.
    expect(Dispatch::RoundRobin, 1, none, all, none);
    // Groups 0-2, 6 and 7, and groups 3-5: both are at page 1 first and at page 2 then, or the other way round.
    expect(Dispatch::RoundRobinUnits, 1, half, half, none);
    expect(Dispatch::Blocks(NonZeroU32::new(3).unwrap()), 1, half, half, none);
    expect(Dispatch::FillFirst, 1, half, half, none);
    // Groups 0, 1, 4, 5 and 2, 3, 6, 7: pages change hands.
    expect(Dispatch::Blocks(NonZeroU32::new(2).unwrap()), 1, none, all, all);
    // Six groups fill a GPU; all eight fill the first one.
    expect(Dispatch::FillFirst, 2, half, half, half);
    expect(Dispatch::FillFirst, 3, all, none, none);
}

#[test]
fn impossible_settings_are_refused() {
    let key = |setting: &Setting| characterise(&toy(), setting).unwrap_err().key;
    let good = Setting::default();
    assert_eq!(key(&Setting { gpus: 0, ..good }), "gpus");
    assert_eq!(key(&Setting { gpus: 73, ..good }), "gpus");
    assert_eq!(key(&Setting { compute_units_per_gpu: 0, ..good }), "compute_units_per_gpu");
    assert_eq!(key(&Setting { dispatch: Dispatch::FillFirst, ..good }), "dispatch");
    assert_eq!(key(&Setting { page_bytes: 3000, ..good }), "page_bytes");
    assert_eq!(key(&Setting { page_bytes: 4 << 20, ..good }), "page_bytes");
}

#[test]
fn totals_are_those_of_the_buffers_and_serialise() {
    let found = characterise(&Fir::new(100_000, 16), &Setting::default()).unwrap();
    let sum = |part: fn(&octavo_program::Traffic) -> u64| found.buffers.iter().map(|b| part(&b.traffic)).sum::<u64>();
    assert_eq!(found.total.accesses, sum(|traffic| traffic.accesses));
    assert_eq!(found.total.touched_bytes, sum(|traffic| traffic.touched_bytes));
    assert_eq!(found.total.private.pages + found.total.shared.pages, sum(|t| t.private.pages + t.shared.pages));
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["buffers"][1]["name"], "input");
    assert_eq!(json["buffers"][1]["shared"]["pages"], 3);
    assert_eq!(json["setting"]["dispatch"], "even-split");
}

/// Published: FIR's and SC's pages are nearly all private, and BS writes what it shares. BFS's pages are published as
/// mostly shared with few accesses to them; the kernel does the reverse, as traces of it confirm: only the levels are
/// shared, and most accesses go to them.
#[test]
fn sharing_is_as_published_or_known_to_differ() {
    let measure = |name: &str| -> Characteristics {
        let workload = WORKLOADS.build(&Choice::named(name), &Size { scale: 0.0625, seed: 1 }).unwrap();
        characterise(&*workload, &Setting::default()).unwrap()
    };
    let shared = |found: &Characteristics| {
        found.total.shared.pages as f64 / (found.total.shared.pages + found.total.private.pages) as f64
    };
    assert!(shared(&measure("fir")) < 0.01);
    assert!(shared(&measure("simpleconvolution")) < 0.02);
    let bfs = measure("bfs-shoc");
    assert!(shared(&bfs) < 0.15 && bfs.total.shared.accesses * 10 > bfs.total.accesses * 8);
    let bs = characterise(&BitonicSort::new(17), &Setting::default()).unwrap();
    assert_eq!(bs.total.shared_read_only, pages(0, 0));
    assert_eq!(bs.total.store_share, 0.5);
}
