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
    /// Seconds from the second time to the first, exact to the microsecond.
    SecondsBetween,
    /// The start of the bucket that contains a time. The second argument is the width in
    /// microseconds. Buckets start at the Unix epoch plus the optional third argument, in
    /// microseconds.
    TimeBucket,
    /// A field of the calendar, in UTC.
    Extract(TimeField),
    /// A function that needs a calendar or a time zone.
    Calendar(crate::calendar::CalendarFunction),
    /// The time that a text spells in ISO 8601, in UTC if it has no offset; null for other texts.
    ToTime,
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
    /// Another function of strings.
    Text(crate::text_functions::TextFunction),
    /// The part of a string that matches a regular expression, or the part of one of its groups;
    /// null without a match. Arguments: string, pattern, number of the group. Group 0 is the whole
    /// match. The last two are literals.
    RegexpExtract,
    /// The string with the first match of a regular expression replaced. Arguments: string,
    /// pattern, replacement; the last two are literals. In the replacement, `\1` to `\9` are
    /// groups and `\&` is the match.
    RegexpReplace,
    /// The same with all matches replaced.
    RegexpReplaceAll,
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
    /// Each different element of the set or vector: a row is in the group of each. Only as a whole
    /// group key, and only one.
    Unnest,
    /// Each beginning of the vector, from none of its elements to all of them: a row is in the
    /// group of each. Only as a whole group key, and only one, beside no [`Self::Unnest`].
    Prefixes,
    /// Another function of numbers.
    Math(crate::math_functions::MathFunction),
    /// The largest argument; nulls are ignored.
    Greatest,
    /// The smallest argument; nulls are ignored.
    Least,
    /// The first argument that is not null.
    Coalesce,
    /// The value after the first true condition. Arguments: condition, value, condition, value …,
    /// else.
    Case,
    /// The value's plain text.
    ToText,
    /// The number that a text spells, 0 or 1 for a truth value, Unix seconds for a time. Null for
    /// other texts. The optional second argument is the sign before the fraction of a text, `,` or
    /// `.`; then `.` or `,`, a space or an apostrophe may separate groups of three digits.
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

    /// Whether the result is a truth value or null.
    #[must_use]
    pub const fn is_condition(self) -> bool {
        matches!(
            self,
            Self::And
                | Self::Or
                | Self::Not
                | Self::IsNull
                | Self::Equal
                | Self::NotEqual
                | Self::Less
                | Self::LessOrEqual
                | Self::Greater
                | Self::GreaterOrEqual
                | Self::In
                | Self::Matches(_)
                | Self::IncludesAny
                | Self::IncludesAll
                | Self::IncludesNone
                | Self::IncludesStart
                | Self::IncludesEnd
                | Self::IncludesWithin
                | Self::IsEmpty
        )
    }

    /// Whether the function stands for several values of a row, so that a row is in several groups.
    #[must_use]
    pub const fn is_unnesting(self) -> bool {
        matches!(self, Self::Unnest | Self::Prefixes)
    }

    /// Whether the function is computed by a [`crate::Regexp`].
    #[must_use]
    pub const fn is_regexp(self) -> bool {
        matches!(self, Self::RegexpExtract | Self::RegexpReplace | Self::RegexpReplaceAll)
    }

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
    /// 1 to 4.
    Quarter,
    /// The week of ISO 8601, 1 to 53.
    Week,
    /// The year that the week of ISO 8601 belongs to.
    IsoYear,
    /// The day of the year, 1 to 366.
    DayOfYear,
    /// 1 (Monday) to 7.
    IsoDayOfWeek,
    /// The second and its fraction in milliseconds: 0 to 59999.999.
    Millisecond,
    /// Unix seconds, with fractions.
    Epoch,
}
