//! The functions of expressions. What each means is in `scalar.rs`, and for people in
//! `spec/sql.md`.

/// A function of one row's values.
///
/// Unless said otherwise a null argument gives null, and so does an argument of the wrong type
/// (which the binder of `sql` never lets through).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Function {
    /// All are true; false wins over null. Any number of arguments.
    And,
    /// Some is true; true wins over null. Any number of arguments.
    Or,
    /// Not true.
    Not,
    /// Whether the argument is null; never null itself.
    IsNull,
    /// Both are the same value.
    Equal,
    /// They are different values.
    NotEqual,
    /// The first is smaller.
    Less,
    /// The first is smaller or the same.
    LessOrEqual,
    /// The first is larger.
    Greater,
    /// The first is larger or the same.
    GreaterOrEqual,
    /// The first equals one of the others, which are literals.
    In,
    /// Sum of two numbers. Exact in decimals; a double where those overflow.
    Add,
    /// First minus second.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient, as a double; null where the second is zero.
    Divide,
    /// Quotient, truncated toward zero; null where the second is zero.
    DivideWhole,
    /// Remainder, with the sign of the first; null where the second is zero.
    Remainder,
    /// The number with the other sign.
    Negate,
    /// The number without its sign.
    Abs,
    /// The nearest integer, halves away from zero; with a second argument, to so many digits
    /// after the point, −18 to 255: −2 is to hundreds.
    Round,
    /// The next integer below.
    Floor,
    /// The next integer above.
    Ceil,
    /// The multiple of the second number at or below the first; null unless the second is above
    /// zero.
    Bucket,
    /// A time so many seconds after a time.
    AddSeconds,
    /// Whole seconds from the second time to the first, truncated toward zero.
    SecondsBetween,
    /// The start of the bucket of so many microseconds, counted from the Unix epoch, plus the
    /// third argument in microseconds, in which a time lies.
    TimeBucket,
    /// A field of the calendar, in UTC.
    Extract(TimeField),
    /// Whether a string matches a pattern, which is a literal: see [`crate::Pattern`].
    Matches(crate::pattern::PatternSyntax),
    /// The string in lower case.
    Lower,
    /// The string in upper case.
    Upper,
    /// Characters of a string; elements of a set or vector.
    Length,
    /// The texts one after the other. Nulls are left out.
    Concat,
    /// The set or vector has one of the other arguments, which are string literals.
    IncludesAny,
    /// It has all of them.
    IncludesAll,
    /// It has none of them.
    IncludesNone,
    /// The vector begins with them, in order.
    IncludesStart,
    /// The vector ends with them, in order.
    IncludesEnd,
    /// The vector has them as a consecutive run.
    IncludesWithin,
    /// The set or vector has no elements.
    IsEmpty,
    /// The first argument that is not null.
    Coalesce,
    /// Condition, value, condition, value …, else: the value after the first true condition.
    Case,
    /// The value's plain text.
    ToText,
    /// The number that a text spells, or 0 and 1 for a truth, or Unix seconds of a time;
    /// null for other texts.
    ToNumber,
    /// A user function of the query's [`crate::FunctionRegistry`].
    User(crate::udf::FunctionId),
}

impl Function {
    /// All comparisons of two values.
    pub const COMPARISONS: [Self; 6] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessOrEqual,
        Self::Greater,
        Self::GreaterOrEqual,
    ];

    /// The comparison that says the same with its sides exchanged; `None` of other functions.
    #[must_use]
    pub const fn mirrored(self) -> Option<Self> {
        Some(match self {
            Self::Equal | Self::NotEqual => self,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            _ => return None,
        })
    }
}

/// A field of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimeField {
    /// The year.
    Year,
    /// 1 to 12.
    Month,
    /// 1 to 31.
    Day,
    /// 0 to 23.
    Hour,
    /// 0 to 59.
    Minute,
    /// 0 to 59.999999.
    Second,
    /// 0 (Sunday) to 6.
    DayOfWeek,
    /// Unix seconds, with fractions.
    Epoch,
}
