//! Sharings in Python.

use octavo_manager::{Failure, Sharing, SpaceId};
use pyo3::prelude::*;

use super::call::{About, Caller, Method, Trouble, shown};
use super::processors::number;

/// A sharing whose order is a Python object's.
pub struct PythonSharing {
    caller: Caller,
    yields: Method,
}

impl PythonSharing {
    pub fn new(name: &str, policy: Bound<'_, PyAny>) -> PyResult<Self> {
        let py = policy.py();
        let caller = Caller::started("sharing", name, policy)?;
        Ok(Self { yields: caller.method(py, "yields")?, caller })
    }
}

impl Sharing for PythonSharing {
    fn yields(&mut self, shortage: &octavo_manager::Shortage<'_>, yields: &mut Vec<octavo_manager::Yield>) {
        let about = About { occasion: "room in the memory", processor: Some(shortage.memory.processor()), page: None };
        let arguments = |py: Python<'_>| Ok((Py::new(py, Shortage::of(shortage))?,));
        let read = |answer: &Bound<'_, PyAny>| who(answer, shortage);
        yields.extend(self.caller.call(about, &self.yields, arguments, read).unwrap_or_default());
    }

    fn failure(&self) -> Option<Box<Failure>> {
        self.caller.failure()
    }
}

fn who(
    answer: &Bound<'_, PyAny>,
    shortage: &octavo_manager::Shortage<'_>,
) -> Result<Vec<octavo_manager::Yield>, Trouble> {
    const EXPECTED: &str = "an iterable of Yield";
    let Ok(items) = answer.try_iter() else { return Err(Trouble::nonsense(EXPECTED, shown(answer))) };
    let mut found: Vec<octavo_manager::Yield> = Vec::new();
    for item in items {
        let item = item?;
        let Ok(own) = item.cast::<Yield>() else { return Err(Trouble::nonsense(EXPECTED, shown(&item))) };
        let Yield { job, pages } = *own.get();
        let Some(space) = shortage.spaces().find(|space| i64::from(space.0) == job) else {
            return Err(Trouble::nonsense("Yield of one of the shortage's jobs", shown(&item)));
        };
        if found.iter().any(|known| known.space == space) {
            return Err(Trouble::nonsense("Yield of each job once", format!("{} twice", shown(&item))));
        }
        let Some(most) = pages.map_or(Some(u32::MAX), |pages| u32::try_from(pages).ok()) else {
            return Err(Trouble::nonsense("Yield of a number of pages from 0", shown(&item)));
        };
        found.push(octavo_manager::Yield { space, most });
    }
    Ok(found)
}

/// A job that gives up pages.
#[pyclass(frozen, eq, hash, module = "octavo.policies")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Yield {
    job: i64,
    pages: Option<i64>,
}

#[pymethods]
impl Yield {
    #[new]
    #[pyo3(signature = (job, pages=None))]
    fn new(job: i64, pages: Option<i64>) -> Self {
        Self { job, pages }
    }

    /// Number of the job.
    #[getter]
    fn job(&self) -> i64 {
        self.job
    }

    /// This many pages at most; None for any.
    #[getter]
    fn pages(&self) -> Option<i64> {
        self.pages
    }

    fn __repr__(&self) -> String {
        match self.pages {
            Some(pages) => format!("Yield({}, {pages})", self.job),
            None => format!("Yield({})", self.job),
        }
    }
}

/// A GPU's memory has to give up pages.
#[pyclass(frozen, module = "octavo.policies")]
pub struct Shortage {
    gpu: i32,
    wanted: u32,
    asking: Option<u16>,
    room: u32,
    jobs: Vec<JobMemory>,
}

impl Shortage {
    /// A snapshot: Python's copy does not change.
    fn of(shortage: &octavo_manager::Shortage<'_>) -> Self {
        let job = |space: SpaceId| JobMemory {
            number: space.0,
            name: shortage.name(space).to_owned(),
            held: shortage.held(space),
            at_home: shortage.at_home(space),
        };
        Self {
            gpu: number(shortage.memory.processor()),
            wanted: shortage.wanted,
            asking: shortage.asking.map(|space| space.0),
            room: shortage.room(),
            jobs: shortage.spaces().map(job).collect(),
        }
    }
}

#[pymethods]
impl Shortage {
    /// The GPU that owns the memory.
    #[getter]
    fn gpu(&self) -> i32 {
        self.gpu
    }

    /// How many pages have to leave.
    #[getter]
    fn wanted(&self) -> u32 {
        self.wanted
    }

    /// Number of the job that needs room; None if no job caused it.
    #[getter]
    fn asking(&self) -> Option<u16> {
        self.asking
    }

    /// Pages that the memory has room for, except for pages that cannot be made to leave.
    #[getter]
    fn room(&self) -> u32 {
        self.room
    }

    /// The jobs that were ever seen, in order of their numbers.
    #[getter]
    fn jobs(&self) -> Vec<JobMemory> {
        self.jobs.clone()
    }
}

/// One job's part of a memory.
#[pyclass(frozen, module = "octavo.policies")]
#[derive(Clone)]
pub struct JobMemory {
    number: u16,
    name: String,
    held: u32,
    at_home: bool,
}

#[pymethods]
impl JobMemory {
    /// Which job, from 0.
    #[getter]
    fn number(&self) -> u16 {
        self.number
    }

    /// Its name; empty for a single program.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Pages that it has there and that can be made to leave.
    #[getter]
    fn held(&self) -> u32 {
        self.held
    }

    /// Whether it has memory now and runs on that GPU.
    #[getter]
    fn at_home(&self) -> bool {
        self.at_home
    }
}
