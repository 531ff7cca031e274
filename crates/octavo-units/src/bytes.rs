use crate::parse::{Unit, quantity};

const PARSED: &[Unit] = &[
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];
const PRINTED: &[Unit] = &[("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];

/// An amount of memory in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

quantity!(
    Bytes,
    "a size such as 16KiB (B, KiB, MiB, GiB, TiB, KB, MB, GB, TB)",
    r"^[0-9_.]+ *[KMGT]?i?B$",
    PARSED,
    PRINTED
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_binary_from_decimal_multiples() {
        assert_eq!("16KiB".parse(), Ok(Bytes(16_384)));
        assert_eq!("16KB".parse(), Ok(Bytes(16_000)));
        assert_eq!("1.5MiB".parse(), Ok(Bytes(1_572_864)));
        assert_eq!(Bytes(1_572_864).to_string(), "1536KiB");
        assert!("16k".parse::<Bytes>().is_err());
    }
}
