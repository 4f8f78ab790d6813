//! Numbers on axes: bytes as people read them, and where to put ticks.

/// A unit for bytes up to `most`, with its size: the largest that leaves a number of 1 or more.
pub(super) fn unit(most: u64) -> (&'static str, f64) {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let found = units.into_iter().find(|(_, shift)| most >= 1 << shift);
    found.map_or(("bytes", 1.0), |(name, shift)| (name, (1u64 << shift) as f64))
}

/// Bytes in a unit of their own: `5.742 MiB`, `124 bytes`.
pub(super) fn bytes(bytes: u64) -> String {
    let (name, size) = unit(bytes);
    match size {
        1.0 => format!("{bytes} {name}"),
        _ => format!("{} {name}", short(bytes as f64 / size)),
    }
}

/// At least four digits that say something, no zeros behind the point.
fn short(number: f64) -> String {
    let digits = if number >= 1000.0 { 0 } else { 3 };
    let text = format!("{number:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Multiples of 1, 2 or 5 times a power of ten (for bytes: times a power of two) from 0 to `most`, about
/// `wanted` of them.
pub(super) fn ticks(most: u64, wanted: u32) -> Vec<u64> {
    let (_, size) = unit(most);
    let size = if size > 1.0 { size } else { 1.0 };
    let rough = most as f64 / size / f64::from(wanted.max(1));
    let power = 10f64.powf(rough.max(1e-9).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough).unwrap_or(power);
    let step = ((step * size).round() as u64).max(1);
    (0u64..).map_while(|i| i.checked_mul(step)).take_while(|tick| *tick <= most).collect()
}

/// Steps to put a number at.
pub(super) fn step_ticks(steps: u32, wanted: u32) -> Vec<u32> {
    let rough = f64::from(steps) / f64::from(wanted.max(1));
    let power = 10f64.powf(rough.max(1.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough).unwrap_or(1.0);
    let step = (step as u32).max(1);
    (0u32..).map_while(|i| i.checked_mul(step)).take_while(|tick| *tick < steps).collect()
}

/// A tick in the unit of its axis.
pub(super) fn in_unit(bytes: u64, size: f64) -> String {
    if size == 1.0 { bytes.to_string() } else { short(bytes as f64 / size) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_well() {
        assert_eq!(bytes(124), "124 bytes");
        assert_eq!(bytes(6_021_120), "5.742 MiB");
        assert_eq!(bytes(1 << 30), "1 GiB");
        assert_eq!(bytes(3 << 39), "1.5 TiB");
    }

    #[test]
    fn ticks_are_round_in_their_unit() {
        assert_eq!(ticks(124, 6), [0, 50, 100]);
        assert_eq!(ticks(6 << 20, 6), [0, 1, 2, 3, 4, 5, 6].map(|t| t << 20));
        assert_eq!(ticks(0, 6), [0]);
        assert_eq!(step_ticks(9, 20), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(step_ticks(56, 20), [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55]);
        assert!(step_ticks(92_494, 20).len() <= 20);
        // As far as numbers go.
        assert_eq!(ticks(u64::MAX, 8), [0, 5, 10, 15].map(|t| (t * 1_000_000) << 40));
        assert_eq!(step_ticks(u32::MAX, 20).len(), 9);
    }
}
