//! A number that identifies files of steps.

/// Sixteen hexadecimal digits of `bytes`: against mistakes, not against malice (FNV-1a).
pub fn digest(bytes: &[u8]) -> String {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    format!("{:016x}", bytes.iter().fold(0xCBF2_9CE4_8422_2325, mix))
}
