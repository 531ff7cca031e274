//! Who touched managed memory, as far as pages tell that the host has mapped.

use std::collections::HashMap;

use crate::kind::Kind;
use crate::pages::{Content, Mapped, content, mapped, same};
use crate::recorder::Known;
use crate::recorder::steps::Step;

/// What was seen of an allocation.
#[derive(Clone, Copy, Debug)]
struct Look {
    /// What the host had mapped before the launches since the last wait.
    before: Mapped,
    /// What it had mapped after that wait; none while launches use it.
    after: Option<Mapped>,
    content: Content,
}

/// By allocation.
#[derive(Debug, Default)]
pub struct Touches {
    looks: HashMap<usize, Look>,
    /// Allocations that launches have used since the last wait.
    used: Vec<usize>,
}

impl Touches {
    /// An allocation is gone.
    pub fn forget(&mut self, number: usize) {
        self.looks.remove(&number);
        self.used.retain(|used| *used != number);
    }
}

impl Known {
    /// A launch is about to use an allocation: what the host did with it until now.
    pub fn touched_before(&mut self, number: usize) {
        let used = self.touches.used.contains(&number);
        if !used && self.touched(number) {
            self.touches.used.push(number);
        }
    }

    /// What the host touched of an allocation since it could. False if that is never seen.
    pub fn touched(&mut self, number: usize) -> bool {
        let Some(allocation) = self.allocations.get(number).filter(|one| one.kind == Kind::Managed) else {
            return false;
        };
        let (begin, bytes) = (allocation.address, allocation.bytes);
        let old = self.touches.looks.get(&number).copied();
        if old.is_some_and(|old| old.after.is_none()) {
            return true;
        }
        let Some(now) = mapped(begin, bytes) else { return false };
        let new = now.without(old.and_then(|old| old.after).unwrap_or_default());
        let content = content(begin, bytes, now);
        if new.share() > 0.0 {
            let written = !old.is_some_and(|old| same(&old.content, &content));
            self.steps.add(Step::Touched { allocation: number, share: new.share(), written });
        }
        let mut known = old.map_or(content, |old| old.content);
        known.iter_mut().zip(content).filter(|(_, now)| *now != 0).for_each(|(known, now)| *known = now);
        self.touches.looks.insert(number, Look { before: now, after: None, content: known });
        true
    }

    /// The host has waited: what has left it.
    pub fn left(&mut self) {
        for number in std::mem::take(&mut self.touches.used) {
            let Some(allocation) = self.allocations.get(number) else { continue };
            let now = mapped(allocation.address, allocation.bytes);
            let (Some(now), Some(look)) = (now, self.touches.looks.get_mut(&number)) else { continue };
            look.after = Some(now);
            let share = look.before.without(now).share();
            self.steps.add(Step::Left { allocation: number, share });
        }
    }

    /// The process ends: what the host did with what is left.
    pub fn touched_at_last(&mut self) {
        let alive: Vec<usize> = self.alive.iter().map(|(.., number)| *number).collect();
        for number in alive.into_iter().filter(|number| self.touches.looks.contains_key(number)).collect::<Vec<_>>() {
            self.touched(number);
        }
    }
}
