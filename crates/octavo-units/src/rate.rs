use crate::parse::{Unit, quantity};

const UNITS: &[Unit] = &[
    ("op/s", 1),
    ("Kop/s", 1_000),
    ("Mop/s", 1_000_000),
    ("Gop/s", 1_000_000_000),
    ("Top/s", 1_000_000_000_000),
    ("Pop/s", 1_000_000_000_000_000),
];

/// Operations a second, as measurements of GPUs give them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

quantity!(
    Rate,
    "a rate such as 66.9Top/s (op/s, Kop/s, Mop/s, Gop/s, Top/s, Pop/s)",
    r"^[0-9_.]+ *[KMGTP]?op/s$",
    UNITS,
    UNITS
);
