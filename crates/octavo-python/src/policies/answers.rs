//! Answers of a policy, and how they are read.

use octavo_manager::{CounterSpec, MemoryMask, PageId, PageRun, ProcessorMask, ReportSpec};
use octavo_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyRange;

use super::call::{Trouble, shown};
use super::processors::{integer, processor};

/// Most lines a hardware counter can count (`uvm_perf_access_counter_threshold`).
const MAX_THRESHOLD: u32 = 65_535;

/// A placement's decision about a fault.
#[pyclass(frozen, eq, hash, module = "octavo.policies")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decision(What);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Migrate,
    MapRemote,
    Duplicate { drain: bool },
    Subscribe,
    Everywhere,
    At(i64),
}

#[pymethods]
impl Decision {
    /// The page moves to the faulting processor, which becomes its only holder and can write it.
    #[classattr]
    const MIGRATE: Self = Self(What::Migrate);

    /// The faulting processor maps the page where it is, for reading and writing.
    #[classattr]
    const MAP_REMOTE: Self = Self(What::MapRemote);

    /// A load gives the faulting processor a read-only replica; a store makes it the only holder.
    #[classattr]
    const DUPLICATE: Self = Self(What::Duplicate { drain: false });

    /// The same, and processors that lose the right to write, or their mapping, are drained first.
    #[classattr]
    const DUPLICATE_AND_DRAIN: Self = Self(What::Duplicate { drain: true });

    /// The faulting processor gets a replica that it can write; stores go to all holders.
    #[classattr]
    const SUBSCRIBE: Self = Self(What::Subscribe);

    /// The page moves to the faulting GPU and is mapped on every GPU as if it were local: a bound, no policy.
    #[classattr]
    const EVERYWHERE: Self = Self(What::Everywhere);

    /// The page is at home on a processor from its allocation on; the faulting processor maps it there.
    #[staticmethod]
    fn at(processor: i64) -> Self {
        Self(What::At(processor))
    }

    fn __repr__(&self) -> String {
        match self.0 {
            What::Migrate => "Decision.MIGRATE".to_owned(),
            What::MapRemote => "Decision.MAP_REMOTE".to_owned(),
            What::Duplicate { drain: false } => "Decision.DUPLICATE".to_owned(),
            What::Duplicate { drain: true } => "Decision.DUPLICATE_AND_DRAIN".to_owned(),
            What::Subscribe => "Decision.SUBSCRIBE".to_owned(),
            What::Everywhere => "Decision.EVERYWHERE".to_owned(),
            What::At(processor) => format!("Decision.at({processor})"),
        }
    }
}

impl Decision {
    pub fn read(value: &Bound<'_, PyAny>, gpus: usize) -> Result<octavo_manager::Decision, Trouble> {
        use octavo_manager::Decision as Manager;
        let Ok(decision) = value.cast::<Self>() else {
            return Err(Trouble::nonsense("a Decision such as Decision.MIGRATE", shown(value)));
        };
        Ok(match decision.get().0 {
            What::Migrate => Manager::Migrate,
            What::MapRemote => Manager::MapRemote,
            What::Duplicate { drain } => Manager::Duplicate { drain },
            What::Subscribe => Manager::Subscribe,
            What::Everywhere => Manager::Everywhere,
            What::At(number) => Manager::At(
                processor(number, gpus).map_err(|trouble| in_words(trouble, "Decision.at of ", value))?.memory(),
            ),
        })
    }
}

/// Shows the whole answer instead of the part that is wrong.
fn in_words(trouble: Trouble, before: &str, answer: &Bound<'_, PyAny>) -> Trouble {
    match trouble {
        Trouble::Nonsense { expected, .. } => Trouble::nonsense(format!("{before}{expected}"), shown(answer)),
        raised @ Trouble::Raised(_) => raised,
    }
}

/// A guard's decision about a fault.
#[pyclass(frozen, module = "octavo.policies")]
pub struct Hint(Step);

enum Step {
    Throttle(Py<PyAny>),
    Pin(i64, Vec<i64>),
}

#[pymethods]
impl Hint {
    /// The fault waits until a time in picoseconds, and the guard decides about it again.
    #[staticmethod]
    fn throttle(until: Py<PyAny>) -> Self {
        Self(Step::Throttle(until))
    }

    /// The page comes to lie with a processor; the faulting one maps it there, and so do `mappers` as far as they can.
    #[staticmethod]
    #[pyo3(signature = (at, *, mappers=None))]
    fn pin(at: i64, mappers: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let mappers = match mappers {
            Some(mappers) => mappers.try_iter()?.map(|item| item?.extract()).collect::<PyResult<_>>()?,
            None => Vec::new(),
        };
        Ok(Self(Step::Pin(at, mappers)))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        match &self.0 {
            Step::Throttle(until) => format!("Hint.throttle({})", shown(until.bind(py))),
            Step::Pin(at, mappers) => format!("Hint.pin({at}, mappers={mappers:?})"),
        }
    }
}

impl Hint {
    /// `None` stands for passing the fault on.
    pub fn read(value: &Bound<'_, PyAny>, gpus: usize, now: Time) -> Result<octavo_manager::Hint, Trouble> {
        use octavo_manager::Hint as Manager;
        if value.is_none() {
            return Ok(Manager::Pass);
        }
        let Ok(hint) = value.cast::<Self>() else {
            return Err(Trouble::nonsense("a Hint such as Hint.throttle(until), or None", shown(value)));
        };
        match &hint.get().0 {
            Step::Throttle(until) => later(until.bind(value.py()), Some(now), "Hint.throttle of a time in picoseconds")
                .map(Manager::Throttle),
            Step::Pin(at, others) => {
                let one = |number| processor(number, gpus).map_err(|trouble| in_words(trouble, "Hint.pin of ", value));
                let mut mappers = ProcessorMask::EMPTY;
                for &number in others {
                    mappers = mappers.with(one(number)?);
                }
                Ok(Manager::Pin { at: one(*at)?.memory(), mappers })
            }
        }
    }
}

/// A time in picoseconds that is later than `after`, if there is such a bound.
pub fn later(value: &Bound<'_, PyAny>, after: Option<Time>, expected: &str) -> Result<Time, Trouble> {
    let bound = after.map_or(String::new(), |after| format!(" that is later than now ({})", after.0));
    let expected = format!("{expected}{bound}");
    let found = integer(value, &expected)?;
    let time = u64::try_from(found).ok().map(Time).filter(|time| after.is_none_or(|after| *time > after));
    time.ok_or_else(|| Trouble::nonsense(expected, shown(value)))
}

/// Reads the elements of an iterable; None stands for an empty one.
pub fn each<T>(
    answer: &Bound<'_, PyAny>,
    read: impl Fn(&Bound<'_, PyAny>) -> Result<T, Trouble>,
) -> Result<Vec<T>, Trouble> {
    if answer.is_none() {
        return Ok(Vec::new());
    }
    let Ok(items) = answer.try_iter() else {
        return Err(Trouble::nonsense("an iterable", shown(answer)));
    };
    items.map(|item| read(&item?)).collect()
}

/// A page that a policy moves without a fault.
#[pyclass(frozen, module = "octavo.policies")]
pub struct Move {
    page: i64,
    to: i64,
}

#[pymethods]
impl Move {
    #[new]
    fn new(page: i64, to: i64) -> Self {
        Self { page, to }
    }

    /// Number of the page.
    #[getter]
    fn page(&self) -> i64 {
        self.page
    }

    /// Where it goes: a GPU from 0, or HOST.
    #[getter]
    fn to(&self) -> i64 {
        self.to
    }

    fn __repr__(&self) -> String {
        format!("Move({}, to={})", self.page, self.to)
    }
}

impl Move {
    pub fn read(
        value: &Bound<'_, PyAny>,
        gpus: usize,
        allocated: impl Fn(PageId) -> bool,
    ) -> Result<octavo_manager::Move, Trouble> {
        let Ok(request) = value.cast::<Self>() else { return Err(Trouble::nonsense("a Move", shown(value))) };
        let page = known(request.get().page, allocated).map_err(|trouble| in_words(trouble, "a Move of ", value))?;
        let to = processor(request.get().to, gpus).map_err(|trouble| in_words(trouble, "a Move to ", value))?;
        Ok(octavo_manager::Move { page, to: to.memory() })
    }
}

/// Replicas of a page in broadcast mode that a policy gives up.
#[pyclass(frozen, module = "octavo.policies")]
pub struct Unsubscribe {
    page: i64,
    processors: Vec<i64>,
}

#[pymethods]
impl Unsubscribe {
    #[new]
    fn new(page: i64, processors: &Bound<'_, PyAny>) -> PyResult<Self> {
        let processors = processors.try_iter()?.map(|item| item?.extract()).collect::<PyResult<_>>()?;
        Ok(Self { page, processors })
    }

    /// Number of the page.
    #[getter]
    fn page(&self) -> i64 {
        self.page
    }

    /// Processors that lose their replicas.
    #[getter]
    fn processors(&self) -> Vec<i64> {
        self.processors.clone()
    }

    fn __repr__(&self) -> String {
        format!("Unsubscribe({}, {:?})", self.page, self.processors)
    }
}

impl Unsubscribe {
    pub fn read(
        value: &Bound<'_, PyAny>,
        gpus: usize,
        allocated: impl Fn(PageId) -> bool,
    ) -> Result<octavo_manager::Unsubscribe, Trouble> {
        let Ok(request) = value.cast::<Self>() else { return Err(Trouble::nonsense("an Unsubscribe", shown(value))) };
        let request = request.get();
        let page = known(request.page, allocated).map_err(|trouble| in_words(trouble, "an Unsubscribe of ", value))?;
        let mut memories = MemoryMask::EMPTY;
        for &number in &request.processors {
            let one = processor(number, gpus).map_err(|trouble| in_words(trouble, "an Unsubscribe of ", value))?;
            memories = memories.with(one.memory());
        }
        Ok(octavo_manager::Unsubscribe { page, memories })
    }
}

fn known(number: i64, allocated: impl Fn(PageId) -> bool) -> Result<PageId, Trouble> {
    let page = u32::try_from(number).ok().map(PageId).filter(|&page| allocated(page));
    page.ok_or_else(|| Trouble::nonsense("a page of an allocation", number.to_string()))
}

/// A page number within `bounds`, which messages call `expected`.
pub fn page_within(value: &Bound<'_, PyAny>, bounds: PageRun, expected: &str) -> Result<PageId, Trouble> {
    let first = i64::from(bounds.first.0);
    let expected = || format!("{expected} ({first} to {})", first + i64::from(bounds.count) - 1);
    let number = integer(value, &expected())?;
    if (first..first + i64::from(bounds.count)).contains(&number) {
        return Ok(PageId(number as u32));
    }
    Err(Trouble::nonsense(expected(), format!("page {number}")))
}

/// Nothing, a page, or a range of neighbours within `bounds`.
pub fn run_within(value: &Bound<'_, PyAny>, bounds: PageRun) -> Result<Option<PageRun>, Trouble> {
    const EXPECTED: &str = "None, a page or a range of pages of the counter's group";
    if value.is_none() {
        return Ok(None);
    }
    let Ok(pages) = value.cast::<PyRange>() else {
        return page_within(value, bounds, EXPECTED).map(|page| Some(PageRun::one(page)));
    };
    if pages.len()? == 0 {
        return Ok(None);
    }
    let first = page_within(&pages.get_item(0)?, bounds, EXPECTED)?;
    let last = page_within(&pages.get_item(pages.len()? - 1)?, bounds, EXPECTED)?;
    let run = PageRun { first, count: pages.len()? as u32 };
    if i64::from(last.0) - i64::from(first.0) + 1 == i64::from(run.count) {
        return Ok(Some(run));
    }
    Err(Trouble::nonsense("a range with a step of 1", shown(value)))
}

/// What a placement asks the node to count, report or permit.
#[pyclass(frozen, module = "octavo.policies")]
pub struct Needs {
    counter_threshold: Option<u32>,
    report_cycles: Option<u64>,
    report_entry_bytes: u32,
    free_faults: bool,
    free_store_faults: bool,
}

#[pymethods]
impl Needs {
    #[new]
    #[pyo3(signature = (
        *, counter_threshold=None, report_cycles=None, report_entry_bytes=8, free_faults=false, free_store_faults=false
    ))]
    fn new(
        counter_threshold: Option<u32>,
        report_cycles: Option<u64>,
        report_entry_bytes: u32,
        free_faults: bool,
        free_store_faults: bool,
    ) -> PyResult<Self> {
        if let Some(threshold) = counter_threshold.filter(|threshold| !(1..=MAX_THRESHOLD).contains(threshold)) {
            let message = format!("counter_threshold: expected 1 to {MAX_THRESHOLD} lines, found {threshold}");
            return Err(PyValueError::new_err(message));
        }
        if report_cycles == Some(0) {
            return Err(PyValueError::new_err("report_cycles: expected at least 1 cycle, found 0"));
        }
        Ok(Self { counter_threshold, report_cycles, report_entry_bytes, free_faults, free_store_faults })
    }

    fn __repr__(&self) -> String {
        let number = |value: Option<u64>| value.map_or("None".to_owned(), |value| value.to_string());
        format!(
            "Needs(counter_threshold={}, report_cycles={})",
            number(self.counter_threshold.map(u64::from)),
            number(self.report_cycles)
        )
    }
}

impl Needs {
    pub fn read(value: &Bound<'_, PyAny>, group_pages: u32) -> Result<octavo_manager::Needs, Trouble> {
        let Ok(needs) = value.cast::<Self>() else { return Err(Trouble::nonsense("a Needs", shown(value))) };
        let Self { counter_threshold, report_cycles, report_entry_bytes, free_faults, free_store_faults } =
            *needs.get();
        Ok(octavo_manager::Needs {
            counters: counter_threshold.map(|threshold| CounterSpec { threshold, group_pages }),
            reports: report_cycles.map(|period_cycles| ReportSpec { period_cycles, entry_bytes: report_entry_bytes }),
            accesses: false,
            free_store_faults,
            free_faults,
        })
    }
}
