//! The arguments that a kernel declares, read from its source, because the driver accepts any arguments.

/// How the GPU interprets an argument's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An address.
    Pointer,
    /// 32 bits.
    Word,
    /// 64 bits.
    Long,
    /// Single precision.
    Float,
}

/// Kinds of the arguments of `extern "C" __global__ void NAME(...)`; `None` if there is no such kernel, or an argument
/// that the probes do not use.
pub(crate) fn signature(text: &str, name: &str) -> Option<Vec<Kind>> {
    let begin = text.match_indices(name).find_map(|(at, _)| {
        let before = text[..at].trim_end();
        let after = text[at + name.len()..].trim_start();
        (before.ends_with("void") && after.starts_with('(')).then(|| text.len() - after.len() + 1)
    })?;
    let declared = &text[begin..begin + text[begin..].find(')')?];
    declared.split(',').map(str::trim).filter(|argument| !argument.is_empty()).map(kind).collect()
}

fn kind(argument: &str) -> Option<Kind> {
    if argument.contains('*') {
        return Some(Kind::Pointer);
    }
    let words: Vec<&str> = argument.split_whitespace().filter(|word| *word != "const").collect();
    match words[..words.len().checked_sub(1)?] {
        ["u32" | "i32" | "unsigned" | "int"] => Some(Kind::Word),
        ["u64" | "i64"] => Some(Kind::Long),
        ["float"] => Some(Kind::Float),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, signature};

    const TEXT: &str = r#"
        __device__ u64 scaled(u64 value) { return value; }
        extern "C" __global__ void scale(const float *from, float* to, u64 count,
                                         float factor, const u32 rounds)
        { scale_one(from); }
        extern "C" __global__ void empty() {}
        extern "C" __global__ void odd(double value) {}
    "#;

    #[test]
    fn arguments_are_read_from_the_declaration() {
        let kinds = [Kind::Pointer, Kind::Pointer, Kind::Long, Kind::Float, Kind::Word];
        assert_eq!(signature(TEXT, "scale").unwrap(), kinds);
        assert_eq!(signature(TEXT, "empty").unwrap(), []);
        assert_eq!(signature(TEXT, "odd"), None);
        assert_eq!(signature(TEXT, "scale_one"), None);
        assert_eq!(signature(TEXT, "missing"), None);
    }
}
