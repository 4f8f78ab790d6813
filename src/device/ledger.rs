//! Our own books: what is held by name, now and at most.

use super::PoolReport;

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

/// The books of a pool: one row a label.
impl From<&PoolReport> for Ledger {
    fn from(pool: &PoolReport) -> Self {
        let row = |label: &super::LabelReport| MemoryRow {
            label: label.label.clone(),
            used_bytes: label.bytes.in_use_bytes,
            reserved_bytes: label.bytes.reserved_bytes,
            most_used_bytes: label.bytes.in_use_high_bytes,
            most_reserved_bytes: label.bytes.reserved_high_bytes,
        };
        Ledger {
            rows: pool.labels.iter().map(row).collect(),
            most_used_bytes: pool.total.in_use_high_bytes,
            most_reserved_bytes: pool.total.reserved_high_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pools_books_are_taken_over() {
        let bytes = super::super::PoolBytes {
            in_use_bytes: 5,
            reserved_bytes: 8,
            in_use_high_bytes: 6,
            reserved_high_bytes: 9,
        };
        let labels = vec![super::super::LabelReport { label: "weights".to_owned(), bytes }];
        let pool = PoolReport {
            total: bytes,
            labels,
            sessions: Vec::new(),
            budget_bytes: None,
            lane_changes: 0,
            pipelines: 0,
            rebuilds: 0,
        };
        let ledger = Ledger::from(&pool);
        assert_eq!((ledger.used_bytes(), ledger.reserved_bytes()), (5, 8));
        assert_eq!((ledger.most_used_bytes(), ledger.most_reserved_bytes()), (6, 9));
        assert_eq!((ledger.rows()[0].label.as_str(), ledger.rows()[0].most_reserved_bytes), ("weights", 9));
    }
}
