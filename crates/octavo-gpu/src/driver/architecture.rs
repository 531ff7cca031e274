//! The target that kernels are compiled for.

/// A generation of GPUs, as compilers know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Architecture {
    /// Compute capability, such as (9, 0).
    pub capability: (i32, i32),
}

impl Architecture {
    /// Reads `sm_90`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sm_")?;
        if digits.len() < 2 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (major, minor) = digits.split_at(digits.len() - 1);
        Some(Self { capability: (major.parse().ok()?, minor.parse().ok()?) })
    }

    /// `90` for compute capability 9.0.
    pub(crate) fn number(self) -> i32 {
        self.capability.0 * 10 + self.capability.1
    }
}

#[cfg(test)]
mod tests {
    use super::Architecture;

    #[test]
    fn architectures_are_read_and_nonsense_is_not() {
        assert_eq!(Architecture::parse("sm_90").unwrap().capability, (9, 0));
        assert_eq!(Architecture::parse("sm_120").unwrap().capability, (12, 0));
        for wrong in ["sm_9", "90", "sm_9x", "compute_90", "sm_-90", ""] {
            assert_eq!(Architecture::parse(wrong), None, "{wrong}");
        }
    }
}
