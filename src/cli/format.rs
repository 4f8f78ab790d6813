//! Numbers for people.

/// `5.742 MiB (6,021,120)`, right-aligned for a column.
pub fn mib(bytes: u64) -> String {
    format!("{:>12.3} MiB {:>17}", bytes as f64 / (1u64 << 20) as f64, format!("({})", thousands(bytes)))
}

/// `6,021,120`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1x3x224x224`, or `scalar`.
pub fn shape(dims: &[usize]) -> String {
    match dims.is_empty() {
        true => "scalar".to_owned(),
        false => dims.iter().map(usize::to_string).collect::<Vec<_>>().join("x"),
    }
}

/// `12.3 ms`, `4.56 s`.
pub fn seconds(s: f64) -> String {
    match s {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_read_well() {
        assert_eq!(super::thousands(6_021_120), "6,021,120");
        assert_eq!(super::thousands(999), "999");
        assert_eq!(super::mib(1 << 20).trim(), "1.000 MiB       (1,048,576)");
        assert_eq!(super::shape(&[1, 3]), "1x3");
        assert_eq!(super::seconds(0.0123), "12.3 ms");
    }
}
