//! Where structures are to lie: the cheapest of device, managed and pinned memory, under a budget of device memory.

use octavo_units::Bytes;
use serde::Serialize;
use thiserror::Error;

use crate::budget::{Candidate, choose};
use crate::penalty::HostPlacement;
use crate::{Penalty, QuantityError, Readings, Seconds, Structure, System};

/// Where a structure can lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Device memory, with bulk copies.
    Device,
    /// Managed memory, which comes by pages.
    Managed,
    /// Pinned memory of the host, which comes by lines.
    Pinned,
}

/// The terms of φ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Term {
    /// Latency that nothing hides.
    Exposed,
    /// Serving faults.
    Faults,
    /// Faults held up because host and device write the same pages.
    Thrashing,
    /// Pages that the device touches first.
    FirstTouch,
    /// Pages that come back to the host.
    Returned,
    /// Having memory of this kind.
    Having,
    /// Launches that a structure larger than the device needs.
    Launches,
    /// Bulk copies of device placement.
    Copy,
}

/// A question about one structure.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The known facts about it.
    pub structure: Structure,
    /// Whether [`Structure::lines`] is known: pinned memory is not considered otherwise.
    pub lines_known: bool,
}

/// The placement of one structure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// The advice.
    pub placement: Placement,
    /// The cost of managed memory beyond device memory.
    pub managed: Penalty,
    /// The cost of pinned memory, if its lines are known.
    pub pinned: Option<Penalty>,
    /// The term in which the best other placement costs most beyond this one.
    pub dominant: Term,
}

/// Decisions about structures that share a device memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decisions {
    /// In the order of the structures in the question.
    pub each: Vec<Decision>,
    /// Whether no other choice under the budget has a larger gain.
    pub exact: bool,
}

/// What cannot be decided.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Undecided {
    /// A constant is out of its range.
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    /// Structures that may lie nowhere else exceed the device memory.
    #[error("expected at most {room} of structures that may lie nowhere but on the device, found {needed}")]
    TooLarge {
        /// Device memory that may be used.
        room: Bytes,
        /// What is needed.
        needed: Bytes,
    },
}

/// Decides where all structures lie. They may use `budget` bytes of device memory, at most the machine's. Structures
/// that may lie nowhere else get it first, then the set with the largest gain.
///
/// # Errors
/// A constant means nothing, or structures that may lie nowhere else do not fit.
pub fn decide(
    system: &System,
    questions: &[Question],
    budget: Option<Bytes>,
    readings: &Readings,
) -> Result<Decisions, Undecided> {
    let room = budget.map_or(system.capacity, |budget| budget.min(system.capacity));
    let priced: Vec<Priced> = questions.iter().map(|one| priced(system, one, readings)).collect::<Result<_, _>>()?;
    let needed = priced.iter().filter(|one| one.host.is_none()).map(|one| one.bytes.0);
    let needed = Bytes(needed.fold(0, u64::saturating_add));
    if needed > room {
        return Err(Undecided::TooLarge { room, needed });
    }
    let candidates: Vec<Candidate> = priced.iter().map(Priced::candidate).collect();
    let choice = choose(&candidates, Bytes(room.0 - needed.0));
    let each = priced.iter().zip(&choice.chosen).map(|(one, &chosen)| one.decision(chosen)).collect();
    Ok(Decisions { each, exact: choice.exact })
}

/// A structure with its costs on the host, and the best place there that does not thrash.
struct Priced {
    bytes: Bytes,
    managed: Penalty,
    pinned: Option<Penalty>,
    host: Option<Placement>,
}

fn priced(system: &System, question: &Question, readings: &Readings) -> Result<Priced, QuantityError> {
    let penalty = |host| Penalty::of(system, &question.structure, host, readings);
    let managed = penalty(HostPlacement::OnDemand)?;
    let pinned = question.lines_known.then(|| penalty(HostPlacement::Pinned)).transpose()?;
    let cheaper = pinned.is_some_and(|pinned| managed.thrashes || pinned.phi() < managed.phi());
    let host = match (cheaper, managed.thrashes) {
        (true, _) => Some(Placement::Pinned),
        (false, false) => Some(Placement::Managed),
        (false, true) => None,
    };
    Ok(Priced { bytes: question.structure.size, managed, pinned, host })
}

impl Priced {
    fn penalty(&self, placement: Placement) -> Option<Penalty> {
        match placement {
            Placement::Device => None,
            Placement::Managed => Some(self.managed),
            Placement::Pinned => self.pinned,
        }
    }

    fn cost(&self, placement: Placement) -> f64 {
        self.penalty(placement).map_or(0.0, |penalty| penalty.phi().0)
    }

    fn candidate(&self) -> Candidate {
        Candidate { bytes: self.bytes, gain: Seconds(self.host.map_or(0.0, |host| self.cost(host))) }
    }

    fn decision(&self, chosen: bool) -> Decision {
        let placement = self.host.filter(|_| !chosen).unwrap_or(Placement::Device);
        Decision { placement, managed: self.managed, pinned: self.pinned, dominant: self.dominant(placement) }
    }

    /// The term that distinguishes `placement` from the cheapest other one.
    fn dominant(&self, placement: Placement) -> Term {
        let known = [Placement::Device, Placement::Managed, Placement::Pinned].into_iter();
        let others = known.filter(|one| *one != placement && (*one != Placement::Pinned || self.pinned.is_some()));
        let rival = others.min_by(|one, other| self.cost(*one).total_cmp(&self.cost(*other)));
        if rival == Some(Placement::Managed) && self.managed.thrashes {
            return Term::Thrashing;
        }
        let (rival, own) = (terms(rival.and_then(|one| self.penalty(one))), terms(self.penalty(placement)));
        let beyond = rival.iter().zip(&own).map(|((term, cost), (_, own))| (*term, cost - own));
        beyond.fold((Term::Exposed, f64::NEG_INFINITY), |best, one| if one.1 > best.1 { one } else { best }).0
    }
}

/// Terms of a penalty, with their signs; zeros for device memory.
fn terms(penalty: Option<Penalty>) -> [(Term, f64); 8] {
    let of = |term: fn(&Penalty) -> Seconds| penalty.as_ref().map_or(0.0, |penalty| term(penalty).0);
    [
        (Term::Exposed, of(|one| one.exposed)),
        (Term::Faults, of(|one| one.faults)),
        (Term::Thrashing, of(|one| one.thrashing)),
        (Term::FirstTouch, of(|one| one.first_touch)),
        (Term::Returned, of(|one| one.returned)),
        (Term::Having, of(|one| one.having)),
        (Term::Launches, -of(|one| one.launches)),
        (Term::Copy, -of(|one| one.copy)),
    ]
}
