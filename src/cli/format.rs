//! Numbers for people.

/// `1x3x224x224`, or `scalar`.
pub fn shape(dims: &[usize]) -> String {
    match dims.is_empty() {
        true => "scalar".to_owned(),
        false => dims.iter().map(usize::to_string).collect::<Vec<_>>().join("x"),
    }
}

/// `3.72 ns`, `12.3 ms`, `4.56 s`.
pub fn seconds(s: f64) -> String {
    match s {
        s if s < 1e-6 => format!("{:.2} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_read_well() {
        assert_eq!(super::shape(&[1, 3]), "1x3");
        assert_eq!(super::seconds(0.0123), "12.3 ms");
        assert_eq!(super::seconds(3.72e-9), "3.72 ns");
    }
}
