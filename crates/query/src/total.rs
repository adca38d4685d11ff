//! Totals of a group: what smooth outputs are functions of.

/// Σw·x over a group's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Total {
    /// Of ones.
    Rows,
    /// Of ones, over the rows that have a value of this measure.
    Count(usize),
    /// Of the values of this measure.
    Sum(usize),
}

/// A number that a leaf has of each group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeafTotal {
    /// The stored rows of the table that the leaf scanned: the same for all groups.
    TableRows,
    /// A total of the group.
    Of(Total),
}

impl Total {
    /// The measure whose rows are summed up; `None` for all rows of the group.
    #[must_use]
    pub const fn measure(self) -> Option<usize> {
        match self {
            Self::Rows => None,
            Self::Count(measure) | Self::Sum(measure) => Some(measure),
        }
    }
}
