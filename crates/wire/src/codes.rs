//! Codes of enumerations, in both directions.
//!
//! The compiler checks that each table below is complete in both directions: neither a new variant
//! without a code nor a new code without a variant compiles.

use hadal_aggregate::{LeafOutcome, QueryErrorCode as FaultCode, WarningCode};
use hadal_query::{
    CalendarFunction, Function, MathFunction, PatternSyntax, TextFunction, TimeField, Type,
};
use hadal_types::{Kind, LeafState, Logical};

use crate::error::{DecodeError, DecodeErrorKind};
use crate::proto;

/// A type whose variants have codes in `spec/proto`.
pub(crate) trait Code: Sized {
    /// Returns the code of the value.
    fn code(self) -> i32;

    /// The variant with this code.
    fn of_code(code: i32) -> Result<Self, DecodeError>;
}

macro_rules! codes {
    ($($type:ident { $($variant:ident $(($parameter:path))? = $code:ident,)* $(!$other:ident)? })*) => {$(
        impl Code for $type {
            fn code(self) -> i32 {
                i32::from(match self {
                    $(Self::$variant $(($parameter))? => proto::$type::$code,)*
                    // This variant has a message of its own.
                    $(Self::$other(_) => proto::$type::Unspecified,)?
                })
            }

            fn of_code(code: i32) -> Result<Self, DecodeError> {
                match proto::$type::try_from(code) {
                    $(Ok(proto::$type::$code) => Ok(Self::$variant $(($parameter))?),)*
                    Ok(proto::$type::Unspecified) => Err(DecodeErrorKind::Missing.into()),
                    Err(_) => Err(DecodeErrorKind::UnknownCode(code).into()),
                }
            }
        }
    )*};
}

codes! {
    Kind { Number = Number, String = String, Set = Set, Vector = Vector, }
    Logical { Plain = Plain, Bool = Bool, Time = Time, }
    Type {
        Null = Null, Bool = Bool, Number = Number, Time = Time, String = String, Set = Set,
        Vector = Vector, Histogram = Histogram,
    }
    LeafOutcome {
        Answered = Answered, Late = Late, Restarting = Restarting, Dead = Dead, Failed = Failed,
    }
    WarningCode {
        OtherKindSkipped = OtherKindSkipped, GroupsDropped = GroupsDropped,
        LimitReached = LimitReached, NoTimeRange = NoTimeRange,
        BlocksUnreadable = BlocksUnreadable, RowsDropped = RowsDropped,
        ColumnAbsent = ColumnAbsent, RowsLost = RowsLost,
        RowsLostUnknown = RowsLostUnknown, RowsExpired = RowsExpired,
        SeriesFolded = SeriesFolded, TopInexact = TopInexact,
        DistinctOfSampled = DistinctOfSampled,
    }
    FaultCode { Invalid = Invalid, Overflow = Overflow, Memory = Memory, Busy = Busy, }
    LeafState {
        MemoryRecovery = MemoryRecovery, Alive = Alive, Prepare = Prepare,
        DiskRecovery = DiskRecovery,
    }
    Function {
        And = And, Or = Or, Not = Not, IsNull = IsNull,
        Equal = Equal, NotEqual = NotEqual, Less = Less, LessOrEqual = LessOrEqual,
        Greater = Greater, GreaterOrEqual = GreaterOrEqual, In = In,
        Add = Add, Subtract = Subtract, Multiply = Multiply, Divide = Divide,
        DivideWhole = DivideWhole, Remainder = Remainder, Negate = Negate, Abs = Abs,
        Round = Round, Floor = Floor, Ceil = Ceil, Bucket = Bucket,
        AddSeconds = AddSeconds, SecondsBetween = SecondsBetween, TimeBucket = TimeBucket,
        Extract(TimeField::Year) = ExtractYear,
        Extract(TimeField::Month) = ExtractMonth,
        Extract(TimeField::Day) = ExtractDay,
        Extract(TimeField::Hour) = ExtractHour,
        Extract(TimeField::Minute) = ExtractMinute,
        Extract(TimeField::Second) = ExtractSecond,
        Extract(TimeField::DayOfWeek) = ExtractDayOfWeek,
        Extract(TimeField::Epoch) = ExtractEpoch,
        Matches(PatternSyntax::Like) = MatchesLike,
        Matches(PatternSyntax::ILike) = MatchesIlike,
        Matches(PatternSyntax::Regex) = MatchesRegex,
        Matches(PatternSyntax::IRegex) = MatchesIregex,
        Lower = Lower, Upper = Upper, Length = Length, Concat = Concat,
        IncludesAny = IncludesAny, IncludesAll = IncludesAll, IncludesNone = IncludesNone,
        IncludesStart = IncludesStart, IncludesEnd = IncludesEnd,
        IncludesWithin = IncludesWithin, IsEmpty = IsEmpty, Unnest = Unnest, Prefixes = Prefixes,
        Coalesce = Coalesce, Case = Case, ToText = ToText, ToNumber = ToNumber,
        Extract(TimeField::Quarter) = ExtractQuarter,
        Extract(TimeField::Week) = ExtractWeek,
        Extract(TimeField::IsoYear) = ExtractIsoYear,
        Extract(TimeField::DayOfYear) = ExtractDayOfYear,
        Extract(TimeField::IsoDayOfWeek) = ExtractIsoDayOfWeek,
        Extract(TimeField::Millisecond) = ExtractMillisecond,
        Text(TextFunction::Substring) = Substring,
        Text(TextFunction::Left) = Left,
        Text(TextFunction::Right) = Right,
        Text(TextFunction::Trim) = Trim,
        Text(TextFunction::TrimStart) = TrimStart,
        Text(TextFunction::TrimEnd) = TrimEnd,
        Text(TextFunction::Replace) = Replace,
        Text(TextFunction::SplitPart) = SplitPart,
        Text(TextFunction::Position) = Position,
        Text(TextFunction::StartsWith) = StartsWith,
        Text(TextFunction::EndsWith) = EndsWith,
        Text(TextFunction::Contains) = Contains,
        Text(TextFunction::Reverse) = Reverse,
        Text(TextFunction::Repeat) = Repeat,
        Text(TextFunction::PadStart) = PadStart,
        Text(TextFunction::PadEnd) = PadEnd,
        Text(TextFunction::UrlHost) = UrlHost,
        Text(TextFunction::UrlPath) = UrlPath,
        Text(TextFunction::UrlParameter) = UrlParameter,
        RegexpExtract = RegexpExtract, RegexpReplace = RegexpReplace,
        RegexpReplaceAll = RegexpReplaceAll,
        Math(MathFunction::Power) = Power,
        Math(MathFunction::Sqrt) = Sqrt,
        Math(MathFunction::Ln) = Ln,
        Math(MathFunction::Log) = Log,
        Math(MathFunction::Exp) = Exp,
        Math(MathFunction::Sign) = Sign,
        Math(MathFunction::Truncate) = Truncate,
        Math(MathFunction::WidthBucket) = WidthBucket,
        Greatest = Greatest, Least = Least, ToTime = ToTime,
        Calendar(CalendarFunction::WallClock) = WallClock,
        Calendar(CalendarFunction::FromWallClock) = FromWallClock,
        Calendar(CalendarFunction::AddMonths) = AddMonths,
        Calendar(CalendarFunction::Bucket) = CalendarBucket,
        Calendar(CalendarFunction::Format) = FormatTime,
        !User
    }
}
