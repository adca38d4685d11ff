//! The functions of expressions. `scalar_functions.rs` defines them; `spec/sql.md` explains them to
//! users.

/// A function of one row's values.
///
/// A null argument gives null unless noted otherwise. So does an argument of the wrong type, which
/// the binder of `sql` rejects beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Function {
    /// Whether all are true; false wins over null. Any number of arguments.
    And,
    /// Whether any is true; true wins over null. Any number of arguments.
    Or,
    /// Logical negation.
    Not,
    /// Whether the argument is null; the result is never null.
    IsNull,
    /// Whether both are the same value.
    Equal,
    /// Whether they are different values.
    NotEqual,
    /// Whether the first is smaller.
    Less,
    /// Whether the first is smaller or equal.
    LessOrEqual,
    /// Whether the first is larger.
    Greater,
    /// Whether the first is larger or equal.
    GreaterOrEqual,
    /// Whether the first equals one of the others, which are literals.
    In,
    /// Sum of two numbers. Exact in decimals; a double where those overflow.
    Add,
    /// First minus second.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient, as a double; null if the second is zero.
    Divide,
    /// Quotient, truncated toward zero; null if the second is zero.
    DivideWhole,
    /// Remainder, with the sign of the first; null if the second is zero.
    Remainder,
    /// The number with the opposite sign.
    Negate,
    /// The absolute value.
    Abs,
    /// The nearest integer, halves away from zero. An optional second argument is the number of
    /// digits after the point, from −18 to 255; −2 rounds to hundreds.
    Round,
    /// The largest integer that is not above the number.
    Floor,
    /// The smallest integer that is not below the number.
    Ceil,
    /// The largest multiple of the second number that is not above the first; null unless the
    /// second is above zero.
    Bucket,
    /// A time plus a number of seconds.
    AddSeconds,
    /// Whole seconds from the second time to the first, truncated toward zero.
    SecondsBetween,
    /// The start of the bucket that contains a time. The second argument is the width in
    /// microseconds. Buckets start at the Unix epoch plus the optional third argument, in
    /// microseconds.
    TimeBucket,
    /// A field of the calendar, in UTC.
    Extract(TimeField),
    /// Whether a string matches a pattern, which is a literal; see [`crate::Pattern`].
    Matches(crate::pattern::PatternSyntax),
    /// The string in lower case.
    Lower,
    /// The string in upper case.
    Upper,
    /// Number of characters of a string, or of elements of a set or vector.
    Length,
    /// The concatenated texts of the arguments, without nulls.
    Concat,
    /// Whether the set or vector has one of the other arguments, which are string literals.
    IncludesAny,
    /// Whether it has all of them.
    IncludesAll,
    /// Whether it has none of them.
    IncludesNone,
    /// Whether the vector begins with them, in order.
    IncludesStart,
    /// Whether it ends with them, in order.
    IncludesEnd,
    /// Whether it has them as a consecutive run.
    IncludesWithin,
    /// Whether the set or vector has no elements.
    IsEmpty,
    /// The first argument that is not null.
    Coalesce,
    /// The value after the first true condition. Arguments: condition, value, condition, value …,
    /// else.
    Case,
    /// The value's plain text.
    ToText,
    /// The number that a text spells, 0 or 1 for a truth value, Unix seconds for a time. Null for
    /// other texts.
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

    /// The comparison that means the same with its sides exchanged; `None` for other functions.
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
