//! What of a name fits into a box.

/// The name, its last part, or the beginning of that; `None` where not even four letters fit.
pub(super) fn fitting(name: &str, letters: usize) -> Option<String> {
    let count = |text: &str| text.chars().count();
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
    if count(name) <= letters {
        Some(name.to_owned())
    } else if count(last) <= letters {
        Some(last.to_owned())
    } else if letters >= 5 {
        Some(last.chars().take(letters - 1).chain(['…']).collect())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::fitting;

    #[test]
    fn the_end_of_a_path_says_most() {
        assert_eq!(fitting("block1/expand", 20).as_deref(), Some("block1/expand"));
        assert_eq!(fitting("block1/expand", 6).as_deref(), Some("expand"));
        assert_eq!(fitting("block1/expand", 5).as_deref(), Some("expa…"));
        assert_eq!(fitting("block1/expand", 4), None);
        assert_eq!(fitting("a", 1).as_deref(), Some("a"));
    }
}
