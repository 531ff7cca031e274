use strsim::jaro_winkler;

/// The most names that a message lists, and how many it lists of more. Chosen.
const MOST: usize = 12;
const OF_MORE: usize = 3;

/// What was expected instead of `typed`, which is none of `known`: any of them, or, if there are many, the most similar
/// ones and `command`, which shows all.
#[must_use]
pub fn one_of(typed: &str, known: &[&str], command: &str) -> String {
    if known.len() <= MOST {
        return format!("one of {}", known.join(", "));
    }
    let mut nearest = known.to_vec();
    nearest.sort_by(|one, other| jaro_winkler(typed, other).total_cmp(&jaro_winkler(typed, one)));
    nearest.truncate(OF_MORE);
    format!("one of the {} that `{command}` shows, such as {}", known.len(), nearest.join(", "))
}

#[cfg(test)]
mod tests {
    use super::one_of;

    #[test]
    fn few_names_are_listed_and_of_many_the_nearest() {
        assert_eq!(one_of("b", &["a", "c"], "octavo list"), "one of a, c");
        let many = ["aes", "bfs", "fft", "fir", "fw", "gemm", "gups", "hs", "km", "mm", "mt", "nw", "spmv"];
        let found = one_of("firr", &many, "octavo list workloads");
        assert!(found.starts_with("one of the 13 that `octavo list workloads` shows, such as fir, fw, "), "{found}");
    }
}
