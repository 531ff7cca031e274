//! Which version of the record CUPTI wrote: known from the library's version, and checked against the bytes.

/// `CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER`.
pub(super) const UNIFIED_MEMORY_COUNTER: u32 = 25;

/// The version of the library that wrote the third version of the record first: 26, of CUDA 12.8 (cupti_version.h). The
/// headers of 12.6 have version 24 and the second record, those of 12.8 and of 13 the third. CUPTI of CUDA 13.0 calls
/// itself 130001.
const THIRD_SINCE: u32 = 26;

/// A version of `CUpti_ActivityUnifiedMemoryCounter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// 64 bytes a record.
    Second,
    /// 104 bytes: five words more, of processors.
    Third,
}

impl Layout {
    /// The layout that records of that library have.
    ///
    /// # Errors
    /// They have none that is known here.
    pub(super) fn of(version: u32, buffers: &[Vec<u8>]) -> Result<Self, String> {
        let expected = if version < THIRD_SINCE { Self::Second } else { Self::Third };
        let other = if expected == Self::Second { Self::Third } else { Self::Second };
        [expected, other].into_iter().find(|layout| buffers.iter().all(|buffer| layout.fits(buffer))).ok_or_else(|| {
            format!("the records of this CUPTI (version {version}) have neither 64 nor 104 bytes: they cannot be read")
        })
    }

    /// What decoders call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Second => "v2",
            Self::Third => "v3",
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Second => 64,
            Self::Third => 104,
        }
    }

    /// Whether whole records fill the buffer, each of which begins with its kind.
    fn fits(self, buffer: &[u8]) -> bool {
        let kind = UNIFIED_MEMORY_COUNTER.to_ne_bytes();
        buffer.len().is_multiple_of(self.bytes()) && buffer.chunks(self.bytes()).all(|record| record.starts_with(&kind))
    }
}

#[cfg(test)]
mod tests {
    use super::Layout;

    fn buffer(records: usize, bytes: usize) -> Vec<u8> {
        let mut one = vec![0; bytes];
        one[0] = 25;
        one.repeat(records)
    }

    #[test]
    fn the_version_tells_the_layout_when_the_bytes_fit_it() {
        assert_eq!(Layout::of(24, &[buffer(3, 64)]), Ok(Layout::Second));
        assert_eq!(Layout::of(26, &[buffer(3, 104), buffer(1, 104)]), Ok(Layout::Third));
        assert_eq!(Layout::of(130_001, &[buffer(2, 104)]), Ok(Layout::Third));
        assert_eq!(Layout::of(20, &[]), Ok(Layout::Second));
    }

    #[test]
    fn bytes_are_believed_before_the_version() {
        assert_eq!(Layout::of(28, &[buffer(5, 64)]), Ok(Layout::Second));
        assert_eq!(Layout::of(24, &[buffer(5, 104)]), Ok(Layout::Third));
        // 13 records of 64 bytes are as long as 8 of 104: the kinds decide.
        assert_eq!(Layout::of(28, &[buffer(13, 64)]), Ok(Layout::Second));
    }

    #[test]
    fn records_of_another_length_or_kind_are_not_taken_for_known_ones() {
        assert!(Layout::of(28, &[buffer(3, 112)]).unwrap_err().contains("version 28"));
        assert!(Layout::of(28, &[buffer(3, 104)[..200].to_vec()]).is_err());
        assert!(Layout::of(28, &[vec![0; 104]]).is_err());
    }
}
