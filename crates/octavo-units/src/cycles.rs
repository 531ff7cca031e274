use crate::parse::{Unit, quantity};

const UNITS: &[Unit] = &[("cycles", 1)];

/// A count of clock cycles; which clock is said where the quantity is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cycles(pub u64);

quantity!(Cycles, "a count of cycles such as 100cycles", r"^[0-9_]+ *cycles$", UNITS, UNITS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_its_unit() {
        assert_eq!("100cycles".parse(), Ok(Cycles(100)));
        assert!("100".parse::<Cycles>().is_err());
        assert!("0.5cycles".parse::<Cycles>().is_err());
    }
}
