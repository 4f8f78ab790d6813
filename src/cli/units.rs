//! Bytes, durations, strategies and efforts as people type them.

use std::time::Duration;

use crate::plan::{Effort, Strategy, nearest};

/// Bytes: `268435456`, `256MiB`, `1.5GiB`, `64KiB`.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let compact = text.replace(['_', ','], "");
    let split = compact.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(compact.len());
    let (number, unit) = (compact[..split].trim(), &compact[split..]);
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "kib" | "k" => 10,
        "mib" | "m" => 20,
        "gib" | "g" => 30,
        _ => return Err(format!("'{unit}' is no unit of bytes: KiB, MiB or GiB")),
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(1 << shift).ok_or_else(|| "more than 64 bits hold".to_owned());
    }
    match number.parse::<f64>() {
        Ok(part) if shift > 0 && part >= 0.0 && part < f64::from(1 << 30) => {
            Ok((part * f64::from(1u32 << shift)) as u64)
        }
        _ => Err("not a number of bytes, such as 268435456 or 256MiB".to_owned()),
    }
}

/// A duration: `2s`, `500ms`, `1m`, `2` (seconds).
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let seconds_per_unit = match &text[split..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        unit => return Err(format!("'{unit}' is no unit of time: ms, s or m")),
    };
    let number: f64 = text[..split].trim().parse().map_err(|_| "not a duration, such as 2s or 500ms")?;
    Duration::try_from_secs_f64(number * seconds_per_unit).map_err(|e| e.to_string())
}

/// A strategy by name; `None` is `auto`.
pub(super) fn strategy(name: &str) -> Result<Option<Strategy>, String> {
    if name == "auto" {
        return Ok(None);
    }
    name.parse().map(Some).map_err(|_| {
        let known = Strategy::ALL.iter().map(|s| s.key()).chain(["auto"]);
        let meant = nearest(&name.replace('-', "_"), known).unwrap_or("auto");
        format!("unknown strategy; did you mean '{}'?", meant.replace('_', "-"))
    })
}

/// An effort by name.
pub(super) fn effort(name: &str) -> Result<Effort, String> {
    Effort::ALL.iter().copied().find(|e| e.key() == name).ok_or_else(|| {
        let meant = nearest(name, Effort::ALL.iter().map(|e| e.key())).unwrap_or("balanced");
        format!("unknown effort; did you mean '{meant}'?")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efforts_are_found_by_name() {
        assert_eq!(effort("fast"), Ok(Effort::Fast));
        assert_eq!(effort("through"), Err("unknown effort; did you mean 'thorough'?".to_owned()));
    }

    #[test]
    fn bytes_and_durations_as_typed() {
        assert_eq!(bytes("268435456"), Ok(268_435_456));
        assert_eq!(bytes("256MiB"), Ok(268_435_456));
        assert_eq!(bytes("1.5 GiB"), Ok(3 << 29));
        assert_eq!(bytes("64k"), Ok(65_536));
        assert!(bytes("-1").is_err() && bytes("1.5").is_err() && bytes("3MB").is_err() && bytes("").is_err());
        assert!(bytes("99999999999GiB").is_err());
        assert_eq!(duration("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert!(duration("soon").is_err() && duration("-1s").is_err() && duration("3d").is_err());
    }
}
