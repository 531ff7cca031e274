/// The known name most similar to the typed one, whatever its case, if one is similar enough to be meant.
#[must_use]
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const SIMILAR: f64 = 0.75;
    let typed = &*typed.to_lowercase();
    let known: Vec<&str> = known.into_iter().collect();
    let mut best: Option<(f64, &str)> = None;
    for &name in &known {
        let similarity = strsim::jaro_winkler(typed, &name.to_lowercase());
        if similarity >= SIMILAR && best.is_none_or(|(highest, _)| similarity > highest) {
            best = Some((similarity, name));
        }
    }
    // One slip makes short names look less similar than they are: a letter too many, too few or another, or two in the
    // wrong order.
    let one_slip = |name: &&str| typed.len() > 2 && strsim::osa_distance(typed, name) == 1;
    best.map(|(_, name)| name).or_else(|| known.into_iter().find(one_slip))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn suggests_what_was_probably_meant_or_nothing() {
        let known = ["fault_threshold", "pa_cache", "prediction"];
        assert_eq!(nearest("fault_treshold", known), Some("fault_threshold"));
        assert_eq!(nearest("bandwidth", known), None);
        assert_eq!(nearest("fri", ["gemm", "fir", "fwt"]), Some("fir"));
        assert_eq!(nearest("ab", ["ba"]), None);
        assert_eq!(nearest("FIR", ["gemm", "fir", "fwt"]), Some("fir"));
    }
}
