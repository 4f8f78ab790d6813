//! Our own books: what is held by name, now and at most.

/// What one name holds.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct MemoryRow {
    /// An arena, a session, a region.
    pub label: String,
    /// Bytes in use now.
    pub used_bytes: u64,
    /// Bytes set aside for it now.
    pub reserved_bytes: u64,
    /// Most bytes in use so far.
    pub most_used_bytes: u64,
    /// Most bytes set aside so far.
    pub most_reserved_bytes: u64,
}

/// Rows in the order in which they were first named, with the most that they held together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    rows: Vec<MemoryRow>,
    most_used_bytes: u64,
    most_reserved_bytes: u64,
}

impl Ledger {
    /// Books what a name holds now; a name that holds nothing any more stays, with its marks.
    pub fn set(&mut self, label: &str, used_bytes: u64, reserved_bytes: u64) {
        let at = self.rows.iter().position(|row| row.label == label).unwrap_or_else(|| {
            self.rows.push(MemoryRow {
                label: label.to_owned(),
                used_bytes: 0,
                reserved_bytes: 0,
                most_used_bytes: 0,
                most_reserved_bytes: 0,
            });
            self.rows.len() - 1
        });
        let row = &mut self.rows[at];
        (row.used_bytes, row.reserved_bytes) = (used_bytes, reserved_bytes);
        row.most_used_bytes = row.most_used_bytes.max(used_bytes);
        row.most_reserved_bytes = row.most_reserved_bytes.max(reserved_bytes);
        self.most_used_bytes = self.most_used_bytes.max(self.used_bytes());
        self.most_reserved_bytes = self.most_reserved_bytes.max(self.reserved_bytes());
    }

    /// What every name holds.
    pub fn rows(&self) -> &[MemoryRow] {
        &self.rows
    }

    /// Bytes in use by all.
    pub fn used_bytes(&self) -> u64 {
        self.rows.iter().map(|row| row.used_bytes).sum()
    }

    /// Bytes set aside for all.
    pub fn reserved_bytes(&self) -> u64 {
        self.rows.iter().map(|row| row.reserved_bytes).sum()
    }

    /// Most bytes in use by all at one time.
    pub fn most_used_bytes(&self) -> u64 {
        self.most_used_bytes
    }

    /// Most bytes set aside for all at one time.
    pub fn most_reserved_bytes(&self) -> u64 {
        self.most_reserved_bytes
    }
}
