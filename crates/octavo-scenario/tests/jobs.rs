//! `[[job]]`: what is filled in, what is refused, and the result.

use octavo_manager::{ProcessorId, ProcessorMask};
use octavo_scenario::{Again, Resolved, ScenarioError, Source, resolve};

const FILE: &str = r#"memory.placement = "on-touch"
node.preset = "grit-4gpu"
workload.scale = 0.01

[[job]]
name = "front"
workload = "fir"
gpus = [1, 0]
start = "1ms"
repetitions = 2
share = 0.25
program.kind = "explicit"

[[job]]
name = "back"
workload = { name = "vectoradd", scale = 0.02, seed = 9 }
until = "front"
"#;

fn resolved_from(text: &str, overrides: &[&str]) -> Result<Resolved, ScenarioError> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    resolve(Source { name: "s.toml", text }, &overrides)
}

fn resolved(overrides: &[&str]) -> Resolved {
    resolved_from(FILE, overrides).unwrap()
}

fn refusal(overrides: &[&str]) -> String {
    resolved_from(FILE, overrides).unwrap_err().to_string()
}

/// The mistake if the file continues like this.
fn refused(more: &str) -> String {
    resolved_from(&format!("{FILE}{more}"), &[]).unwrap_err().to_string()
}

#[test]
fn jobs_are_spelled_out_and_load_again() {
    let first = resolved(&[]);
    let [front, back] = &first.scenario.job[..] else { panic!("{:?}", first.scenario.job) };
    assert_eq!((&front.gpus[..], &back.gpus[..]), (&[0, 1][..], &[0, 1, 2, 3][..]));
    assert_eq!((front.workload.scale, back.workload.scale, back.workload.seed), (0.01, 0.02, Some(9)));
    assert!(first.toml.contains("taps = 16") && !first.toml.contains("[workload]"), "{}", first.toml);
    assert_eq!(resolved_from(&first.toml, &[]), Ok(first));
}

#[test]
fn jobs_are_built_as_they_are_chosen() {
    let parts = resolved(&[]).scenario.parts().unwrap();
    let [front, back] = &parts[..] else { panic!("{} parts", parts.len()) };
    assert_eq!(front.gpus, ProcessorMask::only(ProcessorId::gpu(0)).with(ProcessorId::gpu(1)));
    assert_eq!((front.start.0, front.again, front.share), (1_000_000_000, Again::Times(2), Some(0.25)));
    assert_eq!((back.again, back.program.is_some(), front.program.is_some()), (Again::Until(0), false, true));
}

#[test]
fn overrides_change_a_job_by_its_name_or_all_of_them() {
    let job = |overrides: &[&str], index: usize| resolved(overrides).scenario.job[index].clone();
    assert_eq!(job(&["job.back.gpus=[2]", "job.back.workload.scale=0.5"], 1).gpus, [2]);
    assert_eq!(job(&["job.back.workload.scale=0.5"], 1).workload.scale, 0.5);
    assert_eq!(job(&["workload.scale=0.125"], 0).workload.scale, 0.125);
    assert_eq!(job(&["program.kind=pinned"], 1).program.kind, octavo_scenario::RunKind::Pinned);
    assert_eq!(job(&["program.kind=pinned"], 0).program.kind, octavo_scenario::RunKind::Explicit, "its own stays");
    let of_none = refusal(&["job.front.workload={ name = \"fir\", scale = 0.5 }", "workload.scale=0.125"]);
    assert!(of_none.contains("`workload.scale`: every job has a scale of its own"), "{of_none}");
    let stray = refusal(&["job.bakc.share=0.5"]);
    let expected =
        "--set job.bakc.share=0.5: `job.bakc`: unknown job, expected one of front, back; did you mean `back`?";
    assert_eq!(stray, expected);
}

#[test]
fn what_is_said_about_a_job_by_its_name_is_refused_where_it_stands() {
    let value = refusal(&["job.back=0.5"]);
    assert!(value.starts_with("--set job.back=0.5: `job[1]`: "), "{value}");
    let mix = "memory.placement = \"on-touch\"\nnode.preset = \"grit-4gpu\"\nworkload = \"fir+hs\"\n";
    let late = resolved_from(mix, &["job.hs=3"]).unwrap_err().to_string();
    assert!(late.starts_with("--set job.hs=3: `job[1]`: "), "{late}");
    let table = format!("{mix}[job.hs]\nrepetitions = 2\nshare = \"much\"\n");
    let line = resolved_from(&table, &[]).unwrap_err().to_string();
    assert!(line.starts_with("s.toml:6: `job[1].share`: "), "{line}");
}

#[test]
fn several_programs_in_short_are_jobs() {
    let plain = "memory.placement = \"on-touch\"\nnode.preset = \"grit-4gpu\"\n";
    let jobs = |workload: &str| {
        let scenario = resolved_from(plain, &[workload, "workload.scale=0.01"]).unwrap().scenario;
        scenario.job.into_iter().map(|job| (job.name, job.workload.name, job.until)).collect::<Vec<_>>()
    };
    let job = |name: &str, workload: &str| (name.to_owned(), workload.to_owned(), Some("all".to_owned()));
    assert_eq!(jobs("workload=fir+hs+fir"), [job("fir", "fir"), job("hs", "hs"), job("fir.2", "fir")]);
    let table = r#"workload={ name = "mix", applications = ["fir", { name = "hs" }] }"#;
    assert_eq!(jobs(table), [job("fir", "fir"), job("hs", "hs")]);
    let unknown = resolved_from(plain, &["workload=fir+gupz"]).unwrap_err().to_string();
    assert!(
        unknown.starts_with("--set workload=fir+gupz: `job[1].workload.name`: unknown workload `gupz`"),
        "{unknown}"
    );
    let none = resolved_from(plain, &["workload=mix"]).unwrap_err().to_string();
    assert!(none.contains("`workload.applications`: expected 1 to 64 programs, found 0"), "{none}");
}

#[test]
fn overrides_change_a_job_of_several_programs_in_short_by_its_name() {
    let plain = "memory.placement = \"on-touch\"\nnode.preset = \"grit-4gpu\"\nworkload = \"fir+hs+fir\"\n";
    let overrides = ["job.hs.share=0.25", "job.\"fir.2\".workload.scale=0.5", "job.fir.memory.placement=grit"];
    let scenario = resolved_from(plain, &overrides).unwrap().scenario;
    let [fir, hs, again] = &scenario.job[..] else { panic!("{:?}", scenario.job) };
    assert_eq!((fir.share, hs.share, fir.workload.scale, again.workload.scale), (None, Some(0.25), 1.0, 0.5));
    assert_eq!((fir.memory.placement.as_ref().unwrap().name.as_str(), hs.memory.is_common()), ("grit", true));
    let stray = resolved_from(plain, &["job.fur.share=0.5"]).unwrap_err().to_string();
    assert!(
        stray.starts_with("--set job.fur.share=0.5: `job.fur`: unknown job, expected one of fir, hs, fir.2"),
        "{stray}"
    );
    let early = resolved_from(plain, &["job.hs.share=0.5", "workload=fir+fir"]).unwrap_err().to_string();
    assert!(early.contains("`job.hs`: unknown job, expected one of fir, fir.2"), "{early}");
    let alone = resolved_from(
        "memory.placement = \"on-touch\"\nnode.preset = \"grit-4gpu\"\nworkload = \"fir\"\n",
        &["job.fir.share=0.5"],
    );
    let alone = alone.unwrap_err().to_string();
    assert!(alone.contains("unknown job, there are none: expected [[job]] tables"), "{alone}");
    let share = resolved_from(plain, &["job.hs.share=fast"]).unwrap_err().to_string();
    assert!(share.starts_with("--set job.hs.share=fast: `job[1].share`"), "{share}");
}

#[test]
fn a_workload_beside_jobs_is_refused() {
    let both = refusal(&["workload=fir"]);
    assert!(
        both.starts_with("--set workload=fir: `workload.name`: the scenario has [[job]] tables, 2 of them"),
        "{both}"
    );
    assert!(refusal(&["workload=fir+hs"]).contains("the scenario has [[job]] tables"), "{both}");
    let within = refused("[[job]]\nname = \"both\"\nworkload = \"fir+hs\"\n");
    assert!(within.starts_with("s.toml:20: `job[2].workload.name`: a job is one program"), "{within}");
    let buffers = refusal(&["program.buffers.input.kind=device"]);
    assert!(buffers.contains("`program.buffers.input`: buffers are those of one job"), "{buffers}");
}

#[test]
fn what_cannot_be_is_refused_where_it_stands() {
    let job = |more: &str| refused(&format!("\n[[job]]\nworkload = \"fir\"\n{more}\n"));
    for (more, expected) in [
        ("name = \"back\"", "s.toml:21: `job[2].name`: expected a name of its own, found that of job[1], `back`"),
        ("name = \"all\"", "s.toml:21: `job[2].name`: `all` means every job in `until`: expected another name"),
        ("name = \"a/b\"", "s.toml:21: `job[2].name`: expected letters, digits, `-`, `_` and `.`, found \"a/b\""),
        ("name = \"x\"\ngpus = [0, 4]", "s.toml:22: `job[2].gpus`: expected 0 to 3, the 4 GPUs of the node, found 4"),
        ("name = \"x\"\ngpus = [2, 2]", "s.toml:22: `job[2].gpus`: expected each GPU once, found 2 twice"),
        ("name = \"x\"\nshare = 1.5", "s.toml:22: `job[2].share`: expected more than 0 and at most 1, found 1.5"),
        ("name = \"x\"\nrepetitions = 0", "s.toml:22: `job[2].repetitions`: expected a whole number from 1"),
        ("name = \"x\"\nstart = \"1MB\"", "s.toml:22: `job[2].start`: expected a time such as 1.25us"),
        (
            "name = \"x\"\nuntil = \"fromt\"",
            "s.toml:22: `job[2].until`: expected one of front, back, all, found `fromt`; did you mean `front`?",
        ),
        (
            "name = \"x\"\nuntil = \"x\"",
            "s.toml:22: `job[2].until`: it would wait for itself: expected a job that does not run until this one is over, found x until x",
        ),
        (
            "name = \"x\"\nuntil = \"front\"\nrepetitions = 2",
            "s.toml:22: `job[2].until`: expected either `repetitions` or `until`, found 2 and `front`",
        ),
        ("name = \"x\"\nrepeat = 2", "s.toml:22: `job[2].repeat`: unknown key, expected one of name, workload, gpus"),
        ("name = \"x\"\nprogram.kind = \"manged\"", "s.toml:22: `job[2].program.kind`: expected one of launches"),
        (
            "name = \"x\"\nshare = 0.99",
            "s.toml:22: `job[2].share`: gpu0 is divided among 3 jobs (0.25 of front, 0.99 of x): expected shares that add up to at most 1",
        ),
    ] {
        let found = job(more);
        assert!(found.starts_with(expected), "{found}\nnot\n{expected}");
    }
    let missing = refused("\n[[job]]\nname = \"x\"\n");
    assert!(missing.starts_with("s.toml:19: `job[2].workload`: missing; expected a table"), "{missing}");
    let ring = refusal(&["job.front={ until = \"back\" }", "job.front.repetitions=2"]);
    assert!(ring.contains("expected either `repetitions` or `until`"), "{ring}");
    let none =
        resolved_from("job = []\nmemory.placement = \"on-touch\"\nnode.preset = \"grit-4gpu\"", &[]).unwrap_err();
    assert_eq!(none.to_string(), "s.toml:1: `job`: expected 1 to 64 jobs, found 0");
}

#[test]
fn a_ring_of_jobs_that_wait_for_each_other_is_refused() {
    let text = FILE.replace("repetitions = 2", "until = \"back\"");
    let ring = resolved_from(&text, &[]).unwrap_err().to_string();
    let expected = "s.toml:10: `job[0].until`: it would wait for itself: expected a job that does not run until this one is \
                    over, found front until back until front";
    assert_eq!(ring, expected);
}

#[test]
fn advice_names_gpus_of_the_job() {
    let set = ["job.front.program.kind=managed", "job.front.program.buffers.input.preferred=gpu2"];
    let error = refusal(&set);
    assert!(
        error.contains("`job[0].program.buffers.input.preferred`: expected one of host, gpu0, gpu1, found `gpu2`"),
        "{error}"
    );
}

#[test]
fn some_job_runs() {
    let idle = refusal(&["job.front.idle=true", "job.back.idle=true"]);
    assert!(idle.contains("expected at least one job that is not idle"), "{idle}");
}

#[test]
fn shares_of_memory_name_jobs_and_fit_each_gpu() {
    let quota = |more: &[&str]| {
        let set: Vec<&str> = ["memory.sharing=quota"].into_iter().chain(more.iter().copied()).collect();
        resolved_from(FILE, &set).map_err(|error| error.to_string())
    };
    let said = quota(&["memory.sharing.shares.front=0.5"]).unwrap();
    assert!(said.toml.contains("[memory.sharing.shares]\nfront = 0.5"), "{}", said.toml);
    assert_eq!(resolved_from(&said.toml, &[]), Ok(said.clone()));
    let free = resolved_from(&said.toml, &["memory.sharing=free-for-all"]).unwrap();
    assert_eq!(free.toml, resolved(&[]).toml, "what everybody has is not written out");
    for (set, expected) in [
        (
            &["memory.sharing.shares.fromt=0.5"][..],
            "--set memory.sharing.shares.fromt=0.5: `memory.sharing.shares.fromt`: unknown job, expected front, back; \
             did you mean `front`?",
        ),
        (
            &["memory.sharing.shares.front=0"],
            "--set memory.sharing.shares.front=0: `memory.sharing.shares.front`: expected more than 0 and at most 1, \
             found 0",
        ),
        (
            &["memory.sharing.shares.front=1"],
            "--set memory.sharing.shares.front=1: `memory.sharing.shares`: on gpu0, expected shares that add up to \
             less than 1, for 1 more, found 1 of front",
        ),
        (
            &["memory.sharing.shares={front = 0.5, back = 0.75}"],
            "--set memory.sharing.shares={front = 0.5, back = 0.75}: `memory.sharing.shares`: on gpu0, expected shares \
             that add up to at most 1, found 0.5 of front, 0.75 of back",
        ),
    ] {
        assert_eq!(quota(set).unwrap_err(), expected);
    }
}

#[test]
fn a_job_names_strategies_of_its_own() {
    let set = [
        "memory.sharing=quota",
        "job.front.memory.prefetch=tree",
        "job.back.memory.eviction=lru-block",
        "job.back.memory.placement={ name = \"grit\", fault_threshold = 8 }",
        "job.back.memory.placement=grit",
    ];
    let said = resolved(&set);
    assert!(said.toml.contains("[job.memory.prefetch]\nname = \"tree\"\n"), "{}", said.toml);
    assert!(said.toml.contains("threshold = 51"), "defaults are spelled out: {}", said.toml);
    assert!(said.toml.contains("fault_threshold = 8"), "the name again keeps the options: {}", said.toml);
    assert_eq!(resolved_from(&said.toml, &[]), Ok(said.clone()));
    let parts = said.scenario.parts().unwrap();
    let name = |choice: &Option<octavo_registry::Choice>| choice.as_ref().map(|choice| choice.name.clone());
    assert_eq!(name(&parts[0].memory.prefetch).as_deref(), Some("tree"));
    assert_eq!(name(&parts[1].memory.eviction).as_deref(), Some("lru-block"));
    assert_eq!([name(&parts[0].memory.placement), name(&parts[1].memory.placement)], [None, Some("grit".to_owned())]);
    for (set, expected) in [
        (&["job.front.memory.prefetch=tre"][..], "`job[0].memory.prefetch.name`: unknown prefetch `tre`"),
        (&["job.front.memory.prefetch={name = \"tree\", treshold = 3}"], "`job[0].memory.prefetch.treshold`"),
        (
            &["job.front.memory.eviction=lru-block"],
            "`job[0].memory.eviction`: pages of all jobs leave in one order: expected memory.sharing = \"quota\"",
        ),
        (
            &["job.front.memory.placement=grit", "job.back.memory.placement={name=\"grit\", counter_threshold=9}"],
            "`job[1].memory.placement`: expected access counters with a threshold of 256 lines",
        ),
        (
            &["job.front.memory.guard=none"],
            "`job[0].memory.guard`: unknown key, expected one of placement, prefetch, eviction",
        ),
    ] {
        let found = refusal(set);
        assert!(found.contains(expected), "{found}\nnot\n{expected}");
    }
}
