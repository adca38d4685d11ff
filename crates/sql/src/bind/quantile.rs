//! Names and arguments of percentiles.

use hadal_query::AggregateFunction;
use hadal_types::Number;

use crate::error::{LocatedError, NOWHERE, Read};

/// Which value a quantile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    /// Interpolated between the two values around it.
    Between,
    /// The nearest rank: one of the values.
    Nearest,
}

impl Rank {
    /// The aggregate of this many millionths.
    pub(crate) const fn quantile(self, millionths: u32) -> AggregateFunction {
        match self {
            Self::Between => AggregateFunction::QuantileCont(millionths),
            Self::Nearest => AggregateFunction::Quantile(millionths),
        }
    }
}

/// The quantile of a name in millionths: `p95` is 0.95, `p999` is 0.999, `p025` is 0.025 and `p100`
/// is 1. Other names of three or more digits, such as `p200`, are ambiguous and therefore refused.
pub(crate) fn percentile_name(name: &str) -> Option<u32> {
    let digits = percentile_digits(name).filter(|digits| digits.len() <= 6)?;
    let number: u32 = digits.parse().ok()?;
    match digits.len() {
        1 => Some(number * 10_000),
        _ if digits == "100" => Some(1_000_000),
        3.. if !digits.starts_with(['9', '0']) => None,
        length => Some(number * 10_u32.pow(6 - u32::try_from(length).ok()?)),
    }
}

/// The digits after the p of a name that looks like a percentile's.
fn percentile_digits(name: &str) -> Option<&str> {
    let digits = name.strip_prefix('p')?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

/// A hint for an unknown percentile name; `None` for names of another form.
pub(crate) fn percentile_hint(name: &str) -> Option<&'static str> {
    percentile_digits(name).map(|_| {
        "p0 to p99 are percents, p100 is the maximum, p999 is 99.9 and p025 is 2.5; \
         others are written percentile(x, 12.5)"
    })
}

/// Converts a quantile between 0 and `most` to millionths.
pub(crate) fn millionths(number: Option<Number>, most: i64) -> Read<u32> {
    let refuse = || {
        let hint = "percentile(x, 95) and quantile(x, 0.95) are the same";
        LocatedError::new(format!("a constant between 0 and {most} is needed"), NOWHERE).hint(hint)
    };
    let in_range = |number: &Number| (Number::ZERO..=Number::integer(most)).contains(number);
    let scaled = number.filter(in_range).and_then(|number| number.to_scaled(6));
    let millionths = scaled.map(|scaled| scaled / i128::from(most));
    millionths.and_then(|millionths| u32::try_from(millionths).ok()).ok_or_else(refuse)
}
