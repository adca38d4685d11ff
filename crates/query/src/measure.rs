//! The measures of a query: what is accumulated for each group.

use hadal_types::Weight;

use crate::aggregate_function::StateKind;
use crate::expr::RowExpr;
use crate::total::LeafTotal;

/// A state that is kept for each group: it accumulates one expression, or pairs of two, over the
/// rows where none is null.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Measure {
    /// The kind of state.
    pub kind: StateKind,
    /// The expression that is accumulated.
    pub argument: RowExpr,
    /// The other expression of a pair: there is one if the kind is one of pairs
    /// ([`StateKind::is_of_pairs`]). User aggregates may have one.
    pub second: Option<RowExpr>,
    /// How much each row weighs.
    pub weighting: Weighting,
}

/// How much a row with a sample rate weighs in a measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Weighting {
    /// As many events as it stands for.
    #[default]
    Events,
    /// What it adds to the variance of estimates ([`Weight::sampling_variance`]). Rows without such
    /// a weight are left out. Only for [`StateKind::Variance`], [`StateKind::Covariance`] and
    /// [`StateKind::Quantiles`].
    SamplingVariance,
    /// Nothing: instead, each leaf adds one pair of its totals of the group. Only for
    /// [`StateKind::Covariance`]; the expressions are not computed.
    Leaves([LeafTotal; 2]),
}

impl Weighting {
    /// The row's weight in the measure; `None` if it is left out.
    #[must_use]
    pub fn of(self, weight: Weight) -> Option<Weight> {
        match self {
            Self::Events => Some(weight),
            Self::SamplingVariance => weight.sampling_variance(),
            Self::Leaves(_) => None,
        }
    }
}

impl Measure {
    /// A measure of one expression, whose rows weigh as many events as they stand for.
    #[must_use]
    pub const fn new(kind: StateKind, argument: RowExpr) -> Self {
        Self { kind, argument, second: None, weighting: Weighting::Events }
    }

    /// The expressions that are accumulated: one or two.
    pub fn exprs(&self) -> impl Iterator<Item = &RowExpr> {
        std::iter::once(&self.argument).chain(&self.second)
    }
}
