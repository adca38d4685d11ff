//! What is known of a number that is estimated from kept rows.

/// The 95 % confidence interval of one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interval {
    /// It is not known: the output depends on single rows, or is no number.
    None,
    /// There are too few rows, or a few weigh too much, to compute one.
    TooFew,
    /// From the first to the second number, inclusive. They are equal if the output does not depend
    /// on which rows were kept.
    Between(f64, f64),
    /// Leaves are missing: what the number is estimated to be with all leaves, and the ends of the
    /// interval of that estimate.
    OfAll {
        /// The estimate.
        estimate: f64,
        /// From this number,
        low: f64,
        /// to this one, inclusive.
        high: f64,
    },
}

impl Interval {
    /// The part between 0 and 1. The normal distribution goes beyond them if events are rare.
    pub(super) fn within_one(self) -> Self {
        let share = |end: f64| end.clamp(0.0, 1.0);
        match self {
            Self::Between(low, high) => Self::Between(share(low), share(high)),
            Self::OfAll { estimate, low, high } => {
                Self::OfAll { estimate, low: share(low), high: share(high) }
            }
            Self::None | Self::TooFew => self,
        }
    }

    /// The interval of a share of 0 or 1, which may differ from that by at most `unseen`.
    pub(super) fn with_unseen(self, unseen: f64) -> Self {
        let wider = |low: f64, high: f64| match low {
            0.0 => (low, high.max(unseen)),
            _ => (low.min(1.0 - unseen), high),
        };
        match self.within_one() {
            Self::Between(low, high) => {
                let (low, high) = wider(low, high);
                Self::Between(low, high).within_one()
            }
            Self::OfAll { estimate, low, high } => {
                let (low, high) = wider(low, high);
                Self::OfAll { estimate, low, high }.within_one()
            }
            other => other,
        }
    }
}
